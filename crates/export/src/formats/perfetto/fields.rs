//! Encoding of the messages that nearly all of a trace consists of, field by field: building [`messages`] first
//! takes several times as long, as each text and list would be allocated.
//!
//! [`messages`]: super::messages

use prost::encoding::{WireType, encode_key, encode_varint};

/// Encoded fields of a message; callers add them in ascending order of their tags.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<u8>);

impl Fields {
    /// Adds a field of any integer type that is not negative, a truth value, or a member of an enumeration.
    pub(super) fn number(&mut self, tag: u32, number: u64) {
        encode_key(tag, WireType::Varint, &mut self.0);
        encode_varint(number, &mut self.0);
    }

    /// Adds a field of type `fixed64`.
    pub(super) fn fixed(&mut self, tag: u32, number: u64) {
        encode_key(tag, WireType::SixtyFourBit, &mut self.0);
        self.0.extend(number.to_le_bytes());
    }

    /// Adds a text or an encoded message.
    pub(super) fn bytes(&mut self, tag: u32, bytes: &[u8]) {
        encode_key(tag, WireType::LengthDelimited, &mut self.0);
        encode_varint(bytes.len() as u64, &mut self.0);
        self.0.extend(bytes);
    }
}
