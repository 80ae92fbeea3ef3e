// Records the logs in the table of README.md again, with another GHC or under load.
//
//   node demo/findings/record.mjs FOLDER [RULE…]
//
// Builds the programs in FOLDER and writes RULE-found, -clear and -decoy.eventlog.gz there. Set GHC to the
// compiler, and LOAD to the number of endless loops that run next to each program. If the table specifies more
// capabilities than this machine has cores, as many as it has cores are used, except where the rule is about that.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LOAD = Number(process.env.LOAD ?? 0);
/** Phrase in the table for a run next to endless loops. */
const LOOPS_OF_TABLE = /while six endless loops/;
const MORE_THAN_CORES = new Set(['short-of-cores', 'capabilities-unused']);

/** Parses the table: `{ log, program, line, debug, killed, loops }` for each log. */
function recipes() {
  const rows = readFileSync(path.join(HERE, 'README.md'), 'utf8').matchAll(/^\| `([a-z-]+)` \| (.*) \| (.*) \| (.*) \|$/gm);
  return [...rows].flatMap(([, rule, programs, found, rest]) => {
    const names = [...programs.matchAll(/`(\w+)\.hs`/g)].map(([, name]) => name);
    const [clear, decoy] = rest.split('; decoy ');
    const cells = { found, clear, decoy };
    return Object.entries(cells).filter(([, cell]) => cell).map(([kind, cell]) => ({
      rule,
      log: `${rule}-${kind}.eventlog`,
      program: kind === 'found' ? names[0] : names.at(-1),
      line: cell.match(/`([^`]*)`/)[1].split(' '),
      debug: /-debug/.test(cell),
      threaded: !/without -threaded/.test(cell),
      killed: /killed/.test(cell),
      loops: LOOPS_OF_TABLE.test(cell) ? 6 : LOAD,
    }));
  });
}

const built = new Set();

/** Returns the name of the program, which is built once for each way of linking. */
function builtOnce(folder, { program, debug, threaded }) {
  const name = `${program}${debug ? '-debug' : ''}${threaded ? '' : '-single'}`;
  // Object files of the same name are of the other way of linking.
  if (!built.has(name)) build(folder, program, { name, words: ['-fforce-recomp', ...(debug ? ['-debug'] : [])], threaded });
  built.add(name);
  return name;
}

/** Limits the capabilities to the number of cores. */
function onThisMachine(rule, line) {
  if (MORE_THAN_CORES.has(rule)) return line;
  return line.map((word) => word.replace(/^-N(\d+)$/, (_, count) => `-N${Math.min(count, os.availableParallelism())}`));
}

function record(folder, recipe) {
  const name = builtOnce(folder, recipe);
  const loops = Array.from({ length: recipe.loops }, () => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));
  const line = [...onThisMachine(recipe.rule, recipe.line), `-ol${recipe.log}`];
  const options = { cwd: folder, env: {}, encoding: 'utf8', ...(recipe.killed ? { timeout: 30, killSignal: 'SIGKILL' } : {}) };
  const done = spawnSync(`./${name}`, line, options);
  for (const loop of loops) loop.kill();
  if (done.status !== 0 && !recipe.killed) throw new Error(`${recipe.log}: ${line.join(' ')}: ${done.stderr}`);
  rmSync(path.join(folder, `${recipe.log}.gz`), { force: true });
  spawnSync('gzip', ['-9n', recipe.log], { cwd: folder });
  console.error(recipe.log);
}

const [folder, ...rules] = process.argv.slice(2);
if (!folder) throw new Error('FOLDER [RULE…]');
mkdirSync(folder, { recursive: true });
for (const recipe of recipes().filter(({ rule }) => rules.length === 0 || rules.includes(rule))) record(folder, recipe);
