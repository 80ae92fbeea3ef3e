// Layout: maximized panel, details next to the item that they describe, one time axis for timeline and flame
// graph, and no truncated text.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { drawn, drop, fixture, fragment, openLog, test, timeline } from './helpers.js';

const DEMO = fileURLToPath(new URL('../../www/demo/profiled-ffi.eventlog.gz', import.meta.url));
const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');
const details = (page) => page.getByRole('complementary', { name: 'Details of the selected item' });
const panels = ['summary', 'findings', 'events', 'threads', 'gc', 'sparks', 'flame', 'heap', 'ticky', 'process', 'view', 'compare', 'notes'];

/** Opens a log in a window of that size. */
async function open(page, log, [width, height], hash = '') {
  await page.setViewportSize({ width, height });
  await openLog(page, log, `./${hash}`);
}

/** Clicks along the lane of a capability until the details of an item open; returns the row's id. */
async function select(page, cap) {
  const { box, cap: lane } = await timeline(page);
  const labels = box.width < 640 ? 100 : 216;
  // The content of a lane comes from the worker, and may not have arrived yet.
  await expect(async () => {
    for (let part = 0.1; part < 0.9; part += 0.04) {
      await page.mouse.click(box.x + labels + (box.width - labels) * part, lane(cap));
      await drawn(page);
      if (await details(page).isVisible()) return;
    }
    throw new Error('nothing to select');
  }).toPass();
  return `head-cap${cap}`;
}

test('a panel has all of the window below the header, and gives it back', async ({ page }) => {
  await open(page, LOG, [1440, 900], '#v=1&p=threads');
  const panel = page.locator('.panel');
  const rows = () => page.locator('.panel .grid-row').evaluateAll((rows) => {
    const { bottom } = document.querySelector('.panel').getBoundingClientRect();
    return rows.filter((row) => row.getBoundingClientRect().bottom <= bottom + 1).length;
  });
  await expect.poll(rows).toBeGreaterThan(7);
  const button = page.getByRole('button', { name: 'Maximize the panel' });
  await button.click();
  const header = await page.locator('header.bar').boundingBox();
  await expect.poll(async () => (await panel.boundingBox()).height).toBeGreaterThan(900 - header.height - header.y - 3);
  await fragment(page, /[#&]pm=1/);
  await expect(page.locator('.timeline canvas')).toBeHidden();
  await page.reload();
  await drop(page, LOG);
  await expect(button).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(async () => (await panel.boundingBox()).height).toBeGreaterThan(800);
  await page.keyboard.press('Shift+Backslash');
  await expect(page.locator('.timeline canvas')).toBeVisible();
  await expect.poll(async () => (await timeline(page)).box.height).toBeGreaterThan(200);
  await expect(button).toHaveAttribute('aria-pressed', 'false');
});

test('what is gone to from a maximised panel is seen', async ({ page }) => {
  await open(page, LOG, [1440, 900], '#v=1&p=gc');
  await page.keyboard.press('Shift+Backslash');
  await expect(page.locator('.timeline canvas')).toBeHidden();
  await page.locator('.panel .grid-row').nth(1).click();
  await expect(page.locator('.timeline canvas')).toBeVisible();
});

for (const [width, height] of [[1920, 1080], [1440, 900], [1024, 768], [390, 844]]) {
  for (const hidden of ['', ' without a panel']) {
    test(`the details cover nothing at ${width} px${hidden}`, async ({ page }) => {
      await open(page, LOG, [width, height]);
      if (hidden) await page.keyboard.press('\\');
      const head = await select(page, 1);
      // The canvas is resized with the next frame.
      await expect(async () => {
        const card = await page.locator('.dock').boundingBox();
        const { box } = await timeline(page);
        const apart = card.y >= box.y + box.height - 0.5 || card.x >= box.x + box.width - 0.5;
        expect(apart, JSON.stringify({ card, box })).toBe(true);
        expect(card.height).toBeLessThanOrEqual(height / 2 + 1);
        // The card and its close button are inside of the window, at any scroll position.
        expect(card.x >= 0 && card.x + card.width <= width + 1 && card.y + card.height <= height + 1).toBe(true);
        await page.locator('.dock-cards').evaluate((cards) => cards.scrollTo(0, 9999));
        const close = await page.getByRole('button', { name: 'Close the details' }).boundingBox();
        expect(close.y >= card.y - 1 && close.y + close.height <= card.y + card.height + 1).toBe(true);
        // The lane of the item is in view.
        const lane = await page.locator(`#${head}`).boundingBox();
        expect(lane.y >= box.y + 55 && lane.y + lane.height <= box.y + box.height + 1).toBe(true);
      }).toPass();
      await page.getByRole('button', { name: 'Close the details' }).click();
      await expect(page.locator('.dock')).toHaveCount(0);
    });
  }
}

test('a panel that is asked for is seen, though it is open below the details', async ({ page }) => {
  await open(page, LOG, [390, 844], '#v=1&p=threads');
  await select(page, 1);
  await expect(page.locator('.panel')).toBeHidden();
  await page.keyboard.press('3');
  await expect(details(page)).toHaveCount(0);
  await expect(page.locator('.panel')).toBeVisible();
  // Closed by their button, the details give the focus to the tracks.
  await select(page, 1);
  await page.getByRole('button', { name: 'Close the details' }).click();
  await expect(details(page)).toHaveCount(0);
  await expect(page.locator('.head:focus')).toHaveCount(1);
});

test('what is asked about a file with a very long name can be answered', async ({ page }) => {
  await open(page, LOG, [1280, 800]);
  await drop(page, `/${'x'.repeat(240)}.eventlog`, readFileSync(LOG));
  for (const width of [1280, 800, 390]) {
    await page.setViewportSize({ width, height: 800 });
    for (const name of ['Compare with the open one', 'Merge into one timeline', 'Open instead', 'Cancel']) {
      const button = page.locator('.offer').getByRole('button', { name, exact: true });
      await expect(button).toBeInViewport({ ratio: 0.99 });
    }
  }
});

/** Serializes the pixels of a rectangle of a canvas. */
const ruler = (page, selector, [x, y, width, height]) => page.evaluate(([selector, x, y, width, height]) => {
  const canvas = document.querySelector(selector);
  const scale = canvas.width / canvas.getBoundingClientRect().width;
  const { data } = canvas.getContext('2d').getImageData(x * scale, y * scale, width * scale, height * scale);
  return Array.from(data).join();
}, [selector, x, y, width, height]);

/** Waits until both rulers are equal, and returns their pixels. */
async function oneRuler(page) {
  const { box } = await timeline(page);
  const at = [box.width < 640 ? 100 : 216, box.width < 640 ? box.width - 100 : box.width - 216];
  let own = '';
  await expect(async () => {
    own = await ruler(page, '.timeline canvas', [at[0], 32, at[1], 23]);
    const its = await ruler(page, '.flame-ruler canvas', [at[0], 0, at[1], 23]);
    expect(own === its).toBe(true);
    expect(new Set(own.split(',')).size, 'it is painted').toBeGreaterThan(4);
  }).toPass();
  return own;
}

for (const width of [1440, 390]) {
  test(`timeline and flame graph have one axis at ${width} px`, async ({ page }) => {
    await open(page, DEMO, [width, 900], '#v=1&p=flame');
    await expect(page.locator('.flame-ruler canvas')).toBeVisible();
    const all = await oneRuler(page);
    // Zooming one zooms the other.
    const { box } = await timeline(page);
    await page.mouse.move(box.x + box.width * 0.7, box.y + 100);
    await page.mouse.wheel(0, -400);
    await expect(async () => expect((await oneRuler(page)) === all).toBe(false)).toPass();
    const zoomed = await oneRuler(page);
    const flame = await page.locator('.flame-canvas canvas').boundingBox();
    await page.mouse.move(flame.x + flame.width * 0.6, flame.y + 10);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Control');
    await expect(async () => expect((await oneRuler(page)) === zoomed).toBe(false)).toPass();
    const deeper = await oneRuler(page);
    // Panning too.
    await page.mouse.move(flame.x + flame.width * 0.6, flame.y + 10);
    await page.mouse.down();
    await page.mouse.move(flame.x + flame.width * 0.6 - 60, flame.y + 10, { steps: 4 });
    await page.mouse.up();
    await expect(async () => expect((await oneRuler(page)) === deeper).toBe(false)).toPass();
    await oneRuler(page);
    await fragment(page, /[#&]t=/);
  });
}

test('what a search finds is shown, one after the other', async ({ page }) => {
  await open(page, DEMO, [1440, 900], '#v=1&p=flame&fo=left');
  const words = page.locator('.flame-strip .words');
  const found = page.locator('.flame .found');
  await expect(page.locator('.flame-canvas canvas')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('sobel');
  await expect(found).toContainText(/1 of \d+ · .*of the time/);
  await expect(words).toContainText('sobel');
  // The current match is visible.
  const many = Number((await found.textContent()).match(/of (\d+)/)[1]);
  if (many > 1) {
    await page.getByRole('searchbox', { name: 'Search frames' }).press('Enter');
    await expect(found).toContainText(`2 of ${many}`);
    await expect(words).toContainText('sobel');
    await page.getByRole('button', { name: /^Previous match/ }).click();
    await page.getByRole('button', { name: /^Previous match/ }).click();
    await expect(found).toContainText(`${many} of ${many}`);
    await expect(words).toContainText('sobel');
  }
  await page.getByRole('button', { name: 'Time order' }).click();
  await expect(found).toContainText(/1 of \d+/);
  await page.getByRole('searchbox', { name: 'Search frames' }).fill('no such frame');
  await expect(found).toContainText('no match');
});

test('a filter without a match says so', async ({ page }) => {
  await open(page, LOG, [1440, 900]);
  await page.getByRole('searchbox', { name: /Filter tracks/ }).fill('no such track');
  await expect(page.locator('.no-match')).toContainText('No track name contains “no such track”');
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(page.locator('.no-match')).toHaveCount(0);
  await expect(page.locator('.head').first()).toBeVisible();
});

test('the close button of the help stays in view', async ({ page }) => {
  await open(page, LOG, [1024, 600]);
  await page.keyboard.press('?');
  await page.locator('dialog.help').evaluate((help) => help.scrollTo(0, 9999));
  await expect(page.getByRole('button', { name: 'Close the help' })).toBeInViewport();
});

/** Returns the texts in header, tabs and toolbars that are truncated or outside of the window. */
const cut = (page) => page.evaluate(() => {
  const roots = 'header.bar, .caption, .strip, .tab-bar, .controls, .chart-controls, .tabs, .flame-strip, .heap-bar';
  const pen = document.createElement('canvas').getContext('2d');
  const wide = (element, text) => {
    const style = getComputedStyle(element);
    pen.font = style.font;
    const pads = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    return pen.measureText(text).width + pads > element.clientWidth + 1;
  };
  // Truncated with an ellipsis, with the whole text as the title.
  const shortened = (element) => {
    for (let around = element; around; around = around.parentElement) {
      if (getComputedStyle(around).textOverflow === 'ellipsis') return !!around.closest('[title]');
    }
    return false;
  };
  const problems = [];
  for (const element of document.querySelectorAll(roots.split(', ').map((root) => `${root}, ${root} *`).join())) {
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({ visibilityProperty: true }) || box.width < 2 || element.closest('.visually-hidden, svg')) continue;
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    const style = getComputedStyle(element);
    const told = shortened(element);
    const say = (what) => problems.push(`${what}: ${element.className} “${(element.value || element.placeholder || element.textContent).trim().slice(0, 60)}”`);
    if (element.tagName === 'SELECT') {
      const option = element.selectedOptions[0];
      if (!told && option && wide(element, `${option.text}xx`)) say('select');
    } else if (element.tagName === 'INPUT' && element.placeholder) {
      if (wide(element, element.placeholder)) say('placeholder');
    } else if (texts.length > 0 || element.matches('button')) {
      const scrolls = /auto|scroll/.test(style.overflowX);
      if (!scrolls && !told && style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) say('cut');
      const scroller = element.closest('.tabs, .menu') ?? document.documentElement;
      if (!told && scroller === document.documentElement && (box.right > innerWidth + 1 || box.left < -1)) say('beyond the window');
    }
  }
  return problems;
});

for (const [width, height] of [[1024, 768], [390, 844]]) {
  for (const [name, log] of [['a program', LOG], ['a profile', DEMO]]) {
    test(`no text is cut at ${width} px: ${name}`, async ({ page }) => {
      test.slow();
      await open(page, log, [width, height]);
      for (const panel of panels) {
        await page.locator(`#tab-${panel}`).evaluate((tab) => tab.click());
        await expect(page.locator('.panel-body > *').first()).toBeVisible();
        expect.soft(await cut(page), panel).toEqual([]);
        for (const button of await page.locator('.panel-body .controls .menu-button > button').all()) {
          await button.click();
          const menu = page.locator('.panel-body .menu');
          const { x, width: wide } = await menu.boundingBox();
          const name = `${panel}: ${await button.textContent()}`;
          expect.soft(x >= 0 && x + wide <= width, name).toBe(true);
          expect.soft(await menu.evaluate((menu) => menu.scrollWidth <= menu.clientWidth), name).toBe(true);
          await page.keyboard.press('Escape');
        }
      }
      for (const order of ['left', 'sandwich']) {
        await page.evaluate((order) => { location.hash = `#v=1&p=flame&fo=${order}`; }, order);
        await expect(page.locator('.panel-body > *').first()).toBeVisible();
        expect.soft(await cut(page), order).toEqual([]);
      }
    });
  }
}

test('on a phone the header is one row, and the flame graph has frames', async ({ page }) => {
  await open(page, DEMO, [390, 844], '#v=1&p=flame');
  expect((await page.locator('header.bar').boundingBox()).height).toBeLessThan(50);
  const { y } = await page.locator('.flame-canvas').boundingBox();
  expect(844 - y).toBeGreaterThan(120);
});

test('the tabs stay where they are, whichever panel is open', async ({ page }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await openLog(page, fixture('ghc-9.6.6/heap-N2-hT-l-au'));
  const tops = new Set();
  const panels = page.getByRole('tablist', { name: 'Panels' });
  for (const tab of await panels.getByRole('tab').all()) {
    await tab.click();
    await expect(tab).toHaveAttribute('aria-selected', 'true');
    tops.add((await panels.boundingBox()).y);
  }
  expect([...tops]).toHaveLength(1);
});

test('a button that does nothing now looks like it', async ({ page }) => {
  await openLog(page, fixture('ghc-9.6.6/heap-N2-hT-l-au'), './#v=1&p=heap');
  const colors = await page.evaluate(() => ['', 'disabled'].map((disabled) => {
    const button = document.createElement('button');
    button.toggleAttribute('disabled', disabled);
    document.body.append(button);
    const { color, borderColor } = getComputedStyle(button);
    button.remove();
    return [color, borderColor];
  }));
  expect(colors[1][0]).not.toBe(colors[0][0]);
  expect(colors[1][1]).not.toBe(colors[0][1]);
});
