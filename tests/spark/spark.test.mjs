// The data set in Spark: logs are added by executors, of which one is killed, and all questions have the answers that
// DuckDB gives. Needs PySpark and Java: the Python that EVENTSCOPE_PYTHON names, else python3. EVENTSCOPE_LOGS names a
// folder with other logs than the fixtures, such as a thousand, and EVENTSCOPE_PROGRAM another build of the program.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { DuckDBInstance } from '@duckdb/node-api';

const root = join(import.meta.dirname, '../..');
const eventscope = process.env.EVENTSCOPE_PROGRAM ?? join(root, 'target/debug/eventscope');
const python = process.env.EVENTSCOPE_PYTHON ?? 'python3';
const folder = mkdtempSync(join(tmpdir(), 'eventscope-spark-'));
after(() => rmSync(folder, { recursive: true }));

/** Returns why Spark cannot be asked here; false if it can. */
function whyNot() {
  if (spawnSync('java', ['-version']).status !== 0) return 'Java is not installed';
  if (spawnSync(python, ['-c', 'import pyspark']).status !== 0) return `${python} has no PySpark (pip install pyspark)`;
  return false;
}
const skip = whyNot();
const timeout = process.env.EVENTSCOPE_LOGS ? 1_800_000 : 900_000;

/** Without them, Spark makes 200 tasks of a join, and Java spends most of its time optimizing what runs a few times. */
const FOR_FEW_ROWS = {
  PYSPARK_SUBMIT_ARGS: '--conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false pyspark-shell',
  JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
};

/** Runs a program of examples/spark; resolves to what it prints. */
function spark(program, args, environment = {}) {
  return new Promise((resolve, reject) => {
    const tuning = process.env.EVENTSCOPE_LOGS ? {} : FOR_FEW_ROWS;
    const options = { env: { ...process.env, ...tuning, ...environment }, maxBuffer: 1 << 28 };
    execFile(python, [join(root, 'examples/spark', program), ...args], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program}: ${stderr.slice(-2000)}`));
      else resolve(stdout);
    });
  });
}

/** Executors of their own processes, as in a cluster. */
const CLUSTER = { PYSPARK_SUBMIT_ARGS: "--master local-cluster[2,1,1024] pyspark-shell", PYSPARK_PYTHON: python };

const logs = join(folder, 'logs');
before(() => {
  mkdirSync(logs);
  const fixtures = process.env.EVENTSCOPE_LOGS ?? join(root, 'tests/fixtures/logs');
  for (const name of readdirSync(fixtures, { recursive: true }).filter((name) => name.endsWith('.eventlog'))) {
    copyFileSync(join(fixtures, name), join(logs, name.replaceAll('/', '-')));
  }
  writeFileSync(join(logs, 'poisoned.eventlog'), 'this is no log');
});

/** Returns the process ids of executors. */
function executors() {
  const found = spawnSync('pgrep', ['-f', `CoarseGrainedExecutorBackend.*${'--executor-id'}`], { encoding: 'utf8' });
  return found.stdout.split('\n').filter(Boolean).map(Number);
}

const manifest = (dataset) => readdirSync(join(dataset, 'manifest')).map((name) => JSON.parse(readFileSync(join(dataset, 'manifest', name))));

test('executors add logs, though one is killed and one log is none', { skip, timeout }, async () => {
  const dataset = join(folder, 'added');
  const before = new Set(executors());
  const adding = spark('ingest.py', [dataset, `${logs}/*.eventlog`, '--eventscope', eventscope, '--logs-per-task', '4', '--', '--partition', 'app,ghc'], CLUSTER);
  const killer = setInterval(() => {
    const [victim] = executors().filter((id) => !before.has(id));
    const begun = spawnSync('ls', [join(dataset, 'manifest')], { encoding: 'utf8' }).stdout.length > 0;
    if (victim && begun) {
      process.kill(victim, 'SIGKILL');
      clearInterval(killer);
    }
  }, 50);
  try {
    await adding;
  } finally {
    clearInterval(killer);
  }
  const once = join(folder, 'once');
  execFileSync(eventscope, ['export', '--dataset', once, '--partition', 'app,ghc', logs], { stdio: 'ignore' });
  const known = (entries) => entries.map(({ run, status }) => `${run} ${status}`).sort();
  assert.deepEqual(known(manifest(dataset)), known(manifest(once)));
  assert.ok(manifest(dataset).some(({ status }) => status === 'failed'), 'the poisoned log is recorded');
});

test('Spark answers as DuckDB does', { skip, timeout }, async () => {
  const dataset = join(folder, 'asked');
  execFileSync(eventscope, ['export', '--dataset', dataset, '--partition', 'app,ghc', logs], { stdio: 'ignore' });
  const database = await (await DuckDBInstance.create()).connect();
  await database.run(readFileSync(join(dataset, 'views.sql'), 'utf8'));
  const printed = await spark('questions.py', [dataset]);
  const answers = printed.split(/^# /m).slice(1).map((text) => text.split('\n').filter(Boolean));
  assert.ok(answers.length > 5, `${answers.length} questions`);
  for (const [question, head, ...rows] of answers) {
    const asked = (await database.runAndReadAll(`SELECT * FROM ${question}`)).getRowObjectsJson();
    assert.equal(rows.length, asked.length, question);
    const columns = head.split('\t');
    const cell = (value) => {
      if (value === null || value === undefined) return '';
      const number = Number(value);
      return value !== '' && Number.isFinite(number) && typeof value !== 'boolean' ? String(Number(number.toPrecision(7))) : String(value);
    };
    const sorted = (lines) => lines.sort();
    const ofSpark = sorted(rows.map((row) => row.split('\t').map((value) => cell(value)).join('\t')));
    const ofDuck = sorted(asked.map((row) => columns.map((name) => cell(row[name])).join('\t')));
    assert.deepEqual(ofSpark, ofDuck, question);
  }
});

test('the command line has the numbers of the data set', { skip, timeout }, async () => {
  const database = await (await DuckDBInstance.create()).connect();
  await database.run(readFileSync(join(folder, 'asked/views.sql'), 'utf8'));
  const ask = async (sql) => (await database.runAndReadAll(sql)).getRowObjectsJson();
  const added = await ask('SELECT run, path, digest FROM digests ORDER BY path');
  const numbers = new Map();
  for (const { run, number, value } of await ask('SELECT run, number, value FROM program_numbers')) {
    numbers.set(`${run} ${number}`, value);
  }
  // Of a damaged log it prints what can be read, and exits with status 1.
  const print = (...args) => JSON.parse(spawnSync(eventscope, args, { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout);
  // A debug build takes long for each log: of the fixtures, some are enough.
  const asked = added.filter((_, index) => process.env.EVENTSCOPE_LOGS || index % 8 === 0);
  let same = 0;
  for (const { run, path, digest } of asked) {
    assert.deepEqual(JSON.parse(digest), print('digest', path), path);
    for (const { name, value } of print('metrics', path, '--json')) {
      if (typeof value !== 'number' || !numbers.has(`${run} ${name}`)) continue;
      assert.equal(numbers.get(`${run} ${name}`), value, `${path}: ${name}`);
      same += 1;
    }
  }
  assert.ok(same > 10 * asked.length, `${same} numbers of ${asked.length} logs`);
});
