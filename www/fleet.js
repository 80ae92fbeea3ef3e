// The page for fleets: hands digests that are dropped to its program, and shows the page that comes back.
//
// Logs that are dropped with their digests open in a tab of their own: the page of Eventscope is of the same origin,
// and takes files by `eventscope.open` (www/first.js).

{
  const byId = (id) => document.getElementById(id);
  const isDigest = (path) => /\.(digest|json)$/.test(path);
  const logs = new Map();

  try {
    const theme = localStorage.getItem('eventscope-theme');
    if (theme) document.documentElement.dataset.theme = theme;
  } catch {
    // Nothing can be kept here: it is as the system has it.
  }

  function fail(why) {
    byId('reading').hidden = true;
    byId('error').hidden = false;
    byId('error').textContent = why;
  }

  /** All files of what was dropped, with their paths. */
  async function filesOf(entry) {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
      return [[entry.fullPath.replace(/^\//, ''), file]];
    }
    const reader = entry.createReader();
    const all = [];
    for (;;) {
      // A folder is told in pieces.
      const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
      if (some.length === 0) return all;
      for (const inside of some) all.push(...await filesOf(inside));
    }
  }

  /** Path of the log that belongs to a digest, among what was dropped. */
  function logOf(path) {
    const name = path.replace(/\.json$/, '').replace(/\.digest$/, '');
    const ends = ['', '.eventlog', '.eventlog.gz', '.eventlog.zst', '.gz', '.zst'];
    return ends.map((end) => name + end).find((log) => logs.has(log));
  }

  async function read(files) {
    const digests = files.filter(([path]) => isDigest(path)).sort(([a], [b]) => (a < b ? -1 : 1));
    logs.clear();
    for (const [path, file] of files) if (!isDigest(path)) logs.set(path, file);
    byId('error').hidden = true;
    if (digests.length === 0) {
      return fail('No digests found: their names end in .digest or .json. To create one, run eventscope digest LOG > NAME.digest');
    }
    byId('reading').hidden = false;
    const progress = byId('progress');
    progress.max = digests.length;
    let program;
    let reader;
    try {
      program = await import(new URL(document.querySelector('meta[name="eventscope-fleet"]').content, new URL('../', location.href)));
      await program.default();
      reader = new program.FleetReader(byId('pattern').value.trim());
    } catch (error) {
      return fail(`${error.message ?? error}`);
    }
    const AT_ONCE = 32;
    for (let from = 0; from < digests.length; from += AT_ONCE) {
      const some = digests.slice(from, from + AT_ONCE);
      const contents = await Promise.all(some.map(([, file]) => file.arrayBuffer().catch(() => new ArrayBuffer(0))));
      some.forEach(([path], index) => reader.add(path, new Uint8Array(contents[index]), logOf(path)));
      progress.value = from + some.length;
      byId('progress-text').textContent = `${progress.value.toLocaleString('en')} of ${digests.length.toLocaleString('en')} digests`;
    }
    if (reader.count() === 0) {
      return fail('None of these files is a digest. To create one, run eventscope digest LOG > NAME.digest');
    }
    show(reader.page(), program.fleet_style());
  }

  /** Shows the page in place of this one; its style sheet is that of the file that the command line writes. */
  function show(page, style) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    document.adoptedStyleSheets = [sheet];
    byId('landing-style').disabled = true;
    byId('landing').remove();
    document.body.className = 'fleet';
    // Every text in it is escaped (crates/views/src/fleet/html.rs), and this page allows no scripts in documents.
    byId('result').innerHTML = page;
    document.title = `${byId('result').querySelector('h1').textContent} · Eventscope`;
    scrollTo(0, 0);
    globalThis.eventscopeFleet(byId('fleet-data'), { canOpen: (_, path) => logs.has(path), open: (_, path) => openLog(path) });
  }

  /** Opens a log in a tab of its own. */
  function openLog(path) {
    const tab = window.open('../', '_blank');
    if (!tab) return;
    const file = logs.get(path);
    const wait = () => {
      if (tab.closed) return;
      if (tab.eventscope?.open && tab.document.readyState !== 'loading') tab.eventscope.open([file]);
      else setTimeout(wait, 50);
    };
    wait();
  }

  for (const [button, input] of [['browse-folder', 'folder'], ['browse-files', 'files']]) {
    byId(button).addEventListener('click', () => byId(input).click());
    byId(input).addEventListener('change', ({ target }) => {
      read([...target.files].map((file) => [file.webkitRelativePath || file.name, file]));
    });
  }
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', async (event) => {
    event.preventDefault();
    if (!byId('landing')) return;
    // To be asked for at once: later the items are gone.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...event.dataTransfer.files].map((file) => [file.name, file]);
    const files = entries.length ? (await Promise.all(entries.map(filesOf))).flat() : plain;
    read(files);
  });
}
