// No state is lost: going back, the start page, files that are not logs, reopened logs.

import { readFileSync } from 'node:fs';

import { expect } from '@playwright/test';

import { drop, fixture, fragment, loaded, openInstead, openLog, test, timeline } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');
const OTHER = fixture('ghc-9.6.6/gc-heavy-N1-l');

const heading = (page) => page.locator('.bar h1');
const notice = (page) => page.locator('.notice').first();
const hash = (page) => new URL(page.url()).hash;

/** Zooms in and adds a note. Returns the fragment. */
async function changeView(page) {
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.wheel(0, -400);
  await fragment(page, /[#&]t=/);
  await page.keyboard.press('b');
  return fragment(page, /p=notes.*k=/);
}

/** Gives dropped files handles in the origin private file system, as Chrome does with handles of real files. */
async function withHandles(page) {
  await page.addInitScript(() => {
    DataTransferItem.prototype.getAsFileSystemHandle = async function () {
      const file = this.getAsFile();
      const root = await navigator.storage.getDirectory();
      const handle = await root.getFileHandle(file.name, { create: true });
      const writable = await handle.createWritable();
      await writable.write(file);
      await writable.close();
      return handle;
    };
  });
}

/** Counts the files that the page remembers. Runs in the page. */
function storedHandles() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('eventscope', 1);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const counting = opening.result.transaction('recent').objectStore('recent').count();
      opening.result.close();
      counting.onsuccess = () => resolve(counting.result);
      counting.onerror = () => reject(counting.error);
    };
  });
}

test('the first view can be gone back to at once', async ({ page }) => {
  await page.addInitScript(() => {
    // Click as soon as the tab exists.
    new MutationObserver((_, observer) => {
      const tab = [...document.querySelectorAll('[role=tab]')].find((it) => it.textContent === 'Threads');
      if (!tab || document.querySelector('progress') || !document.querySelector('.app[data-elapsed-ms]')) return;
      observer.disconnect();
      tab.click();
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
  await openLog(page, LOG);
  await fragment(page, /p=threads/);
  await page.keyboard.press('[');
  await expect(page.getByRole('tab', { name: 'Summary' })).toHaveAttribute('aria-selected', 'true');
});

test('the first page can be shown while a log is open', async ({ page }) => {
  await openLog(page, LOG);
  const view = await changeView(page);
  await page.getByRole('link', { name: 'Eventscope' }).click();
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await expect(page.getByText('fib-forkio-N2-l.eventlog” is still open')).toBeVisible();
  await page.goBack();
  await expect(heading(page)).toHaveText('fib-forkio-N2-l.eventlog');
  await expect.poll(() => hash(page)).toBe(view);

  await page.getByRole('link', { name: 'Eventscope' }).click();
  await page.getByRole('button', { name: 'Back to the log' }).click();
  await expect(page.locator('.notes tbody tr')).toHaveCount(1);
  await expect.poll(() => hash(page)).toBe(view);
  await expect(page.locator('.timeline canvas')).toBeVisible();
});

test("the browser's Back leads to the first page before it leaves", async ({ page }) => {
  await openLog(page, LOG);
  const first = await fragment(page, /f=/);
  await page.goBack();
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await page.goForward();
  await expect(heading(page)).toHaveText('fib-forkio-N2-l.eventlog');
  expect(hash(page)).toBe(first);
});

test('what is no log leaves the open one', async ({ page }) => {
  await openLog(page, LOG);
  const view = await changeView(page);
  await openInstead(page, 'no.eventlog', Buffer.from('this is no log'));
  await expect(page.getByRole('alert')).toContainText('no.eventlog');
  await expect(heading(page)).toHaveText('fib-forkio-N2-l.eventlog');
  await loaded(page);
  await expect.poll(() => hash(page)).toBe(view);
  await expect(page.locator('.notes tbody tr')).toHaveCount(1);
  // The note is still not saved.
  await drop(page, OTHER);
  await expect(page.locator('.offer')).toContainText('You have not saved 1 note on it');
});

test('notes that are not saved are asked about, and Back leads to the log before', async ({ page }) => {
  await openLog(page, LOG);
  const view = await changeView(page);
  await drop(page, OTHER);
  const offer = page.locator('.offer');
  await expect(offer).toContainText('You have not saved 1 note on it');
  const download = page.waitForEvent('download');
  await offer.getByRole('button', { name: 'Save the notes' }).click();
  const saved = JSON.parse(readFileSync(await (await download).path()));
  expect(saved.notes).toHaveLength(1);
  await expect(offer).not.toContainText('not saved');
  await offer.getByRole('button', { name: 'Open instead' }).click();
  await expect(heading(page)).toHaveText('gc-heavy-N1-l.eventlog');
  await loaded(page);
  await fragment(page, /^(?!.*[#&]k=)/);

  await page.goBack();
  await expect(heading(page)).toHaveText('fib-forkio-N2-l.eventlog');
  await loaded(page);
  await expect.poll(() => hash(page)).toBe(view);
});

test('a log that has changed is read again with one key', async ({ page }) => {
  await withHandles(page);
  const bytes = readFileSync(LOG);
  await page.goto('./');
  await drop(page, LOG, bytes.subarray(0, bytes.length - 3000));
  await loaded(page);
  const view = await changeView(page);
  await page.keyboard.press('Escape');
  const facts = page.locator('.bar .facts');
  const before = await facts.textContent();
  await page.evaluate(async ([name, base64]) => {
    const root = await navigator.storage.getDirectory();
    const writable = await (await root.getFileHandle(name)).createWritable();
    await writable.write(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
    await writable.close();
  }, ['fib-forkio-N2-l.eventlog', bytes.toString('base64')]);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await expect(notice(page)).toContainText('has changed on disk. Press R');
  await page.keyboard.press('r');
  await expect(facts).not.toHaveText(before);
  await loaded(page);
  await expect(page.locator('.notes tbody tr')).toHaveCount(1);
  const settings = (link) => link.replace(/f=[^&]*/, '');
  await expect.poll(() => settings(hash(page))).toBe(settings(view));
  await expect(page.locator('.notice')).toHaveCount(0);
  // The note is still not saved.
  await drop(page, OTHER);
  await expect(page.locator('.offer')).toContainText('You have not saved 1 note on it');
});

test('a file that cannot be read again is said to be so', async ({ page }) => {
  await openLog(page, LOG);
  await page.keyboard.press('r');
  await expect(page.getByRole('alert')).toContainText('drop it again');
  await expect(heading(page)).toHaveText('fib-forkio-N2-l.eventlog');
});

test('logs that were opened before can be opened again, and forgotten', async ({ page }) => {
  await withHandles(page);
  await openLog(page, LOG);
  await openInstead(page, OTHER);
  await loaded(page);
  await expect.poll(() => page.evaluate(storedHandles)).toBe(2);
  await page.goto('about:blank');
  await page.goto('./');
  const kept = page.getByRole('region', { name: 'Opened before' });
  await expect(kept.getByRole('listitem')).toHaveCount(2);
  await expect(kept.getByRole('listitem').first()).toContainText('gc-heavy-N1-l.eventlog');
  await kept.getByRole('button', { name: 'Forget gc-heavy-N1-l.eventlog' }).click();
  await expect(kept.getByRole('listitem')).toHaveCount(1);
  await kept.getByRole('button', { name: 'fib-forkio-N2-l.eventlog', exact: true }).click();
  await expect(heading(page)).toHaveText('fib-forkio-N2-l.eventlog');
  await loaded(page);
  await page.getByRole('link', { name: 'Eventscope' }).click();
  await kept.getByRole('button', { name: 'Forget all' }).click();
  await expect(kept).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await expect(kept).toHaveCount(0);
});
