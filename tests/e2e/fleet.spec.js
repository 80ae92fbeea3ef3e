// The page for fleets: digests that are dropped become the page that the command line writes, and logs that came with
// them open in a tab. The file that the command line writes is tested natively (tests/fleet.rs).

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, loaded, test } from './helpers.js';

const HOSTILE = '<img src=x onerror="document.title=1">';

/** A digest as `eventscope digest` prints it, with a few numbers. */
function digest(run, wall) {
  const row = (name, unit, value, part = '') => ({
    key: { group: 'program', name, part }, unit, direction: 'lower', class: 'timed', is_total: true, value,
  });
  return JSON.stringify({
    range: { from_ns: 0, to_ns: Math.round(wall) },
    facts: [{ name: 'Program', value: 'shop' }, { name: 'GHC', value: '9.6.6' }],
    started_unix_ns: 1_772_323_200_000_000_000 + run * 3_600_000_000_000,
    rows: [row('time.wall', 'ns', wall), row('gc.time', 'ns', wall / 10), row('heap.live', 'bytes', 5e7 + (run % 13) * 1e5, 'max')],
    left_out: [],
    curves: [],
    findings: run % 4 ? [] : [{
      identity: 'long-pause', rule: 'long-pause', title: HOSTILE, axis: 'time', severity: 'high', confidence: 'certain', cost: { unit: 'ns', value: 5 }, share: 0.1,
    }],
    no_data: [],
  });
}

/** 240 runs: from run 120 on they take half as long again, and run 50 takes nine times as long. */
function files() {
  const all = [];
  for (let run = 0; run < 240; run += 1) {
    const noise = ((run * 0.618034) % 1) * 0.06 + ((run * run) % 89) / 89 * 0.06;
    const wall = Math.round(2e9 * (1 + noise) * (run < 120 ? 1 : 1.5) * (run === 50 ? 9 : 1));
    const name = `shop-${run < 120 ? '1.0' : '1.1'}-host${run % 5}-${String(run).padStart(3, '0')}`;
    all.push({ name: `${name}.eventlog.digest`, mimeType: 'application/json', buffer: Buffer.from(digest(run, wall)) });
  }
  all.push({ name: 'broken.digest', mimeType: 'application/json', buffer: Buffer.from('{"range":') });
  all.push({ name: 'shop-1.0-host0-050.eventlog', mimeType: '', buffer: readFileSync(fixture('ghc-9.6.6/fib-forkio-N2-l')) });
  return all;
}

async function opened(page) {
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  await page.goto('./www/fleet.html');
  await page.getByLabel('Labels in file names').fill('{app}-{version}-{host}-*.digest');
  await page.locator('#files').setInputFiles(files());
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('shop: 240 runs');
  return problems;
}

test('digests become a page that says what changed', async ({ page }) => {
  const problems = await opened(page);
  const claims = page.getByRole('region', { name: 'Significant differences' });
  await expect(claims).toContainText('Version 1.0 → 1.1');
  await expect(claims).toContainText(/Elapsed time \+(49|50|51|52)\s%/);
  await expect(claims).toContainText('shop-1.0-host0-050');
  await expect(page.getByText('1 file skipped')).toBeVisible();
  expect(problems).toEqual([]);
  // What a log chooses is text.
  await expect(page.getByText(HOSTILE).first()).toBeVisible();
  expect(await page.locator('img').count()).toBe(0);
});

test('numbers, groups and runs are chosen', async ({ page }) => {
  const problems = await opened(page);
  const explorer = page.locator('.explorer');
  await expect(explorer.getByRole('status')).toContainText('All 240 runs: median 3.');
  await explorer.getByLabel('Number', { exact: true }).selectOption({ label: 'Greatest live heap (heap.live.max)' });
  await expect(explorer.getByRole('status')).toContainText('MiB');
  await explorer.getByLabel('Group by').selectOption('host');
  await expect(explorer.getByRole('table', { name: /^By host/ }).getByRole('row')).toHaveCount(6);
  await explorer.getByLabel('Only host').selectOption('host3');
  await expect(explorer.getByRole('status')).toContainText('48 of 240 runs');
  await explorer.getByRole('button', { name: 'All runs' }).click();
  await expect(explorer.getByRole('status')).toContainText('All 240 runs');
  // By keyboard: the first run, the next one, and its details.
  await explorer.locator('canvas').focus();
  await page.keyboard.press('Home');
  await expect(explorer.locator('.readout')).toContainText('shop-1.0-host0-000');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Chosen run' })).toContainText('shop-1.0-host1-001');
  expect(problems).toEqual([]);
});

test('the log of a run opens in a tab', async ({ page }) => {
  await opened(page);
  await page.locator('#claims').getByRole('button', { name: 'shop-1.0-host0-050' }).click();
  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Open the log' }).click(),
  ]);
  await loaded(tab);
  await expect(tab.getByText('shop-1.0-host0-050.eventlog').first()).toBeVisible();
});

test('without digests the page says how to make them', async ({ page }) => {
  await page.goto('./www/fleet.html');
  await page.locator('#files').setInputFiles([{ name: 'a.eventlog', mimeType: '', buffer: Buffer.from('x') }]);
  await expect(page.getByRole('alert')).toContainText('eventscope digest LOG');
  await page.goto('./');
  await page.getByRole('link', { name: /Thousands of runs/ }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('What changed in a thousand runs');
});
