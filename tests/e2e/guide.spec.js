// Guide: words, colors, numbers, commands to copy; and panels without data that link to it.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { fixture, openLog, openPalette, started, test } from './helpers.js';

const GUIDE = './www/guide.html';
const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
/** Log with hardly any events: all event classes were disabled. */
const EMPTY = fixture('ghc-9.0.2/fib-forkio-N2-l-a');

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    test(`the guide is accessible and fits, ${colorScheme}, ${width} px`, async ({ page }) => {
      const problems = [];
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.goto(GUIDE);
      await expect(page.getByRole('button', { name: 'Copy' }).first()).toBeVisible();
      const [inner, all] = await page.evaluate(() => [document.documentElement.clientWidth, document.documentElement.scrollWidth]);
      expect(all).toBeLessThanOrEqual(inner);
      expect(problems).toEqual([]);
      // The guide's policy blocks injected scripts, so bypass it for axe-core.
      const session = await page.context().newCDPSession(page);
      await session.send('Page.setBypassCSP', { enabled: true });
      await page.reload();
      await page.evaluate(await readFile(AXE, 'utf8'));
      const violations = await page.evaluate(async () => {
        const { violations } = await window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
        return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0].html})`);
      });
      expect(violations).toEqual([]);
    });
  }
}

test('a command is copied, and an address leads to its place', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${GUIDE}#record-heap`);
  const heading = page.getByRole('heading', { name: 'Memory: what fills it, what leaks' });
  await expect(heading).toBeInViewport();
  const command = page.locator('.command', { hasText: '-hT' }).first();
  await command.getByRole('button', { name: 'Copy' }).click();
  await expect(command.getByRole('button')).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('./Main +RTS -l -hT -i0.1');
});

test('it has the theme that was chosen on the page', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('./');
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await page.evaluate(() => localStorage.setItem('eventscope-theme', 'dark'));
  await page.goto(GUIDE);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('every number of the Summary is explained', async ({ page }) => {
  await openLog(page, fixture('ghc-9.0.2/sparks-N4-lsf'));
  const terms = page.locator('.facts dt .term > button, .plain-table thead .term > button');
  await expect.poll(() => terms.count()).toBeGreaterThan(25);
  const shown = await terms.allTextContents();
  await page.goto(GUIDE);
  const explained = (await page.locator('#summary dt, #words dt').allTextContents()).join(', ').toLowerCase();
  const names = shown.map((text) => text.trim().toLowerCase());
  // The sentence above the list explains these.
  const plain = ['time'];
  expect(names.filter((name) => !explained.includes(name) && !plain.includes(name))).toEqual([]);
});

test('the first page, the help and the palette lead to it', async ({ page, context }) => {
  await page.goto('./');
  for (const name of ['How to record for your question', 'Guide: terms, colors and numbers']) {
    const href = await page.getByRole('link', { name }).getAttribute('href');
    expect(href).toMatch(/^www\/guide\.html#/);
  }
  await started(page);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog').getByRole('link', { name: /^Guide/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await openPalette(page);
  await page.keyboard.type('read the guide');
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  await expect((await opened).getByRole('heading', { name: 'Guide', exact: true })).toBeVisible();
});

/** Panels by their tab, with their message for a log without their data, and the anchor that they link to. */
const PANELS = [
  ['Threads', 'No thread events', 'record-threads'],
  ['Collections', 'No collections', 'record-gc'],
  ['Sparks', 'no spark events', 'record-sparks'],
  ['Flame graph', 'No stacks in this log', 'record-code'],
  ['Heap', 'no heap profile', 'record-heap'],
  ['Ticky', 'no ticky counters', 'record-ticky'],
];

test('each panel without data says which flag would fill it, and leads to the guide', async ({ page, request }) => {
  await openLog(page, EMPTY);
  const text = await (await request.get(GUIDE)).text();
  for (const [tab, what, place] of PANELS) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    const empty = page.locator('#panel .empty').first();
    await expect(empty, tab).toContainText(what);
    await expect(empty, tab).toContainText(/(\+RTS|-l)/);
    const href = await empty.getByRole('link', { name: 'How to record it, by GHC version' }).getAttribute('href');
    expect(href).toBe(`www/guide.html#${place}`);
    expect(text).toContain(`id="${place}"`);
  }
  await page.getByRole('tab', { name: 'Summary' }).click();
  const summary = page.locator('#panel');
  await expect(summary.getByRole('link', { name: 'How to record them' }).first()).toBeVisible();
  await page.getByRole('tab', { name: 'Findings' }).click();
  await page.getByRole('button', { name: /^Checked/ }).click();
  const checked = page.locator('.passed');
  await expect(checked).toContainText('+RTS');
  await expect(checked.getByRole('link', { name: 'How to record it, by GHC version' })).toBeVisible();
});
