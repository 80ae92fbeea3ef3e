//! Decodes the payload of one event.
#![no_main]

use eventlog::header::{Header, Parsed};
use eventlog::sentence::sentence;
use eventlog::{Event, EventType, Names};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((id, payload)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let Ok(Parsed::Header(mut header, _)) = Header::parse(b"hdrbhetbhetehdredatb", 0) else {
        unreachable!("this is a header");
    };
    let codes = header.stop_codes;
    for stop_codes in [codes, eventlog::status::StopCodes::Ghc782] {
        header.stop_codes = stop_codes;
        let event = Event::decode(EventType(u16::from_be_bytes(*id)), payload, stop_codes);
        assert!(!event.name().is_empty());
        assert!(event.fields().len() < 20);
        let words = sentence(&event, &header, &Names::default());
        assert!(words.len() <= 1000 + 20 * payload.len());
    }
});
