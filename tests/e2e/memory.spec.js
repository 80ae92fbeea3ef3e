// A log beyond the memory budget: data is spilled to the origin private file system, and nothing remains there.

import { rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from '@playwright/test';
import { drop, fixture, largeLog, loaded, openInstead, test } from './helpers.js';

/** Returns the names of the spill files. */
const putAway = (page) => page.evaluate(async () => {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle('eventscope', { create: true });
  return Array.fromAsync(folder.keys());
});

/** Opens a log and returns the texts of its panels. */
async function read(page, address, path) {
  await page.goto('about:blank');
  await page.goto(address);
  await page.setInputFiles('input[type=file]', path);
  await page.locator('.app[data-elapsed-ms]').waitFor();
  await loaded(page);
  await expect(page.locator('.numbers-head h2')).toHaveText('The whole log');
  const said = {};
  for (const [tab, part] of [['Summary', '.summary'], ['Threads', '.panel-body'], ['Events', '.panel-body']]) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    const panel = page.locator(part).first();
    await expect(panel.locator('tr, [role=row]').nth(1)).toBeVisible();
    await expect(panel).not.toContainText('Counting');
    // Placeholder of rows that have not arrived yet.
    await expect(panel.getByText('…', { exact: true })).toHaveCount(0);
    said[tab] = await panel.innerText();
  }
  await page.getByRole('tab', { name: 'Process', exact: true }).click();
  said.memory = await page.locator('.process dt:text-is("Memory") + dd').innerText();
  return said;
}

test('a log says the same whatever memory it may take, and leaves nothing', async ({ page }, testInfo) => {
  const path = largeLog(testInfo, 'large.eventlog');
  const { memory, ...much } = await read(page, './', path);
  expect(memory).toMatch(/^[\d.]+\sMiB(?!, and)/);
  const { memory: littleMemory, ...little } = await read(page, './?memory=1', path);
  expect(littleMemory).toMatch(/^[\d.]+\sMiB, and [\d.]+\s[KM]iB on the disk/);
  expect(little).toEqual(much);
  const former = await putAway(page);
  expect(former).toHaveLength(1);
  // Opening another log removes the spill file of the previous one.
  await openInstead(page, fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await expect.poll(() => putAway(page)).not.toContain(former[0]);
  rmSync(path);
});

test('a compressed log is inflated to the disk', async ({ page }, testInfo) => {
  const plain = largeLog(testInfo, 'large.eventlog');
  const packed = largeLog(testInfo, 'packed.eventlog.gz', gzipSync);
  const { memory, ...much } = await read(page, './', plain);
  const { memory: littleMemory, ...little } = await read(page, './?memory=1', packed);
  expect(memory).not.toContain('on the disk');
  const disk = Number(/and ([\d.]+)\sMiB on the disk/.exec(littleMemory)[1]);
  expect(disk).toBeGreaterThan(36);
  expect(little).toEqual(much);
  rmSync(plain);
  rmSync(packed);
});

test('others read what was inflated', async ({ page }, testInfo) => {
  const plain = largeLog(testInfo, 'large.eventlog');
  // Large enough that several workers read it.
  const packed = largeLog(testInfo, 'packed.eventlog.gz', (bytes) => gzipSync(bytes, { level: 0 }));
  const { memory, ...alone } = await read(page, './?workers=1', plain);
  let most = 0;
  page.on('worker', () => { most = Math.max(most, page.workers().length); });
  const { memory: itsMemory, ...together } = await read(page, './?memory=1&workers=3', packed);
  expect(most).toBe(3);
  expect(together).toEqual(alone);
  expect(await putAway(page)).toHaveLength(2);
  rmSync(plain);
  rmSync(packed);
});

test('what another tab left behind is removed, what one uses is not', async ({ page, context }, testInfo) => {
  const path = largeLog(testInfo, 'large.eventlog');
  await read(page, './?memory=1', path);
  const [used] = await putAway(page);
  const other = await context.newPage();
  await other.goto('./');
  await other.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle('eventscope');
    await folder.getFileHandle('left', { create: true });
  });
  expect((await putAway(other)).sort()).toEqual(['left', used].sort());
  await drop(other, fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await expect.poll(() => putAway(other)).toEqual([used]);
  rmSync(path);
});

test('without such a file system all stays in memory, and that is said', async ({ page }, testInfo) => {
  const path = largeLog(testInfo, 'large.eventlog');
  await page.route('**/worker.js', async (route) => {
    const response = await route.fetch();
    const without = "Object.defineProperty(WorkerNavigator.prototype, 'storage', { value: undefined });\n";
    await route.fulfill({ response, body: without + (await response.text()) });
  });
  const { memory } = await read(page, './?memory=1', path);
  expect(memory).toMatch(/^[\d.]+\sMiB(?!, and)/);
  await expect(page.locator('.warnings')).toContainText(/of the log are in memory, more than the limit of 128\sKiB/);
  rmSync(path);
});

test.describe('with the service worker', () => {
  test.use({ serviceWorkers: 'allow' });

  test('what a tab has put away is removed after it was closed', async ({ page, context }, testInfo) => {
    const path = largeLog(testInfo, 'large.eventlog');
    await page.goto('./');
    await page.evaluate(() => navigator.serviceWorker.ready);
    await read(page, './?memory=1', path);
    await page.evaluate(() => navigator.serviceWorker.ready);
    const other = await context.newPage();
    await other.goto('./');
    expect(await putAway(other)).toHaveLength(1);
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => putAway(other)).toEqual([]);
    rmSync(path);
  });
});
