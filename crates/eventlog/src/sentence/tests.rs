use super::*;
use crate::EventType;
use crate::header::Parsed;
use crate::ids::CostCentreId;
use crate::status::StopCodes;

fn header() -> Header {
    match Header::parse(b"hdrbhetbhetehdredatb", 0) {
        Ok(Parsed::Header(header, _)) => *header,
        other => panic!("{other:?}"),
    }
}

fn decode(id: u16, payload: &[u8]) -> Event<'_> {
    Event::decode(EventType(id), payload, StopCodes::Standard)
}

fn names() -> Names {
    let mut names = Names::default();
    names.insert(Key::Thread(ThreadId(12)), "worker-3");
    names.insert(Key::CostCentre(CostCentreId(15)), "Main.fib");
    names.insert(Key::CostCentre(CostCentreId(18)), "Main.main");
    names.insert(Key::InfoTable(0x40_FFF8), "Main.sat");
    names.insert(Key::TickyCounter(5), "go");
    names.insert(Key::PerfCounter(2), "cycles");
    names.insert(Key::Interned(2), "a.m:5");
    names.insert(Key::Instrument(9), "hits");
    names.insert(Key::StackText(5), "parse");
    names.insert(Key::StackLocation(9), "A.hs:12:3");
    names
}

fn words(id: u16, fields: &[&[u8]]) -> String {
    sentence(&decode(id, &fields.concat()), &header(), &names())
}

fn be64(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

#[test]
fn every_type_of_the_table_has_a_sentence() {
    for &EventType(id) in EventType::ALL {
        // Terminated texts, followed by further bytes.
        let payload = [[1; 40], [0; 40]].concat();
        let event = decode(id, &payload);
        assert!(!matches!(event, Event::UnknownEvent { .. }), "{id}");
        assert!(
            !sentence(&event, &header(), &Names::default()).is_empty(),
            "{}",
            event.name()
        );
    }
}

#[test]
fn threads_are_named() {
    let thread: &[u8] = &[0, 0, 0, 12];
    let cases = [
        (0, &[][..], "creates thread 12 (worker-3)"),
        (1, &[], "runs thread 12 (worker-3)"),
        (2, &[0, 7], "stops thread 12 (worker-3): blocked on an MVar"),
        (
            2,
            &[0, 8, 0, 0, 0, 12],
            "stops thread 12 (worker-3): blocked on a black hole owned by thread 12 (worker-3)",
        ),
        (4, &[0, 3], "moves thread 12 (worker-3) to capability 3"),
        (8, &[0, 3], "wakes thread 12 (worker-3) on capability 3"),
        (15, &[], "creates thread 12 (worker-3) to run sparks"),
        (44, b"io", "thread 12 is called “io”"),
        (
            64,
            &[0, 0, 0, 2],
            "thread 12 (worker-3) belongs to process 2",
        ),
    ];
    for (id, rest, text) in cases {
        assert_eq!(words(id, &[thread, rest]), text);
    }
    assert_eq!(words(1, &[&[0, 0, 0, 13]]), "runs thread 13");
}

#[test]
fn samples_name_their_cost_centres() {
    let sample = [&[0, 0, 0, 1][..], &be64(7)];
    let stack = |stack: &[u8]| words(167, &[sample[0], sample[1], stack]);
    assert_eq!(
        stack(&[2, 0, 0, 0, 15, 0, 0, 0, 18]),
        "profile sample 7 on capability 1: Main.fib ← Main.main (cost centres 15, 18)"
    );
    assert_eq!(
        stack(&[2, 0, 0, 0, 16, 0, 0, 0, 18]),
        "profile sample 7 on capability 1: unknown ← Main.main (cost centres 16, 18)"
    );
    assert_eq!(
        stack(&[1, 0, 0, 0, 16]),
        "profile sample 7 on capability 1: cost centre 16"
    );
    assert_eq!(stack(&[0]), "profile sample 7 on capability 1: MAIN");
    assert_eq!(
        words(163, &[&[0], &be64(640), &[1, 0, 0, 0, 15]]),
        "heap profile 0: 640 bytes held by Main.fib (cost centre 15)"
    );
    assert_eq!(
        words(164, &[&[0], &be64(640), b"0x40fff8\0"]),
        "heap profile 0: 640 bytes of “0x40fff8” (Main.sat)"
    );
}

#[test]
fn heaps_and_collections() {
    let heap: &[u8] = &[0, 0, 0, 0];
    assert_eq!(
        words(49, &[heap, &be64(1_258_291)]),
        "has allocated 1.2 MiB (1258291 bytes) so far in heap 0"
    );
    let [copied, slop, frag, most, total, balanced] = [2000, 100, 200, 1500, 2000, 500].map(be64);
    let statistics = |threads: &[u8]| {
        words(
            53,
            &[
                heap,
                &[0, 1],
                &copied,
                &slop,
                &frag,
                threads,
                &most,
                &total,
                &balanced,
            ],
        )
    };
    assert_eq!(
        statistics(&[0, 0, 0, 2]),
        "collected generation 1 of heap 0: 2.0 KiB (2000 bytes) copied by 2 threads \
         (in all 2.0 KiB (2000 bytes), at most 1.5 KiB (1500 bytes) by one, 500 bytes in balance), \
         100 bytes of slop, 200 bytes of fragmentation"
    );
    assert_eq!(
        statistics(&[0, 0, 0, 1]),
        "collected generation 1 of heap 0: 2.0 KiB (2000 bytes) copied by 1 thread, \
         100 bytes of slop, 200 bytes of fragmentation"
    );
}

#[test]
fn the_process() {
    assert_eq!(
        words(
            43,
            &[
                &[0, 0, 0, 1],
                &be64(1_795_168_023),
                &231_095_000_u32.to_be_bytes()
            ]
        ),
        "capability set 1: the wall clock says 2026-11-20 09:47:03.231095000 UTC \
         (1795168023 s and 231095000 ns since 1970)"
    );
    assert_eq!(
        words(31, &[&[0, 0, 0, 0], b"TOKEN=hush\0HOME=/root\0odd"]),
        "capability set 0: 3 environment variables (values not shown): TOKEN, HOME, odd"
    );
}

#[test]
fn counters_are_named() {
    assert_eq!(
        words(211, &[&be64(5), &be64(3000), &be64(16), &be64(0)]),
        "ticky counter 5 (go): entered 3000 times, its code allocated 16 bytes, its closures 0 bytes"
    );
    assert_eq!(
        words(142, &[&[0, 0, 0, 2], &be64(99)]),
        "perf tracepoint 2 (cycles) on OS thread 99"
    );
    assert_eq!(
        words(100, &[&be64(0x99), &[0, 0, 0, 2]]),
        "parallel conjunction 0x99 begins, in the source 2 (a.m:5)"
    );
}

#[test]
fn binary_messages() {
    let words = |payload: &[u8]| words(181, &[payload]);
    assert_eq!(words(b""), "binary message of 0 bytes");
    assert_eq!(words(b"0"), "binary message of 1 byte: “0”");
    assert_eq!(words(b"\0\x01\xff"), "binary message of 3 bytes: 0001ff");
    assert!(words(&[0; 65]).ends_with("00…"));
}

#[test]
fn messages_of_opentelemetry() {
    let [seven, nine, ten] = [7_u64, 9, 10].map(u64::to_le_bytes);
    let binary = |kind: u8, fields: &[&[u8]]| words(181, &[b"OT\x03", &[kind], &fields.concat()]);
    let cases = [
        (binary(1, &[&seven, b"request"]), "begins span 7 “request”"),
        (binary(2, &[&seven]), "ends span 7"),
        (
            binary(3, &[&seven, b"key\0value"]),
            "tags span 7: “key” is “value”",
        ),
        (
            binary(4, &[&seven, b"key\0value"]),
            "event in span 7: “key” “value”",
        ),
        (
            binary(5, &[&seven, &nine, &ten]),
            "the parent of span 7 is 0x0000000000000009 in trace 0x000000000000000a",
        ),
        (
            binary(6, &[&seven, &nine]),
            "span 7 is in trace 0x0000000000000009",
        ),
        (
            binary(7, &[&seven, &nine]),
            "the id of span 7 is 0x0000000000000009",
        ),
        (
            binary(8, &[&[1], &nine, b"hits"]),
            "instrument 0x9 is Counter “hits”",
        ),
        (
            binary(9, &[&nine, &nine]),
            "instrument 0x9 (hits) measures 9",
        ),
        (
            words(19, &[b"ot2 begin span 7 request"]),
            "begins span 7 “request”",
        ),
        (
            words(19, &[b"ot2 metric Counter hits -2"]),
            "Counter “hits” measures -2",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(text, format!("opentelemetry: {expected}"));
    }
    // A convention that requires two messages together.
    assert_eq!(words(19, &[b"START 1 request"]), "START 1 request");
    assert_eq!(words(19, &[b"ot2 do the dishes"]), "ot2 do the dishes");
}

#[test]
fn messages_of_the_stack_profiler() {
    let begin: &[u8] = &[0xFF, 0xCA, 0, 0, 0, 2, 0, 0, 0, 12];
    let table = [&[1][..], &be64(0x40_FFF8)].concat();
    let annotation = [&[3][..], &be64(5), &be64(9)].concat();
    let unknown = [&[3][..], &be64(6), &be64(8)].concat();
    assert_eq!(
        words(181, &[begin, &[0, 3], &table, &annotation, &unknown]),
        "stack of thread 12 (worker-3) on capability 2: 3 frames: \
         Main.sat, “parse” at A.hs:12:3, text 6 at location 8"
    );
    assert_eq!(
        words(181, &[begin, &[0, 1], &table]),
        "stack of thread 12 (worker-3) on capability 2: 1 frame: Main.sat"
    );
    assert_eq!(
        words(181, &[&[0xFF, 0xCC], &be64(5), b"\0\x05parse"]),
        "stack profiler: text 5 is “parse”"
    );
}

#[test]
fn an_unknown_event_keeps_its_bytes() {
    assert_eq!(words(0, &[&[1, 2]]), "unknown event 0 (undeclared): 0102");
}

#[test]
fn what_stands_before_a_sentence_stays() {
    let mut out = "12 ".to_owned();
    write_sentence(&mut out, &decode(9, &[]), &header(), &Names::default());
    assert_eq!(out, "12 starts a garbage collection");
}
