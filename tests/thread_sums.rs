//! Time of threads on every log: compared with the references, and exact to the nanosecond however the log is
//! divided.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use analysis::automata::thread_state::{Activity, ThreadSpan};
use analysis::spans::{Analyses, OpenSpan, SpanSink, Spans, WaitReasons};
use analysis::timeline::store::Store;
use analysis::timeline::thread_table::{
    ThreadEnd, ThreadTable, ThreadTableQuery, ThreadTableRow, TurnVisitor,
};
use analysis::timeline::turns::{PARTS, Turn, TurnSums};
use analysis::yielder::{NoYield, block_on};
use common::build::LogBuilder;
use common::{
    expect, expected_coverage, for_all, for_all_stores, reference_is_wrong, stdout, store_of,
};
use eventlog::ids::{Nanos, ThreadId};
use eventlog::source::read_log;
use model::class::{Class, ManagerThread, StopCode, WAIT_REASONS, WaitReason};
use model::lane::Lane;
use model::time::Interval;
use proptest::prelude::*;
use session::thread_export::COLUMNS;

fn table(store: &Store, range: Option<Interval>) -> ThreadTable {
    let query = ThreadTableQuery {
        range,
        rows: 0..u64::MAX,
        ..ThreadTableQuery::default()
    };
    block_on(store.thread_table(&query, &NoYield)).expect("the log is read")
}

/// Number of a turn, its parts, and the reasons of both stops.
type TurnParts = (usize, [(u64, u64); PARTS], StopCode, Option<StopCode>);

fn turn_parts(number: usize, turn: &Turn) -> TurnParts {
    let parts = std::array::from_fn(|part| turn.part(part));
    (number, parts, turn.last_stop, turn.code)
}

/// Turns that were visited for sums, by the place of their thread.
#[derive(Default)]
struct VisitedTurns {
    of_thread: Vec<TurnParts>,
    all: BTreeMap<u32, Vec<TurnParts>>,
}

impl TurnVisitor for VisitedTurns {
    const VISITS: bool = true;
    fn begin(&mut self) {
        self.of_thread.clear();
    }
    fn turn(&mut self, number: usize, turn: &Turn) {
        self.of_thread.push(turn_parts(number, turn));
    }
    fn end(&mut self, place: u32, _: bool) {
        self.all.insert(place, std::mem::take(&mut self.of_thread));
    }
}

/// Turns that are visited for sums are those of each thread, and do not change the sums.
#[test]
fn turns_are_visited_as_sums_are_computed() {
    for_all_stores(expected_coverage([28, 1667], [101, 7608]), |_, store| {
        let end = store.end().0;
        for (from, to) in [(0, end), (end / 3, end / 3 * 2)] {
            let range = Interval::new(Nanos(from), Nanos(to));
            let mut visited = VisitedTurns::default();
            let all = block_on(store.threads_in_visiting(range, (&NoYield, &mut visited)));
            let expected = block_on(store.threads_in(range, &NoYield));
            expect("threads", all.count, expected.count)?;
            expect("sums", all.times, expected.times)?;
            let run_times = block_on(store.run_times_in(range, &NoYield));
            expect("run times", all.run_times, Some(run_times))?;
            for life in store.lives() {
                let Some(turns) = visited.all.remove(&life.place()) else {
                    continue;
                };
                let read = life.turns_overlapping(range);
                let read = read.map(|(number, turn)| turn_parts(number, &turn));
                expect("turns", turns, read.collect())?;
            }
            expect("other threads", visited.all.len(), 0)?;
        }
        Ok(store.lives().count())
    });
}

/// The aggregates that rules use instead of single runs equal those computed from runs: lives and run times,
/// threads with many runs, threads blocked for a reason, and the sums of all.
#[test]
fn shortcuts_of_rules_are_what_runs_tell() {
    for_all_stores(expected_coverage([28, 1667], [101, 7608]), |_, store| {
        let range = Interval::new(Nanos(0), store.end());
        let all = block_on(store.threads_in(range, &NoYield));
        let table = table(store, Some(range));
        expect("threads", all.count, table.total)?;
        expect("sums", all.times, table.all.times)?;
        let lives: Vec<_> = store.lives().collect();
        for life in &lives {
            let Some((lived, ran_ns)) = life.complete_life() else {
                continue;
            };
            let what = format!("thread {}", life.id());
            expect(&what, lived, life.life())?;
            let runs = life.turns_overlapping(lived).map(|(_, turn)| turn.run_ns());
            expect(&what, ran_ns, runs.sum())?;
        }
        for least in [1, 3, 100] {
            let often = lives.iter().filter(|life| life.runs() >= least);
            let ours = store.lives_with_min_runs(u32::try_from(least).unwrap_or(u32::MAX));
            let ours: Vec<ThreadId> = ours.map(|life| life.id()).collect();
            expect("lives", ours, often.map(|life| life.id()).collect())?;
        }
        for reason in WaitReason::ALL {
            let blocked = table.rows.iter();
            let blocked = blocked.filter(|row| row.sums.times.blocked_ns[reason as usize] > 0);
            let theirs: BTreeSet<ThreadId> = blocked.map(|row| row.id).collect();
            let ours = store.lives_blocked(&all, std::iter::once(reason));
            expect("blocked", ours.map(|life| life.id()).collect(), theirs)?;
        }
        Ok(lives.len())
    });
}

/// Run time, runs and labels agree with the counts of an independent program.
#[test]
fn runs_and_labels_agree() {
    for_all_stores(expected_coverage([28, 1667], [101, 7608]), |case, store| {
        let Some(sums) = case.sums().filter(|_| !reference_is_wrong(case)) else {
            return Ok(0);
        };
        let rows = table(store, None).rows;
        let ours: BTreeMap<String, &ThreadTableRow> =
            rows.iter().map(|row| (row.id.to_string(), row)).collect();
        let theirs = sums["threads"].as_object().ok_or("no threads")?;
        for (id, theirs) in theirs {
            let Some(ours) = ours.get(id) else {
                return Err(format!("thread {id} is missing"));
            };
            let times = &ours.sums.times;
            let run_ns = theirs["run_ns"].as_u64().ok_or("no run_ns")?;
            expect(&format!("thread {id}"), times.running_ns, run_ns)?;
            let open = u64::from(ours.end == ThreadEnd::Running);
            let slices = theirs["slices"].as_u64().ok_or("no slices")?;
            expect(&format!("runs of {id}"), ours.sums.runs - open, slices)?;
            let labels = theirs["labels"].as_array().ok_or("no labels")?;
            let label = labels.last().and_then(|label| label.as_str());
            expect(&format!("label of {id}"), ours.label.as_deref(), label)?;
        }
        Ok(theirs.len())
    });
}

/// Thread according to the reference's list of events.
#[derive(Default)]
struct ThreadSums {
    /// Start and reason of the current wait; `None` while it runs, before it began, and after it finished.
    waits: Option<(u64, String)>,
    woken: Option<u64>,
    finished: bool,
    ready_ns: u64,
    blocked_ns: u64,
    wakeups: u64,
    migrations: u64,
}

impl ThreadSums {
    fn event(&mut self, time: u64, name: &str, status: &str) {
        match name {
            "WakeupThread" => self.wakeups += 1,
            "MigrateThread" => self.migrations += 1,
            _ => {}
        }
        match (name, &self.waits) {
            _ if self.finished => {}
            ("CreateThread", None) => self.waits = Some((time, "created".to_owned())),
            ("WakeupThread" | "MigrateThread" | "ThreadRunnable", Some(_)) => {
                self.woken.get_or_insert(time);
            }
            ("RunThread", Some(_)) => self.wait_ends(time),
            ("StopThread", _) => {
                self.wait_ends(time);
                self.finished = status == "ThreadFinished";
                self.waits = (!self.finished).then(|| (time, status.to_owned()));
            }
            _ => {}
        }
    }

    fn wait_ends(&mut self, time: u64) {
        let woken = self.woken.take();
        let Some((since, why)) = self.waits.take() else {
            return;
        };
        let block_on = ["created", "HeapOverflow", "StackOverflow", "ThreadYielding"];
        let ready = match why.as_str() {
            why if block_on.contains(&why) => since,
            "ForeignCall" => time,
            _ => woken.unwrap_or(time),
        };
        self.blocked_ns += ready - since;
        self.ready_ns += time - ready;
    }
}

/// Waits for a capability agree with the documented rule, applied to the reference's list of events.
#[test]
fn waits_for_a_capability_agree() {
    for_all_stores(expected_coverage([28, 1667], [101, 7609]), |case, store| {
        let Some(events) = case.reference("events.tsv.gz") else {
            return Ok(0);
        };
        if reference_is_wrong(case) {
            return Ok(0);
        }
        let mut told: BTreeMap<u32, ThreadSums> = BTreeMap::new();
        let mut end = 0;
        for row in events.lines() {
            let row: Vec<&str> = row.split('\t').collect();
            let [time, _cap, name, fields, ..] = row[..] else {
                return Err(format!("{row:?}"));
            };
            end = time.parse().expect("nanoseconds");
            let field = |name: &str| {
                let at = fields.find(name)? + name.len();
                fields[at..].split([',', '}', ' ']).next()
            };
            let about_a_thread = [
                "CreateThread",
                "RunThread",
                "StopThread",
                "ThreadRunnable",
                "WakeupThread",
                "MigrateThread",
            ];
            if let Some(thread) = field("thread = ").filter(|_| about_a_thread.contains(&name)) {
                let thread = told.entry(thread.parse().expect("a thread")).or_default();
                thread.event(end, name, field("status = ").unwrap_or_default());
            }
        }
        let rows = table(store, None).rows;
        for row in &rows {
            let mut told = told.remove(&row.id.0).unwrap_or_default();
            told.wait_ends(end);
            let sums = &row.sums;
            let times = &sums.times;
            // The content of a lost buffer is unknown to both.
            if times.unknown_ns > 0 {
                continue;
            }
            let ours = [
                times.ready_ns() + times.runnable_during_gc_ns,
                sums.times.all_blocked_ns(),
                sums.wakeups,
                sums.migrations,
            ];
            let theirs = [
                told.ready_ns,
                told.blocked_ns,
                told.wakeups,
                told.migrations,
            ];
            expect(&format!("thread {}", row.id), ours, theirs)?;
        }
        Ok(rows.len())
    });
}

/// Waits in the lifecycle by thread: time by reason if the thread has to be woken, and the total of all others.
#[derive(Default)]
struct Waits {
    threads: BTreeMap<ThreadId, ([u64; WAIT_REASONS], u64)>,
    reasons: WaitReasons,
}

impl SpanSink for Waits {
    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        if !matches!(span.activity, Activity::Blocked(_)) {
            return;
        }
        let reason = self.reasons.end(thread, &span);
        let (blocked, ready) = self.threads.entry(thread).or_default();
        *match reason {
            Some(reason) => &mut blocked[reason as usize],
            None => ready,
        } += span.span.duration().0;
    }

    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.reasons.woken_by(thread, manager);
    }

    fn open(&mut self, open: OpenSpan) {
        if let OpenSpan::Thread(thread, span, woken) = open {
            self.thread(thread, span, woken);
        }
    }
}

/// The sum of blocked time and waits for a capability equals the waits in the lifecycle.
#[test]
fn waits_are_those_of_the_lifecycle() {
    for_all_stores(expected_coverage([29, 1680], [106, 7660]), |case, store| {
        let analyses = Analyses {
            lifecycle: true,
            mutator_by_cap: false,
        };
        let mut spans = Spans::new(analyses, Waits::default());
        read_log(&mut case.bytes().as_slice(), &mut spans).map_err(|error| error.to_string())?;
        let waits = spans.finish().threads;
        let rows = table(store, None).rows;
        for row in &rows {
            let (waits, ready_ns) = waits.get(&row.id).copied().unwrap_or_default();
            let times = &row.sums.times;
            if times.unknown_ns > 0 {
                continue;
            }
            let mut woken_ns = 0;
            for reason in WaitReason::ALL {
                let late = waits[reason as usize].checked_sub(times.blocked_ns[reason as usize]);
                let late = late.ok_or_else(|| format!("thread {}: {reason:?}", row.id))?;
                if reason == WaitReason::ForeignCall {
                    expect("foreign calls", late, 0)?;
                }
                woken_ns += late;
            }
            let what = format!("thread {}", row.id);
            let ready = times.ready_ns() + times.runnable_during_gc_ns;
            expect(&what, ready, ready_ns + woken_ns)?;
        }
        Ok(rows.len())
    });
}

fn add(sums: &mut TurnSums, other: &TurnSums) {
    sums.running_ns += other.running_ns;
    sums.open_ns += other.open_ns;
    sums.runnable_during_gc_ns += other.runnable_during_gc_ns;
    sums.runnable_behind_ns += other.runnable_behind_ns;
    sums.runnable_cap_idle_ns += other.runnable_cap_idle_ns;
    sums.unknown_ns += other.unknown_ns;
    for (sum, other) in sums.blocked_ns.iter_mut().zip(other.blocked_ns) {
        *sum += other;
    }
}

/// Checks that the parts between `cuts` add up to all time, runs and wakeups, and that each part has the time
/// shown by the thread's lane.
fn adds_up(store: &Store, cuts: &[u64]) -> Result<(), String> {
    let whole = table(store, None);
    let mut cuts: Vec<u64> = cuts.iter().map(|cut| cut % (store.end().0 + 1)).collect();
    cuts.extend([0, store.end().0]);
    cuts.sort_unstable();
    let mut all = TurnSums::default();
    let mut by_thread: BTreeMap<ThreadId, (TurnSums, [u64; 3])> = BTreeMap::new();
    let mut longest = BTreeMap::<ThreadId, u64>::new();
    for part in cuts.windows(2) {
        let range = Interval::new(Nanos(part[0]), Nanos(part[1]));
        let table = table(store, Some(range));
        add(&mut all, &table.all.times);
        for row in table.rows {
            let times = &row.sums.times;
            let (sums, counts) = by_thread.entry(row.id).or_default();
            add(sums, times);
            counts[0] += row.sums.runs;
            counts[1] += row.sums.wakeups;
            counts[2] += row.sums.migrations;
            let longest = longest.entry(row.id).or_default();
            *longest = row.sums.longest_ready_ns.max(*longest);
            let Some(lane) = store.thread_lane(row.id) else {
                continue;
            };
            let shown = lane.time_in(range);
            let what = format!("lane of {} in {range:?}", row.id);
            expect(&what, shown[Class::Running as usize], times.running_ns)?;
            expect(&what, shown[Class::Open as usize], times.open_ns)?;
            expect(
                &what,
                shown[Class::RunnableDuringGc as usize],
                times.runnable_during_gc_ns,
            )?;
            expect(
                &what,
                shown[Class::Ready as usize],
                times.runnable_behind_ns,
            )?;
            expect(
                &what,
                shown[Class::ThreadRunnableCapIdle as usize],
                times.runnable_cap_idle_ns,
            )?;
            expect(&what, shown[Class::Unknown as usize], times.unknown_ns)?;
            let blocked: BTreeSet<Class> = WaitReason::ALL.map(WaitReason::class).into();
            let blocked = blocked.iter().map(|class| shown[*class as usize]).sum();
            expect(&what, times.all_blocked_ns(), blocked)?;
        }
    }
    for row in &whole.rows {
        let what = format!("thread {}", row.id);
        let (mut sums, counts) = by_thread.get(&row.id).copied().unwrap_or_default();
        let times = &row.sums.times;
        sums.ready_waits = times.ready_waits;
        expect(&what, &sums, times)?;
        let whole = [row.sums.runs, row.sums.wakeups, row.sums.migrations];
        expect(&what, counts, whole)?;
        let longest = longest.get(&row.id).copied().unwrap_or_default();
        if longest > row.sums.longest_ready_ns {
            return Err(format!("{what}: a part waits longer than the whole"));
        }
        let life = row.life.map(|life| life.duration().0);
        expect(&what, times.life_ns(), life.unwrap_or_default())?;
        if let Some(created) = row.created {
            let end = row.finished.unwrap_or(store.end());
            expect(&what, row.life, Some(Interval::new(created, end)))?;
        }
    }
    all.ready_waits = whole.all.times.ready_waits;
    expect("all threads", all, whole.all.times)
}

#[test]
fn times_add_up_in_every_log() {
    for_all_stores(expected_coverage([29, 1680], [106, 7660]), |_, store| {
        let end = store.end().0;
        let cuts: Vec<u64> = (1..7).map(|i| end / 7 * i + i).collect();
        adds_up(store, &cuts)?;
        Ok(table(store, None).rows.len())
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn times_add_up_wherever_a_log_is_cut(cuts in prop::collection::vec(any::<u64>(), 0..6)) {
        thread_local! {
            static STORES: Vec<Store> = [
                "ghc-9.0.2/stops-N4-la",
                "ghc-9.6.6/dense-N2-l-flush",
                "ghc-9.6.6/ffi-safe-N2-la",
            ]
            .into_iter()
            .map(|name| store_of(&common::fixture(name).bytes()).expect("a log"))
            .collect();
        }
        STORES.with(|stores| {
            for store in stores {
                adds_up(store, &cuts).map_err(TestCaseError::fail)?;
            }
            Ok::<(), TestCaseError>(())
        })?;
    }

    /// Events of a few threads in any order, with times that may go back: no runtime writes such logs, but damaged
    /// ones may contain anything.
    #[test]
    fn times_add_up_whatever_the_events(
        events in prop::collection::vec((0u8..6, 0u32..4, 0u8..9, 0u16..22, 0u16..3), 1..400),
        cuts in prop::collection::vec(any::<u64>(), 0..5),
    ) {
        let mut log = LogBuilder::new();
        let mut now = 1000u64;
        for chunk in events.chunks(16) {
            let begin = now;
            let cap = chunk[0].4;
            let mut times = Vec::new();
            for &(_, _, step, _, _) in chunk {
                // One step in nine goes back in time.
                now = if step == 0 { now.saturating_sub(40) } else { now + u64::from(step) * 10 };
                times.push(now);
            }
            now = now.max(*times.iter().max().expect("events"));
            log.block(Some(cap), (begin.saturating_sub(50), now), |b| {
                for (&(kind, thread, _, code, _), &time) in chunk.iter().zip(&times) {
                    let id = thread.to_be_bytes();
                    match kind {
                        0 => b.event(0, time, &id),
                        1 | 2 => b.run(time, thread),
                        3 => b.stop(time, thread, code),
                        4 => b.event(8, time, &[&id[..], &[0, 0]].concat()),
                        _ => b.event(4, time, &[&id[..], &[0, 0]].concat()),
                    };
                }
                b
            });
        }
        let store = store_of(&log.end().bytes).expect("a log");
        adds_up(&store, &cuts).map_err(TestCaseError::fail)?;
    }
}

/// The command prints the results of the library.
#[test]
fn the_command_prints_the_table() {
    for_all(expected_coverage([29, 1946], [106, 9662]), |case| {
        let Ok(store) = store_of(&case.bytes()) else {
            return Ok(0);
        };
        let path = case.path();
        let end = store.end().0;
        let (from, to) = ((end / 3).to_string(), (end / 2).to_string());
        let range = Interval::new(Nanos(end / 3), Nanos(end / 2));
        let tables = [
            (vec![], table(&store, None)),
            (
                vec!["--from", &from, "--to", &to],
                table(&store, Some(range)),
            ),
        ];
        let mut compared = 0;
        for (options, table) in tables {
            if table.total == 0 && !options.is_empty() {
                continue; // the part precedes the first event
            }
            let arguments = [&["threads", path, "--header"], &options[..]].concat();
            let printed = stdout(&arguments);
            let mut lines = printed.lines();
            expect(
                "header",
                lines.next(),
                Some(COLUMNS.names().join("\t").as_str()),
            )?;
            expect("rows", lines.count() as u64, table.total)?;
            let arguments = [&["threads", path, "--json"], &options[..]].concat();
            let rows: serde_json::Value = serde_json::from_str(&stdout(&arguments)).expect("JSON");
            let rows = rows.as_array().ok_or("no list")?;
            compared += table.rows.len();
            for row in &table.rows {
                let printed = rows.iter().find(|printed| printed["thread"] == row.id.0);
                let printed = printed.ok_or_else(|| format!("thread {} is missing", row.id))?;
                for (name, cell) in COLUMNS.names().into_iter().zip(COLUMNS.cells(row)) {
                    expect(name, &printed[name], &cell.to_json())?;
                }
            }
        }
        Ok(compared)
    });
}
