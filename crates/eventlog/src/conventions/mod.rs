//! Decoders for user messages that follow the convention of a library. To the runtime they are opaque bytes
//! (`traceBinaryEvent`) or text (`traceEvent`). A message that deviates from the layout in any byte is an ordinary
//! message.

pub mod opentelemetry;
pub mod stack_profiler;

use opentelemetry::Telemetry;
use stack_profiler::StackMessage;

/// A message with a known layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Convention<'a> {
    /// Message of the package opentelemetry.
    Telemetry(Telemetry<'a>),
    /// Message of the package ghc-stack-profiler.
    Stack(StackMessage<'a>),
}

impl<'a> Convention<'a> {
    /// Decodes a binary message, if it follows a convention.
    pub fn parse_bytes(payload: &'a [u8]) -> Option<Self> {
        let telemetry = Telemetry::parse_bytes(payload).map(Self::Telemetry);
        telemetry.or_else(|| StackMessage::parse_bytes(payload).map(Self::Stack))
    }

    /// Decodes a text message, if it follows a convention.
    pub fn parse_text(text: &'a [u8]) -> Option<Self> {
        Telemetry::parse_text(text).map(Self::Telemetry)
    }
}

/// Splits off the first `N` bytes.
fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sentence::write_telemetry_or_stack;

    /// Generates bytes that often begin like a message.
    fn payloads() -> impl Strategy<Value = Vec<u8>> {
        let begins: Vec<&[u8]> = vec![
            b"",
            b"OT\x03\x01",
            b"OT\x03\x03",
            b"OT\x03\x04",
            b"OT\x03\x05",
            b"OT\x03\x08",
            b"OT\x03\x09",
            b"\xFF\xC0",
            b"\xFF\xCA",
            b"\xFF\xCA\0\0\0\0\0\0\0\x01\0\x02\x01",
            b"\xFF\xCC",
            b"\xFF\xCC\0\0\0\0\0\0\0\x01\0\x02",
            b"\xFF\xCD",
            b"ot2 ",
            b"ot2 begin span 1 ",
            b"ot2 metric ",
        ];
        let tail = proptest::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..64);
        (proptest::sample::select(begins), tail).prop_map(|(begin, tail)| [begin, &tail].concat())
    }

    proptest! {
        #[test]
        fn no_bytes_panic(payload in payloads()) {
            let found = [Convention::parse_bytes(&payload), Convention::parse_text(&payload)];
            for found in found.into_iter().flatten() {
                let words = write_telemetry_or_stack(&found);
                prop_assert!(!words.is_empty());
                prop_assert!(words.len() <= 1000 + 20 * payload.len());
            }
        }
    }
}
