// Shared by the browser benchmarks: the built site on localhost, Chromium, a page that records its loading times,
// and the resource usage of a tab.
//
// EVENTSCOPE_SITE names another folder than dist/ (to measure an older build), EVENTSCOPE_CHROMIUM another
// Chromium.

import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import sirv from 'sirv';

const dist = process.env.EVENTSCOPE_SITE ?? fileURLToPath(new URL('../dist', import.meta.url));

/** Serves the site; returns its address and a function to stop. */
export async function serve() {
  const site = sirv(dist, { etag: true });
  const server = createServer((request, response) => {
    site(request, response, () => response.writeHead(404).end());
  });
  await new Promise((done) => server.listen(0, 'localhost', done));
  return { address: `http://localhost:${server.address().port}/`, close: () => server.close() };
}

/**
 * Starts Chromium with its own profile, like a user's. In a private window, the file to which log data is spilled
 * would be in memory and slow.
 */
export async function launch() {
  const args = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  const profile = mkdtempSync(join(tmpdir(), 'eventscope-bench-'));
  const executablePath = process.env.EVENTSCOPE_CHROMIUM ?? '/usr/bin/chromium';
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, serviceWorkers: 'block' });
  const browser = context.browser();
  return {
    newPage: () => context.newPage(),
    newBrowserCDPSession: () => browser.newBrowserCDPSession(),
    startTracing: (...options) => browser.startTracing(...options),
    stopTracing: () => browser.stopTracing(),
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Opens the page and waits until its program runs. */
export async function openPage(browser, address, { query = '', fragment = '', height = 900 } = {}) {
  const page = await browser.newPage();
  await page.setViewportSize({ width: 1440, height });
  await page.addInitScript(watch);
  await page.goto(`${address}${query && `?${query}`}#${fragment}`);
  await page.locator('html[data-started]').waitFor({ state: 'attached' });
  return page;
}

/** Runs in the page: records when a file is chosen, when its log is read, and main-thread tasks of more than 50 ms. */
function watch() {
  const times = { long: [] };
  globalThis.benchTimes = times;
  const isRead = () => document.querySelector('.app[data-elapsed-ms]') !== null;
  const start = () => {
    times.chosen = performance.now();
    times.loaded = times.failed = undefined;
    // The previous log is shown until the next one is opened.
    times.isStale = isRead();
    times.long.length = 0;
  };
  addEventListener('change', (event) => event.target.type === 'file' && start(), true);
  addEventListener('click', (event) => event.target.textContent === 'Open instead' && start(), true);
  new MutationObserver(() => {
    const now = performance.now();
    times.isStale &&= isRead();
    if (!times.loaded && !times.isStale && isRead()) times.loaded = now;
    if (!times.failed && document.querySelector('.alert[role=alert]:not([hidden])')) times.failed = now;
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-elapsed-ms', 'hidden'] });
  const observer = new PerformanceObserver((list) => times.long.push(...list.getEntries().map((task) => task.duration)));
  observer.observe({ type: 'longtask' });
  times.takeLongTasks = () => times.long.push(...observer.takeRecords().map((task) => task.duration));
}

/**
 * Chooses a file and waits until its log is read. Returns the milliseconds since the choice, the number of events,
 * and the durations of long tasks on the main thread.
 */
export async function load(page, file, { timeout = 1_800_000 } = {}) {
  const before = await page.evaluate(() => globalThis.benchTimes.loaded);
  await page.locator('input[type=file]').first().setInputFiles(file);
  // While a log is open, the page offers to compare the two.
  if (before) await page.getByRole('button', { name: 'Open instead' }).click();
  await page.waitForFunction(
    (before) => {
      const { loaded, failed } = globalThis.benchTimes;
      return failed || (loaded && loaded !== before);
    },
    before,
    { timeout, polling: 50 },
  );
  const { chosen, loaded, failed, long } = await page.evaluate(() => {
    globalThis.benchTimes.takeLongTasks();
    const { takeLongTasks, ...times } = globalThis.benchTimes;
    return times;
  });
  if (failed) throw new Error(await page.locator('.alert[role=alert]:not([hidden])').first().textContent());
  const facts = await page.locator('.bar .facts').textContent();
  const events = Number(/([\d,]+) events/.exec(facts)?.[1].replaceAll(',', ''));
  if (!(events > 0)) throw new Error(`the page does not show how many events it read: ${facts}`);
  return { ms: loaded - chosen, events, long };
}

/**
 * Reads a file in a worker, with four reads of 8 MiB in flight, and discards it: the minimum work of any page.
 * Returns the minimum milliseconds of `runs`. Uses its own browser, so that its memory is not counted.
 */
export async function bareRead(address, file, runs = 3) {
  const browser = await launch();
  try {
    const page = await openPage(browser, address);
    await page.evaluate(() => {
      const input = document.createElement('input');
      input.type = 'file';
      input.id = 'bare';
      document.body.append(input);
    });
    await page.setInputFiles('#bare', file);
    const times = [];
    for (let i = 0; i < runs; i++) times.push(await page.evaluate(readInWorker));
    return Math.min(...times);
  } finally {
    await browser.close();
  }
}

async function readInWorker() {
  const code = `onmessage = async ({ data: file }) => {
    const started = performance.now();
    const reads = [];
    let next = 0;
    const begin = () => {
      if (next < file.size) reads.push(file.slice(next, (next += 8 << 20)).arrayBuffer());
    };
    for (let i = 0; i < 4; i++) begin();
    while (reads.length) {
      await reads.shift();
      begin();
    }
    postMessage(performance.now() - started);
  }`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const time = new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
  worker.postMessage(document.querySelector('#bare').files[0]);
  const ms = await time;
  worker.terminate();
  return ms;
}

/**
 * Returns the usage of the largest renderer: `peak` is the maximum resident memory so far, `now` the current share
 * (PSS), both in MiB; `cpu` is the CPU time of its threads in milliseconds. Workers are threads of the renderer,
 * so they are included.
 */
export async function cost(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const costs = processInfo.filter(({ type }) => type === 'renderer').map(({ id, cpuTime }) => {
    const mib = (file, name) => {
      try {
        return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${id}/${file}`, 'utf8'))?.[1] ?? 0) / 1024);
      } catch {
        return 0; // the process has ended
      }
    };
    return { peak: mib('status', 'VmHWM'), now: mib('smaps_rollup', 'Pss'), cpu: cpuTime * 1000 };
  });
  return costs.reduce((most, one) => (one.peak > most.peak ? one : most));
}

/** Waits until the tab is idle: its threads use less than a twentieth of a quarter of a second as CPU time. */
export async function untilIdle(browser, { timeout = 60_000 } = {}) {
  const [deadline, windowMs] = [Date.now() + timeout, 250];
  let before = (await cost(browser)).cpu;
  while (Date.now() < deadline) {
    await setTimeout(windowMs);
    const { cpu } = await cost(browser);
    if (cpu - before < windowMs / 20) return;
    before = cpu;
  }
  throw new Error(`the page is still busy after ${timeout / 1000} s`);
}

/** Returns a function that returns the milliseconds for which the page's main thread has been busy so far. */
export async function mainThread(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  };
}

/** Returns the number of running workers in the browser. */
export async function workers(browser) {
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets');
  await session.detach();
  return targetInfos.filter(({ type }) => type === 'worker').length;
}

/** Returns the smallest value that at least the share `part` of the values do not exceed. */
export function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
