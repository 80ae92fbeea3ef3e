// Dense events are drawn as columns that show their number; at close zoom each event has its own sign.

import { expect } from '@playwright/test';
import { fixture, openLog, pointAlong, strip, test, timeline } from './helpers.js';

const LOG = fixture('ghc-9.6.6/endless-killed-flush-N2-l');

test('messages too many for a sign each are counted, and come apart as one zooms in', async ({ page }) => {
  await page.setViewportSize({ width: 700, height: 800 });
  await openLog(page, LOG);
  const y = async () => (await timeline(page)).track('messages');
  const dense = /(\d+) messages in .*: [\d.,]+\sper\s\S+ · /;
  const column = await pointAlong(page, await y(), dense);
  const count = Number(column.text.match(dense)[1]);
  expect(count).toBeGreaterThan(1);
  // A click opens the details, which link to the list of all events.
  await page.mouse.click(column.x, await y());
  const details = page.getByRole('complementary', { name: 'Details of the selected item' });
  await expect(details).toContainText(`${count} messages in`);
  await expect(page).toHaveURL(/e=\d+\.messages/);
  // A double click zooms to that range, where events are less dense.
  await page.mouse.dblclick(column.x, await y());
  await expect(page).toHaveURL(/t=\d+n\d+/);
  const single = await pointAlong(page, await y(), /message at/);
  expect(single.text).not.toMatch(dense);
  await page.keyboard.press('Home');
  await expect(strip(page)).not.toBeEmpty();
});
