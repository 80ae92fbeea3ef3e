// Timeline by mouse and touch: heads and menu of the tracks, minimap, measuring, ranges, details, pictures, and
// the link that keeps all of it.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openLog, pointAlong, strip, test, timeline, touch } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

const head = (page, name) => page.locator(`#head-${name}`);
const tip = (page) => page.locator('.timeline .tip');
const details = (page) => page.getByRole('complementary', { name: 'Details of the selected item' });
const order = (page) => page.locator('.head').evaluateAll((all) => all.map(({ id }) => id.slice(5)));
const part = (page, name) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
const parts = (page, name) => expect.poll(() => part(page, name));
const UNITS = { n: 1, u: 1e3, m: 1e6, s: 1e9 };

/** Returns an interval of the link: start and length in nanoseconds. */
function stretch(page, name) {
  const [, start, unit, length] = part(page, name).match(/^(\d+)([nums])(\d+)$/);
  return { start: start * UNITS[unit], length: length * UNITS[unit] };
}

/** Clicks a button of a head, which exists only while the pointer is over the head. */
async function headButton(page, track, name) {
  await head(page, track).hover();
  await head(page, track).getByRole('button', { name }).click();
}

/** Drags the mouse from one point to another. */
async function drag(page, from, to, modifier) {
  await page.mouse.move(from.x, from.y);
  if (modifier) await page.keyboard.down(modifier);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
  if (modifier) await page.keyboard.up(modifier);
}

/** Performs an action by its name. */
async function perform(page, name) {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(name);
  await expect(page.getByRole('option').first()).toContainText(name);
  await page.keyboard.press('Enter');
}

/** Returns the timeline as the text of an SVG file. */
async function picture(page) {
  const saving = page.waitForEvent('download');
  await perform(page, 'Save the timeline as SVG');
  return readFileSync(await (await saving).path(), 'utf8');
}

/** Zooms in at a position of the timeline until the link is updated. */
async function zoomAt(page, at, turn = -600) {
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(at), cap(0));
  await page.mouse.wheel(0, turn);
  await fragment(page, /[#&]t=/);
}

test('the buttons of a head pin, select and hide; a heading folds', async ({ page }) => {
  await openLog(page, LOG);
  await headButton(page, 'cap1', 'Pin Capability 1 at the top');
  await expect.poll(async () => (await order(page))[0]).toBe('cap1');
  await headButton(page, 'cap1', 'Pin Capability 1 at the top');
  await expect.poll(async () => (await order(page))[0]).toBe('program');
  await headButton(page, 'cap1', /Limit the selected range to Capability 1/);
  await expect(head(page, 'cap1')).toHaveAttribute('aria-selected', 'true');
  await headButton(page, 'cap1', 'Hide Capability 1');
  await expect(head(page, 'cap1')).toHaveCount(0);
  await parts(page, 'hide').toBe('cap1');
  await page.getByRole('button', { name: 'Tracks · 1 hidden' }).click();
  await page.getByRole('button', { name: /^Show (cap1|Capability 1)/ }).click();
  await expect(head(page, 'cap1')).toHaveCount(1);
  await page.getByRole('button', { name: /^Tracks/ }).click();
  await head(page, 'caps').click();
  await expect(head(page, 'caps')).toHaveAttribute('aria-expanded', 'false');
  await expect(head(page, 'cap0')).toHaveCount(0);
  await head(page, 'caps').click();
  await expect(head(page, 'cap0')).toHaveCount(1);
});

test('threads by which the runtime waits are folded away until one is gone to', async ({ page }) => {
  const names = async () => (await order(page)).filter((name) => /^(threads|runtime|thread\d+)$/.test(name));
  const threads = async () => (await names()).slice((await names()).indexOf('runtime') + 1);
  await page.setViewportSize({ width: 1280, height: 1400 });
  await openLog(page, LOG);
  await expect(head(page, 'runtime')).toContainText('THREADS OF THE RUNTIME');
  expect(await threads()).toEqual([]);
  // Going to a hidden thread unfolds its group, and a link to this view does too.
  await perform(page, 'Go to thread 4: TimerManager');
  await expect.poll(threads).toContain('thread4');
  await parts(page, 'open').toBe('runtime');
  await page.reload();
  await drop(page, LOG);
  await loaded(page);
  await expect.poll(threads).toContain('thread4');
  await head(page, 'runtime').click();
  await expect.poll(threads).toEqual([]);
  await parts(page, 'open').toBeNull();
  // The table lists all threads.
  await page.getByRole('tab', { name: 'Threads' }).click();
  await expect(page.getByRole('row', { name: /TimerManager/ })).toBeVisible();
});

test('heads are dragged to another place', async ({ page }) => {
  await openLog(page, LOG);
  const at = async (name) => {
    const { track } = await timeline(page);
    return { x: 90, y: track(name) };
  };
  const caps = async () => (await order(page)).filter((name) => /^cap\d/.test(name));
  await drag(page, await at('cap1'), await at('cap0'));
  await expect.poll(caps).toEqual(['cap1', 'cap0']);
  await parts(page, 'move').toMatch(/cap/);
  await drag(page, await at('cap1'), await at('cap0'));
  await expect.poll(caps).toEqual(['cap0', 'cap1']);
  // A track cannot be moved into another group.
  const before = await order(page);
  await drag(page, await at('cap1'), await at('gc'));
  expect(await order(page)).toEqual(before);
  // A group moves as a whole, without being folded.
  await drag(page, await at('caps'), await at('program'));
  await expect.poll(async () => (await order(page))[0]).toBe('caps');
  await expect(head(page, 'caps')).toHaveAttribute('aria-expanded', 'true');
});

test('the menu shows groups, orders threads and puts them together', async ({ page }) => {
  await openLog(page, fixture('ghc-9.0.2/stops-N4-la'));
  const threads = async () => (await order(page)).filter((name) => /^thread\d/.test(name));
  await page.getByRole('button', { name: /^Tracks/ }).click();
  const menu = page.getByRole('group', { name: 'Tracks' });
  await menu.getByRole('checkbox', { name: 'Capabilities' }).uncheck();
  await expect(head(page, 'cap0')).toHaveCount(0);
  await parts(page, 'hide').toBe('caps');
  await menu.getByRole('checkbox', { name: 'Capabilities' }).check();
  await expect(head(page, 'cap0')).toHaveCount(1);
  await menu.getByRole('combobox').selectOption('by number');
  await parts(page, 'to').toBe('id');
  const numbers = async () => (await threads()).map((name) => Number(name.slice(6)));
  await expect.poll(async () => (await numbers()).every((it, i, all) => i === 0 || all[i - 1] < it)).toBe(true);
  await menu.getByRole('checkbox', { name: /same label/ }).check();
  await parts(page, 'tg').toBe('1');
  await menu.getByRole('button', { name: 'Reset', exact: true }).click();
  await parts(page, 'tg').toBeNull();
  await parts(page, 'to').toBeNull();
  await expect(menu.getByRole('checkbox', { name: /same label/ })).not.toBeChecked();
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
});

test('the filter keeps tracks by label and number', async ({ page }) => {
  await openLog(page, LOG);
  const field = page.locator('header input[type=search]');
  await field.fill('worker-5');
  await expect.poll(async () => (await order(page)).filter((name) => /\d$/.test(name))).toEqual(['thread10']);
  await field.fill('#7');
  await expect(head(page, 'thread7')).toHaveCount(1);
  await expect(head(page, 'thread10')).toHaveCount(0);
  await field.fill('');
  await expect(head(page, 'thread10')).toHaveCount(1);
});

test('the minimap moves the view', async ({ page }) => {
  await openLog(page, LOG);
  await zoomAt(page, 0.5);
  const { x, minimap } = await timeline(page);
  const before = stretch(page, 't');
  await drag(page, { x: x(0.5), y: minimap }, { x: x(0.7), y: minimap });
  await expect.poll(() => stretch(page, 't').start).toBeGreaterThan(before.start);
  const moved = stretch(page, 't');
  expect(Math.abs(moved.length / before.length - 1)).toBeLessThan(0.02);
  await page.mouse.click(x(0.2), minimap);
  await expect.poll(() => stretch(page, 't').start).toBeLessThan(before.start);
});

test('Alt + drag and M measure', async ({ page }) => {
  await openLog(page, LOG);
  const { x, cap, ruler } = await timeline(page);
  const plain = await picture(page);
  await drag(page, { x: x(0.3), y: cap(0) + 40 }, { x: x(0.6), y: cap(0) + 40 }, 'Alt');
  await page.mouse.move(x(0.9), ruler);
  const texts = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map((match) => match[1]);
  const added = async () => {
    const rest = texts(plain);
    return texts(await picture(page)).filter((text) => !rest.includes(text));
  };
  expect((await added()).join(' ')).toMatch(/\d\sms/);
  expect(part(page, 'r')).toBeNull();
  await page.keyboard.press('Escape');
  expect((await added()).join(' ')).not.toMatch(/\d\sms/);
  await page.mouse.move(x(0.3), cap(1));
  await page.keyboard.press('m');
  await page.mouse.move(x(0.5), cap(1));
  await page.keyboard.press('m');
  await page.mouse.move(x(0.9), ruler);
  expect((await added()).join(' ')).toMatch(/\d\sms/);
});

test('edges of the range are dragged, and snap to spans', async ({ page }) => {
  await openLog(page, LOG);
  const run = await pointAlong(page, (await timeline(page)).cap(0), / ran for/);
  const { x, cap, ruler } = await timeline(page);
  await page.mouse.dblclick(run.x, cap(0));
  await fragment(page, /[#&]t=/);
  await page.getByRole('button', { name: 'Close the details' }).click();
  await fragment(page, /[#&]e=\d+\.cap0/);
  for (let times = 0; times < 2; times += 1) {
    const before = part(page, 't');
    await page.keyboard.press('s');
    await parts(page, 't').not.toBe(before);
  }
  const begin = Number(part(page, 'e').split('.')[0]);
  const view = stretch(page, 't');
  const at = (ns) => x((ns - view.start) / view.length);
  await drag(page, { x: x(0.7), y: cap(1) }, { x: x(0.9), y: cap(1) });
  await parts(page, 'r').not.toBeNull();
  const first = stretch(page, 'r');
  const edge = at(first.start);
  await drag(page, { x: edge, y: ruler }, { x: edge - 30, y: ruler });
  await expect.poll(() => stretch(page, 'r').start).toBeLessThan(first.start);
  const second = stretch(page, 'r');
  expect(second.start + second.length).toBe(first.start + first.length);
  await drag(page, { x: at(second.start), y: ruler }, { x: at(begin) - 3, y: cap(0) });
  await expect.poll(() => stretch(page, 'r').start).toBe(begin);
});

test('pointing shows a tip with facts beside the pointer, a click keeps them', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLog(page, LOG);
  const { cap } = await timeline(page);
  const run = await pointAlong(page, cap(0), / ran for/);
  await expect(tip(page)).toContainText('duration');
  const box = await tip(page).boundingBox();
  const distance = (from, to, at) => Math.max(from - at, at - to, 0);
  expect(distance(box.x, box.x + box.width, run.x)).toBeLessThan(40);
  expect(distance(box.y, box.y + box.height, cap(0))).toBeLessThan(40);
  await page.mouse.click(run.x, cap(0));
  await page.mouse.move(400, 5);
  await expect(tip(page)).toHaveCount(0);
  await expect(details(page)).toContainText('ran for');
  await details(page).getByRole('button', { name: /^Copy/ }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/ran for[^]*\nduration: /);
  await details(page).getByRole('button', { name: 'Close the details' }).click();
  await expect(details(page)).toHaveCount(0);
  await expect(strip(page)).toContainText('ran for');
});

test('the tip is whole where the timeline has no room for it', async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 600 });
  await openLog(page, LOG);
  const { cap } = await timeline(page);
  await pointAlong(page, cap(0), / ran for/);
  const seen = await tip(page).evaluate((tip) => new Promise((done) => {
    new IntersectionObserver(([{ intersectionRatio }]) => done(intersectionRatio)).observe(tip);
  }));
  expect(seen).toBe(1);
});

// The card lets the wheel through to the timeline.
test('all facts of the details can be reached with the mouse', async ({ page }) => {
  await openLog(page, LOG);
  const { cap } = await timeline(page);
  const run = await pointAlong(page, cap(0), / ran for/);
  await page.mouse.click(run.x, cap(0));
  await expect(details(page)).toContainText('duration');
  const last = details(page).locator('dd').last();
  await details(page).hover();
  await page.mouse.wheel(0, 600);
  await expect(last).toBeInViewport();
  await expect.poll(async () => {
    const [fact, card] = [await last.boundingBox(), await details(page).boundingBox()];
    return fact.y + fact.height <= card.y + card.height;
  }).toBe(true);
});

test('the table of what is in view follows, and leads to a mark', async ({ page }) => {
  await openLog(page, LOG);
  await page.getByRole('tab', { name: 'In view' }).click();
  const said = page.locator('.in-view .tools');
  await expect(said).toContainText(/[1-9]\d* marks/);
  const before = await said.textContent();
  await zoomAt(page, 0.3);
  await expect(said).not.toHaveText(before);
  await page.locator('.in-view select').selectOption('Capability 0');
  const rows = page.locator('.in-view .grid-window [role=row]');
  await expect(rows.first()).toContainText('Capability 0');
  const what = await rows.nth(1).getByRole('gridcell').last().textContent();
  await rows.nth(1).dblclick();
  await parts(page, 'e').toMatch(/\.cap0$/);
  await expect(strip(page)).toContainText(what.trim().slice(0, 20));
});

test('the current row of the table of what is in view stays with its mark', async ({ page }) => {
  await openLog(page, LOG, './#v=1&p=view');
  const grid = page.getByRole('grid', { name: 'Marks in view' });
  const current = page.locator('.in-view .grid-window .current');
  await expect(grid).toBeVisible();
  await grid.focus();
  await page.keyboard.press('End');
  await expect(current.getByRole('gridcell').first()).toHaveText(/\w/);
  const mark = async () => (await current.getByRole('gridcell').allTextContents()).slice(0, 3);
  const [before, rows] = [await mark(), Number(await grid.getAttribute('aria-rowcount'))];
  // Fewer rows come before it.
  await page.locator('.in-view select').selectOption(before[0]);
  await expect.poll(async () => Number(await grid.getAttribute('aria-rowcount'))).toBeLessThan(rows);
  await expect(current).toHaveCount(1);
  await expect.poll(mark).toEqual(before);
});

test('a track chosen for the table of what is in view stays chosen when it leaves the view', async ({ page }) => {
  await openLog(page, LOG, './#v=1&p=view');
  const choice = page.locator('.in-view select');
  const rows = page.locator('.in-view .grid-window [role=row]');
  await choice.selectOption('Capability 0');
  await expect(rows.first()).toContainText('Capability 0');
  await page.getByRole('searchbox', { name: /Filter tracks/ }).fill('Capability 1');
  await expect(page.locator('.in-view .empty')).toContainText('No marks of Capability 0 in view');
  await expect(choice).toHaveValue('Capability 0');
  await page.getByRole('button', { name: 'All tracks', exact: true }).click();
  await expect(rows.first()).toContainText('Capability 1');
  await expect(choice).toHaveValue('');
  await choice.selectOption('Capability 1');
  await expect(choice).toHaveValue('Capability 1');
  await expect(rows.first()).toContainText('Capability 1');
});

test('the picture is saved as PNG and SVG', async ({ page }) => {
  await openLog(page, LOG);
  const saving = page.waitForEvent('download');
  await perform(page, 'Save the timeline as PNG');
  const png = await saving;
  expect(png.suggestedFilename()).toBe('fib-forkio-N2-l.png');
  const bytes = readFileSync(await png.path());
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  expect(bytes.length).toBeGreaterThan(5_000);
  const svg = await picture(page);
  expect(svg).toMatch(/^<svg[^]*<\/svg>\s*$/);
  expect(svg).toContain('Capability 1');
  // Name of the log, range shown, and legend of the marks.
  expect(svg).toContain('>fib-forkio-N2-l.eventlog<');
  expect(svg).toMatch(/>The whole log: [^<]*GHC 9.6.6/);
  expect(svg).toContain('>A thread runs<');
  expect(svg).not.toContain('>A foreign call<');
  await zoomAt(page, 0.5);
  expect(await picture(page)).toMatch(/>Shown: [^<]* – /);
});

test('all settings of the tracks come back from the link', async ({ page, browser, baseURL }) => {
  const wish = 'v=1&q=worker&hide=gc&fold=caps&open=memory&pin=cap1,thread10&move=threads!program&sel=thread7&to=id&tg=1';
  await openLog(page, LOG, `./#${wish}`);
  const hash = await fragment(page, /f=.*tg=1/);
  for (const piece of wish.split('&').slice(1)) expect(decodeURIComponent(hash)).toContain(piece);
  await expect.poll(async () => (await order(page)).slice(0, 2)).toEqual(['cap1', 'thread10']);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, LOG);
  await loaded(other);
  // The threads may come after the pinned ones, in either page.
  await expect.poll(async () => isDeepStrictEqual(await order(other), await order(page))).toBe(true);
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await context.close();
});

test.describe('with fingers', () => {
  test.use({ hasTouch: true });

  const fingers = (page, ...events) => touch(page.locator('.timeline canvas'), ...events);

  test('pinching zooms, dragging moves, resting selects, a tap reads', async ({ page }) => {
    await page.clock.install();
    await openLog(page, LOG);
    const { x, cap } = await timeline(page);
    const y = cap(0);
    const moved = [0.05, 0.1, 0.2].flatMap((step) => [
      ['pointermove', 11, x(0.45 - step), y],
      ['pointermove', 12, x(0.55 + step), y],
    ]);
    await fingers(
      page,
      ['pointerdown', 11, x(0.45), y], ['pointerdown', 12, x(0.55), y],
      ...moved,
      ['pointerup', 11, x(0.25), y], ['pointerup', 12, x(0.75), y],
    );
    await parts(page, 't').not.toBeNull();
    const zoomed = stretch(page, 't');
    expect(zoomed.length).toBeLessThan(12e6);
    expect(part(page, 'r')).toBeNull();

    const moves = (...places) => places.map((place) => ['pointermove', 11, x(place), y]);
    await fingers(page, ['pointerdown', 11, x(0.6), y], ...moves(0.55, 0.5, 0.4), ['pointerup', 11, x(0.4), y]);
    await expect.poll(() => stretch(page, 't').start).toBeGreaterThan(zoomed.start);
    expect(part(page, 'r')).toBeNull();

    await fingers(page, ['pointerdown', 11, x(0.3), y]);
    await page.clock.runFor(1000);
    await fingers(page, ...moves(0.35, 0.4, 0.6), ['pointerup', 11, x(0.6), y]);
    await parts(page, 'r').not.toBeNull();
  });

  test('a tap shows the details', async ({ page }) => {
    await openLog(page, LOG);
    const { cap } = await timeline(page);
    const run = await pointAlong(page, cap(0), / ran for/);
    await page.mouse.move(400, 5);
    await page.touchscreen.tap(run.x, cap(0));
    await expect(details(page)).toContainText('duration');
    await expect(strip(page)).toContainText('ran for');
    await expect(tip(page)).toHaveCount(0);
  });
});
