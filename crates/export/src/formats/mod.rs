//! The export formats, one file each.

mod chrome;
mod csv;
mod firefox;
mod jsonl;
mod openmetrics;
mod otlp;
pub mod parquet;
pub mod perfetto;

use crate::format::Format;

/// All formats, in listing order.
pub const FORMATS: [&Format; 9] = [
    &parquet::FORMAT,
    &csv::FORMAT,
    &jsonl::FORMAT,
    &perfetto::FORMAT,
    &chrome::FORMAT,
    &firefox::FORMAT,
    &otlp::PROTOBUF,
    &otlp::JSON,
    &openmetrics::FORMAT,
];

/// Returns the format with this name.
pub fn find_format(name: &str) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| format.name == name)
}
