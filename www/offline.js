// Registers the service worker, so that the page opens without a network.
// A build that replaces this one is announced as an `eventscope-update` event
// on window. Where service workers are missing or blocked nothing happens.
addEventListener('load', async () => {
  const built = document.querySelector('meta[name="eventscope-build"]')?.content;
  if (!built || built === 'dev' || !('serviceWorker' in navigator) || !isSecureContext) return;
  try {
    const registration = await navigator.serviceWorker.register('sw.js', { updateViaCache: 'none' });
    registration.addEventListener('updatefound', () => {
      if (registration.active) dispatchEvent(new Event('eventscope-update'));
    });
  } catch {
    // A private window or a file: address. The page works without it.
  }
});
