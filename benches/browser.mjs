// The real thing: how fast a log that is dropped on the page is read, beside
// the same browser merely reading the same file in the same way (a worker,
// four reads of 8 MiB in flight), in the same run.
//
//     cargo xtask build && node benches/browser.mjs FILE [RUNS]
//
// Prints one line for each run: milliseconds and MB/s of the bare read and of
// the load, their ratio, milliseconds until lanes are seen, and the peak
// memory of the tab's process.

import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import process from 'node:process';
import { chromium } from '@playwright/test';

const [file, runs = '3'] = process.argv.slice(2);
if (!file) {
  console.error('usage: node benches/browser.mjs FILE [RUNS]');
  process.exit(2);
}
const port = 4399;
const address = `http://localhost:${port}/`;
const bytes = statSync(file).size;

/** Runs in the page: reads a file in a worker and tells how long it took. */
async function bareRead() {
  const code = `onmessage = async ({ data: file }) => {
    const started = performance.now();
    const PAGE = 8 << 20;
    const reads = [];
    let next = 0;
    let sum = 0;
    const begin = () => {
      if (next < file.size) reads.push(file.slice(next, (next += PAGE)).arrayBuffer());
    };
    for (let i = 0; i < 4; i++) begin();
    while (reads.length) {
      const buffer = await reads.shift();
      begin();
      sum += buffer.byteLength;
    }
    postMessage({ ms: performance.now() - started, sum });
  }`;
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  const worker = new Worker(url);
  const input = document.querySelector('#bare');
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(input.files[0]);
  });
}

/** The peak memory of the browser's largest renderer, in MiB. */
async function peakMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const peaks = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0));
  return Math.max(...peaks) / 1024;
}

async function run() {
  const args = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  const executablePath = process.env.EVENTSCOPE_CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block' });
  await page.goto(address);
  await page.getByRole('button', { name: 'Browse…' }).waitFor();
  await page.evaluate(() => {
    const input = document.createElement('input');
    input.type = 'file';
    input.id = 'bare';
    document.body.append(input);
  });
  await page.setInputFiles('#bare', file);
  await page.evaluate(bareRead); // the file is in the system's cache after this
  const bare = await page.evaluate(bareRead);
  const before = await peakMemory(browser);
  const started = Date.now();
  await page.setInputFiles('#app input[type=file]', file);
  await page.locator('.timeline canvas').waitFor();
  const seen = Date.now() - started;
  const app = page.locator('.app[data-elapsed-ms]');
  await app.waitFor({ timeout: 300_000 });
  const load = Number(await app.getAttribute('data-elapsed-ms'));
  const facts = await page.locator('.bar .facts').textContent();
  await page.waitForTimeout(1000);
  const peak = await peakMemory(browser);
  await browser.close();
  const rate = (ms) => `${(bytes / 1e3 / ms).toFixed(0)} MB/s`;
  console.log(
    `bare ${bare.ms.toFixed(0)} ms ${rate(bare.ms)} | load ${load.toFixed(0)} ms ${rate(load)}` +
      ` | ratio ${(bare.ms / load).toFixed(2)} | lanes after ${seen} ms` +
      ` | peak ${peak.toFixed(0)} MiB (${before.toFixed(0)} before) | ${facts}`,
  );
}

const server = spawn('node', ['xtask/serve.mjs', '--port', String(port), '--strict-port'], { stdio: 'ignore' });
try {
  await new Promise((resolve) => setTimeout(resolve, 800));
  for (let i = 0; i < Number(runs); i++) await run();
} finally {
  server.kill();
}
