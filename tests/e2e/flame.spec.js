// Flame graph: sources, views, steps, comparison, saving, and navigation to and from the timeline.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, openLog, test, timeline, touch } from './helpers.js';

const DEMO = fileURLToPath(new URL('../../www/demo/profiled-ffi.eventlog.gz', import.meta.url));
const SAFESCOPE = fileURLToPath(new URL('../fixtures/safescope/', import.meta.url));
const PROFILED = fixture('ghc-9.10.3/prof-time-N2-pj-l');
const HEAP = fixture('ghc-9.10.3/prof-heap-N1-hc-l-au');

const canvas = (page) => page.locator('.flame-canvas canvas').first();
const words = (page) => page.locator('.flame-strip .words');
const source = (page) => page.getByRole('combobox', { name: 'Source' });
const whose = (page) => page.getByRole('combobox', { name: 'Tracks' });
const steps = (page) => page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
const button = (page, name) => page.getByRole('button', { name, exact: true });

/** Opens a log with the flame graph panel. */
async function open(page, log, hash = '') {
  await openLog(page, log, `./#v=1&p=flame${hash}`);
  await expect(canvas(page)).toBeVisible();
}

/** Presses keys in the graph until a box with that name is selected. */
async function select(page, keys, name) {
  await expect(async () => {
    await canvas(page).focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    for (const key of keys) await page.keyboard.press(key);
    await expect(words(page)).toContainText(name, { timeout: 500 });
  }).toPass();
}

/** Opens a menu, presses a button in it, and closes it. */
async function choose(page, menu, name) {
  await page.getByRole('button', { name: menu }).click();
  await page.getByRole('group').getByText(name).click();
  await page.keyboard.press('Escape');
}

test('a wait that is merged with others leads to the longest of them', async ({ page }) => {
  await open(page, fixture('../findings/lock-convoy-found').concat('.gz'), '&fk=waiting');
  await button(page, 'Left heavy').click();
  await select(page, [...Array(7).fill('ArrowRight'), 'ArrowDown', 'ArrowDown'], /MVar/);
  await button(page, 'Longest').click();
  await fragment(page, /[#&]e=\d+\.thread\d+/);
  const details = page.getByRole('complementary', { name: 'Details of the selected item' });
  await expect(details).toContainText(/blocked.*MVar/);
  await expect(details).toContainText('the waker');
});

test('two fingers do not move the graph to and fro', async ({ page }) => {
  await open(page, DEMO);
  await expect(page.locator('.flame-ruler canvas')).toBeVisible();
  /** Returns the middle and the length of the visible time, in nanoseconds. */
  const visible = async () => {
    const [, start, unit, length] = (await fragment(page, /[#&]t=/)).match(/[#&]t=(\d+)([nums])(\d+)/);
    const ns = { n: 1, u: 1e3, m: 1e6, s: 1e9 }[unit];
    return { middle: (Number(start) + length / 2) * ns, length: length * ns };
  };
  await canvas(page).focus();
  await page.keyboard.press('+');
  const before = await visible();
  const box = await canvas(page).boundingBox();
  const x = (part) => box.x + box.width * part;
  const y = box.y + 10;
  await touch(
    canvas(page),
    ['pointerdown', 11, x(0.45), y], ['pointerdown', 12, x(0.55), y],
    ['pointermove', 11, x(0.35), y], ['pointermove', 12, x(0.85), y],
    ['pointerup', 11, x(0.35), y], ['pointerup', 12, x(0.85), y],
  );
  // Keys zoom at the middle.
  await page.keyboard.press('+');
  let after;
  await expect.poll(async () => {
    after = await visible();
    return after.length;
  }).toBeLessThan(before.length * 0.8);
  expect(Math.abs(after.middle - before.middle)).toBeLessThan(before.length * 0.05);
});

test('a second finger does not move the part that is shown in the minimap', async ({ page }) => {
  await open(page, PROFILED, '&fo=left');
  await canvas(page).focus();
  for (let i = 0; i < 4; i += 1) await page.keyboard.press('+');
  const [map, shown] = [page.locator('.flame-small'), page.locator('.flame-window')];
  const width = async () => (await shown.boundingBox()).width / (await map.boundingBox()).width;
  await expect.poll(width).toBeLessThan(0.25);
  const box = await map.boundingBox();
  const [x, y] = [(part) => box.x + box.width * part, box.y + 10];
  /** Returns the middle of the part that is shown, from 0 to 1. */
  const middle = async () => {
    const part = await shown.boundingBox();
    return (part.x + part.width / 2 - box.x) / box.width;
  };
  await touch(
    map,
    ['pointerdown', 11, x(0.3), y], ['pointermove', 11, x(0.4), y], ['pointerdown', 12, x(0.7), y],
    ['pointermove', 12, x(0.8), y], ['pointermove', 11, x(0.5), y],
    ['pointerup', 12, x(0.8), y], ['pointerup', 11, x(0.5), y],
  );
  await expect.poll(middle).toBeCloseTo(0.4, 1);
  await touch(map, ['pointerdown', 12, x(0.6), y], ['pointerup', 12, x(0.6), y]);
  await expect.poll(middle).toBeCloseTo(0.6, 1);
});

test('says where the time of a program went, by source', async ({ page }) => {
  await open(page, DEMO);
  const titles = ['Haskell and foreign code', 'Spans of the program', 'Waiting threads'];
  await expect(source(page).locator('option')).toHaveText(titles);
  await source(page).selectOption('waiting');
  await button(page, 'Left heavy').click();
  await select(page, ['ArrowRight'], / total \(/);
  await fragment(page, /fk=waiting/);
  await source(page).selectOption('spans');
  await select(page, ['ArrowRight'], /filter|blur|sobel|median/);
  await fragment(page, /fk=spans/);
  await page.reload();
  await expect(page.locator('.landing')).toBeVisible();
  await drop(page, DEMO);
  await expect(source(page)).toHaveValue('spans');
});

test('live heap has bytes, and no order of time', async ({ page }) => {
  await open(page, HEAP, '&fk=heap');
  await expect(button(page, 'Time order')).toHaveCount(0);
  await select(page, ['ArrowRight'], /[KM]iB total \(/);
});

test('a box of the heap is followed over time, and two censuses are compared', async ({ page }) => {
  await open(page, HEAP, '&fk=heap');
  const area = page.getByRole('slider', { name: /over time/ });
  await expect(area).toHaveAttribute('aria-valuemax', /^[1-9]/);
  await expect(page.locator('.flame-area-words')).toContainText('All live data');
  await select(page, ['ArrowRight'], /[KM]iB total \(/);
  const name = await words(page).locator('strong').textContent();
  await expect(page.locator('.flame-area-words')).toContainText(name);
  await area.focus();
  await page.keyboard.press('Home');
  await expect(area).toHaveAttribute('aria-valuetext', /self, census at/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('[');
  await expect(steps(page)).toContainText(/^the census at .* compared with the one at/);
  await fragment(page, /fd=\d+/);
  await select(page, ['ArrowRight'], /before, .* now: .*(more|less|no change)/);
  await button(page, 'Stop comparing').click();
  await expect(steps(page)).toHaveCount(0);
  await button(page, 'Over time').click();
  await expect(area).toHaveCount(0);
  await fragment(page, /fa=0/);
});

test('the tree of cost centres opens, closes and leads to the flame graph', async ({ page }) => {
  await openLog(page, HEAP, './#v=1&p=heap&ht=tree');
  const tree = page.getByRole('treegrid', { name: 'Cost centres' });
  const rows = tree.locator('.grid-window [role=row]');
  const opened = rows.and(page.locator('[aria-expanded=true]'));
  const count = () => tree.getAttribute('aria-rowcount').then(Number);
  await button(page, 'Collapse all').click();
  await expect(opened).toHaveCount(0);
  const closed = await count();
  await expect(rows.first()).toHaveAttribute('aria-level', '1');
  await rows.and(page.locator('[aria-expanded=false]')).first().click();
  await expect.poll(count).toBeGreaterThan(closed);
  await tree.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(count).toBe(closed);
  await button(page, 'In the flame graph').click();
  await expect(steps(page)).toContainText(/^focus on /);
});

test('steps are listed and taken back one by one', async ({ page }) => {
  await open(page, PROFILED, '&fo=left');
  await select(page, ['ArrowRight', 'ArrowRight', 'ArrowDown'], 'Main.');
  const name = await words(page).locator('strong').textContent();
  await page.keyboard.press('f');
  await expect(steps(page)).toHaveText([`focus on ${name}×`]);
  await select(page, ['ArrowRight'], name);
  await choose(page, /^Change/, 'Hide idle time');
  await choose(page, /^Change/, 'Invert');
  await expect(steps(page)).toHaveCount(4);
  await fragment(page, /fx=focus%3A[^,]+,idle,invert/);
  await page.getByRole('button', { name: `Undo: focus on ${name}` }).click();
  await expect(steps(page).first()).toContainText('idle hidden');
  await button(page, 'Undo all').click();
  await expect(steps(page)).toHaveCount(0);
});

test('a sandwich has a table of all functions, and callers and callees of one', async ({ page }) => {
  await open(page, PROFILED, '&fo=left');
  await button(page, 'Sandwich').click();
  const rows = page.getByRole('grid', { name: 'Functions' }).getByRole('row');
  const first = rows.nth(1).getByRole('gridcell').first();
  await expect(first).not.toBeEmpty();
  await page.getByRole('button', { name: 'Function' }).click();
  const names = await rows.locator('[role=gridcell]:first-child').allTextContents();
  expect(names).toEqual([...names].sort());
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('level2');
  await expect(first).toHaveText('Main.level2');
  // The current row stays with its function while others come and go.
  const table = page.getByRole('grid', { name: 'Functions' });
  await table.focus();
  await page.keyboard.press('ArrowDown');
  const current = table.locator('.current').getByRole('gridcell').first();
  await expect(current).toHaveText('Main.level2');
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('level');
  await expect(first).not.toHaveText('Main.level2');
  await expect(current).toHaveText('Main.level2');
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('level2');
  await expect(first).toHaveText('Main.level2');
  await first.click();
  await expect(page.getByRole('heading', { name: 'Callers of Main.level2' })).toBeVisible();
  await fragment(page, /fo=sandwich.*ff=Main.level2/);
  const callers = page.getByRole('application', { name: /^Callers of Main.level2/ });
  await expect(async () => {
    await callers.focus();
    for (const key of ['ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
    await expect(words(page)).toContainText('Main.level1', { timeout: 500 });
  }).toPass();
  const callees = page.getByRole('application', { name: /^Callees of Main.level2/ });
  await expect(async () => {
    await callees.focus();
    await page.keyboard.press('ArrowRight');
    await expect(words(page)).toContainText('Main.level2', { timeout: 500 });
  }).toPass();
});

test('a sandwich of the live heap is saved with the means that it shows', async ({ page }) => {
  await open(page, HEAP, '&fk=heap&fo=left');
  await button(page, 'Sandwich').click();
  const rows = page.getByRole('grid', { name: 'Functions' }).getByRole('row');
  const self = rows.nth(1).getByRole('gridcell').nth(1);
  await expect(self).toHaveText(/^[\d.,]+\s[KM]iB/);
  const [, size, unit] = (await self.textContent()).match(/^([\d.,]+)\s([KM])iB/);
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Save JSON').click()]);
  const [first] = JSON.parse(readFileSync(await download.path(), 'utf8'));
  const shown = Number(size.replace(',', '')) * (unit === 'K' ? 2 ** 10 : 2 ** 20);
  expect(first.self / shown).toBeGreaterThan(0.9);
  expect(first.self / shown).toBeLessThan(1.1);
});

test('two times are compared', async ({ page }) => {
  await open(page, PROFILED);
  const { x, cap } = await timeline(page);
  const drag = async (from, to) => {
    await page.mouse.move(x(from), cap(0));
    await page.mouse.down();
    await page.mouse.move(x(to), cap(0), { steps: 5 });
    await page.mouse.up();
  };
  await drag(0.1, 0.3);
  await choose(page, 'Compare ▾', 'Keep the selection');
  await expect(steps(page)).toContainText(['select a range to compare with']);
  await drag(0.5, 0.9);
  await expect(steps(page)).toContainText(['compared with']);
  await select(page, ['ArrowRight'], /of the time before, .* now/);
  await fragment(page, /fc=\d+/);
  await page.getByRole('button', { name: 'Stop comparing' }).click();
  await select(page, ['ArrowRight'], / total \(/);
});

test('a box leads to the timeline', async ({ page }) => {
  await open(page, PROFILED, '&fo=left');
  await select(page, ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown'], 'Main.');
  await button(page, 'On the timeline').click();
  const first = await fragment(page, /t=\d+/);
  await button(page, 'On the timeline').click();
  await expect.poll(() => new URL(page.url()).hash).not.toBe(first);
});

test('an executable names the functions of foreign code', async ({ page }) => {
  const log = gunzipSync(readFileSync(`${SAFESCOPE}safescope.eventlog.gz`));
  await page.goto('./#v=1&p=flame');
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await drop(page, 'safescope.eventlog', log);
  await expect(canvas(page)).toBeVisible();
  const option = whose(page).locator('option', { hasText: /^OS thread/ });
  await whose(page).selectOption(await option.first().getAttribute('value'));
  await button(page, 'Left heavy').click();
  const search = page.getByRole('searchbox', { name: 'Search frames' });
  await search.fill('bar_c');
  await expect(page.locator('.found')).toHaveText(/no match$/);
  await drop(page, `${SAFESCOPE}safescope.symbols`);
  await expect(page.getByRole('status').filter({ hasText: /name/ }).first()).toBeVisible();
  await expect(page.locator('.found')).toHaveText(/1 of \d+ · >?[1-9][\d.]*\s% of the time$/);
});

for (const [name, file, check] of [
  ['speedscope', 'profile.speedscope.json', (bytes) => {
    const { profiles } = JSON.parse(bytes.toString());
    expect(profiles.map((profile) => profile.name)).toContain('Capability 0');
  }],
  ['Folded stacks', 'profile.folded', (bytes) => {
    for (const line of bytes.toString().trim().split('\n')) expect(line).toMatch(/^\S.* \d+$/);
  }],
  ['pprof', 'profile.pb.gz', (bytes) => expect(gunzipSync(bytes).length).toBeGreaterThan(100)],
  ['SVG', 'flamegraph.svg', (bytes) => expect(bytes.toString()).toMatch(/^<svg[^]*Main\.main/)],
]) {
  test(`saves ${name}`, async ({ page }) => {
    await open(page, PROFILED, '&fo=left');
    await select(page, ['ArrowRight'], ' total ');
    await page.getByRole('button', { name: /^Save/ }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('group', { name: 'Save the flame graph' }).getByText(name).click(),
    ]);
    expect(download.suggestedFilename()).toBe(file);
    check(readFileSync(await download.path()));
  });
}
