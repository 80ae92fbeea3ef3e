// Data sets: the views that `eventscope export --dataset` writes run in DuckDB, the queries of docs/fleet.md have
// results, planted differences are found, and a compaction changes no answer.
//
// UPDATE_DOCS=1 writes the results into docs/fleet.md.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { DuckDBInstance } from '@duckdb/node-api';

const root = join(import.meta.dirname, '../..');
const eventscope = join(root, 'target/debug/eventscope');
const folder = mkdtempSync(join(tmpdir(), 'eventscope-fleet-'));
const dataset = join(folder, "it's a fleet");
const page = join(root, 'docs/fleet.md');

/** Writes a fleet: version 1.1 allocates more, host h6 has a large heap, and the heap of another program grows. */
function writeLogs() {
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  const runs = (kind, count) => Array.from({ length: count }, (_, index) => `${kind}-${String(index + 1).padStart(2, '0')}.eventlog.gz`);
  const put = (name, host, program, day, index) => {
    const target = `${host}_${program}_2026-11-0${day}_${index}.eventlog.gz`;
    cpSync(join(root, 'tests/fixtures/compare', name), join(logs, target));
  };
  runs('plain', 15).forEach((name, index) => put(name, `h${(index % 5) + 1}`, 'shop-1.0', Math.floor(index / 3) + 1, index));
  runs('ballast', 4).forEach((name, index) => put(name, 'h6', 'shop-1.0', index + 1, index));
  runs('slow', 6).forEach((name, index) => put(name, `h${(index % 5) + 1}`, 'shop-1.1', Math.floor(index / 2) + 6, index));
  runs('leak', 6).forEach((name, index) => put(name, 'h1', 'cart-2.0', index + 1, index));
  return logs;
}

let database;

/** Returns the rows of a query as objects; integers are strings. */
async function ask(sql) {
  return (await database.runAndReadAll(sql)).getRowObjectsJson();
}

/** Returns the queries of docs/fleet.md with the headings above them. */
function questions() {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, sql]) => sql);
}

before(async () => {
  const partition = ['--partition', 'app,version,host,day', '--name-pattern', '{host}_{app}-{version}_{day}_*.eventlog.gz'];
  execFileSync(eventscope, ['export', '--dataset', dataset, ...partition, writeLogs()], { stdio: 'ignore' });
  database = await (await DuckDBInstance.create()).connect();
  await database.run(readFileSync(join(dataset, 'views.sql'), 'utf8'));
});
after(() => rmSync(folder, { recursive: true }));

/** Formats rows as a table of Markdown. */
function table(rows) {
  const names = Object.keys(rows[0]);
  const cell = (value) => {
    if (value === null) return '';
    const isNumber = typeof value === 'number' && !Number.isInteger(value);
    return isNumber ? String(Number(value.toPrecision(4))) : String(value);
  };
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(names), line(names.map(() => '---')), ...rows.map((row) => line(Object.values(row).map(cell)))].join('\n');
}

test('each query of docs/fleet.md has a result', async () => {
  let text = readFileSync(page, 'utf8');
  assert.ok(questions().length >= 8);
  for (const sql of questions()) {
    const rows = await ask(sql);
    assert.ok(rows.length > 0, sql);
    if (process.env.UPDATE_DOCS) {
      const block = `\`\`\`sql\n${sql}\`\`\`\n`;
      const [start, rest] = [text.slice(0, text.indexOf(block) + block.length), text.slice(text.indexOf(block) + block.length)];
      text = `${start}\n${table(rows)}\n\n${rest.replace(/^\n(\|.*\n)*\n?/, '')}`;
    } else {
      const result = text.slice(text.indexOf(sql) + sql.length);
      const heads = result.match(/^```\n\n\| (.*) \|\n/);
      assert.deepEqual(heads?.[1].split(' | '), Object.keys(rows[0]), sql);
    }
  }
  if (process.env.UPDATE_DOCS) writeFileSync(page, text);
});

test('planted differences are found, and no others of their kind', async () => {
  const regressions = await ask('SELECT app, number, since, factor, version_before, version_after FROM regressions');
  const allocation = regressions.find(({ number }) => number === 'alloc.bytes');
  assert.deepEqual([allocation.app, allocation.since], ['shop', '2026-11-06']);
  assert.deepEqual([allocation.version_before, allocation.version_after], ['1.0', '1.1']);
  assert.ok(allocation.factor > 1.9 && allocation.factor < 2.1, `${allocation.factor}`);
  assert.ok(regressions.every(({ app }) => app === 'shop'));
  const hosts = await ask("SELECT DISTINCT host FROM odd_hosts WHERE number = 'heap.live.max'");
  assert.deepEqual(hosts, [{ host: 'h6' }]);
  const worst = await ask("SELECT host FROM worst_logs WHERE question = 'greatest live heap' AND position <= 4");
  assert.deepEqual(worst, Array(4).fill({ host: 'h6' }));
});

test('views have the numbers of the command line', async () => {
  const logs = await ask('SELECT run, path FROM logs ORDER BY path');
  assert.equal(logs.length, 31);
  for (const { run, path } of logs.slice(0, 6)) {
    const metrics = JSON.parse(execFileSync(eventscope, ['metrics', path, '--json']));
    const found = await ask(`SELECT number, value FROM program_numbers WHERE run = '${run}'`);
    const numbers = new Map(found.map(({ number, value }) => [number, value]));
    let same = 0;
    for (const { name, value, ranks } of metrics) {
      if (typeof value === 'number' && numbers.has(name)) {
        assert.equal(numbers.get(name), value, `${path}: ${name}`);
        same += 1;
      }
      for (const rank of ['p99', 'max']) {
        if (ranks?.[rank] && numbers.has(`${name}.${rank}`)) {
          assert.equal(numbers.get(`${name}.${rank}`), ranks[rank].value, `${path}: ${name}.${rank}`);
          same += 1;
        }
      }
    }
    assert.ok(same > 20, `${same}`);
    const [{ digest }] = await ask(`SELECT digest FROM digests WHERE run = '${run}'`);
    assert.deepEqual(JSON.parse(digest), JSON.parse(execFileSync(eventscope, ['digest', path])));
  }
  const pauses = await ask("SELECT * FROM pauses WHERE host = 'h6'");
  const all = (await ask("SELECT path FROM logs WHERE host = 'h6'")).flatMap(({ path }) => {
    const collections = JSON.parse(execFileSync(eventscope, ['collections', path, '--json']));
    return collections.map(({ pause_ns }) => pause_ns).filter((pause) => pause !== null);
  });
  all.sort((a, b) => a - b);
  assert.equal(Number(pauses[0].p99_ns), all[Math.ceil(all.length * 0.99) - 1]);
  assert.equal(Number(pauses[0].pauses), all.length);
});

test('partitions are pruned, and row groups have statistics', async () => {
  const plan = await ask("EXPLAIN ANALYZE SELECT count(*) FROM collections WHERE host = 'h6' AND version = '1.0'");
  const text = Object.values(plan[0]).join('\n');
  const [, read] = text.match(/Total Files Read:\s*(\d+)/) ?? [];
  assert.equal(Number(read), 4, text);
  const groups = await ask(`SELECT stats_min_value AS least FROM parquet_metadata('${dataset.replaceAll("'", "''")}/events/app=*/**/*.parquet') WHERE path_in_schema IN ('run', 'time_ns')`);
  assert.ok(groups.length >= 62 && groups.every(({ least }) => least !== null));
});

test('a compaction changes no answer', async () => {
  const small = join(folder, 'small');
  execFileSync(eventscope, ['export', '--dataset', small, '--partition', 'app', join(folder, 'logs')], { stdio: 'ignore' });
  const names = ['logs', 'pauses', 'regressions', 'frequent_findings', 'heap_growth', 'worst_logs', 'allocation_per_span', 'events', 'digests'];
  const answers = async () => {
    const other = await (await DuckDBInstance.create()).connect();
    await other.run(readFileSync(join(small, 'views.sql'), 'utf8'));
    const all = [];
    for (const name of names) {
      const rows = (await other.runAndReadAll(`SELECT * FROM ${name}`)).getRowObjectsJson();
      all.push(rows.map((row) => JSON.stringify(row)).sort());
    }
    return all;
  };
  const files = () => readdirSync(small, { recursive: true }).filter((name) => name.endsWith('.parquet')).length;
  const [expected, count] = [await answers(), files()];
  const { status, stderr } = spawnSync(eventscope, ['compact', small], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.ok(count > 250 && files() < 30, `${files()} of ${count}`);
  assert.deepEqual(await answers(), expected);
});

test('files of older and newer versions are read together', async () => {
  const old = join(folder, 'old');
  cpSync(join(root, 'tests/fixtures/dataset-v1'), old, { recursive: true });
  execFileSync(eventscope, ['export', '--dataset', old, join(folder, 'logs')], { stdio: 'ignore' });
  const other = await (await DuckDBInstance.create()).connect();
  const rows = async (sql) => (await other.runAndReadAll(sql)).getRowObjectsJson();
  mkdirSync(join(old, 'runs/app=x/ghc=99.1'), { recursive: true });
  await other.run(`COPY (SELECT 'newer' AS run, 'f' AS file, 7 AS column_of_the_future) TO '${old}/runs/app=x/ghc=99.1/newer.parquet' (FORMAT parquet)`);
  await other.run(readFileSync(join(old, 'views.sql'), 'utf8'));
  const [{ logs, newer }] = await rows('SELECT count(*) AS logs, count(column_of_the_future) AS newer FROM runs');
  assert.deepEqual([Number(logs), Number(newer)], [2 + 31 + 1, 1]);
  const versions = await rows("SELECT ghc, typeof(ghc) AS type FROM runs WHERE run = 'newer'");
  assert.deepEqual(versions, [{ ghc: '99.1', type: 'VARCHAR' }]);
  const [{ version }] = await rows(`SELECT DISTINCT decode(value) AS version FROM parquet_kv_metadata('${old}/runs/app=sparks/**/*.parquet') WHERE decode(key) = 'eventscope.schema_version'`);
  assert.equal(version, '1');
});
