//! Files that users drop or choose, and those that come with the page.

use js_sys::{Array, Date, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, DataTransfer, DragEvent, Element, File, FileList, FilePropertyBag, Node, Response,
};

use symbols::{MAGIC_BYTES, is_symbols};
use views::fingerprint::{Fingerprint, fingerprint};

/// Whether something that is dragged over the page has files.
pub(super) fn has_files(event: &DragEvent) -> bool {
    let types = event.data_transfer().map(|data| data.types());
    types.is_some_and(|types| types.includes(&"Files".into(), 0))
}

/// What was dropped.
pub(super) enum Dropped {
    /// Files.
    Files(Vec<File>),
    /// A folder.
    Folder,
    /// Nothing that could be opened.
    Nothing,
}

/// The files of a list.
pub(super) fn all(files: &FileList) -> Vec<File> {
    (0..files.length()).filter_map(|at| files.get(at)).collect()
}

/// What was dropped.
pub(super) fn dropped(data: &DataTransfer) -> Dropped {
    let entry = data
        .items()
        .get(0)
        .and_then(|item| item.webkit_get_as_entry().ok().flatten());
    if entry.is_some_and(|entry| entry.is_directory()) {
        return Dropped::Folder;
    }
    match data.files() {
        Some(files) if files.length() > 0 => Dropped::Files(all(&files)),
        _ => Dropped::Nothing,
    }
}

/// A log that was dropped or chosen.
#[derive(Clone)]
pub(super) struct LogFile {
    pub(super) file: File,
    /// Which one it is; `None` if it cannot be read.
    pub(super) fingerprint: Option<Fingerprint>,
}

/// Files by what they are.
pub(super) struct Sorted {
    /// The logs, two at most.
    pub(super) logs: Vec<LogFile>,
    /// An executable, or what `nm` says of it, by which addresses get names.
    pub(super) symbols: Option<File>,
    /// How many there are beside these.
    pub(super) more: usize,
    /// Why none of them could be read.
    pub(super) unreadable: Option<String>,
}

/// So many logs are shown at once.
const MOST_LOGS: usize = 2;

/// Tells logs from executables by their first bytes.
pub(super) async fn sort(files: Vec<File>) -> Sorted {
    let count = files.len();
    let (mut logs, mut symbols, mut unreadable) = (Vec::new(), None, None);
    for file in files {
        let place = match bytes_of(&file, 0.0, MAGIC_BYTES as f64).await {
            Some(first) if is_symbols(&first) => &mut symbols,
            // What is no log says so when it is opened.
            Some(_) => {
                if logs.len() < MOST_LOGS {
                    let fingerprint = fingerprint_of(&file).await;
                    logs.push(LogFile { file, fingerprint });
                }
                continue;
            }
            None => &mut unreadable,
        };
        place.get_or_insert(file);
    }
    let taken = logs.len() + usize::from(symbols.is_some());
    let unreadable = unreadable.filter(|_| taken == 0).map(|file| {
        let name = file.name();
        format!("“{name}” cannot be read: it is a folder, or was moved, deleted or changed meanwhile, or you may not read it.")
    });
    Sorted {
        logs,
        symbols,
        more: count.saturating_sub(taken),
        unreadable,
    }
}

/// Some bytes of a file, as far as it has them.
async fn bytes_of(file: &File, start: f64, end: f64) -> Option<Vec<u8>> {
    let blob: &Blob = file.as_ref();
    let slice = blob.slice_with_f64_and_f64(start, end).ok()?;
    let buffer = JsFuture::from(slice.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&buffer).to_vec())
}

/// Tells a log from another without reading all of it: by its length, its
/// first bytes, and some in its middle and at its end.
async fn fingerprint_of(file: &File) -> Option<Fingerprint> {
    const SAMPLE: f64 = 65_536.0;
    let size = file.size();
    let mut samples = Vec::new();
    for start in [
        0.0,
        ((size - SAMPLE) / 2.0).floor().max(0.0),
        (size - SAMPLE).max(0.0),
    ] {
        samples.push(bytes_of(file, start, (start + SAMPLE).min(size)).await?);
    }
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    Some(fingerprint(size as u64, &samples))
}

/// The files that whoever serves the page wants to have opened: `eventscope view` does.
pub(super) fn served() -> Vec<String> {
    let Ok(marks) = gloo_utils::document().query_selector_all("meta[name=eventscope-open]") else {
        return Vec::new();
    };
    let marks = (0..marks.length()).filter_map(|at| marks.get(at));
    let address = |mark: Node| mark.dyn_into::<Element>().ok()?.get_attribute("content");
    marks.filter_map(address).collect()
}

/// What a file of the site is called.
pub(super) fn name_of(address: &str) -> String {
    let name = address.rsplit('/').next().unwrap_or(address);
    js_sys::decode_uri_component(name).map_or_else(|_| name.to_owned(), String::from)
}

/// Fetches a file from the site itself; the browser puts what is large on the disk.
///
/// # Errors
/// What the browser says.
pub(super) async fn fetch(address: &str) -> Result<File, String> {
    let words = |error: JsValue| js_sys::Error::from(error).message().into();
    let window = gloo_utils::window();
    let response = JsFuture::from(window.fetch_with_str(address))
        .await
        .map_err(words)?;
    let response: Response = response.dyn_into().map_err(words)?;
    if !response.ok() {
        return Err(format!(
            "the site answered with status {}",
            response.status()
        ));
    }
    let options = FilePropertyBag::new();
    if let Ok(Some(changed)) = response.headers().get("Last-Modified") {
        let changed_ms = Date::parse(&changed);
        if changed_ms.is_finite() {
            options.set_last_modified(changed_ms);
        }
    }
    let blob = JsFuture::from(response.blob().map_err(words)?)
        .await
        .map_err(words)?;
    File::new_with_blob_sequence_and_options(&Array::of1(&blob), &name_of(address), &options)
        .map_err(words)
}
