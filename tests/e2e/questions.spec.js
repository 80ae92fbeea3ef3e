// Eight questions of a newcomer, each from the dropped log to the answer with its evidence, within the promised
// number of steps. A step is a click or a key.

import { expect } from '@playwright/test';
import { drop, fixture, fragment, openLog, test } from './helpers.js';

const provoked = (rule) => fixture(`../findings/${rule}-found`).concat('.gz');

/** Counts the user's steps. */
function steps(page) {
  let taken = 0;
  return {
    click: async (what) => {
      taken += 1;
      await what.click();
    },
    press: async (key) => {
      taken += 1;
      await page.keyboard.press(key);
    },
    atMost: (most) => expect(taken).toBeLessThanOrEqual(most),
  };
}

const brief = (page) => page.getByRole('list', { name: 'Findings', exact: true });
const named = (page, text) => brief(page).getByRole('button', { name: text });
const card = (page) => page.getByRole('region', { name: 'Open finding' });
const tab = (page, name) => page.getByRole('tab', { name, exact: true });
const details = (page) => page.getByRole('complementary', { name: 'Details of the selected item' });

/** Expects the panel with the evidence, at a selected range, below the finding. */
async function proved(page, panel, finding) {
  await expect(tab(page, panel)).toHaveAttribute('aria-selected', 'true');
  await expect(card(page)).toContainText(finding);
  await fragment(page, /[#&]r=/);
}

test('why does it not scale?', async ({ page }) => {
  await openLog(page, provoked('serial-section'));
  const user = steps(page);
  await user.click(named(page, /only thread 7 \(main\) worked: .*no number of cores/));
  await proved(page, 'Threads', /no number of cores makes the program more than [\d.]+ times as fast/);
  await expect(card(page).locator('strong')).toHaveText('Thread 7 (main)');
  await expect(page.getByRole('grid', { name: 'Threads' }).getByRole('row', { name: /^7 main/ })).toBeVisible();
  user.atMost(1);
});

test('what was this pause, and who was late?', async ({ page }) => {
  await openLog(page, provoked('gc-sync-straggler'));
  const user = steps(page);
  await user.click(named(page, /Thread 7 held up 14 collections/));
  await proved(page, 'Threads', /1 of 2 capabilities waited for this thread/);
  await expect(card(page).locator('strong')).toHaveText('Thread 7, Capability 1');
  user.atMost(1);
});

test('which thread starves, and through whom?', async ({ page }) => {
  await openLog(page, provoked('ready-while-idle'));
  const user = steps(page);
  await user.click(named(page, /threads waited for capability 0/));
  await proved(page, 'Threads', /threads waited for capability 0, .* summed over threads/);
  await expect(card(page).locator('strong')).toHaveText(/^Thread \d+ \(worker-\d\)/);
  await user.press('i');
  await expect(details(page)).toContainText(/behind other threads, mostly worker-\d \(thread \d+\)|meanwhile capability 0/);
  await expect(details(page).getByRole('button', { name: /^worker-\d \(thread \d+\) for / }).first()).toBeVisible();
  user.atMost(2);
});

test('who holds the lock?', async ({ page }) => {
  await openLog(page, provoked('lock-convoy'));
  const user = steps(page);
  await user.click(named(page, /8 threads take turns/));
  await proved(page, 'Threads', /for a lock or in a pipeline/);
  // The thread that released the lock for the thread with the longest wait.
  const waits = page.getByRole('region', { name: /^Why Thread \d+ \(locker-\d\) waited/ });
  await expect(waits.getByRole('row', { name: /^blocked: MVar/ })).toBeVisible();
  await expect(waits.getByRole('row', { name: /^Thread \d+ \(locker-\d\) [\d.]+\sms/ }).first()).toBeVisible();
  // The longest of these waits, with the thread that ended it.
  await user.click(waits.getByRole('button', { name: /the longest of these waits \(Thread \d+ \(locker-\d\)\)/ }).first());
  await expect(details(page)).toContainText(/the waker\s*locker-\d \(thread \d+\)/);
  user.atMost(2);
});

test('what leaks?', async ({ page }) => {
  await openLog(page, provoked('live-growth'));
  const user = steps(page);
  await user.click(named(page, /Live data grew by/));
  await proved(page, 'Collections', /Live data grew by .* to [\d.]+\sMiB/);
  user.atMost(1);
});

test('what leaks, of a log that says what is on the heap?', async ({ page }) => {
  await openLog(page, provoked('unevaluated'));
  const user = steps(page);
  // The heap panel opens by default.
  await user.click(tab(page, 'Growth'));
  await expect(page.locator('.heap-growth tbody th').first()).toHaveText(/STACK|THUNK|IS|BLACKHOLE/);
  user.atMost(1);
});

test('did the change help?', async ({ page }) => {
  await openLog(page, provoked('gc-sync-straggler'));
  await drop(page, provoked('gc-sync-straggler').replace('-found', '-clear'));
  const user = steps(page);
  await user.click(page.getByRole('button', { name: 'Compare with the open one' }));
  // The finding before is gone after.
  await expect(tab(page, 'Compare')).toHaveAttribute('aria-selected', 'true');
  const change = page.locator('.compare-findings li').filter({ hasText: 'Thread 7 held up' });
  await expect(change).toContainText('gone');
  // Its place in the log before.
  await user.click(change.getByRole('button', { name: /^before / }));
  await expect(page.locator('.finding-head[aria-expanded="true"]')).toContainText('Thread 7 held up');
  user.atMost(2);
});

test('which flag is missing?', async ({ page }) => {
  await openLog(page, provoked('classes-missing'));
  const user = steps(page);
  await user.click(named(page, /The log has no events of threads/));
  await expect(tab(page, 'Findings')).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.finding-body .tries code').first()).toHaveText(/-l/);
  user.atMost(1);
});

test('where does the time go?', async ({ page }) => {
  await openLog(page, provoked('lock-convoy'));
  const user = steps(page);
  // The overview is shown at once: time of capabilities by class, and what ran.
  await expect(page.getByText('Idle, work ready')).toBeVisible();
  // By thread: its time, and the reasons of its waits.
  await user.press('3');
  const row = page.getByRole('grid', { name: 'Threads' }).getByRole('row', { name: /locker-\d/ }).first();
  await expect(row).toContainText(/MVar/);
  await user.click(row);
  await expect(page.getByRole('region', { name: /^Why Thread \d+ \(locker-\d\) waited/ })).toContainText('blocked: MVar');
  user.atMost(2);
});
