// Nothing of a log leaves the page: what it asks for once it is there, and what its policy refuses.

import { once } from 'node:events';
import { createServer } from 'node:net';

import { expect, test } from '@playwright/test';
import { drop, fixture, loaded, openLog, started, timeline } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');

test('a whole session asks nobody for anything', async ({ page }) => {
  await page.goto('./');
  await started(page);
  await page.waitForLoadState('networkidle');
  const asked = [];
  page.context().on('request', (request) => {
    if (!/^(blob|data):/.test(request.url())) asked.push(request.url());
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
  await page.keyboard.type('a note');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  await page.keyboard.press('Escape');
  for (const name of ['Save the timeline as SVG', 'Save the timeline as PNG', 'Save the notes']) {
    const saved = page.waitForEvent('download');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await saved;
  }
  await page.keyboard.press('?');
  await page.keyboard.press('Escape');
  expect(asked).toEqual([]);
});

test('no way of sending reaches another host', async ({ page }) => {
  // A browser may connect ahead of a request that it then refuses: what counts is what is sent.
  const sent = [];
  const server = createServer((socket) => {
    socket.on('data', (bytes) => sent.push(String(bytes)));
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  await openLog(page, LOG);
  const outcomes = await page.evaluate(async (host) => {
    const url = `http://${host}/`;
    const refused = [];
    const listening = (event) => refused.push(event.effectiveDirective);
    document.addEventListener('securitypolicyviolation', listening);
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
    const frame = element('iframe', { name: 'aside' });
    const form = element('form', { action: url, method: 'post', target: 'aside' });
    form.submit();
    quiet(() => new Worker(`${url}worker.js`));
    quiet(() => new SharedWorker(`${url}shared.js`));
    const inner = `fetch('${url}inner', { mode: 'no-cors' }).catch(() => {});`;
    const worker = `${inner} try { new Worker(URL.createObjectURL(new Blob([${JSON.stringify(inner)}]))) } catch {}`;
    quiet(() => new Worker(URL.createObjectURL(new Blob([worker]))));
    await import(`${url}module.js`).catch(() => {});
    await new Promise((over) => setTimeout(over, 1500));
    frame.remove();
    return [...new Set(refused)].sort();
  }, host);
  server.close();
  expect(sent).toEqual([]);
  // Each of these was tried, and refused by name.
  for (const directive of ['connect-src', 'img-src', 'script-src-elem', 'frame-src', 'media-src', 'style-src-elem', 'font-src', 'object-src', 'form-action']) {
    expect(outcomes).toContain(directive);
  }
});

test('nothing in the site can reach others beside its policy', async ({ page }) => {
  // Policies know nothing of peer connections: the site must not use them.
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
