// Long session: fifty logs one after another in one tab, each zoomed and panned two hundred times, to detect
// leaks.
//
//     cargo xtask build && node benches/soak.mjs [LOG...] [--logs N] [--zooms N] [--query QUERY] [--json]
//
// Without LOG, those of tests/fixtures, and of the folder EVENTSCOPE_CORPUS if set, alternate between the smallest
// and the largest; a given LOG is opened second, in the middle and second to last. The first log is opened again
// as the last one. Prints for each log the memory of the tab (MiB, after the zooms and a collection), frames over
// 100 ms, and running workers. Exits with 1 if the first log takes over a quarter more memory when it is opened
// again at the end, a frame took longer than 100 ms, or more workers are running than before.

import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cost, launch, load, openPage, percentile, serve, untilIdle, workers } from './site.mjs';

const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    logs: { type: 'string', default: '50' },
    zooms: { type: 'string', default: '200' },
    query: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});

/** Returns the logs in the order in which they are opened. */
function chosen(count) {
  const folders = [fileURLToPath(new URL('../tests/fixtures', import.meta.url)), process.env.EVENTSCOPE_CORPUS].filter(Boolean);
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path)));
  const found = files.filter((path) => path.endsWith('.eventlog')).map((path) => [statSync(path).size, path]);
  const sizes = found.filter(([bytes]) => bytes > 20_000).sort(([a], [b]) => a - b);
  const few = count - 1 - (named.length ? 3 : 0);
  // Evenly distributed over the sizes, from both ends.
  const picked = Array.from({ length: few }, (_, i) => sizes[Math.floor((i * sizes.length) / few)][1]);
  const [first, ...turns] = picked.map((_, i) => picked[i % 2 ? picked.length - 1 - (i >> 1) : i >> 1]);
  if (!named.length) return [first, ...turns, first];
  const half = turns.length >> 1;
  return [first, named[0], ...turns.slice(0, half), named.at(-1), ...turns.slice(half), named[0], first];
}

/**
 * Runs in the page: one zoom or pan per frame; returns the intervals between frames, and main-thread tasks over 50
 * ms.
 */
async function zoom(steps) {
  const canvas = document.querySelector('.timeline canvas');
  const box = canvas.getBoundingClientRect();
  const wheel = (x, deltaX, deltaY) =>
    canvas.dispatchEvent(
      new WheelEvent('wheel', { clientX: box.x + box.width * x, clientY: box.y + box.height / 2, deltaX, deltaY, bubbles: true, cancelable: true }),
    );
  const { long, takeLongTasks } = globalThis.benchTimes;
  takeLongTasks();
  long.length = 0;
  const times = [];
  for (let i = 0; i < steps; i++) {
    times.push(await new Promise((done) => requestAnimationFrame(done)));
    if (i % 5 === 4) wheel(0.5, i % 2 ? 120 : -120, 0);
    else wheel(0.3 + ((i * 7) % 60) / 100, 0, i % 80 < 45 ? -120 : 120);
  }
  // Wait until the last step is drawn and its task has ended.
  for (let frames = 0; frames < 2; frames++) await new Promise((done) => requestAnimationFrame(done));
  takeLongTasks();
  return { between: times.slice(1).map((at, i) => at - times[i]), tasks: [...long] };
}

const server = await serve();
const browser = await launch();
const logs = chosen(Number(options.logs));
const results = [];
try {
  const page = await openPage(browser, server.address, options);
  const devtools = await page.context().newCDPSession(page);
  for (const file of logs) {
    let result = { kind: 'soak', file: basename(file), bytes: statSync(file).size };
    try {
      const { ms, events, long } = await load(page, file, { timeout: 300_000 });
      const { between, tasks } = await page.evaluate(zoom, Number(options.zooms));
      await devtools.send('HeapProfiler.collectGarbage');
      await untilIdle(browser);
      const { now, peak } = await cost(browser);
      result = {
        ...result,
        ms: Math.round(ms),
        events,
        frame_ms: percentile(between, 0.95),
        longest_frame_ms: Math.round(Math.max(...between)),
        frames_over_100: between.filter((time) => time > 100).length,
        tasks_over_100: [...tasks, ...long].filter((time) => time > 100).length,
        now_mib: now,
        peak_mib: peak,
        workers: await workers(browser),
      };
    } catch (error) {
      result.error = error.message.split('\n')[0];
    }
    results.push(result);
    if (!options.json) console.log(line(result));
  }
} finally {
  await browser.close();
  server.close();
}

function line(of) {
  if (of.error) return `${of.file}: ${of.error}`;
  return `${of.file} (${(of.bytes / 1e6).toFixed(1)} MB): read in ${of.ms} ms; frames 95 % ${of.frame_ms.toFixed(1)} ms, longest ${of.longest_frame_ms} ms; tasks over 100 ms: ${of.tasks_over_100}; ${of.now_mib} MiB (peak ${of.peak_mib}); ${of.workers} workers`;
}

const whole = results.filter(({ error }) => !error);
const sum = (key) => whole.reduce((total, result) => total + result[key], 0);
const [first, last] = [whole[0], whole.at(-1)];
const verdict = {
  kind: 'soak whole',
  logs: whole.length,
  failed: results.length - whole.length,
  zooms: whole.length * Number(options.zooms),
  frames_over_100: sum('frames_over_100'),
  tasks_over_100: sum('tasks_over_100'),
  first_mib: first.now_mib,
  last_mib: last.now_mib,
  peak_mib: Math.max(...whole.map(({ peak_mib }) => peak_mib)),
  workers_first: first.workers,
  workers_last: last.workers,
};
console.log(options.json ? results.concat(verdict).map((result) => JSON.stringify(result)).join('\n') : verdict);
const grew = last.now_mib > 1.25 * first.now_mib;
if (grew || verdict.failed || verdict.frames_over_100 || verdict.workers_last > verdict.workers_first) process.exitCode = 1;
