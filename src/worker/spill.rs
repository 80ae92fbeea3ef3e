//! Storage for data that exceeds the memory budget: a file in the browser's origin-private file system,
//! inaccessible to other sites and programs.
//!
//! Each large log has its own file, which is removed when the log is closed. Files left behind by closed or
//! crashed tabs are removed when the next log is opened; files in use by another tab cannot be removed.
//!
//! No file is available without such a file system (private windows of some browsers, pages not served over
//! `https:`) or without room in it.

use std::sync::atomic::{AtomicU64, Ordering};

use eventlog::Backing;
use js_sys::{IteratorNext, Math, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions,
    FileSystemGetFileOptions, FileSystemReadWriteOptions, FileSystemSyncAccessHandle,
    StorageManager,
};

use super::{Shared, scope};

/// Folder with the files of all tabs.
const FOLDER: &str = "eventscope";

/// A file that is removed when dropped.
#[derive(Debug)]
pub(super) struct PrivateFile {
    folder: FileSystemDirectoryHandle,
    name: String,
    file: FileSystemFileHandle,
    handle: FileSystemSyncAccessHandle,
    len: AtomicU64,
}

/// Creates a file; `None` if that is impossible.
pub(super) async fn create(shared: &Shared) -> Option<PrivateFile> {
    clear(shared).await;
    let folder = folder(true).await.ok()?;
    // Another tab may remove the first file in its cleanup before it is in use.
    for _ in 0..2 {
        if let Ok(file) = PrivateFile::create(&folder).await {
            return Some(file);
        }
    }
    None
}

/// Removes leftover files of other tabs, once per worker.
pub(super) async fn clear(shared: &Shared) {
    if std::mem::replace(&mut shared.borrow_mut().cleared, true) {
        return;
    }
    // Without the folder there is nothing to remove.
    if let Ok(folder) = folder(false).await {
        let _ = remove_all(&folder).await;
    }
}

async fn remove_all(folder: &FileSystemDirectoryHandle) -> Result<(), JsValue> {
    let keys = folder.keys();
    let mut names = Vec::new();
    loop {
        let next: IteratorNext = wait(keys.next()?).await?;
        if next.done() {
            break;
        }
        names.extend(next.value().as_string());
    }
    for name in names {
        // Fails if another tab uses the file.
        let _ = JsFuture::from(folder.remove_entry(&name)).await;
    }
    Ok(())
}

/// Awaits a promise of a known type.
async fn wait<T: JsCast>(promise: Promise) -> Result<T, JsValue> {
    Ok(JsFuture::from(promise).await?.unchecked_into())
}

/// Returns a property of `object`; an error if it is undefined.
fn member(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    let value = Reflect::get(object, &name.into())?;
    if value.is_undefined() {
        return Err(name.into());
    }
    Ok(value)
}

/// Returns the folder, optionally creating it.
async fn folder(create: bool) -> Result<FileSystemDirectoryHandle, JsValue> {
    let storage = member(&scope().navigator(), "storage")?;
    member(&storage, "getDirectory")?;
    let storage: StorageManager = storage.unchecked_into();
    let root: FileSystemDirectoryHandle = wait(storage.get_directory()).await?;
    let options = FileSystemGetDirectoryOptions::new();
    options.set_create(create);
    wait(root.get_directory_handle_with_options(FOLDER, &options)).await
}

impl PrivateFile {
    async fn create(folder: &FileSystemDirectoryHandle) -> Result<Self, JsValue> {
        let [high, low] = [(); 2].map(|()| (Math::random() * f64::from(u32::MAX)) as u32);
        let name = format!("{high:08x}{low:08x}");
        let options = FileSystemGetFileOptions::new();
        options.set_create(true);
        let file: FileSystemFileHandle =
            wait(folder.get_file_handle_with_options(&name, &options)).await?;
        member(&file, "createSyncAccessHandle")?;
        Ok(Self {
            folder: folder.clone(),
            name,
            handle: wait(file.create_sync_access_handle()).await?,
            file,
            len: AtomicU64::new(0),
        })
    }

    /// Returns the contents for other workers to read; valid until more is appended.
    pub(super) async fn file(&self) -> Result<File, JsValue> {
        self.handle.flush()?;
        wait(self.file.get_file()).await
    }
}

fn write_options(place: u64) -> FileSystemReadWriteOptions {
    let options = FileSystemReadWriteOptions::new();
    // Offsets up to 2^53 bytes are exact in `f64`.
    options.set_at(place as f64);
    options
}

impl Backing for PrivateFile {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        let place = self.len.load(Ordering::Relaxed);
        let written = self
            .handle
            .write_with_u8_array_and_options(bytes, &write_options(place));
        // Fails if the browser grants no more room.
        if written.ok()? as usize != bytes.len() {
            return None;
        }
        self.len
            .store(place + bytes.len() as u64, Ordering::Relaxed);
        Some(place)
    }

    fn read(&self, place: u64, into: &mut [u8]) -> bool {
        let read = self
            .handle
            .read_with_u8_array_and_options(into, &write_options(place));
        read.is_ok_and(|read| read as usize == into.len())
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        self.handle.close();
        let removed = JsFuture::from(self.folder.remove_entry(&self.name));
        spawn_local(async {
            // If it fails, the next cleanup removes the file.
            let _ = removed.await;
        });
    }
}
