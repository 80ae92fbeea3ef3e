// Heap panel: opens by default, its chart responds to pointer and keyboard, bands are pinned and hidden, and the
// link keeps all of it.

import { expect } from '@playwright/test';
import { fixture, fragment, openLog, strip, test, timeline, touch } from './helpers.js';

const BY_TYPE = fixture('ghc-9.6.6/heap-N2-hT-l-au');
const BY_INFO_TABLE = fixture('ghc-9.10.3/heap-ipe-N1-hi-l-au');
const BIOGRAPHY = fixture('ghc-9.6.6/prof-heap-N1-hb-l-au');
const NO_PROFILE = fixture('ghc-9.10.3/fib-forkio-N2-l-au');

const chart = (page) => page.locator('.heap-canvas canvas');
const legend = (page) => page.getByRole('list', { name: 'Bands of the chart' });
const bands = (page) => legend(page).locator('button.band');

/** Returns the names of the bands in the legend, in order. */
const names = (page) => bands(page).locator('.name').allTextContents();

test('the panel opens by itself for a log that has a heap profile', async ({ page }) => {
  await openLog(page, BY_TYPE);
  await expect(page.getByRole('tab', { name: 'Heap', exact: true })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.heap-bar .about')).toContainText('by closure type (-hT)');
  await expect(bands(page).first()).toBeVisible();
  await expect(page.locator('#head-bands')).toHaveAccessibleName(/Heap by band/);
  // The table alternative of the picture has a row for each band of the legend.
  const rows = page.locator('.heap-chart table tbody tr');
  await expect(rows).toHaveCount(await legend(page).locator('li').count());
});

test('a link says which panel is open', async ({ page }) => {
  await openLog(page, BY_TYPE, './#v=1&p=events');
  await expect(page.getByRole('tab', { name: 'Events' })).toHaveAttribute('aria-selected', 'true');
});

test('without a profile the panel says how to get one', async ({ page }) => {
  await openLog(page, NO_PROFILE);
  await expect(page.getByRole('tab', { name: 'Summary' })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Heap', exact: true }).click();
  const empty = page.locator('.panel-body .empty').first();
  await expect(empty).toContainText('compiled by GHC 9.10.3');
  await expect(empty.getByRole('rowheader')).toContainText(['-l -hT', '-l -hi']);
});

test('the keyboard walks censuses and bands, follows, hides and shows alone', async ({ page }) => {
  await openLog(page, BY_INFO_TABLE);
  await expect(bands(page).first()).toBeVisible();
  const before = await names(page);
  await chart(page).focus();
  await page.keyboard.press('Home');
  await expect(chart(page)).toHaveAccessibleName(/census 1 of 17/);
  await page.keyboard.press('ArrowRight');
  await expect(chart(page)).toHaveAccessibleName(/census 2 of 17/);
  await page.keyboard.press('ArrowUp');
  await expect(chart(page)).toHaveAccessibleName(/Chart of the heap\. 2 /);
  await expect(page.locator('.heap-canvas .tip')).toContainText('rank');
  await page.keyboard.press('Enter');
  await expect(bands(page).nth(1)).toHaveAttribute('aria-pressed', 'true');
  await fragment(page, /[#&]hk=/);
  await page.keyboard.press('h');
  await expect.poll(() => names(page)).not.toContain(before[1]);
  await expect(page.locator('.hidden-band')).toHaveCount(1);
  await page.locator('.hidden-band').getByRole('button').click();
  await expect.poll(() => names(page)).toEqual(before);
  await page.keyboard.press('Escape');
  // The actions of a band appear when it has the focus.
  const alone = page.getByRole('button', { name: `Show ${before[0]} alone`, exact: true });
  await alone.focus();
  await expect(alone).toBeFocused();
  await page.keyboard.press('Enter');
  await expect.poll(() => names(page)).toEqual([before[0]]);
  await page.getByRole('button', { name: 'Show all bands' }).click();
  await expect.poll(() => names(page)).toEqual(before);
});

test('forms, number and order of bands stand in the link', async ({ page }) => {
  await openLog(page, BY_TYPE);
  for (const form of ['Share', 'Stream', 'Lines', 'Bars']) {
    await page.getByRole('button', { name: form, exact: true }).click();
    await fragment(page, new RegExp(`[#&]hm=${form.toLowerCase()}`));
  }
  await page.getByLabel('Bands', { exact: true }).fill('3');
  await page.getByLabel('Bands', { exact: true }).press('Enter');
  await expect(bands(page)).toHaveCount(3);
  await expect(legend(page).locator('li').last()).toContainText('other bands');
  await page.getByRole('combobox', { name: 'Order' }).selectOption('by name');
  await expect.poll(async () => {
    const shown = await names(page);
    return shown.join() === [...shown].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).join();
  }).toBe(true);
  const hash = await fragment(page, /hn=3.*ho=name|ho=name.*hn=3/);
  const shown = await names(page);
  await page.goto('about:blank');
  await openLog(page, BY_TYPE, `./${hash}`);
  await expect.poll(() => names(page)).toEqual(shown);
});

test('a drag selects a range everywhere, a click follows a band', async ({ page }) => {
  await openLog(page, BY_TYPE);
  await expect(bands(page).first()).toBeVisible();
  const box = await chart(page).boundingBox();
  const y = box.y + box.height * 0.85;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.move(box.x + box.width * 0.6, y);
  await expect(page.locator('.strip .chip')).toBeVisible();
  await page.mouse.up();
  await fragment(page, /[#&]r=/);
  await page.mouse.click(box.x + box.width * 0.5, y);
  await fragment(page, /[#&]hk=/);
  await expect(legend(page).locator('.pinned')).toHaveCount(1);
  // The band is unpinned on the track, or another one is pinned.
  const { x, track } = await timeline(page);
  const before = await legend(page).locator('.pinned .name').textContent();
  await page.mouse.move(x(0.5), track('bands') + 20);
  await expect(strip(page)).toContainText('Heap by band');
  await page.mouse.click(x(0.5), track('bands') + 20);
  await expect(async () => {
    const pinned = await legend(page).locator('.pinned .name').allTextContents();
    expect(pinned).not.toEqual([before]);
  }).toPass();
});

test('two fingers select no range', async ({ page }) => {
  await openLog(page, BY_TYPE);
  await expect(bands(page).first()).toBeVisible();
  const box = await chart(page).boundingBox();
  const x = (part) => box.x + box.width * part;
  const y = box.y + box.height * 0.85;
  await touch(
    chart(page),
    ['pointerdown', 11, x(0.45), y], ['pointerdown', 12, x(0.55), y],
    ['pointermove', 11, x(0.35), y], ['pointermove', 12, x(0.65), y],
    ['pointerup', 11, x(0.35), y], ['pointerup', 12, x(0.65), y],
    // One finger follows a band.
    ['pointerdown', 13, x(0.5), y], ['pointerup', 13, x(0.5), y],
  );
  expect(await fragment(page, /[#&]hk=/)).not.toMatch(/[#&]r=/);
});

test('bands of a biography say what they mean', async ({ page }) => {
  await openLog(page, BIOGRAPHY);
  await expect(legend(page)).toContainText('not used yet');
});
