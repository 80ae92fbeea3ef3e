// No browser test sleeps: each waits for a state. `page.clock` advances time in the page.

import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { test } from './helpers.js';

const SLEEP = /waitForTimeout|(?<!\b(?:test|window)\.)\bsetTimeout\b|\bsetInterval\b|\bsleep\b|Atomics\.wait|timers\/promises/;

test('no test waits for a fixed time', () => {
  const own = fileURLToPath(import.meta.url);
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const files = readdirSync(folder).filter((name) => name.endsWith('.js') && !own.endsWith(`/${name}`));
  const sleeps = files.flatMap((name) => {
    const lines = readFileSync(`${folder}${name}`, 'utf8').split('\n');
    return lines.flatMap((line, i) => (SLEEP.test(line) ? `${name}:${i + 1}: ${line.trim()}` : []));
  });
  expect(sleeps).toEqual([]);
});
