// Number panels: summary, collections, sparks.

import { readFileSync, rmSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, fragment, largeLog, loaded, openLog, test, timeline } from './helpers.js';

const GC_HEAVY = 'ghc-9.0.2/gc-heavy-nt-l';
const SPARKS = 'ghc-9.0.2/sparks-N4-lsf';

/** Returns the runtime's own report of the run that wrote a log. */
const report = (name) => readFileSync(fixture(name).replace(/\.eventlog$/, '.rts-s.txt')).toString();
const within = (text, pattern) => text.match(pattern).slice(1).map((digits) => Number(digits.replaceAll(',', '')));
const counted = (number) => number.toLocaleString('en-US');

/** Locates a row in a list of numbers. */
const fact = (page, name) => page.locator('.fact', { has: page.getByRole('button', { name, exact: true }) });

/** Selects a range of the timeline by dragging. */
async function select(page, from, to) {
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(from), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(to), cap(0), { steps: 5 });
  await page.mouse.up();
  await expect(page.locator('.chip')).toBeVisible();
}

test('while a log is read, numbers of a part are never called those of the whole log', async ({ page }, testInfo) => {
  const path = largeLog(testInfo, 'large.eventlog');
  await page.goto('./');
  // Everything that was ever on the page: the title of the numbers, and what is next to them. The numbers themselves
  // are components, which Yew may render a moment later.
  await page.evaluate(() => {
    globalThis.shown = [];
    new MutationObserver(() => {
      const title = document.querySelector('.numbers-head h2');
      const numbers = [...document.querySelectorAll('.numbers-card .fact .more')].map((more) => more.textContent);
      if (title) globalThis.shown.push([title.textContent, numbers.join()]);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.setInputFiles('input[type=file]', path);
  await page.locator('.app[data-elapsed-ms]').waitFor();
  await loaded(page);
  await expect(page.locator('.numbers-head h2')).toHaveText('The whole log');
  const [titles, whole] = await page.evaluate(() => [
    [...new Set(globalThis.shown.map(([title]) => title))],
    [...new Set(globalThis.shown.filter(([title]) => title === 'The whole log').map(([, numbers]) => numbers))],
  ]);
  expect(titles).toEqual(['The part of the log that was read so far', 'The whole log']);
  expect(whole).toHaveLength(1);
  rmSync(path);
});

test('the summary has the numbers of the runtime', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  const said = report(GC_HEAVY);
  const [allocated] = within(said, /([\d,]+) bytes allocated/);
  const [copied] = within(said, /([\d,]+) bytes copied/);
  const [residency, samples] = within(said, /([\d,]+) bytes maximum residency \((\d+) sample/);
  await expect(fact(page, 'Allocated').locator('.more')).toHaveText(`${counted(allocated)} B`);
  await expect(fact(page, 'Copied').locator('.more')).toHaveText(`${counted(copied)} B`);
  await expect(fact(page, 'Maximum residency').locator('.more')).toHaveText(`${counted(residency)} B`);
  await expect(fact(page, 'Average residency').locator('.more')).toHaveText(`of ${samples} samples`);
  const table = page.locator('.numbers-card', { has: page.getByRole('heading', { name: 'Collections' }) });
  for (const [, generation, collections] of said.matchAll(/Gen +(\d+) +(\d+) colls/g)) {
    const row = table.locator('tbody tr').nth(Number(generation));
    await expect(row.locator('td').first()).toHaveText(counted(Number(collections)));
  }
});

test('the summary of a program with sparks has the runtime’s counts', async ({ page }) => {
  await openLog(page, fixture(SPARKS));
  const numbers = within(report(SPARKS), /SPARKS: (\d+) \((\d+) converted, (\d+) overflowed, (\d+) dud, (\d+) GC'd, (\d+) fizzled\)/);
  for (const [i, name] of ['Total', 'Converted', 'Overflowed', 'Dud', 'GC’d', 'Fizzled'].entries()) {
    await expect(fact(page, name).last().locator('.value')).toHaveText(counted(numbers[i]));
  }
});

test('every number can be explained by keyboard and pointer', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  const term = page.getByRole('button', { name: 'Productivity' });
  const tip = page.getByRole('tooltip');
  await term.focus();
  await expect(tip).toContainText('Share of mutator time in the elapsed time');
  await expect(term).toHaveAccessibleDescription(/Share of mutator time in the elapsed time/);
  await page.keyboard.press('Escape');
  await expect(tip).toHaveCount(0);
  await page.getByRole('button', { name: 'Maximum slop', exact: true }).hover();
  await expect(tip).toContainText('ends of blocks');
  const box = await tip.boundingBox();
  const { width, height } = page.viewportSize();
  expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height).toBe(true);
});

test('the numbers are copied as the command line prints them', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLog(page, fixture(GC_HEAVY));
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Copy these numbers' }).click();
  await expect(page.getByRole('button', { name: 'Copied these numbers' })).toBeVisible();
  const [line] = report(GC_HEAVY).match(/[\d,]+ bytes allocated in the heap/);
  expect(await clipboard()).toContain(line);
  await page.getByRole('button', { name: /^Copy as JSON/ }).click();
  await expect.poll(clipboard).toMatch(/^\{"range":\{"from_ns":0,.*"bytes_allocated":\d+,.*"productivity":0\.\d+/);
});

test('a selection changes all panels', async ({ page }) => {
  await openLog(page, fixture(SPARKS));
  const body = page.locator('.panel-body');
  const whole = {};
  const tabs = { Summary: '.facts', Collections: '.pauses .plain-table', Sparks: '.sparks .plain-table' };
  for (const [tab, what] of Object.entries(tabs)) {
    await page.getByRole('tab', { name: tab }).click();
    await expect(body.locator(what).first()).toBeVisible();
    whole[tab] = await body.locator(what).first().textContent();
  }
  await select(page, 0.2, 0.55);
  for (const [tab, what] of Object.entries(tabs)) {
    await page.getByRole('tab', { name: tab }).click();
    await expect(body).toContainText(/[\d.]+\sms – [\d.]+\sms/);
    await expect(body.locator(what).first()).not.toHaveText(whole[tab]);
  }
  await page.keyboard.press('Escape');
});

test('the panel follows while a selection is dragged, and has its end when it is let go', async ({ page }) => {
  await page.clock.install();
  await openLog(page, fixture(SPARKS));
  const { x, cap } = await timeline(page);
  const [heading, chip] = [page.locator('.panel-body h2'), page.locator('.strip .chip')];
  await page.mouse.move(x(0.2), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.3), cap(0));
  await page.mouse.move(x(0.4), cap(0));
  // While the button is down and the mouse rests, the numbers below the heading are those of the range, but
  // neither the link nor the history changes.
  const shown = async () => (await chip.textContent()).replace('✕', '');
  const follows = async () => expect(await heading.textContent()).toBe(await shown());
  await expect(chip).toContainText(/[\d.]+\sms – [\d.]+\sms/);
  await expect(follows).toPass();
  const [half, entries] = [await shown(), await page.evaluate(() => history.length)];
  await page.clock.runFor(10_000);
  expect(new URL(page.url()).hash).not.toMatch(/[#&]r=/);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.move(x(0.55), cap(0));
  await page.mouse.up();
  await expect(chip).not.toContainText(half);
  await expect(follows).toPass();
  // The numbers equal those of the same range opened from a link.
  const facts = page.locator('.panel-body .facts').first();
  const dragged = await facts.textContent();
  await fragment(page, /[#&]r=/);
  expect(await page.evaluate(() => history.length)).toBe(entries + 1);
  const link = page.url();
  await page.goto('about:blank');
  await openLog(page, fixture(SPARKS), link);
  await expect(heading).toHaveText(/[\d.]+\sms – [\d.]+\sms/);
  await expect(facts).toHaveText(dragged);
});

test('collections are sorted by any column, and a click shows one', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  await page.getByRole('tab', { name: 'Collections' }).click();
  const row = (n) => page.locator(`#collection-rows-row-${n}`);
  const cell = (n, column) => row(n).getByRole('gridcell').nth(column);
  await expect(cell(0, 0)).toHaveText('1');
  const [total] = within(report(GC_HEAVY), /Gen +0 +(\d+) colls/);
  const [major] = within(report(GC_HEAVY), /Gen +1 +(\d+) colls/);
  await expect(page.getByRole('grid', { name: 'Collections' })).toHaveAttribute('aria-rowcount', String(total + major + 1));
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(page.getByRole('columnheader', { name: 'Pause' })).toHaveAttribute('aria-sort', 'descending');
  const longest = await page.locator('.pauses tfoot td').last().textContent();
  await expect(cell(0, 5)).toHaveText(longest);
  expect(new URL(page.url()).hash).not.toMatch(/[#&]t=/);
  await cell(0, 5).click();
  await fragment(page, /[#&]t=/);
  await expect(row(0)).toHaveClass(/current/);
  // The whole pause, on the track of collections.
  const number = await cell(0, 0).textContent();
  await expect(page.locator('.strip strong').first()).toHaveText(`Collection ${number}`);
  await expect(page.locator('.strip p').first()).toContainText(longest);
  await fragment(page, /[#&]e=\d+\.gc(&|$)/);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(cell(0, 5)).not.toHaveText(longest);
});

test('the last collection becomes current before it is loaded', async ({ page }) => {
  await openLog(page, fixture('../../../www/demo/article-index-hc').concat('.gz'), './#v=1&p=gc');
  const grid = page.getByRole('grid', { name: 'Collections' });
  const row = (n) => page.locator(`#collection-rows-row-${n}`);
  await expect(row(0).getByRole('gridcell').first()).toHaveText('1');
  const count = Number(await grid.getAttribute('aria-rowcount')) - 1;
  expect(count).toBeGreaterThan(500);
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await expect(row(0)).toHaveClass(/current/);
  await page.keyboard.press('End');
  await expect(row(count - 1)).toHaveClass(/current/);
  await expect(row(count - 1).getByRole('gridcell').first()).toHaveText(/\d/);
  // The keyboard goes on from there.
  await page.keyboard.press('ArrowUp');
  await expect(row(count - 2)).toHaveClass(/current/);
});

test('collections are saved as CSV and JSON, in the order of the table', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  await page.getByRole('tab', { name: 'Collections' }).click();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  const save = async (kind) => {
    const saving = page.waitForEvent('download');
    await page.locator('.rows-out:not(.table-out *)').getByRole('button', { name: `Save ${kind}` }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe(`collections.${kind.toLowerCase()}`);
    return readFileSync(await file.path(), 'utf8');
  };
  const rows = JSON.parse(await save('JSON'));
  const of = [...report(GC_HEAVY).matchAll(/Gen +\d+ +(\d+) colls/g)];
  expect(rows).toHaveLength(of.reduce((sum, [, n]) => sum + Number(n), 0));
  const pauses = rows.map((row) => row.pause_ns);
  expect(pauses).toEqual([...pauses].sort((a, b) => b - a));
  const [head, ...lines] = (await save('CSV')).trimEnd().split('\r\n').map((line) => line.split(','));
  expect(lines.map((cells) => Number(cells[head.indexOf('number')]))).toEqual(rows.map((row) => row.number));
});

test('the longest stop leads to its collection', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  await page.getByRole('tab', { name: 'Collections' }).click();
  await page.getByRole('button', { name: /show the collection of generation 1 with the longest stop/ }).click();
  await fragment(page, /[#&]e=\d+\.gc(&|$)/);
  await expect(page.locator('.strip strong').first()).toHaveText(/^Collection \d+/);
});

test('pauses are drawn, and are in a table for those who do not see them', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  await page.getByRole('tab', { name: 'Collections' }).click();
  await expect(page.locator('.pauses svg[role=group] path').first()).toBeAttached();
  const cells = await page.getByRole('table', { name: 'Pauses by length' }).locator('td').allTextContents();
  const drawn = cells.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
  const of = [...report(GC_HEAVY).matchAll(/Gen +\d+ +(\d+) colls/g)];
  expect(drawn).toBe(of.reduce((sum, [, n]) => sum + Number(n), 0));
});

test('sparks: counts of each capability, charts and run times', async ({ page }) => {
  await openLog(page, fixture(SPARKS));
  await page.getByRole('tab', { name: 'Sparks' }).click();
  const rows = page.locator('.sparks tbody').first().locator('tr');
  await expect(rows).toHaveCount(5);
  const [total, converted] = within(report(SPARKS), /SPARKS: (\d+) \((\d+) converted/);
  await expect(rows.first().locator('td').nth(0)).toHaveText(counted(total));
  await expect(rows.first().locator('td').nth(2)).toHaveText(counted(converted));
  const shape = () => page.locator('.chart', { hasText: 'Creation' }).locator('path').first().getAttribute('d');
  const all = await shape();
  await page.getByRole('button', { name: 'Capability 1' }).click();
  await expect.poll(shape).not.toBe(all);
  await expect(page.getByRole('img', { name: /Sparks created per second, Capability 1/ })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Run times' })).toBeAttached();
  // The time at which most sparks waited is a place on the graph of the pool.
  const most = rows.nth(2).getByRole('button', { name: /show when the pool was largest/ });
  const waited = (await most.textContent()).replace('≥ ', '');
  await most.click();
  await fragment(page, /[#&]e=\d+\.pool1(&|$)/);
  await expect(page.locator('.strip p').first()).toContainText(waited);
});

test('what a log does not have is said, with the reason', async ({ page }) => {
  await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l-as'));
  await expect(fact(page, 'Allocated')).toContainText('no heap events in this log');
  await page.getByRole('tab', { name: 'Collections' }).click();
  await expect(page.locator('.panel-body')).toContainText('No collections in this log');
  await page.getByRole('tab', { name: 'Sparks' }).click();
  await expect(page.locator('.panel-body')).toContainText('This log has no spark events');
});

test('a program without sparks is told from a log without counts', async ({ page }) => {
  await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await page.getByRole('tab', { name: 'Sparks' }).click();
  await expect(page.locator('.panel-body')).toContainText('This program created no sparks');
});
