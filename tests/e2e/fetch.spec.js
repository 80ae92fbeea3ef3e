// Logs named by a link: on the page's own server, and on other hosts.

import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { fixture, fragment, loaded, openInstead, openLog, test } from './helpers.js';

const LOG = fixture('ghc-9.6.6/fib-forkio-N2-l');
const OWN = 'www/demo/parallel-sort.eventlog.gz';

/** Starts a server on another port, as a foreign host; `asked` records its requests. */
async function otherHost(answer) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  return {
    host: `127.0.0.1:${port}`,
    address: `http://127.0.0.1:${port}/runs/a%20run.eventlog`,
    asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const CORS = { 'Access-Control-Allow-Origin': '*' };

/** Returns a request handler that serves a file with these headers. */
const gives = (bytes, headers) => (request, response) => {
  response.writeHead(200, { 'Content-Length': bytes.length, ...headers });
  response.end(request.method === 'HEAD' ? undefined : bytes);
};

/** Opens a link to a log, then the second page by a click; `requests` records those of the main page. */
async function follow(page, other, rest = '') {
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`./#url=${encodeURIComponent(other.address)}${rest}`);
  const card = page.getByRole('region', { name: `The log of this link is on ${other.host}` });
  await expect(card).toContainText(other.address);
  expect(other.asked).toEqual([]);
  const [second] = await Promise.all([
    page.waitForEvent('popup'),
    card.getByRole('button', { name: `Download from ${other.host}…` }).click(),
  ]);
  const stays = () => {
    const own = new URL(page.url()).origin;
    expect(requests.filter((url) => !url.startsWith(own) && !url.startsWith('blob:'))).toEqual([]);
  };
  return { second, card, stays };
}

test('a log on the server of the page is fetched at once, and the link applied', async ({ page }) => {
  await page.goto(`./#url=${encodeURIComponent(OWN)}&p=threads`);
  await loaded(page);
  await expect(page.getByRole('heading', { name: /parallel-sort/ })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  // The address keeps the location of the log.
  await fragment(page, /url=www%2Fdemo%2Fparallel-sort\.eventlog\.gz.*p=threads/);
  await page.reload();
  await loaded(page);
});

test('a log that is not there is said to be', async ({ page }) => {
  await page.goto('./#url=nowhere.eventlog');
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('“nowhere.eventlog”: the site answered with status 404');
  await expect(alert).toContainText('ES-203');
});

test('a redirect to another host is not followed', async ({ page }) => {
  const other = await otherHost(gives(readFileSync(LOG), CORS));
  await page.route('**/moved.eventlog', (route) => route.fulfill({ status: 302, headers: { Location: other.address } }));
  await page.goto('./#url=moved.eventlog');
  await expect(page.getByRole('alert')).toContainText('redirects to another address, which is not followed');
  expect(other.asked).toEqual([]);
  other.close();
});

test('fetching can be given up', async ({ page }) => {
  await page.route('**/slow.eventlog', () => {});
  await page.goto('./#url=slow.eventlog');
  await expect(page.getByText('Fetching slow.eventlog')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Fetching')).toHaveCount(0);
  await expect(page.getByRole('alert')).toHaveCount(0);
});

for (const [what, address, refuse] of [
  ['is not opened', OWN, (page) => page.locator('.offer').getByRole('button', { name: 'Cancel' }).click()],
  ['is given up', 'slow.eventlog', (page) => page.getByRole('button', { name: 'Cancel' }).click()],
  ['is not there', 'nowhere.eventlog', (page) => expect(page.getByRole('alert')).toContainText('status 404')],
  ['is refused', 'file:///etc/passwd', (page) => expect(page.getByRole('alert')).toContainText('ES-205')],
]) {
  test(`a link whose log ${what} is not applied to the next log`, async ({ page }) => {
    await page.route('**/slow.eventlog', () => {});
    await openLog(page, LOG);
    await fragment(page, /f=/);
    await page.evaluate((hash) => { window.location.hash = hash; }, `#url=${encodeURIComponent(address)}&p=threads`);
    await refuse(page);
    await openInstead(page, fixture('ghc-9.6.6/gc-heavy-N1-l'));
    await expect(page.getByRole('heading', { name: 'gc-heavy-N1-l.eventlog' })).toBeVisible();
    await loaded(page);
    await expect(page.getByRole('tab', { name: 'Summary' })).toHaveAttribute('aria-selected', 'true');
  });
}

for (const [address, code] of [
  ['file:///etc/passwd', 'ES-205'],
  ['javascript:alert(1)', 'ES-205'],
  ['data:text/plain,a', 'ES-205'],
  ['blob:http://localhost/a', 'ES-205'],
  ['http://me:secret@localhost:1/a', 'ES-206'],
  ['http://[', 'ES-204'],
]) {
  test(`an address is refused: ${address}`, async ({ page }) => {
    const requests = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`./#url=${encodeURIComponent(address)}`);
    await expect(page.getByRole('alert')).toContainText(code);
    const own = new URL(page.url()).origin;
    expect(requests.filter((url) => !url.startsWith(own) && !url.startsWith('blob:'))).toEqual([]);
  });
}

test('a log on another host comes by a second page, after clicks that name host and size', async ({ page }) => {
  const other = await otherHost(gives(readFileSync(LOG), CORS));
  const { second, stays } = await follow(page, other, '&p=threads');
  await expect(second.getByRole('status')).toHaveText(/^The file has [\d.]+ KiB\.$/);
  expect(other.asked).toEqual(['HEAD /runs/a%20run.eventlog']);
  await Promise.all([
    second.waitForEvent('close'),
    second.getByRole('button', { name: new RegExp(`^Fetch [\\d.]+ KiB from ${other.host}$`) }).click(),
  ]);
  await loaded(page);
  await expect(page.getByRole('heading', { name: 'a run.eventlog' })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Threads' })).toHaveAttribute('aria-selected', 'true');
  expect(other.asked).toEqual(['HEAD /runs/a%20run.eventlog', 'GET /runs/a%20run.eventlog']);
  stays();
  other.close();
});

test('a host that does not allow it is told from one that has no such file', async ({ page }) => {
  const other = await otherHost(gives(readFileSync(LOG), {}));
  const { second, stays } = await follow(page, other);
  const alert = second.getByRole('alert');
  await expect(alert).toContainText('does not allow other sites to read this file');
  await expect(alert).toContainText('Access-Control-Allow-Origin');
  await expect(alert).toContainText('ES-211');
  await expect(alert.getByRole('link')).toHaveAttribute('href', other.address);
  stays();
  other.close();

  await page.goto('about:blank');
  const without = await otherHost((_, response) => response.writeHead(404, CORS).end());
  const { second: next } = await follow(page, without);
  await expect(next.getByRole('alert')).toContainText('status 404: the file does not exist');
  await expect(next.getByRole('alert')).toContainText('ES-212');
  without.close();
});

test('what comes from another host can be given up, and need not be a log', async ({ page }) => {
  let slow = true;
  const text = Buffer.from('This is no log.\n'.repeat(1000));
  const other = await otherHost((request, response) => {
    if (request.method === 'HEAD') return response.writeHead(405, CORS).end();
    if (!slow) return gives(text, CORS)(request, response);
    response.writeHead(200, CORS);
    return response.write(text);
  });
  const { second } = await follow(page, other);
  await expect(second.getByRole('status')).toHaveText(/does not report the size of the file/);
  await second.getByRole('button', { name: `Fetch it from ${other.host}` }).click();
  await expect(second.getByText('15.6 KiB')).toBeVisible();
  await second.getByRole('button', { name: 'Cancel' }).click();
  await expect(second.getByRole('status')).toHaveText('Cancelled.');
  slow = false;
  await second.getByRole('button', { name: `Fetch it from ${other.host}` }).click();
  await expect(page.getByRole('alert')).toContainText('This is not an eventlog');
  await expect(page.getByRole('alert')).toContainText('ES-102');
  other.close();
});

test('the second page does nothing for whoever else opens it', async ({ page, context }) => {
  const other = await otherHost(gives(readFileSync(LOG), CORS));
  const alone = await context.newPage();
  await alone.goto('./www/fetch.html');
  await expect(alone.getByText('does nothing by itself')).toBeVisible();
  await alone.evaluate(async (address) => {
    const heard = new Promise((done) => { addEventListener('message', ({ data }) => data === 'last' && done()); });
    postMessage({ eventscope: 'address', address }, location.origin);
    postMessage('last', location.origin);
    await heard;
    await fetch(new URL('/last', address));
  }, other.address);
  // The message was received, and the host got no request before that of the test.
  await expect(alone.getByRole('button')).toHaveCount(0);
  expect(other.asked).toEqual(['GET /last']);
  // The main page ignores messages from pages that it did not open.
  await openLog(page, LOG);
  await page.evaluate(() => postMessage({ eventscope: 'log', file: new File(['x'], 'x') }, location.origin));
  await expect(page.getByRole('heading', { name: /fib-forkio/ })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Open instead' })).toHaveCount(0);
  other.close();
});
