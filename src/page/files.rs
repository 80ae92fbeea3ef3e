//! Files that users drop or choose, and files fetched from the page's own site.

use std::pin::Pin;

use js_sys::{Array, Date, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, Blob, DataTransfer, DragEvent, File, FileList, FilePropertyBag,
    FileSystemFileHandle, Headers, ReadableStreamDefaultReader, RequestInit, RequestRedirect,
    Response,
};

use super::dom::elements;
use super::recent;
use protocol::wire::LiveFile;

use symbols::{MAGIC_BYTES, is_symbols};
use views::fingerprint::{Fingerprint, fingerprint, sampled};
use views::page_error::{Code, PageError};

/// Chunk size for downloads: the browser may move finished chunks to disk while more data arrives.
const CHUNK_BYTES: u64 = 16 << 20;

/// Returns whether a drag event carries files.
pub(super) fn has_files(event: &DragEvent) -> bool {
    let types = event.data_transfer().map(|data| data.types());
    types.is_some_and(|types| types.includes(&"Files".into(), 0))
}

/// Contents of a drop event.
pub(super) enum Dropped {
    /// Files; the future resolves when their handles are available.
    Files(Pin<Box<dyn Future<Output = Vec<InputFile>>>>),
    /// A folder.
    Folder,
    /// Nothing that can be opened.
    Nothing,
}

/// Returns the files of a `FileList`.
pub(super) fn to_vec(files: &FileList) -> Vec<File> {
    (0..files.length()).filter_map(|at| files.get(at)).collect()
}

/// Extracts the files from a drop event.
pub(super) fn files_of_drop(data: &DataTransfer) -> Dropped {
    let entry = data
        .items()
        .get(0)
        .and_then(|item| item.webkit_get_as_entry().ok().flatten());
    if entry.is_some_and(|entry| entry.is_directory()) {
        return Dropped::Folder;
    }
    match data.files() {
        Some(files) if files.length() > 0 => {
            let (files, handles) = (to_vec(&files), recent::handles_of_drop(data));
            Dropped::Files(Box::pin(async move {
                // If a dropped item is not a file, the handles cannot be matched to the files.
                let handles = Some(handles.await).filter(|it| it.len() == files.len());
                let mut handles = handles.unwrap_or_default().into_iter();
                let origins = files.into_iter().map(|file| InputFile {
                    file,
                    origin: handles
                        .next()
                        .flatten()
                        .map_or(Origin::Snapshot, Origin::Handle),
                });
                origins.collect()
            }))
        }
        _ => Dropped::Nothing,
    }
}

/// Source from which the current contents of a file can be read again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Origin {
    /// None: the browser exposes only the file as it was.
    #[default]
    Snapshot,
    /// A file on disk.
    Handle(FileSystemFileHandle),
    /// An address on the page's site.
    Address(String),
    /// The URL from a link, with the address if it is on the page's site.
    Linked {
        url: String,
        address: Option<String>,
    },
}

impl Origin {
    /// Returns the URL of the log, if a link named it.
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Linked { url, .. } => Some(url),
            _ => None,
        }
    }

    /// Reads the current contents of the file.
    ///
    /// # Errors
    /// The reason why the file cannot be read, as text for the user.
    pub(super) async fn read_again(&self) -> Result<InputFile, String> {
        let file = match self {
            Self::Snapshot => Err("This browser does not let pages see later changes of a file: drop it again. Chrome and Edge can reload files that were dropped or chosen with Browse.".to_owned()),
            Self::Handle(handle) => recent::file(handle).await.ok_or_else(|| {
                format!("“{}” cannot be read: it was moved or deleted, or you did not allow it.", handle.name())
            }),
            Self::Linked { address: None, .. } => {
                Err("The log came from another host: open its link again.".to_owned())
            }
            Self::Address(address)
            | Self::Linked {
                address: Some(address),
                ..
            } => {
                let file = fetch(address, None, |_| ()).await;
                file.map_err(|why| match why {
                    NotFetched::Because(why) => {
                        format!("“{}” cannot be fetched: {why}.", name_of(address))
                    }
                    NotFetched::Cancelled => String::new(),
                })
            }
        }?;
        let origin = self.clone();
        Ok(InputFile { file, origin })
    }
}

/// File that was dropped, chosen or fetched.
#[derive(Clone, Debug)]
pub(super) struct InputFile {
    pub(super) file: File,
    pub(super) origin: Origin,
}

impl From<File> for InputFile {
    fn from(file: File) -> Self {
        let origin = Origin::Snapshot;
        Self { file, origin }
    }
}

/// Log that was dropped, chosen or fetched.
#[derive(Clone, Debug)]
pub(super) struct LogFile {
    pub(super) file: File,
    pub(super) origin: Origin,
    /// Fingerprint; `None` if the file cannot be read.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl LogFile {
    /// Returns the file with its handle, so that it can be read while it is being written.
    pub(super) fn live(&self) -> LiveFile {
        LiveFile {
            file: self.file.clone(),
            handle: match &self.origin {
                Origin::Handle(handle) => Some(handle.clone()),
                _ => None,
            },
        }
    }
}

/// Files sorted by kind.
pub(super) struct SortedFiles {
    /// The logs: two are compared, more are merged.
    pub(super) logs: Vec<LogFile>,
    /// An executable or the output of `nm`, for naming addresses.
    pub(super) symbols: Option<File>,
    /// Number of remaining files, which are ignored.
    pub(super) more: usize,
    /// Error text if no file can be read.
    pub(super) unreadable: Option<String>,
}

/// Maximum number of logs to merge.
const MAX_LOGS: usize = 64;

/// Maximum number of attempts to read a file that is being written.
const MAX_ATTEMPTS: usize = 8;

impl InputFile {
    /// Reads the first bytes and the fingerprint, and replaces the file by its current version as needed: a file
    /// that is being written is readable only in its latest version. `None` if it cannot be read.
    async fn read_head(&mut self) -> Option<(Vec<u8>, Fingerprint)> {
        for _ in 0..MAX_ATTEMPTS {
            let first = bytes_of(&self.file, 0.0, MAGIC_BYTES as f64).await;
            if let (Some(first), Some(print)) = (first, fingerprint_of(&self.file).await) {
                return Some((first, print));
            }
            let Origin::Handle(handle) = &self.origin else {
                return None;
            };
            self.file = recent::file(handle).await?;
        }
        None
    }
}

/// Separates logs from executables by their first bytes.
pub(super) async fn sort_by_kind(files: Vec<InputFile>) -> SortedFiles {
    let count = files.len();
    let (mut logs, mut symbols, mut unreadable) = (Vec::new(), None, None);
    for mut input in files {
        let head = input.read_head().await;
        let InputFile { file, origin } = input;
        let place = match head {
            Some((first, _)) if is_symbols(&first) => &mut symbols,
            // Files that are not logs are reported when they are opened.
            Some((_, print)) => {
                if logs.len() < MAX_LOGS {
                    logs.push(LogFile {
                        file,
                        origin,
                        fingerprint: Some(print),
                    });
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
    SortedFiles {
        logs,
        symbols,
        more: count.saturating_sub(taken),
        unreadable,
    }
}

/// Reads a byte range of a file, truncated at its end.
pub(super) async fn bytes_of(file: &File, start: f64, end: f64) -> Option<Vec<u8>> {
    let blob: &Blob = file.as_ref();
    let slice = blob.slice_with_f64_and_f64(start, end).ok()?;
    let buffer = JsFuture::from(slice.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&buffer).to_vec())
}

/// Computes a fingerprint that identifies a log without reading all of it: its length, its first bytes, and
/// samples from its middle and end.
pub(super) async fn fingerprint_of(file: &File) -> Option<Fingerprint> {
    let size = file.size() as u64;
    let mut samples = Vec::new();
    for range in sampled(size) {
        samples.push(bytes_of(file, range.start as f64, range.end as f64).await?);
    }
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    Some(fingerprint(size, &samples))
}

/// Returns the addresses of the files that the server wants opened, as `eventscope view` does.
pub(super) fn served_addresses() -> Vec<String> {
    let document = gloo_utils::document_element();
    let marks = elements(&document, "meta[name=eventscope-open]").into_iter();
    marks
        .filter_map(|mark| mark.get_attribute("content"))
        .collect()
}

/// Returns whether the served files are still being written and should be followed.
pub(super) fn is_follow_requested() -> bool {
    let mark = gloo_utils::document().query_selector("meta[name=eventscope-follow]");
    mark.is_ok_and(|mark| mark.is_some())
}

/// Data that the site has beyond the end of a fetched file.
pub(super) enum Remainder {
    /// No more data.
    Empty,
    /// More data: the extended file.
    Appended(File),
    /// A different file.
    Replaced,
}

/// Requests the data after the end of a fetched file. The request includes the last bytes, `tail`, to detect that
/// another file has replaced it.
///
/// # Errors
/// If the request fails, or the site redirects or answers with an unexpected status.
pub(super) async fn fetch_remainder(
    address: &str,
    file: &File,
    tail: &[u8],
) -> Result<Remainder, JsValue> {
    let request = RequestInit::new();
    request.set_redirect(RequestRedirect::Manual);
    let headers = Headers::new()?;
    let from = file.size() as u64 - tail.len() as u64;
    headers.set("Range", &format!("bytes={from}-"))?;
    request.set_headers(&headers);
    let pending = gloo_utils::window().fetch_with_str_and_init(address, &request);
    let response: Response = JsFuture::from(pending).await?.dyn_into()?;
    let length = response.headers().get("Content-Length").ok().flatten();
    let is_as_long = length.and_then(|length| length.parse().ok()) == Some(file.size());
    match response.status() {
        206 => {}
        200 if is_as_long => return Ok(Remainder::Empty),
        // The file is shorter now, or the site does not support ranges.
        200 | 416 => return Ok(Remainder::Replaced),
        REDIRECTED => return Err(NOT_FOLLOWED.into()),
        status => return Err(format!("the site answered with status {status}").into()),
    }
    let buffer = JsFuture::from(response.array_buffer()?).await?;
    let bytes = Uint8Array::new(&buffer);
    let tail_len = tail.len() as u32;
    if bytes.length() < tail_len || bytes.subarray(0, tail_len).to_vec() != tail {
        return Ok(Remainder::Replaced);
    }
    if bytes.length() == tail_len {
        return Ok(Remainder::Empty);
    }
    let more = bytes.subarray(tail_len, bytes.length());
    let parts = Array::of2(file, &more);
    let whole = File::new_with_blob_sequence(&parts, &file.name())?;
    Ok(Remainder::Appended(whole))
}

/// Fetches a sample log from the page's site.
///
/// # Errors
/// An error to show to the user.
pub(super) async fn sample(address: &str) -> Result<SortedFiles, PageError> {
    match fetch(address, None, |_| ()).await {
        Ok(file) => Ok(sort_by_kind(vec![file.into()]).await),
        Err(NotFetched::Because(why)) => Err(PageError::with_cause(Code::SampleNotFetched, &why)),
        Err(NotFetched::Cancelled) => Err(PageError::new(Code::SampleNotFetched)),
    }
}

/// Returns the file name in an address.
pub(super) fn name_of(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let name = path.rsplit('/').next().unwrap_or(path);
    js_sys::decode_uri_component(name).map_or_else(|_| name.to_owned(), String::from)
}

/// Response status for redirects when they are not followed. The page contacts no host but its own, and a redirect
/// could lead anywhere.
const REDIRECTED: u16 = 0;
const NOT_FOLLOWED: &str = "the site redirects to another address, which is not followed: use the address of the file itself";

/// Reason why a file could not be fetched.
pub(super) enum NotFetched {
    /// Canceled by the caller.
    Cancelled,
    /// Message of the browser or the server.
    Because(String),
}

/// Number of bytes received, and the total if known.
pub(super) type DownloadProgress = (u64, Option<u64>);

/// Fetches a file from the page's own site and reports its progress to `on_progress`. The browser keeps large files on
/// disk.
///
/// # Errors
/// If the fetch was canceled or failed.
pub(super) async fn fetch(
    address: &str,
    signal: Option<&AbortSignal>,
    on_progress: impl Fn(DownloadProgress),
) -> Result<File, NotFetched> {
    let file = fetch_whole(address, signal, on_progress).await;
    file.map_err(|error| {
        if signal.is_some_and(AbortSignal::aborted) {
            return NotFetched::Cancelled;
        }
        let words = error.as_string();
        NotFetched::Because(words.unwrap_or_else(|| js_sys::Error::from(error).message().into()))
    })
}

async fn fetch_whole(
    address: &str,
    signal: Option<&AbortSignal>,
    on_progress: impl Fn(DownloadProgress),
) -> Result<File, JsValue> {
    let request = RequestInit::new();
    request.set_signal(signal);
    request.set_redirect(RequestRedirect::Manual);
    let pending = gloo_utils::window().fetch_with_str_and_init(address, &request);
    let response: Response = JsFuture::from(pending).await?.dyn_into()?;
    if response.status() == REDIRECTED {
        return Err(NOT_FOLLOWED.into());
    }
    if !response.ok() {
        let status = response.status();
        return Err(format!("the site answered with status {status}").into());
    }
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let total = header("Content-Length").and_then(|length| length.parse().ok());
    let body = response.body().ok_or("the response is empty")?;
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let (chunks, chunk): (Array, Array) = (Array::new(), Array::new());
    let (mut done, mut in_chunk) = (0, 0);
    on_progress((0, total));
    loop {
        let read = JsFuture::from(reader.read()).await?;
        if Reflect::get(&read, &"done".into())?.is_truthy() {
            break;
        }
        let value = Reflect::get(&read, &"value".into())?;
        let len = u64::from(value.unchecked_ref::<Uint8Array>().length());
        chunk.push(&value);
        (done, in_chunk) = (done + len, in_chunk + len);
        if in_chunk >= CHUNK_BYTES {
            chunks.push(Blob::new_with_u8_array_sequence(&chunk)?.as_ref());
            chunk.set_length(0);
            in_chunk = 0;
        }
        // If the server compresses the response, Content-Length is the compressed length.
        on_progress((done, total.filter(|total| done <= *total)));
    }
    chunks.push(Blob::new_with_u8_array_sequence(&chunk)?.as_ref());
    let options = FilePropertyBag::new();
    if let Some(changed) = header("Last-Modified") {
        let changed_ms = Date::parse(&changed);
        if changed_ms.is_finite() {
            options.set_last_modified(changed_ms);
        }
    }
    File::new_with_blob_sequence_and_options(&chunks, &name_of(address), &options)
}
