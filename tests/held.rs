//! Memory held by the runtime compared with live data: on every log against its events, on synthetic logs number
//! by number, and its sentences.

use crate::common;

use std::fmt::Write as _;

use analysis::heap::memory::{HeldMemory, MemoryMoment, MemoryPart};
use analysis::numbers::collections_query::CollectionsQuery;
use common::build::{EventTypeDecl, LogBuilder};
use common::{Case, expected_coverage, fixture, for_all, span};
use eventlog::ids::Nanos;
use eventlog::source::read_log;
use eventlog::{Event, Record};
use model::time::Interval;
use session::queries::{HeldMemoryQuery, SummaryQuery};
use session::{Session, read_session};
use views::words::held::{headline, missing, reasons};

/// Memory numbers that the runtime logs after a collection.
#[derive(Clone, Copy, Debug, Default)]
struct RuntimeMemory {
    slop: u64,
    free: u64,
    live: Option<u64>,
    held: Option<u64>,
    blocks: Option<u64>,
    /// Megablocks: held before, needed, returned.
    returned: Option<[u64; 3]>,
}

fn runtime_memory(mut bytes: &[u8]) -> Vec<RuntimeMemory> {
    let mut all: Vec<RuntimeMemory> = Vec::new();
    let mut told_return = None;
    let mut see = |record: &Record<'_>| match record.event() {
        Event::GCStatsGHC { slop, frag, .. } => all.push(RuntimeMemory {
            slop,
            free: frag,
            returned: told_return.take(),
            ..RuntimeMemory::default()
        }),
        Event::MemReturn {
            current,
            needed,
            returned,
            ..
        } => told_return = Some([current, needed, returned].map(u64::from)),
        event => {
            let Some(last) = all.last_mut() else { return };
            match event {
                Event::HeapLive { live_bytes, .. } => last.live = Some(live_bytes),
                Event::HeapSize { size_bytes, .. } => last.held = Some(size_bytes),
                Event::BlocksSize { blocks_size, .. } => last.blocks = Some(blocks_size),
                _ => {}
            }
        }
    };
    read_log(&mut bytes, &mut see).expect("it was read before");
    all
}

fn moments(held: &HeldMemory) -> impl Iterator<Item = &MemoryMoment> {
    let ends = [&held.peak, &held.last_major, &held.last];
    ends.into_iter()
        .flatten()
        .chain(held.slices.iter().flatten())
}

/// The parts add up to the memory held, in any range.
fn check_sums(held: &HeldMemory) -> Result<usize, String> {
    let mut count = 0;
    for moment in moments(held) {
        let (total, of) = (moment.parts.total(), moment.held_bytes);
        if total != of {
            return Err(format!("{total} of {of} bytes: {moment:?}"));
        }
        let peak = held.peak.map_or(0, |peak| peak.held_bytes);
        if of > peak {
            return Err(format!("more than at the peak: {moment:?}"));
        }
        count += 1;
    }
    Ok(count)
}

/// Compares each collection with its own events.
fn check_collections(session: &Session, case: &Case) -> Result<usize, String> {
    let query = CollectionsQuery {
        rows: 0..u64::MAX,
        ..CollectionsQuery::default()
    };
    let rows = session.ask(&query).rows;
    let told_ones = rows.iter().filter(|gc| gc.generation.is_some());
    let told = runtime_memory(&case.bytes());
    let mut count = 0;
    for (gc, told) in told_ones.zip(&told) {
        let range = span(gc.start.0, gc.start.0 + 1);
        let Some(moment) = session.ask(&HeldMemoryQuery(Some(range))).last else {
            continue;
        };
        if moment.collection != gc.number || told.held.is_none() {
            continue;
        }
        check_collection(&moment, told).map_err(|why| format!("{why}: {told:?} {moment:?}"))?;
        count += 1;
    }
    Ok(count)
}

fn check_collection(moment: &MemoryMoment, told: &RuntimeMemory) -> Result<(), &'static str> {
    let of = |part| moment.parts.get(part);
    let ensure = |holds: bool, why| if holds { Ok(()) } else { Err(why) };
    let held = told.held.unwrap_or(0);
    ensure(moment.held_bytes == held, "held")?;
    // Block descriptors take four of the 256 blocks in each megablock.
    if let Some(blocks) = told.blocks {
        ensure(moment.parts.in_use() == blocks + held / 64, "blocks")?;
    }
    let free = of(MemoryPart::Reserve) + of(MemoryPart::Free) + of(MemoryPart::Stuck);
    ensure(free == told.free, "free")?;
    let Some(live) = told.live else {
        return ensure(!moment.major, "not major");
    };
    ensure(moment.major && moment.live_bytes == Some(live), "live")?;
    // The nonmoving collector may report more live data than there is by now.
    let in_use = held - told.free;
    ensure(of(MemoryPart::Live) == live.min(in_use), "live data")?;
    let slop = told.slop.min(in_use - of(MemoryPart::Live));
    ensure(of(MemoryPart::Slop) == slop, "ends of blocks")?;
    ensure(of(MemoryPart::Grown) == 0, "nothing has grown yet")?;
    let Some([current, needed, returned]) = told.returned else {
        return ensure(
            of(MemoryPart::Reserve) + of(MemoryPart::Stuck) == 0,
            "not told",
        );
    };
    let beyond = (current - returned).saturating_sub(needed) << 20;
    ensure(
        of(MemoryPart::Stuck) == beyond.min(told.free),
        "beyond the need",
    )?;
    ensure(moment.needed_bytes == Some(needed << 20), "needed")
}

#[test]
fn parts_are_what_the_events_say() {
    for_all(expected_coverage([27, 240], [95, 4000]), |case| {
        let Ok(session) = common::session_of(&case.bytes()) else {
            return Ok(0);
        };
        check_collections(&session, case)
    });
}

#[test]
fn parts_are_all_of_the_memory_in_any_range() {
    for_all(expected_coverage([27, 31_000], [95, 120_000]), |case| {
        let Ok(session) = common::session_of(&case.bytes()) else {
            return Ok(0);
        };
        let log = session.overview().span.unwrap_or_default();
        let whole = session.ask(&HeldMemoryQuery(None));
        let summary = session.ask(&SummaryQuery(None));
        if whole.peak.map(|peak| peak.held_bytes) != summary.max_heap_size {
            return Err(format!("{:?} {:?}", whole.peak, summary.max_heap_size));
        }
        let mut count = check_sums(&whole)?;
        let (from, length) = (log.start().0, log.duration().0);
        for part in 0..7 {
            let start = from + length / 7 * part;
            let range = span(start, start + length / (part + 3));
            count += check_sums(&session.ask(&HeldMemoryQuery(Some(range))))?;
        }
        Ok(count)
    });
}

const TYPES: &[EventTypeDecl] = &[
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (18, Some(14), "Block marker"),
    (30, None, "Program arguments"),
    (45, Some(2), "Create capability"),
    (50, Some(12), "Current heap size"),
    (51, Some(12), "Current heap live data"),
    (52, Some(38), "Heap static parameters"),
    (53, Some(58), "GC statistics"),
    (90, Some(16), "Memory return statistics"),
    (91, Some(12), "Blocks size"),
];

const MIB: u64 = 1 << 20;

/// Collection of a synthetic log: time in nanoseconds, sizes in MiB.
#[derive(Clone, Copy, Default)]
struct Gc {
    at: u64,
    live: Option<u64>,
    slop: u64,
    held: u64,
    free: u64,
    returned: Option<[u32; 3]>,
}

impl Gc {
    fn write(self, log: &mut LogBuilder) {
        let number = |log: &mut LogBuilder, id, bytes: u64| {
            let payload = [&[0; 4][..], &bytes.to_be_bytes()].concat();
            log.event(id, self.at + 50, &payload);
        };
        log.event(9, self.at, &[]);
        if let Some(megablocks) = self.returned {
            let mut payload = vec![0; 4];
            payload.extend(megablocks.iter().flat_map(|count| count.to_be_bytes()));
            log.event(90, self.at + 10, &payload);
        }
        let mut payload = vec![0; 4];
        payload.extend(u16::from(self.live.is_some()).to_be_bytes());
        for bytes in [0, self.slop * MIB, self.free * MIB] {
            payload.extend(bytes.to_be_bytes());
        }
        payload.extend([0; 28]);
        log.event(53, self.at + 40, &payload);
        log.event(10, self.at + 40, &[]);
        if let Some(live) = self.live {
            number(log, 51, live * MIB);
        }
        number(log, 50, self.held * MIB);
    }
}

/// Builds a log with two capabilities and nurseries of 4 MiB.
fn synthetic_log(arguments: &str, collections: &[Gc]) -> Session {
    let mut log = LogBuilder::with_types(TYPES);
    log.block(None, (0, 5), |log| {
        let arguments = [&[0; 4][..], arguments.as_bytes(), &[0]].concat();
        log.event(30, 1, &arguments);
        let mut heap = vec![0; 4];
        heap.extend(2u16.to_be_bytes());
        for number in [0, 4 * MIB, MIB, 4096] {
            heap.extend(number.to_be_bytes());
        }
        log.event(52, 2, &heap);
        log.event(45, 3, &[0, 0]).event(45, 3, &[0, 1])
    });
    log.block(Some(0), (5, 100_000), |log| {
        for gc in collections {
            gc.write(log);
        }
        log
    });
    log.end();
    read_session(&mut log.bytes.as_slice()).expect("a log")
}

fn mib(moment: Option<MemoryMoment>) -> Vec<(MemoryPart, u64)> {
    let moment = moment.expect("a moment");
    let part = |part| (part, moment.parts.get(part) / MIB);
    let parts = MemoryPart::ALL.into_iter().map(part);
    parts.filter(|(_, size)| *size > 0).collect()
}

const GROWING: [Gc; 4] = [
    Gc {
        at: 100,
        live: None,
        slop: 0,
        held: 20,
        free: 6,
        returned: None,
    },
    Gc {
        at: 1000,
        live: Some(10),
        slop: 1,
        held: 60,
        free: 35,
        returned: Some([64, 50, 4]),
    },
    Gc {
        at: 2000,
        live: None,
        slop: 9,
        held: 60,
        free: 5,
        returned: None,
    },
    Gc {
        at: 3000,
        live: Some(100),
        slop: 2,
        held: 300,
        free: 180,
        returned: Some([300, 416, 0]),
    },
];

#[test]
fn parts_of_a_log_that_is_known() {
    use MemoryPart::{Grown, Live, Nursery, Reserve, Runtime, Slop, Stuck, Unknown};
    let session = synthetic_log("p", &GROWING);
    let at = |from: u64| {
        session
            .ask(&HeldMemoryQuery(Some(span(from, from + 10))))
            .last
    };
    // Live data is unknown before the first major collection.
    let free = MemoryPart::Free;
    assert_eq!(mib(at(100)), [(Nursery, 8), (Unknown, 6), (free, 6)]);
    // 60 MiB are held after returning 4, but 50 are needed: 10 could not be returned.
    let first = [
        (Live, 10),
        (Slop, 1),
        (Nursery, 8),
        (Runtime, 6),
        (Reserve, 25),
        (Stuck, 10),
    ];
    assert_eq!(mib(at(1000)), first);
    // Data allocated since may be live or not; it grew into free memory.
    let grown = [
        (Live, 10),
        (Slop, 1),
        (Nursery, 8),
        (Runtime, 6),
        (Grown, 30),
        (Stuck, 5),
    ];
    assert_eq!(mib(at(2000)), grown);
    let last = [
        (Live, 100),
        (Slop, 2),
        (Nursery, 8),
        (Runtime, 10),
        (Reserve, 180),
    ];
    assert_eq!(mib(at(3000)), last);
    let whole = session.ask(&HeldMemoryQuery(None));
    assert_eq!((whole.collections, whole.majors), (4, 2));
    let peak = whole.peak.expect("a peak");
    assert_eq!((peak.at, peak.held_bytes), (Nanos(3040), 300 * MIB));
    assert_eq!(peak.copying_factor(), Some(3.0));
    // (2 + 2) times live data with its slop, and two nurseries.
    assert_eq!(peak.expected_bytes, Some((4 * 102 + 8) * MIB));
    let given = whole.returned.expect("told");
    assert_eq!((given.asked, given.returned_bytes), (1, 4 * MIB));
    // Between collections, memory is what the previous one left.
    let between = session.ask(&HeldMemoryQuery(Some(span(2500, 2600))));
    assert_eq!(
        (between.collections, mib(between.peak)),
        (0, grown.to_vec())
    );
    assert_eq!(between.slices.len(), 100);
    assert_eq!(mib(between.slices[50]), grown);
    assert_eq!(between.last_major, None);
}

#[test]
fn slices_show_the_most_that_was_held() {
    let session = synthetic_log("p", &GROWING);
    let held = session.ask(&HeldMemoryQuery(Some(span(0, 24_000))));
    let sizes: Vec<u64> = held
        .slices
        .iter()
        .map(|it| it.map_or(0, |it| it.held_bytes / MIB))
        .collect();
    // The range is clipped to the end of the log at 3,050 ns: 240 slices of 12.7 ns.
    assert_eq!(held.range, span(0, 3050));
    assert_eq!(
        (
            sizes[0], sizes[7], sizes[77], sizes[78], sizes[235], sizes[236]
        ),
        (0, 20, 20, 60, 60, 300)
    );
}

/// Renders all sentences and numbers about a log or a range of it.
fn render(name: &str, session: &Session, range: Option<Interval>) -> String {
    let held = session.ask(&HeldMemoryQuery(range));
    let mut text = format!("# {name}\n");
    let mut line = |words: &str| {
        let _ = writeln!(text, "{}", words.replace('\u{a0}', " "));
    };
    line(&headline(&held).unwrap_or_default());
    for moment in [held.peak, held.last_major].into_iter().flatten() {
        let part = |part: MemoryPart| format!("{} {}", part.title(), moment.parts.get(part) / 1024);
        let parts = MemoryPart::ALL
            .into_iter()
            .filter(|it| moment.parts.get(*it) > 0);
        line(&format!(
            "KiB: {}",
            parts.map(part).collect::<Vec<_>>().join(", ")
        ));
    }
    for reason in reasons(&held) {
        line(&format!("* {}. {}", reason.title, reason.meaning));
        for it in reason.tries {
            line(&format!("  - {}: {}", it.what, it.price));
        }
        line(&format!("  {}", reason.fine));
    }
    for words in missing(&held) {
        line(&format!("? {words}"));
    }
    text
}

#[test]
fn sentences() {
    let mut text = String::new();
    for name in [
        "ghc-9.0.2/gc-heavy-nt-l",
        "ghc-9.0.2/fib-forkio-N2-l-a",
        "ghc-9.6.6/gc-heavy-N1-l",
        "ghc-9.6.6/gc-heavy-N2-la-nonmoving",
        "ghc-9.6.6/heap-N2-hT-l-au",
        "ghc-9.10.3/fib-forkio-N8-la",
    ] {
        text += &render(name, &fixture(name).session(), None);
        text += "\n";
    }
    let at_exit = Gc {
        at: 5000,
        live: Some(1),
        slop: 0,
        held: 60,
        free: 50,
        returned: Some([290, 12, 230]),
    };
    let fallen = Gc {
        at: 4000,
        live: Some(5),
        slop: 0,
        held: 290,
        free: 270,
        returned: Some([300, 28, 10]),
    };
    let all: Vec<Gc> = GROWING.into_iter().chain([fallen, at_exit]).collect();
    text += &render("made", &synthetic_log("p\0+RTS\0-F1.5\0-Fd2", &all), None);
    text += &render(
        "made, before",
        &synthetic_log("p", &all),
        Some(span(0, 500)),
    );
    text += &render(
        "made, between",
        &synthetic_log("p", &all),
        Some(span(2500, 2600)),
    );
    insta::assert_snapshot!(text);
}
