// Process panel: all of its content equals the reference.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openLog, reference, test, timeline } from './helpers.js';

const FORKIO = 'ghc-9.6.6/fib-forkio-N2-l';
const CAPS = 'ghc-9.10.3/caps-N2-la';

const counts = (name) => {
  const path = fixture(name).replace('/logs/', '/reference/').replace(/\.eventlog$/, '.agg.json');
  return JSON.parse(readFileSync(path));
};

const section = (page, name) => page.getByRole('region', { name, exact: true });
const fact = (page, name) => page.locator('.process dt', { hasText: new RegExp(`^${name}$`) }).locator('+ dd');

async function openProcess(page, name) {
  await openLog(page, fixture(name));
  await page.getByRole('tab', { name: 'Process' }).click();
  await expect(section(page, 'Program')).toBeVisible();
}

/** Returns the fields of the first event with that name, as the reference prints them. */
const printed = (name, event) => reference(name, 'events.tsv').find((row) => row[2] === event)[3];

test('names program, arguments, process and runtime', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openProcess(page, FORKIO);
  const args = JSON.parse(printed(FORKIO, 'ProgramArgs').match(/args = (\[.*\])/)[1]);
  await expect(fact(page, 'Name')).toHaveText(args[0].split('/').pop());
  await expect(fact(page, 'Command line').locator('code')).toHaveText(args.join(' '));
  await page.getByRole('button', { name: 'Copy the command line' }).click();
  await expect(page.getByRole('button', { name: 'Copied the command line' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(args.join(' '));
  const number = (event, field) => printed(FORKIO, event).match(new RegExp(`${field} = (\\d+)`))[1];
  await expect(fact(page, 'Process')).toHaveText(number('OsProcessPid', 'pid'));
  await expect(fact(page, 'Started by')).toHaveText(`process ${number('OsProcessParentPid', 'ppid')}`);
  await expect(fact(page, 'GHC')).toHaveText('9.6.6');
  await expect(fact(page, 'Kind')).toContainText('threaded');
  await expect(fact(page, 'Runtime ID')).toHaveText('GHC-9.6.6 rts_thr');
  const area = Number(number('HeapInfoGHC', 'allocAreaSize'));
  await expect(fact(page, 'Allocation area')).toContainText(`${area / 2 ** 20}.0\u00a0MiB`);
});

test.describe('in Kathmandu', () => {
  test.use({ timezoneId: 'Asia/Kathmandu' });
  test('says when it started, here and in UTC', async ({ page }) => {
    await openProcess(page, FORKIO);
    const rows = reference(FORKIO, 'events.tsv');
    const [time, , , text] = rows.find((row) => row[2] === 'WallClockTime');
    const [, sec, nsec] = text.match(/sec = (\d+), nsec = (\d+)/);
    const started = (BigInt(sec) * 10n ** 9n + BigInt(nsec) - BigInt(time)) / 10n ** 6n;
    const clock = (ms) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
    const utc = Number(started);
    await expect(fact(page, 'Started')).toContainText(`${clock(utc)} UTC`);
    await expect(fact(page, 'Started')).toContainText(`${clock(utc + 345 * 60_000)} UTC+05:45 (your time)`);
  });
});

test('says how capabilities came and went, and goes there', async ({ page }) => {
  await openProcess(page, CAPS);
  const words = { CapCreate: 'created', CapDelete: 'deleted', CapEnable: 'enabled', CapDisable: 'disabled' };
  const expected = {};
  for (const [, , name, text] of reference(CAPS, 'events.tsv')) {
    if (words[name]) (expected[`Capability ${text.match(/cap = (\d+)/)[1]}`] ??= []).push(words[name]);
  }
  const rows = section(page, 'Capabilities').locator('tbody tr');
  await expect(rows).toHaveCount(Object.keys(expected).length);
  for (const row of await rows.all()) {
    const changes = await row.locator('.change').allTextContents();
    const name = await row.getByRole('rowheader').textContent();
    expect(changes.map((text) => text.split(' ')[0])).toEqual(expected[name]);
  }
  // When zoomed in at the end, the first change is out of view.
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.9), cap(0));
  await page.mouse.wheel(0, -1500);
  const there = await fragment(page, /[#&]t=/);
  await rows.first().getByRole('button').first().click();
  await expect.poll(() => page.url()).not.toContain(there);
});

test('counts every type of events, sorts them, and lists those of one', async ({ page }) => {
  await openProcess(page, CAPS);
  const expected = counts(CAPS).counts;
  const table = section(page, 'Event types').getByRole('table');
  const rows = table.locator('tbody tr');
  await expect(rows).toHaveCount(Object.keys(expected).length);
  const column = (number) => rows.locator(`> :nth-child(${number})`).allTextContents();
  const numbers = async (number) => (await column(number)).map((text) => Number(text.replaceAll(',', '')));

  const [names, found] = [await column(2), await numbers(4)];
  expect(Object.fromEntries(names.map((name, at) => [name, found[at]]))).toEqual(expected);
  expect(found).toEqual(found.toSorted((a, b) => b - a));

  const heading = (name) => table.getByRole('columnheader').filter({ has: page.getByRole('button', { name, exact: true }) });
  await expect(heading('Events')).toHaveAttribute('aria-sort', 'descending');
  await heading('Number').getByRole('button').click();
  await expect(heading('Number')).toHaveAttribute('aria-sort', 'ascending');
  const types = await numbers(1);
  expect(types).toEqual(types.toSorted((a, b) => a - b));
  await heading('Number').getByRole('button').click();
  await expect(heading('Number')).toHaveAttribute('aria-sort', 'descending');
  expect(await numbers(1)).toEqual(types.toReversed());
  await heading('Bytes').getByRole('button').click();
  await expect(heading(/^Bytes/)).toHaveAttribute('aria-sort', 'descending');
  const bytes = await numbers(5);
  expect(bytes).toEqual(bytes.toSorted((a, b) => b - a));
  await heading('Name').getByRole('button').click();
  await expect(heading('Name')).toHaveAttribute('aria-sort', 'ascending');
  const byName = await column(2);
  expect(byName.map((name) => name.toLowerCase())).toEqual(byName.map((name) => name.toLowerCase()).toSorted());
  await expect(table.locator('tfoot')).toContainText(counts(CAPS).total_events.toLocaleString('en'));

  await table.getByRole('button', { name: 'CapDisable' }).click();
  await expect(page.getByRole('tab', { name: 'Events' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.controls .for')).toHaveText(
    `${expected.CapDisable} of ${counts(CAPS).total_events.toLocaleString('en')} events`,
  );
});

/** Builds a log with an environment: an event of type 31 before all others. */
function withEnvironment(variables) {
  const bytes = readFileSync(fixture(FORKIO));
  const at = bytes.indexOf('datb') + 4;
  const payload = Buffer.concat([Buffer.alloc(4), Buffer.from(variables.map((one) => `${one}\0`).join(''))]);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(31, 0);
  head.writeBigUInt64BE(188_420n, 2);
  head.writeUInt16BE(payload.length, 10);
  return Buffer.concat([bytes.subarray(0, at), head, payload, bytes.subarray(at)]);
}

test('shows the environment only when asked, and hides it again', async ({ page }) => {
  const many = Array.from({ length: 20 }, (_, n) => `VARIABLE_${n}=value ${n}`);
  await page.goto('./');
  await drop(page, 'environment.eventlog', withEnvironment([...many, 'TOKEN=hunter2']));
  await loaded(page);
  await page.getByRole('tab', { name: 'Process' }).click();
  const show = page.getByRole('button', { name: 'Show 21 environment variables – they may contain secrets' });
  await expect(show).toHaveAttribute('aria-expanded', 'false');
  expect(await page.content()).not.toMatch(/hunter2|TOKEN|VARIABLE_/);
  await show.click();
  const environment = section(page, 'Environment');
  await expect(environment.locator('dt')).toHaveCount(21);
  await expect(fact(page, 'TOKEN')).toHaveText('hunter2');
  const filter = page.getByRole('searchbox', { name: 'Filter environment variables' });
  await filter.fill('variable_1');
  await expect(environment.locator('dt')).toHaveText(many.map((one) => one.split('=')[0]).filter((name) => name.startsWith('VARIABLE_1')));
  await expect(environment.getByRole('status')).toHaveText('11 of 21');
  await filter.fill('HUNTER');
  await expect(environment.locator('dt')).toHaveText(['TOKEN']);
  await page.getByRole('button', { name: 'Hide 21 environment variables' }).click();
  await expect(show).toBeVisible();
  expect(await page.content()).not.toMatch(/hunter2|TOKEN|VARIABLE_/);
});

test('lists what is damaged, and goes there', async ({ page }) => {
  const bytes = Buffer.from(readFileSync(fixture(FORKIO)));
  bytes.fill(0xee, 6_000, 6_040);
  await page.goto('./');
  await drop(page, 'damaged.eventlog', bytes);
  await loaded(page);
  await page.getByRole('button', { name: 'All diagnostics' }).click();
  await expect(page.getByRole('tab', { name: 'Process' })).toHaveAttribute('aria-selected', 'true');
  const heading = page.getByRole('heading', { name: 'Diagnostics', exact: true });
  await expect(heading).toBeFocused();
  await expect(heading).toBeInViewport();
  // Only the panel scrolls.
  expect(await page.evaluate(() => document.querySelector('.bar').getBoundingClientRect().top)).toBe(0);
  const diagnostics = section(page, 'Diagnostics');
  await expect(diagnostics.getByRole('heading', { name: /^Error: .* \d+$/ })).toBeVisible();
  const [first] = await diagnostics.getByRole('listitem').filter({ hasText: /byte \d+ \(0x/ }).all();
  await expect(first).toContainText('bytes were skipped');
  const offset = Number((await first.textContent()).match(/byte (\d+) \(0x/)[1]);
  expect(offset).toBeGreaterThan(5_900);
  expect(offset).toBeLessThanOrEqual(6_000);

  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.95), cap(0));
  await page.mouse.wheel(0, -1500);
  const there = await fragment(page, /[#&]t=/);
  await first.getByRole('button').click();
  await expect.poll(() => page.url()).not.toContain(there);
  await fragment(page, /p=process/);
});

test('says that nothing is wrong', async ({ page }) => {
  await openProcess(page, 'ghc-9.6.6/prof-heap-N1-hb-l-au');
  await expect(section(page, 'Diagnostics')).toContainText('No problems in this log.');
  await expect(section(page, 'Diagnostics').getByRole('listitem')).toHaveCount(0);
});

test('says by how much times go back, and that a range does not matter', async ({ page }) => {
  await openProcess(page, FORKIO);
  const diagnostics = section(page, 'Diagnostics');
  await expect(diagnostics).toContainText('No damage or contradictions in this log.');
  await expect(diagnostics.getByRole('listitem')).toHaveText(/1 event is out of order/);
  await expect(page.locator('.process .about')).toHaveCount(0);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.3), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.6), cap(1), { steps: 5 });
  await page.mouse.up();
  await expect(page.locator('.process .about')).toHaveText(/Applies to the whole log/);
});
