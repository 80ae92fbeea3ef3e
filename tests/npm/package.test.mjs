// The npm package assembled by `cargo xtask npm`: its results for a log equal those of the command line.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, openAsBlob } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const eventscope = join(root, 'target/debug/eventscope');
const logs = join(root, 'tests/fixtures/logs');
const LOG = join(logs, 'ghc-9.6.6/fib-forkio-N2-l.eventlog');
const folder = mkdtempSync(join(tmpdir(), 'eventscope-npm-'));
const installed = join(folder, 'node_modules/eventscope');
let analyse;

before(async () => {
  // Packed and unpacked, as npm installs it.
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(root, 'target/npm'),
    encoding: 'utf8',
  }));
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed]);
  ({ analyse } = await import(join(installed, 'index.js')));
});
after(() => rmSync(folder, { recursive: true }));

/** Runs the command line; the exit status may be nonzero. */
function command(...args) {
  const { stdout, status } = spawnSync(eventscope, args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  return { status, stdout };
}

const sample = readdirSync(logs, { recursive: true }).filter((name) => /\.(eventlog|hp)(\.gz|\.zst)?$/.test(name)).sort();

test('every fixture has the numbers and findings of the command line', async () => {
  assert.ok(sample.length > 20, `${sample.length} logs`);
  let read = 0;
  for (const name of sample) {
    const path = join(logs, name);
    const metrics = command('metrics', '--json', path);
    if (metrics.stdout === '') {
      await assert.rejects(analyse(path), Error, name);
      continue;
    }
    const found = await analyse(path);
    assert.deepEqual(found.metrics, JSON.parse(metrics.stdout), name);
    assert.deepEqual(found.findings, JSON.parse(command('findings', '--json', path).stdout), name);
    assert.equal(found.damaged, metrics.status === 1, name);
    read += 1;
  }
  assert.ok(read > 20, `${read} logs`);
});

test('a part of a log', async () => {
  const { metrics } = await analyse(LOG, { from: 5_000_000, to: 20_000_000 });
  const { stdout } = command('metrics', '--json', '--from', '5000000', '--to', '20000000', LOG);
  assert.deepEqual(metrics, JSON.parse(stdout));
  await assert.rejects(analyse(LOG, { from: 2, to: 1 }), RangeError);
});

test('a Blob, bytes and a part of a buffer are read as the file is', async () => {
  const whole = await analyse(LOG);
  const bytes = readFileSync(LOG);
  const padded = new Uint8Array(bytes.length + 20);
  padded.set(bytes, 10);
  for (const file of [await openAsBlob(LOG), bytes, padded.subarray(10, -10), padded.buffer.slice(10, -10), new Blob([bytes])]) {
    assert.deepEqual(await analyse(file), whole);
  }
});

test('progress is told, and a signal gives up', async () => {
  const shares = [];
  await analyse(LOG, { onProgress: (share) => shares.push(share) });
  assert.ok(shares.length > 1 && shares.at(-1) === 1, `${shares}`);
  assert.ok(shares.every((share) => share >= 0 && share <= 1), `${shares}`);
  const reason = new Error('enough');
  await assert.rejects(analyse(LOG, { signal: AbortSignal.abort(reason) }), reason);
  const later = new AbortController();
  await assert.rejects(analyse(LOG, { signal: later.signal, onProgress: () => later.abort(reason) }), reason);
});

test('what is no log is refused in a sentence', async () => {
  await assert.rejects(analyse(new TextEncoder().encode('Hello')), /eventlog/);
  await assert.rejects(analyse(new Blob([])), /empty/);
  await assert.rejects(analyse(join(folder, 'nothing.eventlog')), { code: 'ENOENT' });
  await assert.rejects(analyse(7), TypeError);
});

test('a log that breaks off is read as far as it goes', async () => {
  const bytes = readFileSync(LOG);
  const found = await analyse(bytes.subarray(0, Math.floor(bytes.length * 0.7)));
  assert.ok(found.damaged && found.events > 0);
  assert.match(found.warnings.join('\n'), /\d/);
});

test('without memory for more, what was read is told', async () => {
  // Logs in one file are read one after the other.
  const many = new Blob(Array(10).fill(readFileSync(LOG)));
  const whole = await analyse(many);
  const part = await analyse(many, { memory: 1 });
  assert.ok(whole.complete && !part.complete);
  assert.ok(part.events > 0 && part.events < whole.events);
});

test('the examples run', () => {
  const example = join(folder, 'pauses.mjs');
  cpSync(join(installed, 'examples/pauses.mjs'), example);
  const { stdout, stderr, status } = spawnSync('node', [example, LOG], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.match(stdout, /^fib-forkio: \d+ events\n\d+ collections took [\d.]+ ms/);
  assert.ok(status === 0 || status === 1);
});

test('the types are those of what comes', async () => {
  // Results as TypeScript literals: undeclared fields and missing required fields are errors.
  const outcomes = await Promise.allSettled(sample.map((name) => analyse(join(logs, name))));
  const results = outcomes.flatMap(({ value }) => value ?? []);
  assert.ok(results.some(({ findings }) => findings.findings.length > 0));
  const values = results.map((found, index) => `export const of${index}: Analysis = ${JSON.stringify(found)};`);
  const source = `import { analyse, type Analysis } from 'eventscope';
${values.join('\n')}
export const again: Promise<Analysis> = analyse(new Blob([]), { from: 1, to: 2, onProgress: (share) => void share.toFixed() });
`;
  writeFileSync(join(folder, 'use.ts'), source);
  const options = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', exactOptionalPropertyTypes: true, types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, lib: ['es2023', 'dom'] }, files: ['use.ts'] }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { stdout, status } = spawnSync('node', [tsc, '-p', folder], { encoding: 'utf8' });
  assert.equal(status, 0, stdout.slice(0, 4000));
  // Check that undeclared fields are indeed detected.
  writeFileSync(join(folder, 'use.ts'), source.replace('"events":', '"event":'));
  assert.notEqual(spawnSync('node', [tsc, '-p', folder]).status, 0);
});
