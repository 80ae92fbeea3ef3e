// Builds the programs of this folder in another one, with the compiler in the environment variable GHC.

import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const GHC = process.env.GHC ?? 'ghc';

/** Returns the version of the compiler, such as `9.10.3`. */
export const ghcVersion = () => String(spawnSync(GHC, ['--numeric-version']).stdout).trim();

/** Builds `PROGRAM.hs` in a folder, under another name if it is linked differently. */
export function build(folder, program, { name = program, words = [], threaded = true } = {}) {
  copyFileSync(path.join(HERE, `${program}.hs`), path.join(folder, `${program}.hs`));
  const [major, minor] = ghcVersion().split('.').map(Number);
  const always = major > 9 || (major === 9 && minor >= 4) ? [] : ['-eventlog'];
  const line = ['-O', ...(threaded ? ['-threaded'] : []), '-rtsopts', ...always, ...words, '-o', name, `${program}.hs`];
  const built = spawnSync(GHC, line, { cwd: folder, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`${program}: ${built.stdout}${built.stderr}`);
}
