// The prefixes of messages that announce spans of the program can be set.

import { expect } from '@playwright/test';
import { fixture, fragment, openLog, test } from './helpers.js';

// High enough for all tracks of the log, as tracks outside of the view have no heads.
test.use({ viewport: { width: 1280, height: 1100 } });

const LOG = fixture('ghc-9.0.2/ffi-safe-N2-lu');

const spans = (page) => page.locator('[id^="head-span:"]');

test('other words announce other spans, and the link says so', async ({ page }) => {
  await openLog(page, LOG);
  await expect(spans(page)).not.toHaveCount(0);
  const usual = await spans(page).count();
  await page.getByRole('button', { name: /^Tracks/ }).click();
  const begins = page.getByLabel('Begins with');
  await expect(begins).toHaveValue('START');
  await expect(page.getByLabel('Ends with')).toHaveValue('STOP, END');
  await begins.fill('COMMENCE ');
  await begins.press('Enter');
  await expect(spans(page)).toHaveCount(0);
  await fragment(page, /[#&]sp=COMMENCE!STOP,END(&|$)/);
  const address = page.url();
  await begins.fill('COMMENCE, START');
  await begins.press('Enter');
  await expect(spans(page)).toHaveCount(usual);
  await fragment(page, /[#&]sp=COMMENCE,START!STOP,END(&|$)/);
  await page.keyboard.press('Escape');
  await page.goto('about:blank');
  await openLog(page, LOG, address);
  await expect(page.getByRole('button', { name: /^Tracks/ })).toBeVisible();
  await expect(spans(page)).toHaveCount(0);
  // Prefixes in the address take effect while the log is open, too.
  await page.evaluate(() => { window.location.hash = '#v=1&p=events'; });
  await expect(spans(page)).not.toHaveCount(0);
});

test('a log without messages has no such fields', async ({ page }) => {
  await openLog(page, fixture('ghc-9.10.3/prof-time-N2-pj-l'));
  await page.getByRole('button', { name: /^Tracks/ }).click();
  await expect(page.getByText('Order')).toBeVisible();
  await expect(page.getByLabel('Begins with')).toHaveCount(0);
});
