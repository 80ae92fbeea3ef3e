// Watches the sources of the site, with one watcher per folder, as recursive watching is not supported on every
// system.

import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Folders that are watched recursively, and files of the project's folder. */
const FOLDERS = ['crates', 'src', 'www'];
const FILES = ['Cargo.toml', 'index.html'];
/** Temporary files of editors, and proposed test snapshots. */
const TEMPORARY = /^[.#]|[~#]$|\.(bak|orig|swp|swx|tmp|new)$|^4913$/;
const IGNORED_FOLDERS = new Set(['target', 'node_modules']);

/** Calls `changed` with the path of each file that changes, relative to the project's folder. */
export function watchSources(root, changed) {
  const watched = new Map();

  function watchFolder(folder) {
    if (watched.has(folder)) return;
    const watcher = watch(join(root, folder), (kind, name) => {
      if (!name || TEMPORARY.test(name)) return;
      const path = join(folder, name);
      if (folder !== '' && kind === 'rename') watchBelow(folder);
      if (folder !== '' || FILES.includes(name)) changed(path);
    });
    // the folder was removed
    watcher.on('error', () => forget(folder));
    watched.set(folder, watcher);
  }

  function forget(folder) {
    watched.get(folder)?.close();
    watched.delete(folder);
  }

  /** Watches a folder and all folders below it that are not watched yet. */
  function watchBelow(folder) {
    let entries;
    try {
      watchFolder(folder);
      entries = readdirSync(join(root, folder), { withFileTypes: true });
    } catch {
      // Removed in the meantime.
      forget(folder);
      return;
    }
    for (const entry of entries) {
      if (entry.isDirectory() && !IGNORED_FOLDERS.has(entry.name)) watchBelow(join(folder, entry.name));
    }
  }

  watchFolder('');
  FOLDERS.forEach(watchBelow);
}
