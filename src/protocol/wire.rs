//! Encoding of messages between page and worker: an object with the control message and, separately, a query
//! or an answer, columns whose buffers are transferred, or a file.

use std::cell::RefCell;

use js_sys::{
    Array, ArrayBuffer, BigUint64Array, Float32Array, Float64Array, Object, Reflect, Uint8Array,
    Uint16Array, Uint32Array,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{File, FileSystemFileHandle, MessageChannel, MessageEvent, MessagePort};

use analysis::segment::Segment;
use session::Job;
use session::query::{Column, Columns};

const MESSAGE: &str = "message";
const BODY: &str = "body";
const COLUMNS: &str = "columns";
const FILE: &str = "file";
const HANDLE: &str = "handle";
const FILES: &str = "files";
const PACKED: &str = "packed";

/// Creates an envelope with a control message.
pub fn envelope(message: &impl Serialize) -> Object {
    let object = Object::new();
    attach_value(&object, MESSAGE, message);
    object
}

/// Adds a query or an answer to an envelope.
pub fn attach_body(envelope: &Object, body: &impl Serialize) {
    attach_value(envelope, BODY, body);
}

/// Serializes numbers beyond 2⁵³ as `BigInt`.
fn attach_value(envelope: &Object, key: &str, value: &impl Serialize) {
    let serializer =
        serde_wasm_bindgen::Serializer::new().serialize_large_number_types_as_bigints(true);
    if let Ok(value) = value.serialize(&serializer) {
        set(envelope, key, &value);
    }
}

fn set(object: &Object, key: &str, value: &JsValue) {
    // Setting a property of a plain object cannot fail.
    let _ = Reflect::set(object, &key.into(), value);
}

fn get(envelope: &JsValue, key: &str) -> Option<JsValue> {
    Reflect::get(envelope, &key.into())
        .ok()
        .filter(|value| !value.is_undefined())
}

/// Adds a file to an envelope, as a handle without its bytes.
pub fn attach_file(envelope: &Object, file: &File) {
    set(envelope, FILE, file);
}

/// A file that may be written to, with a handle to get its current version: browsers do not allow reading a
/// version that is outdated.
#[derive(Clone, Debug)]
pub struct LiveFile {
    /// The version obtained last.
    pub file: File,
    /// Handle to get the current version; `None` if the file does not change.
    pub handle: Option<FileSystemFileHandle>,
}

impl From<File> for LiveFile {
    fn from(file: File) -> Self {
        let handle = None;
        Self { file, handle }
    }
}

/// Adds a file and its handle to an envelope.
pub fn attach_live_file(envelope: &Object, live: &LiveFile) {
    attach_file(envelope, &live.file);
    if let Some(handle) = &live.handle {
        set(envelope, HANDLE, handle);
    }
}

/// Adds several files to an envelope.
pub fn attach_files(envelope: &Object, files: &[File]) {
    set(envelope, FILES, &files.iter().collect::<Array>());
}

/// Returns the files in an envelope.
pub fn files(envelope: &JsValue) -> Vec<File> {
    let files = get(envelope, FILES).map(|files| Array::from(&files));
    let all = files.into_iter().flatten();
    all.filter_map(|file| file.dyn_into().ok()).collect()
}

/// Moves columns into an envelope. Returns the buffers for `postMessage` to transfer instead of copying.
pub fn attach_columns(envelope: &Object, columns: &mut dyn Columns) -> Array {
    let (object, transfer) = (Object::new(), Array::new());
    columns.for_each(&mut |name, column| {
        set(&object, name, &to_typed_array(column, &transfer));
    });
    set(envelope, COLUMNS, &object);
    transfer
}

/// Moves a column into a typed array, and adds its buffer to `transfer`.
fn to_typed_array(column: Column<'_>, transfer: &Array) -> JsValue {
    let array: JsValue = match column {
        Column::U8(numbers) => Uint8Array::from(std::mem::take(numbers).as_slice()).into(),
        Column::U16(numbers) => Uint16Array::from(std::mem::take(numbers).as_slice()).into(),
        Column::U32(numbers) => Uint32Array::from(std::mem::take(numbers).as_slice()).into(),
        Column::U64(numbers) => BigUint64Array::from(std::mem::take(numbers).as_slice()).into(),
        Column::F32(numbers) => Float32Array::from(std::mem::take(numbers).as_slice()).into(),
        Column::F64(numbers) => Float64Array::from(std::mem::take(numbers).as_slice()).into(),
    };
    if let Some(buffer) = get(&array, "buffer") {
        transfer.push(&buffer);
    }
    array
}

/// Fills a column from a typed array; it stays empty if the type differs.
fn from_typed_array(column: Column<'_>, array: Option<JsValue>) {
    fn cast<T: JsCast>(array: Option<JsValue>) -> Option<T> {
        array?.dyn_into().ok()
    }
    match column {
        Column::U8(numbers) => {
            *numbers = cast(array).map_or_else(Vec::new, |a: Uint8Array| a.to_vec());
        }
        Column::U16(numbers) => {
            *numbers = cast(array).map_or_else(Vec::new, |a: Uint16Array| a.to_vec());
        }
        Column::U32(numbers) => {
            *numbers = cast(array).map_or_else(Vec::new, |a: Uint32Array| a.to_vec());
        }
        Column::U64(numbers) => {
            *numbers = cast(array).map_or_else(Vec::new, |a: BigUint64Array| a.to_vec());
        }
        Column::F32(numbers) => {
            *numbers = cast(array).map_or_else(Vec::new, |a: Float32Array| a.to_vec());
        }
        Column::F64(numbers) => {
            *numbers = cast(array).map_or_else(Vec::new, |a: Float64Array| a.to_vec());
        }
    }
}

/// Adds a slice to be analyzed to an envelope.
pub fn attach_job(envelope: &Object, job: &Job) {
    drop(attach_packed(envelope, job));
}

/// Returns the slice to be analyzed in an envelope.
///
/// # Errors
/// If it cannot be decoded, as from another version of the program.
pub fn job(envelope: &JsValue) -> Result<Job, String> {
    packed(envelope)
}

/// Adds the analysis of a slice to an envelope. Returns the buffers for `postMessage` to transfer.
pub fn attach_segment(envelope: &Object, mut segment: Segment) -> Array {
    let (list, transfer) = (Array::new(), Array::new());
    segment.columns(&mut |column| {
        list.push(&to_typed_array(column, &transfer));
    });
    set(envelope, COLUMNS, &list);
    transfer.push(&attach_packed(envelope, &segment));
    transfer
}

/// Returns the analysis of a slice in an envelope.
///
/// # Errors
/// If it cannot be decoded, as from another version of the program.
pub fn segment(envelope: &JsValue) -> Result<Segment, String> {
    let mut segment: Segment = packed(envelope)?;
    let list: Array = get(envelope, COLUMNS).unwrap_or_default().unchecked_into();
    let (mut place, used) = (0, Array::new());
    segment.columns(&mut |column| {
        let array = list.get(place);
        if let Some(buffer) = get(&array, "buffer") {
            used.push(&buffer);
        }
        from_typed_array(column, Some(array));
        place += 1;
    });
    release(&used);
    Ok(segment)
}

/// Frees `ArrayBuffer`s early by transferring them to a port that is then closed.
///
/// Browsers collect buffers lazily, while hundreds of megabytes may arrive. `ArrayBuffer.transfer` does not help:
/// Chromium keeps buffers that it created itself (from a file or a message) until garbage collection, but does
/// not count them any more.
pub fn release(buffers: &Array) {
    let bytes = buffers.iter().map(|buffer| {
        let buffer = buffer.dyn_ref::<ArrayBuffer>();
        buffer.map_or(0, ArrayBuffer::byte_length)
    });
    let bytes = bytes.sum();
    RELEASER.with_borrow_mut(|nobody| {
        if nobody.is_none() {
            *nobody = BufferReleaser::new();
        }
        if let Some(port) = nobody {
            port.add(buffers, bytes);
        }
        nobody.take_if(|port| port.held_bytes >= RELEASE_BATCH_BYTES);
    });
}

/// Bytes to accumulate before the ports are closed, which takes half a millisecond.
const RELEASE_BATCH_BYTES: u32 = 4 << 20;

thread_local! {
    static RELEASER: RefCell<Option<BufferReleaser>> = const { RefCell::new(None) };
}

/// A channel without a receiver: transferred buffers are held until its ports are closed.
struct BufferReleaser {
    channel: MessageChannel,
    held_bytes: u32,
}

impl BufferReleaser {
    fn new() -> Option<Self> {
        Some(Self {
            channel: MessageChannel::new().ok()?,
            held_bytes: 0,
        })
    }

    fn add(&mut self, buffers: &Array, bytes: u32) {
        self.held_bytes = self.held_bytes.saturating_add(bytes);
        let port = self.channel.port1();
        // Fails if a buffer was transferred before; all buffers then stay as they are.
        drop(port.post_message_with_transferable(&JsValue::NULL, buffers));
    }
}

impl Drop for BufferReleaser {
    fn drop(&mut self) {
        self.channel.port1().close();
        self.channel.port2().close();
    }
}

/// Adds large data that is not numeric, encoded as bytes, as objects would be far slower. Returns the buffer,
/// which may be transferred.
fn attach_packed(envelope: &Object, value: &impl Serialize) -> ArrayBuffer {
    // Plain data can always be encoded.
    let bytes = bitcode::serialize(value).unwrap_or_default();
    let bytes = Uint8Array::from(bytes.as_slice());
    set(envelope, PACKED, &bytes);
    bytes.buffer()
}

fn packed<T: DeserializeOwned>(envelope: &JsValue) -> Result<T, String> {
    let bytes: Uint8Array = get(envelope, PACKED).unwrap_or_default().unchecked_into();
    let packed = bytes.to_vec();
    release(&Array::of1(&bytes.buffer()));
    bitcode::deserialize(&packed).map_err(|error| error.to_string())
}

/// Fills columns from an envelope; missing ones stay empty.
pub fn fill_columns(envelope: &JsValue, columns: &mut dyn Columns) {
    columns.for_each(&mut |name, numbers| from_typed_array(numbers, column(envelope, name)));
}

/// Returns one column of an envelope as a typed array.
pub fn column(envelope: &JsValue, name: &str) -> Option<JsValue> {
    get(&get(envelope, COLUMNS)?, name)
}

/// Returns the control message of an envelope.
///
/// # Errors
/// If it cannot be decoded, as from another version of the program.
pub fn message<T: DeserializeOwned>(envelope: &JsValue) -> Result<T, String> {
    extract(envelope, MESSAGE)
}

/// Returns the query or answer of an envelope.
///
/// # Errors
/// If it cannot be decoded, as from another version of the program.
pub fn body<T: DeserializeOwned>(envelope: &JsValue) -> Result<T, String> {
    extract(envelope, BODY)
}

fn extract<T: DeserializeOwned>(envelope: &JsValue, key: &str) -> Result<T, String> {
    let value = get(envelope, key).unwrap_or(JsValue::UNDEFINED);
    serde_wasm_bindgen::from_value(value).map_err(|error| error.to_string())
}

/// Returns the file of an envelope, with its handle if there is one.
pub fn live_file(envelope: &JsValue) -> Option<LiveFile> {
    let handle = get(envelope, HANDLE).and_then(|handle| handle.dyn_into().ok());
    let file = file(envelope)?;
    Some(LiveFile { file, handle })
}

/// Returns the file of an envelope.
pub fn file(envelope: &JsValue) -> Option<File> {
    get(envelope, FILE)?.dyn_into().ok()
}

/// Returns the port transferred with a message.
pub fn port(event: &MessageEvent) -> Option<MessagePort> {
    event.ports().get(0).dyn_into().ok()
}
