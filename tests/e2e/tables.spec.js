// Small tables of the panels: each is copied and saved as it stands.

import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { fixture, openLog } from './helpers.js';

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
    const shown = await box.locator('tr').evaluateAll((rows) =>
      rows.map((row) => [...row.cells].flatMap((cell) => [cell.textContent.trim(), ...Array(cell.colSpan - 1).fill('')])));
    expect(shown.length).toBeGreaterThan(2);

    await box.getByRole('button', { name: 'Copy' }).click();
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
