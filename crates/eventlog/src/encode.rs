//! Encoder for the header of a log.

use crate::event::EventType;

/// Encodes a header that declares the given types: number, payload size in bytes (`None` if each event carries its
/// length), description. The first block follows it.
pub fn header_bytes<'a>(
    types: impl IntoIterator<Item = (EventType, Option<u16>, &'a str)>,
) -> Vec<u8> {
    let mut out = b"hdrbhetb".to_vec();
    for (id, size, description) in types {
        let len = u32::try_from(description.len()).unwrap_or(u32::MAX);
        out.extend(b"etb\0");
        out.extend(id.0.to_be_bytes());
        out.extend(size.unwrap_or(u16::MAX).to_be_bytes());
        out.extend(len.to_be_bytes());
        out.extend(description.as_bytes());
        // The extra-information field of a declaration is always empty.
        out.extend([0; 4]);
        out.extend(b"ete\0");
    }
    out.extend(b"hetehdredatb");
    out
}
