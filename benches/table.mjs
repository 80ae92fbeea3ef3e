// Generates the tables of README.md, here and in the project's folder, from measurements:
//
//     node benches/table.mjs
//
// Reads figures/before.jsonl and figures/now.jsonl next to it, as `benches/all.sh` writes them (of several
// measurements of the same thing the fastest counts), and inserts the tables between the markers of both files.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Reads the measurements of a file; of several of the same thing, the fastest. */
function read(path) {
  const best = new Map();
  const slowness = (of) => (of.error ? Infinity : of.ms ?? of.main_ms?.[1] ?? of.stages_ms?.session ?? of.tasks_over_100);
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []) {
    const of = JSON.parse(line);
    const key = [of.kind, of.file, of.query, of.tool, of.gesture].join();
    if (!best.has(key) || slowness(of) < slowness(best.get(key))) best.set(key, of);
  }
  return [...best.values()];
}

const before = read(here('figures/before.jsonl'));
const now = read(here('figures/now.jsonl'));

/** Finds the successful measurement of a kind with these properties. */
const measured = (all, kind, like) =>
  all.find((one) => one.kind === kind && !one.error && Object.entries(like).every(([key, value]) => one[key] === value));
const log = (size) => ({ file: `${size}.eventlog` });
const tab = (all, size, query = '') => measured(all, 'tab', { ...log(size), query });
const one = (all, size) => tab(all, size, 'workers=1') ?? tab(all, size);
const gesture = (all, size, name) => measured(all, 'frames', { ...log(size), gesture: name });

const fixed = (value, digits = 1) => (Number.isFinite(value) ? value.toFixed(digits) : '–');
const seconds = (ms) => (ms === undefined ? '–' : `${fixed(ms / 1000, 2)} s`);
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Formats the milliseconds per MB for 300 MB, 1 GB and 4 GB, relative to the first. */
function growth(all) {
  const paces = ['300M', '1G', '4G'].map((size) => tab(all, size)).map((of) => of && of.ms / of.bytes);
  return paces.map((pace) => fixed(pace / paces[0], 2)).join(', ');
}

const AIMS = [
  ['native, one thread: session ÷ walk over the records', '≤ 6', (all) => fixed(measured(all, 'native', {})?.times_walk)],
  ['tab, one worker, 300 MB: load ÷ bare read', '≤ 4', (all) => fixed(one(all, '300M')?.times_bare)],
  ['tab, 300 MB: all workers against one, times as fast', '≥ 3', (all) => fixed(tab(all, '300M', 'workers=1')?.ms / tab(all, '300M')?.ms)],
  [
    'tab against `ghc-events` counting 300 MB, 1 GB: times as fast',
    '≥ 6',
    (all) => ['300M', '1G'].map((size) => fixed(measured(all, 'peer', { ...log(size), tool: 'ghc-events count' })?.ms / tab(all, size)?.ms)).join(', '),
  ],
  [
    'tab against `ghc-events` reading 300 MB into memory: times as fast',
    '',
    (all) => fixed(measured(all, 'peer', { ...log('300M'), tool: 'ghc-events keep' })?.ms / tab(all, '300M')?.ms),
  ],
  ['time for each MB of 300 MB, 1 GB, 4 GB, against that of 300 MB', 'equal', growth],
  ['peak memory of the tab, 1, 4, 10 GB', '≤ 1,024 MiB each', (all) => ['1G', '4G', '10G'].map((size) => tab(all, size)?.peak_mib ?? '–').join(', ') + ' MiB'],
  [
    '1 M threads, 20 M runs: from frame to frame (95 %), zooming; selecting',
    '16.8 ms',
    (all) => ['zoom in and out', 'drag a selection'].map((name) => `${fixed(gesture(all, 'plain', name)?.between_ms[1])} ms`).join('; '),
  ],
  [
    'main thread busy in a frame (95 %): zooming 20 M runs; selecting in 1 MB',
    '≤ 8 ms',
    (all) => [gesture(all, 'plain', 'zoom in and out'), gesture(all, '1M', 'drag a selection')].map((of) => `${fixed(of?.main_ms[1])} ms`).join('; '),
  ],
  ['main thread busy while 300 MB load', '≤ 10 %', (all) => `${fixed(100 * tab(all, '300M')?.main_busy, 0)} %`],
];

const SIZES = ['1M', '50M', '300M', '1G', '4G', '10G'];
const SIZE_NAMES = { '1M': '1 MB', '50M': '50 MB', '300M': '300 MB', '1G': '1 GB', '4G': '4 GB', '10G': '10 GB' };

function loads(name, all) {
  const rows = SIZES.flatMap((size) => all.filter((of) => of.kind === 'tab' && of.file === `${size}.eventlog`)).map((of) => {
    const first = [name, SIZE_NAMES[of.file.split('.')[0]], of.query || 'default'];
    if (of.error) return [...first, ...Array(9).fill(''), `fails, with ${of.peak_mib}`, ''];
    return [
      ...first,
      seconds(of.bare_ms),
      seconds(of.picture_ms),
      seconds(of.lanes_ms),
      seconds(of.whole_ms),
      `${seconds(of.ms)} (${seconds(of.median_ms)})`,
      of.mb_per_s,
      fixed(of.events_per_s / 1e6),
      fixed(of.times_bare),
      seconds(of.cpu_ms),
      of.peak_mib,
      `${fixed(100 * of.main_busy, 0)} %, ${of.longest_task_ms} ms`,
    ];
  });
  return rows;
}

function peers(all) {
  const tools = ['ghc-events count', 'ghc-events keep', 'ghc-events sort', 'ThreadScope'];
  return SIZES.filter((size) => tools.some((tool) => measured(all, 'peer', { ...log(size), tool }))).map((size) => {
    const cell = (tool) => {
      const of = measured(all, 'peer', { ...log(size), tool });
      if (!of) return '–';
      return of.status === 0 ? `${seconds(of.ms)}, ${of.peak_mib} MiB` : `ended after ${seconds(of.ms)}, ${of.peak_mib} MiB`;
    };
    return [SIZE_NAMES[size], ...tools.map(cell)];
  });
}

const pair = (values) => values.map((ms) => fixed(ms)).join(' / ');
const frames = (name, all) =>
  all.filter(({ kind }) => kind === 'frames').map((of) => [name, of.file.split('.')[0], of.gesture, pair(of.between_ms), pair(of.main_ms), pair(of.question_ms)]);

function natives(name, all) {
  const of = measured(all, 'native', {});
  return of ? Object.entries(of.stages_ms).map(([stage, ms]) => [name, stage, `${fixed(ms, 0)} ms`, fixed(of.events / ms / 1e3, 0), fixed(ms / of.stages_ms.records)]) : [];
}

const soaks = (name, all) =>
  all
    .filter(({ kind }) => kind === 'soak whole')
    .map((of) => [name, of.logs, of.zooms, of.frames_over_100, of.tasks_over_100, of.first_mib, of.last_mib, of.peak_mib, `${of.workers_first}, ${of.workers_last}`]);

const both = (of) => [...of('before', before), ...of('now', now)];
const tables = [
  '### Aims',
  table(['', 'aim', 'before', 'now'], AIMS.map(([what, aim, value]) => [what, aim, value(before), now.length ? value(now) : ''])),
  '### Loading in a tab',
  table(['', 'log', 'workers', 'bare read', 'picture', 'first lanes', 'lanes whole', 'loaded (median)', 'MB/s', 'M events/s', '÷ bare', 'CPU', 'peak MiB', 'main thread busy, longest task'], both(loads)),
  '### Other tools on the same logs',
  table(['log', '`ghc-events`, counting', 'keeping them', 'sorting', 'ThreadScope, until it is shown'], peers(now.some(({ kind }) => kind === 'peer') ? now : before)),
  '### Natively, one thread',
  table(['', 'stage', 'time', 'M events/s', '÷ walk'], both(natives)),
  '### Frames',
  table(['', 'log', 'gesture', 'frame to frame', 'main thread in a frame', 'a question'], both(frames)),
  '### Soak',
  table(['', 'logs', 'zooms', 'frames over 100 ms', 'tasks over 100 ms', 'MiB first', 'MiB last', 'MiB peak', 'workers first, last'], both(soaks)),
];

/** Renders the table of loading times for the project's README, with the default number of workers. */
function summary() {
  const machine = measured(now, 'machine', {});
  const rows = SIZES.map((size) => [size, tab(now, size)]).filter(([, of]) => of);
  const cells = ([size, of]) => [
    SIZE_NAMES[size],
    `${fixed(of.events / 1e6)} M`,
    seconds(of.bare_ms),
    seconds(of.lanes_ms),
    `${seconds(of.ms)}, ${of.mb_per_s} MB/s`,
    `${of.peak_mib} MiB`,
  ];
  return [
    `Measured on ${machine.cores} cores with ${machine.browser}, build ${machine.build}; of several runs the fastest.`,
    table(['log', 'events', 'bare read', 'first lanes', 'read and analyzed', 'peak memory of the tab'], rows.map(cells)),
  ];
}

const [begin, end] = ['<!-- figures: written by benches/table.mjs -->', '<!-- end of figures -->'];

/** Replaces the tables between the markers of a file. */
function fill(path, tables) {
  const text = readFileSync(here(path), 'utf8');
  const [head, tail] = [text.split(begin)[0], text.split(end)[1]];
  writeFileSync(here(path), `${head}${begin}\n\n${tables.join('\n\n')}\n\n${end}${tail}`);
}

fill('README.md', tables);
fill('../README.md', summary());
