// Makes the logs of a made-up fleet, for tests of many logs:
//
//   node make.mjs FOLDER [LOGS]
//
// writes LOGS logs (1,000) of two programs on eight hosts in forty days into a new folder. Planted are: version 1.1 of the
// shop does twice the work, host web-05 asks for major collections, and one run in ten keeps all answers. Five more
// files: one is empty, one is noise, one ends in its header, one is cut off, and one is a copy. Needs GHC. Each run makes
// the same choices; times differ.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import process from 'node:process';

const [folder, count = '1000'] = process.argv.slice(2);
if (!folder) throw new Error('usage: node make.mjs FOLDER [LOGS]');
const logs = resolve(folder);
mkdirSync(logs);
const build = `${logs}.build`;
const ghc = process.env.GHC ?? 'ghc';
const version = execFileSync(ghc, ['--numeric-version'], { encoding: 'utf8' });
// Since 9.4 every program can write a log.
const link = /^(8|9\.[02])\./.test(version) ? ['-eventlog'] : [];
const source = join(import.meta.dirname, 'Shop.hs');
mkdirSync(build);
for (const app of ['shop', 'cart']) {
  execFileSync(ghc, ['-v0', '-O', '-threaded', '-rtsopts', ...link, source, '-outputdir', build, '-o', join(build, app)]);
}

let state = 7;
/** Returns a number from 0 to below 1 (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

const names = [];
for (let number = 0; number < Number(count); number += 1) {
  const app = number % 3 ? 'shop' : 'cart';
  const day = Math.floor((number * 40) / Number(count));
  const host = `web-0${Math.floor(random() * 8)}`;
  const release = day < 22 ? '1.0' : '1.1';
  const requests = Math.floor(10 ** (1.3 + random() * 2.3));
  const work = app === 'shop' && release === '1.1' ? 400 : 200;
  const date = new Date(Date.UTC(2026, 9, 1 + day)).toISOString().slice(0, 10);
  const log = join(logs, `${host}_${app}-${release}_${date}_${String(number).padStart(4, '0')}.eventlog`);
  const flags = ['-N2', random() < 1 / 3 ? '-l-au' : '-l', `-ol${log}`];
  if (random() < 0.2) flags.push('-hT', '-i0.01');
  const options = [requests, work, Number(random() < 0.1), host === 'web-05' ? 20 : 0].map(String);
  // Profiles in text are written into the working folder.
  execFileSync(join(build, app), [...options, '+RTS', ...flags], { cwd: build });
  names.push(log);
}
rmSync(build, { recursive: true });

const bad = (name, bytes) => writeFileSync(join(logs, name), bytes);
const [first] = names;
const whole = readFileSync(first);
bad('empty.eventlog', '');
bad('noise.eventlog', Buffer.from(Array.from({ length: 5000 }, () => Math.floor(random() * 256))));
bad('header-only.eventlog', whole.subarray(0, 700));
bad(basename(first).replace('.eventlog', '-cut.eventlog'), whole.subarray(0, Math.floor(whole.length * 0.7)));
cpSync(first, join(logs, 'copy.eventlog'));
