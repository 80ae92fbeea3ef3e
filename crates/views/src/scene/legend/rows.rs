//! The marks of rows: capabilities, threads, collections, graphs, spans.

use super::Entry;
use super::sample::{Made, Sample, buckets};
use analysis::timeline::activity::COLLECTING;
use analysis::timeline::nonmoving::Phase;
use analysis::timeline::row::{Graph, Row, SparkGraph};
use analysis::timeline::user_spans;
use eventlog::ids::{CapId, TaskId, ThreadId};
use model::class::Class;
use model::marks::MarkKind;

pub(super) const CAP: Row = Row::Cap(CapId(0));
pub(super) const THREAD: Row = Row::Thread(ThreadId(7));

/// Where a sample's span begins and ends, in pixels.
const FROM: f64 = 8.0;
const TO: f64 = 88.0;

fn span(row: Row, class: Class) -> Sample {
    Sample::row(row, vec![Made::span(class, FROM, TO).detail(7)])
}

/// A share that goes up and down along a row.
fn wave(place: f32, most: f32) -> f32 {
    most * (0.55 + 0.45 * (place / 7.0).sin())
}

pub(super) fn capabilities() -> Vec<Entry> {
    let of = |class| span(CAP, class);
    let runs = buckets(|place| vec![(Class::Running, wave(place, 0.9))]);
    let collections = buckets(|place| {
        vec![
            (Class::Gc, wave(place, 0.45)),
            (Class::GcIdle, 0.2),
            (Class::GcSync, wave(place + 9.0, 0.2)),
        ]
    });
    vec![
        Entry::new(
            "A thread runs",
            "Haskell code runs (the mutator): a full bar with the name of the thread.",
            of(Class::Running),
        ),
        Entry::new(
            "Several runs in a pixel",
            "Bars stand on the ground; their height is the share of the time in which threads ran.",
            Sample::row(CAP, runs),
        ),
        Entry::new(
            "Still running",
            "The thread was still running when the log ended, or the log has lost the end of the run.",
            of(Class::Open),
        ),
        Entry::new(
            "Waiting for a collection",
            "A collection is wanted; the capability waits until all have stopped.",
            of(Class::GcSync),
        ),
        Entry::new(
            "Collecting garbage",
            "The capability works in a collection; no thread runs on it meanwhile.",
            of(Class::Gc),
        ),
        Entry::new(
            "Starting a collection",
            "The collection has begun; the capability has no work in it yet.",
            of(Class::GcStart),
        ),
        Entry::new(
            "Idle in a collection",
            "The capability has no work in the collection and looks for some, while others have work.",
            of(Class::GcIdle),
        ),
        Entry::new(
            "Done with its part",
            "The capability has done its part of the collection and waits for its end.",
            of(Class::GcDone),
        ),
        Entry::new(
            "Several collections in a pixel",
            "Bars hang from the top: the work, below it the waits within collections, then the waits before them.",
            Sample::row(CAP, collections),
        ),
    ]
}

pub(super) fn threads() -> Vec<Entry> {
    let of = |class| span(THREAD, class);
    let several = buckets(|place| {
        vec![
            (Class::Running, wave(place, 0.7)),
            (Class::Blocked, 0.15),
            (Class::Ready, 0.05),
        ]
    });
    vec![
        Entry::new(
            "Running",
            "The thread runs Haskell code on a capability.",
            of(Class::Running),
        ),
        Entry::new(
            "Ready",
            "It could run, but no capability runs it: what blocked it is over, it yielded, its heap block was used up, its stack grows, or it is new.",
            of(Class::Ready),
        ),
        Entry::new(
            "Blocked",
            "It waits for a Haskell object: an MVar, a value that another thread computes (black hole), an STM retry, throwTo.",
            of(Class::Blocked),
        ),
        Entry::new(
            "In a foreign call",
            "It is in a safe foreign call; the capability does other work. A wait for a capability after the call is part of this: the log does not say when the call returned.",
            of(Class::Foreign),
        ),
        Entry::new(
            "Waiting for I/O",
            "It waits for a file, a socket or a delay, or the log gives no reason.",
            of(Class::Io),
        ),
        Entry::new(
            "Still running",
            "It was still running when the log ended.",
            of(Class::Open),
        ),
        Entry::new(
            "Several runs in a pixel",
            "The bar is as high as the share of the time in which it ran; the line has the colour of what it waited for most.",
            Sample::row(THREAD, several),
        ),
    ]
}

/// The code of a collection: see `CollectionCode`.
const fn collection(generation: u8, oldest: bool, parallel: bool) -> u8 {
    generation << 2 | (oldest as u8) << 1 | parallel as u8
}

pub(super) fn collections() -> Vec<Entry> {
    let gc = |code| {
        let mark = Made::span(Class::Gc, FROM, TO).code(code);
        Sample::row(Row::Collections, vec![mark])
    };
    let several = buckets(|place| vec![(Class::Gc, wave(place, 0.8)), (Class::GcSync, 0.1)]);
    let mut entries = vec![
        Entry::new(
            "A young collection",
            "Only the youngest generation was collected: a low bar. The program stands still for as long.",
            gc(collection(0, false, false)),
        ),
        Entry::new(
            "A major collection",
            "The oldest generation was collected, and so all of the heap: a bar as high as the row. Generations between are in between.",
            gc(collection(1, true, false)),
        ),
        Entry::new(
            "A parallel collection",
            "Several OS threads collected together: a line along the bar.",
            gc(collection(1, true, true)),
        ),
        Entry::new(
            "A collection of which little is known",
            "The log does not say which generation was collected: a bar as high as the row, without a text.",
            gc(u8::MAX),
        ),
        Entry::new(
            "Waiting for a collection",
            "From the first request until all capabilities had stopped.",
            Sample::row(
                Row::Collections,
                vec![Made::span(Class::GcSync, FROM, TO).code(u8::MAX)],
            ),
        ),
        Entry::new(
            "Several collections in a pixel",
            "The bar is as high as their share of the time.",
            Sample::row(Row::Collections, several),
        ),
    ];
    entries.extend(nonmoving());
    entries
}

fn nonmoving() -> Vec<Entry> {
    let phase = |phase: Phase, more: u8| {
        let class = if phase == Phase::Sync {
            Class::GcSync
        } else {
            Class::Gc
        };
        let mark = Made::span(class, FROM, TO).code(phase as u8 | more);
        Sample::row(Row::Nonmoving, vec![mark])
    };
    let notes = [20.0, 48.0, 70.0].map(|at| Made::point(MarkKind::Instant, at));
    vec![
        Entry::new(
            "Nonmoving collector: sync",
            "The program stands still while the concurrent collector marks the rest.",
            phase(Phase::Sync, 0),
        ),
        Entry::new(
            "Nonmoving collector: mark",
            "It finds what is live in the oldest generation, while the program runs.",
            phase(Phase::Mark, 0),
        ),
        Entry::new(
            "Nonmoving collector: sweep",
            "It frees what is not live, while the program runs.",
            phase(Phase::Sweep, 0),
        ),
        Entry::new(
            "Nonmoving collector: not over",
            "A phase with stripes, of whatever shape, was not over when the log ended. Sweeping is always striped.",
            phase(Phase::Mark, analysis::timeline::nonmoving::OPEN),
        ),
        Entry::new(
            "Nonmoving collector: a note",
            "It told something of itself: a census of its heap, or that a capability handed over what it has to look at.",
            Sample::row(Row::Nonmoving, notes.into()),
        ),
    ]
}

const LEVELS: [f64; 8] = [2.0, 3.0, 3.0, 5.0, 6.0, 6.0, 7.0, 6.0];
const LOWER: [f64; 8] = [1.5, 2.5, 2.0, 4.0, 5.0, 4.5, 6.0, 4.0];
const LOWEST: [f64; 8] = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0];
const FEW: [f64; 8] = [0.0, 0.5, 1.0, 0.5, 0.0, 1.0, 1.5, 0.5];
const SOME: [f64; 8] = [1.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 1.0];

pub(super) fn graphs() -> Vec<Entry> {
    const MIB: f64 = 1_048_576.0;
    let three = |row: Row, unit: f64, values: [[f64; 8]; 3]| {
        let [a, b, c] = values.map(|values| values.map(|value| value * unit));
        Sample::graph(row, &[(0, &a), (1, &b), (2, &c)])
    };
    let memory = |row, [a, b, c]: [[f64; 8]; 3]| three(row, MIB, [a, b, c]);
    let sparks = |graph| Row::Sparks(CapId(0), graph);
    let busy: [f64; 8] = [0.5, 0.9, 1.0, 1.0, 0.2, 0.9, 1.0, 0.8];
    let other: [f64; 8] = [0.1, 0.6, 0.8, 0.4, 0.1, 0.7, 0.9, 0.2];
    let collecting: [f64; 8] = [0.0, 0.2, 0.0, 0.4, 1.6, 0.1, 0.0, 0.6];
    vec![
        Entry::new(
            "Activity",
            "How many capabilities run Haskell code, a band for each, and on top how many collect garbage.",
            Sample::graph(
                Row::Activity,
                &[(0, &busy), (1, &other), (COLLECTING, &collecting)],
            ),
        ),
        Entry::new(
            "Heap",
            "The area is the size of the heap, the line the blocks in use, the dashes what was live after the last major collection.",
            memory(Row::Graph(Graph::Heap), [LEVELS, LOWER, LOWEST]),
        ),
        Entry::new(
            "Allocation rate",
            "How much the program allocates in a second, all capabilities together.",
            Sample::graph(
                Row::Graph(Graph::AllocationRate),
                &[(0, &LOWER.map(|value| value * MIB))],
            ),
        ),
        Entry::new(
            "Memory returned",
            "The area is what the runtime holds of the system's memory, the line what it needs, the dashes what it gave back.",
            memory(Row::Graph(Graph::MemoryReturned), [LEVELS, LOWER, FEW]),
        ),
        Entry::new(
            "Sparks created",
            "In a second, from below: created; dud, as the value was there already; overflowed, as the pool was full (striped).",
            three(sparks(SparkGraph::Created), 1.0, [LOWER, SOME, FEW]),
        ),
        Entry::new(
            "Sparks converted",
            "In a second, from below: converted, that is run in parallel; fizzled, as the value was computed meanwhile; garbage collected, as nobody needed it (striped).",
            three(sparks(SparkGraph::Converted), 1.0, [LOWER, SOME, FEW]),
        ),
        Entry::new(
            "Sparks in the pool",
            "How many sparks of a capability wait.",
            Sample::graph(sparks(SparkGraph::Pool), &[(0, &LEVELS)]),
        ),
        Entry::new(
            "Performance counter",
            "How fast a counter of the processor or a tracepoint counts.",
            Sample::graph(Row::Perf(0), &[(0, &LOWER)]),
        ),
    ]
}

pub(super) fn spans() -> Vec<Entry> {
    let one = |row, detail, code| {
        let mark = Made::span(Class::Other, FROM, TO).detail(detail).code(code);
        Sample::row(row, vec![mark])
    };
    let span = Row::UserSpan(0);
    let several = buckets(|place| vec![(Class::Other, wave(place, 0.9))]);
    vec![
        Entry::new(
            "A span of the program",
            "From a message such as “START load” to “STOP load”, with its duration. The menu Tracks says with which words such messages begin.",
            one(span, 1, 0),
        ),
        Entry::new(
            "A span that is not over",
            "The log ended before its end was announced.",
            one(span, 1, user_spans::OPEN.0),
        ),
        Entry::new(
            "Several spans in a pixel",
            "The bar is as high as their share of the time; so it is with tasks and blocks.",
            Sample::row(span, several),
        ),
        Entry::new(
            "A task on a capability",
            "An OS thread of the runtime had this capability, or asked for it.",
            one(Row::Task(TaskId(1)), 0, 0),
        ),
        Entry::new(
            "A block of the log",
            "Events were gathered in a buffer of this size, which was then written.",
            one(Row::Blocks(Some(CapId(0))), 8192, 0),
        ),
    ]
}
