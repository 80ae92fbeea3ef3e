// The unzipped site works from any folder of any static server: it relies on no path, header or MIME type that
// only some servers provide.

import { expect } from '@playwright/test';
import { fixture, fragment, loaded, openLog, serveFolder, test } from './helpers.js';

const FOLDER = '/some/deep/path/';

let server;
let site;
/** Requests that the server could not answer. */
let missing;

test.beforeEach(async () => {
  server = await serveFolder('dist', FOLDER);
  ({ site, missing } = server);
});

test.afterEach(() => server.close());

test('a log opens in a deep folder of a plain server', async ({ page }) => {
  await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'), `${site}index.html`);
  await page.getByRole('tab', { name: 'Threads' }).click();
  await fragment(page, /p=threads/);
  expect(new URL(page.url()).pathname).toBe(`${FOLDER}index.html`);
  expect(missing).toEqual([]);
});

test('a sample opens there', async ({ page }) => {
  await page.goto(site);
  await page.getByRole('button', { name: 'A parallel sort' }).click();
  await loaded(page);
  expect(missing).toEqual([]);
});

test.describe('with a service worker', () => {
  test.use({ serviceWorkers: 'allow' });

  test('it opens without a network there', async ({ page, context }) => {
    await page.goto(site);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await context.setOffline(true);
    await page.reload();
    await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'), site);
    expect(missing).toEqual([]);
  });
});
