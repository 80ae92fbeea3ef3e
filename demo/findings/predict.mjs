// Compares the predictions of findings with measurements: runs the programs of Predict.hs with and without the
// options that findings advise, and writes the table of docs/findings.md.
//
//   node demo/findings/predict.mjs measure FOLDER [NAME…]   builds, runs, keeps FOLDER/NAME.json and a log
//   node demo/findings/predict.mjs table FOLDER EVENTSCOPE  prints the table from what was kept
//
// Set GHC to the compiler. Runs are interleaved and write no log; nothing else should run on the machine. Times
// are the runtime's own (+RTS -t --machine-readable): wall clock, and CPU of all threads.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, ghcVersion } from './build.mjs';

const RUNS = 5;

/** Programs: arguments, options of the run that is judged, and options to try. */
const AREAS = ['-A4m', '-A16m', '-A64m'];
const PROGRAMS = {
  'dies': { args: 'dies 900000', base: '', tries: AREAS, about: 'data dies at once' },
  'dies-small-area': { args: 'dies 900000', base: '-A64k', tries: ['without -A64k', ...AREAS], about: 'the same, with a small area' },
  'cache': { args: 'cache 800000', base: '', tries: AREAS, about: 'numbers that fit the cache, and data that dies' },
  'window': { args: 'window 400000', base: '', tries: [...AREAS, '-F4'], about: 'lists that live for 20,000 steps' },
  'window-small-area': { args: 'window 400000', base: '-A256k', tries: ['without -A256k', ...AREAS], about: 'the same, with a small area' },
  'records': { args: 'records 1500000', base: '', tries: [...AREAS, '-F4'], about: 'lists that live for 3,000 steps' },
  'table': { args: 'table 400000', base: '', tries: [...AREAS, '-F4'], about: 'a table of 200,000 lists' },
  'grows': { args: 'grows 800000', base: '', tries: [...AREAS, '-F4'], about: 'a table that only grows' },
  'table-F1.1': { args: 'table 300000', base: '-F1.1', tries: ['without -F1.1', '-A64m', '-F4'], about: 'old generation collected early' },
  'table-c': { args: 'table 400000', base: '-c', tries: ['without -c'], about: 'old generation compacted' },
  'table-nonmoving': { args: 'table 400000', base: '--nonmoving-gc', tries: ['without --nonmoving-gc'], about: 'nonmoving collector' },
  'table-N2': { args: 'window 400000', base: '-N2', tries: ['-qg', '-N1', ...AREAS], about: 'one thread, two capabilities' },
  'dies-N2': { args: 'dies 900000', base: '-N2', tries: ['-qg', '-N1', ...AREAS], about: 'one thread, data dies, two capabilities' },
  'par-dies': { args: 'par-dies 500000', base: '-N2', tries: ['-qg', '-N1', ...AREAS], about: 'two threads, data dies' },
  'par-window': { args: 'par-window 250000', base: '-N2', tries: ['-qg', '-N1', ...AREAS], about: 'two threads, lists live for 20,000 steps' },
  'par-table': { args: 'par-table 200000', base: '-N2', tries: ['-qg', '-N1', ...AREAS, '-F4'], about: 'two threads, two tables of 100,000 lists' },
};

function run(folder, program, words) {
  const line = [...program.args.split(' '), '+RTS', ...words, '-tRUN.stat', '--machine-readable', '-RTS'];
  const done = spawnSync('./Predict', line, { cwd: folder, env: {} });
  if (done.status !== 0) throw new Error(`${line.join(' ')}: ${done.stderr}`);
  const stat = readFileSync(path.join(folder, 'RUN.stat'), 'utf8');
  const number = (name) => Number(stat.match(new RegExp(`"${name}", "([^"]*)"`))[1]);
  return { wall: number('total_wall_seconds'), cpu: number('total_cpu_seconds') };
}

/** Returns the options of a run with an attempted change. */
function words(program, attempt) {
  const base = program.base.split(' ').filter(Boolean);
  if (attempt === '') return base;
  if (attempt.startsWith('without ')) return base.filter((word) => word !== attempt.slice('without '.length));
  return [...base, attempt];
}

function measure(folder, names) {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path.join(folder, 'Predict'))) build(folder, 'Predict');
  for (const name of names.length > 0 ? names : Object.keys(PROGRAMS)) {
    const program = PROGRAMS[name];
    const attempts = ['', ...program.tries];
    const runs = Object.fromEntries(attempts.map((attempt) => [attempt, []]));
    for (let round = 0; round < RUNS; round += 1) {
      for (const attempt of attempts) runs[attempt].push(run(folder, program, words(program, attempt)));
    }
    const log = [...program.args.split(' '), '+RTS', ...words(program, ''), '-lsg', `-ol${name}.eventlog`];
    spawnSync('./Predict', log, { cwd: folder, env: {} });
    writeFileSync(path.join(folder, `${name}.json`), JSON.stringify({ ghc: ghcVersion(), runs }, null, 1));
    console.error(name);
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Formats the change of the median in percent; ~ marks overlapping runs. */
function change(before, after) {
  const part = (median(after) / median(before) - 1) * 100;
  const clear = Math.max(...after) < Math.min(...before) || Math.min(...after) > Math.max(...before);
  return `${part > 0 ? '+' : part < 0 ? '−' : ''}${Math.abs(part).toFixed(0)} %${clear ? '' : ' ~'}`;
}

/** Returns the options advised by findings in a log, each with the findings that advise it. */
function advised(eventscope, log) {
  const out = spawnSync(eventscope, ['findings', log, '--json'], { maxBuffer: 1 << 28 });
  const { findings } = JSON.parse(String(out.stdout));
  const all = new Map();
  const add = (flag, finding) => all.set(flag, [...(all.get(flag) ?? []), finding]);
  for (const finding of findings.filter((one) => one.severity !== 'minor')) {
    for (const attempt of finding.tries) {
      const dropped = attempt.text.match(/^Drop (-\S+?)[,:]/)?.[1];
      const flags = [...(attempt.flag?.split(', ') ?? []), dropped && `without ${dropped}`];
      for (const flag of flags) if (flag) add(flag, finding);
    }
  }
  return all;
}

function table(folder, eventscope) {
  const kept = new Set(readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5)));
  const rows = ['| program | run | try | named by | predicted | wall | CPU | GHC |', '|---|---|---|---|---|---|---|---|'];
  for (const [name, program] of Object.entries(PROGRAMS).filter(([one]) => kept.has(one))) {
    const { ghc, runs } = JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8'));
    const named = advised(eventscope, path.join(folder, `${name}.eventlog`));
    const times = (attempt, which) => runs[attempt].map((one) => one[which]);
    for (const attempt of program.tries) {
      const findings = named.get(attempt) ?? [];
      const rules = [...new Set(findings.map((one) => `\`${one.rule}\` (${(one.share * 100).toFixed(0)} %)`))].join(', ');
      const texts = findings.flatMap((one) => one.tries.filter((a) => a.flag?.split(', ').includes(attempt)).map((a) => a.text));
      const estimates = new Set(texts.map((text) => text.match(/saves an estimated (.*?)\s% of the time/)?.[1]).filter(Boolean).map((number) => `${number} %`));
      rows.push(
        `| ${name}: ${program.about} | \`${program.args}${program.base && ` +RTS ${program.base}`}\` | \`${attempt}\` | ${rules || '–'} | ` +
          `${[...estimates].join('; ') || '–'} | ${change(times('', 'wall'), times(attempt, 'wall'))} | ${change(times('', 'cpu'), times(attempt, 'cpu'))} | ${ghc} |`,
      );
    }
  }
  console.log(rows.join('\n'));
}

const [command, folder, ...rest] = process.argv.slice(2);
if (command === 'measure') measure(folder, rest);
else if (command === 'table') table(folder, rest[0]);
else throw new Error('measure FOLDER [NAME…], or table FOLDER EVENTSCOPE');
