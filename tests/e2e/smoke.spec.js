// Quick check of a built site: it opens and shows logs, restores a view from a link, explains a file that is not a
// log, contacts no other server, and works offline.

import { expect } from '@playwright/test';
import { colors, drop, fragment, loaded, started, test, timeline } from './helpers.js';

const RUNNING = '#259e79';

test('opens, and asks nobody but its own server', async ({ page, baseURL }) => {
  const elsewhere = [];
  const problems = [];
  page.on('request', (request) => {
    const url = request.url();
    // The worker is started from a blob URL of the page's own origin.
    const own = url.startsWith('blob:') ? `blob:${new URL(baseURL).origin}/` : baseURL;
    if (!url.startsWith(own)) elsewhere.push(url);
  });
  page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
  page.on('response', (response) => {
    if (!response.ok()) problems.push(`${response.status()}: ${response.url()}`);
  });
  page.on('console', (message) => {
    const isOurs = !message.text().includes('blocked by Playwright');
    if (isOurs && ['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));

  await page.goto('./');
  await started(page);
  await page.waitForLoadState('networkidle');

  await expect(page).toHaveTitle('Eventscope');
  expect(elsewhere).toEqual([]);
  expect(problems).toEqual([]);
});

test('a sample is read and shown, and a link restores its view', async ({ page, browser }) => {
  await page.goto('./');
  await page.getByRole('button', { name: 'A web server' }).click();
  await loaded(page);
  const { x, cap } = await timeline(page);
  await expect(async () => {
    const lane = await colors(page, { x: x(0), y: cap(0) - 10 }, { x: x(1), y: cap(0) + 10 });
    expect(lane[RUNNING]).toBeGreaterThan(20);
  }).toPass();

  await page.getByRole('tab', { name: 'Summary' }).click();
  await expect(page.locator('.summary tbody tr').first().locator('td.number').first()).toHaveText(/\d/);

  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const flame = page.locator('.flame-canvas canvas').first();
  await expect(flame).toBeVisible();
  const shades = () => flame.evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  await expect.poll(shades).toBeGreaterThan(10);

  await page.mouse.move(x(0.4), cap(0));
  await page.mouse.wheel(0, -300);
  const hash = await fragment(page, /v=1&f=.*t=.*p=flame/);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole('button', { name: 'A web server' }).click();
  await loaded(other);
  await expect(other.getByRole('tab', { name: 'Flame graph' })).toHaveAttribute('aria-selected', 'true');
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await context.close();
});

test('a file that is no log is explained', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await drop(page, 'notes.txt', Buffer.from('This is no log.'));
  await expect(page.getByRole('alert')).toContainText('This is not an eventlog');
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
});

test('names a build, and a worker that is there', async ({ page, request }) => {
  await page.goto('./');
  const meta = (name) => page.locator(`meta[name="${name}"]`).getAttribute('content');
  expect(await meta('eventscope-build')).toMatch(/^[0-9a-f]{16}$/);
  const worker = await request.get(await meta('eventscope-worker'));
  expect(worker.ok()).toBe(true);
  expect(worker.headers()['content-type']).toBe('text/javascript');
});

test('forbids every connection but to its own server', async ({ page, baseURL }) => {
  await page.goto('./');
  const outcome = await page.evaluate(async (url) => {
    const reach = (target) => fetch(target, { mode: 'no-cors' }).then(
      () => 'reached',
      () => 'refused',
    );
    return [await reach(url), await reach(url.replace('localhost', '127.0.0.1'))];
  }, baseURL);
  expect(outcome).toEqual(['reached', 'refused']);
});

test.describe('with a service worker', () => {
  test.use({ serviceWorkers: 'allow' });

  test('opens without a network', async ({ page, context }) => {
    await page.goto('./');
    await page.evaluate(() => navigator.serviceWorker.ready);
    await context.setOffline(true);
    await page.reload();
    await started(page);
    await expect(page).toHaveTitle('Eventscope');
    await page.goto('./www/guide.html#capability');
    await expect(page.getByRole('heading', { name: 'Guide' })).toBeVisible();
    // Its style sheet is available too.
    await expect(page.locator('.words').first()).toHaveCSS('display', 'grid');
    await expect(page.getByRole('button', { name: 'Copy' }).first()).toBeVisible();
  });
});
