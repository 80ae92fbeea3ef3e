// What an installed page has beyond one that is only visited.
//
// - It registers the service worker, so that the page opens without a network. Where service workers
//   are missing or blocked nothing happens.
// - It says when a newer build has come; nothing changes before a reload.
// - Logs that the system opens with it, or that are shared with it, are given to www/first.js.

{
  const { open, fail } = globalThis.eventscope;

  globalThis.launchQueue?.setConsumer(async ({ files }) => {
    try {
      const given = await Promise.all(files.map((file) => file.getFile()));
      if (given.length > 0) open(given, files);
    } catch (error) {
      fail(`What was opened cannot be read: ${error.message}.`);
    }
  });

  const update = document.getElementById('update');
  const [reload, later] = update.querySelectorAll('button');
  reload.addEventListener('click', () => location.reload());
  later.addEventListener('click', () => { update.hidden = true; });

  /** Asks the service worker for what was shared; the address does not say it twice. */
  function takeShared() {
    const url = new URL(location.href);
    if (!url.searchParams.has('shared')) return;
    url.searchParams.delete('shared');
    history.replaceState(null, '', url);
    navigator.serviceWorker.controller?.postMessage('shared');
  }

  async function register() {
    const built = document.querySelector('meta[name="eventscope-build"]').content;
    if (built === 'dev' || !('serviceWorker' in navigator) || !isSecureContext) return;
    navigator.serviceWorker.addEventListener('message', ({ data }) => {
      if (data?.build && data.build !== built) update.hidden = false;
      if (data?.shared?.length > 0) open(data.shared);
    });
    takeShared();
    try {
      const worker = await navigator.serviceWorker.register('sw.js', { updateViaCache: 'none' });
      // A page that is closed cannot remove what it has put away.
      addEventListener('pagehide', () => worker?.active?.postMessage('closed'));
      // A page that stays open for days hears of newer builds too.
      document.addEventListener('visibilitychange', () => {
        if (!document.hidden) worker.update().catch(() => {});
      });
    } catch {
      // A private window or a file: address. The page works without it.
    }
  }

  addEventListener('load', register);
}
