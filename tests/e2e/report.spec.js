// A report saved from the page equals the output of the command line, opens standalone, and can be printed.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, fragment, openLog, test, timeline, violations } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');
const PROGRAM = process.env.EVENTSCOPE_PROGRAM ?? 'target/debug/eventscope';

/** Saves the report and returns its path. */
async function save(page, info) {
  const saving = page.waitForEvent('download');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('save a report');
  await page.keyboard.press('Enter');
  const file = await saving;
  expect(file.suggestedFilename()).toBe('fib-forkio-N2-l.html');
  await expect(page.getByRole('status').filter({ hasText: 'Report saved' })).toBeVisible();
  const path = info.outputPath('report.html');
  await file.saveAs(path);
  return path;
}

test('the page saves the report that the command line writes', async ({ page }, info) => {
  await openLog(page, LOG);
  const saved = readFileSync(await save(page, info), 'utf8');
  const written = execFileSync(PROGRAM, ['report', LOG], { maxBuffer: 1 << 28 }).toString();
  expect(saved).toBe(written);
});

test('the report is about the selected range', async ({ page }, info) => {
  await openLog(page, LOG);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.4), cap(0) + 40);
  await page.mouse.down();
  await page.mouse.move(x(0.6), cap(0) + 40, { steps: 5 });
  await page.mouse.up();
  await fragment(page, /[#&]r=/);
  const saved = readFileSync(await save(page, info), 'utf8');
  expect(saved).toContain('<dt>Time</dt><dd>only ');
});

test('the report opens by itself, asks for nothing and prints', async ({ page, context }, info) => {
  await openLog(page, LOG);
  const path = await save(page, info);
  const tab = await context.newPage();
  const asked = [];
  const said = [];
  tab.on('request', (request) => asked.push(request.url()));
  tab.on('console', (message) => said.push(message.text()));
  await tab.goto(`file://${path}`);
  await expect(tab.getByRole('heading', { level: 1 })).toHaveText('fib-forkio-N2-l.eventlog');
  for (const name of ['Summary', 'Findings', 'Timeline', 'Collections', 'Heap', 'Threads']) {
    await expect(tab.getByRole('heading', { level: 2, name })).toBeVisible();
  }
  await expect(tab.getByRole('img', { name: /^The timeline of fib/ })).toBeVisible();
  expect(asked).toEqual([`file://${path}`]);
  expect(said).toEqual([]);
  for (const colorScheme of ['light', 'dark']) {
    await tab.emulateMedia({ colorScheme });
    const ground = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(Number(/\d+/.exec(ground)[0]) > 128).toBe(colorScheme === 'light');
    expect(await violations(tab)).toEqual([]);
  }
  // Printed black on white, even in dark mode.
  await tab.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const ink = await tab.evaluate(() => {
    const style = getComputedStyle(document.body);
    return [style.color, style.backgroundColor];
  });
  expect(ink).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)']);
  const paper = await tab.pdf({ format: 'A4' });
  expect(paper.subarray(0, 5).toString()).toBe('%PDF-');
  expect(paper.length).toBeGreaterThan(20_000);
});
