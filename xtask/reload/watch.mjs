// Watches the sources of the site: one watcher for each folder, since that is what every system supports.

import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Folders with everything below them, and files of the project's folder. */
const FOLDERS = ['crates', 'src', 'www'];
const FILES = ['Cargo.toml', 'index.html'];
/** Files that editors write for themselves, and proposed snapshots of tests. */
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
    // The folder was removed.
    watcher.on('error', () => forget(folder));
    watched.set(folder, watcher);
  }

  function forget(folder) {
    watched.get(folder)?.close();
    watched.delete(folder);
  }

  /** Watches a folder and all below it that are not watched yet. */
  function watchBelow(folder) {
    let entries;
    try {
      watchFolder(folder);
      entries = readdirSync(join(root, folder), { withFileTypes: true });
    } catch {
      // Removed since.
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
