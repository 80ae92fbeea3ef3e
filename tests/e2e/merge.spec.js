// Merging several logs: dropping them, alignment, tracks by process.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from '@playwright/test';
import { drop, fixture, loaded, openLog, test, violations } from './helpers.js';

const LOGS = ['ghc-9.6.6/fib-forkio-N2-l', 'ghc-9.6.6/sparks-N2-ls', 'ghc-9.6.6/dense-N2-l-flush'].map(fixture);

/** Drops several files at once, some with replaced content. */
async function dropAll(page, paths, others = {}) {
  await expect(page.getByRole('main')).toBeVisible();
  const packed = paths.map((path) => [(others[path] ?? readFileSync(path)).toString('base64'), basename(path)]);
  const data = await page.evaluateHandle((packed) => {
    const data = new DataTransfer();
    for (const [base64, name] of packed) {
      data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    }
    return data;
  }, packed);
  for (const type of ['dragenter', 'dragover', 'drop']) {
    await page.dispatchEvent('body', type, { dataTransfer: data });
  }
}

const dialog = (page) => page.getByRole('dialog', { name: /^Merge \d+ logs/ });
const way = (page, name) => dialog(page).getByRole('radio', { name });
const merge = (page) => dialog(page).getByRole('button', { name: 'Merge', exact: true }).click();
const heads = (page) => page.locator('.head [role=rowheader]');

/** Drops three logs and merges them by their starts. */
async function three(page, others) {
  await page.goto('./');
  await dropAll(page, LOGS, others);
  await way(page, 'Start').check();
  await merge(page);
  await loaded(page);
}

test('three logs that are dropped become one, with tracks by process', async ({ page }) => {
  await page.goto('./');
  await dropAll(page, LOGS);
  await expect(dialog(page)).toBeVisible();
  await expect(way(page, 'Wall clock')).toBeChecked();
  expect(await violations(page)).toEqual([]);
  await way(page, 'Start').check();
  await merge(page);
  await loaded(page);
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('banner')).toContainText(/fib-forkio.*sparks.*dense.*3 processes/s);
  await expect(heads(page).filter({ hasText: 'fib-forkio · cap 0' })).toHaveCount(1);
  await expect(page.locator('.head.heading', { hasText: 'fib-forkio' }).first()).toHaveAttribute('aria-level', '1');
  // Folding a process moves the next one up.
  await page.locator('.head.heading', { hasText: 'fib-forkio' }).first().click();
  await expect(heads(page).filter({ hasText: 'sparks · cap 2' })).toHaveCount(1);
  await expect(heads(page).filter({ hasText: 'fib-forkio · cap 0' })).toHaveCount(0);

  await page.getByRole('tab', { name: 'Summary' }).click();
  await expect(page.locator('.several')).toContainText('This log contains 3 processes: fib-forkio, sparks, dense.');
  await expect(page.getByRole('row', { name: /^dense \(pid \d+\)/ })).toBeVisible();
  await page.getByRole('tab', { name: 'Process' }).click();
  await expect(page.getByRole('heading', { name: 'Log of 3 processes' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'dense', exact: true })).toBeVisible();
  await page.getByRole('tab', { name: 'Findings' }).click();
  await expect(page.locator('.findings')).toContainText('No rules ran. Rules analyze one program');
});

test('a merged log is moved by hand later, and the view and its notes stay', async ({ page }) => {
  await three(page);
  await page.keyboard.press('b');
  const note = page.locator('.notes-list').getByRole('textbox');
  await expect(note).toBeFocused();
  await page.keyboard.type('slow');
  await page.keyboard.press('Enter');
  await expect(note).not.toBeFocused();
  const length = page.locator('.process-facts dd', { hasText: 'long, from' });
  await page.getByRole('tab', { name: 'Process' }).click();
  await expect(length).toContainText(/^30\.\d+\sms long/);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('Merge logs');
  await page.keyboard.press('Enter');
  await expect(way(page, 'Start')).toBeChecked();
  const offset = dialog(page).getByLabel(/^dense.*milliseconds/);
  await offset.fill('abc');
  await merge(page);
  await expect(dialog(page).getByRole('alert')).toContainText('not a number of milliseconds');
  await offset.fill('100');
  await merge(page);
  await expect(dialog(page)).toHaveCount(0);
  await expect(length).toContainText(/^130\.\d+\sms long/);
  await expect(page.getByRole('tab', { name: 'Process' })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Notes' }).click();
  await expect(note).toHaveValue('slow');
  // The note is still not saved.
  await drop(page, LOGS[1]);
  await expect(page.locator('.offer')).toContainText('You have not saved 1 note on it');
});

test('notes that are not saved are asked about before a merged log is opened in place of theirs', async ({ page }) => {
  await openLog(page, LOGS[0]);
  const note = page.locator('.notes-list').getByRole('textbox');
  await page.keyboard.press('b');
  await expect(note).toBeFocused();
  await page.keyboard.type('slow');
  await page.keyboard.press('Enter');
  await expect(note).not.toBeFocused();
  const question = page.locator('.offer');
  const ask = async () => {
    await dropAll(page, LOGS);
    await way(page, 'Start').check();
    await merge(page);
    await expect(question).toHaveText(/^This closes “fib-forkio-N2-l\.eventlog”\. You have not saved 1 note\./);
    await expect(dialog(page)).toHaveCount(0);
  };
  await ask();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(question).toHaveCount(0);
  await expect(note).toHaveValue('slow');
  await ask();
  await question.getByRole('button', { name: 'Open instead' }).click();
  await loaded(page);
  await expect(page.getByRole('banner')).toContainText('3 processes');
  await expect(question).toHaveCount(0);
});

test('what cannot be merged is said, and nothing is lost', async ({ page }) => {
  await openLog(page, LOGS[0]);
  await dropAll(page, LOGS, { [LOGS[1]]: Buffer.from('no log at all') });
  await merge(page);
  await expect(dialog(page).getByRole('alert')).toContainText('“sparks-N2-ls.eventlog” cannot be merged');
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('banner')).toContainText('fib-forkio-N2-l.eventlog');

  await dropAll(page, LOGS);
  await way(page, 'A marker').check();
  await dialog(page).getByLabel('Text').fill('no such marker');
  await merge(page);
  await expect(dialog(page).getByRole('alert')).toContainText('has no marker or message “no such marker”');
  await way(page, 'Messages between them').check();
  await merge(page);
  await expect(dialog(page).getByRole('alert')).toContainText('has no messages with the others');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
});

test('a damaged log is merged as far as it can be read', async ({ page }) => {
  const bytes = readFileSync(LOGS[1]);
  await three(page, { [LOGS[1]]: bytes.subarray(0, Math.floor(bytes.length * 0.7)) });
  await expect(page.getByRole('status').filter({ hasText: '“sparks-N2-ls.eventlog” is damaged' })).toBeVisible();
  await expect(page.getByRole('banner')).toContainText('3 processes');
});

test('two logs are compared, and merged if that is wanted', async ({ page }) => {
  await openLog(page, LOGS[0]);
  await drop(page, LOGS[1]);
  await page.getByRole('button', { name: 'Merge into one timeline' }).click();
  await way(page, 'Start').check();
  await merge(page);
  await loaded(page);
  await expect(page.getByRole('banner')).toContainText('2 processes');

  await page.goto('./');
  await dropAll(page, LOGS.slice(0, 2));
  await expect(page.locator('.timeline canvas')).toHaveCount(2);
  await page.getByRole('button', { name: 'Merge…' }).click();
  await expect(dialog(page)).toContainText('Merge 2 logs into one timeline');
  await way(page, 'Start').check();
  await merge(page);
  await expect(page.locator('.timeline canvas')).toHaveCount(1);
  await expect(page.getByRole('banner')).toContainText('2 processes');

  // The merged log can be saved and opened like any other.
  const saved = page.waitForEvent('download');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('Save the log');
  await page.keyboard.press('Enter');
  const file = await saved;
  expect(file.suggestedFilename()).toMatch(/ \+ .*\.eventlog$/);
  await page.goto('./');
  await drop(page, file.suggestedFilename(), readFileSync(await file.path()));
  await loaded(page);
  await expect(page.getByRole('banner')).toContainText('2 processes');
});

test('merging is given up as soon as nobody wants it', async ({ page }) => {
  // The worker never hears what to merge, so that merging lasts.
  await page.addInitScript(() => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function post(data, ...rest) {
      if (!data?.message?.Merge) postMessage.call(this, data, ...rest);
    };
  });
  await page.goto('./');
  await expect.poll(() => page.workers().length).toBe(1);
  await dropAll(page, Array(40).fill(LOGS[2]));
  await expect(dialog(page)).toContainText('Merge 40 logs into one timeline');
  await merge(page);
  await expect(dialog(page).getByRole('progressbar', { name: 'Merging' })).toBeVisible();
  await expect.poll(() => page.workers().length).toBe(2);
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog(page)).toHaveCount(0);
  // The merging worker has ended, so no result can arrive.
  await expect.poll(() => page.workers().length).toBe(1);
  await expect(page.getByRole('button', { name: 'Browse…' })).toBeVisible();
  await expect(page.locator('.timeline canvas')).toHaveCount(0);
});
