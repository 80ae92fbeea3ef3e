// What is saved for speedscope opens in speedscope itself (the npm package,
// which is the site of speedscope.app), and it shows the same totals.

import { existsSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { fixture, openLog } from './helpers.js';

const SPEEDSCOPE = fileURLToPath(
  new URL('../../node_modules/speedscope/dist/release/', import.meta.url),
);
const ORIGIN = 'http://speedscope.test/';

/** Serves speedscope, and a profile beside it, without a server. */
async function serve(page, profile) {
  await page.route(`${ORIGIN}**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1) || 'index.html';
    if (name === 'profile.json') {
      return route.fulfill({ contentType: 'application/json', body: profile });
    }
    const path = join(SPEEDSCOPE, normalize(name));
    return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
  });
}

/** Saves what the flame graph shows for speedscope; the text of the file. */
async function saved(page) {
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'speedscope: JSON' }).click();
  return readFileSync(await (await download).path(), 'utf8');
}

/** Opens a profile in speedscope. */
async function open(page, profile, view) {
  await serve(page, profile);
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('dialog', (dialog) => {
    problems.push(dialog.message());
    dialog.dismiss();
  });
  await page.goto(`${ORIGIN}#profileURL=${encodeURIComponent(`${ORIGIN}profile.json`)}&view=${view}`);
  await expect(page.getByText('Left Heavy')).toBeVisible();
  return problems;
}

const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** Weight of each frame by name, where it is innermost and where it is anywhere. */
function totals(file, profile) {
  const rows = new Map();
  const row = (frame) => {
    const { name } = file.shared.frames[frame];
    if (!rows.has(name)) rows.set(name, { own: 0, total: 0 });
    return rows.get(name);
  };
  profile.samples.forEach((stack, index) => {
    const weight = profile.weights[index];
    if (stack.length > 0) row(stack.at(-1)).own += weight;
    for (const frame of new Set(stack)) row(frame).total += weight;
  });
  return rows;
}

const UNITS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

/** A time as speedscope writes it, in ns, and by how much it may be rounded. */
function time(text) {
  const [, number, unit] = text.match(/^(\d+\.\d\d)(ns|µs|ms|s)\b/);
  return { ns: Number(number) * UNITS[unit], off: 0.00501 * UNITS[unit] };
}

/** The table of the sandwich view. */
async function shown(page) {
  const rows = await page.locator('table tr').evaluateAll((rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
  return rows.filter((row) => row.length === 3);
}

/** The table shows the frames of a profile with their weights. */
async function expectTotals(page, file, profile) {
  const expected = totals(file, profile);
  const rows = await shown(page);
  expect(rows.length).toBe(expected.size);
  let own = 0;
  let off = 0;
  for (const [total, self, name] of rows) {
    const { own: ownNs, total: totalNs } = expected.get(name);
    for (const [text, ns] of [[total, totalNs], [self, ownNs]]) {
      expect(Math.abs(time(text).ns - ns), `${name}: ${text}`).toBeLessThanOrEqual(time(text).off);
    }
    own += time(self).ns;
    off += time(self).off;
  }
  expect(Math.abs(own - sum(profile.weights))).toBeLessThanOrEqual(off);
}

for (const [what, log, tracks] of [
  ['two capabilities', 'ghc-9.10.3/prof-time-N2-pj-l', ['Capability 0', 'Capability 1']],
  ['foreign calls', 'ghc-9.6.6/prof-ffi-safe-N1-p-l', ['Capability 0', /^OS thread|^Unknown/]],
]) {
  test(`shows ${what} with the times that they have here`, async ({ page, context }) => {
    await openLog(page, fixture(log));
    const text = await saved(page);
    const file = JSON.parse(text);
    // All tracks begin and end together.
    for (const { startValue, endValue, weights } of file.profiles) {
      expect([startValue, endValue]).toEqual([file.profiles[0].startValue, file.profiles[0].endValue]);
      expect(sum(weights)).toBe(endValue - startValue);
    }
    const viewer = await context.newPage();
    await viewer.setViewportSize({ width: 1280, height: 2000 });
    const problems = await open(viewer, text, 'sandwich');
    const count = file.profiles.length;
    for (const [index, profile] of file.profiles.entries()) {
      if (index < tracks.length) expect(profile.name).toMatch(tracks[index]);
      await expect(viewer.getByText(`${profile.name} (${index + 1}/${count})`)).toBeVisible();
      await expectTotals(viewer, file, profile);
      await viewer.keyboard.press('n');
    }
    expect(problems).toEqual([]);
  });
}
