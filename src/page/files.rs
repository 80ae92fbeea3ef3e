//! Files that users drop or choose, and those that come with the page.

use std::pin::Pin;

use js_sys::{Array, Date, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, Blob, DataTransfer, DragEvent, Element, File, FileList, FilePropertyBag,
    FileSystemFileHandle, Headers, Node, ReadableStreamDefaultReader, RequestInit, RequestRedirect,
    Response,
};

use super::recent;
use protocol::wire::LiveFile;

use symbols::{MAGIC_BYTES, is_symbols};
use views::fingerprint::{Fingerprint, fingerprint, sampled};
use views::trouble::{Code, Trouble};

/// The browser may put parts of this size on the disk while more comes.
const PIECE_BYTES: u64 = 16 << 20;

/// Whether something that is dragged over the page has files.
pub(super) fn has_files(event: &DragEvent) -> bool {
    let types = event.data_transfer().map(|data| data.types());
    types.is_some_and(|types| types.includes(&"Files".into(), 0))
}

/// What was dropped.
pub(super) enum Dropped {
    /// Files, to be waited for: their handles come later.
    Files(Pin<Box<dyn Future<Output = Vec<Chosen>>>>),
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
        Some(files) if files.length() > 0 => {
            let (files, handles) = (all(&files), recent::of_drop(data));
            Dropped::Files(Box::pin(async move {
                // An item may be no file: then it is not known which handle is whose.
                let handles = Some(handles.await).filter(|it| it.len() == files.len());
                let mut handles = handles.unwrap_or_default().into_iter();
                let origins = files.into_iter().map(|file| Chosen {
                    file,
                    origin: handles
                        .next()
                        .flatten()
                        .map_or(Origin::Gone, Origin::Handle),
                });
                origins.collect()
            }))
        }
        _ => Dropped::Nothing,
    }
}

/// Where a file can be read again, as it is then.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Origin {
    /// Nowhere: the browser showed the file as it was.
    #[default]
    Gone,
    /// On the disk.
    Handle(FileSystemFileHandle),
    /// At an address of the site.
    Address(String),
    /// Where a link says; and the address, if that is one of the site.
    Linked {
        url: String,
        address: Option<String>,
    },
}

impl Origin {
    /// Where the log is, as the link says it that named it.
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Linked { url, .. } => Some(url),
            _ => None,
        }
    }

    /// The file as it is now.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(super) async fn read_again(&self) -> Result<Chosen, String> {
        let file = match self {
            Self::Gone => Err("The browser shows this page only the file that was dropped, not what became of it: drop it again. Chrome and Edge can read files again that were dropped or chosen with Browse.".to_owned()),
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
        Ok(Chosen { file, origin })
    }
}

/// A file that was dropped or chosen.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) file: File,
    pub(super) origin: Origin,
}

impl From<File> for Chosen {
    fn from(file: File) -> Self {
        let origin = Origin::Gone;
        Self { file, origin }
    }
}

/// A log that was dropped or chosen.
#[derive(Clone, Debug)]
pub(super) struct LogFile {
    pub(super) file: File,
    pub(super) origin: Origin,
    /// Which one it is; `None` if it cannot be read.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl LogFile {
    /// The file with its place: it may be written to while it is read.
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

/// Files by what they are.
pub(super) struct Sorted {
    /// The logs: two are compared, more are merged.
    pub(super) logs: Vec<LogFile>,
    /// An executable, or what `nm` says of it, by which addresses get names.
    pub(super) symbols: Option<File>,
    /// How many there are beside these.
    pub(super) more: usize,
    /// Why none of them could be read.
    pub(super) unreadable: Option<String>,
}

/// So many logs are merged at most.
const MOST_LOGS: usize = 64;

/// How often a file that is being written to is looked at again.
const TRIES: usize = 8;

impl Chosen {
    /// Its first bytes and what tells it from others, of the file as it is then: one that is
    /// written to can be read only as it is now. `None` if it cannot be read.
    async fn look(&mut self) -> Option<(Vec<u8>, Fingerprint)> {
        for _ in 0..TRIES {
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

/// Tells logs from executables by their first bytes.
pub(super) async fn sort(files: Vec<Chosen>) -> Sorted {
    let count = files.len();
    let (mut logs, mut symbols, mut unreadable) = (Vec::new(), None, None);
    for mut chosen in files {
        let looked = chosen.look().await;
        let Chosen { file, origin } = chosen;
        let place = match looked {
            Some((first, _)) if is_symbols(&first) => &mut symbols,
            // What is no log says so when it is opened.
            Some((_, print)) => {
                if logs.len() < MOST_LOGS {
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
    Sorted {
        logs,
        symbols,
        more: count.saturating_sub(taken),
        unreadable,
    }
}

/// Some bytes of a file, as far as it has them.
pub(super) async fn bytes_of(file: &File, start: f64, end: f64) -> Option<Vec<u8>> {
    let blob: &Blob = file.as_ref();
    let slice = blob.slice_with_f64_and_f64(start, end).ok()?;
    let buffer = JsFuture::from(slice.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&buffer).to_vec())
}

/// Tells a log from another without reading all of it: by its length, its
/// first bytes, and some in its middle and at its end.
pub(super) async fn fingerprint_of(file: &File) -> Option<Fingerprint> {
    let size = file.size() as u64;
    let mut samples = Vec::new();
    for range in sampled(size) {
        samples.push(bytes_of(file, range.start as f64, range.end as f64).await?);
    }
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    Some(fingerprint(size, &samples))
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

/// Whether these are still being written, and are to be followed.
pub(super) fn is_served_to_follow() -> bool {
    let mark = gloo_utils::document().query_selector("meta[name=eventscope-follow]");
    mark.is_ok_and(|mark| mark.is_some())
}

/// What a site has behind the end of a file that was fetched from it.
pub(super) enum Behind {
    /// Nothing.
    Nothing,
    /// More: the file with it.
    More(File),
    /// It is another file.
    Another,
}

/// Asks a site for what follows a file that was fetched from it, with what stood at its end, `tail`, so
/// that another file in its place is seen.
///
/// # Errors
/// If the site does not answer.
pub(super) async fn behind(address: &str, file: &File, tail: &[u8]) -> Result<Behind, JsValue> {
    let request = RequestInit::new();
    request.set_redirect(RequestRedirect::Manual);
    let headers = Headers::new()?;
    let from = file.size() as u64 - tail.len() as u64;
    headers.set("Range", &format!("bytes={from}-"))?;
    request.set_headers(&headers);
    let asked = gloo_utils::window().fetch_with_str_and_init(address, &request);
    let response: Response = JsFuture::from(asked).await?.dyn_into()?;
    let length = response.headers().get("Content-Length").ok().flatten();
    let is_as_long = length.and_then(|length| length.parse().ok()) == Some(file.size());
    match response.status() {
        206 => {}
        200 if is_as_long => return Ok(Behind::Nothing),
        // It is shorter, or the site sends all or nothing.
        200 | 416 => return Ok(Behind::Another),
        REDIRECTED => return Err(NOT_FOLLOWED.into()),
        status => return Err(format!("the site answered with status {status}").into()),
    }
    let buffer = JsFuture::from(response.array_buffer()?).await?;
    let bytes = Uint8Array::new(&buffer);
    let tail_len = tail.len() as u32;
    if bytes.length() < tail_len || bytes.subarray(0, tail_len).to_vec() != tail {
        return Ok(Behind::Another);
    }
    if bytes.length() == tail_len {
        return Ok(Behind::Nothing);
    }
    let more = bytes.subarray(tail_len, bytes.length());
    let parts = Array::of2(file, &more);
    let whole = File::new_with_blob_sequence(&parts, &file.name())?;
    Ok(Behind::More(whole))
}

/// Fetches a sample, a log of the site.
///
/// # Errors
/// What to tell the reader.
pub(super) async fn sample(address: &str) -> Result<Sorted, Trouble> {
    match fetch(address, None, |_| ()).await {
        Ok(file) => Ok(sort(vec![file.into()]).await),
        Err(NotFetched::Because(why)) => Err(Trouble::because(Code::SampleNotFetched, &why)),
        Err(NotFetched::Cancelled) => Err(Trouble::new(Code::SampleNotFetched)),
    }
}

/// What a file of the site is called.
pub(super) fn name_of(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let name = path.rsplit('/').next().unwrap_or(path);
    js_sys::decode_uri_component(name).map_or_else(|_| name.to_owned(), String::from)
}

/// The status of an answer that redirects, if redirects are not followed. The page asks no host but its own, and a
/// redirect can lead to any.
const REDIRECTED: u16 = 0;
const NOT_FOLLOWED: &str = "the site redirects to another address, which is not followed: use the address of the file itself";

/// Why a file did not come.
pub(super) enum NotFetched {
    /// It was said that it shall not.
    Cancelled,
    /// What the browser or the server says.
    Because(String),
}

/// How much of a file has come, and how much there is, as far as that is known.
pub(super) type Came = (u64, Option<u64>);

/// Fetches a file from the site itself, and tells how much of it has come. The browser puts what
/// is large on the disk.
///
/// # Errors
/// If it was given up, or what the browser says.
pub(super) async fn fetch(
    address: &str,
    signal: Option<&AbortSignal>,
    tell: impl Fn(Came),
) -> Result<File, NotFetched> {
    let file = fetch_whole(address, signal, tell).await;
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
    tell: impl Fn(Came),
) -> Result<File, JsValue> {
    let request = RequestInit::new();
    request.set_signal(signal);
    request.set_redirect(RequestRedirect::Manual);
    let asked = gloo_utils::window().fetch_with_str_and_init(address, &request);
    let response: Response = JsFuture::from(asked).await?.dyn_into()?;
    if response.status() == REDIRECTED {
        return Err(NOT_FOLLOWED.into());
    }
    if !response.ok() {
        let status = response.status();
        return Err(format!("the site answered with status {status}").into());
    }
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let total = header("Content-Length").and_then(|length| length.parse().ok());
    let body = response.body().ok_or("the answer is empty")?;
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let (pieces, piece): (Array, Array) = (Array::new(), Array::new());
    let (mut done, mut in_piece) = (0, 0);
    tell((0, total));
    loop {
        let read = JsFuture::from(reader.read()).await?;
        if Reflect::get(&read, &"done".into())?.is_truthy() {
            break;
        }
        let value = Reflect::get(&read, &"value".into())?;
        let len = u64::from(value.unchecked_ref::<Uint8Array>().length());
        piece.push(&value);
        (done, in_piece) = (done + len, in_piece + len);
        if in_piece >= PIECE_BYTES {
            pieces.push(Blob::new_with_u8_array_sequence(&piece)?.as_ref());
            piece.set_length(0);
            in_piece = 0;
        }
        // Where a server compresses what it sends, it tells that length.
        tell((done, total.filter(|total| done <= *total)));
    }
    pieces.push(Blob::new_with_u8_array_sequence(&piece)?.as_ref());
    let options = FilePropertyBag::new();
    if let Some(changed) = header("Last-Modified") {
        let changed_ms = Date::parse(&changed);
        if changed_ms.is_finite() {
            options.set_last_modified(changed_ms);
        }
    }
    File::new_with_blob_sequence_and_options(&pieces, &name_of(address), &options)
}
