// The first page (index.html): it works before the program is there. What is chosen, dropped or
// clicked is held until the program starts, and handed over then:
//
// - the program listens to `eventscope-asked`, whose detail says what: `files` with their `handles`, if there
//   are any, `failed` (why there are none), `sample` with its `view`, `tour`, `browse`;
// - it says `eventscope-started` once it does. From then on it hears itself of what is dropped.
//
// What changes of the page is drawn by `src/page/landing.rs`.

{
  // As `src/page/theme.rs` keeps them.
  for (const name of ['theme', 'contrast']) {
    try {
      const chosen = localStorage.getItem(`eventscope-${name}`);
      if (chosen) document.documentElement.dataset[name] = chosen;
    } catch {
      // Nothing can be kept here: it is as the system has it.
    }
  }

  const held = [];
  let started = false;
  // Why the program cannot be loaded, once that is known.
  let broken = '';

  const find = (id) => document.getElementById(id);
  const tell = (asked) => dispatchEvent(new CustomEvent('eventscope-asked', { detail: asked }));

  /** Says something in a part of the first page; without a text the part is hidden. */
  function say(part, text = '') {
    const box = find(`first-${part}`);
    // The page is not there yet, but something was dropped on it.
    if (!box) return void addEventListener('DOMContentLoaded', () => say(part, started ? '' : text));
    box.lastElementChild.textContent = text;
    box.hidden = !text;
  }

  /** Has something done, as soon as the program is there. */
  function ask(asked, what) {
    if (started) return void tell(asked);
    if (broken) return void say('error', broken);
    held.push(asked);
    say('error', asked.failed);
    say('busy', asked.failed ? '' : `Loading the program. It opens ${what} as soon as it is there.`);
  }

  const open = (files, handles = []) => ask({ files, handles }, files.map((file) => file.name).join(' and '));
  const fail = (why) => ask({ failed: why });
  // For files that come another way: www/offline.js.
  globalThis.eventscope = { open, fail };

  addEventListener('eventscope-started', () => {
    started = true;
    document.documentElement.dataset.started = '';
    say('busy');
    say('error');
    held.splice(0).forEach(tell);
  });

  /** What was dropped. */
  async function dropped(data) {
    const files = [...data.files];
    // To be asked for at once: later the items are gone.
    const asked = [...data.items].map((item) => item.getAsFileSystemHandle?.());
    if (data.items[0]?.webkitGetAsEntry?.()?.isDirectory) {
      fail('This is a folder. Drop the .eventlog or .hp file inside it.');
    } else if (files.length > 0) {
      const handles = await Promise.all(asked.map((handle) => handle?.catch(() => null)));
      // An item may be no file: then it is not known which handle is whose.
      open(files, handles.length === files.length ? handles : []);
    } else {
      fail('Not a file. Drop an .eventlog or .hp file.');
    }
  }

  function listen() {
    const input = find('files');
    input.addEventListener('change', () => {
      const files = [...input.files];
      if (files.length > 0) open(files);
      // The same file may be chosen again.
      input.value = '';
    });
    find('browse').addEventListener('click', () => {
      if (started) ask({ browse: true });
      else input.click();
    });
    find('tour').addEventListener('click', () => ask({ tour: true }, 'the tour'));
    for (const { dataset, firstElementChild: title } of document.querySelectorAll('[data-sample]')) {
      title.parentElement.addEventListener('click', () => ask({ ...dataset }, `“${title.textContent}”`));
    }
  }

  // At once: without a listener, the browser would open a dropped file in place of the page.
  for (const type of ['dragover', 'drop']) {
    document.addEventListener(type, (event) => {
      if (started || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      if (type === 'drop') dropped(event.dataTransfer);
    });
  }

  /** The program: it is fetched when all is there that the first page needs. */
  async function start() {
    const address = document.querySelector('meta[name="eventscope-page"]').content;
    const glue = new URL(address, document.baseURI).href;
    const program = glue.replace(/\.js$/, '_bg.wasm');
    try {
      const [{ default: run }, module_or_path] = await Promise.all([import(glue), fetch(program, { priority: 'low' })]);
      if (!module_or_path.ok) throw new Error(`the site answered with status ${module_or_path.status}`);
      await run({ module_or_path });
    } catch (error) {
      broken = `The program could not be loaded: ${error.message ?? error}. Reload the page to try again.`;
      say('busy');
      say('error', broken);
    }
  }

  addEventListener('DOMContentLoaded', () => {
    listen();
    start();
  });
}
