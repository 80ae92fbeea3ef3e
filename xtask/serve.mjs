// Serves a site on localhost: `node xtask/serve.mjs [--port N] [--strict-port] [--open] [--watch [--build]]`.
// EVENTSCOPE_DIST is its folder, by default dist/. Nothing is cached, so that a reload shows the newest build.
// With --watch (used by `cargo xtask serve`), the site is rebuilt after changes, and open pages reload.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sirv from 'sirv';

import { serveReloads } from './reload/server.mjs';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    'strict-port': { type: 'boolean', default: false },
    open: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    build: { type: 'boolean', default: false },
  },
});

const dist = process.env.EVENTSCOPE_DIST ?? fileURLToPath(new URL('../dist', import.meta.url));
const site = sirv(dist, {
  dev: true, // reads from disk on every request
  etag: true, // together with dev this means `no-cache`
  setHeaders(response, path) {
    // A compressed log is a file to deliver, not a transfer encoding.
    if (path.endsWith('.gz')) {
      response.setHeader('Content-Encoding', 'identity');
      response.setHeader('Content-Type', 'application/gzip');
    }
  },
});

const notFound = (request, response) => {
  response.writeHead(404, { 'Content-Type': 'text/plain' });
  response.end('Not found\n');
};
const fromSite = (request, response) => site(request, response, () => notFound(request, response));
const respond = options.watch ? serveReloads({ dist, fromSite, buildsFirst: options.build }) : fromSite;

/** Listens on one address; resolves to the error on failure. */
function listen(port, host) {
  return new Promise((resolve) => {
    const server = createServer(respond);
    server.once('error', (error) => resolve({ error }));
    server.listen(port, host, () => resolve({ server }));
  });
}

/** Binds a port on both loopback addresses, as `localhost` can mean either. */
async function claim(port) {
  const four = await listen(port, '127.0.0.1');
  if (four.error) return four.error;
  const six = await listen(port, '::1');
  if (six.error?.code !== 'EADDRINUSE') return null; // works without IPv6
  four.server.close();
  return six.error;
}

function openBrowser(url) {
  const [program, ...before] = {
    darwin: ['open'],
    win32: ['cmd', '/c', 'start', ''],
  }[process.platform] ?? ['xdg-open'];
  spawn(program, [...before, url], { stdio: 'ignore', detached: true })
    .on('error', () => console.log(`No ${program} here: open the address yourself.`))
    .unref();
}

let port = Number(options.port);
for (let error; (error = await claim(port)); port += 1) {
  if (error.code !== 'EADDRINUSE' || options['strict-port'] || port >= 65535) {
    console.error(`error: cannot listen on port ${port}: ${error.code}`);
    process.exit(1);
  }
  console.log(`Port ${port} is taken, trying ${port + 1}.`);
}

const url = `http://localhost:${port}/`;
console.log(`Eventscope is at ${url} (Ctrl-C stops it)`);
if (options.open) openBrowser(url);
