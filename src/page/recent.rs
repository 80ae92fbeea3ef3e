//! File handles that the browser stores for reopening files, where it supports that (`recent.js`).

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DataTransfer, File, FileSystemFileHandle};

#[wasm_bindgen(module = "/recent.js")]
extern "C" {
    fn recent() -> Promise;
    fn remember(handle: &FileSystemFileHandle) -> Promise;
    fn forget(handle: &FileSystemFileHandle) -> Promise;
    fn forget_all() -> Promise;
    fn file_of(handle: &FileSystemFileHandle) -> Promise;
    pub(super) fn can_pick() -> bool;
    fn pick() -> Promise;
    fn handles_of(data: &DataTransfer) -> Promise;
}

/// Converts an array of handles; `None` for other elements.
fn handles(array: &JsValue) -> Vec<Option<FileSystemFileHandle>> {
    let array = array.dyn_ref::<Array>();
    let items = array.into_iter().flat_map(Array::iter);
    items.map(|item| item.dyn_into().ok()).collect()
}

/// Returns the handles of recently opened logs, latest first.
pub(super) async fn recent_handles() -> Vec<FileSystemFileHandle> {
    let found = JsFuture::from(recent()).await.unwrap_or_default();
    handles(&found).into_iter().flatten().collect()
}

/// Stores the handle of an opened log.
pub(super) fn remember_handle(handle: &FileSystemFileHandle) {
    let stored = JsFuture::from(remember(handle));
    // If the browser cannot store it, the log is just not listed later.
    spawn_local(async move { _ = stored.await });
}

/// Removes one stored handle, or all if `None`.
pub(super) async fn forget_handles(handle: Option<FileSystemFileHandle>) {
    let forgotten = handle.map_or_else(forget_all, |handle| forget(&handle));
    _ = JsFuture::from(forgotten).await;
}

/// Returns the current file of a handle; `None` if it is gone or access is denied.
pub(super) async fn file(handle: &FileSystemFileHandle) -> Option<File> {
    let file = JsFuture::from(file_of(handle)).await.ok()?;
    file.dyn_into().ok()
}

/// Shows a file picker and returns the handles of the chosen files.
pub(super) async fn pick_files() -> Vec<FileSystemFileHandle> {
    let chosen = JsFuture::from(pick()).await.unwrap_or_default();
    handles(&chosen).into_iter().flatten().collect()
}

/// Returns the handles of dropped files, in order, where the browser has them. Must be called while the drop event
/// is handled.
pub(super) fn handles_of_drop(
    data: &DataTransfer,
) -> impl Future<Output = Vec<Option<FileSystemFileHandle>>> + use<> {
    let pending = JsFuture::from(handles_of(data));
    async move { handles(&pending.await.unwrap_or_default()) }
}
