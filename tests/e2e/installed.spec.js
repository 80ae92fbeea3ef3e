// Installed page: logs opened or shared by the system, and updates to newer builds without mixing files.

import { readFileSync } from 'node:fs';
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openInstead, openLog, serveFolder, started, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('a log that the system opens with it is shown', async ({ page }) => {
  const bytes = readFileSync(LOG).toString('base64');
  // The API of browsers that open files with an installed page.
  await page.addInitScript((base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const file = { getFile: async () => new File([bytes], 'clicked.eventlog') };
    const launchQueue = { setConsumer: (consumer) => consumer({ files: [file] }) };
    Object.defineProperty(globalThis, 'launchQueue', { value: launchQueue });
  }, bytes);
  await page.goto('./');
  await loaded(page);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('clicked.eventlog');
});

test('the manifest names what it opens, inside of its own folder', async ({ page, request, baseURL }) => {
  await page.goto('./');
  const address = new URL(await page.locator('link[rel=manifest]').getAttribute('href'), baseURL);
  const manifest = await (await request.get(address.href)).json();
  const there = (path) => new URL(path, address).href;
  expect(there(manifest.scope)).toBe(baseURL);
  expect(there(manifest.file_handlers[0].action)).toBe(baseURL);
  expect(Object.values(manifest.file_handlers[0].accept).flat()).toEqual(expect.arrayContaining(['.eventlog', '.hp']));
  expect(there(manifest.share_target.action)).toBe(`${baseURL}share`);
});

test.describe('with a service worker', () => {
  test.use({ serviceWorkers: 'allow' });

  /** Waits until a service worker controls the page. */
  async function installed(page, address) {
    await page.goto(address);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.reload();
    await expect.poll(() => page.evaluate(() => !!navigator.serviceWorker.controller)).toBe(true);
  }

  test('a log that is shared with it is shown once, and never sent', async ({ page }) => {
    const { site, missing, close } = await serveFolder('dist');
    await installed(page, site);
    // The request that a browser sends for the share sheet.
    await page.goto('about:blank');
    await page.setContent(`<form method="post" enctype="multipart/form-data" action="${site}share"><input type="file" name="logs"><button>Share</button></form>`);
    const shared = { name: 'shared.eventlog', mimeType: 'application/octet-stream', buffer: readFileSync(LOG) };
    await page.setInputFiles('input', shared);
    await page.getByRole('button', { name: 'Share' }).click();
    await loaded(page);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('shared.eventlog');
    expect(new URL(page.url()).search).toBe('');

    await page.goto(`${site}?shared`);
    await started(page);
    await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
    expect(missing).toEqual([]);
    close();
  });

  test('a newer build is told of, the old one stays whole, and a reload shows the new one', async ({ page }, testInfo) => {
    const folder = testInfo.outputPath('site');
    await cp('dist', folder, { recursive: true });
    const { site, missing, close } = await serveFolder(folder);
    const build = () => page.locator('meta[name=eventscope-build]').getAttribute('content');
    try {
      await installed(page, site);
      await openLog(page, LOG, site);
      await page.getByRole('tab', { name: 'Threads' }).click();
      const hash = await fragment(page, /p=threads/);
      const newer = await deployNewer(folder, await build());

      await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update());
      await expect(page.getByRole('status').filter({ hasText: 'A newer version is ready' })).toBeVisible();
      // The programs are those of the old build, even if they are fetched only now.
      await openInstead(page, fixture('ghc-9.6.6/gc-heavy-N2-la-nonmoving'));
      await loaded(page);
      await openInstead(page, LOG);
      await loaded(page);
      expect(await build()).not.toBe(newer);

      await page.getByRole('button', { name: 'Reload', exact: true }).click();
      await expect.poll(build).toBe(newer);
      await drop(page, LOG);
      await loaded(page);
      expect(new URL(page.url()).hash).toBe(hash);
      await expect(page.getByText('A newer version is ready')).toBeHidden();
      expect(missing).toEqual([]);
    } finally {
      close();
      await rm(folder, { recursive: true });
    }
  });
});

/** Replaces the build in a folder by another one with other file names; returns its id. */
async function deployNewer(folder, id) {
  const newer = [...id].reverse().join('');
  for (const name of ['index.html', 'sw.js']) {
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(join(folder, name), text.replaceAll(id, newer));
  }
  for (const program of ['page', 'worker', 'fleet']) {
    await rename(join(folder, `${program}-${id}`), join(folder, `${program}-${newer}`));
  }
  return newer;
}
