// The service worker: keeps one whole build of the site for use offline.
//
// - index.html comes from the network, or after TIMEOUT_MS from the cache;
// - every other file of this build comes from the cache, which is its own;
// - a file that this build does not have (a newer page asks for it) is fetched;
// - what a tab has put away on the disk is removed after it was closed;
// - a log that is shared with the installed page is handed to it: it is never sent, nor kept.
//
// Names carry the build id, so a page never meets another build's files. A new
// service worker takes over when the last page of the old build is closed; it
// tells the pages that are open which build it brought.
// `eventscope view` serves it with STAYS set to false: that address never comes again, so it
// keeps nothing there, and goes with the last tab.
// BUILD and FILES are filled in by `cargo xtask build`.

const BUILD = 'dev';
const FILES = [];
const STAYS = true;
const TIMEOUT_MS = 3000;
// The folder of `src/worker/spill.rs`, and when to look into it after a tab was closed.
const PUT_AWAY = 'eventscope';
const LOOK_AFTER_MS = [500, 5000];

const PREFIX = `eventscope ${new URL(registration.scope).pathname} `;
const CACHE = PREFIX + BUILD;
const INDEX = './';
// What `share_target` in www/manifest.webmanifest says, and how long the page has to take it.
const SHARE = new URL('share', registration.scope).href;
const TAKEN_WITHIN_MS = 60_000;

addEventListener('install', (event) => event.waitUntil(STAYS && keepBuild()));
addEventListener('activate', (event) => event.waitUntil(dropOldBuilds()));
addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'POST' && request.url === SHARE) event.respondWith(share(event));
  if (!STAYS || request.method !== 'GET' || !request.url.startsWith(registration.scope)) return;
  if (request.headers.has('range')) return;
  if (request.mode === 'navigate') event.respondWith(page(request));
  else event.respondWith(file(request));
});

addEventListener('message', (event) => {
  if (event.data === 'closed') event.waitUntil(removePutAway().then(leave));
  if (event.data === 'shared') event.source.postMessage({ shared: takeShared() });
});

let shared = [];
let taken = () => {};

/** Holds what is shared in memory, and opens the page, which takes it. */
async function share(event) {
  const form = await event.request.formData();
  shared = form.getAll('logs').filter((log) => log instanceof File);
  // As long as it works on something, a service worker is not ended.
  event.waitUntil(new Promise((done) => {
    taken = done;
    setTimeout(takeShared, TAKEN_WITHIN_MS);
  }));
  return Response.redirect('./?shared', 303);
}

function takeShared() {
  taken();
  return shared.splice(0);
}

/** Removes what a closed tab has put away; what another tab uses cannot be removed. */
async function removePutAway() {
  for (const ms of LOOK_AFTER_MS) {
    await new Promise((done) => setTimeout(done, ms));
    try {
      const root = await navigator.storage.getDirectory();
      const folder = await root.getDirectoryHandle(PUT_AWAY);
      for await (const name of folder.keys()) await folder.removeEntry(name).catch(() => {});
    } catch {
      // There is no such folder: nothing was put away.
    }
  }
}

/** Where nothing is to stay, this worker does not either, once there is no tab. */
async function leave() {
  if (STAYS) return;
  const tabs = await clients.matchAll({ includeUncontrolled: true });
  const isOurs = (tab) => tab.url.startsWith(registration.scope);
  if (!tabs.some(isOurs)) await registration.unregister();
}

/** Stores every file of this build, past the HTTP cache. All or nothing. */
async function keepBuild() {
  const cache = await caches.open(CACHE);
  await cache.addAll([INDEX, ...FILES].map((path) => new Request(path, { cache: 'reload' })));
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  for (const page of pages) page.postMessage({ build: BUILD });
}

async function dropOldBuilds() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The page: what the server has, unless it is slow or away. */
async function page(request) {
  const url = new URL(request.url);
  url.search = '';
  url.hash = '';
  const isIndex = url.href === registration.scope || url.href === `${registration.scope}index.html`;
  if (!isIndex) return file(request);
  const cache = await caches.open(CACHE);
  const kept = await cache.match(INDEX);
  if (!kept) return fetch(request);
  const fetched = fetch(request).then((response) => (response.ok ? response : kept));
  const late = new Promise((done) => setTimeout(done, TIMEOUT_MS, kept));
  return Promise.race([fetched, late]).catch(() => kept);
}

/**
 * Any other file: from this build's cache, else from the server. What a service worker fetches is not bound by the
 * policy of the page, so redirects, which may lead to other hosts, are not followed; a navigation follows its own.
 */
async function file(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept) return kept;
  return request.redirect === 'follow' ? fetch(request, { redirect: 'error' }) : fetch(request);
}
