// The page in other browsers than Chromium, if installed: opening a log, zooming, selecting, a flame graph, and
// restoring the view from a link.

import { expect } from '@playwright/test';
import { OTHERS } from './browsers.js';
import { fixture, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/prof-ffi-safe-N1-p-l');

/** Evaluates code in the page until it yields the expected value. */
const poll = (browser, code) => expect.poll(() => browser.run(code), { message: code, timeout: 20_000 });

/** Opens an address and a log. */
async function open(browser, address) {
  await browser.open(address);
  await poll(browser, "document.documentElement.hasAttribute('data-started')").toBe(true);
  await browser.choose(LOG);
  await poll(browser, "document.querySelector('.app[data-elapsed-ms]') !== null").toBe(true);
  await poll(browser, "document.querySelector('h1').textContent").toContain('prof-ffi-safe-N1-p-l');
}

const HASH = 'location.hash';
/** Visible notices and alerts of the page. */
const SAID = "[...document.querySelectorAll('.notice, [role=alert]')].filter((part) => part.offsetParent).map((part) => part.textContent).join()";
const SELECTED = "document.querySelector('.chip') && document.querySelector('.chip').textContent";
/** Number of colors in the flame graph: a blank one has two or three. */
const COLORS = `(() => {
  const canvas = document.querySelector('.flame-graph canvas');
  if (!canvas || !canvas.width) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
})()`;

for (const { name, start, lacks } of OTHERS) {
  test.describe(name, () => {
    test.skip(lacks !== '', lacks);
    test.setTimeout(120_000);

    test('opens a log, zooms, selects, draws a flame graph, and follows a link', async ({ baseURL }, testInfo) => {
      const browser = await start();
      try {
        await open(browser, baseURL);
        expect(await browser.run(SAID)).toBe('');
        const box = JSON.parse(await browser.run(
          "JSON.stringify(document.querySelector('.timeline canvas').getBoundingClientRect())",
        ));
        const x = (part) => box.left + 216 + (box.width - 216) * part;
        await browser.drag(x(0.3), x(0.7), box.top + 100);
        await poll(browser, SELECTED).toMatch(/–/);
        await poll(browser, HASH).toMatch(/[#&]r=/);
        await browser.press('f');
        await poll(browser, HASH).toMatch(/[#&]t=/);
        await browser.run("[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === 'Flame graph').click()");
        await poll(browser, HASH).toMatch(/[#&]p=flame/);
        await poll(browser, COLORS).toBeGreaterThan(10);
        const hash = await browser.run(HASH);
        const chosen = await browser.run(SELECTED);
        await testInfo.attach('view', { body: await browser.picture(), contentType: 'image/png' });

        await browser.open('about:blank');
        await open(browser, `${baseURL}${hash}`);
        await poll(browser, SELECTED).toBe(chosen);
        await poll(browser, HASH).toBe(hash);
        await poll(browser, COLORS).toBeGreaterThan(10);
      } finally {
        await browser.end();
      }
    });
  });
}
