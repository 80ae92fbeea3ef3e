//! Run times of single sparks, compared with a second computation that follows the events one by one.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use analysis::timeline::spark_runs::SparkRun;
use common::build::{EventTypeDecl, LogBuilder};
use common::{expected_coverage, for_all};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Event, Record, StopStatus};
use model::class::StopCode;
use model::time::Interval;
use proptest::prelude::*;
use session::Session;
use session::queries::SparksQuery;

/// Spark that runs, or waits with its thread.
#[derive(Clone, Copy, Debug)]
struct OpenSpark {
    start: Nanos,
    /// Run time up to the last stop of its thread (ns).
    ran_ns: u64,
    /// Start of the current run.
    since: Nanos,
}

impl OpenSpark {
    fn paused(self, at: Nanos) -> Self {
        let ran_ns = self.ran_ns + at.since(self.since).0;
        Self { ran_ns, ..self }
    }
}

/// Reference computation of the runs of sparks:
///
/// | current spark of the capability | event | next | records |
/// |---|---|---|---|
/// | any | `SparkRun`, `SparkSteal`, or those of GHC 6.12 | a new one | a run, if there was one |
/// | some | `StopThread`, finished | none | a run |
/// | some | `StopThread`, else | none; it waits with the thread | |
/// | none | `StopThread` | none | |
/// | any | `RunThread` of one that stopped with a spark | that spark | |
/// | any | `RunThread` of another | none | |
#[derive(Debug, Default)]
struct PlainSparks {
    /// Whether the log has events of single sparks (`+RTS -lf`).
    single: bool,
    caps: BTreeMap<CapId, OpenSpark>,
    waiting: BTreeMap<ThreadId, OpenSpark>,
    runs: Vec<SparkRun>,
}

impl PlainSparks {
    fn of(mut bytes: &[u8]) -> Option<Self> {
        let mut sparks = Self::default();
        read_log(&mut bytes, &mut |record: &Record<'_>| sparks.event(record)).ok()?;
        sparks.runs.sort_unstable();
        Some(sparks)
    }

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        let event = record.event();
        self.single |= matches!(
            event,
            Event::SparkCreate {}
                | Event::SparkDud {}
                | Event::SparkOverflow {}
                | Event::SparkRun {}
                | Event::SparkSteal { .. }
                | Event::SparkFizzle {}
                | Event::SparkGC {}
        );
        let Some(cap) = record.cap else { return };
        match event {
            Event::RunThread { thread } => {
                self.caps.remove(&cap);
                if let Some(open) = self.waiting.remove(&thread) {
                    self.caps.insert(cap, OpenSpark { since: at, ..open });
                }
            }
            Event::StopThread { thread, status } => {
                let open = self.caps.remove(&cap);
                if status == StopStatus::ThreadFinished {
                    self.close(open, at);
                } else if let Some(open) = open {
                    self.waiting.insert(thread, open.paused(at));
                }
            }
            Event::SparkRun {}
            | Event::SparkSteal { .. }
            | Event::RunSpark { .. }
            | Event::StealSpark { .. } => {
                let next = OpenSpark {
                    start: at,
                    ran_ns: 0,
                    since: at,
                };
                let before = self.caps.insert(cap, next);
                self.close(before, at);
            }
            _ => {}
        }
    }

    fn close(&mut self, open: Option<OpenSpark>, at: Nanos) {
        self.runs.extend(open.map(|open| SparkRun {
            start: open.start,
            ran_ns: open.paused(at).ran_ns,
        }));
    }
}

fn compare(session: &Session, plain: &PlainSparks) -> Result<usize, String> {
    let runs = session.recording().store.spark_runs();
    if runs != plain.runs {
        let [ours, theirs] = [runs, &plain.runs].map(|runs| runs.iter().collect::<BTreeSet<_>>());
        let first = ours.symmetric_difference(&theirs).next();
        let (ours, theirs) = (runs.len(), plain.runs.len());
        return Err(format!(
            "{ours} runs, plainly {theirs}; the first that differs: {first:?}"
        ));
    }
    let end = session.recording().end();
    let middle = Nanos(end.0 / 2);
    for range in [None, Some(Interval::new(middle, end))] {
        let reply = session.ask(&SparksQuery(range));
        let told = reply.runs.iter().map(|bin| (bin.count, bin.total_ns));
        let told = told.fold((0, 0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
        let from = range.map_or(Nanos(0), |range| range.start());
        let inside = (plain.runs.iter()).filter(|run| plain.single && run.start >= from);
        let inside = inside.fold((0, 0), |sum, run| (sum.0 + 1, sum.1 + run.ran_ns));
        if (reply.has_single_sparks, told) != (plain.single, inside) {
            return Err(format!(
                "in {range:?} {told:?}, plainly {:?}, {inside:?}",
                plain.single
            ));
        }
    }
    Ok(runs.len())
}

#[test]
fn sparks_run_as_the_events_say() {
    for_all(expected_coverage([1, 193], [9, 1221]), |case| {
        let bytes = case.bytes();
        let session = common::session_of(&bytes).ok();
        let both = session.zip(PlainSparks::of(&bytes));
        both.map_or(Ok(0), |(session, plain)| compare(&session, &plain))
    });
}

const TYPES: &[EventTypeDecl] = &[
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (18, Some(14), "Block marker"),
    (38, Some(0), "Spark run"),
    (39, Some(2), "Spark steal"),
];

/// Event on one of two capabilities.
#[derive(Clone, Copy, Debug)]
enum Step {
    Run(u32),
    /// Stops the thread with this status.
    Stop(u32, u16),
    Spark,
    Steal,
}

const FINISHED: u16 = StopCode::FINISHED.0 as u16;
const YIELDED: u16 = 3;

/// Builds a log of steps: time, capability, step.
fn log(steps: &[(u64, u16, Step)]) -> Vec<u8> {
    let mut log = LogBuilder::with_types(TYPES);
    let end = steps.last().map_or(0, |&(at, ..)| at);
    for cap in [0, 1] {
        let steps = steps.iter().filter(|step| step.1 == cap);
        log.block(Some(cap), (0, end), |log| {
            steps.fold(log, |log, &(at, _, step)| match step {
                Step::Run(thread) => log.run(at, thread),
                Step::Stop(thread, status) => log.stop(at, thread, status),
                Step::Spark => log.event(38, at, &[]),
                Step::Steal => log.event(39, at, &[0, 1]),
            })
        });
    }
    log.end();
    log.bytes
}

/// Returns start and run time of each spark in a log of steps.
fn runs(steps: &[(u64, u16, Step)]) -> Vec<(u64, u64)> {
    let session = common::session_of(&log(steps)).expect("a log");
    let runs = session.recording().store.spark_runs().iter();
    runs.map(|run| (run.start.0, run.ran_ns)).collect()
}

#[test]
fn a_spark_waits_with_its_thread() {
    let found = runs(&[
        (5, 1, Step::Run(7)),
        (10, 1, Step::Spark),
        (13, 1, Step::Stop(7, YIELDED)),
        // Another thread's spark on the same capability in between.
        (14, 1, Step::Run(8)),
        (15, 1, Step::Steal),
        (16, 1, Step::Stop(8, FINISHED)),
        (20, 0, Step::Run(7)),
        (24, 0, Step::Stop(7, FINISHED)),
    ]);
    assert_eq!(found, [(10, 7), (15, 1)]);
}

#[test]
fn where_times_are_equal_a_spark_is_of_the_later_run() {
    let found = runs(&[
        (5, 0, Step::Run(7)),
        (10, 0, Step::Stop(7, FINISHED)),
        (10, 0, Step::Run(8)),
        (10, 0, Step::Spark),
        (14, 0, Step::Stop(8, YIELDED)),
        (20, 0, Step::Run(9)),
        // A spark created at the last moment of a run, with no run following.
        (24, 0, Step::Spark),
        (24, 0, Step::Stop(9, FINISHED)),
        (30, 0, Step::Run(8)),
        (31, 0, Step::Stop(8, FINISHED)),
    ]);
    assert_eq!(found, [(10, 5), (24, 0)]);
}

#[test]
fn what_never_ends_is_no_run() {
    let found = runs(&[
        (5, 0, Step::Run(7)),
        (10, 0, Step::Spark),
        (12, 0, Step::Spark),
        // No thread runs on capability 1.
        (13, 1, Step::Spark),
        (20, 0, Step::Stop(7, YIELDED)),
        (30, 0, Step::Run(7)),
    ]);
    assert_eq!(found, [(10, 2)]);
}

/// Turns random values into steps that a scheduler could take. Each tuple is: time since the previous step,
/// capability, kind of step, thread.
fn valid_steps(drawn: &[(u64, u16, u8, u32)]) -> Vec<(u64, u16, Step)> {
    let (mut at, mut steps) = (0, Vec::new());
    let (mut running, mut finished) = ([None; 2], BTreeSet::new());
    for &(after, cap, what, thread) in drawn {
        at += after;
        let here = running[usize::from(cap)];
        let step = match (here, what) {
            (Some(_), 0..4) => Step::Spark,
            (Some(_), 4) => Step::Steal,
            (Some(runs), 5) => {
                finished.insert(runs);
                Step::Stop(runs, FINISHED)
            }
            (Some(runs), _) => Step::Stop(runs, YIELDED),
            (None, _) if finished.contains(&thread) || running.contains(&Some(thread)) => continue,
            (None, _) => Step::Run(thread),
        };
        running[usize::from(cap)] = match step {
            Step::Run(thread) => Some(thread),
            Step::Stop(..) => None,
            Step::Spark | Step::Steal => here,
        };
        steps.push((at, cap, step));
    }
    steps
}

proptest! {
    #[test]
    fn any_schedule_is_as_the_events_say(
        drawn in prop::collection::vec((1..9_u64, 0..2_u16, 0..10_u8, 1..6_u32), 0..300),
    ) {
        let bytes = log(&valid_steps(&drawn));
        let session = common::session_of(&bytes).expect("a log");
        let plain = PlainSparks::of(&bytes).expect("a log");
        prop_assert_eq!(compare(&session, &plain), Ok(plain.runs.len()));
    }
}
