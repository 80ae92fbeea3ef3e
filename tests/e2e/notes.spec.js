// Notes: adding, naming, listing, navigation, in the link and in a file.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openInstead, openLog, openPalette, reference, test, timeline } from './helpers.js';

const NAME = 'ghc-9.6.6/fib-forkio-N2-l';
const LOG = fixture(NAME);

const rows = (page) => page.locator('.notes-list tbody tr');
const names = async (page) => {
  const inputs = await rows(page).getByRole('textbox').all();
  return Promise.all(inputs.map((input) => input.inputValue()));
};
const done = (page) => page.locator('.notes .done');

/** Selects a range of the log by dragging. */
async function select(page, from, to) {
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(from), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(to), cap(0), { steps: 4 });
  await page.mouse.up();
  await fragment(page, /[#&]r=/);
}

test('B adds a note at the pointer or the range, and asks for its name', async ({ page, browser, baseURL }) => {
  await openLog(page, LOG);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.8), cap(0));
  await page.keyboard.press('b');
  await expect(rows(page).getByRole('textbox')).toBeFocused();
  await page.keyboard.type('late, 100 %');
  await page.keyboard.press('Enter');
  await select(page, 0.2, 0.4);
  await page.keyboard.press('b');
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).first().getByRole('textbox')).toBeFocused();
  await page.keyboard.type('slow b');
  await page.keyboard.press('Enter');
  expect(await names(page)).toEqual(['slow b', 'late, 100 %']);
  const lengths = await rows(page).locator('td:nth-child(2)').allTextContents();
  expect(lengths[0]).toMatch(/s$/);
  expect(lengths[1]).toBe('–');
  const hash = await fragment(page, /[#&]k=[0-9]+[num][0-9]+~slow%20b,[0-9]+~late%2C%20100%20%25/);

  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, LOG);
  await loaded(other);
  await expect(other.getByRole('tab', { name: 'Notes' })).toHaveAttribute('aria-selected', 'true');
  await expect(rows(other)).toHaveCount(2);
  expect(await names(other)).toEqual(['slow b', 'late, 100 %']);
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await context.close();
});

test('going to a range note shows it, > and < step', async ({ page }) => {
  await openLog(page, LOG, './#v=1&p=notes&k=1200u100~first,4m2~second');
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole('button', { name: 'Go to “first”' }).click();
  const near = await fragment(page, /[#&]t=/);
  await page.keyboard.press('>');
  await expect.poll(() => new URL(page.url()).hash).not.toBe(near);
  const far = new URL(page.url()).hash;
  await page.keyboard.press('<');
  await expect.poll(() => new URL(page.url()).hash).toBe(near);
  await openPalette(page);
  await page.keyboard.type('note second');
  await expect(page.getByRole('option').first()).toContainText('Go to note second');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).hash).toBe(far);
});

test('notes of a link outside of the log are said to be left out', async ({ page }) => {
  await openLog(page, LOG, './#v=1&p=notes&k=1200u100~first,3600000000000~late');
  await expect(rows(page)).toHaveCount(1);
  expect(await names(page)).toEqual(['first']);
  await expect(page.locator('.notice').first()).toContainText('Left out 1 note outside of this log.');
});

test("the program's markers become notes", async ({ page }) => {
  await openLog(page, LOG, './#p=notes');
  const markers = reference(NAME, 'events.tsv')
    .filter((row) => row[2] === 'UserMarker')
    .map((row) => row[3].match(/markername = "(.*)"/)[1]);
  expect(markers.length).toBeGreaterThan(1);
  await page.getByRole('button', { name: 'From markers' }).click();
  await expect(rows(page)).toHaveCount(markers.length);
  expect(await names(page)).toEqual(markers);
  await expect(done(page)).toHaveText(`${markers.length} new notes from markers.`);
  await page.getByRole('button', { name: 'From markers' }).click();
  await expect(done(page)).toContainText('already existed');
  await expect(rows(page)).toHaveCount(markers.length);
});

test('a log without markers says so', async ({ page }) => {
  await openLog(page, fixture('ghc-9.10.3/prof-time-N2-pj-l'), './#p=notes');
  await page.getByRole('button', { name: 'From markers' }).click();
  await expect(done(page)).toContainText('No markers in the log');
});

test('notes go into a file and come back, and what was deleted can be undone', async ({ page }) => {
  await openLog(page, LOG, './#p=notes&k=1200000~moment%20%22%C2%B5%22,2m1~range');
  const before = ['moment "µ"', 'range'];
  expect(await names(page)).toEqual(before);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('fib-forkio-N2-l.eventlog.notes.json');
  const bytes = readFileSync(await file.path());
  const saved = JSON.parse(bytes);
  expect(saved.notes).toEqual([
    { start_ns: 1_200_000, name: 'moment "µ"' },
    { start_ns: 2_000_000, end_ns: 3_000_000, name: 'range' },
  ]);

  await page.getByRole('button', { name: 'Delete “range”' }).click();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete all' }).click();
  await expect(page.locator('.notes .empty')).toContainText('A note names');
  await expect(done(page)).toHaveText('Deleted 2 notes.');

  const load = (name, buffer) =>
    page.locator('.notes input[type=file]').setInputFiles({ name, mimeType: 'application/json', buffer });
  await load('mine.json', bytes);
  await expect(done(page)).toHaveText('2 new notes from “mine.json”.');
  expect(await names(page)).toEqual(before);
  await load('mine.json', Buffer.from('{"eventscope_notes":1,"notes":[{"start_ns":5},{"name":"x"}]}'));
  await expect(done(page)).toContainText('Note 2 has no start time');
  await load('other.json', Buffer.from('no JSON'));
  await expect(done(page)).toContainText('“other.json”: This is not a notes file');
  await expect(rows(page)).toHaveCount(3);
});

test('another log has its own notes', async ({ page }) => {
  await openLog(page, LOG, './#p=notes&k=1200000~mine');
  await expect(rows(page)).toHaveCount(1);
  await openInstead(page, fixture('ghc-9.6.6/gc-heavy-N1-l'));
  await expect(page.getByRole('heading', { name: 'gc-heavy-N1-l.eventlog' })).toBeVisible();
  await loaded(page);
  await expect(page.locator('.notes .empty')).toBeVisible();
  await fragment(page, /^(?!.*[#&]k=)/);
});
