// Logs as tables: DuckDB reads the output of `eventscope export`, the queries of docs/export.md have results, and
// the totals equal those of the command line, over all logs at once.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { DuckDBInstance } from '@duckdb/node-api';

const root = join(import.meta.dirname, '../..');
const eventscope = join(root, 'target/debug/eventscope');
const corpus = process.env.EVENTSCOPE_CORPUS;
const folder = mkdtempSync(join(tmpdir(), 'eventscope-sql-'));
const TABLES = ['runs', 'numbers', 'findings', 'capabilities', 'spans', 'threads', 'collections', 'heap', 'samples', 'stacks', 'events'];

/** Returns the logs below a folder. */
function logsIn(place) {
  const names = readdirSync(place, { recursive: true });
  return names.filter((name) => /\.(eventlog|hp)(\.gz|\.zst)?$/.test(name)).sort().map((name) => join(place, name));
}

/** Runs the command line; the exit status may be nonzero. */
function command(...args) {
  return new Promise((resolve) => {
    const program = execFile(eventscope, args, { maxBuffer: 1 << 30 }, (_, stdout, stderr) => {
      resolve({ status: program.exitCode, stdout, stderr });
    });
  });
}

/** Processes items concurrently, as many at a time as there are cores. */
async function forEachAtOnce(items, run) {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await run(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** Returns the SQL blocks of docs/export.md. */
function questions() {
  const page = readFileSync(join(root, 'docs/export.md'), 'utf8');
  const blocks = [...page.matchAll(/(?:^### (.*)\n(?:(?!^#)[^])*?)?^```sql\n([^]*?)^```$/gm)];
  return blocks.map(([, title, sql]) => ({ title, sql: sql.replaceAll('DIR', folder) }));
}

/** Of so many logs one is compared with what commands print, each in a process of its own. */
const ONE_IN = 10;
/** Returns one of so many rows, the same in each run. */
const some = (rows) => rows.sort((one, other) => (one.run < other.run ? -1 : 1)).filter((_, place) => place % ONE_IN === 0);

let database;
/** Logs that can be opened, by run. */
const logs = new Map();

/** Returns the rows of a query as objects; integers are strings. */
async function ask(sql) {
  return (await database.runAndReadAll(sql)).getRowObjectsJson();
}

before(async () => {
  const files = [...logsIn(join(root, 'tests/fixtures')), ...(corpus ? logsIn(join(corpus, 'logs')) : [])];
  const { status, stderr } = await command('export', '--verbose', '--format', 'parquet', '-o', folder, ...files);
  assert.ok(status === 0 || status === 1, stderr);
  database = await (await DuckDBInstance.create()).connect();
  const [views] = questions();
  await database.run(views.sql);
  const written = stderr.matchAll(/^eventscope: (.*): (\d+) bytes; \d+ MB\/s$/gm);
  const paths = [...written].map(([, path]) => path);
  for (const { run, file } of await ask('SELECT run, file FROM runs')) {
    const path = paths.filter((path) => path.endsWith(`/${file}`));
    logs.set(run, { file, path });
  }
  assert.equal(logs.size, paths.length);
  assert.ok(logs.size > 100, `${logs.size} logs`);
});
after(() => rmSync(folder, { recursive: true }));

test('each of the ten questions has an answer', async () => {
  const [, ...asked] = questions();
  assert.equal(asked.length, 10);
  for (const [index, { title, sql }] of asked.entries()) {
    assert.ok(title?.startsWith(`${index + 1}. `), `${title}`);
    const rows = await ask(sql);
    assert.ok(rows.length > 0, title);
    for (const [name, value] of Object.entries(rows[0])) {
      assert.notEqual(value, null, `${title}: ${name}`);
    }
  }
});

test('the questions have the numbers of the command line', async () => {
  const [, ...asked] = questions();
  const by = (word) => asked.find(({ title }) => title.includes(word)).sql;
  const alone = (await ask(by('How long are the pauses'))).filter(({ run }) => logs.get(run).path.length === 1);
  assert.ok(alone.length > 50, `${alone.length} runs`);
  await forEachAtOnce(some(alone), async (row) => {
    const [log] = logs.get(row.run).path;
    const pauses = JSON.parse((await command('collections', log, '--json')).stdout).map(({ pause_ns }) => pause_ns).sort((a, b) => a - b);
    const rank = (share) => pauses[Math.max(Math.ceil(pauses.length * share) - 1, 0)];
    const expected = { pauses: pauses.length, p50_ns: rank(0.5), p99_ns: rank(0.99), max_ns: pauses.at(-1) };
    for (const [name, value] of Object.entries(expected)) {
      assert.equal(Number(row[name]), value, `${log}: ${name}`);
    }
  });
  const [most] = await ask(by('allocate the most'));
  const [log] = [...logs.values()].find(({ file }) => file === most.file).path;
  const metrics = JSON.parse((await command('metrics', log, '--json')).stdout);
  assert.equal(most.allocated_bytes, metrics.find(({ name }) => name === 'alloc.bytes').value);
});

test('totals are those of the command line', async () => {
  const sums = await ask(`
    SELECT run, file, events, bytes,
      (SELECT count(*) FROM events e WHERE e.run = r.run) AS event_rows,
      (SELECT count(*) FROM threads t WHERE t.run = r.run) AS thread_rows,
      (SELECT count(*) FROM collections c WHERE c.run = r.run) AS collection_rows,
      (SELECT count(*) FROM spans s WHERE s.run = r.run AND kind = 'gc') AS gc,
      (SELECT count(*) FROM spans s WHERE s.run = r.run AND kind = 'running') AS running,
      (SELECT count(*) FROM spans s WHERE s.run = r.run AND kind IN ('running', 'blocked')) AS states,
      (SELECT count(*) FROM spans s WHERE s.run = r.run AND (kind IN ('gc', 'idle') OR (kind = 'running' AND cap IS NOT NULL))) AS usage,
      (SELECT coalesce(sum(duration_ns), 0) FROM spans s WHERE s.run = r.run AND kind = 'gc') AS gc_ns
    FROM runs r`);
  assert.equal(sums.length, logs.size);
  const lines = (text) => text.split('\n').filter((line) => line);
  const found = await ask(`SELECT run, name, value FROM numbers WHERE statistic IS NULL OR statistic = 'count'`);
  const numbers = new Map(found.map(({ run, name, value }) => [`${run} ${name}`, value]));
  // Logs with equal names in several folders cannot be distinguished here; tests/export.rs covers each log.
  const alone = sums.filter((row) => logs.get(row.run).path.length === 1);
  assert.ok(alone.length > 100, `${alone.length} logs`);
  await forEachAtOnce(some(alone), async (row) => {
    const [log] = logs.get(row.run).path;
    const printed = async (name, ...args) => (await command(name, log, ...args)).stdout;
    const collecting = lines(await printed('spans', 'gc'));
    const counted = {
      event_rows: lines(await printed('events')).length,
      events: JSON.parse(await printed('info', '--json')).events,
      thread_rows: lines(await printed('threads')).length,
      collection_rows: lines(await printed('collections')).length,
      gc: collecting.length,
      running: lines(await printed('spans', 'mutator')).length,
      states: lines(await printed('spans', 'thread-state')).length,
      usage: lines(await printed('spans', 'capability-usage')).length,
    };
    for (const [name, value] of Object.entries(counted)) {
      assert.equal(Number(row[name]), value, `${log}: ${name}`);
    }
    const ns = collecting.map((line) => line.split('\t')).reduce((sum, [, start, end]) => sum + BigInt(end) - BigInt(start), 0n);
    assert.equal(BigInt(row.gc_ns), ns, `${log}: gc_ns`);
    for (const metric of JSON.parse(await printed('metrics', '--json'))) {
      const value = numbers.get(`${row.run} ${metric.name}`);
      assert.equal(value, metric.value ?? metric.values?.length ?? null, `${log}: ${metric.name}`);
    }
  });
  const [all] = await ask(`SELECT count(*) AS logs, sum(events) AS events, (SELECT count(*) FROM events) AS rows FROM runs`);
  assert.equal(Number(all.logs), logs.size);
  assert.equal(all.rows, all.events);
});

test('CSV and JSON lines are the same tables', async () => {
  const [log] = [...logs.values()].find(({ file }) => file === 'prof-ffi-safe-N1-p-l.eventlog').path;
  const others = mkdtempSync(join(folder, 'others-'));
  for (const format of ['csv', 'jsonl', 'parquet']) {
    await command('export', '--format', format, '-o', others, log);
  }
  for (const table of TABLES) {
    const at = (extension) => join(others, table, `*/*.${extension}`);
    // CSV and JSON have no column types: use those of Parquet.
    const columns = await ask(`DESCRIBE FROM read_parquet('${at('parquet')}', hive_partitioning = false)`);
    const types = `{${columns.map(({ column_name, column_type }) => `'${column_name}': '${column_type}'`).join(', ')}}`;
    const read = {
      parquet: `read_parquet('${at('parquet')}', hive_partitioning = false)`,
      csv: `read_csv('${at('csv')}', hive_partitioning = false, header = true, nullstr = '', columns = ${types})`,
      jsonl: `read_json('${at('jsonl')}', hive_partitioning = false, format = 'newline_delimited', columns = ${types})`,
    };
    // CSV cannot distinguish empty text from null.
    const cells = columns.map(({ column_name, column_type }) => (column_type === 'VARCHAR' ? `nullif("${column_name}", '')` : `"${column_name}"`));
    const rows = (format) => `SELECT ${cells.join(', ')} FROM ${read[format]}`;
    for (const format of ['csv', 'jsonl']) {
      const [{ count }] = await ask(`SELECT count(*) AS count FROM ((${rows('parquet')} EXCEPT ALL ${rows(format)}) UNION ALL (${rows(format)} EXCEPT ALL ${rows('parquet')}))`);
      assert.equal(Number(count), 0, `${table} as ${format}`);
    }
  }
});
