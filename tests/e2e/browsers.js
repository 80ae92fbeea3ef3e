// Firefox and WebKit for a small test. Playwright supports only its own builds of these, so the installed ones are
// driven by other libraries.

import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import puppeteer from 'puppeteer-core';
import { Builder, By, Key, Origin } from 'selenium-webdriver';

/** Returns the first path that exists. */
const found = (...paths) => paths.find((path) => existsSync(path));

const FIREFOX = found('/usr/bin/firefox', '/usr/bin/firefox-esr');
const WEBKIT_DRIVER = found('/usr/bin/WebKitWebDriver');
const MINI_BROWSER = found(
  '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
  '/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
);
const DISPLAY_SERVER = found('/usr/bin/Xvfb');

const SIZE = { width: 1280, height: 860 };

/** Starts Firefox, driven by WebDriver BiDi. */
async function firefox() {
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: FIREFOX, headless: true });
  const page = await browser.newPage();
  await page.setViewport(SIZE);
  return {
    open: (address) => page.goto(address),
    choose: async (file) => (await page.$('input[type=file]')).uploadFile(file),
    run: (code) => page.evaluate(code),
    drag: async (from, to, y) => {
      await page.mouse.move(from, y);
      await page.mouse.down();
      await page.mouse.move(to, y, { steps: 4 });
      await page.mouse.up();
    },
    press: (key) => page.keyboard.press(key),
    picture: () => page.screenshot(),
    end: () => browser.close(),
  };
}

/** Returns an unused port. */
async function freePort() {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts GNOME's WebKit on its own X display, driven by WebDriver. */
async function webkit() {
  const display = spawn(DISPLAY_SERVER, ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number] = await once(display.stdio[3], 'data');
  const port = await freePort();
  const driver = spawn(WEBKIT_DRIVER, [`--port=${port}`], {
    stdio: 'ignore',
    env: { ...process.env, DISPLAY: `:${String(number).trim()}`, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' },
  });
  const stop = () => {
    driver.kill();
    display.kill();
  };
  try {
    const capabilities = {
      browserName: 'MiniBrowser',
      'webkitgtk:browserOptions': { binary: MINI_BROWSER, args: ['--automation'] },
    };
    const browser = await new Builder().usingServer(`http://localhost:${port}`).withCapabilities(capabilities).build();
    await browser.manage().window().setRect({ x: 0, y: 0, ...SIZE });
    return {
      open: (address) => browser.get(address),
      choose: async (file) => {
        // Keys can be sent only to visible elements.
        await browser.executeScript("document.querySelector('input[type=file]').hidden = false");
        await browser.findElement(By.css('input[type=file]')).sendKeys(file);
      },
      run: (code) => browser.executeScript(`return ${code}`),
      drag: async (from, to, y) => {
        const at = (x) => ({ x: Math.round(x), y: Math.round(y), origin: Origin.VIEWPORT, duration: 100 });
        await browser.actions().move(at(from)).press().move(at((from + to) / 2)).move(at(to)).release().perform();
      },
      press: (key) => browser.actions().sendKeys(Key[key.toUpperCase()] ?? key).perform(),
      picture: async () => Buffer.from(await browser.takeScreenshot(), 'base64'),
      end: async () => {
        await browser.quit();
        stop();
      },
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Other browsers: name, function to start it, and why it is unavailable (empty if it is available). */
export const OTHERS = [
  { name: 'Firefox', start: firefox, lacks: FIREFOX ? '' : 'firefox is not installed' },
  {
    name: 'WebKit',
    start: webkit,
    lacks: WEBKIT_DRIVER && MINI_BROWSER && DISPLAY_SERVER ? '' : 'webkit2gtk-driver and xvfb are not installed',
  },
];
