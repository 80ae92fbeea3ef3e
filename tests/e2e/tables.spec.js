// Small tables of the panels: each can be copied and saved, with exact values where the page rounds.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, loaded, openLog, started, test } from './helpers.js';

const TABLES = [
  { log: 'ghc-9.6.6/sparks-N2-ls', panel: 'Sparks', file: 'sparks', part: '.table-out' },
  { log: 'ghc-9.6.6/fib-forkio-N2-l', panel: 'Process', file: 'event-types', part: '.process-types .table-out' },
  { log: 'ghc-9.6.6/gc-heavy-N2-la-nonmoving', panel: 'Collections', file: 'pauses', part: '.table-out:has(:text("Median"))' },
  { log: 'ghc-9.6.6/gc-heavy-N2-la-nonmoving', panel: 'Collections', file: 'collection-costs', part: '.table-out:has(caption:text("Cost for all capabilities"))' },
];

const UNITS = {
  ns: 1, µs: 1e3, ms: 1e6, s: 1e9, '%': 0.01, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, k: 1e3, M: 1e6,
};

/** Returns the smallest and largest value that is shown as this text. */
function bounds(text) {
  const [, sign, number, unit] = /^(?:([<≥])\s?)?([\d,.]+)\s?(ns|µs|ms|s|%|B|KiB|MiB|GiB|k|M)?/.exec(text);
  const step = 10 ** -(number.split('.')[1] ?? '').length;
  const value = Number(number.replaceAll(',', ''));
  const [least, most] = sign === '<' ? [0, value] : [value - step, value + step];
  return [least, most].map((bound) => bound * (UNITS[unit] ?? 1));
}

for (const { log, panel, file, part } of TABLES) {
  test(`${panel}, ${file}: the table is copied and saved with exact values of what it shows`, async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await openLog(page, fixture(log));
    await page.getByRole('tab', { name: panel, exact: true }).click();
    const box = page.locator(part).first();
    // `evaluateAll` does not wait for rows.
    await expect(box.locator('tr').nth(2)).toBeVisible();
    const [, ...shown] = await box.locator('tr').evaluateAll((rows) =>
      rows.map((row) => [...row.cells].flatMap((cell) => [cell.textContent.trim(), ...Array(cell.colSpan - 1).fill('')])));

    await box.getByRole('button', { name: 'Copy' }).click();
    await expect(box.getByRole('status')).toHaveText('The table is copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const [names, ...lines] = copied.replace(/\n$/, '').split('\n').map((line) => line.split('\t'));
    const downloading = page.waitForEvent('download');
    await box.getByRole('button', { name: 'Save JSON' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${file}.json`);
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
    expect(saved.map((row) => names.map((name) => String(row[name] ?? '')))).toEqual(lines);

    expect(saved.length).toBe(shown.length);
    let numbers = 0;
    for (const [place, row] of saved.entries()) {
      for (const [column, name] of names.entries()) {
        const [value, text] = [row[name], shown[place][column]];
        if (text === '' || value === null) continue;
        if (typeof value === 'string') {
          // An explanation may follow.
          expect(text.startsWith(value), `${text} is saved as ${value}`).toBe(true);
          continue;
        }
        const [least, most] = bounds(text);
        expect(value, text).toBeGreaterThanOrEqual(least);
        expect(value, text).toBeLessThanOrEqual(most);
        numbers += 1;
      }
    }
    expect(numbers).toBeGreaterThan(9);
  });
}

test('the tree of cost centres is saved as it is open', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await page.locator('[data-sample*="article-index-hc"]').click();
  await loaded(page);
  await page.getByRole('tab', { name: 'Tree' }).click();
  const tree = page.locator('.heap-tree');
  await tree.getByRole('button', { name: 'Expand all' }).click();
  const rows = tree.getByRole('row', { level: 1 });
  await expect(rows.first()).toBeVisible();
  const downloading = page.waitForEvent('download');
  await tree.getByRole('button', { name: 'Save TSV' }).click();
  const [names, ...lines] = readFileSync(await (await downloading).path(), 'utf8').trimEnd().split('\n');
  expect(names).toBe('level\tcost_centre\tsource\tmean_with_callees\tmean_itself\tlast_with_callees\tlast_itself');
  const saved = lines.map((line) => line.split('\t')).map(([level, name, , total, own]) => ({ level: Number(level), name, total: Number(total), own: Number(own) }));
  expect(saved.length).toBeGreaterThan(10);
  // The total of a node is its own value plus the totals of its children.
  for (const [at, node] of saved.entries()) {
    const below = [];
    for (let next = at + 1; next < saved.length && saved[next].level > node.level; next++) {
      if (saved[next].level === node.level + 1) below.push(saved[next].total);
    }
    const sum = below.reduce((sum, total) => sum + total, node.own);
    expect(Math.abs(sum - node.total), node.name).toBeLessThan(1);
  }
});
