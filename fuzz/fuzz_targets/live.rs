//! Reads a log as a stream: for any bytes, the result does not depend on the pieces in which they arrive, and
//! events do not overlap.
#![no_main]

use eventlog::live::LiveReader;
use eventlog::{LogError, Record};
use libfuzzer_sys::fuzz_target;

/// Offset, type and time of each event; lost bytes; the error if it is not a log.
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
    // For input that is not a log, the error may be found at another point.
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
