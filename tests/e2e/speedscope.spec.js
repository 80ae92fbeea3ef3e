// Files saved for speedscope open in speedscope itself (the npm package, which is the site of speedscope.app),
// with the same totals.

import { existsSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { fixture, openLog, test } from './helpers.js';

const SPEEDSCOPE = fileURLToPath(
  new URL('../../node_modules/speedscope/dist/release/', import.meta.url),
);
const ORIGIN = 'http://speedscope.test/';

/** Serves speedscope and a profile by intercepting requests. */
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

/** Saves the flame graph for speedscope; returns the text of the file. */
async function saved(page) {
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  await page.getByRole('button', { name: /^Save/ }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: /^speedscope: JSON/ }).click();
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

/** Returns the weight of each frame: where it is innermost, and where it is anywhere in the stack. */
function totals(file, profile) {
  const rows = file.shared.frames.map(({ name }) => ({ name, own: 0, total: 0 }));
  profile.samples.forEach((stack, index) => {
    const weight = profile.weights[index];
    if (stack.length > 0) rows[stack.at(-1)].own += weight;
    for (const frame of new Set(stack)) rows[frame].total += weight;
  });
  return rows.filter((row) => row.total > 0);
}

const UNITS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

const UNIT = /^(\d+\.\d\d)(ns|µs|ms|s)(?!\w)/;

/** Parses a time in speedscope's format: nanoseconds, and the maximum rounding error. */
function time(text) {
  const [, number, unit] = text.match(UNIT);
  return { ns: Number(number) * UNITS[unit], off: 0.00501 * UNITS[unit] };
}

/** Returns the rows of speedscope's list of profiles and of its table of functions. */
async function shown(page) {
  const rows = await page.locator('table tr').evaluateAll((rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
  const whole = rows.filter((row) => row.length === 3);
  return {
    profiles: whole.filter(([first]) => /^\d+$/.test(first)).map(([, name, total]) => ({ name, total })),
    functions: whole
      .filter(([first]) => UNIT.test(first))
      .map(([total, own, name]) => ({ name, total, own })),
  };
}

/** Sorts by name, then by descending weight, as functions may share a name. */
const ordered = (rows, ns) =>
  [...rows].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : ns(b.total) - ns(a.total)));

function expectTime(text, ns, what) {
  const { ns: shownNs, off } = time(text);
  expect(Math.abs(shownNs - ns), `${what}: ${text}`).toBeLessThanOrEqual(off);
}

/** Expects the table to show the functions of a profile with their weights. */
async function expectTotals(page, file, profile) {
  const expected = ordered(totals(file, profile), (ns) => ns);
  const { functions } = await shown(page);
  const rows = ordered(functions, (text) => time(text).ns);
  expect(rows.map((row) => row.name)).toEqual(expected.map((row) => row.name));
  rows.forEach((row, index) => {
    expectTime(row.total, expected[index].total, row.name);
    expectTime(row.own, expected[index].own, row.name);
  });
}

for (const [what, log, tracks] of [
  ['two capabilities', 'ghc-9.10.3/prof-time-N2-pj-l', ['Capability 0', 'Capability 1']],
  ['foreign calls', 'ghc-9.6.6/prof-ffi-safe-N1-p-l', ['Capability 0', /^OS thread|^Unknown/]],
]) {
  test(`shows ${what} with the times that they have here`, async ({ page, context }) => {
    await openLog(page, fixture(log));
    const text = await saved(page);
    const file = JSON.parse(text);
    // All tracks have the same start and end.
    for (const { startValue, endValue, weights } of file.profiles) {
      expect([startValue, endValue]).toEqual([file.profiles[0].startValue, file.profiles[0].endValue]);
      expect(sum(weights)).toBe(endValue - startValue);
    }
    const viewer = await context.newPage();
    await viewer.setViewportSize({ width: 1280, height: 2000 });
    const problems = await open(viewer, text, 'sandwich');
    const count = file.profiles.length;
    const list = (await shown(viewer)).profiles;
    expect(list.map((row) => row.name)).toEqual(file.profiles.map((profile) => profile.name));
    list.forEach((row, index) => expectTime(row.total, sum(file.profiles[index].weights), row.name));
    for (const [index, profile] of file.profiles.entries()) {
      if (index < tracks.length) expect(profile.name).toMatch(tracks[index]);
      await expect(viewer.getByText(`${profile.name} (${index + 1}/${count})`)).toBeVisible();
      await expectTotals(viewer, file, profile);
      await viewer.keyboard.press('n');
    }
    expect(problems).toEqual([]);
  });
}
