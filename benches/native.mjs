// Prints the last results of `cargo bench --bench load` as JSON: the fastest sample of each stage, and the time of
// a session relative to that of a walk over the records.
//
//     EVENTSCOPE_BENCH_LOG=FILE cargo bench --bench load && node benches/native.mjs [NAME]
//
// NAME is the name of the log in the output.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../target/criterion/load', import.meta.url));
const [name = 'made in memory'] = process.argv.slice(2);
if (!existsSync(folder)) {
  console.error('There are no measurements. First: cargo bench --bench load');
  process.exit(1);
}
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const stages = {};
let throughput;
for (const stage of readdirSync(folder)) {
  const of = `${folder}/${stage}/new`;
  if (!existsSync(`${of}/sample.json`)) continue;
  const { iters, times } = read(`${of}/sample.json`);
  const { value_str: title } = read(`${of}/benchmark.json`);
  ({ throughput } = read(`${of}/benchmark.json`));
  stages[title ?? stage] = Number((Math.min(...times.map((time, i) => time / iters[i])) / 1e6).toFixed(1));
}
const { elements: events, bytes } = throughput.ElementsAndBytes ?? throughput;
// Sorted by time, as each stage includes the work of the previous one.
const stages_ms = Object.fromEntries(Object.entries(stages).sort(([, one], [, other]) => one - other));
const times_walk = Number((stages.session / stages.records).toFixed(1));
console.log(JSON.stringify({ kind: 'native', file: name, bytes, events, stages_ms, times_walk }));
