// The sample logs of the start page open on what they demonstrate.

import { expect } from '@playwright/test';
import { test } from './helpers.js';

for (const [title, kind, bands] of [
  ['A leak', 'by closure type (-hT)', ['ARR_WORDS', 'Page', 'Traffic']],
  ['The leak, by line of source', 'by info table (-hi)', ['count', 'ShopServer.hs:76']],
  ['Who allocated the heap', 'by cost-centre stack (-hc)', ['addArticle', 'quoted']],
]) {
  test(`${title}: what holds the heap is seen at once`, async ({ page }) => {
    await page.goto('./');
    await page.getByRole('button', { name: title }).first().click();
    await expect(page.getByRole('tab', { name: 'Heap', exact: true })).toHaveAttribute('aria-selected', 'true');
    await expect(page.locator('#panel')).toContainText(kind);
    const legend = page.getByRole('list', { name: 'Bands of the chart' });
    for (const band of bands) await expect(legend).toContainText(band);
  });
}

for (const [title, tab, shows] of [
  ['A web server', 'Threads', 'worker-5'],
  ['A parallel sort', 'Sparks', 'Converted'],
  ['A profiled program', 'Flame graph', 'Haskell and foreign'],
]) {
  test(`${title} opens on what it shows`, async ({ page }) => {
    await page.goto('./');
    await page.getByRole('button', { name: title }).click();
    await expect(page.getByRole('tab', { name: tab, exact: true })).toHaveAttribute('aria-selected', 'true');
    await expect(page.locator('#panel')).toContainText(shows);
    await expect(page.locator('.notice')).toHaveCount(0);
  });
}
