// Following a log while its file grows. The file is in the origin private file system; the drop provides its real
// handle, and the test writes to it.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { expect } from '@playwright/test';

import { drop, fixture, fragment, loaded, openLog, test, timeline, violations } from './helpers.js';

const LOG = fixture('ghc-9.6.6/dense-N2-l-flush');
const SMALL = fixture('ghc-9.6.6/fib-forkio-N2-l');
const BYTES = readFileSync(LOG);

/** Ends of blocks: one of capability 0, and then one of capability 1, of the same time. */
const CAP_0_BYTES = 149_379;
const CAP_1_BYTES = 282_511;

const facts = (page) => page.locator('.bar .facts');
const bar = (page) => page.locator('.following');
const button = (page, name) => bar(page).getByRole('button', { name });
const notice = (page) => page.locator('.notice');

/** Replaces the content of a file in the origin private file system. */
async function write(page, file, bytes) {
  await page.evaluate(async ([name, base64]) => {
    const root = await navigator.storage.getDirectory();
    const writable = await (await root.getFileHandle(name, { create: true })).createWritable();
    await writable.write(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
    await writable.close();
  }, [basename(file), Buffer.from(bytes).toString('base64')]);
}

/** Opens the beginning of a log with its handle, and follows it. */
async function follow(page, file, bytes, address = './') {
  await page.addInitScript(() => {
    globalThis.looks = 0;
    const { getFile } = FileSystemFileHandle.prototype;
    FileSystemFileHandle.prototype.getFile = function () {
      globalThis.looks += 1;
      return getFile.call(this);
    };
    DataTransferItem.prototype.getAsFileSystemHandle = async function () {
      const root = await navigator.storage.getDirectory();
      return root.getFileHandle(this.getAsFile().name);
    };
  });
  await page.goto(address);
  await write(page, file, bytes);
  await drop(page, file, bytes);
  await loaded(page);
  await expect(facts(page)).toContainText('read in');
  await page.keyboard.press('g');
  await expect(bar(page)).toContainText('Following');
  // The log is read once more for that, so that the page knows the state of the file that it shows.
  await expect(facts(page)).not.toContainText('read in');
}

/** Returns how often the page has checked the size of the file. */
const looks = (page) => page.evaluate(() => globalThis.looks);

/** Formats a size below 100 KiB as the page does. */
const size = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;

/** Opens a panel and returns its body. */
async function showPanel(page, panel) {
  await page.getByRole('tab', { name: panel, exact: true }).click();
  const body = page.locator('.panel-body');
  await expect(body.locator('> *').first()).toBeVisible();
  await expect(body.locator('.takes-long')).toHaveCount(0);
  return body;
}

test('a log that grows shows at last what the finished one shows', async ({ page, browser, baseURL }) => {
  await follow(page, LOG, BYTES.subarray(0, 60_000));
  // Cut at ends of blocks, and within blocks, markers and events.
  for (const part of [0.3, 0.31, 0.5, 0.7, 0.999]) {
    const before = await facts(page).textContent();
    await write(page, LOG, BYTES.subarray(0, Math.floor(BYTES.length * part)));
    await expect(facts(page)).not.toHaveText(before);
    // The open end is not reported as a warning.
    await expect(page.locator('.warnings')).toHaveCount(0);
  }
  await write(page, LOG, BYTES);
  await expect(notice(page)).toContainText('The program has ended');
  await expect(bar(page)).toHaveCount(0);

  const finished = await (await browser.newContext({ baseURL })).newPage();
  await openLog(finished, LOG);
  await expect(facts(finished)).toContainText('events');
  const said = (await facts(finished).textContent()).replace(/ · read in .*/, '');
  await expect(facts(page)).toHaveText(said);
  for (const panel of ['Summary', 'Threads', 'Collections', 'Events', 'Findings']) {
    const [followed, whole] = [await showPanel(page, panel), await showPanel(finished, panel)];
    await expect(async () => {
      const text = await whole.innerText();
      expect(text, panel).toMatch(/\d/);
      expect(await followed.innerText(), panel).toBe(text);
    }).toPass();
  }
  // A link contains the fingerprint of the final log.
  const print = (link) => new URL(link.url()).hash.match(/f=[^&]*/)?.[0];
  await expect.poll(() => print(page)).toBe(print(finished));
});

test('every event is listed as it comes', async ({ page }) => {
  await follow(page, LOG, BYTES.subarray(0, 100_000));
  await page.getByRole('tab', { name: 'Events' }).click();
  const grid = page.getByRole('grid', { name: 'Events' });
  // Rows are "…" until the worker has answered.
  await expect(grid.getByRole('row').nth(3)).not.toHaveText('…');
  const count = async () => Number(await grid.getAttribute('aria-rowcount'));
  const before = await count();
  const first = await grid.getByRole('row').nth(3).innerText();
  await write(page, LOG, BYTES.subarray(0, 200_000));
  await expect.poll(count).toBeGreaterThan(before);
  await expect.poll(() => grid.getByRole('row').nth(3).innerText()).toBe(first);
});

test('the current event stays current while others come before it, until another run has none like it', async ({ page }) => {
  await follow(page, LOG, BYTES.subarray(0, CAP_0_BYTES));
  await page.getByRole('tab', { name: 'Events' }).click();
  const grid = page.getByRole('grid', { name: 'Events' });
  const current = page.locator('.event-rows .current');
  const fields = page.locator('.event-fields');
  await expect(grid.getByRole('row').nth(3)).not.toHaveText('…');
  await grid.focus();
  await page.keyboard.press('End');
  await expect(current.getByRole('gridcell').nth(4)).toHaveText(/\w/);
  await expect(fields).toContainText('byte');
  /** Returns time, capability and type of the current event. */
  const event = async () => {
    const cells = await current.getByRole('gridcell').allTextContents();
    return [0, 2, 4].map((column) => cells[column]);
  };
  const [before, said, row] = [await event(), await fields.textContent(), await grid.getAttribute('aria-activedescendant')];
  await write(page, LOG, BYTES.subarray(0, CAP_1_BYTES));
  await expect(grid).not.toHaveAttribute('aria-activedescendant', row);
  await expect(fields).toHaveText(said);
  // The keyboard goes on from there.
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await expect.poll(event).toEqual(before);
  await expect(fields).toHaveText(said);

  const small = readFileSync(SMALL);
  await write(page, LOG, small.subarray(0, small.length - 3000));
  await expect(notice(page)).toContainText('overwritten by a new run');
  await expect(fields).toContainText('Select an event');
  await expect(current).toHaveCount(0);
});

test('the current thread stays current while others come before it', async ({ page }) => {
  await follow(page, LOG, BYTES.subarray(0, CAP_0_BYTES));
  await page.getByRole('tab', { name: 'Threads' }).click();
  const row = (number) => page.locator(`#thread-rows-row-${number}`);
  const thread = (number) => row(number).getByRole('gridcell').first();
  await page.getByLabel('Sorted by').selectOption({ label: 'Number' });
  await expect(thread(0)).toHaveText('1');
  await page.getByRole('grid', { name: 'Threads' }).focus();
  for (let number = 0; number <= 11; number += 1) await page.keyboard.press('ArrowDown');
  await expect(row(11)).toHaveClass(/current/);
  const number = await thread(11).textContent();
  const waits = page.getByRole('region', { name: new RegExp(`^Why Thread ${number}\\b`) });
  await expect(waits).toBeVisible();
  await write(page, LOG, BYTES.subarray(0, CAP_1_BYTES));
  await expect(thread(11)).not.toHaveText(number);
  await expect(row(11)).not.toHaveClass(/current/);
  await expect(waits).toBeVisible();
});

test('the view stays where the reader looks, and sticks to the end if that is wanted', async ({ page }) => {
  await follow(page, LOG, BYTES.subarray(0, 100_000));
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.3), cap(0));
  await page.mouse.wheel(0, -400);
  const at = async () => {
    // The link contains the visible range.
    const dialog = page.locator('dialog.share');
    // A key pressed while the dialog of the time before still closes is for that dialog.
    await expect(async () => {
      await page.keyboard.press('l');
      await expect(dialog).toBeVisible({ timeout: 1000 });
    }).toPass();
    const [place] = (await fragment(page, /[#&]t=/)).match(/t=[^&]*/);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    return place;
  };
  /** Returns the visible range once it no longer moves. */
  const settled = async () => {
    let last;
    await expect.poll(async () => {
      const before = last;
      last = await at();
      return last === before;
    }).toBe(true);
    return last;
  };
  const looked = await settled();
  let before = await facts(page).textContent();
  await write(page, LOG, BYTES.subarray(0, 110_000));
  await expect(facts(page)).not.toHaveText(before);
  expect(await at()).toBe(looked);

  await button(page, 'Stick to the end').click();
  await expect(button(page, 'Stick to the end')).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(at).not.toBe(looked);
  const end = await settled();
  before = await facts(page).textContent();
  await write(page, LOG, BYTES.subarray(0, 200_000));
  await expect(facts(page)).not.toHaveText(before);
  await expect.poll(at).not.toBe(end);

  // Panning away stops following the end.
  const stuck = await settled();
  await expect(async () => {
    for (let times = 0; times < 5; times += 1) await page.keyboard.press('a');
    expect(await at()).not.toBe(stuck);
  }).toPass();
  const start = await settled();
  before = await facts(page).textContent();
  await write(page, LOG, BYTES.subarray(0, 313_000));
  await expect(facts(page)).not.toHaveText(before);
  expect(await at()).toBe(start);
  await expect(button(page, 'Stick to the end')).toHaveAttribute('aria-pressed', 'false');
});

test('following is paused, gone on with and stopped', async ({ page }) => {
  await page.clock.install();
  await follow(page, LOG, BYTES.subarray(0, 100_000));
  await expect(facts(page)).not.toContainText('read in');
  await expect.poll(() => looks(page)).toBeGreaterThan(0);
  await button(page, 'Pause').click();
  await expect(bar(page)).toContainText('Paused');
  // A look that had begun may still be counted.
  let looked;
  await expect.poll(async () => {
    const before = looked;
    looked = await looks(page);
    return before === looked;
  }).toBe(true);
  const before = await facts(page).textContent();
  await write(page, LOG, BYTES.subarray(0, 150_000));
  await page.clock.runFor(10_000);
  await expect(facts(page)).toHaveText(before);
  expect(await looks(page)).toBe(looked);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('g');
  await expect(bar(page)).toContainText('Following');
  await expect(facts(page)).not.toHaveText(before);
  await button(page, 'Stop').click();
  await expect(bar(page)).toHaveCount(0);
  await expect(page.locator('.warnings')).toContainText('Part of this log is missing');
  await expect(page.getByRole('button', { name: 'Follow', exact: true })).toBeVisible();
});

test('a program that runs again is followed from its start', async ({ page }) => {
  await follow(page, LOG, BYTES.subarray(0, 200_000));
  const small = readFileSync(SMALL);
  // The new log has just begun: the old one stays until there is something to show.
  await write(page, LOG, small.subarray(0, 500));
  const looked = await looks(page);
  // The page checks again after its attempt to read the file.
  await expect.poll(() => looks(page)).toBeGreaterThan(looked + 1);
  await expect(facts(page)).toContainText('195 KiB');
  await write(page, LOG, small.subarray(0, small.length - 3000));
  await expect(notice(page)).toContainText('overwritten by a new run');
  await expect(facts(page)).toContainText('11.4 KiB');
  await write(page, LOG, small);
  await expect(notice(page)).toContainText('The program has ended');
  await expect(facts(page)).toContainText('14.3 KiB');
});

test('the chosen bands of the heap track stay when the program runs again', async ({ page }) => {
  const [first, next] = ['heap-N2-hT-l-au', 'prof-heap-N1-hb-l-au'].map((name) => {
    const bytes = readFileSync(fixture(`ghc-9.6.6/${name}`));
    return bytes.subarray(0, bytes.length - 100);
  });
  await follow(page, LOG, first, './#v=1&p=view&q=Heap%20by%20band&hn=1');
  const rows = page.locator('.in-view .grid-window [role=row]');
  await expect(rows).toHaveCount(2);
  await write(page, LOG, next);
  await expect(notice(page)).toContainText('overwritten by a new run');
  await expect(rows.filter({ hasText: /VOID|LAG|USE|DRAG/i })).toHaveCount(1);
  await expect(rows.filter({ hasText: 'all others' })).toHaveCount(1);
});

test('a log that breaks off anywhere is followed', async ({ page }) => {
  const small = readFileSync(SMALL);
  await follow(page, SMALL, small.subarray(0, 6_000));
  for (let len = 6_100; len < small.length; len += 743) {
    await write(page, SMALL, small.subarray(0, len));
    await expect(facts(page)).toContainText(size(len));
  }
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('what cannot be followed is said to be so', async ({ page }) => {
  await openLog(page, SMALL);
  await expect(page.getByRole('button', { name: 'Follow', exact: true })).toHaveCount(0);
  await page.keyboard.press('g');
  await expect(notice(page)).toContainText('This log is complete');
});
