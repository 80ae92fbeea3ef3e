// `eventscope view` shows logs in the page: it serves the page, which opens them, and ends with the tab.
// `tests/view.rs` tests the answers of its server.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect } from '@playwright/test';
import { fixture, fragment, loaded, test } from './helpers.js';

const PROGRAM = process.env.EVENTSCOPE_PROGRAM ?? 'target/debug/eventscope';

/** Starts the program until the end of the test. Returns its process and the page's address. */
async function view(...files) {
  const program = spawn(PROGRAM, ['view', '--no-open', '--site', 'dist', ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(program);
  program.stdout.setEncoding('utf8');
  let printed = '';
  while (!printed.includes('\n')) printed += (await once(program.stdout, 'data'))[0];
  return { program, address: printed.match(/http:\/\/\S+/)[0] };
}

/** Returns a promise with its resolve function. */
function deferred() {
  let resolve;
  const promise = new Promise((fulfil) => { resolve = fulfil; });
  return { promise, resolve };
}

const running = new Set();
test.afterEach(() => {
  for (const program of running) program.kill();
  running.clear();
});

test('a log is open as soon as the page is, and after a reload', async ({ page }) => {
  const problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  const { address } = await view(fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await page.goto(address);
  await loaded(page);
  await expect(page.locator('header.bar')).toContainText('fib-forkio-N2-l.eventlog');
  await page.getByRole('tab', { name: 'Threads' }).click();
  await fragment(page, /p=threads/);
  await page.reload();
  await loaded(page);
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  expect(problems).toEqual([]);
});

test('two logs are compared, and a file that is none says so', async ({ page }) => {
  const two = await view(fixture('ghc-9.6.6/fib-forkio-N2-l'), fixture('ghc-9.0.2/ffi-safe-N2-lu'));
  await page.goto(two.address);
  await expect(page.locator('.timeline canvas')).toHaveCount(2);

  const none = await view('Cargo.toml');
  await page.goto(none.address);
  await expect(page.getByRole('alert')).toContainText('This is not an eventlog');
});

test('a log that is still being written is followed', async ({ page }) => {
  const bytes = readFileSync(fixture('ghc-9.6.6/dense-N2-l-flush'));
  const file = test.info().outputPath('grows.eventlog');
  writeFileSync(file, bytes.subarray(0, 100_000));
  const { address } = await view('--follow', file);
  await page.goto(address);
  await loaded(page);
  const facts = page.locator('.bar .facts');
  await expect(page.locator('.following')).toContainText('Following');
  await expect(facts).toContainText('97.7 KiB');
  appendFileSync(file, bytes.subarray(100_000, 200_000));
  await expect(facts).toContainText('195 KiB');
  // The traced program is restarted, and ends.
  const again = readFileSync(fixture('ghc-9.6.6/fib-forkio-N2-l'));
  writeFileSync(file, again.subarray(0, 9_000));
  await expect(page.locator('.notice')).toContainText('overwritten by a new run');
  appendFileSync(file, again.subarray(9_000));
  await expect(page.locator('.notice')).toContainText('The program has ended');
  await expect(facts).toContainText('14.3 KiB');
});

test('a log that comes from a socket is followed', async ({ page }) => {
  const bytes = readFileSync(fixture('ghc-9.6.6/dense-N2-l-flush'));
  const path = join(tmpdir(), `eventscope-${process.pid}-${test.info().workerIndex}.sock`);
  const { promise: connected, resolve } = deferred();
  const server = createServer(resolve).listen(path);
  await once(server, 'listening');
  const begun = view('--follow', `unix:${path}`);
  const socket = await connected;
  socket.write(bytes.subarray(0, 150_000));
  await page.goto((await begun).address);
  await loaded(page);
  await expect(page.locator('.following')).toContainText('Following');
  socket.end(bytes.subarray(150_000));
  await expect(page.locator('.notice')).toContainText('The program has ended');
  await expect(page.locator('.bar .facts')).toContainText('306 KiB');
  server.close();
});

test('a file that is gone meanwhile is named', async ({ page }) => {
  const { address } = await view(fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await page.route('**/files/0/*', (route) => route.fulfill({ status: 404 }));
  await page.goto(address);
  await expect(page.getByRole('alert')).toContainText('could not be fetched: “fib-forkio-N2-l.eventlog”');
});

test('it ends with the tab', async ({ page }) => {
  const { program, address } = await view(fixture('ghc-9.6.6/fib-forkio-N2-l'));
  const ended = once(program, 'exit');
  await page.goto(address);
  await loaded(page);
  await page.close();
  expect(await ended).toEqual([0, null]);
});

test.describe('with a service worker', () => {
  test.use({ serviceWorkers: 'allow' });

  test('nothing stays in the browser', async ({ page, context }) => {
    const { address } = await view(fixture('ghc-9.6.6/fib-forkio-N2-l'));
    await page.goto(address);
    await loaded(page);
    await page.evaluate(() => navigator.serviceWorker.ready);
    // Keeps the program running after the page is closed, to check what the page leaves behind.
    const presence = new AbortController();
    await fetch(new URL('presence', address), { signal: presence.signal });
    const after = await context.newPage();
    await after.goto(new URL('/', address).href);
    await page.close();
    const nothing = () => Promise.all([
      navigator.serviceWorker.getRegistrations().then((all) => all.length),
      caches.keys(),
      (async () => {
        const root = await navigator.storage.getDirectory();
        const folder = await root.getDirectoryHandle('eventscope').catch(() => null);
        return folder ? Array.fromAsync(folder.keys()) : [];
      })(),
    ]);
    await expect.poll(() => after.evaluate(nothing)).toEqual([0, [], []]);
    presence.abort();
  });
});
