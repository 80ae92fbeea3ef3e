//! A log that was begun in a running program has the numbers of its own time, not of the program's.
//!
//! The logs are those of one process that rotated its eventlog: the first has the program's start, the others follow
//! each other. The numbers are compared with a plain walk over the events.

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{findings_of, session_of};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Event, Record};
use insight::finding::Subject;
use model::time::Interval;
use session::Session;
use session::queries::SummaryQuery;

const LOGS_EACH: usize = 4;

/// Returns the logs of a process in order of time.
fn logs_of(ghc: &str) -> [Vec<u8>; LOGS_EACH] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rotated");
    std::array::from_fn(|number| {
        let path = folder.join(format!("ghc-{ghc}-{number}.eventlog.zst"));
        let file = fs::File::open(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut bytes = Vec::new();
        let mut plain = ruzstd::decoding::StreamingDecoder::new(file).expect("zstd");
        std::io::Read::read_to_end(&mut plain, &mut bytes).expect("a whole file");
        bytes
    })
}

/// Values of a log, by a walk over its events.
#[derive(Default)]
struct Walk {
    first: Option<Nanos>,
    last: Nanos,
    /// First and last value of the counter of each capability, and how many there are.
    allocated: BTreeMap<CapId, (u64, u64, u32)>,
}

impl Walk {
    fn new(mut log: &[u8]) -> Self {
        let mut walk = Self::default();
        let mut visit = |record: &Record<'_>| {
            walk.first = Some(
                walk.first
                    .map_or(record.time, |first| first.min(record.time)),
            );
            walk.last = walk.last.max(record.time);
            if let (Event::HeapAllocated { alloc_bytes, .. }, Some(cap)) =
                (record.event(), record.cap)
            {
                let counter = walk.allocated.entry(cap).or_insert((alloc_bytes, 0, 0));
                *counter = (counter.0, alloc_bytes, counter.2 + 1);
            }
        };
        read_log(&mut log, &mut visit).expect("a log");
        walk
    }

    fn range(&self) -> Interval {
        Interval::new(self.first.expect("an event"), self.last)
    }

    /// Returns the growth of all counters between their first and last values; `None` if each has only one value.
    fn growth(&self) -> Option<u64> {
        let known = self.allocated.values().filter(|(.., count)| *count > 1);
        known
            .map(|(first, last, _)| last - first)
            .reduce(|a, b| a + b)
    }
}

fn for_later_logs(check: impl Fn(&str, &Session, &Walk)) {
    for ghc in ["9.0.2", "9.10.3"] {
        for (number, log) in logs_of(ghc).iter().enumerate().skip(1) {
            let session = session_of(log).expect("a log");
            check(&format!("ghc-{ghc}-{number}"), &session, &Walk::new(log));
        }
    }
}

#[test]
fn numbers_are_of_the_time_that_the_log_covers() {
    for_later_logs(|name, session, walk| {
        let range = walk.range();
        let summary = session.ask(&SummaryQuery(None));
        assert_eq!(summary.range, range, "{name}");
        assert_eq!(summary.total_ns, range.duration().0, "{name}");
        assert_eq!(summary.bytes_allocated, walk.growth(), "{name}");
        let parts = [
            summary.init_ns,
            summary.mutator_ns,
            summary.gc_ns,
            summary.prof_ns,
        ];
        let parts: u64 = parts.into_iter().flatten().sum();
        assert_eq!(
            (summary.init_ns, parts),
            (Some(0), summary.total_ns),
            "{name}"
        );
        assert_eq!(session.recording().whole_range(), range, "{name}");
        let allocated = summary
            .capabilities
            .iter()
            .filter_map(|cap| cap.bytes_allocated);
        assert_eq!(allocated.reduce(|a, b| a + b), walk.growth(), "{name}");
        let by_collections = &session.recording().numbers.collections_with_statistics();
        let by_collections: u64 = by_collections.iter().map(|gc| gc.allocated_bytes).sum();
        assert!(by_collections <= walk.growth().unwrap_or(0), "{name}");
    });
}

#[test]
fn halves_add_up() {
    for_later_logs(|name, session, walk| {
        let range = walk.range();
        let middle = Nanos(range.start().0 + range.duration().0 / 2);
        let of = |from, to| session.ask(&SummaryQuery(Some(Interval::new(from, to))));
        // What was asked for before the log begins is not there.
        let (first, second) = (of(Nanos(0), middle), of(middle, Nanos(range.end().0 + 1)));
        let sum = |value: fn(&analysis::numbers::summary::Summary) -> Option<u64>| {
            value(&first).zip(value(&second)).map(|(a, b)| a + b)
        };
        assert_eq!(
            sum(|half| Some(half.total_ns)),
            Some(range.duration().0),
            "{name}"
        );
        assert_eq!(sum(|half| half.bytes_allocated), walk.growth(), "{name}");
    });
}

/// The logs of a process follow each other: together they are as long as the program ran, but for the moments in
/// which logs changed.
#[test]
fn logs_of_a_process_add_up_to_it() {
    for ghc in ["9.0.2", "9.10.3"] {
        let (mut end, mut all_ns) = (Nanos(0), 0);
        for log in logs_of(ghc) {
            let summary = session_of(&log).expect("a log").ask(&SummaryQuery(None));
            assert!(summary.range.start() >= end, "{ghc}: {:?}", summary.range);
            end = summary.range.end();
            all_ns += summary.total_ns;
        }
        assert!(
            all_ns <= end.0 && end.0 - all_ns < end.0 / 100,
            "{ghc}: {all_ns} of {end:?}"
        );
    }
}

/// The managers of I/O and timers have no label in these logs; what they wait for is no delay of the program.
#[test]
fn findings_do_not_blame_the_runtimes_own_threads() {
    for_later_logs(|name, session, _| {
        let findings = findings_of(session, None);
        let named = findings
            .findings
            .iter()
            .flat_map(|finding| &finding.evidence);
        let named = named.filter(|evidence| {
            let manager = Subject::Thread(ThreadId(4));
            evidence.subjects.contains(&manager)
        });
        assert_eq!(named.count(), 0, "{name}");
    });
}
