// The link: it follows the view, and restores it elsewhere.

import { expect, test } from '@playwright/test';
import { drop, fixture, fragment, loaded, openLog, pointAlong, strip, timeline } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('a link opened in a fresh profile restores the view', async ({ page, browser, baseURL }) => {
  await openLog(page, LOG);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.4), cap(0));
  await page.mouse.wheel(0, -300);
  await fragment(page, /[#&]t=/);
  await page.mouse.move(x(0.2), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.7), cap(0), { steps: 4 });
  await page.mouse.up();
  await fragment(page, /[#&]r=/);
  const run = await pointAlong(page, cap(0), /ran for/);
  await page.mouse.click(run.x, cap(0));
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const hash = await fragment(page, /v=1&f=.*t=.*r=.*e=.*p=flame/);

  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await expect(other.getByRole('status').first()).toContainText(/This link shows a view of a log of .* with the range/);
  await drop(other, LOG);
  await expect(other.locator('.chip')).toBeVisible();
  await expect(other.getByRole('tab', { name: 'Flame graph' })).toHaveAttribute('aria-selected', 'true');
  await expect(strip(other)).toContainText('ran for');
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await expect(other.locator('.notice')).toHaveCount(0);
  await context.close();
});

test("the browser's Back and Ctrl+Z lead through the views", async ({ page }) => {
  await openLog(page, LOG);
  const fresh = await fragment(page, /f=/);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.wheel(0, -400);
  const zoomed = await fragment(page, /[#&]t=/);
  await page.getByRole('tab', { name: 'Threads' }).click();
  const threads = await fragment(page, /p=threads/);
  await page.mouse.move(x(0.3), cap(0));
  await page.keyboard.press('b');
  const noted = await fragment(page, /p=notes.*k=/);

  const now = () => new URL(page.url()).hash;
  await page.goBack();
  await expect.poll(now).toBe(threads);
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  await page.goBack();
  await expect.poll(now).toBe(zoomed);
  await page.goBack();
  await expect.poll(now).toBe(fresh);
  await expect(page.getByRole('tab', { name: 'Summary' })).toHaveAttribute('aria-selected', 'true');
  for (const there of [zoomed, threads, noted]) {
    await page.goForward();
    await expect.poll(now).toBe(there);
  }

  await page.locator('.notes button[aria-label^="Delete"]').first().click();
  await expect.poll(now).not.toContain('k=');
  await page.keyboard.press('Control+z');
  await expect.poll(now).toBe(noted);
  await page.keyboard.press('Control+z');
  await expect.poll(now).toBe(threads);
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(now).toBe(noted);
});

test('a link for another log says so', async ({ page }) => {
  await openLog(page, LOG);
  const hash = await fragment(page, /f=/);
  await page.goto('about:blank');
  await page.goto(`./${hash}`);
  await drop(page, fixture('ghc-9.6.6/gc-heavy-N2-la-nonmoving'));
  await expect(page.locator('.notice')).toContainText('The link was made for another log');
});

for (const garbage of ['%', 'v=99&t=x&r=1n-5&e=.&p=%ff&q=%zz', 't=99999999999999999999m1', 'f=&fs=&hide=,,,&k=<script>', '&&&==']) {
  test(`garbage in the address is harmless: ${garbage}`, async ({ page }) => {
    await openLog(page, LOG, `./#${garbage}`);
    await expect(page.locator('.summary tbody tr')).toHaveCount(2);
  });
}

test('the link can be copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLog(page, LOG);
  await page.getByRole('button', { name: 'Share link' }).click();
  await expect(page.getByRole('banner').getByRole('button', { name: 'Copied' })).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/#v=1&f=/);
});

test('the three sample logs open', async ({ page }) => {
  for (const name of ['A web server', 'A parallel sort', 'A profiled program']) {
    await page.goto('./');
    await page.getByRole('button', { name }).click();
    await loaded(page);
    await expect(page.locator('.warnings')).toHaveCount(0);
  }
});
