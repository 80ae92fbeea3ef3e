// A page that renders late: nothing that is typed, pressed or dragged is lost, or does something else.

import { expect } from '@playwright/test';
import { fixture, openLog, openPalette, test } from './helpers.js';

test.use({ busy: true });

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('Enter does what was typed, not what was found a letter ago', async ({ page }) => {
  await openLog(page, LOG);
  for (const contrast of ['more', 'usual', 'more']) {
    await openPalette(page);
    await page.keyboard.type('change the contrast');
    await page.keyboard.press('Enter');
    const is = expect(page.locator('html'));
    await (contrast === 'more' ? is : is.not).toHaveAttribute('data-contrast', 'more');
  }
});

test('a field keeps every letter, and what the page makes of them', async ({ page }) => {
  await openLog(page, LOG);
  const filter = page.getByPlaceholder('Filter tracks');
  await page.keyboard.press('/');
  await page.keyboard.type('capability');
  await expect(filter).toHaveValue('capability');
  await filter.press('Control+a');
  await page.keyboard.type('gc');
  await expect(filter).toHaveValue('gc');
  await page.evaluate(() => { location.hash = '#v=1&q=heap'; });
  await expect(filter).toHaveValue('heap');

  await page.getByRole('tab', { name: 'Heap' }).click();
  await page.getByRole('tab', { name: 'Notes' }).click();
  await page.getByRole('tab', { name: 'Notes' }).press('b');
  const name = page.locator('.notes-list').getByRole('textbox');
  await expect(name).toBeFocused();
  await page.keyboard.type('a slow request');
  await expect(name).toHaveValue('a slow request');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: /^Delete “a slow request”/ })).toBeVisible();
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
