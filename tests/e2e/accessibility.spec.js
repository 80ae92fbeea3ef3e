// Accessibility according to axe-core: WCAG 2.2, levels A and AA.

import { expect } from '@playwright/test';
import { fixture, openLog, openPalette, pointAlong, started, test, timeline, violations } from './helpers.js';

for (const colorScheme of ['light', 'dark']) {
  test(`the ${colorScheme} start page is accessible`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto('./');
    await started(page);
    expect(await violations(page)).toEqual([]);
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`an open log is accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.10.3/prof-time-N2-pj-l'));
    expect(await violations(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Flame graph' }).click();
    await expect(page.locator('.flame-canvas canvas')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Process' }).click();
    await expect(page.getByRole('heading', { name: 'Event types' })).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Threads' }).click();
    await expect(page.locator('#thread-rows-row-0')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`the panels of numbers are accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.0.2/sparks-N4-lsf'));
    const ready = { Summary: '.numbers', Collections: '.collections svg text', Sparks: '.sparks svg text' };
    for (const [tab, what] of Object.entries(ready)) {
      await page.getByRole('tab', { name: tab }).click();
      await expect(page.locator(what).first()).toBeVisible();
      expect(await violations(page)).toEqual([]);
    }
    await page.getByRole('button', { name: 'Overflowed' }).focus();
    await expect(page.getByRole('tooltip')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`the panel of the heap is accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.10.3/heap-ipe-N1-hi-l-au'));
    await expect(page.locator('.heap-legend button.band').first()).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.locator('.heap-canvas canvas').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'Overlay' }).click();
    expect(await violations(page)).toEqual([]);
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`ticky counters are accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.10.3/ticky-lT'), './#p=ticky');
    await page.locator('#ticky-rows-row-1').click();
    await expect(page.locator('.ticky-details')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Filter by column' }).focus();
    await expect(page.getByRole('tooltip')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`findings are accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.6.6/gc-heavy-N2-la-nonmoving'), './#p=findings');
    await page.locator('.finding-head').first().click();
    await page.locator('.place').first().click();
    await expect(page.locator('.place').first()).toHaveAttribute('aria-current', 'true');
    await page.getByRole('button', { name: /^Checked / }).click();
    expect(await violations(page)).toEqual([]);
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`palette and notes are accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'), './#p=notes');
    await expect(page.locator('.notes .empty')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'From markers' }).click();
    await expect(page.locator('.notes-list')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('combobox')).toBeFocused();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.type('xyzzy');
    expect(await violations(page)).toEqual([]);
  });
}

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'more contrast': { colorScheme: 'light', contrast: 'more' },
  'forced colors': { colorScheme: 'dark', forcedColors: 'active' },
};

for (const [name, media] of Object.entries(LOOKS)) {
  // With forced colors, the system sets the colors, so that contrast cannot be measured.
  const broken = async (page) =>
    (await violations(page)).filter((line) => !media.forcedColors || !line.startsWith('color-contrast'));

  test(`the timeline with all that can stand on it is accessible, ${name}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 2100 });
    await page.emulateMedia(media);
    const open = 'v=1&open=events,memory,sparks,tasks,blocks&pin=cap1&sel=cap0&p=view';
    await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'), `./#${open}`);
    await expect(page.locator('.in-view [role=row]').nth(1)).toBeVisible();
    await expect(page.locator('#head-tasks')).toHaveAttribute('aria-expanded', 'true');
    expect(await broken(page)).toEqual([]);

    const { cap } = await timeline(page);
    const run = await pointAlong(page, cap(0), / ran for/);
    await expect(page.locator('.timeline .tip')).toContainText('duration');
    expect(await broken(page)).toEqual([]);
    await page.mouse.click(run.x, cap(0));
    await expect(page.locator('.details-card')).toContainText('duration');
    await page.locator('#head-gc').hover();
    expect(await broken(page)).toEqual([]);

    await page.getByRole('button', { name: /^Tracks/ }).click();
    await expect(page.locator('.menu')).toBeVisible();
    expect(await broken(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('9');
    await page.keyboard.press('b');
    await expect(page.locator('.notes-list')).toBeVisible();
    expect(await broken(page)).toEqual([]);
  });
}

test('with forced colors, what is current or pressed is outlined, and marks have patterns at once', async ({ page }) => {
  await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'), './#v=1&p=threads');
  const picture = () => page.locator('.timeline canvas').evaluate((canvas) => canvas.toDataURL());
  let before;
  await expect.poll(async () => {
    const last = before;
    before = await picture();
    return before === last;
  }).toBe(true);
  await page.emulateMedia({ forcedColors: 'active' });
  await expect.poll(async () => (await picture()) === before).toBe(false);
  const outlined = (element) => expect(element).toHaveCSS('outline-style', 'solid');
  await page.getByRole('grid', { name: 'Threads' }).focus();
  await page.keyboard.press('ArrowDown');
  await outlined(page.locator('.thread-rows .current'));
  await page.keyboard.press('Shift+Backslash');
  const maximized = page.getByRole('button', { name: 'Maximize the panel' });
  await expect(maximized).toHaveAttribute('aria-pressed', 'true');
  await outlined(maximized);
  await openPalette(page);
  await outlined(page.locator('.palette li[aria-selected="true"]'));
});

for (const colorScheme of ['light', 'dark']) {
  test(`more contrast, the legend and the menu of tracks are accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await openLog(page, fixture('ghc-9.0.2/ffi-safe-N2-lu'));
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('combobox')).toBeFocused();
    await page.keyboard.type('change the contrast');
    await page.keyboard.press('Enter');
    await expect(page.locator('html')).toHaveAttribute('data-contrast', 'more');
    await page.getByRole('button', { name: /^Tracks/ }).click();
    await expect(page.getByLabel('Begins with')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await expect(page.locator('.mark-legend canvas').first()).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
}
