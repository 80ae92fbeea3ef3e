// Two logs in one page: opening, linked zoom, differences, the link.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { answerFileDialogs, drawn, drop, fixture, fragment, loaded, openInstead, openLog, openPalette, test } from './helpers.js';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const NEW = fixture('ghc-9.6.6/ffi-safe-N2-la');
const OLD = fixture('ghc-9.0.2/ffi-safe-N2-lu');

/** Drops several files at once; each has a path, an optional name, and a modification time. */
async function dropAll(page, files) {
  await expect(page.getByRole('main')).toBeVisible();
  const packed = files.map(({ path, name, modified }) => [
    readFileSync(path).toString('base64'), name ?? basename(path), modified,
  ]);
  const data = await page.evaluateHandle((packed) => {
    const data = new DataTransfer();
    for (const [base64, name, lastModified] of packed) {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      data.items.add(new File([bytes], name, { lastModified }));
    }
    return data;
  }, packed);
  for (const type of ['dragenter', 'dragover', 'drop']) {
    await page.dispatchEvent('body', type, { dataTransfer: data });
  }
}

/** Opens the page with two logs; the newer one is dropped first. */
async function openTwo(page, address = './', [before, after] = [OLD, NEW]) {
  await page.goto(address);
  await dropAll(page, [
    { path: after, name: 'after.eventlog', modified: 2_000_000 },
    { path: before, name: 'before.eventlog', modified: 1_000_000 },
  ]);
  await expect(page.locator('.timeline canvas')).toHaveCount(2);
  await expect(page.locator('.compare-body')).toBeVisible();
}

const captions = (page) => page.locator('.caption');
const number = (page, name) => page.locator('.compare-rows [role=row]', { has: page.getByText(name, { exact: true }) });
const upper = (page) => page.locator('.timeline canvas').first();
const lower = (page) => page.locator('.timeline canvas').last();

test('two logs that are dropped at once are compared, the one that was changed earlier before', async ({ page }) => {
  await openTwo(page);
  await expect(captions(page).first()).toContainText(/Before.*before\.eventlog/);
  await expect(captions(page).last()).toContainText(/After.*after\.eventlog/);
  await expect(page.getByRole('tab', { name: 'Compare' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.compare')).toContainText('One run on each side: times vary between runs');
  await expect(page.getByRole('region', { name: 'Differences between the runs' })).toContainText(/GHC9\.0\.2 → 9\.6\.6/);
  await page.getByPlaceholder('Filter numbers').fill('time.mutator');
  const words = number(page, 'time.mutator').getByRole('gridcell').last();
  const said = await words.textContent();
  expect(said).toMatch(/^(better|worse) \(too few runs\)$/);

  // Swapping reverses the verdict and the positions on the page.
  await page.getByRole('button', { name: 'Swap before and after' }).click();
  await expect(captions(page).first()).toContainText(/Before.*after\.eventlog/);
  await expect(words).toHaveText(said.startsWith('better') ? 'worse (too few runs)' : 'better (too few runs)');
  await expect(page.getByRole('region', { name: 'Differences between the runs' })).toContainText(/GHC9\.6\.6 → 9\.0\.2/);
});

test('in a narrow window, the details of either log make room for a panel that is asked for', async ({ page }) => {
  await openTwo(page);
  await page.setViewportSize({ width: 700, height: 1200 });
  const card = page.locator('.details-card');
  // Of the log that the panels do not show.
  const head = page.locator('[id^="head-cap0-of-"]');
  // The content of a lane comes from the worker, and may not have arrived yet.
  await expect(async () => {
    const { y, height } = await head.boundingBox();
    for (let part = 0.35; part < 0.95; part += 0.03) {
      await page.mouse.click(700 * part, y + height / 2);
      await drawn(page);
      if (await card.first().isVisible()) return;
    }
    throw new Error('nothing to select');
  }).toPass();
  await expect(page.locator('.panel')).toBeHidden();
  await page.keyboard.press('3');
  await expect(card).toHaveCount(0);
  await expect(page.locator('.panel')).toBeVisible();
});

test('a second log is offered to be compared, or opened instead', async ({ page }) => {
  await openLog(page, NEW);
  await drop(page, OLD);
  const offer = page.getByRole('status').filter({ hasText: 'is already open' });
  await expect(offer).toContainText('ffi-safe-N2-lu.eventlog');
  await expect(page.locator('.timeline canvas')).toHaveCount(1);
  // The page remains usable in the meantime.
  await page.getByRole('tab', { name: 'Threads' }).click();
  await expect(offer).toBeVisible();
  await offer.getByRole('button', { name: 'Compare with the open one' }).click();
  await expect(captions(page)).toHaveCount(2);
  await expect(page.locator('.compare-body')).toBeVisible();

  await page.getByRole('button', { name: /Close the log/ }).last().click();
  await expect(page.locator('.timeline canvas')).toHaveCount(1);
  await expect(captions(page)).toHaveCount(0);
  await openInstead(page, NEW);
  await loaded(page);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('ffi-safe-N2-la.eventlog');
  await drop(page, OLD);
  await expect(offer).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(offer).toHaveCount(0);
});

test('what is no log leaves the open one as it is', async ({ page }) => {
  await openLog(page, NEW);
  await drop(page, 'notes.txt', Buffer.from('JavaScript is not Haskell.\n'.repeat(50)));
  await page.getByRole('button', { name: 'Compare with the open one' }).click();
  await expect(page.getByRole('alert')).toContainText(/not|no eventlog/i);
  await expect(page.locator('.timeline canvas')).toHaveCount(1);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('ffi-safe-N2-la.eventlog');
});

for (const [which, modified] of [['newer', 2_000_000], ['older', 500_000]]) {
  test(`of two files of which the ${which} one is no log, the other is shown`, async ({ page }) => {
    await page.goto('./');
    await dropAll(page, [{ path: fixture('ghc-9.0.2/cut-in-header'), modified }, { path: OLD, modified: 1_000_000 }]);
    // Until it is known to be no log, there are two timelines.
    await expect(page.getByRole('alert')).toContainText('Cannot open cut-in-header.eventlog.');
    await expect(captions(page)).toHaveCount(0);
    await loaded(page);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('ffi-safe-N2-lu.eventlog');
    await expect(page.locator('.summary tbody tr')).toHaveCount(2);
  });
}

const notes = (page) => page.locator('.notes-list').getByRole('textbox');

/** Adds a note on the log that the panels show. */
async function addNote(page, name) {
  await page.keyboard.press('b');
  await expect(notes(page)).toBeFocused();
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await expect(notes(page)).not.toBeFocused();
}

test('notes that are not saved are asked about before other logs are opened in place of theirs', async ({ page }) => {
  await openLog(page, NEW);
  await addNote(page, 'slow');
  const question = page.locator('.offer');
  const files = [{ path: OLD, modified: 1_000_000 }, { path: NEW, name: 'new.eventlog', modified: 2_000_000 }];
  const ask = [
    () => dropAll(page, files),
    async () => {
      await openPalette(page);
      await page.keyboard.type('take the tour');
      await page.keyboard.press('Enter');
    },
  ];
  for (const replace of ask) {
    await replace();
    await expect(question).toHaveText(/^This closes “ffi-safe-N2-la\.eventlog”\. You have not saved 1 note\./);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await expect(question).toHaveCount(0);
    await expect(notes(page)).toHaveValue('slow');
  }
  await dropAll(page, files);
  const download = page.waitForEvent('download');
  await question.getByRole('button', { name: 'Save the notes' }).click();
  expect((await download).suggestedFilename()).toBe('ffi-safe-N2-la.eventlog.notes.json');
  await expect(question).not.toContainText('not saved');
  await question.getByRole('button', { name: 'Open instead' }).click();
  await expect(captions(page)).toHaveCount(2);
  await expect(question).toHaveCount(0);
});

test('notes on one of two logs are asked about before it is closed or replaced', async ({ page }) => {
  answerFileDialogs(page);
  await openTwo(page);
  await addNote(page, 'slow');
  const question = page.locator('.offer');
  const isAsked = () => expect(question).toHaveText(/^This closes “after\.eventlog”\. You have not saved 1 note\./);
  const cancel = async () => {
    await question.getByRole('button', { name: 'Cancel' }).click();
    await expect(question).toHaveCount(0);
    await expect(captions(page).last()).toContainText('after.eventlog');
  };
  const close = page.getByRole('button', { name: 'Close the log after' });
  await close.click();
  await isAsked();
  await cancel();
  await expect(notes(page)).toHaveValue('slow');

  await page.keyboard.press('e');
  await expect(page.locator('.notes .empty')).toBeVisible();
  const chosen = page.waitForEvent('filechooser');
  await page.keyboard.press('v');
  await (await chosen).setFiles(fixture('ghc-9.6.6/fib-forkio-N2-l'));
  await isAsked();
  await cancel();

  await close.click();
  await isAsked();
  const download = page.waitForEvent('download');
  await question.getByRole('button', { name: 'Save the notes' }).click();
  expect((await download).suggestedFilename()).toBe('after.eventlog.notes.json');
  await expect(question).not.toContainText('not saved');
  await question.getByRole('button', { name: 'Close the log' }).click();
  await expect(captions(page)).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('before.eventlog');
});

test('two logs are accessible', async ({ page }) => {
  await openTwo(page);
  await page.getByRole('button', { name: /^Aligned/ }).click();
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const broken = await page.evaluate(async () => {
    const { violations } = await window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
    return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0].html})`);
  });
  expect(broken).toEqual([]);
});

test('a log and itself have no difference', async ({ page }) => {
  await openTwo(page, './', [NEW, NEW]);
  await expect(page.locator('.compare-numbers .empty')).toContainText(/No differences: all \d+ numbers are equal/);
  await expect(page.locator('.compare-facts')).toContainText('Program, arguments, GHC, capabilities and event classes are equal');
  await expect(page.locator('.compare-side')).not.toContainText(/new|gone|worse|better/);
  await page.getByLabel('unchanged numbers too').check();
  await expect(page.getByRole('grid', { name: 'Numbers before and after' })).toBeVisible();
  await page.getByPlaceholder('Filter numbers').fill('time.wall');
  await expect(number(page, 'time.wall')).toContainText('the same');
});

test('zooming, moving and selecting in one timeline does the same in the other', async ({ page }) => {
  await openTwo(page);
  const before = await lower(page).screenshot();
  const box = await upper(page).boundingBox();
  const x = (part) => box.x + 216 + (box.width - 216) * part;
  await page.mouse.move(x(0.3), box.y + 90);
  await page.mouse.wheel(0, -600);
  await fragment(page, /[#&]t=/);
  expect(await lower(page).screenshot()).not.toEqual(before);
  // The ranges of both logs have equal lengths, but differ by some microseconds.
  await page.mouse.move(x(0.2), box.y + 90);
  await page.mouse.down();
  await page.mouse.move(x(0.6), box.y + 90, { steps: 4 });
  await page.mouse.up();
  await fragment(page, /[#&]r=/);
  await expect(page.locator('.compare h2')).toContainText(/before, .* after/);
  const lengths = (await page.locator('.compare h2').textContent()).match(/\(.*?\)/g);
  expect(new Set(lengths).size).toBe(1);
  await page.keyboard.press('Escape');
  await expect(page.locator('.compare h2')).toHaveText('Both whole logs');
  // The lower timeline works too.
  await page.keyboard.press('0');
  await fragment(page, /^(?!.*[#&]t=)/);
  const low = await lower(page).boundingBox();
  await page.mouse.move(x(0.3), low.y + 90);
  await page.mouse.wheel(0, -600);
  await fragment(page, /[#&]t=/);
});

/** Performs an action by its name. */
async function perform(page, name) {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(name);
  await page.keyboard.press('Enter');
}

test('both timelines are saved, and where one log ends before the other it says so', async ({ page }) => {
  const short = fixture('ghc-9.6.6/fib-forkio-N2-l');
  await openTwo(page, './', [short, NEW]);
  const labels = () => page.locator('.timeline canvas').evaluateAll((all) => all.map((one) => one.ariaLabel));
  const ended = async () => (await labels()).flatMap((label, i) => (/It ends .*s before the other log\./.test(label) ? [i] : []));
  await expect.poll(ended).toHaveLength(1);
  const saving = page.waitForEvent('download');
  await perform(page, 'Save the timeline as SVG');
  const file = await saving;
  expect(file.suggestedFilename()).toBe('before and after.svg');
  const svg = readFileSync(await file.path(), 'utf8');
  expect(svg.indexOf('Before: before.eventlog')).toBeGreaterThan(0);
  expect(svg.indexOf('After: after.eventlog')).toBeGreaterThan(svg.indexOf('Before: before.eventlog'));
  // Each timeline has the label, and so has the legend below both.
  expect(svg.match(/>Activity</g)).toHaveLength(3);
  expect(svg.match(/>The whole log: /g)).toHaveLength(2);
  expect(svg.match(/>Log ends here</g)).toHaveLength(1);
  const [width, height] = [/width="([\d.]+)"/, /height="([\d.]+)"/].map((size) => Number(size.exec(svg)[1]));
  const boxes = await Promise.all([upper(page), lower(page)].map((canvas) => canvas.boundingBox()));
  expect(width).toBeCloseTo(boxes[0].width, 0);
  expect(height).toBeGreaterThan(boxes[0].height + boxes[1].height);

  const png = page.waitForEvent('download');
  await perform(page, 'Save the timeline as PNG');
  const bytes = readFileSync(await (await png).path());
  expect(bytes.readUInt32BE(16)).toBe(Math.round(width));
  expect(bytes.readUInt32BE(20)).toBe(Math.round(height));

  // The table of what is in view states it too.
  await page.getByRole('tab', { name: 'In view' }).click();
  const [shown] = await ended();
  const panels = captions(page).nth(shown).getByRole('button', { name: 'Panels' });
  if (await panels.getAttribute('aria-pressed') === 'false') await panels.click();
  await expect(page.locator('.in-view')).toContainText('has ended, unlike the other log');
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('another log is opened from the menu', async ({ page }) => {
    await openLog(page, NEW);
    const bar = page.getByRole('banner').first();
    expect((await bar.boundingBox()).height).toBeLessThan(60);
    const menu = page.getByRole('button', { name: /^Menu/ });
    await menu.click();
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Compare with another log' }).click();
    await (await chosen).setFiles(OLD);
    await expect(captions(page)).toHaveCount(2);
    await expect(page.locator('.compare-body')).toBeVisible();
    await expect(menu).toHaveAttribute('aria-expanded', 'false');
    const scrolled = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(scrolled).toBeLessThanOrEqual(0);
  });
});

test('a link to two logs says which ones to drop, in any order, and shows the same', async ({ page, browser, baseURL }) => {
  await openTwo(page);
  await page.getByRole('button', { name: /^Aligned/ }).click();
  await page.getByRole('button', { name: /^span “/ }).first().click();
  // Zooming takes some frames, so it comes first: the link is that of its end.
  await page.keyboard.press('w');
  await page.getByRole('columnheader', { name: 'Change' }).getByRole('button').click();
  await page.getByPlaceholder('Filter numbers').fill('thread');
  await page.getByPlaceholder('Filter numbers').blur();
  const hash = await fragment(page, /f=.*lb=.*t=.*p=compare.*ca=s%3A.*cs=change&cq=thread/);
  for (const order of [[NEW, OLD], [OLD, NEW]]) {
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const other = await context.newPage();
    await other.goto(`${baseURL}${hash}`);
    await expect(other.getByRole('status').first()).toContainText('This link compares two logs');
    await drop(other, order[0]);
    await expect(other.locator('.notice')).toContainText(order[0] === NEW ? 'Also drop the log “before”' : 'Also drop the log “after”');
    await drop(other, order[1]);
    await expect(captions(other).first()).toContainText(/Before.*ffi-safe-N2-lu/);
    await expect(other.getByPlaceholder('Filter numbers')).toHaveValue('thread');
    await expect.poll(() => new URL(other.url()).hash).toBe(hash);
    await expect(other.locator('.notice')).toHaveCount(0);
    await context.close();
  }
});

test('times and notes of a link to two logs wait for their log', async ({ page, browser, baseURL }) => {
  await openTwo(page);
  await page.keyboard.press('w');
  await fragment(page, /[#&]t=/);
  await addNote(page, 'slow');
  const hash = await fragment(page, /f=.*lb=.*t=.*p=notes.*k=.*slow/);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await drop(other, OLD);
  await expect(other.locator('.notice')).toContainText('Also drop the log “after”');
  await fragment(other, /f=(?!.*[#&][tk]=)/);
  await expect(other.locator('.notes .empty')).toBeVisible();

  await drop(other, NEW);
  await expect(notes(other)).toHaveValue('slow');
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  // The link has the notes: they need not be saved.
  await drop(other, fixture('ghc-9.6.6/fib-forkio-N2-l'));
  const offer = other.locator('.offer');
  await expect(offer).toContainText('is already open');
  await expect(offer).not.toContainText('not saved');
  await offer.getByRole('button', { name: 'Cancel' }).click();
  await expect(offer).toHaveCount(0);
  // The other log has no copy of them.
  await other.keyboard.press('e');
  await expect(other.locator('.notes .empty')).toBeVisible();
  await context.close();
});

test('logs of which the second is read first are aligned at a marker', async ({ page }, testInfo) => {
  // Only the end of the newer log has the marker.
  const [dense, fib] = ['dense-N2-l-flush', 'fib-forkio-N2-l'].map((name) => fixture(`ghc-9.6.6/${name}`));
  mkdirSync(testInfo.outputDir, { recursive: true });
  const long = testInfo.outputPath('long.eventlog');
  const parts = [...Array(8).fill(dense), fib];
  writeFileSync(long, Buffer.concat(parts.map((path) => readFileSync(path))));
  await openTwo(page, './#v=1&p=compare&ca=m%3Aall%20forked', [fib, long]);
  await page.getByRole('button', { name: 'Aligned: all forked' }).click();
  await expect(page.getByRole('button', { name: 'marker “all forked”' })).toHaveAttribute('aria-pressed', 'true');
});

test('two logs are opened, walked and closed by keys', async ({ page }) => {
  await openLog(page, NEW);
  const chosen = page.waitForEvent('filechooser');
  await page.keyboard.press('v');
  await (await chosen).setFiles(OLD);
  await expect(captions(page)).toHaveCount(2);
  await expect(page.locator('.compare-body')).toBeVisible();
  const panels = page.getByRole('button', { name: 'Panels', exact: true });
  const shown = async () => (await panels.evaluateAll((all) => all.map((one) => one.ariaPressed))).indexOf('true');
  const first = await shown();
  await page.keyboard.press('e');
  await expect.poll(shown).toBe(1 - first);
  // The heads of the other timeline support arrow keys too.
  const heads = page.getByRole('treegrid').nth(first).locator('.head:not(.heading)');
  await heads.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.stage > .strip strong')).toBeVisible();
  await page.keyboard.press('Escape');
  // The separator between the timelines.
  const height = async () => (await upper(page).boundingBox()).height;
  const high = await height();
  await page.getByRole('separator', { name: 'Height of the upper timeline' }).focus();
  await page.keyboard.press('ArrowUp');
  await expect.poll(height).toBeLessThan(high);
  // The palette offers the other actions.
  await openPalette(page);
  await page.keyboard.type('Close the other log');
  await page.keyboard.press('Enter');
  await expect(page.locator('.timeline canvas')).toHaveCount(1);
});

test('keys count also after a control of a panel was used', async ({ page }) => {
  await openLog(page, fixture('ghc-9.6.6/heap-N2-hT-l-au'), './#v=1&p=heap');
  const opens = async () => {
    const chosen = page.waitForEvent('filechooser');
    await page.keyboard.press('v');
    await chosen;
  };
  await opens();
  await page.locator('.heap-canvas canvas').click({ position: { x: 300, y: 40 } });
  await opens();
  // A list used with the pointer returns the focus to the timeline; one used with the keyboard keeps it.
  const order = page.locator('.heap-bar select').first();
  await order.click();
  await order.selectOption({ index: 1 });
  await expect(order).not.toBeFocused();
  await opens();
  // A number field ignores letters, which act as shortcuts.
  const bands = page.locator('.heap-bar input[type=number]');
  await bands.click();
  await bands.press('Control+a');
  await bands.pressSequentially('7');
  await opens();
  await expect(bands).toHaveValue('7');
  await page.getByRole('tab', { name: 'Compare censuses' }).click();
  await page.getByRole('checkbox', { name: 'One census' }).click();
  await opens();
  await page.getByRole('searchbox', { name: 'Filter bands' }).pressSequentially('v');
  await expect(page.getByRole('searchbox', { name: 'Filter bands' })).toHaveValue('v');
});

test('a number leads to where it is seen in each log', async ({ page }) => {
  await openTwo(page);
  await page.getByPlaceholder('Filter numbers').fill('thread.run');
  await number(page, 'thread.run').click();
  await page.getByRole('button', { name: /^See .* before$/ }).click();
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  await expect(captions(page).first().getByRole('button', { name: 'Panels' })).toHaveAttribute('aria-pressed', 'true');
});

test('the numbers are saved as they stand', async ({ page }) => {
  await openTwo(page);
  const saved = page.waitForEvent('download');
  await page.locator('.rows-out:not(.table-out *)').getByRole('button', { name: 'Save CSV' }).click();
  const text = readFileSync(await (await saved).path(), 'utf8').split('\r\n');
  expect(text[0]).toBe('group,name,unit,before,after,change,ratio,verdict,deviates between runs');
  const shown = await page.getByRole('grid', { name: 'Numbers before and after' }).getAttribute('aria-rowcount');
  expect(text.length - 1).toBe(Number(shown));
});

const PROFILED = [fixture('ghc-9.6.6/prof-time-N1-p-l-au'), fixture('ghc-9.10.3/prof-time-N2-pj-l')];

/** Opens the flame graph of the log after, compared with the one before. */
async function compareStacks(page, how) {
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  const menu = page.getByRole('button', { name: /^Compare.*▾/ });
  await menu.click();
  await page.getByRole('button', { name: how, exact: true }).click();
  await menu.click();
  await expect(menu).toHaveAttribute('aria-expanded', 'false');
}

const steps = (page) => page.getByRole('list', { name: 'Steps' }).getByRole('listitem');

test('one flame graph tells what became more and what less from log to log', async ({ page, browser, baseURL }) => {
  await openTwo(page, './', PROFILED);
  await compareStacks(page, 'Amounts');
  await expect(steps(page)).toHaveText(['compared with the log before×']);
  await expect(page.getByRole('button', { name: 'Time order' })).toHaveCount(0);
  const graph = page.locator('.flame-canvas canvas').first();
  const words = page.locator('.flame-strip .words');
  await expect(async () => {
    await graph.focus();
    await page.keyboard.press('ArrowRight');
    await expect(words).toContainText(/s before, .*s now: .*(more|less|no change)/, { timeout: 500 });
  }).toPass();
  // The table agrees with the tooltip for each function.
  await page.getByRole('button', { name: 'Sandwich', exact: true }).click();
  const table = page.locator('.flame-rows-compared');
  await expect(table.getByRole('columnheader', { name: 'Total before' })).toBeVisible();
  const heaviest = table.locator('.grid-window [role=row]').first();
  await expect(heaviest).toContainText(/s.*%.*[−+][\d.]+/);
  const told = await heaviest.textContent();

  const hash = await fragment(page, /lb=.*p=flame.*fo=sandwich.*fl=amounts/);
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const other = await context.newPage();
  await other.goto(`${baseURL}${hash}`);
  await dropAll(other, PROFILED.map((path) => ({ path })));
  await expect(steps(other)).toHaveText(['compared with the log before×']);
  await expect(other.locator('.flame-rows-compared .grid-window [role=row]').first()).toHaveText(told);
  await expect.poll(() => new URL(other.url()).hash).toBe(hash);
  await context.close();
});

test('a flame graph that the other log has nothing for says so', async ({ page }) => {
  await openTwo(page, './', [PROFILED[1], NEW]);
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  await page.getByRole('combobox', { name: 'Source' }).selectOption('spans');
  await compareStacks(page, 'Shares');
  await expect(steps(page)).toHaveText(['not compared: the log before has nothing for “Spans of the program”×']);
  await page.getByRole('button', { name: 'Stop comparing' }).click();
  await expect(steps(page)).toHaveCount(0);
});
