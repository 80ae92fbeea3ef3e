// The help explains the marks with pictures that follow the theme; high contrast can be enabled independently of
// the system.

import { expect } from '@playwright/test';
import { fixture, openLog, openPalette, started, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

async function choose(page, action) {
  await openPalette(page);
  await page.keyboard.type(action);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Find an action' })).toHaveCount(0);
}

/** Returns the number of colors in each sample of the legend. */
const samples = (page) => page.locator('.mark-legend canvas').evaluateAll((canvases) =>
  canvases.map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }));

async function picture(page) {
  const canvas = page.locator('.mark-legend canvas').first();
  await expect(canvas).toBeVisible();
  return canvas.evaluate((it) => it.toDataURL());
}

for (const width of [1280, 480]) {
  test(`the legend has a picture and a sentence for every mark, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await openLog(page, LOG);
    await choose(page, 'legend of marks');
    const help = page.getByRole('dialog');
    await expect(help.getByRole('heading', { name: 'Capabilities', exact: true })).toBeInViewport();
    await expect(help.getByText('Parallel collection requested')).toBeVisible();
    await expect(help.locator('footer')).toContainText(/^Eventscope [0-9.]+ · license /);
    const colors = await samples(page);
    expect(colors.length).toBeGreaterThan(60);
    expect(Math.min(...colors)).toBeGreaterThan(1);
    // Nothing is cut off horizontally.
    const [inner, all] = await help.evaluate((dialog) => [dialog.clientWidth, dialog.scrollWidth]);
    expect(all).toBeLessThanOrEqual(inner);
  });
}

test('the contrast is a choice of its own, is kept, and repaints', async ({ page }) => {
  await openLog(page, LOG);
  const root = page.locator('html');
  const ink = () => page.evaluate(() => getComputedStyle(document.body).color);
  const usual = await ink();
  await choose(page, 'legend of marks');
  const before = await picture(page);
  await page.keyboard.press('Escape');
  await choose(page, 'change the contrast');
  await expect(root).toHaveAttribute('data-contrast', 'more');
  expect(await ink()).toBe('rgb(0, 0, 0)');
  await choose(page, 'legend of marks');
  expect(await picture(page)).not.toBe(before);
  await page.keyboard.press('Escape');
  // The page is notified of the close event later, and then removes the element.
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.keyboard.press('t');
  await expect(root).toHaveAttribute('data-theme', 'dark');
  expect(await ink()).toBe('rgb(255, 255, 255)');
  await page.reload();
  await started(page);
  await expect(root).toHaveAttribute('data-contrast', 'more');
  expect(await ink()).toBe('rgb(255, 255, 255)');
  await page.keyboard.press('t');
  await choose(page, 'change the contrast');
  await expect(root).not.toHaveAttribute('data-contrast');
  expect(usual).not.toBe('rgb(0, 0, 0)');
});
