// Small tables of the panels: each can be copied and saved, with exact values where the page rounds.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, loaded, openLog, started, test } from './helpers.js';

const TABLES = [
  { log: 'ghc-9.6.6/sparks-N2-ls', panel: 'Sparks', file: 'sparks', part: '.table-out' },
  { log: 'ghc-9.6.6/fib-forkio-N2-l', panel: 'Process', file: 'event-types', part: '.process-types .table-out' },
  { log: 'ghc-9.6.6/gc-heavy-N2-la-nonmoving', panel: 'Collections', file: 'pauses', part: '.table-out:has(:text("Median"))' },
];

for (const { log, panel, file, part } of TABLES) {
  test(`${panel}: the table is saved and copied as it stands`, async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await openLog(page, fixture(log));
    await page.getByRole('tab', { name: panel, exact: true }).click();
    const box = page.locator(part).first();
    // `evaluateAll` does not wait for rows.
    await expect(box.locator('tr').nth(2)).toBeVisible();
    const shown = await box.locator('tr').evaluateAll((rows) =>
      rows.map((row) => [...row.cells].flatMap((cell) => [cell.dataset.value ?? cell.textContent.trim(), ...Array(cell.colSpan - 1).fill('')])));
    expect(shown.length).toBeGreaterThan(2);

    await box.getByRole('button', { name: 'Copy' }).click();
    await expect(box.getByRole('status')).toHaveText('The table is copied');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(
      shown.map((row) => `${row.join('\t')}\n`).join(''));

    const downloading = page.waitForEvent('download');
    await box.getByRole('button', { name: 'Save JSON' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${file}.json`);
    const objects = JSON.parse(readFileSync(await download.path(), 'utf8'));
    const [heads, ...rows] = shown;
    const names = heads.map((head, place) => (head === '' || heads.indexOf(head) < place ? `column ${place + 1}` : head));
    expect(objects.map((row) => names.map((name) => row[name]))).toEqual(rows);
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
