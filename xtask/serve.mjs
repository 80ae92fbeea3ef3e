// Serves dist/ on localhost: `node xtask/serve.mjs [--port N] [--strict-port] [--open]`.
// Nothing is cached, so a reload always shows the newest build.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sirv from 'sirv';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    'strict-port': { type: 'boolean', default: false },
    open: { type: 'boolean', default: false },
  },
});

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const site = sirv(dist, {
  dev: true, // reads from disk on every request
  etag: true, // with which dev means `no-cache`
  setHeaders(response, path) {
    // A compressed log is a file to hand over, not a transfer encoding.
    if (path.endsWith('.gz')) {
      response.setHeader('Content-Encoding', 'identity');
      response.setHeader('Content-Type', 'application/gzip');
    }
  },
});

/** Listens on one address, and tells which error stood against it. */
function listen(port, host) {
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      site(request, response, () => {
        response.writeHead(404, { 'Content-Type': 'text/plain' });
        response.end('Not found\n');
      });
    });
    server.once('error', (error) => resolve({ error }));
    server.listen(port, host, () => resolve({ server }));
  });
}

/** Takes a port on both loopback addresses: `localhost` can mean either. */
async function claim(port) {
  const four = await listen(port, '127.0.0.1');
  if (four.error) return four.error;
  const six = await listen(port, '::1');
  if (six.error?.code !== 'EADDRINUSE') return null; // no IPv6 is no obstacle
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
