// Frame times of the page: opens a log in Chromium, zooms in and out, pans and drags a selection on the timeline,
// does the same in the flame graph if its panel is open (FRAGMENT p=flame), and records a trace meanwhile.
//
//     cargo xtask build && node benches/frames.mjs FILE [FRAGMENT] [--runs N] [--query QUERY] [--steps N] [--json]
//
// FRAGMENT is the part of a link after #, such as open=memory,events. A gesture has N steps (240), one per frame.
// Prints for each gesture: the interval between frames, the busy time of the main thread per frame, and the time
// of a worker per question (median and 95th percentile, in milliseconds); with --json one object per gesture. Of
// several runs, the one with the least busy main thread (95 %) is printed.

import { basename } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { launch, load, openPage, percentile, serve, untilIdle } from './site.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    query: { type: 'string', default: '' },
    runs: { type: 'string', default: '1' },
    steps: { type: 'string', default: '240' },
    json: { type: 'boolean', default: false },
  },
});
const [file, fragment = ''] = positionals;
if (!file) {
  console.error('usage: node benches/frames.mjs FILE [FRAGMENT] [--runs N] [--query QUERY] [--steps N] [--json]');
  process.exit(2);
}
const STEPS = Number(options.steps);
/** Number of steps of the zoom before a gesture. */
const ZOOM_STEPS = Math.min(100, STEPS);

const FLAME = '.flame-canvas canvas';

/** By gesture: zoom before it, and the code executed in the page for each step. */
const GESTURES = {
  'zoom in and out': { zoom: 0, step: 'wheel(0, i % 80 < 40 ? -120 : 120)' },
  'pan, zoomed in': { zoom: -1500, step: 'wheel(i % 80 < 40 ? 90 : -90, 0)' },
  'pan, far zoomed in': { zoom: -5000, step: 'wheel(i % 80 < 40 ? 90 : -90, 0)' },
  'drag a selection': { zoom: 0, press: true, step: "pointer('pointermove', 300 + i * 3)" },
};

/** Gestures on the flame graph, where the wheel zooms only with Ctrl. */
const FLAME_GESTURES = {
  'flame graph: zoom in and out': { on: FLAME, zoom: 0, step: 'wheel(0, i % 80 < 40 ? -24 : 24, true)' },
  'flame graph: pan, zoomed in': { on: FLAME, zoom: -300, step: 'wheel(i % 80 < 40 ? 90 : -90, 0)' },
  'flame graph: drag': {
    on: FLAME,
    zoom: -300,
    press: true,
    step: "pointer('pointermove', 700 + 300 * Math.sin(i / 20))",
  },
};

/** Runs in the page: one step of a gesture per frame; returns the times of the frames. */
async function perform({ on = '.timeline canvas', step, press, steps }) {
  const canvas = document.querySelector(on);
  const box = canvas.getBoundingClientRect();
  const at = (x) => ({ clientX: box.x + x, clientY: box.y + Math.min(200, box.height / 2), bubbles: true, cancelable: true });
  const wheel = (deltaX, deltaY, ctrlKey = false) =>
    canvas.dispatchEvent(new WheelEvent('wheel', { ...at(box.width * 0.6), deltaX, deltaY, ctrlKey }));
  const pointer = (type, x) =>
    canvas.dispatchEvent(new PointerEvent(type, { ...at(x), pointerId: 1, pointerType: 'mouse', isPrimary: true }));
  const act = new Function('i', 'wheel', 'pointer', step);
  if (press) pointer('pointerdown', 300);
  const frames = [];
  for (let i = 0; i < steps; i++) {
    frames.push(await new Promise((done) => requestAnimationFrame(done)));
    act(i, wheel, pointer);
  }
  if (press) pointer('pointerup', 300 + steps * 3);
  return frames;
}

const two = (values) => [0.5, 0.95].map((part) => Number(percentile(values, part).toFixed(1)));
const words = (pair) => pair.map((ms) => ms.toFixed(1)).join(' / ');

/** Extracts from a trace the busy time of the main thread in each frame, and the times of questions in the worker. */
function figures(events) {
  const names = events.filter((event) => event.name === 'thread_name');
  const thread = (name) => {
    const found = names.filter((event) => event.args.name === name).map((event) => `${event.pid}.${event.tid}`);
    return (event) => found.includes(`${event.pid}.${event.tid}`);
  };
  const tasks = events.filter((event) => event.ph === 'X' && event.name === 'RunTask');
  // Callbacks of one frame are less than 6 ms apart.
  const frames = events
    .filter((event) => event.name === 'FireAnimationFrame' && thread('CrRendererMain')(event))
    .map((event) => event.ts)
    .sort((a, b) => a - b)
    .filter((at, i, all) => i === 0 || at - all[i - 1] > 6000);
  const main = frames.slice(1).map(() => 0);
  for (const task of tasks.filter(thread('CrRendererMain'))) {
    const frame = frames.findLastIndex((at) => at <= task.ts + task.dur);
    if (frame >= 0 && frame < main.length) main[frame] += task.dur / 1000;
  }
  const questions = tasks
    .filter(thread('DedicatedWorker thread'))
    .map((task) => task.dur / 1000)
    .filter((ms) => ms > 0.05);
  return { main, questions };
}

async function trace(browser, page, act) {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  return traceEvents;
}

/** Performs a gesture once and measures it. */
async function measured(page, { zoom, ...rest }) {
  await page.keyboard.press('Escape');
  await page.keyboard.press('0');
  if (rest.on) {
    await page.locator(rest.on).first().press('Escape');
    await page.keyboard.press('Escape');
  }
  const ctrl = rest.on ? ', true' : '';
  await page.evaluate(perform, { on: rest.on, step: `wheel(0, ${zoom / ZOOM_STEPS}${ctrl})`, steps: ZOOM_STEPS });
  await untilIdle(browser);
  let frames = [];
  const events = await trace(browser, page, async () => {
    frames = await page.evaluate(perform, { ...rest, steps: STEPS });
  });
  const { main, questions } = figures(events);
  return { between_ms: two(frames.slice(1).map((at, i) => at - frames[i])), main_ms: two(main), question_ms: two(questions) };
}

const server = await serve();
const browser = await launch();
try {
  const page = await openPage(browser, server.address, { query: options.query, fragment, height: 860 });
  const { events } = await load(page, file);
  await untilIdle(browser);
  if (!options.json) console.log('gesture: frame to frame; main thread busy in a frame; a question (median / 95 %, ms)');
  const flame = (await page.locator(FLAME).count()) > 0;
  const gestures = { ...GESTURES, ...(flame ? FLAME_GESTURES : {}) };
  for (const [gesture, how] of Object.entries(gestures)) {
    let best;
    for (let run = 0; run < Number(options.runs); run++) {
      const one = await measured(page, how);
      if (!best || one.main_ms[1] < best.main_ms[1]) best = one;
    }
    if (options.json) {
      console.log(JSON.stringify({ kind: 'frames', file: basename(file), query: options.query, events, gesture, ...best }));
    } else {
      console.log(`${gesture}: ${words(best.between_ms)}; ${words(best.main_ms)}; ${words(best.question_ms)}`);
    }
  }
} finally {
  await browser.close();
  server.close();
}
