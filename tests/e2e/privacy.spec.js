// No data of a log leaves the page: its requests after loading, and what its policy blocks.

import { once } from 'node:events';
import { createServer } from 'node:net';

import { expect } from '@playwright/test';
import { drop, fixture, loaded, openLog, openPalette, started, test, timeline } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('a whole session asks nobody for anything', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await page.waitForLoadState('networkidle');
  const asked = [];
  page.context().on('request', (request) => {
    // Chromium asks for the icon again when the address changes.
    if (!/^(blob|data):|\/icon\.svg$/.test(request.url())) asked.push(request.url());
  });
  await drop(page, LOG);
  await loaded(page);
  const { x, cap } = await timeline(page);
  await page.mouse.move(x(0.5), cap(0));
  await page.mouse.wheel(0, -400);
  await page.mouse.down();
  await page.mouse.move(x(0.7), cap(0), { steps: 3 });
  await page.mouse.up();
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    await expect(page.locator('.panel-body > *').first()).toBeVisible();
  }
  await page.keyboard.press('b');
  await expect(page.locator('.notes-list').getByRole('textbox')).toBeFocused();
  await page.keyboard.type('a note');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  await expect(page.locator('dialog.share')).toBeVisible();
  await page.keyboard.press('Escape');
  for (const name of ['Save the timeline as SVG', 'Save the timeline as PNG', 'Save the notes']) {
    const saved = page.waitForEvent('download');
    await openPalette(page);
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await saved;
  }
  await page.keyboard.press('?');
  await page.keyboard.press('Escape');
  expect(asked).toEqual([]);
});

test('no way of sending reaches another host', async ({ page }) => {
  // A browser may connect before it blocks a request: only sent data counts.
  const sent = [];
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      sent.push(String(bytes));
      socket.end();
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  await openLog(page, LOG);
  await page.evaluate(async (host) => {
    const url = `http://${host}/`;
    globalThis.refused = new Set();
    document.addEventListener('securitypolicyviolation', (event) => globalThis.refused.add(event.effectiveDirective));
    const element = (name, attributes) => {
      const it = document.createElement(name);
      Object.assign(it, attributes);
      document.body.append(it);
      return it;
    };
    const quiet = (act) => {
      try {
        return act();
      } catch {
        return undefined;
      }
    };
    await fetch(url, { mode: 'no-cors' }).catch(() => {});
    quiet(() => {
      const request = new XMLHttpRequest();
      request.open('POST', url);
      request.send('x');
    });
    quiet(() => new WebSocket(`ws://${host}/`));
    quiet(() => new EventSource(url));
    quiet(() => navigator.sendBeacon(url, 'x'));
    element('img', { src: `${url}image.png` });
    element('script', { src: `${url}script.js` });
    element('iframe', { src: `${url}frame.html` });
    element('object', { data: `${url}object` });
    element('video', { src: `${url}video.mp4` });
    element('audio', { src: `${url}audio.mp3` });
    element('embed', { src: `${url}embed` });
    for (const rel of ['stylesheet', 'prefetch', 'preload', 'modulepreload', 'manifest', 'icon']) {
      element('link', { rel, href: `${url}${rel}`, as: 'script' });
    }
    element('div', { textContent: 'x' }).style.backgroundImage = `url(${url}background.png)`;
    quiet(() => new FontFace('f', `url(${url}font.woff)`).load().catch(() => {}));
    element('style', { textContent: `@import url(${url}import.css);` });
    element('iframe', { name: 'aside' });
    const form = element('form', { action: url, method: 'post', target: 'aside' });
    form.submit();
    quiet(() => new Worker(`${url}worker.js`));
    quiet(() => new SharedWorker(`${url}shared.js`));
    // A worker tries to send, and a worker of that worker.
    const inner = `const tried = fetch('${url}inner', { mode: 'no-cors' }).catch(() => {});`;
    const innermost = `${inner} tried.then(() => postMessage('tried'));`;
    const outer = `${inner}
      const nested = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(innermost)}])));
      nested.onmessage = nested.onerror = () => tried.then(() => postMessage('tried'));`;
    const worker = new Worker(URL.createObjectURL(new Blob([outer])));
    await new Promise((done) => { worker.onmessage = worker.onerror = done; });
    await import(`${url}module.js`).catch(() => {});
  }, host);
  // Each way was tried, and blocked by the named directive.
  const directives = ['connect-src', 'img-src', 'script-src-elem', 'frame-src', 'media-src', 'style-src-elem', 'font-src', 'object-src', 'form-action'];
  await expect.poll(() => page.evaluate(() => [...globalThis.refused])).toEqual(expect.arrayContaining(directives));
  // A request sent later arrives: nothing arrived before.
  await fetch(`http://${host}/last`).catch(() => {});
  server.close();
  expect(sent).toHaveLength(1);
  expect(sent[0]).toContain('GET /last');
});

test('nothing in the site can reach others beside its policy', async ({ page }) => {
  // Content security policies do not cover peer connections: the site must not use them.
  const sources = [];
  page.on('response', async (response) => {
    if (/javascript/.test(response.headers()['content-type'] ?? '')) sources.push(response.text());
  });
  await openLog(page, LOG);
  const all = (await Promise.all(sources)).join('\n');
  expect(all.length).toBeGreaterThan(10_000);
  expect(all).not.toMatch(/RTCPeerConnection|WebTransport|preconnect|dns-prefetch|location\.(assign|replace)\(|location(\.href)?\s*=[^=]/);
});

test.describe('with a service worker', () => {
  test.use({ serviceWorkers: 'allow' });

  test('a log opens without a network', async ({ page, context }) => {
    await page.goto('./');
    await page.evaluate(() => navigator.serviceWorker.ready);
    await context.setOffline(true);
    await page.reload();
    await drop(page, LOG);
    await loaded(page);
    await expect(page.locator('.bar .facts')).toContainText('GHC 9.6.6');
  });
});
