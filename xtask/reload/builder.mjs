// Rebuilds the quick site after changes: one build at a time, and another one if something changed meanwhile.

import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

/** Delay, as editors and version control write several files at once. */
const SETTLED_MS = 80;
/** Files that need no compiler. */
const STATIC = /^(www[\\/]|index\.html$)/;

/**
 * Returns `{ change, stop }`: `change(path)` builds after a change of that file, and `stop()` ends a running build.
 * `report` is called with `{ status: 'building' }`, `{ status: 'built' }` or `{ status: 'failed', error }`.
 */
export function createBuilder(report) {
  /** The running build. */
  let child = null;
  let timer = null;
  let isDue = false;
  /** Whether programs have changed since the last successful build. */
  let mustCompile = false;

  function change(path) {
    isDue = true;
    mustCompile ||= !STATIC.test(path);
    clearTimeout(timer);
    timer = setTimeout(buildIfDue, SETTLED_MS);
  }

  async function buildIfDue() {
    if (!isDue || child) return;
    isDue = false;
    const compiles = mustCompile;
    mustCompile = false;
    report({ status: 'building' });
    const error = await build(compiles);
    child = null;
    mustCompile ||= error !== null && compiles;
    // A file that changed meanwhile may have fixed the error.
    if (!isDue) report(error === null ? { status: 'built' } : { status: 'failed', error });
    buildIfDue();
  }

  /** Resolves to null, or to the text of the error. */
  function build(compiles) {
    return new Promise((resolve) => {
      const color = process.stderr.isTTY ? { CARGO_TERM_COLOR: 'always' } : {};
      child = spawn(process.env.EVENTSCOPE_XTASK, ['rebuild', ...(compiles ? [] : ['--static'])], {
        stdio: ['ignore', 'inherit', 'pipe'],
        env: { ...process.env, ...color },
        // A process group of its own, so that the compiler ends with it.
        detached: process.platform !== 'win32',
      });
      let text = '';
      child.stderr.setEncoding('utf8');
      child.stderr.on('data', (part) => {
        text += part;
        process.stderr.write(part);
      });
      child.on('error', (error) => resolve(error.message));
      child.on('close', (code) => resolve(code === 0 ? null : stripVTControlCharacters(text).trim()));
    });
  }

  function stop() {
    if (!child?.pid) return;
    if (process.platform === 'win32') child.kill();
    else process.kill(-child.pid, 'SIGTERM');
  }

  return { change, stop };
}
