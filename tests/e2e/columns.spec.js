// Columns of a list: hidden, moved and resized by mouse and keyboard, and restored on reload.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, openLog, test, violations } from './helpers.js';

const LOG = fixture('ghc-9.0.2/stops-N4-la');

const grid = (page) => page.getByRole('grid', { name: 'Threads' });
const heading = (page, name) => page.getByRole('columnheader', { name, exact: true });
const edge = (page, name) => page.getByRole('separator', { name: `Width of ${name}`, exact: true });
const menu = (page) => page.locator('#columns-menu');
const choice = (page, name) => menu(page).getByRole('checkbox', { name, exact: true });
const openMenu = (page) => page.getByRole('button', { name: 'Columns' }).click();

/** Returns the headings from left to right. */
const headings = (page) => grid(page).getByRole('columnheader').evaluateAll((all) => all.map((it) => it.getAttribute('aria-label')));

/** Returns the cells of a column in the visible rows. */
const held = (page, name) => page.evaluate((name) => {
  const all = [...document.querySelectorAll('.thread-rows [role=columnheader]')];
  const at = all.findIndex((it) => it.getAttribute('aria-label') === name);
  const rows = document.querySelectorAll('.thread-rows .grid-window [role=row]');
  return [...rows].map((row) => row.children[at].textContent);
}, name);

const width = (page, name) => heading(page, name).evaluate((it) => Math.round(it.getBoundingClientRect().width));

async function openThreads(page, [wide, high] = [1440, 900]) {
  await page.setViewportSize({ width: wide, height: high });
  await openLog(page, LOG, './#p=threads');
  await expect(page.locator('#thread-rows-row-0')).toBeVisible();
}

test('nothing is cut at 1440 px', async ({ page }) => {
  await openThreads(page);
  const cut = await grid(page).evaluate((grid) => {
    const right = grid.getBoundingClientRect().right;
    const texts = [...grid.querySelectorAll('[role=columnheader] [data-help], .grid-window [role=gridcell]')];
    return texts
      .filter((it) => it.scrollWidth > it.clientWidth + 1 || it.getBoundingClientRect().right > right)
      .map((it) => it.textContent);
  });
  expect(cut).toEqual([]);
});

test('columns are hidden and shown', async ({ page }) => {
  await openThreads(page);
  const first = await headings(page);
  expect(first).not.toContain('Mean wait');
  await openMenu(page);
  await expect(menu(page)).toContainText(`${first.length} of 18 shown`);
  await choice(page, 'Shares').uncheck();
  await choice(page, 'Mean wait').check();
  await expect(heading(page, 'Shares')).toHaveCount(0);
  await expect(heading(page, 'Mean wait')).toBeVisible();
  // Columns that identify the row cannot be hidden.
  await expect(choice(page, '#')).toBeDisabled();
  await expect(choice(page, 'Label')).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(menu(page)).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Columns' })).toBeFocused();

  // Assistive technology gets the index of a cell among all columns.
  await expect(grid(page)).toHaveAttribute('aria-colcount', '18');
  await expect(heading(page, 'Running')).toHaveAttribute('aria-colindex', '4');
  await expect(page.locator('#thread-rows-row-0').getByRole('gridcell').nth(2)).toHaveAttribute('aria-colindex', '4');
  await openMenu(page);
  await menu(page).getByRole('button', { name: 'Show all' }).click();
  await expect(heading(page, 'Shares')).toBeVisible();
  await expect(grid(page)).not.toHaveAttribute('aria-colcount');
  expect(await headings(page)).toHaveLength(18);
  await menu(page).getByRole('button', { name: 'Reset' }).click();
  await expect.poll(() => headings(page)).toEqual(first);
});

test('columns are moved by the menu, and sorting stays right', async ({ page }) => {
  await openThreads(page);
  await openMenu(page);
  await choice(page, 'Runs').check();
  await expect(heading(page, 'Runs')).toBeVisible();
  const first = await headings(page);
  await menu(page).getByRole('button', { name: 'Move Runs to the left' }).focus();
  // Moves past hidden columns too.
  for (let step = 0; step < 3; step += 1) {
    await page.keyboard.press('Enter');
    await expect(menu(page).getByRole('button', { name: 'Move Runs to the left' })).toBeFocused();
  }
  await expect(menu(page).getByRole('status')).toHaveText(/^Runs is column 11 of 18$/);
  const moved = first.filter((name) => name !== 'Runs');
  moved.splice(moved.indexOf('Foreign calls'), 0, 'Runs');
  expect(await headings(page)).toEqual(moved);
  // At the end, focus moves to the button for the other direction.
  await menu(page).getByRole('button', { name: 'Move Created to the right' }).click();
  await expect(menu(page).getByRole('button', { name: 'Move Created to the left' })).toBeFocused();
  await page.keyboard.press('Escape');

  await heading(page, 'Runs').getByRole('button').click();
  await expect(heading(page, 'Runs')).toHaveAttribute('aria-sort', 'descending');
  await expect.poll(async () => {
    const runs = (await held(page, 'Runs')).map((text) => Number(text.replace(/\D/g, '')));
    return runs.length > 3 && runs.every((count, i) => i === 0 || count <= runs[i - 1]);
  }).toBe(true);
  // Row navigation still works.
  await grid(page).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('#thread-rows-row-1')).toHaveClass(/current/);
});

test('headings are dragged, and a drag does not sort', async ({ page }) => {
  await openThreads(page);
  const first = await headings(page);
  const from = await heading(page, 'Running').getByRole('button').boundingBox();
  const to = await heading(page, 'Longest wait').boundingBox();
  await page.mouse.move(from.x + 10, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + 8, { steps: 6 });
  await expect(heading(page, 'Longest wait')).toHaveClass(/drop-behind/);
  await page.mouse.up();
  const moved = first.filter((name) => name !== 'Running');
  moved.splice(moved.indexOf('Longest wait') + 1, 0, 'Running');
  await expect.poll(() => headings(page)).toEqual(moved);
  await expect(heading(page, 'Running')).toHaveAttribute('aria-sort', 'descending');
  // A click still sorts.
  await heading(page, 'Running').getByRole('button').click();
  await expect(heading(page, 'Running')).toHaveAttribute('aria-sort', 'ascending');
  // Fixed columns cannot be moved.
  const label = await heading(page, 'Label').boundingBox();
  await page.mouse.move(label.x + 20, label.y + 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + 8, { steps: 6 });
  await page.mouse.up();
  expect(await headings(page)).toEqual(moved);
});

test('edges of headings are dragged, and moved by keys', async ({ page }) => {
  await openThreads(page);
  const before = await width(page, 'Running');
  const box = await edge(page, 'Running').boundingBox();
  const at = [box.x + box.width / 2, box.y + 10];
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] + 70, at[1], { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => width(page, 'Running')).toBe(before + 70);
  await expect(edge(page, 'Running')).toHaveAttribute('aria-valuenow', String(before + 70));
  await expect(heading(page, 'Running')).toHaveAttribute('aria-sort', 'descending');
  // Cells have the width of the heading, and the grid scrolls horizontally.
  const cell = await page.locator('#thread-rows-row-0').getByRole('gridcell').nth(3).boundingBox();
  expect(Math.round(cell.width)).toBe(before + 70);
  expect(await grid(page).evaluate((grid) => grid.scrollWidth > grid.clientWidth)).toBe(true);

  // Keyboard: one heading and its edge are in the Tab order; arrow keys move to the others.
  await heading(page, '#').getByRole('button').focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  await expect(heading(page, 'Running').getByRole('button')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(edge(page, 'Running')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(edge(page, 'Running')).toHaveAttribute('aria-valuenow', String(before + 62));
  await page.keyboard.press('Shift+ArrowRight');
  await expect(edge(page, 'Running')).toHaveAttribute('aria-valuenow', String(before + 102));
  await page.keyboard.press('Home');
  await expect(edge(page, 'Running')).toHaveAttribute('aria-valuenow', '28');

  // Enter fits the width to the content; a double click restores the default.
  await page.keyboard.press('Enter');
  await expect.poll(() => width(page, 'Running')).toBeGreaterThan(40);
  const whole = await page.locator('.thread-rows .grid-window [role=gridcell]:nth-child(4)').evaluateAll((cells) => cells.every((it) => it.scrollWidth <= it.clientWidth));
  expect(whole).toBe(true);
  await edge(page, 'Running').dblclick();
  await expect.poll(() => width(page, 'Running')).toBe(before);
  // A flexible column reports its width.
  await edge(page, 'Blocked on').focus();
  await expect(edge(page, 'Blocked on')).toHaveAttribute('aria-valuenow', String(await width(page, 'Blocked on')));
  await page.keyboard.press('Shift+Tab');
  await expect(heading(page, 'Blocked on').locator('[data-help]')).toBeFocused();
});

test('what was arranged is there after a reload, for that list alone', async ({ page }) => {
  await openThreads(page);
  const first = await headings(page);
  await openMenu(page);
  await choice(page, 'Shares').uncheck();
  await menu(page).getByRole('button', { name: 'Move Running to the right' }).click();
  await page.keyboard.press('Escape');
  await edge(page, 'Label').focus();
  await page.keyboard.press('ArrowRight');
  // The layout follows a moment later.
  let label;
  await expect.poll(async () => {
    const before = label;
    label = await width(page, 'Label');
    return label === before;
  }).toBe(true);
  const arranged = await headings(page);
  await page.getByRole('tab', { name: 'Collections' }).click();
  await expect(page.locator('.collection-rows')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Columns' })).toHaveAttribute('title', /11 of 11 shown/);

  await page.reload();
  await openLog(page, LOG, './#p=threads');
  await expect.poll(() => headings(page)).toEqual(arranged);
  await expect.poll(() => width(page, 'Label')).toBe(label);
  await openMenu(page);
  await menu(page).getByRole('button', { name: 'Reset' }).click();
  await expect.poll(() => headings(page)).toEqual(first);
  expect(await page.evaluate(() => localStorage.getItem('eventscope-columns-thread-rows'))).toBe(null);

  // Invalid stored settings are ignored.
  await page.evaluate(() => localStorage.setItem('eventscope-columns-thread-rows', 'such,-no:7,runs:1e9,-label,,-shares:x'));
  await page.reload();
  await openLog(page, LOG, './#p=threads');
  await expect(heading(page, 'Runs')).toBeVisible();
  await expect(heading(page, 'Label')).toBeVisible();
  await expect(heading(page, 'Shares')).toHaveCount(0);
});

test('what is saved has all columns, in an order of its own', async ({ page }) => {
  await openThreads(page);
  const saved = async () => {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save CSV' }).click();
    return readFileSync(await (await downloading).path(), 'utf8');
  };
  const before = await saved();
  await openMenu(page);
  await expect(menu(page)).toContainText('Copied and saved tables contain all columns');
  await choice(page, 'Shares').uncheck();
  await menu(page).getByRole('button', { name: 'Move Blocked to the left' }).click();
  await page.keyboard.press('Escape');
  expect(await saved()).toBe(before);
});

for (const [wide, high] of [[1440, 900], [390, 844]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`the menu is accessible at ${wide} px, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await openThreads(page, [wide, high]);
      await openMenu(page);
      await expect(menu(page)).toBeVisible();
      // It gets its place after it is rendered.
      await expect(async () => {
        const { x, y, width, height } = await menu(page).boundingBox();
        expect(x >= 0 && y >= 0 && x + width <= wide && y + height <= high).toBe(true);
      }).toPass();
      expect(await violations(page)).toEqual([]);
      await choice(page, 'Shares').uncheck();
      await menu(page).getByRole('button', { name: 'Move Running to the right' }).click();
      await expect(heading(page, 'Shares')).toHaveCount(0);
      expect(await violations(page)).toEqual([]);
    });
  }
}

test('in a narrow window a list begins with what fits', async ({ page }) => {
  await openThreads(page, [390, 844]);
  // The label stays in view while the rest is scrolled.
  await grid(page).evaluate((grid) => grid.scrollTo(400, 0));
  await expect(heading(page, 'Label')).toBeInViewport();
  const { x } = await heading(page, 'Label').boundingBox();
  expect(x).toBeLessThan(70);
});

test('every long list can be arranged', async ({ page }) => {
  await openLog(page, fixture('ghc-9.10.3/prof-time-N2-pj-l'));
  for (const panel of ['events', 'threads', 'gc', 'view', 'flame&fo=sandwich']) {
    await page.evaluate((panel) => { location.hash = `#v=1&p=${panel}`; }, panel);
    await expect(page.locator(`#tab-${panel.split('&')[0]}`)).toHaveAttribute('aria-selected', 'true');
    await expect(page.locator('.grid-window [role=row]').first()).toBeVisible();
    await openMenu(page);
    const last = menu(page).getByRole('checkbox').last();
    const before = await page.getByRole('columnheader').count();
    await last.setChecked(!(await last.isChecked()));
    await expect(page.getByRole('columnheader')).not.toHaveCount(before);
    await page.keyboard.press('Escape');
  }
});
