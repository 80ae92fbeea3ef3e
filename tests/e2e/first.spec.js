// The start page is usable before the program is loaded.

import { readFileSync } from 'node:fs';

import { expect } from '@playwright/test';
import { drop, fixture, loaded, started, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');
const PROGRAM = '**/app_bg.wasm';

/** Opens the page with the program held back; the returned function releases it. */
async function openWithout(page, address = './') {
  let come;
  const comes = new Promise((done) => { come = done; });
  await page.route(PROGRAM, async (route) => {
    await comes;
    await route.continue();
  });
  await page.goto(address);
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  return come;
}

/**
 * Returns how many milliseconds after navigation a visitor on a phone with 4G sees the page and can choose a log,
 * and whether the program was loaded by then.
 */
async function usableOn4G(browser, address) {
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  // WebPageTest's 4G profile, and the CPU of a mid-range phone.
  const session = await context.newCDPSession(page);
  const bytesPerSecond = 9_000_000 / 8;
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false, latency: 170, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(() => {
    HTMLInputElement.prototype.click = () => { globalThis.reactedMs ??= performance.now(); };
    const tries = () => {
      document.getElementById('browse')?.click();
      if (globalThis.reactedMs && performance.getEntriesByName('first-contentful-paint').length) {
        globalThis.withProgram ??= document.documentElement.hasAttribute('data-started');
      } else {
        requestAnimationFrame(tries);
      }
    };
    tries();
  });
  await page.goto(address, { waitUntil: 'commit' });
  const usable = await page.waitForFunction(() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    return paint && globalThis.withProgram !== undefined && {
      ms: Math.round(Math.max(paint.startTime, globalThis.reactedMs)),
      withProgram: globalThis.withProgram,
    };
  });
  const first = await usable.jsonValue();
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeInViewport();
  await context.close();
  return first;
}

test('a log that is dropped while the page is being parsed is opened', async ({ page }) => {
  await page.addInitScript((base64) => {
    new MutationObserver((_, observer) => {
      if (!document.getElementById('first')) return;
      observer.disconnect();
      const dataTransfer = new DataTransfer();
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      dataTransfer.items.add(new File([bytes], 'early.eventlog'));
      globalThis.stateAtDrop = document.readyState;
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }).observe(document, { subtree: true, childList: true });
  }, readFileSync(LOG).toString('base64'));
  await page.goto('./');
  await loaded(page);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('early.eventlog');
  expect(await page.evaluate(() => globalThis.stateAtDrop)).not.toBe('complete');
});

test('on a phone with 4G it is of use before the program is there', async ({ browser, baseURL }, testInfo) => {
  const { ms, withProgram } = await usableOn4G(browser, baseURL);
  // The time depends on the load of this machine: it is only reported. `xtask/src/weigh.rs` limits the size of
  // downloads instead.
  testInfo.annotations.push({ type: 'usable after', description: `${ms} ms` });
  expect(withProgram).toBe(false);
});

test('a file that is dropped before the program is there opens', async ({ page }) => {
  const come = await openWithout(page);
  await drop(page, LOG);
  await expect(page.getByRole('status')).toHaveText('Loading the program. It opens fib-forkio-N2-l.eventlog as soon as it is there.');
  come();
  await loaded(page);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('fib-forkio-N2-l.eventlog');
});

test('so does one that is chosen by keyboard, and a link says what it is about', async ({ page }) => {
  const come = await openWithout(page, './#v=1&r=0m10&p=threads');
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Browse…' }).press('Enter');
  await (await chosen).setFiles(LOG);
  await expect(page.getByRole('status')).toContainText('Loading the program');
  come();
  await loaded(page);
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.chip')).toBeVisible();
});

test('so does a sample', async ({ page }) => {
  const come = await openWithout(page);
  await page.getByRole('button', { name: 'A parallel sort' }).click();
  await expect(page.getByRole('status')).toContainText('It opens “A parallel sort”');
  come();
  await loaded(page);
});

test('that the program cannot be loaded is said', async ({ page }) => {
  await page.route(PROGRAM, (route) => route.fulfill({ status: 503 }));
  await page.goto('./');
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The program could not be loaded: the site answered with status 503');
  // It remains said when a log is chosen.
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Browse…' }).click();
  await (await chosen).setFiles(LOG);
  await expect(alert).toContainText('The program could not be loaded: the site answered with status 503');
  await expect(page.getByText('Loading the program')).toHaveCount(0);
});

test('it has the chosen colors from its first picture on', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('eventscope-theme', 'dark'));
  const come = await openWithout(page);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  come();
  await started(page);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});
