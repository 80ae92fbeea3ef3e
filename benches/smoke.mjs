// Checks that the browser benchmarks still work: runs each of them once, on small logs.
//
//     cargo xtask build && node benches/smoke.mjs [SITE_FOLDER]
//
// SITE_FOLDER is a built site (default: dist). Prints `ok NAME SECONDS` for each benchmark, or the reason of its
// failure, and finally the number of passed ones. Exits with 1 if one failed. The figures themselves have no
// meaning: they only have to be present and positive.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const [site = path('../dist')] = process.argv.slice(2);
const LOG = path('../tests/fixtures/logs/ghc-9.6.6/gc-heavy-N2-la-nonmoving.eventlog');
const TIMEOUT_MS = 60_000;

/** Script, arguments, number of printed objects, and the figures in them that must be positive. */
const BENCHMARKS = [
  { name: 'tab', args: [LOG, '--runs', '1'], count: 1, figures: ['events', 'ms', 'bare_ms', 'picture_ms', 'cpu_ms', 'peak_mib', 'main_busy'] },
  { name: 'frames', args: [LOG, '--steps', '20'], count: 4, figures: ['events', 'between_ms', 'main_ms'] },
  // Two logs, the first one again, and the sum.
  { name: 'soak', args: ['--logs', '3', '--zooms', '20'], count: 4, figures: ['events', 'ms', 'frame_ms', 'now_mib', 'workers'], sum: ['logs', 'zooms', 'last_mib'] },
];

/** Returns the objects that a benchmark prints. The exit code is ignored, as a soak is slow on a busy machine. */
async function run({ name, args }) {
  const env = { ...process.env, EVENTSCOPE_SITE: site };
  const options = { env, timeout: TIMEOUT_MS };
  const { stdout, stderr, killed } = await promisify(execFile)(process.execPath, [path(`${name}.mjs`), ...args, '--json'], options).catch((error) => error);
  if (killed) throw new Error(`has not ended after ${TIMEOUT_MS / 1000} s`);
  if (!stdout) throw new Error(`prints nothing: ${stderr.trim()}`);
  return stdout.trim().split('\n').map((line) => JSON.parse(line));
}

/** Throws unless all figures are present and positive. */
function check({ count, figures, sum = figures }, results) {
  const failed = results.find(({ error }) => error);
  if (failed) throw new Error(`reports an error: ${failed.error}`);
  if (results.length !== count) throw new Error(`prints ${results.length} objects, not ${count}`);
  results.forEach((result, i) => {
    for (const figure of i === count - 1 ? sum : figures) {
      // For a pair of median and 95th percentile, only the latter is checked: the median of short tasks may be
      // zero.
      if (!([result[figure]].flat().at(-1) > 0)) throw new Error(`${figure} is ${JSON.stringify(result[figure])}: ${JSON.stringify(result)}`);
    }
  });
}

if (!existsSync(join(site, 'index.html'))) {
  console.error(`error: no site in ${site}: build one with cargo xtask build`);
  process.exit(1);
}
let failures = 0;
for (const benchmark of BENCHMARKS) {
  const started = performance.now();
  try {
    check(benchmark, await run(benchmark));
    console.log(`ok ${benchmark.name} ${((performance.now() - started) / 1000).toFixed(1)}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED ${benchmark.name}: ${error.message}`);
  }
}
console.log(`${BENCHMARKS.length - failures} passed, ${failures} failed`);
process.exitCode = failures ? 1 : 0;
