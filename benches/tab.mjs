// Time to read a log dropped on the page, compared with merely reading the same file in the same way in the same
// browser.
//
//     cargo xtask build && node benches/tab.mjs FILE [--runs N] [--query QUERY] [--fragment FRAGMENT] [--json]
//
// QUERY is the part of the page's address after ?, FRAGMENT that after #. Each run has its own browser. Prints a
// row of a Markdown table, or with --json an object: times in milliseconds, the minimum of all runs (and
// `median_ms`, as other programs may have been running); memory in MiB, the maximum of all runs; `cpu_ms` is the
// CPU time of all threads of the tab. One more run reads the pixels of the timeline in every frame; only its times
// until something is visible count.

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { bareRead, cost, launch, load, mainThread, openPage, percentile, serve, untilIdle } from './site.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    query: { type: 'string', default: '' },
    fragment: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const [file] = positionals;
if (!file) {
  console.error('usage: node benches/tab.mjs FILE [--runs N] [--query QUERY] [--fragment FRAGMENT] [--json]');
  process.exit(2);
}

/** Maximum time from the end of loading until the lanes are complete. */
const WHOLE_TIMEOUT_MS = 1000;

/** Runs in the page: reads the timeline in each frame until its lanes are complete. */
function look() {
  const seen = (globalThis.benchSeen = {});
  const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const isCapability = (row) => /^(Capability|HEC)/.test(row.querySelector('[role=rowheader]')?.textContent ?? '');
  /** Returns how many of the pixel columns next to the names of capabilities are colored. */
  const painted = (canvas) => {
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    let [columns, colored, colors] = [0, 0, 0];
    const strip = (x, y, width, height) => {
      copy.canvas.width = width;
      copy.canvas.height = height;
      copy.drawImage(canvas, x, y, width, height, 0, 0, width, height);
      return copy.getImageData(0, 0, width, height).data;
    };
    const differs = (data) => data.some((value, i) => value !== data[i % 4]);
    if (!seen.picture && canvas.width > 300 && differs(strip(0, 0, canvas.width, Math.min(60, canvas.height)))) seen.picture = performance.now();
    for (const row of document.querySelectorAll('.timeline [role=row]')) {
      if (!isCapability(row)) continue;
      const head = row.getBoundingClientRect();
      const x = Math.round((head.right - box.x + 1) * scale);
      const [y, width, height] = [Math.round((head.y - box.y) * scale), canvas.width - x, Math.round(head.height * scale)];
      if (y < 0 || y + height > canvas.height || width < 1) continue;
      const data = strip(x, y, width, height);
      for (let column = 0; column < width; column++) {
        columns += 1;
        for (let line = 0; line < height; line++) {
          const at = 4 * (line * width + column);
          const rgb = [data[at], data[at + 1], data[at + 2]];
          if (data[at + 3] > 0 && Math.max(...rgb) - Math.min(...rgb) > 60) {
            colored += 1;
            break;
          }
        }
      }
      colors += 1;
    }
    return colors ? colored / columns : 0;
  };
  const frame = () => {
    const canvas = document.querySelector('.timeline canvas');
    const share = canvas ? painted(canvas) : 0;
    if (share > 0) seen.lanes ??= performance.now();
    if (share > 0.9) seen.whole = performance.now();
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** Returns the milliseconds until there is a picture, the first lanes, and lanes over the whole width. */
async function sight(address) {
  const browser = await launch();
  try {
    const page = await openPage(browser, address, options);
    await page.evaluate(look);
    await load(page, file);
    // Lanes of a small log may never fill the width.
    await page.waitForFunction(() => globalThis.benchSeen.whole, null, { timeout: WHOLE_TIMEOUT_MS }).catch((error) => {
      if (error.name !== 'TimeoutError') throw error;
    });
    const [seen, { chosen }] = await page.evaluate(() => [globalThis.benchSeen, globalThis.benchTimes]);
    const after = (at) => at && Math.round(at - chosen);
    return { picture_ms: after(seen.picture), lanes_ms: after(seen.lanes), whole_ms: after(seen.whole) };
  } finally {
    await browser.close();
  }
}

/** Performs one run: reading time, memory, and load of the main thread. */
async function run(address) {
  const browser = await launch();
  try {
    const page = await openPage(browser, address, options);
    const idle = await cost(browser);
    const worked = await mainThread(page);
    const [started, before] = [Date.now(), await worked()];
    const { ms, events, long } = await load(page, file);
    const busy = ((await worked()) - before) / (Date.now() - started);
    await untilIdle(browser);
    const { peak, now, cpu } = await cost(browser);
    return { ms, events, long, busy, peak, now, cpu: cpu - idle.cpu, idle: idle.peak };
  } catch (error) {
    result.peak_mib = (await cost(browser)).peak;
    throw error;
  } finally {
    await browser.close();
  }
}

const bytes = statSync(file).size;
const server = await serve();
const result = { kind: 'tab', file: basename(file), bytes, query: options.query };
try {
  const [bare, runs] = [[], []];
  for (let i = 0; i < Number(options.runs); i++) {
    bare.push(await bareRead(server.address, file, i === 0 ? 2 : 1));
    runs.push(await run(server.address));
  }
  const all = (key) => runs.map((one) => one[key]);
  const ms = Math.min(...all('ms'));
  const [{ events }] = runs;
  Object.assign(result, await sight(server.address), {
    events,
    bare_ms: Math.round(Math.min(...bare)),
    ms: Math.round(ms),
    median_ms: Math.round(percentile(all('ms'), 0.5)),
    mb_per_s: Math.round(bytes / 1e3 / ms),
    events_per_s: Math.round((events / ms) * 1e3),
    cpu_ms: Math.round(Math.min(...all('cpu'))),
    times_bare: Number((ms / Math.min(...bare)).toFixed(1)),
    peak_mib: Math.max(...all('peak')),
    after_mib: Math.max(...all('now')),
    idle_mib: Math.min(...all('idle')),
    main_busy: Number(percentile(all('busy'), 0.5).toFixed(3)),
    longest_task_ms: Math.round(Math.max(0, ...runs.flatMap((one) => one.long))),
  });
} catch (error) {
  result.error = error.message.split('\n')[0];
} finally {
  server.close();
}
console.log(options.json ? JSON.stringify(result) : row(result));

function row({ error, ...of }) {
  const what = `${of.file}${of.query && ` (${of.query})`} | ${(of.bytes / 1e6).toFixed(0)} MB`;
  if (error) return `| ${what} | ${error} |`;
  const s = (ms) => (ms === undefined ? '–' : `${(ms / 1000).toFixed(2)} s`);
  const cells = [
    what,
    `${(of.events / 1e6).toFixed(1)} M`,
    s(of.bare_ms),
    s(of.picture_ms),
    s(of.lanes_ms),
    s(of.whole_ms),
    `${s(of.ms)} (median ${s(of.median_ms)})`,
    `${of.mb_per_s} MB/s`,
    `${(of.events_per_s / 1e6).toFixed(1)} M/s`,
    `${of.times_bare}`,
    s(of.cpu_ms),
    `${of.peak_mib} MiB`,
    `${(100 * of.main_busy).toFixed(0)} %, longest ${of.longest_task_ms} ms`,
  ];
  return `| ${cells.join(' | ')} |`;
}
