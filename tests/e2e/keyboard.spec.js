// Everything by keyboard: no test here uses a mouse.

import { expect } from '@playwright/test';
import { fixture, fragment, loaded, strip, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

/** Opens a log with Tab, Enter and the file dialog. */
async function openByKeyboard(page, file = LOG, address = './') {
  // Added before the page is loaded, so that no dialog is missed.
  page.on('filechooser', (chooser) => chooser.setFiles(file));
  await page.goto(address);
  await tabTo(page, page.getByRole('button', { name: 'Browse…' }));
  await page.keyboard.press('Enter');
  await loaded(page);
}

/** Presses Tab until an element has the focus. */
async function tabTo(page, what, key = 'Tab') {
  await expect(what.first()).toBeVisible();
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press(key);
    if (await what.first().evaluate((it) => it === document.activeElement)) return;
  }
  throw new Error('Tab does not lead there');
}

const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
const head = (page, name) => page.locator(`#head-${name}`);
const details = (page) => page.getByRole('complementary', { name: 'Details of the selected item' });

/** Returns the focused element and whether its focus is visible. */
const focused = (page) =>
  page.evaluate(() => {
    const active = document.activeElement;
    const { width, height, top, bottom } = active.getBoundingClientRect();
    return {
      tag: active.tagName,
      id: active.id,
      inWindow: width > 0 && height > 0 && bottom > 0 && top < window.innerHeight,
      outline: getComputedStyle(active).outlineStyle,
    };
  });

/** Expects a visible focus. */
async function expectFocusSeen(page) {
  await expect.poll(() => focused(page)).toMatchObject({ inWindow: true, tag: expect.not.stringMatching('BODY') });
  const { outline } = await focused(page);
  expect(outline).not.toBe('none');
}

/** Returns the value of a key in the link, or null. */
const part = (page, name) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get(name);
const parts = (page, name) => expect.poll(() => part(page, name));

/** Returns whether there is a track below the focused one. */
const hasTrackBelow = () => {
  const count = document.querySelector('.heads').getAttribute('aria-rowcount');
  return Number(count) > Number(document.activeElement.getAttribute('aria-rowindex'));
};

/** Presses arrow keys until a track has the focus. */
async function walkTo(page, name) {
  const way = () =>
    page.evaluate((id) => {
      const target = document.getElementById(id);
      const at = document.activeElement;
      if (target === at) return null;
      const row = (head) => Number(head.getAttribute('aria-rowindex'));
      return target && row(target) < row(at) ? 'ArrowUp' : 'ArrowDown';
    }, `head-${name}`);
  const focus = page.locator(':focus');
  for (let steps = 0; steps < 60; steps += 1) {
    const key = await way();
    if (!key) return;
    // The tracks of threads may come last.
    if (key === 'ArrowDown') await expect.poll(() => page.evaluate(hasTrackBelow)).toBe(true);
    const before = await focus.getAttribute('id');
    await page.keyboard.press(key);
    await expect(focus).not.toHaveAttribute('id', before);
  }
  throw new Error(`no way to ${name}`);
}

test('a run through load, zoom, select, read, share by keyboard alone', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openByKeyboard(page);

  // Tracks are rows with names.
  const tracks = page.getByRole('treegrid', { name: 'Tracks' });
  await tabTo(page, tracks.getByRole('row'));
  await expectFocusSeen(page);
  await expect(tracks.getByRole('row', { name: /^Capability 0\b/ })).toHaveCount(1);
  await walkTo(page, 'cap0');
  await expectFocusSeen(page);
  await expect(strip(page)).toContainText(/^ ?Capability 0 .* runs? of/);
  const first = await strip(page).textContent();
  let third = first;
  for (let step = 0; step < 2; step += 1) {
    const before = third;
    await press(page, 'ArrowRight');
    await expect(strip(page)).not.toHaveText(before);
    third = await strip(page).textContent();
  }
  await press(page, '.');
  await expect(strip(page)).not.toHaveText(third);
  await press(page, ',');
  await expect(strip(page)).toHaveText(third);
  await press(page, 'ArrowLeft', 'ArrowLeft');
  await expect(strip(page)).toHaveText(first);
  await press(page, 'ArrowRight');
  await expect(head(page, 'cap0')).toBeFocused();

  // Zooming and panning update the link.
  await press(page, 'w', 'w');
  await parts(page, 't').not.toBeNull();
  const near = part(page, 't');
  await press(page, 'd');
  await parts(page, 't').not.toBe(near);
  const right = part(page, 't');
  await press(page, 'a');
  await parts(page, 't').not.toBe(right);
  const left = part(page, 't');
  await press(page, 's');
  await parts(page, 't').not.toBe(left);
  await expectFocusSeen(page);
  await press(page, '0');
  await parts(page, 't').toBeNull();

  // Select the item's time, zoom to it, go back and forward.
  await press(page, 'Enter');
  await parts(page, 'r').not.toBeNull();
  await press(page, 'f');
  await parts(page, 't').not.toBeNull();
  const close = part(page, 't');
  await press(page, '[');
  await parts(page, 't').not.toBe(close);
  await press(page, ']');
  await parts(page, 't').toBe(close);
  await expect(head(page, 'cap0')).toBeFocused();

  // The details stay open, and their links can be reached.
  await press(page, 'i');
  await expect(details(page)).toContainText('duration');
  await tabTo(page, details(page).getByRole('button').first());
  await expectFocusSeen(page);
  await tabTo(page, head(page, 'cap0'), 'Shift+Tab');
  await press(page, 'i');
  await expect(details(page)).toHaveCount(0);
  await expectFocusSeen(page);

  // Share the link.
  await press(page, 'l');
  await expect(page.getByRole('dialog').getByRole('status')).toHaveText('Copied.');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(head(page, 'cap0')).toBeFocused();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/#v=1&.*t=.*r=.*e=/);

  // Escape deselects the item, then the range; the view stays.
  await press(page, 'Escape');
  await parts(page, 'e').toBeNull();
  expect(part(page, 'r')).not.toBeNull();
  await press(page, 'Escape');
  await parts(page, 'r').toBeNull();
  expect(part(page, 't')).toBe(close);
  await expect(head(page, 'cap0')).toBeFocused();
});

test('a sample log opens by keyboard', async ({ page }) => {
  await page.goto('./');
  await tabTo(page, page.getByRole('button', { name: 'A web server' }));
  await page.keyboard.press('Enter');
  await loaded(page);
  await press(page, 'ArrowDown');
  await expect(page.getByRole('treegrid', { name: 'Tracks' }).getByRole('row').first()).toBeVisible();
  await expectFocusSeen(page);
});

test('U goes to what woke a thread, N to what ran next', async ({ page }) => {
  await openByKeyboard(page);
  await press(page, 'ArrowDown');
  await walkTo(page, 'thread7');
  await press(page, 'ArrowRight', 'i');
  await expect(details(page)).toContainText(/(woken|created) by/);
  await parts(page, 'e').not.toBeNull();
  const item = part(page, 'e');
  await press(page, 'u');
  await parts(page, 'e').not.toBe(item);
  await parts(page, 'e').not.toBeNull();
  await expect(strip(page)).toContainText('ran for');
  await expectFocusSeen(page);
  const waker = part(page, 'e');
  await expect(details(page)).toContainText(/ran here next/);
  await press(page, 'n');
  await parts(page, 'e').not.toBe(waker);
  await expect(strip(page)).toContainText('ran for');
});

test('tracks are folded, pinned, moved, hidden and selected by keyboard', async ({ page }) => {
  await openByKeyboard(page);
  const order = () => page.locator('.head').evaluateAll((all) => all.map(({ id }) => id.slice(5)));
  await press(page, 'ArrowDown');
  await walkTo(page, 'caps');
  await expect(head(page, 'caps')).toHaveAttribute('aria-expanded', 'true');
  await press(page, 'Space');
  await expect(head(page, 'caps')).toHaveAttribute('aria-expanded', 'false');
  await expect(head(page, 'cap0')).toHaveCount(0);
  await expect(head(page, 'caps')).toBeFocused();
  await parts(page, 'fold').toBe('caps');
  await press(page, 'Space');
  await expect(head(page, 'cap0')).toHaveCount(1);

  await walkTo(page, 'cap1');
  await press(page, 'x');
  await expect(head(page, 'cap1')).toHaveAttribute('aria-selected', 'true');
  await parts(page, 'sel').toBe('cap1');
  await press(page, 'Alt+ArrowUp');
  await expect.poll(async () => (await order()).filter((name) => /^cap\d/.test(name))).toEqual(['cap1', 'cap0']);
  await expectFocusSeen(page);
  await expect(head(page, 'cap1')).toBeFocused();
  await press(page, 'Alt+ArrowDown');
  await expect.poll(async () => (await order()).filter((name) => /^cap\d/.test(name))).toEqual(['cap0', 'cap1']);
  await expect(head(page, 'cap1')).toBeFocused();

  await press(page, 'p');
  await expect.poll(async () => (await order())[0]).toBe('cap1');
  await parts(page, 'pin').toBe('cap1');
  await expect(head(page, 'cap1')).toBeFocused();
  await expectFocusSeen(page);
  await press(page, 'p');
  await parts(page, 'pin').toBeNull();
  await expect(head(page, 'cap1')).toBeFocused();

  // Hiding a track moves the focus to a neighbor.
  await press(page, 'h');
  await expect(head(page, 'cap1')).toHaveCount(0);
  await parts(page, 'hide').toBe('cap1');
  await expectFocusSeen(page);
  await press(page, 'Shift+H');
  await expect(head(page, 'cap1')).toHaveCount(1);
  await parts(page, 'hide').toBeNull();
  await expectFocusSeen(page);
});

test('the buttons of a head stand beside its outline', async ({ page }) => {
  await openByKeyboard(page);
  await press(page, 'ArrowDown');
  const gaps = () =>
    page.evaluate(() => {
      const outer = document.activeElement.getBoundingClientRect();
      const inner = document.activeElement.querySelector('.head-actions').getBoundingClientRect();
      return [inner.top - outer.top, outer.right - inner.right, outer.bottom - inner.bottom];
    });
  for (const name of ['blocks', 'cap0']) {
    await walkTo(page, name);
    // The outline is 2 pixels wide, and within the head.
    await expect.poll(async () => Math.min(...(await gaps()))).toBeGreaterThanOrEqual(2);
  }
});

test('walking goes to the last track and keeps it in view', async ({ page }) => {
  await openByKeyboard(page);
  await press(page, 'ArrowDown');
  await walkTo(page, 'blocks');
  await expectFocusSeen(page);
  const within = () =>
    page.evaluate(() => {
      const box = document.querySelector('.timeline').getBoundingClientRect();
      const row = document.activeElement.getBoundingClientRect();
      return row.top >= box.top && row.bottom <= box.bottom + 1;
    });
  await expect.poll(within).toBe(true);
  await press(page, 'Space');
  await expect(head(page, 'blocks')).toHaveAttribute('aria-expanded', 'true');
  await press(page, 'ArrowDown');
  await expectFocusSeen(page);
  await expect.poll(within).toBe(true);
});

// The item is known only when the marks of the track have arrived.
test('a track that was not in view is read when it is walked to', async ({ page }) => {
  await openByKeyboard(page);
  await press(page, 'ArrowDown');
  await walkTo(page, 'thread5');
  await expect(strip(page)).toContainText('main thread');
});

test('the focus returns to where it was from a note, the palette and the filter', async ({ page }) => {
  await openByKeyboard(page);
  await press(page, 'ArrowDown');
  await walkTo(page, 'cap0');
  await press(page, 'Control+k', 'Escape');
  await expect(head(page, 'cap0')).toBeFocused();
  await press(page, '/');
  await expect(page.getByPlaceholder('Filter tracks')).toBeFocused();
  await press(page, 'Escape');
  await expect(head(page, 'cap0')).toBeFocused();
  await press(page, 'b');
  await expect(page.locator('.notes-list').getByRole('textbox')).toBeFocused();
  await page.keyboard.type('here');
  await press(page, 'Enter');
  await expectFocusSeen(page);
});

test('a note is added and named, an action found, panels walked through', async ({ page }) => {
  await openByKeyboard(page);
  await press(page, 'ArrowDown');
  await walkTo(page, 'cap0');
  await press(page, 'ArrowRight', 'Enter', 'b');
  const name = page.locator('.notes-list').getByRole('textbox');
  await expect(name).toBeFocused();
  await page.keyboard.type('here');
  await press(page, 'Enter');
  await parts(page, 'k').toMatch(/~here$/);

  await press(page, 'Control+k');
  await expect(page.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('show the whole log');
  await press(page, 'Enter');
  await expect(page.getByRole('combobox', { name: 'Search' })).toHaveCount(0);
  await parts(page, 't').toBeNull();

  const tabs = page.getByRole('tablist', { name: 'Panels' });
  await press(page, '1');
  await tabTo(page, tabs.getByRole('tab', { name: 'Summary' }));
  for (const title of ['Findings', 'Events', 'Threads', 'Collections', 'Sparks', 'Flame graph', 'Heap', 'Ticky', 'Process', 'In view', 'Compare', 'Notes']) {
    await press(page, 'ArrowRight');
    await expect(tabs.getByRole('tab', { name: title })).toBeFocused();
    await expect(tabs.getByRole('tab', { name: title })).toHaveAttribute('aria-selected', 'true');
    await expectFocusSeen(page);
  }
  await press(page, 'Home');
  await expect(tabs.getByRole('tab', { name: 'Summary' })).toBeFocused();
});

test('the menu of the tracks is left with Esc', async ({ page }) => {
  await openByKeyboard(page);
  const button = page.locator('.track-menu > button');
  await tabTo(page, button);
  await press(page, 'Enter');
  const menu = page.getByRole('group', { name: 'Tracks' });
  await expect(menu).toBeVisible();
  await press(page, 'Tab', 'Space');
  await expect(head(page, 'program')).toHaveCount(0);
  await expectFocusSeen(page);
  await press(page, 'Escape');
  await expect(menu).toHaveCount(0);
  await expect(button).toBeFocused();
});
