// High-density screens, on phones and with magnification by the system or the browser: pictures are sharp, have
// the same size as without, and hit testing matches what is painted.

import { expect } from '@playwright/test';
import { drawn, fixture, openLog, pointAlong, strip, test, timeline } from './helpers.js';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/**
 * Maximum difference. Antialiasing differs with more pixels; a picture of the wrong size differs ten times as
 * much.
 */
const MOST_DIFFERENCE = 4;

/** Panels below the timeline, each with a suitable log. */
const PANELS = {
  summary: 'ghc-9.6.6/fib-forkio-N2-l',
  heap: 'ghc-9.6.6/heap-N2-hT-l-au',
  flame: 'ghc-9.6.6/prof-time-N1-p-l-au',
};

/** Returns the mean difference of two pictures of equal size, over pixels and channels, of 255. */
async function difference(page, pictures) {
  return page.evaluate(async (texts) => {
    const [one, other] = await Promise.all(texts.map(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    }));
    if (one.width !== other.width || one.height !== other.height) return 255;
    let sum = 0;
    for (let i = 0; i < one.data.length; i++) sum += Math.abs(one.data[i] - other.data[i]);
    return sum / one.data.length;
  }, pictures.map((png) => png.toString('base64')));
}

/** For each canvas: whether its pixel size matches its layout size, and whether it stays within its parent. */
const canvases = (page) => page.locator('canvas:visible').evaluateAll((all) => all.map((canvas) => {
  const [own, around] = [canvas, canvas.parentElement].map((element) => element.getBoundingClientRect());
  return {
    name: canvas.parentElement.className,
    pixelsOff: Math.max(Math.abs(own.width * devicePixelRatio - canvas.width), Math.abs(own.height * devicePixelRatio - canvas.height)),
    over: Math.max(0, own.right - around.right, around.left - own.left),
  };
}));

/** Returns the sentences found along the lane of the first capability, looking at each `step` of its width. */
async function along(page, step) {
  const { x, cap } = await timeline(page);
  const found = [];
  for (let part = 0.03; part < 1; part += step) {
    await page.mouse.move(x(part), cap(0));
    await drawn(page);
    found.push(await strip(page).textContent());
  }
  return found;
}

/** Returns what `along` finds at last: the content of a lane comes from the worker, and may be missing at first. */
async function settled(page, step) {
  let found = await along(page, step);
  await expect(async () => {
    const before = found;
    found = await along(page, step);
    expect(found).toEqual(before);
  }).toPass();
  return found;
}

/** Opens a log on such a screen. Returns a screenshot in CSS pixels, and the sentences along a lane. */
async function look(browser, viewport, scale, panel) {
  const context = await browser.newContext({ viewport, deviceScaleFactor: scale, serviceWorkers: 'block', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await openLog(page, fixture(PANELS[panel]), `./#p=${panel}`);
  await expect(page.locator('html')).toHaveAttribute('data-started', '');
  // A canvas gets its size when it is painted first.
  await expect(async () => {
    for (const canvas of await canvases(page)) {
      expect(canvas, `${panel} at scale ${scale}`).toMatchObject({ over: 0 });
      expect(canvas.pixelsOff, `${canvas.name} at scale ${scale}`).toBeLessThanOrEqual(1);
    }
  }).toPass();
  await pointAlong(page, (await timeline(page)).cap(0), /apability 0/);
  // The lane is painted alike above all panels: one of them has it looked at closely.
  const found = await settled(page, panel === 'summary' ? 0.06 : 0.3);
  await page.mouse.move(0, 0);
  await drawn(page);
  const png = await page.screenshot({ scale: 'css', animations: 'disabled', caret: 'hide' });
  return { context, page, found, png };
}

for (const [name, viewport, scales] of [['a desktop', DESKTOP, [1.25, 2]], ['a phone', PHONE, [3]]]) {
  for (const panel of Object.keys(PANELS)) {
    test(`${panel} looks the same on ${name} with more pixels`, async ({ browser }) => {
      const plain = await look(browser, viewport, 1, panel);
      if (panel === 'summary') expect(new Set(plain.found).size, 'the pointer finds several things').toBeGreaterThan(1);
      for (const scale of scales) {
        const fine = await look(browser, viewport, scale, panel);
        expect(fine.found, `scale ${scale}`).toEqual(plain.found);
        const differs = await difference(plain.page, [plain.png, fine.png]);
        expect(differs, `scale ${scale}`).toBeLessThan(MOST_DIFFERENCE);
        await fine.context.close();
      }
      await plain.context.close();
    });
  }
}
