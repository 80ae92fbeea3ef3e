// Selected tracks, with and without a range: all panels are restricted to them.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openInstead, openLog, reference, showAllColumns, test, timeline } from './helpers.js';

const STOPS = 'ghc-9.0.2/stops-N4-la';
const PROFILED = 'ghc-9.10.3/prof-time-N2-pj-l';

const events = reference(STOPS, 'events.tsv').filter((row) => row.length > 3);
const counted = JSON.parse(
  readFileSync(new URL(`../fixtures/reference/${STOPS}.agg.json`, import.meta.url)),
).threads;

const chip = (page) => page.locator('.chip');
const status = (page) => page.locator('.panel-body .controls .for');
const caps = (page) => page.locator('.summary tbody th');
const tab = (page, name) => page.getByRole('tab', { name, exact: true }).click();
const count = (number) => number.toLocaleString('en');

/** Toggles the selection of a track with the X key. */
async function mark(page, name) {
  const head = page.locator(`#head-${name}`);
  await head.focus();
  const before = await head.getAttribute('aria-selected');
  await page.keyboard.press('x');
  await expect(head).toHaveAttribute('aria-selected', String(before !== 'true'));
}

/** Filters the tracks by name. */
async function find(page, text) {
  await page.locator('header input[type=search]').fill(text);
}

/** Selects a range of the timeline by dragging. */
async function select(page, from, to) {
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(from), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(to), cap(0), { steps: 6 });
  await page.mouse.up();
}

/** Returns the selected range in the address, in nanoseconds. */
async function range(page) {
  const [, start, unit, length] = (await fragment(page, /[#&]r=/)).match(/r=(\d+)([nums])(\d+)/);
  const unitNs = { n: 1, u: 1e3, m: 1e6, s: 1e9 }[unit];
  return [start * unitNs, (Number(start) + Number(length)) * unitNs];
}

test('the summary shows the selected capabilities, and says what is of the whole program', async ({ page }) => {
  await openLog(page, fixture(STOPS));
  const caption = page.locator('.summary caption');
  const sum = page.locator('.summary tfoot th');
  await expect(caps(page)).toHaveText(['Capability 0', 'Capability 1', 'Capability 2', 'Capability 3']);
  await expect(sum).toHaveText('All');
  const allocated = await page.locator('.fact', { hasText: 'Allocated' }).first().textContent();

  await mark(page, 'cap1');
  await expect(chip(page)).toContainText(/^1 track/);
  await expect(caps(page)).toHaveText(['Capability 1']);
  await expect(caption).toHaveText('Time of the selected capability in the whole log');
  await expect(sum).toHaveCount(0);
  await expect(page.locator('.numbers-head')).toContainText('Of the whole program; the table of capabilities only of the selected tracks (1 track)');
  await expect(page.locator('.fact', { hasText: 'Allocated' }).first()).toHaveText(allocated);

  await mark(page, 'cap3');
  await select(page, 0.3, 0.6);
  await expect(chip(page)).toContainText(/^[\d.]+\s\S+ – .*, 2 tracks/);
  await expect(caps(page)).toHaveText(['Capability 1', 'Capability 3']);
  await expect(caption).toContainText(/^Time of each selected capability in [\d.]+/);
  await expect(sum).toHaveText('These 2 of 4');

  // Escape clears the range, then the tracks.
  await page.keyboard.press('Escape');
  await expect(chip(page)).toContainText(/^2 tracks/);
  await expect(caps(page)).toHaveCount(2);
  await page.keyboard.press('Escape');
  await expect(chip(page)).toHaveCount(0);
  await expect(caps(page)).toHaveCount(4);
  await expect(page.locator('#head-cap1')).toHaveAttribute('aria-selected', 'false');
});

test('one button drops the range and the tracks', async ({ page }) => {
  await openLog(page, fixture(STOPS));
  await mark(page, 'cap0');
  await select(page, 0.3, 0.6);
  await fragment(page, /[#&]r=.*sel=cap0/);
  await page.getByRole('button', { name: /Clear the selected range and tracks/ }).click();
  await expect(chip(page)).toHaveCount(0);
  await expect(caps(page)).toHaveCount(4);
  await expect.poll(() => page.url()).not.toMatch(/sel=|[#&]r=/);
});

test('the table of threads has the selected threads, with a range too', async ({ page }) => {
  await openLog(page, fixture(STOPS));
  await tab(page, 'Threads');
  const all = Object.keys(counted).length;
  const numbers = page.locator('.thread-rows .grid-window [role=row] > :first-child');
  await expect(status(page)).toHaveText(`${all} threads in the whole log`);

  await mark(page, 'cap0');
  await expect(status(page)).toHaveText(`${all} threads in the whole log: all threads (no thread track selected)`);

  await find(page, 'bh-2');
  await mark(page, 'thread12');
  await find(page, 'yield-1');
  await mark(page, 'thread22');
  await expect(status(page)).toHaveText('2 threads in the whole log, 3 tracks');
  await expect(numbers).toHaveText(['22', '12']);
  await showAllColumns(page);
  const runs = page.locator('.thread-rows .grid-sums').getByRole('gridcell').nth(13);
  await expect(runs).toHaveText(count(counted[12].slices + counted[22].slices));

  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save CSV' }).click();
  const csv = readFileSync(await (await downloading).path(), 'utf8').trimEnd().split('\r\n');
  expect(csv.slice(1).map((line) => line.split(',')[0])).toEqual(['22', '12']);

  await find(page, '');
  await select(page, 0.2, 0.8);
  await expect(status(page)).toHaveText(/^\d threads? in the selected range, .*, 3 tracks$/);
  await expect(async () => {
    const [from, to] = await range(page);
    const ours = ([time, , name, fields]) =>
      from < time && time < to && name === 'RunThread' && /thread = (12|22)\b/.test(fields);
    await expect(runs).toHaveText(count(events.filter(ours).length), { timeout: 500 });
  }).toPass();
});

test('the list of events has those of the selected tracks, and a link restores it', async ({ page, browser, baseURL }) => {
  await openLog(page, fixture(STOPS));
  await tab(page, 'Events');
  await mark(page, 'cap2');
  const of = (wanted) => `${count(events.filter(wanted).length)} of ${count(events.length)} events`;
  await expect(status(page)).toHaveText(`${of(([, cap]) => cap === '2')}, 1 track`);

  await select(page, 0.3, 0.6);
  await expect(async () => {
    const [from, to] = await range(page);
    const ours = ([time, cap]) => cap === '2' && from <= time && time < to;
    await expect(status(page)).toHaveText(`${of(ours)}, 1 track`, { timeout: 500 });
  }).toPass();

  // Events about the thread on other capabilities are added.
  const alone = await status(page).textContent();
  await find(page, 'bh-1');
  await mark(page, 'thread11');
  await find(page, '');
  await expect(status(page)).toHaveText(/, 2 tracks$/);
  await expect.poll(async () => parseInt(await status(page).textContent())).toBeGreaterThan(parseInt(alone));
  const rows = page.locator('.event-rows .grid-window [role=row]');
  // The count comes before the rows, which come together.
  await expect(rows.first()).not.toHaveText('…');
  for (const cells of await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))) {
    expect(cells[2] === '2' || cells[3].startsWith('11 '), cells.join(' | ')).toBe(true);
  }

  const hash = await fragment(page, /p=events.*sel=cap2,thread11|sel=cap2,thread11.*p=events/);
  const said = await status(page).textContent();
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, fixture(STOPS));
  await loaded(other);
  await expect(status(other)).toHaveText(said);
  await expect(chip(other)).toContainText(/, 2 tracks/);
  await expect(other.locator('#head-cap2')).toHaveAttribute('aria-selected', 'true');
  await context.close();
});

test('another log begins without selected tracks', async ({ page }) => {
  await openLog(page, fixture(STOPS));
  await mark(page, 'cap3');
  await expect(chip(page)).toBeVisible();
  await openInstead(page, fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^fib-forkio/);
  await loaded(page);
  await expect(caps(page)).toHaveText(['Capability 0', 'Capability 1']);
  await expect(chip(page)).toHaveCount(0);
});

test('the flame graph has the samples of the selected capabilities', async ({ page }) => {
  await openLog(page, fixture(PROFILED));
  await tab(page, 'Flame graph');
  await expect(status(page)).toHaveText('for the whole log');
  const sentence = page.locator('.flame-strip .words');
  const canvas = page.locator('.flame-canvas canvas');
  const whole = async () => {
    await canvas.focus();
    await page.keyboard.press('ArrowRight');
    return sentence.textContent();
  };
  await page.getByRole('button', { name: 'Left heavy' }).click();
  await expect.poll(whole).toMatch(/ total /);
  const all = await whole();
  await mark(page, 'cap1');
  await expect(status(page)).toHaveText('for the whole log, 1 track');
  await expect.poll(whole).toMatch(/ total /);
  await expect.poll(whole).not.toBe(all);
  // A choice in the panel takes precedence.
  await page.getByRole('combobox', { name: 'Tracks' }).selectOption('cap0');
  await expect(status(page)).toHaveText('for the whole log');
});
