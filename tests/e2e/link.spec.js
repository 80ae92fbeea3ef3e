// The link follows the view, and restores it elsewhere.

import { expect } from '@playwright/test';
import { drop, fixture, fragment, loaded, openLog, openPalette, pointAlong, strip, test, timeline } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('a link opened in a fresh profile restores the view', async ({ page, browser, baseURL }) => {
  await openLog(page, LOG);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.4), cap(0));
  await page.mouse.wheel(0, -300);
  await fragment(page, /[#&]t=/);
  await page.mouse.move(x(0.2), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.7), cap(0), { steps: 4 });
  await page.mouse.up();
  await fragment(page, /[#&]r=/);
  const run = await pointAlong(page, cap(0), /ran for/);
  await page.mouse.click(run.x, cap(0));
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const hash = await fragment(page, /v=1&f=.*t=.*r=.*e=.*p=flame/);

  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await expect(other.getByRole('status').first()).toContainText(/This link shows a view of a log of .* with the range/);
  await drop(other, LOG);
  await expect(other.locator('.chip')).toBeVisible();
  await expect(other.getByRole('tab', { name: 'Flame graph' })).toHaveAttribute('aria-selected', 'true');
  await expect(strip(other)).toContainText('ran for');
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await expect(other.locator('.notice')).toHaveCount(0);
  await context.close();
});

test("the browser's Back and Ctrl+Z lead through the views", async ({ page }) => {
  await openLog(page, LOG);
  const fresh = await fragment(page, /f=/);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.wheel(0, -400);
  const zoomed = await fragment(page, /[#&]t=/);
  await page.getByRole('tab', { name: 'Threads' }).click();
  const threads = await fragment(page, /p=threads/);
  await page.mouse.move(x(0.3), cap(0));
  await page.keyboard.press('b');
  const noted = await fragment(page, /p=notes.*k=/);

  const now = () => new URL(page.url()).hash;
  // The page receives hashchange events late, and several changes at once as a single one.
  await page.evaluate(() => {
    window.heard = 0;
    addEventListener('hashchange', () => window.heard += 1);
  });
  let moves = 0;
  const isAt = async (there) => {
    moves += 1;
    await expect.poll(() => page.evaluate(() => window.heard)).toBe(moves);
    expect(now()).toBe(there);
  };
  await page.goBack();
  await isAt(threads);
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  await page.goBack();
  await isAt(zoomed);
  await page.goBack();
  await isAt(fresh);
  await expect(page.getByRole('tab', { name: 'Summary' })).toHaveAttribute('aria-selected', 'true');
  for (const there of [zoomed, threads, noted]) {
    await page.goForward();
    await isAt(there);
  }

  await page.locator('.notes button[aria-label^="Delete"]').first().click();
  await expect.poll(now).not.toContain('k=');
  await page.keyboard.press('Control+z');
  await expect.poll(now).toBe(noted);
  await page.keyboard.press('Control+z');
  await expect.poll(now).toBe(threads);
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(now).toBe(noted);
});

test('a link for another log says so', async ({ page }) => {
  await openLog(page, LOG);
  const hash = await fragment(page, /f=/);
  await page.goto('about:blank');
  await page.goto(`./${hash}`);
  await drop(page, fixture('ghc-9.6.6/gc-heavy-N2-la-nonmoving'));
  await expect(page.locator('.notice')).toContainText('The link is for another log');
});

for (const garbage of ['%', 'v=99&t=x&r=1n-5&e=.&p=%ff&q=%zz', 't=99999999999999999999m1', 'f=&fs=&hide=,,,&k=<script>', '&&&==']) {
  test(`garbage in the address is harmless: ${garbage}`, async ({ page }) => {
    await openLog(page, LOG, `./#${garbage}`);
    await expect(page.locator('.summary tbody tr')).toHaveCount(2);
  });
}

test('the link can be copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLog(page, LOG);
  await page.getByRole('button', { name: 'Share link' }).click();
  const dialog = page.getByRole('dialog', { name: 'Link to this view' });
  await expect(dialog.getByRole('status')).toHaveText('Copied.');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/#v=1&f=/);
  await expect(dialog.getByRole('textbox', { name: 'The link' })).toHaveValue(link);
  await expect(dialog.getByRole('definition').first()).toContainText('KiB, ');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});

test('names can be left out of a link, which says what it holds', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLog(page, LOG, './#q=secret%20filter&k=12644470~secret%20note&p=threads&tq=secret');
  await page.keyboard.press('l');
  const dialog = page.getByRole('dialog', { name: 'Link to this view' });
  const held = dialog.locator('.held');
  await expect(dialog.getByRole('status')).toHaveText('Copied.');
  for (const text of ['“secret filter”', '“secret note” at ', '“secret”']) await expect(held).toContainText(text);
  await expect(held.getByText('name or text')).toHaveCount(3);
  await dialog.getByRole('checkbox', { name: 'Leave out names and notes' }).check();
  await expect(dialog.getByRole('status')).toContainText('The clipboard still has the link with names');
  await expect(held).not.toContainText('secret');
  await expect(held).toContainText('Threads');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('secret');
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await expect(dialog.getByRole('status')).toHaveText('Copied.');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/#v=1&f=[^&]*&p=threads$/);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toHaveCount(0);
});

test('the three sample logs open', async ({ page }) => {
  for (const name of ['A web server', 'A parallel sort', 'A profiled program']) {
    await page.goto('./');
    await page.getByRole('button', { name }).click();
    await loaded(page);
    await expect(page.locator('.warnings')).toHaveCount(0);
  }
});

/**
 * Counts the pixels in which two pictures differ. Times in a link are whole nanoseconds, those of the view need
 * not be.
 */
function differing(page, ...pictures) {
  return page.evaluate(async (pictures) => {
    const [a, b] = await Promise.all(pictures.map(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    }));
    const [most, unlike] = [12, new Set()];
    for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
      if (!(Math.abs(a[i] - b[i]) <= most)) unlike.add(i >> 2);
    }
    return unlike.size;
  }, pictures);
}

test('twenty changes come back with the link, pixel by pixel', async ({ page, browser, baseURL }) => {
  await openLog(page, LOG);
  const command = async (name) => {
    await openPalette(page);
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
  };
  const on = async (track, ...keys) => {
    await page.locator(`#head-${track}`).focus();
    for (const key of keys) await page.keyboard.press(key);
  };
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.8), cap(0));
  await page.mouse.wheel(0, -300);
  await page.mouse.move(x(0.2), cap(0));
  await page.mouse.down();
  await page.mouse.move(x(0.7), cap(0), { steps: 4 });
  await page.mouse.up();
  await on('cap1', 'p', 'x');
  await on('cap0', 'Alt+ArrowDown');
  await on('gc', 'h');
  for (const name of ['Sort threads by number', 'Group threads by label']) await command(name);
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByRole('searchbox', { name: /search/i }).last().fill('thread');
  await page.getByRole('tab', { name: 'Threads' }).click();
  await page.locator('.panel-body').getByRole('button', { name: /^Running/ }).click();
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  await page.getByRole('button', { name: 'Left heavy' }).click();
  await page.mouse.move(x(0.3), cap(1));
  await page.keyboard.press('b');
  await expect(page.locator('.notes-list').getByRole('textbox')).toBeFocused();
  await page.keyboard.type('slow?');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  // Use the keyboard, as the pointer position and open details are not part of the link.
  await on('cap0', 'ArrowRight', 'ArrowRight');
  const hash = await fragment(page, /e=.*p=flame.*k=/);

  /** Returns a screenshot without pointer and focus. */
  const picture = async (of) => {
    await of.mouse.move(2, 2);
    await of.evaluate(() => document.activeElement?.blur());
    return (await of.locator('.stage').screenshot({ animations: 'disabled' })).toString('base64');
  };
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, LOG);
  await loaded(other);
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await expect.poll(async () => differing(other, await picture(other), await picture(page))).toBe(0);
  await context.close();
});

test('Back and Forward lead through ten views', async ({ page }) => {
  await openLog(page, LOG);
  const hashes = [await fragment(page, /f=/)];
  const tabs = ['Events', 'Threads', 'Collections', 'Flame graph', 'Process', 'In view', 'Notes', 'Summary', 'Findings'];
  for (const name of tabs) {
    await page.getByRole('tab', { name, exact: true }).click();
    await expect.poll(() => new URL(page.url()).hash).not.toBe(hashes.at(-1));
    hashes.push(new URL(page.url()).hash);
  }
  const now = () => new URL(page.url()).hash;
  for (const there of hashes.slice(0, -1).reverse()) {
    await page.goBack();
    await expect.poll(now).toBe(there);
  }
  for (const there of hashes.slice(1)) {
    await page.goForward();
    await expect.poll(now).toBe(there);
  }
  await expect(page.getByRole('tab', { name: 'Findings' })).toHaveAttribute('aria-selected', 'true');
});
