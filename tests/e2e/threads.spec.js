// Table of threads: times of the reference, order, filter, range, file, link.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openLog, reference, showAllColumns, strip, test, timeline } from './helpers.js';

const STOPS = 'ghc-9.0.2/stops-N4-la';

/** Sums by thread, computed by an independent program. */
const counted = JSON.parse(
  readFileSync(new URL(`../fixtures/reference/${STOPS}.agg.json`, import.meta.url)),
).threads;

const row = (page, number) => page.locator(`#thread-rows-row-${number}`);
const cell = (page, number, column) => row(page, number).getByRole('gridcell').nth(column);
const status = (page) => page.locator('.threads .controls .for');
const header = (page, name) => page.getByRole('columnheader', { name });
const RUNS = 13;

async function openThreads(page, name = STOPS, address = './') {
  await openLog(page, fixture(name), address);
  await page.getByRole('tab', { name: 'Threads' }).click();
}

/** Opens the table with the columns that are hidden by default. */
async function openWhole(page) {
  await openThreads(page);
  await showAllColumns(page);
}

/** Saves the file and returns its rows in order, keyed by column name. */
async function saved(page) {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save CSV' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('threads.csv');
  const [names, ...rows] = readFileSync(await download.path(), 'utf8').trimEnd().split('\r\n').map((line) => line.split(','));
  return rows.map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i]])));
}

/** Selects a range of the timeline by dragging. */
async function select(page, from, to) {
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(from), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(to), cap(0), { steps: 6 });
  await page.mouse.up();
}

test('saves what each thread did, as the reference counted it', async ({ page }) => {
  await openWhole(page);
  const ids = Object.keys(counted);
  await expect(status(page)).toHaveText(`${ids.length} threads in the whole log`);
  const rows = await saved(page);
  expect(rows.map((row) => row.thread).sort()).toEqual(ids.sort());
  for (const row of rows) {
    const { run_ns: run, slices, labels } = counted[row.thread];
    expect(row, `thread ${row.thread}`).toMatchObject({ running_ns: String(run), runs: String(slices), label: labels.at(-1) ?? '' });
    if (row.created_ns !== '' && row.finished_ns !== '') {
      const parts = [row.running_ns, row.ready_in_collection_ns, row.ready_ns, row.blocked_ns, row.foreign_call_ns];
      const life = parts.reduce((sum, part) => sum + Number(part), 0);
      expect(life, `thread ${row.thread}`).toBe(row.finished_ns - row.created_ns);
    }
  }
  const runs = Object.values(counted).reduce((sum, thread) => sum + thread.slices, 0);
  const sums = page.locator('.thread-rows .grid-sums').getByRole('gridcell');
  await expect(sums.nth(RUNS)).toHaveText(String(runs));
});

test('sorts by a column, both ways, and by a reason of blocking', async ({ page }) => {
  await openWhole(page);
  await expect(header(page, /^Running/)).toHaveAttribute('aria-sort', 'descending');
  const busiest = Object.entries(counted).sort(([, a], [, b]) => b.run_ns - a.run_ns);
  for (const number of [0, 1, 2]) await expect(cell(page, number, 0)).toHaveText(busiest[number][0]);

  await page.getByRole('button', { name: 'Ready: idle cap' }).click();
  await expect(header(page, /^Ready: idle cap/)).toHaveAttribute('aria-sort', 'descending');
  const ready = async () => (await saved(page)).map((row) => Number(row.ready_while_idle_ns));
  const descending = await ready();
  expect(descending).toEqual(descending.toSorted((a, b) => b - a));
  expect(descending[0]).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Ready: idle cap' }).click();
  await expect(header(page, /^Ready: idle cap/)).toHaveAttribute('aria-sort', 'ascending');
  expect(await ready()).toEqual(descending.toReversed());

  await page.getByLabel('Sorted by').selectOption({ label: 'Blocked on black hole' });
  await expect(cell(page, 0, 1)).toHaveText(/^bh-[23]$/);
  await expect(cell(page, 0, 11)).toHaveText(/black hole /);
});

test('filters, says so, and explains when nothing is left', async ({ page }) => {
  await openThreads(page);
  const filter = page.getByRole('searchbox', { name: /this label or number/ });
  await filter.fill('YIELD');
  await expect(status(page)).toHaveText('3 threads in the whole log');
  for (const number of [0, 1, 2]) await expect(cell(page, number, 1)).toHaveText(/^yield-/);
  await filter.fill('no such thread');
  await expect(page.getByText('No thread has a matching label')).toBeVisible();
  await filter.fill('12');
  await expect(status(page)).toHaveText('1 thread in the whole log');
  await expect(cell(page, 0, 1)).toHaveText('bh-2');
});

test('follows the selected range', async ({ page }) => {
  await openWhole(page);
  await select(page, 0.3, 0.6);
  await expect(status(page)).toHaveText(/in the selected range/);
  const sums = page.locator('.thread-rows .grid-sums').getByRole('gridcell');
  let [from, to] = [0, 0];
  // The address is updated once the drag has settled.
  await expect(async () => {
    const [, start, unit, length] = (await fragment(page, /[#&]r=/)).match(/r=(\d+)([nums])(\d+)/);
    const unitNs = { n: 1, u: 1e3, m: 1e6, s: 1e9 }[unit];
    [from, to] = [start * unitNs, (Number(start) + Number(length)) * unitNs];
    const events = reference(STOPS, 'events.tsv').filter(([time]) => from < time && time < to);
    const of = (name) => String(events.filter(([, , other]) => other === name).length);
    expect(Number(of('RunThread'))).toBeGreaterThan(10);
    await expect(sums.nth(RUNS)).toHaveText(of('RunThread'), { timeout: 500 });
    await expect(sums.nth(RUNS + 1)).toHaveText(of('WakeupThread'), { timeout: 500 });
    await expect(sums.nth(RUNS + 2)).toHaveText(of('MigrateThread'), { timeout: 500 });
  }).toPass();
  for (const row of await saved(page)) {
    const life = ['running_ns', 'running_at_end_ns', 'ready_ns', 'blocked_ns'].reduce((sum, name) => sum + Number(row[name]), 0);
    expect(life).toBeLessThanOrEqual(to - from);
  }
  await page.keyboard.press('Escape');
  await expect(status(page)).toHaveText(/in the whole log/);
});

test('a click or Enter on a row selects the thread on the timeline', async ({ page }) => {
  await openThreads(page);
  await page.getByRole('searchbox', { name: /this label or number/ }).fill('ffi-1');
  await expect(status(page)).toHaveText('1 thread in the whole log');
  await row(page, 0).click();
  await expect(strip(page)).toContainText('ffi-1 (thread 14) was ready');
  await expect(row(page, 0)).toHaveClass(/current/);

  await page.getByRole('searchbox', { name: /this label or number/ }).fill('bh-');
  await expect(status(page)).toHaveText('3 threads in the whole log');
  const label = await cell(page, 1, 1).textContent();
  await page.getByRole('grid', { name: 'Threads' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(strip(page)).toContainText(`${label} (thread`);
});

test('a link restores the order and the filter', async ({ page, browser, baseURL }) => {
  await openWhole(page);
  await page.getByRole('button', { name: 'Mean wait' }).click();
  await page.getByRole('searchbox', { name: /this label or number/ }).fill('bh');
  const hash = await fragment(page, /p=threads&ts=mean&tq=bh/);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, fixture(STOPS));
  await loaded(other);
  await expect(status(other)).toHaveText('3 threads in the whole log');
  await showAllColumns(other);
  await expect(header(other, /^Mean wait/)).toHaveAttribute('aria-sort', 'descending');
  await context.close();
});

test('saves the same rows as JSON', async ({ page }) => {
  await openThreads(page);
  const rows = await saved(page);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save JSON' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('threads.json');
  const objects = JSON.parse(readFileSync(await download.path(), 'utf8'));
  const texts = objects.map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, String(cell ?? '')])));
  expect(texts).toEqual(rows);
});

test('a log without threads says why the table is empty', async ({ page }) => {
  await openThreads(page, 'ghc-9.0.2/binmsg-N1-l-au');
  await expect(page.getByText('No thread events in this log')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Save CSV' })).toBeDisabled();
});
