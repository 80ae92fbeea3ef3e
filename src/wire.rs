//! How messages travel between page and worker: an object with the control
//! message, and beside it columns whose memory is handed over, or a file.

use js_sys::{
    Array, Float32Array, Float64Array, Object, Reflect, Uint8Array, Uint16Array, Uint32Array,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{File, MessageEvent, MessagePort};

use model::marks::{GraphColumns, TimelineReply};
use views::flame::query::FlameBoxes;

const MESSAGE: &str = "message";
const COLUMNS: &str = "columns";
const FILE: &str = "file";

/// An envelope with a control message. Numbers beyond 2⁵³ travel as `BigInt`.
#[must_use]
pub fn envelope(message: &impl Serialize) -> Object {
    let serializer =
        serde_wasm_bindgen::Serializer::new().serialize_large_number_types_as_bigints(true);
    let object = Object::new();
    if let Ok(value) = message.serialize(&serializer) {
        set(&object, MESSAGE, &value);
    }
    object
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

/// Puts a file into an envelope: a handle, not its bytes.
pub fn attach_file(envelope: &Object, file: &File) {
    set(envelope, FILE, file);
}

/// Puts columns into an envelope. The result is what `postMessage` hands over
/// instead of copying.
#[must_use]
pub fn attach_columns(envelope: &Object, columns: &Array) -> Array {
    set(envelope, COLUMNS, columns);
    columns
        .iter()
        .filter_map(|column| get(&column, "buffer"))
        .collect()
}

/// The control message of an envelope.
///
/// # Errors
/// If it is not one of this version of the program.
pub fn message<T: DeserializeOwned>(envelope: &JsValue) -> Result<T, String> {
    let value = get(envelope, MESSAGE).unwrap_or(JsValue::UNDEFINED);
    serde_wasm_bindgen::from_value(value).map_err(|error| error.to_string())
}

/// The file of an envelope.
#[must_use]
pub fn file(envelope: &JsValue) -> Option<File> {
    get(envelope, FILE)?.dyn_into().ok()
}

/// The port that came with a message.
#[must_use]
pub fn port(event: &MessageEvent) -> Option<MessagePort> {
    event.ports().get(0).dyn_into().ok()
}

/// The columns of an envelope.
#[must_use]
pub fn columns(envelope: &JsValue) -> Option<Array> {
    get(envelope, COLUMNS)?.dyn_into().ok()
}

/// The columns of a timeline's answer.
#[must_use]
pub fn timeline_columns(reply: &TimelineReply) -> Array {
    Array::of(&[
        Uint32Array::from(reply.row.as_slice()).into(),
        Uint8Array::from(reply.kind.as_slice()).into(),
        Uint8Array::from(reply.class.as_slice()).into(),
        Uint8Array::from(reply.code.as_slice()).into(),
        Float64Array::from(reply.start.as_slice()).into(),
        Float64Array::from(reply.end.as_slice()).into(),
        Uint32Array::from(reply.detail.as_slice()).into(),
        Float64Array::from(reply.other_wait_ns.as_slice()).into(),
        Uint32Array::from(reply.count.as_slice()).into(),
        Float32Array::from(reply.shares.as_slice()).into(),
        Uint32Array::from(reply.graph.row.as_slice()).into(),
        Uint8Array::from(reply.graph.series.as_slice()).into(),
        Float64Array::from(reply.graph.start.as_slice()).into(),
        Float64Array::from(reply.graph.end.as_slice()).into(),
        Float64Array::from(reply.graph.min.as_slice()).into(),
        Float64Array::from(reply.graph.max.as_slice()).into(),
        Float64Array::from(reply.graph.last.as_slice()).into(),
    ])
}

/// A timeline's answer from its columns.
#[must_use]
pub fn timeline_reply(columns: &Array) -> Option<TimelineReply> {
    let bytes = |at| Some(columns.get(at).dyn_into::<Uint8Array>().ok()?.to_vec());
    let numbers = |at| Some(columns.get(at).dyn_into::<Uint32Array>().ok()?.to_vec());
    let reals = |at| Some(columns.get(at).dyn_into::<Float64Array>().ok()?.to_vec());
    Some(TimelineReply {
        row: numbers(0)?,
        kind: bytes(1)?,
        class: bytes(2)?,
        code: bytes(3)?,
        start: reals(4)?,
        end: reals(5)?,
        detail: numbers(6)?,
        other_wait_ns: reals(7)?,
        count: numbers(8)?,
        shares: columns.get(9).dyn_into::<Float32Array>().ok()?.to_vec(),
        graph: GraphColumns {
            row: numbers(10)?,
            series: bytes(11)?,
            start: reals(12)?,
            end: reals(13)?,
            min: reals(14)?,
            max: reals(15)?,
            last: reals(16)?,
        },
    })
}

/// The columns of a flame graph's answer.
#[must_use]
pub fn flame_columns(boxes: &FlameBoxes) -> Array {
    Array::of(&[
        Uint16Array::from(boxes.depth.as_slice()).into(),
        Float64Array::from(boxes.left.as_slice()).into(),
        Float64Array::from(boxes.width.as_slice()).into(),
        Uint32Array::from(boxes.frame.as_slice()).into(),
        Float64Array::from(boxes.own.as_slice()).into(),
        Float64Array::from(boxes.total.as_slice()).into(),
        Float64Array::from(boxes.count.as_slice()).into(),
        Uint32Array::from(boxes.merged.as_slice()).into(),
        Uint32Array::from(boxes.stack.as_slice()).into(),
        Float64Array::from(boxes.before.as_slice()).into(),
    ])
}

/// A flame graph's boxes from their columns.
#[must_use]
pub fn flame_boxes(columns: &Array) -> Option<FlameBoxes> {
    let numbers = |at| Some(columns.get(at).dyn_into::<Uint32Array>().ok()?.to_vec());
    let reals = |at| Some(columns.get(at).dyn_into::<Float64Array>().ok()?.to_vec());
    Some(FlameBoxes {
        depth: columns.get(0).dyn_into::<Uint16Array>().ok()?.to_vec(),
        left: reals(1)?,
        width: reals(2)?,
        frame: numbers(3)?,
        own: reals(4)?,
        total: reals(5)?,
        count: reals(6)?,
        merged: numbers(7)?,
        stack: numbers(8)?,
        before: reals(9)?,
    })
}

/// The bytes of a file as a column.
#[must_use]
pub fn file_columns(bytes: &[u8]) -> Array {
    Array::of1(&Uint8Array::from(bytes).into())
}
