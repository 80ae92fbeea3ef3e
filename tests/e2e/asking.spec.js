// The page never sends a question to its worker while the same question is pending.

import { expect } from '@playwright/test';
import { drop, fixture, loaded, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

/** Records the questions to workers; `window.askedTwice` lists those sent while the same question was pending. */
function watchQuestions() {
  const text = (value) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
  const waiting = new Map();
  window.askedTwice = [];
  window.questions = 0;
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(...rest) {
      super(...rest);
      this.addEventListener('message', ({ data }) => {
        if (data.message?.LogUpdate) waiting.clear();
        waiting.delete(data.message?.Answer?.[0]);
      });
    }

    postMessage(data, ...rest) {
      const [id, ...about] = data.message?.Ask ?? [];
      if (id !== undefined) {
        const question = text([about, data.body]);
        window.questions += 1;
        if ([...waiting.values()].includes(question)) window.askedTwice.push(question);
        waiting.set(id, question);
      } else {
        waiting.delete(data.message?.Forget);
        if (data.message?.Forget === undefined) waiting.clear();
      }
      super.postMessage(data, ...rest);
    }
  };
}

test('nothing is asked while the same is being worked out', async ({ page }) => {
  await page.addInitScript(watchQuestions);
  await page.goto('about:blank');
  await page.goto('./#p=findings');
  await drop(page, LOG);
  await loaded(page);
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    await expect(tab).toHaveAttribute('aria-selected', 'true');
  }
  await expect.poll(() => page.evaluate(() => window.questions)).toBeGreaterThan(20);
  expect(await page.evaluate(() => window.askedTwice)).toEqual([]);
});
