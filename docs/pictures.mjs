// Takes the pictures of docs/heap.md, in light and in dark:
//
//   cargo xtask serve                                  # in another terminal
//   (mkdir /demo && cd /demo && sh …/demo/make.sh shop-server gallery article-index)
//   node docs/pictures.mjs http://localhost:8080/ /demo [NAME...]
//
// And that of two logs for the README:
//
//   node docs/pictures.mjs http://localhost:8080/ tests/fixtures/findings compare
//
// And those of the README that are of samples:
//
//   node docs/pictures.mjs http://localhost:8080/ . timeline events threads flame
//
// Chromium is the one that EVENTSCOPE_CHROMIUM names. Pictures have few colors and are stored with a palette if
// pngquant is installed.

import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const [site, logs, ...wanted] = process.argv.slice(2);
if (!logs) {
  console.error('usage: node docs/pictures.mjs SITE LOGS [NAME...]');
  process.exit(2);
}
const folder = fileURLToPath(new URL('./heap/', import.meta.url));

// Name of the picture, files that are dropped, what the link to the view says beyond the panel, height of the panel.
const PICTURES = [
  ['shop-hT', 'shop-server-hT.eventlog', 'hv=messages'],
  // With the executable, which names what the log does not.
  ['shop-hi', 'shop-server-hi.eventlog shop-server', 'hv=messages'],
  ['shop-growth', 'shop-server-hi.eventlog shop-server', 'ht=growth&r=1080m1600'],
  ['shop-moments', 'shop-server-hi.eventlog shop-server', 'ht=moments&hc=15-63'],
  ['shop-table', 'shop-server-hi.eventlog shop-server', 'ht=table'],
  ['shop-hr', 'shop-server-hr.eventlog', 'hg=name&hv=messages'],
  ['shop-fixed', 'shop-server-fixed-hi.eventlog shop-server', 'hv=messages'],
  ['shop-held', 'shop-server-hT.eventlog', 'ht=held', 640],
  ['index-hT', 'article-index-hT.eventlog', 'hv=messages'],
  ['index-hi', 'article-index-hi.eventlog article-index-plain', 'hv=messages'],
  ['index-hc', 'article-index-hc.eventlog', 'hv=messages'],
  ['index-tree', 'article-index-hc.eventlog', 'ht=tree'],
  ['index-hm', 'article-index-hm.eventlog', 'hv=messages'],
  ['index-hd', 'article-index-hd.eventlog', 'hv=messages'],
  ['index-hy', 'article-index-hy.eventlog', 'hv=messages'],
  ['index-hr', 'article-index-hr.eventlog', 'hg=name&hv=messages'],
  ['index-hb', 'article-index-hb.eventlog', 'hv=messages'],
  ['index-he', 'article-index-he.eventlog', 'hv=messages'],
  ['index-ticky', 'article-index-ticky.eventlog', 'p=ticky'],
];

const browser = await chromium.launch({
  executablePath: process.env.EVENTSCOPE_CHROMIUM ?? '/usr/bin/chromium',
  args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--hide-scrollbars', '--font-render-hinting=none'],
});
mkdirSync(folder, { recursive: true });

/** Fewer colors, where there is a program for that. */
function shrink(file) {
  try {
    execFileSync(process.env.PNGQUANT ?? 'pngquant', ['--force', '--skip-if-larger', '--ext', '.png', '--strip', '64', file]);
  } catch {
    // As it is, then.
  }
  console.log(`${file} ${Math.round(statSync(file).size / 1024)} KiB`);
}

// Of samples, for the README: the sample, the view, the size, colors, and where a click selects something.
const README = {
  timeline: ['web-server', 't=780m57&r=795m22&p=summary&hide=heap,spans', 1440, 1000, 'light', { track: 'cap0', at: 0.42 }],
  events: ['web-server', 'p=events&es=MVar', 1440, 900, 'light'],
  threads: ['web-server', 'p=threads', 1440, 900, 'light'],
  flame: ['profiled-ffi', 'p=flame&t=380m400', 1440, 960, 'dark'],
};

async function sample(name) {
  const [log, view, width, height, colorScheme, click] = README[name];
  const page = await browser.newPage({ colorScheme, viewport: { width, height }, serviceWorkers: 'block' });
  await page.goto(`${site}#${view}`);
  await page.locator('html[data-started]').waitFor({ state: 'attached' });
  await page.locator('input[type=file]').first().setInputFiles(fileURLToPath(new URL(`../www/demo/${log}.eventlog.gz`, import.meta.url)));
  await page.getByRole('tablist', { name: 'Panels' }).waitFor();
  await page.waitForTimeout(1000);
  // The list goes to what is searched for.
  if (view.includes('es=')) await page.getByRole('searchbox', { name: 'Search the events' }).press('Enter');
  if (click) {
    const canvas = await page.locator('.timeline canvas').boundingBox();
    const head = await page.locator(`#head-${click.track}`).boundingBox();
    await page.mouse.click(canvas.x + 216 + (canvas.width - 216) * click.at, head.y + head.height / 2);
  }
  await page.mouse.move(5, 5);
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(2000);
  const file = fileURLToPath(new URL(`./${name}.png`, import.meta.url));
  await page.screenshot({ path: file });
  shrink(file);
  await page.close();
}

/** Two logs above each other, the first one before. */
async function compared(before, after) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, serviceWorkers: 'block' });
  await page.goto(site);
  await page.locator('input[type=file]').first().setInputFiles([before, after].map((file) => join(logs, file)));
  const first = page.locator('.caption').first();
  await page.locator('.compare-rows').waitFor();
  if (!(await first.textContent()).includes(before)) {
    await page.getByRole('button', { name: 'Swap before and after' }).click();
  }
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(2000);
  const file = fileURLToPath(new URL('./compare.png', import.meta.url));
  await page.screenshot({ path: file });
  shrink(file);
  await page.close();
}

if (wanted.includes('compare')) await compared('long-pause-found.eventlog.gz', 'long-pause-clear.eventlog.gz');
for (const name of Object.keys(README).filter((name) => wanted.includes(name))) await sample(name);
for (const [name, files, view, height = 500] of PICTURES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1180, height: 900 }, serviceWorkers: 'block' });
    await page.goto(`${site}#${view.includes('p=') ? view : `p=heap&${view}`}`);
    await page.locator('input[type=file]').first().setInputFiles(files.split(' ').map((file) => join(logs, file)));
    await page.getByRole('tablist', { name: 'Panels' }).waitFor();
    // The panel gets most of the page.
    const edge = await page.getByRole('separator', { name: 'Height of the panel' }).boundingBox();
    await page.mouse.move(edge.x + 500, edge.y + edge.height / 2);
    await page.mouse.down();
    await page.mouse.move(edge.x + 500, 900 - height, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(5, 5);
    await page.evaluate(() => document.activeElement?.blur());
    // Pictures of what the page looks like at rest: a state to wait for would be of one panel only.
    await page.waitForTimeout(2000);
    const file = join(folder, `${name}-${colorScheme}.png`);
    await page.locator('#panel').screenshot({ path: file });
    shrink(file);
    await page.close();
  }
}
await browser.close();
