// The part of the server that reloads pages after a build. It adds a script to index.html and serves the files
// that the script needs below /xtask/; built sites do not contain them.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createBuilder } from './builder.mjs';
import { watchSources } from './watch.mjs';

const OWN = {
  '/xtask/client.js': ['client.js', 'text/javascript'],
  '/xtask/overlay.css': ['overlay.css', 'text/css'],
};
/** Page that is served before the first build succeeds. */
const EMPTY = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Eventscope</title></head><body></body></html>';

/** Watches and builds; returns the request handler. */
export function serveReloads({ dist, fromSite, buildsFirst }) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const pages = new Set();
  /** Build number; differs after each successful build, and from those of other runs of the server. */
  let build = Date.now();
  let state = { status: 'built' };

  const send = (page) => page.write(`data: ${JSON.stringify({ build, ...state })}\n\n`);
  const builder = createBuilder((now) => {
    state = now;
    if (state.status === 'built') build += 1;
    pages.forEach(send);
  });
  watchSources(root, builder.change);
  if (buildsFirst) builder.change('src');

  process.on('exit', builder.stop);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit());

  function listen(request, response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    pages.add(response);
    request.on('close', () => pages.delete(response));
    send(response);
  }

  async function index(response) {
    const html = await readFile(join(dist, 'index.html'), 'utf8').catch(() => EMPTY);
    response.writeHead(200, { 'Content-Type': 'text/html', 'Cache-Control': 'no-store' });
    response.end(withClient(html, build));
  }

  return async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === '/xtask/builds') return listen(request, response);
    if (pathname === '/' || pathname === '/index.html') return index(response);
    if (!(pathname in OWN)) return fromSite(request, response);
    const [name, type] = OWN[pathname];
    response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
    response.end(await readFile(new URL(name, import.meta.url)));
  };
}

/** Adds the script, and sets the build id `dev`, with which the page registers no service worker (www/offline.js). */
function withClient(html, build) {
  return html
    .replace(/(<meta name="eventscope-build" content=")[^"]*/, '$1dev')
    .replace('</head>', `<script src="xtask/client.js" data-build="${build}"></script>\n</head>`);
}
