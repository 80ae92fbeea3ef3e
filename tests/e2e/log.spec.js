// A log on the page: lanes, gestures, numbers, panels.

import { expect } from '@playwright/test';
import { colors, drop, fixture, fragment, loaded, openLog, pointAlong, reference, started, strip, test, timeline } from './helpers.js';

const GC_HEAVY = 'ghc-9.6.6/gc-heavy-N2-la-nonmoving';
const FORKIO = 'ghc-9.6.6/fib-forkio-N2-l';
const RUNNING = '#259e79';
const GC = '#c96109';

/** Formats a duration as the page does: three significant digits, four after a leading 1. */
function duration(ns) {
  for (const [unit, length] of [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]]) {
    for (const decimals of length === 1 ? [0] : [3, 2, 1, 0]) {
      const digits = Math.round((ns * 10 ** decimals) / length);
      if (digits < 2000 && digits < 1000 * 10 ** decimals) return `${(digits / 10 ** decimals).toFixed(decimals)} ${unit}`;
    }
  }
  throw new Error(String(ns));
}

test('shows a lane for each capability, in the colors of what it did', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('gc-heavy-N2-la-nonmoving.eventlog');
  const { x, cap } = await timeline(page);
  await expect(async () => {
    for (const n of [0, 1]) {
      const lane = await colors(page, { x: x(0), y: cap(n) - 10 }, { x: x(1), y: cap(n) + 10 });
      expect(lane[RUNNING]).toBeGreaterThan(20);
      expect(lane[GC]).toBeGreaterThan(20);
    }
  }).toPass();
});

test('says how long each capability ran, as the reference does, and where the rest of its time went', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  const spent = {};
  for (const [analysis, cap, category, , start, end] of reference(GC_HEAVY, 'spans.tsv')) {
    if (analysis !== 'capability-usage') continue;
    spent[cap] ??= 0;
    if (category === 'Mutator') spent[cap] += end - start;
  }
  for (const [cap, running] of Object.entries(spent)) {
    const cells = page.locator('.summary tbody tr').nth(Number(cap)).locator('td.number:not(.share-number, .size)');
    await expect(cells.first()).toHaveText(duration(running).replace(' ', ' '));
    await expect(cells).toHaveCount(7);
  }
});

test('zooms at the pointer, pans and fits', async ({ page }) => {
  await openLog(page, fixture(FORKIO));
  const { x, cap, ruler } = await timeline(page);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.wheel(0, -500);
  const zoomed = await fragment(page, /[#&]t=/);
  await page.keyboard.press('w');
  await expect.poll(() => page.url()).not.toContain(zoomed);
  const closer = await fragment(page, /[#&]t=/);
  await page.keyboard.press('d');
  await expect.poll(() => page.url()).not.toContain(closer);
  const right = await fragment(page, /[#&]t=/);
  await page.mouse.move(x(0.5), ruler);
  await page.mouse.down();
  await page.mouse.move(x(0.7), ruler, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => page.url()).not.toContain(right);
  await page.keyboard.press('0');
  await expect.poll(() => new URL(page.url()).hash).not.toMatch(/[#&]t=/);
});

test('says what the pointer is on, and keeps what is clicked', async ({ page }) => {
  await openLog(page, fixture(FORKIO));
  const { cap, x, ruler } = await timeline(page);
  const run = await pointAlong(page, cap(0), /ran for .* on capability 0/);
  await page.mouse.click(run.x, cap(0));
  await page.mouse.move(x(0.5), ruler);
  await expect(strip(page)).toHaveText(run.text);
  await fragment(page, /[#&]e=.*cap0/);
  await page.keyboard.press('Escape');
  await expect(strip(page)).toContainText('Hover for details');
});

test('says what a message of the program says', async ({ page }) => {
  await openLog(page, fixture(FORKIO));
  const { track } = await timeline(page);
  await pointAlong(page, track('messages'), /^end · marker at [\d.]+\s[µm]s$/);
});

test('selects a range by dragging, and every number follows', async ({ page }) => {
  await openLog(page, fixture(GC_HEAVY));
  const { x, cap } = await timeline(page);
  const caption = page.locator('.summary caption');
  await expect(caption).toHaveText('Time of each capability in the whole log');
  const whole = await page.locator('.summary tbody').textContent();
  await page.mouse.move(x(0.3), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.6), cap(1), { steps: 5 });
  await page.mouse.up();
  await expect(caption).toContainText(/Time of each capability in [\d.]+\sms – [\d.]+\sms/);
  await expect(page.locator('.chip')).toBeVisible();
  await expect.poll(() => page.locator('.summary tbody').textContent()).not.toBe(whole);
  await fragment(page, /[#&]r=/);
  await page.getByRole('button', { name: /Clear the selected range/ }).click();
  await expect(caption).toHaveText('Time of each capability in the whole log');
  await expect.poll(() => page.locator('.summary tbody').textContent()).toBe(whole);
});

test('shows the flame graph of a profiled log', async ({ page }) => {
  await openLog(page, fixture('ghc-9.10.3/prof-time-N2-pj-l'));
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const canvas = page.locator('.flame-canvas canvas');
  const sentence = page.locator('.flame-strip .words');
  await expect(async () => {
    await canvas.focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await expect(sentence).toContainText(/ total \([\d.]+\s%\)/, { timeout: 500 });
  }).toPass();
  await page.getByRole('button', { name: 'Left heavy' }).click();
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('level2');
  await expect(page.locator('.found')).toHaveText(/ · [1-9][\d.]*\s% of the time$/);
  await fragment(page, /p=flame.*fo=left.*fq=level2/);
});

test('shows foreign calls on their OS threads', async ({ page }) => {
  await openLog(page, new URL('../../www/demo/profiled-ffi.eventlog.gz', import.meta.url).pathname);
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const source = page.getByRole('combobox', { name: 'Tracks' });
  await expect(source.locator('option', { hasText: /^OS thread \d+ · \d+ calls$/ })).toHaveCount(4);
  await source.selectOption('threads');
  await expect(page.locator('.found')).toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('blur');
  await expect(page.locator('.found')).toHaveText(/ · [1-9][\d.]*\s% of the time$/);
});

test('filters the threads', async ({ page }) => {
  await openLog(page, new URL('../../www/demo/web-server.eventlog.gz', import.meta.url).pathname);
  await page.keyboard.press('/');
  await page.keyboard.type('worker-5');
  await fragment(page, /q=worker-5/);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('row', { name: 'worker-5' })).toBeVisible();
  await expect(page.getByRole('searchbox', { name: 'Filter tracks by name' })).toHaveValue('worker-5');
  await expect(async () => {
    const y = await page.getByRole('row', { name: 'worker-5' }).evaluate((head) => head.getBoundingClientRect().y + 11);
    const { x } = await timeline(page);
    await page.mouse.move(x(0.6), y);
    await page.mouse.move(x(0.601), y);
    await expect(strip(page)).toContainText('worker-5', { timeout: 200 });
  }).toPass();
});

test('the keys that follow the one for the filter are written there, however busy the page is', async ({ page }) => {
  await openLog(page, fixture(FORKIO));
  // Synchronously, before any other task and so before the next key.
  const focused = await page.evaluate(() => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', code: 'Slash', bubbles: true, cancelable: true }));
    return document.activeElement.getAttribute('type');
  });
  expect(focused).toBe('search');
});

test('Escape keeps what a search field holds, however busy the page is', async ({ page }) => {
  await openLog(page, fixture(FORKIO));
  const field = page.getByRole('searchbox', { name: 'Filter tracks by name' });
  await field.fill('main');
  // A key whose default is not prevented while it is dispatched empties the field.
  const isPrevented = await field.evaluate((it) => !it.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true, cancelable: true }),
  ));
  expect(isPrevented).toBe(true);
  await expect(field).toHaveValue('main');
});

test('can be used by keyboard alone', async ({ page }) => {
  await openLog(page, fixture(FORKIO));
  const canvas = page.locator('.timeline canvas');
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  await expect(strip(page)).not.toContainText('Hover for details');
  const first = await strip(page).textContent();
  await page.keyboard.press('ArrowRight');
  await expect(strip(page)).not.toHaveText(first);
  await page.keyboard.press('Enter');
  await expect(page.locator('.chip')).toBeVisible();
  await page.keyboard.press('f');
  await fragment(page, /[#&]t=/);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: /Keys/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(page.locator('.chip')).toHaveCount(0);
});

test('asks nobody for anything once the page is there', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await page.waitForLoadState('networkidle');
  const requests = [];
  page.on('request', (request) => {
    // The browser itself fetches the icon again when the address changes.
    const isIcon = new URL(request.url()).pathname.endsWith('/icon.svg');
    if (!isIcon) requests.push(request.url());
  });
  await drop(page, fixture(GC_HEAVY));
  await loaded(page);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.wheel(0, -500);
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  await fragment(page, /[#&]p=flame/);
  await expect(page.locator('.flame-canvas canvas').first()).toBeVisible();
  expect(requests).toEqual([]);
});

test('the worker may not connect anywhere else either', async ({ page, baseURL }) => {
  await page.goto('./');
  await expect.poll(() => page.workers().length).toBe(1);
  const url = baseURL.replace('localhost', '127.0.0.1');
  for (const worker of page.workers()) {
    const outcome = await worker.evaluate(
      (url) => fetch(url, { mode: 'no-cors' }).then(() => 'reached', () => 'refused'),
      url,
    );
    expect(outcome).toBe('refused');
  }
});
