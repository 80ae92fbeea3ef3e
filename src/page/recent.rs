//! Files that can be opened again: the browser keeps their handles, where it can (`recent.js`).

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

/// The handles in an array; `None` for what is none.
fn handles(array: &JsValue) -> Vec<Option<FileSystemFileHandle>> {
    let array = array.dyn_ref::<Array>();
    let items = array.into_iter().flat_map(Array::iter);
    items.map(|item| item.dyn_into().ok()).collect()
}

/// The logs that were opened last, the latest first.
pub(super) async fn last() -> Vec<FileSystemFileHandle> {
    let found = JsFuture::from(recent()).await.unwrap_or_default();
    handles(&found).into_iter().flatten().collect()
}

/// Keeps the handle of a log that is opened.
pub(super) fn keep(handle: &FileSystemFileHandle) {
    let kept = JsFuture::from(remember(handle));
    // Where the browser keeps nothing, nothing is listed later.
    spawn_local(async move { _ = kept.await });
}

/// Forgets one handle, or all.
pub(super) async fn drop_kept(handle: Option<FileSystemFileHandle>) {
    let forgotten = handle.map_or_else(forget_all, |handle| forget(&handle));
    _ = JsFuture::from(forgotten).await;
}

/// The file of a handle as it is now; `None` if it is gone or may not be read.
pub(super) async fn file(handle: &FileSystemFileHandle) -> Option<File> {
    let file = JsFuture::from(file_of(handle)).await.ok()?;
    file.dyn_into().ok()
}

/// Lets the reader choose files, with their handles.
pub(super) async fn choose() -> Vec<FileSystemFileHandle> {
    let chosen = JsFuture::from(pick()).await.unwrap_or_default();
    handles(&chosen).into_iter().flatten().collect()
}

/// The handles of the dropped files, in their order, as far as the browser has them. To be asked for
/// while the drop is handled.
pub(super) fn of_drop(
    data: &DataTransfer,
) -> impl Future<Output = Vec<Option<FileSystemFileHandle>>> + use<> {
    let asked = JsFuture::from(handles_of(data));
    async move { handles(&asked.await.unwrap_or_default()) }
}
