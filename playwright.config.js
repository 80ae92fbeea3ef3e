// The browser tests, run by `cargo xtask test` or, with dist/ built, by
// `npx playwright test`.

import { availableParallelism } from 'node:os';
import process from 'node:process';
import { defineConfig } from '@playwright/test';

const port = Number(process.env.EVENTSCOPE_PORT ?? 4173);
// A site that is served already, under any path: EVENTSCOPE_SITE=http://localhost:8000/a/b/
const elsewhere = process.env.EVENTSCOPE_SITE;
const isRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: 'tests/e2e',
  // A busy machine is no failure: only what never comes is.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  outputDir: 'tests/e2e/results/artifacts',
  fullyParallel: true,
  forbidOnly: !!process.env.CI,
  retries: process.env.CI ? 1 : 0,
  // One more than cores, as tests wait for timers and animations, too.
  workers: availableParallelism() + 1,
  reporter: [['line'], ['json', { outputFile: 'tests/e2e/results/report.json' }]],
  webServer: elsewhere ? undefined : {
    command: `node xtask/serve.mjs --port ${port} --strict-port`,
    port,
    reuseExistingServer: false,
  },
  use: {
    baseURL: elsewhere ?? `http://localhost:${port}/`,
    browserName: 'chromium',
    // The tests about it allow it; elsewhere it would hide what is requested.
    serviceWorkers: 'block',
    // A trace of each test would cost half as much again.
    trace: 'on-first-retry',
    launchOptions: {
      executablePath: process.env.EVENTSCOPE_CHROMIUM,
      args: [
        ...(isRoot ? ['--no-sandbox'] : []),
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--font-render-hinting=none',
        '--hide-scrollbars',
        // Playwright cannot answer the dialog of showOpenFilePicker.
        '--disable-blink-features=FileSystemAccessLocal',
      ],
    },
  },
});
