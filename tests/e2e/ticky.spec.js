// Table of ticky counters: numbers of the reference, order, filter, range, details, files, link, keyboard.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, fragment, loaded, openLog, reference, test, timeline } from './helpers.js';

const TICKY = 'ghc-9.10.3/ticky-lT';

/** Returns entries, bytes allocated and bytes of closures by counter, in a range. */
function counted(from = 0, to = Infinity) {
  const sums = {};
  for (const [time, , name, text] of reference(TICKY, 'events.tsv')) {
    if (name !== 'TickyCounterSample' || Number(time) < from || Number(time) >= to) continue;
    const [id, ...numbers] = text.match(/\d+/g).map(Number);
    sums[id] = (sums[id] ?? [0, 0, 0]).map((sum, i) => sum + numbers[i]);
  }
  return sums;
}

const row = (page, number) => page.locator(`#ticky-rows-row-${number}`);
const cell = (page, number, column) => row(page, number).getByRole('gridcell').nth(column);
const status = (page) => page.locator('.ticky .controls .for');
const header = (page, name) => page.getByRole('columnheader', { name });
const details = (page) => page.getByRole('complementary', { name: 'Details of the counter' });

async function openTicky(page, name = TICKY, address = './#p=ticky') {
  await openLog(page, fixture(name), address);
  await expect(page.getByRole('tab', { name: 'Ticky' })).toHaveAttribute('aria-selected', 'true');
}

/** Saves a file with a button and returns its rows, keyed by column name. */
async function saved(page, button, file, separator) {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe(file);
  const lines = readFileSync(await download.path(), 'utf8').trimEnd().split(/\r?\n/);
  const [names, ...rows] = lines.map((line) => line.split(separator));
  return rows.map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i]])));
}

test('saves what the reference counted', async ({ page }) => {
  await openTicky(page);
  await expect(status(page)).toHaveText('13 counters in the whole log, 3 samples · 61.4 % of 14.1 MiB allocated');
  const rows = await saved(page, 'Save TSV', 'ticky.tsv', '\t');
  const sums = rows.map((row) => [row.id, [row.entries, row.allocs_bytes, row.allocd_bytes].map(Number)]);
  expect(Object.fromEntries(sums)).toEqual(counted());
  const csv = await saved(page, 'Save CSV', 'ticky.csv', ',');
  expect(csv.map((row) => row.id)).toEqual(rows.map((row) => row.id));
});

test('copies the rows', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openTicky(page);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect(page.locator('.rows-out [role=status]')).toHaveText('13 rows copied');
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text.split('\n')[0]).toMatch(/^id\tname\tkind\t/);
  expect(text.trimEnd().split('\n')).toHaveLength(14);
});

test('sorts by a column, both ways, and explains it', async ({ page }) => {
  await openTicky(page);
  await expect(header(page, 'Allocated')).toHaveAttribute('aria-sort', 'descending');
  await expect(cell(page, 0, 0)).toHaveText('go3 in $wpairs');
  await expect(cell(page, 0, 6)).toHaveText(/^7\.7.MiB$/);
  // While the button has the focus, its help is part of its accessible name.
  const entries = page.locator('.grid-head button').filter({ hasText: /^Entries$/ });
  await entries.focus();
  await expect(entries).toHaveAttribute('data-help', /Number of entries: calls of a function/);
  await page.keyboard.press('Enter');
  await expect(header(page, /^Entries/).first()).toHaveAttribute('aria-sort', 'descending');
  await expect(cell(page, 0, 5)).toHaveText('5,510,570');
  await page.keyboard.press('Enter');
  await expect(header(page, /^Entries/).first()).toHaveAttribute('aria-sort', 'ascending');
  await expect(cell(page, 0, 5)).toHaveText('0');
  await fragment(page, /[#&]ys=entries\.up/);
});

test('filters by words and by columns, and says when nothing is left', async ({ page }) => {
  await openTicky(page);
  const filter = page.getByRole('searchbox', { name: /Filter the counters/ });
  await filter.fill('COLLATZ');
  await expect(status(page)).toHaveText(/^1 counter /);
  await filter.fill('kind:thunk entries>1k');
  await expect(status(page)).toHaveText(/^2 counters /);
  await filter.fill('nothing like it');
  await expect(page.getByText('No matching counter.')).toBeVisible();
  await filter.fill('kind:constructor');
  // The log lacks the number of fields, so that the value is an upper bound.
  await expect(cell(page, 0, 10)).toHaveText(/^≤ /);
  await fragment(page, /[#&]yq=kind%3Aconstructor/);
  const address = page.url();
  await page.goto('about:blank');
  await openTicky(page, TICKY, address);
  await expect(status(page)).toHaveText(/^2 counters /);
});

test('follows the selected range', async ({ page }) => {
  await openTicky(page);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.3), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.7), cap(0), { steps: 6 });
  // During the drag.
  await expect(status(page)).toHaveText(/in the selected range/);
  await page.mouse.up();
  await expect(async () => {
    const [, start, unit, length] = (await fragment(page, /[#&]r=/)).match(/r=(\d+)([nums])(\d+)/);
    const unitNs = { n: 1, u: 1e3, m: 1e6, s: 1e9 }[unit];
    const sums = counted(start * unitNs, (Number(start) + Number(length)) * unitNs);
    expect(Object.keys(sums)).toHaveLength(10);
    const rows = await saved(page, 'Save TSV', 'ticky.tsv', '\t');
    expect(Object.fromEntries(rows.map((row) => [row.id, [row.entries, row.allocs_bytes, row.allocd_bytes].map(Number)]))).toEqual(sums);
  }).toPass();
  await page.keyboard.press('Escape');
  await expect(status(page)).toHaveText(/in the whole log/);
});

test('tells what is known of a counter, by keyboard too', async ({ page }) => {
  await openTicky(page);
  await page.getByRole('grid', { name: 'Ticky counters' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(details(page).getByRole('heading')).toHaveText('sat_s2Px');
  await expect(details(page)).toContainText('an unevaluated expression');
  await expect(details(page)).toContainText('63,000 closures, each entered once');
  await expect(details(page)).toContainText('unboxed Int');
  await details(page).getByRole('button', { name: 'go3' }).click();
  await expect(details(page).getByRole('heading')).toHaveText('go3');
  await details(page).getByRole('button', { name: 'Only this module' }).click();
  await expect(status(page)).toHaveText(/^12 counters /);
  await expect(details(page).getByRole('heading')).toHaveText('go3');
  await details(page).getByRole('button', { name: 'Close the details' }).click();
  await expect(details(page)).toHaveCount(0);
});

test('says what is wrong with the counters of one GHC', async ({ page }) => {
  await openTicky(page, 'ghc-9.6.6/ticky-la');
  await expect(page.getByRole('note')).toContainText('GHC 9.6 does');
  await expect(cell(page, 0, 9)).toHaveText('–');
});

test('a log without counters says how they are recorded', async ({ page }) => {
  await openTicky(page, 'ghc-9.6.6/fib-forkio-N2-l');
  await expect(page.locator('.ticky-how')).toContainText('ghc -ticky -ticky-allocd');
  await expect(page.locator('.ticky-how')).toContainText('+RTS -lT');
});
