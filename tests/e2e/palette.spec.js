// Palette and keys, by keyboard only.

import { expect } from '@playwright/test';
import { fixture, fragment, openLog, openPalette, started, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

const palette = (page) => page.getByRole('dialog', { name: 'Find an action' });
const field = (page) => page.getByRole('combobox', { name: 'Search' });
const active = (page) => page.locator('#palette-list [aria-selected="true"]');

test('finds an action by some letters and performs it', async ({ page }) => {
  await openLog(page, LOG);
  await openPalette(page);
  await page.keyboard.type('zoom in');
  await expect(active(page)).toContainText('Zoom in');
  await expect(active(page).locator('kbd')).toHaveText('W');
  await expect(field(page)).toHaveAttribute('aria-activedescendant', await active(page).getAttribute('id'));
  await page.keyboard.press('Enter');
  await expect(palette(page)).toHaveCount(0);
  await fragment(page, /[#&]t=/);
});

test('arrow keys walk what was found, and around', async ({ page }) => {
  await openLog(page, LOG);
  await openPalette(page);
  await page.keyboard.type('show panel');
  const count = await page.getByRole('option').count();
  expect(count).toBeGreaterThan(7);
  await expect(active(page)).toContainText('Show panel');
  const first = await active(page).textContent();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('option').last()).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('option').last()).toBeInViewport();
  await page.keyboard.press('ArrowDown');
  await expect(active(page)).toHaveText(first);
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option').nth(1)).toHaveAttribute('aria-selected', 'true');
});

test('opens a panel, also from within a field, and gives the focus back', async ({ page }) => {
  await openLog(page, LOG);
  const filter = page.getByPlaceholder('Filter tracks');
  await filter.focus();
  await openPalette(page);
  await page.keyboard.press('Escape');
  await expect(palette(page)).toHaveCount(0);
  await expect(filter).toBeFocused();
  await openPalette(page);
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toHaveCount(0);
  await openPalette(page);
  await page.keyboard.type('panel spa');
  await expect(active(page)).toContainText('Sparks');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('tab', { name: 'Sparks' })).toHaveAttribute('aria-selected', 'true');
});

test('goes to a thread, and filters the tracks', async ({ page }) => {
  await openLog(page, LOG);
  await openPalette(page);
  await page.keyboard.type('go to thread');
  await expect(active(page)).toContainText(/^Go to thread [0-9]+/);
  const thread = (await active(page).textContent()).match(/^Go to thread ([0-9]+)/);
  await page.keyboard.press('Enter');
  await fragment(page, new RegExp(`[#&]e=[0-9]+\\.thread${thread[1]}(&|$)`));
  await openPalette(page);
  await page.keyboard.type('main');
  await page.getByRole('option', { name: 'Filter the tracks: main' }).click();
  await expect(page.getByPlaceholder('Filter tracks')).toHaveValue('main');
  await openPalette(page);
  await page.keyboard.type('xyzzyxyzzy');
  await expect(page.getByRole('option')).toHaveCount(1);
});

test('before a log is open, only what can be done is offered', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await openPalette(page);
  await expect(page.getByRole('option', { name: 'Open a log' })).toBeVisible();
  await expect(page.getByRole('option', { name: 'Zoom in' })).toHaveCount(0);
  await page.keyboard.type('xyzzy');
  await expect(palette(page)).toContainText('No matches.');
});

test('digits open panels, a backslash hides them', async ({ page }) => {
  await openLog(page, LOG);
  const tabs = page.getByRole('tab');
  const names = await tabs.allTextContents();
  // There are more panels than digits.
  const withDigit = names.filter((name) => !['Findings', 'Heap', 'Ticky', 'Compare'].includes(name));
  for (const [at, name] of withDigit.entries()) {
    await page.keyboard.press(`Digit${at + 1}`);
    await expect(page.getByRole('tab', { name, exact: true })).toHaveAttribute('aria-selected', 'true');
  }
  await page.keyboard.press('\\');
  await expect(tabs).toHaveCount(0);
  await page.keyboard.press('Digit1');
  await expect(tabs).toHaveCount(names.length);
});

test('the help lists every key, and can begin with the marks', async ({ page }) => {
  await openLog(page, LOG);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog');
  for (const section of ['View', 'Selection', 'Items', 'Tracks', 'Notes', 'Panels', 'Log']) {
    await expect(help.getByRole('heading', { name: section, exact: true })).toBeVisible();
  }
  await expect(help.locator('kbd', { hasText: 'Shift+H' })).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(help).toHaveCount(0);
  await openPalette(page);
  await page.keyboard.type('legend of marks');
  await page.keyboard.press('Enter');
  await expect(help.getByRole('heading', { name: 'Legend of marks' })).toBeInViewport();
});

test('goes to a track of a folded, hidden group, and the keyboard is on it', async ({ page }) => {
  await openLog(page, fixture('ghc-9.0.2/sparks-N4-lsf'));
  const track = page.locator('#head-pool2');
  await expect(track).toHaveCount(0);
  await openPalette(page);
  await page.keyboard.type('hide group sparks');
  await page.keyboard.press('Enter');
  await expect(page.locator('#head-sparks')).toHaveCount(0);
  await fragment(page, /[#&]hide=sparks(&|$)/);
  await openPalette(page);
  await page.keyboard.type('go to pool 2');
  await page.keyboard.press('Enter');
  await expect(track).toBeFocused();
  await expect(track).toBeInViewport();
});

test('goes to a capability from within a field, and from the button', async ({ page }) => {
  await openLog(page, LOG);
  await page.getByPlaceholder('Filter tracks').focus();
  await openPalette(page);
  await page.keyboard.type('go to capability 1');
  await page.keyboard.press('Enter');
  await expect(page.locator('#head-cap1')).toBeFocused();
  await page.getByRole('button', { name: 'Commands' }).click();
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('go to capability 0');
  await page.keyboard.press('Enter');
  await expect(page.locator('#head-cap0')).toBeFocused();
});

test('in a narrow window the buttons of the header are in a menu', async ({ page }) => {
  await page.setViewportSize({ width: 480, height: 800 });
  await openLog(page, LOG);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await expect(page.getByRole('button', { name: 'Help' })).toBeHidden();
  await page.getByRole('button', { name: 'Menu' }).click();
  const choices = page.getByRole('group', { name: 'Open, compare, share and more' }).getByRole('button');
  await expect(choices).toHaveCount(8);
  for (const choice of await choices.all()) await expect(choice).toBeInViewport();
  await choices.last().click();
  await expect(page.getByRole('dialog')).toBeVisible();
});
