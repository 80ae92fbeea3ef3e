// The npm package in an otherwise empty page, used as in its example.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';

const root = join(import.meta.dirname, '../..');
const built = join(root, 'target/npm');

test('the example page says what a dropped log allocated', async ({ page, baseURL }) => {
  test.skip(!existsSync(join(built, 'program.js')), 'there is no package: cargo xtask npm makes it');
  const folder = new URL('package/', baseURL).href;
  await page.route(`${folder}**`, (route) => route.fulfill({ path: join(built, route.request().url().slice(folder.length)) }));
  await page.goto(`${folder}examples/page.html`);
  await page.locator('input').setInputFiles(join(root, 'tests/fixtures/logs/ghc-9.6.6/fib-forkio-N2-l.eventlog'));
  await expect(page.locator('output')).toHaveText(/^\d{5,} bytes allocated$/);
  await page.locator('input').setInputFiles(join(root, 'README.md'));
  await expect(page.locator('output')).toHaveText(/eventlog/);
});
