// Tables of the heap: all bands, two censuses, growth.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, fragment, openLog, test } from './helpers.js';

/** Log with a profile by closure type. */
const LOG = fixture('ghc-9.6.6/heap-N2-hT-l-au');

/** Log with a profile and statistics of the collector. */
const DEMO = fixture('../../../www/demo/shop-server-hT').concat('.gz');

const row = (page, table, number) => page.locator(`#${table}-rows-row-${number}`);
const cells = (page, table, number) => row(page, table, number).getByRole('gridcell');
const names = (page, table) => page.locator(`.${table}-rows .grid-window .grid-row > :first-child`).allInnerTexts();
const header = (page, name) => page.getByRole('columnheader', { name });

async function open(page, tab) {
  await openLog(page, LOG);
  await page.getByRole('tab', { name: 'Heap', exact: true }).click();
  await page.getByRole('tab', { name: tab }).click();
}

test('sorts by any column, and filters', async ({ page }) => {
  await open(page, 'Table');
  await expect(header(page, 'Share')).toHaveAttribute('aria-sort', 'descending');
  await expect.poll(async () => (await names(page, 'band')).length).toBeGreaterThan(5);
  const all = await names(page, 'band');
  await header(page, 'Band').getByRole('button').click();
  await expect(header(page, 'Band')).toHaveAttribute('aria-sort', 'ascending');
  await expect.poll(() => names(page, 'band')).not.toEqual(all);
  const byName = await names(page, 'band');
  await header(page, 'Band').getByRole('button').click();
  await expect(header(page, 'Band')).toHaveAttribute('aria-sort', 'descending');
  // Only the visible rows are drawn.
  await expect.poll(async () => (await names(page, 'band'))[0]).not.toBe(byName[0]);
  const turned = await names(page, 'band');
  expect(turned).toEqual([...turned].sort().reverse());
  await fragment(page, /hs=name\.down/);
  await page.getByRole('searchbox', { name: 'Filter bands' }).fill('timermanager');
  await expect.poll(() => names(page, 'band')).toEqual(['TimerManager']);
});

test('keys walk the rows, and Enter follows a band through all views', async ({ page }) => {
  await open(page, 'Table');
  const grid = page.getByRole('grid', { name: 'Bands' });
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(row(page, 'band', 1)).toHaveClass(/current/);
  const name = await cells(page, 'band', 1).first().innerText();
  await page.keyboard.press('Enter');
  await expect(row(page, 'band', 1)).toHaveClass(/pinned/);
  await fragment(page, /hk=/);
  await page.getByRole('tab', { name: 'Growth' }).click();
  await expect(page.getByRole('region', { name: /correlate with/ })).toContainText(`correlate with ${name}`);
  await page.getByRole('tab', { name: 'Table' }).click();
  await row(page, 'band', 1).click();
  await expect(page.locator('.band-rows .pinned')).toHaveCount(0);
});

test('the most of a band leads to when it was', async ({ page }) => {
  await open(page, 'Table');
  const most = cells(page, 'band', 0).nth(4).getByRole('button');
  const size = await most.innerText();
  await most.click();
  const hash = await fragment(page, /[#&]e=\d+\.bands(&|$)/);
  const details = page.getByRole('complementary', { name: 'Details of the selected item' });
  await expect(details).toContainText(size);
  await expect(row(page, 'band', 0)).not.toHaveClass(/pinned/);
  // With the keyboard, for the current row.
  await page.keyboard.press('Escape');
  await page.getByRole('grid', { name: 'Bands' }).focus();
  await page.keyboard.press('ArrowDown');
  const same = page.locator('.heap-table .tools').getByRole('button', { name: /^[\d.]+.*: show the most of/ });
  await expect(same).toHaveText(size);
  await same.press('Enter');
  await expect.poll(() => new URL(page.url()).hash).toBe(hash);
});

test('the moment of the largest heap is shown on a track that is folded away at first', async ({ page }) => {
  await openLog(page, DEMO);
  await page.getByRole('tab', { name: 'Held' }).click();
  const head = page.locator('#head-heap');
  await expect(head).toHaveCount(0);
  await page.getByRole('button', { name: /show the peak on the timeline/ }).click();
  await expect(head).toBeInViewport();
  await fragment(page, /[#&]e=\d+\.heap(&|$)/);
  await expect(page.getByRole('complementary', { name: 'Details of the selected item' })).toContainText('heap size');
});

test('saves all rows', async ({ page }) => {
  await open(page, 'Table');
  const shown = Number((await page.locator('.heap-table .for').innerText()).match(/^([\d,]+)/)[1]);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save CSV' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('bands.csv');
  const [head, ...rows] = readFileSync(await download.path(), 'utf8').trimEnd().split('\r\n');
  expect(head).toContain('label,name,what,type,module,place,censuses,mean,share');
  expect(rows).toHaveLength(shown);
  const largest = rows.map((line) => line.split(',')).map((cells) => Number(cells[cells.length - 10]));
  expect(largest).toEqual([...largest].sort((a, b) => b - a));
});

test('compares two censuses, and looks at one', async ({ page }) => {
  await open(page, 'Compare censuses');
  const before = page.getByRole('spinbutton', { name: 'Before' });
  await expect(before).toHaveValue('1');
  await page.getByRole('button', { name: 'Before: next census' }).click();
  await expect(before).toHaveValue('2');
  await fragment(page, /hc=2-/);
  const after = page.getByRole('spinbutton', { name: 'After' });
  await after.fill('2');
  await after.press('Enter');
  // Before and after are the same census: nothing grew.
  await expect(cells(page, 'moment', 0).nth(3)).toHaveText(/^0\sB$/);
  await page.getByRole('checkbox', { name: 'One census' }).click();
  await expect(page.locator('.census-rows .grid-row').first()).toBeVisible();
  await fragment(page, /hc=2(&|$)/);
  await page.getByRole('button', { name: 'Reset to the range' }).click();
  await expect(page.getByRole('spinbutton', { name: 'Census' })).not.toHaveValue('2');
});

test('lists what grows, and what correlate with it', async ({ page }) => {
  await open(page, 'Growth');
  const list = page.getByRole('region', { name: 'Growing bands' });
  await expect(list.getByRole('row').nth(1)).toContainText(/grows by|changes|only/);
  await list.getByRole('combobox').selectOption('gained');
  await fragment(page, /hr=gained/);
  // The rows may still be those of the order before.
  await expect(async () => {
    const band = list.getByRole('row').nth(2).getByRole('button');
    if (await band.getAttribute('aria-pressed') !== 'true') await band.click();
    await expect(band).toHaveAttribute('aria-pressed', 'true', { timeout: 500 });
  }).toPass();
  await expect(page.getByRole('region', { name: /correlate with/ })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Bursts' })).toBeVisible();
});

test('a range without a census says where the nearest is', async ({ page }) => {
  await openLog(page, LOG, './#v=1&p=heap&ht=table&r=200m10');
  await expect(page.getByText(/No census in this range: the nearest is at 186\.960\sms/)).toBeVisible();
  await page.getByRole('button', { name: /Extend the range to census 1 at/ }).click();
  await expect(page.locator('.heap-table .for')).toContainText('1 census in the selected range');
  await expect(page.locator('.heap-table .for')).toContainText('A single census shows no growth');
});
