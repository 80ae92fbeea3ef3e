// Event list: every row of the reference, filters, searches, jumps.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openInstead, openLog, pointAlong, reference, strip, test, timeline } from './helpers.js';

const FORKIO = 'ghc-9.6.6/fib-forkio-N2-l';

/** Formats nanoseconds as the list does. */
const seconds = (ns) => `${Math.floor(ns / 1e9)}.${String(ns % 1e9).padStart(9, '0')}`;

const events = (name) => reference(name, 'events.tsv').filter((row) => row.length > 3);

const row = (page, number) => page.locator(`#event-rows-row-${number}`);
const cell = (page, number, column) => row(page, number).getByRole('gridcell').nth(column);
const count = (page) => page.locator('.controls .for');

async function openEvents(page, name) {
  await openLog(page, fixture(name));
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(row(page, 0)).toBeVisible();
}

test('lists every event in the order of the reference', async ({ page }) => {
  await openEvents(page, FORKIO);
  const expected = events(FORKIO);
  await expect(count(page)).toHaveText(`${expected.length.toLocaleString('en')} events`);
  const check = async (number) => {
    const [time, cap, name] = expected[number];
    await expect(cell(page, number, 0)).toHaveText(seconds(Number(time)));
    await expect(cell(page, number, 2)).toHaveText(cap === '-' ? '–' : cap);
    await expect(cell(page, number, 4)).toHaveText(name);
  };
  const grid = page.getByRole('grid', { name: 'Events' });
  await grid.focus();
  for (const number of [0, 1, 2]) await check(number);
  await page.keyboard.press('End');
  const last = expected.length - 1;
  for (const number of [last, last - 1]) await check(number);
  await expect(row(page, last)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('PageUp');
  await page.keyboard.press('ArrowUp');
  const current = page.locator('.event-rows .current');
  const currentNumber = async () => Number((await current.getAttribute('id')).replace('event-rows-row-', ''));
  await expect.poll(currentNumber).toBeLessThan(last - 1);
  const number = await currentNumber();
  await check(number);
  await page.keyboard.press('Home');
  await check(0);
  await expect(page.locator('.event-fields')).toContainText('byte');
});

test('lists only the types, capabilities, threads and times that are asked for', async ({ page }) => {
  await openEvents(page, FORKIO);
  const all = events(FORKIO);
  const of = (wanted) => `${all.filter(wanted).length} of ${all.length.toLocaleString('en')} events`;
  await page.getByRole('button', { name: 'All types' }).click();
  await page.getByRole('checkbox', { name: /^RunThread/ }).check();
  await expect(count(page)).toHaveText(of(([, , name]) => name === 'RunThread'));
  await page.getByRole('checkbox', { name: /^StopThread/ }).check();
  const scheduling = ([, , name]) => name === 'RunThread' || name === 'StopThread';
  await expect(count(page)).toHaveText(of(scheduling));
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: 'Capability' }).selectOption('1');
  await expect(count(page)).toHaveText(of((event) => scheduling(event) && event[1] === '1'));
  await fragment(page, /et=1.2&ec=1/);
  const before = await count(page).textContent();
  const number = (await cell(page, 0, 3).textContent()).split(' ')[0];
  const thread = page.getByRole('searchbox', { name: /Only events of this thread/ });
  await thread.fill(number);
  await thread.press('Enter');
  await expect(count(page)).not.toHaveText(before);
  const threads = page.locator('.event-rows .grid-window [role=row] > :nth-child(4)');
  await expect.poll(async () => [...new Set((await threads.allTextContents()).map((text) => text.split(' ')[0]))]).toEqual([number]);
  await page.getByRole('button', { name: 'Clear filter' }).click();
  await expect(count(page)).toHaveText(`${all.length.toLocaleString('en')} events`);

  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.3), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.6), cap(1), { steps: 5 });
  await page.mouse.up();
  // The address is updated once the drag has settled.
  await expect(async () => {
    const [, start, unit, length] = (await fragment(page, /[#&]r=/)).match(/r=(\d+)([nums])(\d+)/);
    const unitNs = { n: 1, u: 1e3, m: 1e6, s: 1e9 }[unit];
    const [from, to] = [start * unitNs, (Number(start) + Number(length)) * unitNs];
    await expect(count(page)).toHaveText(of(([time]) => from <= time && time < to), { timeout: 500 });
  }).toPass();
});

test('searches, counts and steps through matches', async ({ page }) => {
  await openEvents(page, FORKIO);
  const search = page.getByRole('searchbox', { name: 'Search the events' });
  await search.fill('migratethread');
  const wanted = events(FORKIO).flatMap(([, , name], at) => (name === 'MigrateThread' ? [at] : []));
  const matches = page.locator('.matches');
  await expect(matches).toHaveText(`${wanted.length} matches`);
  await search.press('Enter');
  await expect(matches).toHaveText(`1 of ${wanted.length}`);
  await expect(row(page, wanted[0])).toHaveClass(/current/);
  await expect(row(page, wanted[0])).toHaveClass(/found/);
  await search.press('Enter');
  await expect(row(page, wanted[1])).toHaveClass(/current/);
  await page.getByRole('button', { name: 'Previous match' }).click();
  await expect(row(page, wanted[0])).toHaveClass(/current/);
  await page.getByRole('button', { name: 'Previous match' }).click();
  await expect(matches).toContainText('no more in this direction');
});

test('goes from the timeline to the row, and back', async ({ page }) => {
  await openEvents(page, FORKIO);
  const { cap } = await timeline(page);
  const run = await pointAlong(page, cap(1), /ran for .* on capability 1/);
  await page.mouse.click(run.x, cap(1));
  const current = page.locator('.event-rows .current');
  await expect(current.getByRole('gridcell').nth(4)).toHaveText('RunThread');
  await expect(current.getByRole('gridcell').nth(2)).toHaveText('1');

  // When zoomed in at the end, a click on the first row moves the view there.
  await page.mouse.move((await timeline(page)).x(0.6), cap(0));
  await page.mouse.wheel(0, -1500);
  const there = await fragment(page, /[#&]t=/);
  await page.getByRole('grid', { name: 'Events' }).focus();
  await page.keyboard.press('Home');
  await expect.poll(() => page.url()).not.toContain(there);
});

test('copies rows', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openEvents(page, FORKIO);
  await page.getByRole('grid', { name: 'Events' }).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(row(page, 2)).toHaveClass(/current/);
  await page.keyboard.press('Control+c');
  await expect(page.getByText('3 rows copied')).toBeAttached();
  const copied = (await page.evaluate(() => navigator.clipboard.readText())).trimEnd().split('\n');
  const expected = events(FORKIO).slice(0, 3).map(([time, cap, name]) => [time, cap, name]);
  expect(copied.map((line) => line.split('\t')).map(([time, cap, , name]) => [time, cap, name])).toEqual(expected);
});

test('saves every row that passes the filter', async ({ page }) => {
  await openEvents(page, FORKIO);
  const saved = async (name) => {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name, exact: true }).click();
    return readFileSync(await (await downloading).path(), 'utf8');
  };
  const [names, ...rows] = (await saved('Save TSV')).trimEnd().split('\n').map((line) => line.split('\t'));
  expect(names).toEqual(['time_ns', 'cap', 'thread', 'label', 'event', 'text']);
  const expected = events(FORKIO).map(([time, cap, name]) => [time, cap === '-' ? '' : cap, name]);
  expect(rows.map(([time, cap, , , name]) => [time, cap, name])).toEqual(expected);

  await page.getByLabel('Capability', { exact: true }).selectOption('1');
  await expect(count(page)).toContainText(' of ');
  const own = expected.filter(([, cap]) => cap === '1');
  await expect.poll(async () => JSON.parse(await saved('Save JSON')).length).toBe(own.length);
});

test('a link restores what was listed', async ({ page, browser, baseURL }) => {
  await openEvents(page, FORKIO);
  await page.getByRole('searchbox', { name: 'Search the events' }).fill('runs');
  const hash = await fragment(page, /p=events.*es=runs/);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, fixture(FORKIO));
  await loaded(other);
  await expect(other.getByRole('searchbox', { name: 'Search the events' })).toHaveValue('runs');
  await expect(other.locator('.matches')).toHaveText(/^\d+ matches$/);
  await expect(strip(other)).toBeVisible();
  await context.close();
});

test('Enter right after the last letter goes to the first match', async ({ page }) => {
  await openEvents(page, FORKIO);
  const search = page.getByRole('searchbox', { name: 'Search the events' });
  const wanted = events(FORKIO).flatMap(([, , name], at) => (name === 'MigrateThread' ? [at] : []));
  await search.fill('migratethread');
  await search.press('Enter');
  await expect(page.locator('.matches')).toHaveText(`1 of ${wanted.length}`);
  await expect(row(page, wanted[0])).toHaveClass(/current/);
});

test('a search is forgotten with the log that it was about', async ({ page }) => {
  await openEvents(page, FORKIO);
  await page.getByRole('searchbox', { name: 'Search the events' }).fill('thread');
  await expect(page.locator('.matches')).toHaveText(/^\d+ matches$/);
  const first = await page.locator('.matches').textContent();
  const other = 'ghc-9.6.6/gc-heavy-N2-la-nonmoving';
  await openInstead(page, fixture(other));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^gc-heavy/);
  await loaded(page);
  await expect(page.locator('.matches')).toHaveText(/^[\d,]+ matches$/);
  await expect(page.locator('.matches')).not.toHaveText(first);
  const [time, , name] = events(other)[0];
  await expect(cell(page, 0, 0)).toHaveText(seconds(Number(time)));
  await expect(cell(page, 0, 4)).toHaveText(name);
});
