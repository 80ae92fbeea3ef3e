//! Reads a log as it comes: whatever the bytes, the pieces that they come in change nothing, and
//! no event is made of bytes of another.
#![no_main]

use eventlog::live::LiveReader;
use eventlog::{LogError, Record};
use libfuzzer_sys::fuzz_target;

/// Where each event stands, of which type it is and when it was; what of the log was lost; why it is none.
type Said = (Vec<(u64, u16, u64)>, u64, Option<LogError>);

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Said {
    let mut events = Vec::new();
    let mut sink = |record: &Record<'_>| events.push((record.offset.0, record.id.0, record.time.0));
    let mut reader = LiveReader::new();
    let feed = || {
        for piece in pieces {
            reader.feed(piece, &mut sink)?;
        }
        reader.finish(&mut sink)
    };
    let error = feed().err();
    (events, reader.lost_bytes(), error)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&size, log)) = bytes.split_first() else {
        return;
    };
    let whole = read(std::iter::once(log));
    let in_pieces = read(log.chunks(usize::from(size) + 1));
    // Of what is no log, one may have heard of the reason later.
    if whole.2.is_none() && in_pieces.2.is_none() {
        assert_eq!(whole, in_pieces);
    } else {
        assert_eq!(whole.2.is_some(), in_pieces.2.is_some());
    }
    let mut places: Vec<u64> = whole.0.iter().map(|event| event.0).collect();
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), count);
});
