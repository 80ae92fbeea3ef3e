// Registers the service worker, so that the page opens without a network.
// When a newer build has arrived, window gets an `eventscope-update` event: a
// reload shows it. Where service workers are missing or blocked nothing happens.
addEventListener('load', async () => {
  const built = document.querySelector('meta[name="eventscope-build"]')?.content;
  if (!built || built === 'dev' || !('serviceWorker' in navigator) || !isSecureContext) return;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (data?.build && data.build !== built) dispatchEvent(new Event('eventscope-update'));
  });
  try {
    const worker = await navigator.serviceWorker.register('sw.js', { updateViaCache: 'none' });
    // A page that is closed cannot remove what it has put away.
    addEventListener('pagehide', () => worker.active?.postMessage('closed'));
  } catch {
    // A private window or a file: address. The page works without it.
  }
});
