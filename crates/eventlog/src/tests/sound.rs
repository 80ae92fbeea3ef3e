//! Valid logs are read without damage: any valid event right before the end is read as it is.

use crate::source::read_log;
use crate::{EventType, Record};
use proptest::prelude::*;

/// Encodes a log that declares these types, with two runs of a thread, `event`, and the end; inside a block or
/// not.
fn log(types: &[(u16, Option<u16>)], event: &[u8], in_block: bool) -> Vec<u8> {
    let mut log = b"hdrbhetb".to_vec();
    for (id, size) in types {
        log.extend(b"etb\0");
        log.extend(id.to_be_bytes());
        log.extend(size.unwrap_or(0xFFFF).to_be_bytes());
        log.extend([0; 4]);
        log.extend([0; 4]);
        log.extend(b"ete\0");
    }
    log.extend(b"hetehdredatb");
    let mut events = Vec::new();
    for (time, thread) in [(1000_u64, 7_u32), (2000, 8)] {
        events.extend(EventType::RUN_THREAD.0.to_be_bytes());
        events.extend(time.to_be_bytes());
        events.extend(thread.to_be_bytes());
    }
    events.extend(event);
    if in_block {
        log.extend(EventType::BLOCK_MARKER.0.to_be_bytes());
        log.extend(500_u64.to_be_bytes());
        log.extend((24 + events.len() as u32 + 2).to_be_bytes());
        log.extend(90_000_000_u64.to_be_bytes());
        log.extend([0, 0]);
    }
    log.extend(events);
    log.extend([0xFF, 0xFF]);
    log
}

/// Returns the types in the table with their minimum sizes, and those that a reader requires.
fn types() -> Vec<(u16, Option<u16>)> {
    let mut types: Vec<_> = EventType::ALL
        .iter()
        .map(|id| {
            let fixed = id.expected_class() == Some(crate::event::SizeClass::Fixed);
            (id.0, fixed.then_some(id.min_payload_bytes().unwrap_or(0)))
        })
        .collect();
    types.push((EventType::BLOCK_MARKER.0, Some(14)));
    types
}

fn last_event(log: &[u8]) -> (Vec<(u16, u64, Vec<u8>)>, u64) {
    let mut events = Vec::new();
    let mut sink = |record: &Record<'_>| {
        events.push((record.id.0, record.time.0, record.payload.to_vec()));
    };
    let reader = read_log(&mut { log }, &mut sink).expect("a log");
    let accounting = reader.accounting().expect("it is read");
    assert_eq!(accounting.total(), log.len() as u64);
    (events, reader.damage().count())
}

fn event(id: u16, size: Option<u16>, time: u64, payload: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let payload = match size {
        Some(size) => payload.iter().copied().cycle().take(size.into()).collect(),
        None => payload.to_vec(),
    };
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(time.to_be_bytes());
    if size.is_none() {
        bytes.extend((payload.len() as u16).to_be_bytes());
    }
    bytes.extend(&payload);
    (bytes, payload)
}

/// A profile sample with a stack of one cost centre, right before the end: its zeros look like the creation of a
/// thread.
#[test]
fn a_profile_sample_at_the_end() {
    let sample = b"\0\0\0\0\0\0\0\0\0\0\0\xF7\x01\0\0\0\xBC";
    let id = EventType::PROF_SAMPLE_COST_CENTRE.0;
    let (bytes, _) = event(id, None, 63_000, sample);
    for in_block in [true, false] {
        let (events, damage) = last_event(&log(&types(), &bytes, in_block));
        assert_eq!(damage, 0);
        assert_eq!(events.len(), 3);
        assert_eq!(events.last(), Some(&(id, 63_000, sample.to_vec())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_last_event_is_what_it_is(
        which in any::<prop::sample::Index>(),
        time in 2000..9_000_000_u64,
        payload in prop_oneof![
            prop::collection::vec(any::<u8>(), 1..300),
            // From 22 bytes on, together with their length, they may form two whole events of suitable times, and
            // are then read as these.
            prop::collection::vec(prop_oneof![Just(0), Just(1), Just(0xFF)], 1..22),
        ],
        in_block in any::<bool>(),
    ) {
        let types = types();
        let (id, size) = types[which.index(types.len() - 1)];
        // GHC declares one byte more for these than it writes: their length is derived from their content, which
        // cannot be arbitrary.
        prop_assume!(id != EventType::IPE.0);
        // Repeated zeros and ones, up to a large size, may form whole events.
        let like_events = payload.iter().all(|byte| matches!(byte, 0 | 1 | 0xFF));
        prop_assume!(!(like_events && size.is_some_and(|size| size >= 24)));
        let (bytes, payload) = event(id, size, time, &payload);
        let (events, damage) = last_event(&log(&types, &bytes, in_block));
        prop_assert_eq!(damage, 0, "type {} {:?}", id, events);
        prop_assert_eq!(events.len(), 3);
        prop_assert_eq!(events.last(), Some(&(id, time, payload)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Arbitrary bytes behind the end marker, in the last block or outside, change no event and are reported once.
    #[test]
    fn bytes_after_the_end_change_no_event(
        behind in prop_oneof![
            prop::collection::vec(any::<u8>(), 1..400),
            prop::collection::vec(prop_oneof![Just(0), Just(0xFF)], 1..60),
            prop::collection::vec(Just(0_u8), 1..9000),
        ],
        in_block in any::<bool>(),
    ) {
        let whole = log(&types(), &[], in_block);
        let (events, _) = last_event(&whole);
        let (with_more, damage) = last_event(&[&whole[..], &behind].concat());
        prop_assert_eq!(events, with_more);
        // A second end marker is accepted.
        let is_marker_again = behind == [0xFF, 0xFF];
        prop_assert_eq!(damage, u64::from(!(in_block && is_marker_again)));
    }
}

/// Encodes a log with a block in which a binary message holds `inner`, with events before and behind it.
fn with_binary_message(inner: &[u8], last_time: u64) -> Vec<u8> {
    let event = |id: EventType, time: u64, payload: &[u8]| {
        let mut event = id.0.to_be_bytes().to_vec();
        event.extend(time.to_be_bytes());
        if id.expected_class() == Some(crate::event::SizeClass::Variable) {
            event.extend((payload.len() as u16).to_be_bytes());
        }
        event.extend(payload);
        event
    };
    let mut last = event(EventType::USER_BINARY_MSG, 2040, inner);
    last.extend(event(EventType::USER_MSG, last_time, b"next"));
    last.extend(event(EventType::RUN_THREAD, last_time + 100, &[0, 0, 0, 9]));
    log(&types(), &last, true)
}

/// A program may log any bytes, even ones that look like events.
#[test]
fn a_binary_message_is_never_cut() {
    let whole = |id: EventType, time: u64, payload: &[u8]| {
        let mut event = id.0.to_be_bytes().to_vec();
        event.extend(time.to_be_bytes());
        event.extend(payload);
        event
    };
    let text = [&[0, 5][..], b"words"].concat();
    let inner = [
        whole(EventType::USER_MSG, 2050, &text),
        whole(EventType::RUN_THREAD, 2060, &[0, 0, 0x10, 0x92]),
        whole(EventType::GC_START, 2070, &[]),
        whole(EventType::GC_END, 2080, &[]),
    ];
    for count in 2..=inner.len() {
        for last_time in [2100, 2100 + crate::recovery::LONG_PAUSE] {
            for before in [&b""[..], b"payload:"] {
                let inner = [before, &inner[..count].concat()].concat();
                let log = with_binary_message(&inner, last_time);
                let (events, damage) = last_event(&log);
                assert_eq!(events.len(), 5, "{events:?}");
                assert_eq!(events[2].2, inner);
                assert_eq!(damage, 0);
            }
        }
    }
}
