// Errors: files that are not logs, truncated logs, cancellation, and a crashing worker.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { drop, fixture, loaded, openInstead, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test.beforeEach(async ({ page }) => {
  await page.goto('./');
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
});

test('a text file', async ({ page }) => {
  await drop(page, 'notes.txt', Buffer.from('JavaScript is not Haskell.\n'.repeat(50)));
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('This is not an eventlog: it does not begin with “hdrb” (byte 0)');
  await expect(alert).toContainText('It looks like a text file');
  await expect(alert).toContainText('+RTS -l');
});

test('an empty file', async ({ page }) => {
  await drop(page, 'empty.eventlog', Buffer.alloc(0));
  await expect(page.getByRole('alert')).toContainText('The file is empty (0 bytes)');
});

test('a log cut in its header', async ({ page }) => {
  await drop(page, fixture('ghc-9.0.2/cut-in-header'));
  await expect(page.getByRole('alert')).toContainText('The file ends inside its header, at byte 700');
});

test('a log without events', async ({ page }) => {
  await drop(page, fixture('ghc-9.6.6/cut-no-events'));
  await expect(page.getByRole('alert')).toContainText('has a header but no events');
});

test('a truncated log shows what there is, and says where it ends', async ({ page }) => {
  const whole = readFileSync(LOG);
  await drop(page, 'cut.eventlog', whole.subarray(0, 9_000));
  await loaded(page);
  const warning = page.locator('.warnings');
  await expect(warning).toContainText('Part of this log is missing');
  await expect(warning).toContainText(/Incomplete log: it ends inside an event or block.*\(byte [\d,]+\)/);
  await expect(page.locator('.summary tbody tr')).not.toHaveCount(0);
});

test('a damaged log shows the rest, and says what was lost', async ({ page }) => {
  const bytes = Buffer.from(readFileSync(LOG));
  bytes.fill(0xee, 6_000, 6_040);
  await drop(page, 'damaged.eventlog', bytes);
  await loaded(page);
  await expect(page.locator('.warnings')).toContainText(/bytes were skipped \(byte [\d,]+\)/);
  await expect(page.locator('.summary tbody tr')).toHaveCount(2);
});

/** Writes a log of 280 MB, or of fewer copies: many logs in one file, as restarted logging leaves them. */
function bigLog(testInfo, copies = 900, first = Buffer.alloc(0)) {
  const path = testInfo.outputPath('big.eventlog');
  mkdirSync(testInfo.outputDir, { recursive: true });
  const one = readFileSync(fixture('ghc-9.6.6/dense-N2-l-flush'));
  writeFileSync(path, Buffer.concat([first, ...Array(copies).fill(one)]));
  return path;
}

test('loading can be cancelled at any time', async ({ page }, testInfo) => {
  const path = bigLog(testInfo);
  for (const cancel of [
    () => page.getByRole('button', { name: 'Cancel' }).click(),
    () => page.keyboard.press('Escape'),
  ]) {
    await page.setInputFiles('input[type=file]', path);
    await expect(page.getByRole('progressbar')).toBeVisible();
    await cancel();
    await expect(page.getByRole('heading', { name: /See what/ })).toBeVisible();
    await expect(page.getByRole('progressbar')).toHaveCount(0);
  }
  // The page works as before.
  await drop(page, LOG);
  await loaded(page);
  rmSync(path);
});

test('what is done while a log is read stays when it is read', async ({ page }, testInfo) => {
  const path = bigLog(testInfo, 900, readFileSync(fixture('ghc-9.0.2/ffi-safe-N2-lu')));
  const canvas = page.locator('.timeline canvas');
  const spans = page.locator('[id^="head-span:"]');
  const gc = page.getByRole('tab', { name: 'Collections' });
  // High enough for the tracks of spans, too.
  await page.setViewportSize({ width: 1280, height: 1100 });
  await page.goto('about:blank');
  // These prefixes announce none of the spans of the log.
  await page.goto('./?workers=1#v=1&p=gc&sp=COMMENCE!STOP,END');
  await page.setInputFiles('input[type=file]', path);
  await expect(page.getByRole('progressbar')).toBeVisible();
  await expect(gc).toHaveAttribute('aria-selected', 'true');
  await page.evaluate(() => { window.location.hash = '#v=1&p=gc'; });
  await expect(canvas).toBeVisible();
  await page.keyboard.press('Shift+Backslash');
  await expect(canvas).toBeHidden();
  await expect(page.getByRole('progressbar')).toBeVisible();
  await page.locator('.app[data-elapsed-ms]').waitFor();
  await expect(page).toHaveURL(/[#&]pm=1/);
  await expect(canvas).toBeHidden();
  await expect(gc).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Shift+Backslash');
  await expect(spans).not.toHaveCount(0);
  rmSync(path);
});

test('questions are answered while a log still loads', async ({ page }, testInfo) => {
  const path = bigLog(testInfo);
  await page.evaluate(() => {
    const look = () => {
      window.saidWhatIsGray ||= document.querySelector('.loading')?.textContent.includes('gray: not read yet');
      window.answeredWhileLoading ||=
        !!document.querySelector('progress') && document.querySelectorAll('.summary tbody tr').length === 2;
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
  });
  await page.setInputFiles('input[type=file]', path);
  await page.locator('.app[data-elapsed-ms]').waitFor();
  expect(await page.evaluate(() => window.answeredWhileLoading)).toBe(true);
  expect(await page.evaluate(() => window.saidWhatIsGray)).toBe(true);
  await expect(page.locator('.loading')).toHaveCount(0);
  rmSync(path);
});

test('a log that memory has no room for is read in part, and that is said', async ({ page }, testInfo) => {
  const path = bigLog(testInfo);
  await page.goto('./?most=1&workers=1');
  await page.setInputFiles('input[type=file]', path);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('Out of memory: only a part of the log was read', { timeout: 30_000 });
  await expect(alert).toContainText('ES-304');
  await expect(page.locator('.summary tbody tr')).toHaveCount(2);
  await expect(page.locator('.timeline canvas')).toBeVisible();
  await expect(page.locator('.loading')).toHaveCount(0);
  rmSync(path);
});

test('a large log is read by as many workers as there are, which leave when it is', async ({ page }, testInfo) => {
  const path = bigLog(testInfo);
  await page.goto('./?workers=3');
  const counts = async (workers) => {
    let most = page.workers().length;
    page.on('worker', () => { most = Math.max(most, page.workers().length); });
    await page.setInputFiles('input[type=file]', path);
    await page.locator('.app[data-elapsed-ms]').waitFor();
    expect(most).toBe(workers);
    await expect.poll(() => page.workers().length).toBe(1);
    // Preliminary answers are shown until those of the complete log arrive.
    const summary = page.locator('.summary');
    await expect(summary).not.toContainText('Unknown');
    return summary.innerText();
  };
  const together = await counts(3);
  await page.goto('about:blank');
  await page.goto('./?workers=1');
  // Several workers give the same results as one.
  expect(await counts(1)).toBe(together);
  rmSync(path);
});

/** Makes the worker crash with that message. */
const kill = (page, message) => page.workers()[0].evaluate((message) => {
  queueMicrotask(() => {
    throw new Error(message);
  });
}, message);

test('a worker that dies is explained and replaced', async ({ page }) => {
  await drop(page, LOG);
  await loaded(page);
  await kill(page, 'made for the test');
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The log reader stopped');
  await expect(alert).toContainText('made for the test');
  await expect(alert).toContainText('A new one was started');
  await expect(alert).toContainText('ES-302');
  // The shown view remains.
  await expect(alert).toContainText('The view remains');
  await expect(page.locator('.timeline canvas')).toBeVisible();
  await expect(page.getByRole('heading', { name: /fib-forkio/ })).toBeVisible();
  await openInstead(page, LOG);
  await loaded(page);
  await expect(alert).toHaveCount(0);
  await expect(page.locator('.summary tbody tr')).toHaveCount(2);
});

test('a worker that closes without a word is explained and replaced', async ({ page }) => {
  await drop(page, LOG);
  await loaded(page);
  await page.workers()[0].evaluate(() => self.close());
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The log reader stopped');
  await openInstead(page, LOG);
  await loaded(page);
  await expect(alert).toHaveCount(0);
});

test('a worker that closes while a log loads is explained, and the next log is opened', async ({ page }, testInfo) => {
  const path = bigLog(testInfo);
  await page.goto('./?workers=1');
  await page.setInputFiles('input[type=file]', path);
  await expect(page.getByRole('progressbar')).toBeVisible();
  await page.workers()[0].evaluate(() => self.close());
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The log reader stopped');
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await drop(page, LOG);
  await loaded(page);
  await expect(alert).toHaveCount(0);
  rmSync(path);
});

/** Matches the worker's program. */
const WORKER = /\/worker-[0-9a-f]+\/worker\.js/;

test('a worker that cannot start is not tried on and on', async ({ page }) => {
  let tries = 0;
  await page.route(WORKER, (route) => {
    tries += 1;
    return route.abort();
  });
  await page.clock.install();
  await page.reload();
  await drop(page, LOG);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The log reader could not be started');
  await expect(alert).toContainText('ES-305');
  // Even a minute later, and after any requests made until then.
  await page.clock.runFor(60_000);
  await page.evaluate(() => fetch('index.html'));
  expect(tries).toBeLessThan(5);
  // Opening a log tries again, which succeeds if the site responds.
  await page.unroute(WORKER);
  await drop(page, LOG);
  await loaded(page);
  await expect(alert).toHaveCount(0);
});

test('a report holds nothing of the log', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await drop(page, 'secret-name.eventlog', readFileSync(LOG));
  await loaded(page);
  await kill(page, 'memory of secret words');
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('It probably ran out of memory');
  await expect(alert).toContainText('ES-301');
  await alert.getByRole('button', { name: /Copy report/ }).click();
  await expect(alert.getByRole('button', { name: /Copied/ })).toBeVisible();
  const report = await page.evaluate(() => navigator.clipboard.readText());
  expect(report).toContain('code: ES-301');
  expect(report).toMatch(/\nevents read: [1-9]\d+\n/);
  expect(report).toMatch(/\nbuild: [0-9a-f]+\n/);
  expect(report).not.toMatch(/secret|fib-forkio|eventlog\b/);
  // The rest are fixed keys with numbers, and the name of the browser.
  const lines = report.trim().split('\n').slice(1).map((line) => line.split(': '));
  for (const [key, value] of lines) {
    if (!['code', 'what', 'version', 'build', 'browser'].includes(key)) expect(value).toMatch(/^(\d+|unknown)$/);
  }
});

test('opening a log replaces a worker that does not listen', async ({ page }) => {
  await drop(page, LOG);
  await loaded(page);
  // Blocks the worker for longer than the test lasts.
  for (const worker of page.workers()) {
    worker.evaluate(() => {
      const end = performance.now() + 600_000;
      while (performance.now() < end);
    }).catch(() => {});
  }
  await openInstead(page, fixture('ghc-9.6.6/gc-heavy-N2-la-nonmoving'));
  await expect(page.getByRole('heading', { name: /gc-heavy/ })).toBeVisible();
  await loaded(page);
  await expect(page.locator('.summary tbody tr')).toHaveCount(2);
});

test('a log that changes while it is open is said to have', async ({ page }, testInfo) => {
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  mkdirSync(testInfo.outputDir, { recursive: true });
  const path = testInfo.outputPath('changing.eventlog');
  writeFileSync(path, readFileSync(fixture('ghc-9.6.6/dense-N2-l-flush')));
  await page.setInputFiles('input[type=file]', path);
  await loaded(page);
  writeFileSync(path, readFileSync(LOG));
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.getByRole('alert')).toContainText('can no longer be read');
  // Data in memory can still be queried.
  await page.getByRole('tab', { name: 'Threads' }).click();
  await expect(page.getByRole('row').nth(2)).toBeVisible();
  expect(problems).toEqual([]);
});

test('a heap profile in text shows its censuses, and says what it cannot tell', async ({ page }) => {
  await drop(page, fixture('ghc-9.6.6/heap-N2-hT-l-au').replace(/eventlog$/, 'hp'));
  await loaded(page);
  await expect(page.getByRole('status').filter({ hasText: 'This is a text heap profile' })).toContainText('no threads');
  await expect(page.getByRole('tab', { name: 'Heap' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByText('by closure type (-hT)')).toBeVisible();
  await page.getByRole('tab', { name: 'Threads' }).click();
  await expect(page.getByText('contains no threads. For an eventlog')).toBeVisible();
});
