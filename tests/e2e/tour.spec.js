// Tour: every step shows what its text describes.

import { gunzipSync } from 'node:zlib';

import { expect } from '@playwright/test';
import { fixture, loaded, openLog, openPalette, started, strip, test } from './helpers.js';

const card = (page) => page.getByRole('complementary', { name: 'Tour' });
const tab = (page, name) => expect(page.getByRole('tab', { name, exact: true })).toHaveAttribute('aria-selected', 'true');
const panel = (page) => page.locator('#panel');

/** Expectations of each step. */
const STEPS = [
  ['Two seconds of a web server', async (page) => {
    await tab(page, 'Summary');
    for (const cap of [0, 1, 2, 3]) await expect(page.locator(`#head-cap${cap}`)).toBeAttached();
  }],
  ['Collecting, or idle?', async (page) => {
    await expect(panel(page)).toContainText('85.8 %');
    await expect(panel(page)).toContainText('28.5 %');
  }],
  ['The numbers of a range', async (page) => {
    await expect(page.locator('.chip')).toBeVisible();
    await expect(panel(page).getByRole('heading').first()).toContainText('200 ms');
  }],
  ['The longest pause', async (page) => {
    await tab(page, 'Collections');
    await expect(strip(page)).toContainText('13.98 ms');
    await expect(page.locator('.chip')).toHaveCount(0);
  }],
  ['The waits of a thread', async (page) => {
    await tab(page, 'Threads');
    await expect(page.locator('.heads-pinned #head-thread24')).toBeVisible();
    await expect(strip(page)).toContainText('client-02 (thread 24) was blocked on an MVar for 6.87 ms');
    await expect(panel(page)).toContainText('client-02');
  }],
  ['Findings', async (page) => {
    await tab(page, 'Findings');
    await expect(panel(page)).toContainText('18 threads take turns, for a lock or in a pipeline: on average 1.3 of them ran');
    await expect(panel(page)).toContainText('Caveat');
  }],
  ['A flame graph of waiting', async (page) => {
    await tab(page, 'Flame graph');
    await expect(panel(page)).toContainText('Waiting threads');
    await expect(panel(page).locator('canvas').first()).toBeVisible();
  }],
  ['Now your own program', async (page) => {
    await expect(card(page).getByRole('link')).toHaveAttribute('href', 'www/guide.html#recording');
  }],
];

async function start(page) {
  await page.goto('./');
  await page.getByRole('button', { name: 'Take the tour' }).click();
  await loaded(page);
}

for (const width of [1280, 390]) {
  test(`each step shows what it speaks of, by keyboard, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await start(page);
    await expect(card(page).getByRole('button', { name: 'Next' })).toBeFocused();
    for (const [number, [title, claims]] of STEPS.entries()) {
      await expect(card(page)).toContainText(`${number + 1} of ${STEPS.length}`);
      await expect(card(page).getByRole('status')).toContainText(title);
      if (width > 600) await claims(page);
      // The card covers nothing: it ends where the timeline begins.
      // Both are measured at once, as the layout changes while the log is shown.
      const covers = () => card(page).evaluate((card) => {
        const [tour, stage] = [card, document.querySelector('.stage')].map((element) => element.getBoundingClientRect());
        return { timeline: tour.bottom > stage.top + 1, width: tour.width };
      });
      await expect.poll(async () => (await covers()).timeline).toBe(false);
      expect((await covers()).width).toBeLessThanOrEqual(width);
      await page.keyboard.press('Enter');
    }
    await expect(card(page)).toHaveCount(0);
    await expect(page.locator('.timeline canvas')).toBeVisible();
  });
}

test('it goes back, and Escape ends it', async ({ page }) => {
  await start(page);
  const back = card(page).getByRole('button', { name: 'Back' });
  await expect(back).toHaveAttribute('aria-disabled', 'true');
  await card(page).getByRole('button', { name: 'Next' }).click();
  await expect(card(page)).toContainText('2 of 8');
  await back.click();
  await expect(card(page)).toContainText('1 of 8');
  await page.keyboard.press('Escape');
  await expect(card(page)).toHaveCount(0);
});

test('notes on the sample stay when it begins again', async ({ page }) => {
  await start(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('b');
  const note = page.locator('.notes-list').getByRole('textbox');
  await expect(note).toBeFocused();
  await page.keyboard.type('slow');
  await page.keyboard.press('Enter');
  await expect(note).not.toBeFocused();
  await openPalette(page);
  await page.keyboard.type('take the tour');
  await page.keyboard.press('Enter');
  await expect(card(page)).toContainText('1 of 8');
  await card(page).getByRole('button', { name: 'Next' }).click();
  await expect(card(page)).toContainText('2 of 8');
  await page.getByRole('tab', { name: 'Notes' }).click();
  await expect(note).toHaveValue('slow');
});

test('the palette begins it too, and another log ends it', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await openPalette(page);
  await page.keyboard.type('take the tour');
  await page.keyboard.press('Enter');
  await loaded(page);
  await expect(card(page)).toBeVisible();
  await openLog(page, fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await expect(card(page)).toHaveCount(0);
});

test('a host that inflates the sample on its way changes nothing', async ({ page }) => {
  await page.route('**/*.eventlog.gz', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ status: 200, body: gunzipSync(await response.body()) });
  });
  await start(page);
  await expect(card(page)).toContainText('1 of 8');
  await expect(page.getByText('is for another log')).toHaveCount(0);
  await card(page).getByRole('button', { name: 'Next' }).click();
  await expect(card(page)).toContainText('2 of 8');
  await expect(page.getByText('is for another log')).toHaveCount(0);
});
