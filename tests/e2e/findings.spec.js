// Findings: list, details, navigation, the link, a range, keyboard only.

import { expect } from '@playwright/test';
import { colors, fixture, fragment, loaded, openLog, test, timeline } from './helpers.js';

/** Returns the log of a program that provokes a rule. */
const provoked = (rule) => fixture(`../findings/${rule}-found`).concat('.gz');

const LOG = provoked('nursery-too-small');
const STRAGGLER = provoked('gc-sync-straggler');
const NOTHING = fixture('ghc-9.6.6/fib-forkio-N2-l');

const panel = (page) => page.locator('.findings');
const heads = (page) => panel(page).locator('.finding-head');
const places = (page) => panel(page).locator('.place:not(.proof)');
const card = (page) => page.getByRole('region', { name: 'Open finding' });
const brief = (page) => page.getByRole('list', { name: 'Findings', exact: true });

/** Returns the range in a fragment (selected or visible) in nanoseconds. */
function range(hash, key) {
  const [, start, unit, length] = hash.match(new RegExp(`[#&]${key}=(\\d*)([nums])(\\d+)`));
  const ns = { n: 1, u: 1e3, m: 1e6, s: 1e9 }[unit];
  return { start: Number(start) * ns, end: (Number(start) + Number(length)) * ns };
}

test('the summary names the gravest finding first, and leads to it', async ({ page }) => {
  await openLog(page, LOG);
  const first = brief(page).getByRole('button').first();
  await expect(first).toContainText(/(High|Medium|Low).*minor collections took/);
  await first.click();
  // The panel with the evidence opens, with the finding above it and its worst place selected.
  await expect(page.getByRole('tab', { name: 'Collections' })).toHaveAttribute('aria-selected', 'true');
  await expect(card(page)).toContainText(/minor collections took/);
  await expect(card(page)).toContainText(/Place 1 of \d+/);
  await fragment(page, /[#&]r=.*[#&]io=nursery-too-small/);
  await card(page).getByRole('button', { name: 'Advice and caveats' }).click();
  await expect(page.getByRole('tab', { name: 'Findings' })).toHaveAttribute('aria-selected', 'true');
  await expect(heads(page).first()).toHaveAttribute('aria-expanded', 'true');
  await expect(panel(page).getByRole('heading', { name: 'Advice' })).toBeVisible();
  await expect(panel(page).locator('.tries code').first()).toHaveText(/^-/);
});

test('a place is selected and zoomed to, and the finding stays; back leads back', async ({ page }) => {
  await openLog(page, LOG, './#p=findings');
  // Going back to the view of a link works once the address contains it.
  await fragment(page, /[#&]f=/);
  await heads(page).first().click();
  const title = await heads(page).first().textContent();
  await fragment(page, /[#&]io=nursery-too-small/);
  const hash = await fragment(page, /[#&]ip=/);
  const selected = range(hash, 'r');
  expect(range(hash, 'ip')).toEqual(selected);
  const seen = range(hash, 't');
  const length = selected.end - selected.start;
  expect(seen.start).toBeLessThan(selected.start);
  expect(seen.end).toBeGreaterThan(selected.end);
  expect(seen.end - seen.start).toBeLessThan(length * 20);
  await expect(places(page).first()).toHaveAttribute('aria-current', 'true');
  await expect(heads(page).first()).toHaveText(title);
  await expect(panel(page).getByText('Evidence of the open finding is selected')).toBeVisible();

  await page.keyboard.press('[');
  await expect.poll(() => new URL(page.url()).hash).not.toMatch(/[#&]r=/);
  expect(new URL(page.url()).hash).not.toMatch(/[#&]t=/);
  await expect(heads(page).first()).toHaveAttribute('aria-expanded', 'false');
});

test('a place leads to its thread or capability', async ({ page }) => {
  await openLog(page, STRAGGLER, './#p=findings');
  await heads(page).first().click();
  await places(page).first().click();
  await expect(page.locator('.head.current, .head[aria-current="true"]').first()).toBeVisible();
});

test('a link opens the finding at its place', async ({ page }) => {
  await openLog(page, LOG, './#p=findings');
  await heads(page).first().click();
  // The finding opens at its first place.
  const first = await fragment(page, /[#&]ip=/);
  await places(page).nth(1).click();
  await expect.poll(() => new URL(page.url()).hash).not.toBe(first);
  const address = page.url();
  await page.goto('about:blank');
  await openLog(page, LOG, address);
  await expect(heads(page).first()).toHaveAttribute('aria-expanded', 'true');
  await expect(places(page).nth(1)).toHaveAttribute('aria-current', 'true');
  await expect.poll(() => page.url()).toBe(address);
});

test('all of it can be done with the keyboard', async ({ page }) => {
  await openLog(page, LOG);
  await brief(page).getByRole('button').first().focus();
  await page.keyboard.press('Enter');
  const explain = card(page).getByRole('button', { name: 'Advice and caveats' });
  await explain.focus();
  await page.keyboard.press('Enter');
  await expect(heads(page).first()).toBeFocused();
  // Tab past the buttons that copy a flag, to the first place.
  for (let i = 0; i < 12 && !(await places(page).first().evaluate((e) => e === document.activeElement)); i++) {
    await page.keyboard.press('Tab');
  }
  await expect(places(page).first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(places(page).first()).toHaveAttribute('aria-current', 'true');
  await expect(places(page).first()).toBeFocused();
  await fragment(page, /[#&]r=/);
  await heads(page).first().focus();
  await page.keyboard.press('Space');
  await expect(heads(page).first()).toHaveAttribute('aria-expanded', 'false');
});

test('a selected range is looked at by itself, and said to be', async ({ page }) => {
  await openLog(page, LOG, './#p=findings');
  await expect(panel(page).getByRole('heading', { level: 2 })).toHaveText('The whole log');
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.4), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.6), cap(0), { steps: 4 });
  await page.mouse.up();
  await expect(panel(page).getByRole('heading', { level: 2 })).toHaveText(/ – .*\(.*\)/);
  await expect(panel(page).getByText('Only the selected range was checked')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(panel(page).getByRole('heading', { level: 2 })).toHaveText('The whole log');
});

test('nothing found is said with what was looked at', async ({ page }) => {
  await openLog(page, NOTHING);
  await expect(brief(page)).toHaveText(/^No problems found in .*: \d+ rules ran, \d+ could not\.$/);
  await brief(page).getByRole('button').click();
  await expect(panel(page)).toContainText('No problems found');
  // The program mostly sleeps.
  await expect(panel(page).locator('.hint')).toContainText(/^Not explained by any finding: .*All idle, until a timer\. If the program had nothing to do then, nothing is lost\.$/);
  const checked = panel(page).getByRole('button', { name: /^Checked \d+ rules: / });
  await expect(checked).toHaveAttribute('aria-expanded', 'true');
  // Missing data is reported with the flag that logs it.
  await expect(panel(page).locator('.passed')).toContainText('+RTS -hT -l');
  await checked.click();
  await expect(panel(page).locator('.passed dl')).toHaveCount(0);
});

test('a flag is copied, and the command that measures it', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLog(page, LOG, './#p=findings&io=nursery-too-small');
  const flag = await panel(page).locator('.tries code').first().textContent();
  await panel(page).getByRole('button', { name: `Copy ${flag}` }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toBe(flag);
  const measure = panel(page).getByRole('region', { name: 'To measure the proposed flags' });
  await measure.getByRole('button', { name: 'Copy the command' }).click();
  await expect.poll(copied).toBe('eventscope try -- ./KeepTable 20000 500000 +RTS -A256k');
});

test('a mark on the minimap leads to its place, with what it is about lit', async ({ page }) => {
  await openLog(page, STRAGGLER);
  const marks = page.getByRole('list', { name: 'Findings in time order' });
  const mark = marks.getByRole('button').first();
  await expect(mark).toHaveAttribute('aria-label', /^High: Thread 7 held up 14 collections/);
  const { x, cap } = await timeline(page);
  const idle = [{ x: x(0.3), y: cap(0) - 10 }, { x: x(0.7), y: cap(0) + 10 }];
  const stopping = '#b53b85';
  const stoppingPixels = async () => (await colors(page, ...idle))[stopping] ?? 0;
  await expect.poll(stoppingPixels).toBeGreaterThan(0);
  await mark.click();
  await expect(card(page)).toContainText('Thread 7 held up 14 collections');
  await expect(card(page).locator('strong')).toHaveText('Thread 7, Capability 1');
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  // Waits on the other capability are dimmed.
  await expect.poll(stoppingPixels).toBe(0);
  await card(page).getByRole('button', { name: 'Leave the finding: show the whole log' }).click();
  await expect(card(page)).toHaveCount(0);
});
