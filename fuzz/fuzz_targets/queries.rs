//! Opens a log in pieces and sends every kind of query while it is read and afterward. The first two bytes are
//! the number of following bytes that determine the queries; the rest is the log.
#![no_main]

#[path = "../../tests/common/asking.rs"]
mod asking;

use asking::{Choices, open_and_ask};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[high, low], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let choices = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
    let (choices, log) = rest.split_at(choices);
    // Not every input is a log.
    drop(open_and_ask(log, &mut Choices::new(choices)));
});
