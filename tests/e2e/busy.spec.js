// On a page that renders late, keystrokes and drags are neither lost nor misdirected.

import { expect } from '@playwright/test';
import { fixture, openLog, openPalette, test } from './helpers.js';

test.use({ busy: true });

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('Enter does what was typed, not what was found a letter ago', async ({ page }) => {
  await openLog(page, LOG);
  const help = page.getByRole('dialog', { name: 'Keys, gestures, colors' });
  for (let round = 0; round < 3; round += 1) {
    await openPalette(page);
    // A prefix of this text finds another action.
    await page.keyboard.type('legend of marks');
    await page.keyboard.press('Enter');
    await expect(help).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(help).toHaveCount(0);
  }
});

test('a field keeps what is typed while the page changes something else, and takes what the page changes', async ({ page }) => {
  await openLog(page, LOG);
  const filter = page.getByPlaceholder('Filter tracks');
  await filter.fill('gc');
  await page.evaluate(() => { location.hash = '#v=1&p=threads&q=heap'; });
  await expect(filter).toHaveValue('heap');

  const label = page.getByPlaceholder('Label or number');
  await label.focus();
  // Typed text is committed after a pause; the panel is rendered before.
  await label.evaluate((field) => field.addEventListener('input', () => {
    if (field.value === 'ma') location.hash = '#v=1&p=threads&q=cap';
  }));
  await page.keyboard.type('ma');
  await expect(filter).toHaveValue('cap');
  await page.keyboard.type('in');
  await expect(label).toHaveValue('main');
});

test('each press of a key goes one row on', async ({ page }) => {
  await openLog(page, LOG);
  await page.getByRole('tab', { name: 'Events' }).click();
  const grid = page.getByRole('grid', { name: 'Events' });
  await grid.focus();
  await page.keyboard.press('Home');
  for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowDown');
  await expect(grid).toHaveAttribute('aria-activedescendant', /-8$/);
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowUp');
  await expect(grid).toHaveAttribute('aria-activedescendant', /-5$/);
});
