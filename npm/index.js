// Reads a log piece by piece, with the program that the page's worker is.

import start, { Log } from './program.js';

/** Pages of the file that are kept: blocks of several capabilities are read in turns. */
const PAGE_BYTES = 1 << 20;
const MOST_PAGES = 64;

/** The program can have 4 GiB. A step takes some more than it has, and answers want some. */
const MEMORY_BYTES = 3.5 * 2 ** 30;

let started;

/** The program, compiled once. */
function program() {
  const place = new URL('program_bg.wasm', import.meta.url);
  started ??= bytesOf(place).then((module_or_path) => start({ module_or_path }));
  return started;
}

/** Node.js does not fetch files. */
async function bytesOf(place) {
  if (place.protocol !== 'file:') return place;
  const { readFile } = await nodeFiles();
  return readFile(place);
}

/** Bundlers for a page leave it alone. */
function nodeFiles() {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
}

/** What a file is read by: its length, and its bytes from one place to another. */
async function source(file) {
  if (file instanceof Blob) {
    return {
      length: file.size,
      read: async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
      close() {},
    };
  }
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) {
    const bytes = file instanceof ArrayBuffer
      ? new Uint8Array(file)
      : new Uint8Array(file.buffer, file.byteOffset, file.byteLength);
    return { length: bytes.length, read: async (from, to) => bytes.subarray(from, to), close() {} };
  }
  if ((typeof file !== 'string' && !(file instanceof URL)) || !globalThis.process?.versions?.node) {
    throw new TypeError('a log is a Blob or its bytes; in Node.js also the path of a file');
  }
  const { open } = await nodeFiles();
  const handle = await open(file);
  const { size } = await handle.stat();
  return {
    length: size,
    async read(from, to) {
      const bytes = new Uint8Array(Math.max(0, Math.min(to, size) - from));
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
    close: () => handle.close(),
  };
}

/** Whole pages of a source, the last ones of which are kept. */
function paged(source) {
  const pages = new Map();
  return async function page(at) {
    const number = Math.floor(at / PAGE_BYTES);
    const kept = pages.get(number);
    pages.delete(number);
    const from = number * PAGE_BYTES;
    const bytes = kept ?? (await source.read(from, Math.min(from + PAGE_BYTES, source.length)));
    pages.set(number, bytes);
    if (pages.size > MOST_PAGES) pages.delete(pages.keys().next().value);
    return bytes.subarray(at - from);
  };
}

/** Gives the log the bytes of a range, page by page. */
async function supply(log, page, from, to) {
  for (let at = from; at < to; ) {
    const bytes = (await page(at)).subarray(0, to - at);
    if (bytes.length === 0) return log.cut(at);
    log.supply(at, bytes);
    at += bytes.length;
  }
}

/** Metrics by their names; of those with many numbers, the ranks. */
function byName(metrics) {
  const numbers = {};
  for (const { name, value, ranks = {} } of metrics) {
    if (value !== undefined) numbers[name] = value;
    for (const [rank, seen] of Object.entries(ranks)) numbers[`${name}.${rank}`] = seen.value;
  }
  return numbers;
}

export async function analyse(file, { from, to, memory = MEMORY_BYTES, signal, onProgress } = {}) {
  signal?.throwIfAborted();
  if (to < from) throw new RangeError('the part ends before it begins');
  await program();
  const bytes = await source(file);
  const log = new Log(bytes.length);
  try {
    const page = paged(bytes);
    for (let needs = log.advance(); needs !== undefined; needs = log.advance()) {
      for (let i = 0; i < needs.length; i += 2) await supply(log, page, needs[i], needs[i + 1]);
      if (needs.length === 0) await new Promise((resume) => setTimeout(resume));
      signal?.throwIfAborted();
      onProgress?.(log.progress());
      if (log.exceeds_memory(memory)) break;
    }
    onProgress?.(1);
    const found = JSON.parse(log.analysis(from, to));
    return { ...found, numbers: byName(found.metrics) };
  } finally {
    log.free();
    await bytes.close();
  }
}
