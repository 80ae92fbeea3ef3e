// Files that the browser lets the page open again: those that were dropped or chosen where it has
// the File System Access API (Chrome, Edge). Only their handles are kept, nothing of a log.

const DATABASE = 'eventscope';
const STORE = 'recent';
const MOST = 8;

/** What a request of the database comes to. */
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** Does something with the stored handles. */
async function stored(mode, act) {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { autoIncrement: true });
  const database = await done(request);
  try {
    return await act(database.transaction(STORE, mode).objectStore(STORE));
  } finally {
    database.close();
  }
}

/** The handles of the last logs, the latest first; none where the browser keeps none. */
export async function recent() {
  try {
    const handles = await stored('readonly', (store) => done(store.getAll()));
    return handles.reverse();
  } catch {
    return [];
  }
}

/** Keeps a handle as the latest. */
export async function remember(handle) {
  const others = [];
  for (const other of await recent()) {
    if (!(await handle.isSameEntry(other))) others.push(other);
  }
  await keep([handle, ...others].slice(0, MOST));
}

/** Forgets a handle. */
export async function forget(handle) {
  const others = [];
  for (const other of await recent()) {
    if (!(await handle.isSameEntry(other))) others.push(other);
  }
  await keep(others);
}

/** Forgets all handles. */
export async function forget_all() {
  await keep([]);
}

async function keep(handles) {
  try {
    await stored('readwrite', async (store) => {
      await done(store.clear());
      for (const handle of [...handles].reverse()) await done(store.add(handle));
    });
  } catch {
    // A private window keeps nothing.
  }
}

/** The file of a handle as it is now. Asks the reader where the browser wants that. */
export async function file_of(handle) {
  const wanted = { mode: 'read' };
  const allowed = await handle.queryPermission?.(wanted) ?? 'granted';
  if (allowed !== 'granted' && await handle.requestPermission(wanted) !== 'granted') return null;
  return handle.getFile();
}

/** Whether files can be chosen with their handles. */
export function can_pick() {
  return 'showOpenFilePicker' in window;
}

/** Lets the reader choose files; none if that is given up. */
export async function pick() {
  try {
    return await window.showOpenFilePicker({ multiple: true });
  } catch {
    return [];
  }
}

/** The handles of what is dropped, one for each item, as far as the browser has them. */
export async function handles_of(data) {
  // To be asked for at once: later the items are gone.
  const asked = [...data.items].map(async (item) => {
    const handle = await item.getAsFileSystemHandle?.();
    return handle?.kind === 'file' ? handle : null;
  });
  return Promise.all(asked.map((handle) => handle.catch(() => null)));
}
