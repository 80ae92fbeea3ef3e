// Helpers of the browser tests: opening logs as a user does, and locating things on the timeline.

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, test as base } from '@playwright/test';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

/**
 * Makes a page busy: Yew renders until 16 ms have passed, then yields to the browser. Here every look at the clock
 * adds 17 ms and each pause is long, so that code relying on a timely render fails.
 */
function busyPage() {
  const now = Date.now;
  const later = window.setTimeout;
  let lost = 0;
  Date.now = () => now() + (lost += 17);
  window.setTimeout = (run, delay, ...rest) => later(run, delay || 15, ...rest);
}

/** Context options of most tests. */
const ORDINARY = {
  viewport: { width: 1280, height: 720 },
  serviceWorkers: 'block',
  hasTouch: false,
  timezoneId: undefined,
  locale: 'en-US',
  colorScheme: 'light',
  deviceScaleFactor: undefined,
};

/**
 * Test function with a page, which `test.use({ busy: true })` or EVENTSCOPE_BUSY=1 makes busy.
 *
 * Compiling the programs is a third of the work of a test, and Chromium caches compiled code only in a profile. So
 * each test process has one profile, from which all traces of a test are removed. Tests with other options and
 * retries get their own context.
 */
export const test = base.extend({
  busy: [!!process.env.EVENTSCOPE_BUSY, { option: true }],
  profile: [async ({ playwright, browserName, launchOptions }, use, { project }) => {
    const folder = mkdtempSync(join(tmpdir(), 'eventscope-profile-'));
    const { baseURL } = project.use;
    const profile = await playwright[browserName].launchPersistentContext(folder, { ...launchOptions, ...ORDINARY, baseURL });
    await use(profile);
    await profile.close();
    rmSync(folder, { recursive: true, force: true });
  }, { scope: 'worker' }],
  async context({
    profile, busy, baseURL, viewport, serviceWorkers, hasTouch, timezoneId, locale, colorScheme, deviceScaleFactor,
  }, use, { retry }) {
    const asked = { viewport, serviceWorkers, hasTouch, timezoneId, locale, colorScheme, deviceScaleFactor };
    if (isDeepStrictEqual(asked, ORDINARY) && !busy && !retry) {
      await use(profile);
      await removeTraces(profile, baseURL);
    } else {
      const context = await profile.browser().newContext({ ...asked, baseURL });
      if (busy) await context.addInitScript(busyPage);
      await use(context);
      await context.close();
    }
  },
});

/** Closes all pages of a profile except the first, and removes stored data and permissions. */
async function removeTraces(profile, baseURL) {
  const [first, ...pages] = profile.pages();
  await Promise.all(pages.map((page) => page.close()));
  await profile.clearPermissions();
  const session = await profile.newCDPSession(first);
  await session.send('Storage.clearDataForOrigin', { origin: new URL(baseURL).origin, storageTypes: 'all' });
  await session.detach();
}

/** Only the types that the oldest servers know; WebAssembly is not among them. */
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/**
 * Serves a folder below a path, like any static server. Returns the address; `missing` lists requests without a
 * file or with other methods.
 */
export async function serveFolder(folder, path = '/') {
  const missing = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const name = pathname.startsWith(path) ? pathname.slice(path.length) || 'index.html' : '';
    try {
      if (request.method !== 'GET') throw new Error(request.method);
      const bytes = await readFile(join(folder, name));
      response.setHeader('Content-Type', TYPES[extname(name)] ?? 'application/octet-stream');
      response.end(bytes);
    } catch {
      missing.push(`${request.method} ${pathname}`);
      response.writeHead(404).end();
    }
  }).listen(0, 'localhost');
  await once(server, 'listening');
  return {
    site: `http://localhost:${server.address().port}${path}`,
    missing,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns the path of a fixture log, such as `ghc-9.6.6/fib-forkio-N2-l`. */
export const fixture = (name) => join(FIXTURES, 'logs', `${name}.eventlog`);

/** Writes a log of 40 MB: many logs in one file, as restarted logging leaves them. */
export function largeLog(testInfo, name, pack = (bytes) => bytes) {
  mkdirSync(testInfo.outputDir, { recursive: true });
  const one = readFileSync(fixture('ghc-9.6.6/dense-N2-l-flush'));
  const path = testInfo.outputPath(name);
  writeFileSync(path, pack(Buffer.concat(Array(Math.ceil(40e6 / one.length)).fill(one))));
  return path;
}

/** Returns the rows of a fixture's reference file. */
export function reference(name, suffix) {
  const packed = readFileSync(join(FIXTURES, 'reference', `${name}.${suffix}.gz`));
  return gunzipSync(packed).toString().split('\n').map((row) => row.split('\t'));
}

/** Waits until the program is running; before, only the start page works. */
export const started = (page) => expect(page.locator('html')).toHaveAttribute('data-started', '');

/** Drops a file on the page, as from a file manager. */
export async function drop(page, file, bytes = readFileSync(file)) {
  // Before the page exists, nothing handles the drop.
  await expect(page.getByRole('main')).toBeVisible();
  const data = await page.evaluateHandle(
    ([base64, name]) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name));
      return data;
    },
    [Buffer.from(bytes).toString('base64'), basename(file)],
  );
  for (const type of ['dragenter', 'dragover', 'drop']) {
    await page.dispatchEvent('body', type, { dataTransfer: data });
  }
}

/** Drops a file while a log is open, and opens it in its place. */
export async function openInstead(page, file, bytes) {
  await drop(page, file, bytes);
  const instead = page.getByRole('button', { name: 'Open instead' });
  await instead.click();
  // Until then, the log that is replaced is still shown.
  await expect(instead).toHaveCount(0);
}

/**
 * Makes Playwright intercept file dialogs early: interception starts a moment after the first listener is added,
 * and a key press may be faster.
 */
export const answerFileDialogs = (page) => page.on('filechooser', () => {});

/** Opens the page with a log. */
export async function openLog(page, file, address = './') {
  answerFileDialogs(page);
  await page.goto(address);
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await drop(page, file);
  await loaded(page);
  // While the log is read, a preliminary view is shown, which is replaced at the end.
  await page.locator('.app[data-elapsed-ms]').waitFor();
}

/** Waits until a log is shown. */
export async function loaded(page) {
  await started(page);
  // Before the file is opened there is no progress bar, either.
  await expect(page.locator('.timeline canvas')).toBeVisible();
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await expect(page.locator('.panel-body > *').first()).toBeVisible();
}

/** Returns the timeline's canvas and the positions of its tracks, in page pixels. */
export async function timeline(page) {
  const canvas = page.locator('.timeline canvas');
  const measure = () => page.evaluate(() => {
    const { x, y, width, height } = document.querySelector('.timeline canvas').getBoundingClientRect();
    const middles = Object.fromEntries([...document.querySelectorAll('.head')].map((head) => {
      const at = head.getBoundingClientRect();
      return [head.id, at.y + at.height / 2];
    }));
    return { box: { x, y, width, height }, middles };
  });
  // The heads come after the canvas, and a layout may still be changing.
  let now;
  await expect.poll(async () => {
    const before = now;
    now = await measure();
    return Object.keys(now.middles).length > 0 && isDeepStrictEqual(before, now);
  }, { intervals: [20, 50, 100, 250] }).toBe(true);
  const { box, middles } = now;
  const track = (name) => middles[`head-${name}`];
  return {
    canvas,
    box,
    x: (part) => box.x + 216 + (box.width - 216) * part,
    minimap: box.y + 16,
    ruler: box.y + 32 + 12,
    /** Returns the vertical center of a track. */
    track,
    cap: (n) => track(`cap${n}`),
  };
}

/** Shows all columns of the list in the panel. */
export async function showAllColumns(page) {
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
  await page.keyboard.press('Escape');
  await expect(page.locator('#columns-menu')).toHaveCount(0);
}

/** Locates the sentence about the hovered or selected item. */
export const strip = (page) => page.locator('.stage > .strip p');

/** Waits until pending changes are drawn. */
export const drawn = (page) =>
  page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

/** Moves along a lane until the sentence matches; returns position and text. */
export async function pointAlong(page, y, pattern) {
  const { x } = await timeline(page);
  let found;
  // The content of a lane comes from the worker, and may not have arrived yet.
  await expect(async () => {
    for (let part = 0.02; part < 1 && !found; part += 0.01) {
      await page.mouse.move(x(part), y);
      await drawn(page);
      const text = await strip(page).textContent();
      if (pattern.test(text)) {
        // A late render may still show what was at the previous position, or without its label.
        await drawn(page);
        await drawn(page);
        if ((await strip(page).textContent()) === text) found = { x: x(part), text };
      }
    }
    expect(found, `nothing like ${pattern} at ${y}`).toBeDefined();
  }).toPass();
  return found;
}

/**
 * Dispatches events of fingers on a canvas, each as [type, finger, x, y]. All at once: on a busy machine, a finger would
 * otherwise rest between two of them.
 */
export const touch = (canvas, ...events) =>
  canvas.evaluate((canvas, all) => {
    for (const [type, pointerId, clientX, clientY] of all) {
      canvas.dispatchEvent(new PointerEvent(type, {
        pointerId, clientX, clientY, pointerType: 'touch', isPrimary: pointerId === 11,
        button: type === 'pointermove' ? -1 : 0, buttons: type === 'pointerup' ? 0 : 1, bubbles: true,
      }));
    }
  }, events);

/** Counts the pixels of each color in a rectangle of the canvas. */
export async function colors(page, from, to) {
  return page.evaluate(
    ([from, to]) => {
      const canvas = document.querySelector('.timeline canvas');
      const box = canvas.getBoundingClientRect();
      const scale = canvas.width / box.width;
      const at = [(from.x - box.x) * scale, (from.y - box.y) * scale];
      const size = [(to.x - from.x) * scale, (to.y - from.y) * scale];
      const { data } = canvas.getContext('2d').getImageData(...at, ...size);
      const counts = {};
      for (let i = 0; i < data.length; i += 4) {
        const name = `#${[0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, '0')).join('')}`;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    },
    [from, to],
  );
}

/** Waits until the fragment of the address has all changes of the view and matches, and returns it. */
export async function fragment(page, pattern) {
  let hash;
  await expect.poll(async () => {
    hash = await page.evaluate(() => (document.querySelector('[data-pending-address]') ? '(pending)' : location.hash));
    return hash;
  }).toMatch(pattern);
  return hash;
}

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Returns one line for each accessibility rule that the page violates. */
export async function violations(page) {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(async (rules) => {
    const { violations } = await window.axe.run({ runOnly: rules });
    return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0].html})`);
  }, RULES);
}

/** Opens the palette after the previous one has closed, and waits until its field has the focus. */
export async function openPalette(page) {
  await expect(page.locator('dialog.palette')).toHaveCount(0);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Search' })).toBeFocused();
}
