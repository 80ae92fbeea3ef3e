// Reloads the page after a build, and shows the errors of a failed one. Only `cargo xtask serve` adds this script.
//
// The address keeps the view over a reload. An open sample or files are opened again.

{
  const { build: own } = document.currentScript.dataset;
  const SAMPLE = 'xtask-sample';
  const CACHE = 'xtask-files';

  /** Last opened: `{ sample }` or `{ files }`. */
  let opened = null;
  addEventListener('eventscope-asked', ({ detail }) => {
    if (detail.sample) opened = { sample: detail.sample };
    else if (detail.files) opened = { files: [...detail.files] };
  });
  addEventListener('drop', ({ dataTransfer }) => {
    if (dataTransfer?.files.length > 0) opened = { files: [...dataTransfer.files] };
  }, { capture: true });

  /** Stores what is open for the next page. */
  async function keep() {
    if (opened?.sample) sessionStorage.setItem(SAMPLE, opened.sample);
    if (!opened?.files) return;
    const cache = await caches.open(CACHE);
    await Promise.all(opened.files.map((file, index) => {
      const headers = { 'X-Name': encodeURIComponent(file.name), 'X-Modified': String(file.lastModified) };
      return cache.put(`/xtask/file/${index}`, new Response(file, { headers }));
    }));
  }

  /** Returns what the previous page stored and removes it; null if there is nothing. */
  async function takeKept() {
    const sample = sessionStorage.getItem(SAMPLE);
    sessionStorage.removeItem(SAMPLE);
    // The address has the view.
    if (sample) return { sample, view: '' };
    if (!(await caches.has(CACHE))) return null;
    const cache = await caches.open(CACHE);
    const files = await Promise.all((await cache.keys()).map(async (key) => {
      const response = await cache.match(key);
      const name = decodeURIComponent(response.headers.get('X-Name'));
      return new File([await response.blob()], name, { lastModified: Number(response.headers.get('X-Modified')) });
    }));
    await caches.delete(CACHE);
    return { files, handles: [] };
  }

  const isReload = performance.getEntriesByType('navigation')[0]?.type === 'reload';
  const hadView = location.hash.length > 1;
  addEventListener('eventscope-started', async () => {
    const detail = await takeKept().catch(() => null);
    // Without a view, the start page was shown.
    if (detail && isReload && hadView) dispatchEvent(new CustomEvent('eventscope-asked', { detail }));
  });

  async function reload() {
    await keep().catch(() => {});
    location.reload();
  }

  let overlay = null;

  /** Shows a text over the page; removes it without a title. */
  function show(status, title, text) {
    overlay?.remove();
    overlay = null;
    if (!title) return;
    overlay = document.createElement('xtask-overlay');
    overlay.dataset.theme = document.documentElement.dataset.theme ?? '';
    const root = overlay.attachShadow({ mode: 'open' });
    const style = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '/xtask/overlay.css' });
    const box = Object.assign(document.createElement('section'), { className: status });
    const heading = Object.assign(document.createElement('h2'), { textContent: title });
    box.setAttribute('role', status === 'failed' ? 'alert' : 'status');
    box.append(heading);
    if (text) {
      const close = Object.assign(document.createElement('button'), { textContent: 'Close' });
      close.addEventListener('click', () => show());
      heading.append(close);
      box.append(Object.assign(document.createElement('pre'), { textContent: text, tabIndex: 0 }));
    }
    root.append(style, box);
    document.documentElement.append(overlay);
  }

  new EventSource('/xtask/builds').addEventListener('message', ({ data }) => {
    const { build, status, error } = JSON.parse(data);
    if (status === 'failed') show(status, 'The build failed', error);
    else if (status === 'building') show(status, 'Building…');
    else if (String(build) !== own) reload();
    else show();
  });

  // The service worker of a shipped site, served earlier under this address, would answer with its own files.
  navigator.serviceWorker?.getRegistrations().then((all) => all.forEach((one) => one.unregister()));
}
