//! Round trips of track names in links, and of mark payloads.

use super::activity::Activity;
use super::blocks::Blocks;
use super::calls::ForeignCalls;
use super::capability::Capability;
use super::collections::Collections;
use super::concurrency::Concurrency;
use super::counter::Counter;
use super::instants::Instants;
use super::memory::Memory;
use super::messages::Messages;
use super::nonmoving::Nonmoving;
use super::samples::Samples;
use super::sparks::{SparkQuantity, Sparks};
use super::task::Task;
use super::thread::Thread;
use super::user_span::UserSpan;
use super::*;
use analysis::timeline::profile_rows::Caller;
use eventlog::ids::{OsThreadId, TaskId};
use model::marks::PackedPayload;

#[test]
fn names_lead_back_to_rows() {
    let contents = LogContents {
        tracks: vec![TrackEntry::new(UserSpan(0), "load 7")],
        ..LogContents::default()
    };
    let cap = CapId(3);
    let sparks = |of| TrackId::from(Sparks { cap, quantity: of });
    // Existing links contain these names, so they must never change.
    let rows: [(&str, TrackId); 23] = [
        ("parallelism", Concurrency::Running.into()),
        ("ready", Concurrency::Ready.into()),
        ("activity", Activity.into()),
        ("gc", Collections.into()),
        ("nonmoving", Nonmoving.into()),
        ("messages", Messages.into()),
        ("heap", Memory::Heap.into()),
        ("alloc", Memory::Allocated.into()),
        ("returned", Memory::Returned.into()),
        ("span:load 7", UserSpan(0).into()),
        ("cap3", Capability(cap).into()),
        ("events3", Instants(cap).into()),
        ("created3", sparks(SparkQuantity::Created)),
        ("converted3", sparks(SparkQuantity::Converted)),
        ("pool3", sparks(SparkQuantity::Pool)),
        ("thread12", Thread(ThreadId(12)).into()),
        ("task18446744073709551615", Task(TaskId(u64::MAX)).into()),
        ("perf5", Counter(5).into()),
        ("blocksnone", Blocks(None).into()),
        ("blocks3", Blocks(Some(cap)).into()),
        (
            "calls71",
            ForeignCalls(Caller::OsThread(OsThreadId(71))).into(),
        ),
        (
            "callsunknown2",
            ForeignCalls(Caller::Unknown { lane: 2 }).into(),
        ),
        ("samples3", Samples(cap).into()),
    ];
    for (name, row) in rows {
        assert_eq!(row.link(&contents), name);
        assert_eq!(TrackId::parse(name, &contents), Some(row));
    }
    for name in [
        "",
        "cap",
        "cap70000",
        "3cap",
        "cap+3",
        "span:other",
        "thread-1",
        "calls",
        "samples",
        "samples70000",
    ] {
        assert_eq!(TrackId::parse(name, &contents), None, "{name}");
    }
}

/// Unpacking arbitrary words, packing and unpacking again yields the same value.
#[test]
fn payloads_come_back() {
    fn check<T: TrackKind>()
    where
        T::Payload: PartialEq + std::fmt::Debug,
    {
        const WORDS: [u32; 6] = [0, 1, 2, 7, 70_000, u32::MAX];
        for (a, b) in WORDS.into_iter().flat_map(|a| WORDS.map(|b| (a, b))) {
            let read = T::Payload::unpack(PackedPayload([a, b, b, a]));
            assert_eq!(T::Payload::unpack(read.pack()), read, "{a} {b}");
        }
    }
    check::<Capability>();
    check::<Thread>();
    check::<Collections>();
    check::<Nonmoving>();
    check::<Messages>();
    check::<Instants>();
    check::<UserSpan>();
    check::<Task>();
    check::<Blocks>();
    check::<ForeignCalls>();
    check::<Samples>();
}
