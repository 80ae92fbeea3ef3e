// The page opens, keeps to itself, and opens again without a network.

import { expect, test } from '@playwright/test';
import { started } from './helpers.js';

test('opens, and asks nobody but its own server', async ({ page, baseURL }) => {
  const elsewhere = [];
  const problems = [];
  page.on('request', (request) => {
    const url = request.url();
    // The worker is started from a blob of the page's own.
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
    // Its styles came too.
    await expect(page.locator('.words').first()).toHaveCSS('display', 'grid');
    await expect(page.getByRole('button', { name: 'Copy' }).first()).toBeVisible();
  });
});
