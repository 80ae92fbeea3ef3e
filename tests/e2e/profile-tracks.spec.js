// Profile samples and foreign calls as tracks of the timeline, and navigation to the flame graph.

import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { fragment, openLog, pointAlong, strip, test, timeline } from './helpers.js';

// The profiled sample log: three capabilities, four OS threads with calls.
const LOG = fileURLToPath(new URL('../../www/demo/profiled-ffi.eventlog.gz', import.meta.url));
const FUNCTION = /median_filter|box_blur|sobel_edges/;

const head = (page, name) => page.locator(`#head-${name}`);
const details = (page) => page.getByRole('complementary', { name: 'Details of the selected item' });

/** Opens the log with only some of its tracks. */
async function openTracks(page, filter) {
  await openLog(page, LOG);
  await page.getByPlaceholder('Filter tracks').fill(filter);
  await expect(head(page, 'activity')).toHaveCount(0);
}

test('capabilities have samples, OS threads have calls, each with its name', async ({ page }) => {
  await openLog(page, LOG);
  for (const cap of [0, 1, 2]) await expect(head(page, `samples${cap}`)).toHaveAccessibleName(`Samples, cap ${cap} 2,096`);
  await expect(head(page, 'calls')).toHaveAttribute('aria-expanded', 'true');
  await page.getByPlaceholder('Filter tracks').fill('OS thread');
  await expect(page.locator('.head[id^="head-calls2"]')).toHaveCount(4);
  await expect(head(page, 'calls28270')).toHaveAccessibleName('Calls, OS thread 28270 × 5');
});

test('pointing at a call names its function, at a sample what ran', async ({ page }) => {
  await openTracks(page, 'OS thread');
  let { track } = await timeline(page);
  const call = await pointAlong(page, track('calls28271'), FUNCTION);
  expect(call.text).toMatch(/foreign call on OS thread 28271 for [\d.]+.ms/);
  await expect(page.locator('.timeline .tip')).toContainText('called by');
  await page.getByPlaceholder('Filter tracks').fill('Samples');
  await expect(head(page, 'calls28271')).toHaveCount(0);
  ({ track } = await timeline(page));
  const several = await pointAlong(page, track('samples0'), /many in Main\./);
  expect(several.text).toMatch(/Capability 0 \d+ samples in .*busy/);
  // At close zoom, each sample has its own mark.
  for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -400);
  await fragment(page, /[#&]t=/);
  await expect(strip(page)).toContainText(/sample of capability 0 · at/);
});

test('the details of a call lead to the flame graph', async ({ page }) => {
  await openTracks(page, 'OS thread');
  const { track } = await timeline(page);
  const { x } = await pointAlong(page, track('calls28271'), FUNCTION);
  await page.mouse.click(x, track('calls28271'));
  await expect(details(page)).toContainText('Main.announced');
  await expect(details(page).locator('dt').first()).toHaveText('number');
  await details(page).getByRole('button', { name: 'show it there' }).click();
  await expect(page.getByRole('tab', { name: 'Flame graph' })).toHaveAttribute('aria-selected', 'true');
  await fragment(page, /[#&]p=flame.*fs=os28271/);
});

test('the details of a sample have its stack and lead to the flame graph', async ({ page }) => {
  await openLog(page, LOG, './#v=1&t=800m30');
  await page.getByPlaceholder('Filter tracks').fill('Samples');
  await expect(head(page, 'activity')).toHaveCount(0);
  const { track } = await timeline(page);
  const { x } = await pointAlong(page, track('samples1'), /Main\..* sample of capability 1/);
  await page.mouse.click(x, track('samples1'));
  await expect(details(page)).toContainText(/ran then.*render/);
  await expect(details(page)).toContainText(/called from.*Main\.main/);
  await details(page).getByRole('button', { name: 'show it there' }).click();
  await fragment(page, /[#&]p=flame.*fs=cap1/);
});

test('the table of what is in view has calls and samples; links keep an item', async ({ page }) => {
  await openTracks(page, 'OS thread');
  await page.getByRole('tab', { name: 'In view' }).click();
  const row = page.getByRole('row', { name: FUNCTION }).first();
  await expect(row).toContainText('Calls, OS thread');
  await head(page, 'calls28272').focus();
  await page.keyboard.press('ArrowRight');
  await expect(strip(page)).toContainText(FUNCTION);
  const said = await strip(page).textContent();
  const hash = await fragment(page, /[#&]e=\d+\.calls28272/);
  // A change of only the fragment would not reload the page.
  await page.goto('about:blank');
  await openLog(page, LOG, `./${hash}`);
  await expect(strip(page)).toHaveText(said);
});

test('a click is told all even if nothing was pointed at before', async ({ page }) => {
  await openLog(page, LOG, './#v=1&t=800m30');
  await page.getByPlaceholder('Filter tracks').fill('Samples');
  await expect(head(page, 'activity')).toHaveCount(0);
  const { x, track } = await timeline(page);
  // A track has no items to click before its marks have arrived.
  await expect(async () => {
    await page.mouse.click(x(0.4), track('samples0'));
    await expect(details(page)).toBeVisible({ timeout: 1000 });
  }).toPass();
  await expect(details(page)).toContainText(/called from.*Main\.main/);
});
