//! Time of threads: each rule on a synthetic log, and order, filter and range of the table.

use crate::common;

use analysis::timeline::store::Store;
use analysis::timeline::thread_table::{
    ThreadColumn, ThreadEnd, ThreadSums, ThreadTable, ThreadTableQuery, ThreadTableRow,
};
use analysis::yielder::{NoYield, block_on};
use common::build::LogBuilder;
use common::store_of;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{Class, WaitReason};
use model::lane::Lane;
use model::time::Interval;
use session::cells::RowFormat;
use session::thread_export::COLUMNS;

/// Stop codes in the standard numbering.
const HEAP: u16 = 1;
const STACK: u16 = 2;
const YIELD: u16 = 3;
const DONE: u16 = 5;
const CALL: u16 = 6;
const MVAR: u16 = 7;
const STM: u16 = 12;

/// Builds a log with one block on capability 0.
fn log(fill: impl FnOnce(&mut LogBuilder) -> &mut LogBuilder) -> Store {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 100_000_000_000), fill).end();
    store_of(&log.bytes).expect("a log")
}

/// Appends events about threads.
trait Events {
    fn create(&mut self, time: u64, thread: u32) -> &mut Self;
    fn runnable(&mut self, time: u64, thread: u32) -> &mut Self;
    fn migrate(&mut self, time: u64, thread: u32) -> &mut Self;
    fn wake(&mut self, time: u64, thread: u32) -> &mut Self;
    fn name(&mut self, time: u64, thread: u32, label: &str) -> &mut Self;
}

impl Events for LogBuilder {
    fn create(&mut self, time: u64, thread: u32) -> &mut Self {
        self.event(0, time, &thread.to_be_bytes())
    }
    fn runnable(&mut self, time: u64, thread: u32) -> &mut Self {
        self.event(3, time, &thread.to_be_bytes())
    }
    fn migrate(&mut self, time: u64, thread: u32) -> &mut Self {
        let payload = [&thread.to_be_bytes()[..], &[0, 1]].concat();
        self.event(4, time, &payload)
    }
    fn wake(&mut self, time: u64, thread: u32) -> &mut Self {
        let payload = [&thread.to_be_bytes()[..], &[0, 1]].concat();
        self.event(8, time, &payload)
    }
    fn name(&mut self, time: u64, thread: u32, label: &str) -> &mut Self {
        let payload = [&thread.to_be_bytes()[..], label.as_bytes()].concat();
        self.event(44, time, &payload)
    }
}

fn table(store: &Store, query: ThreadTableQuery) -> ThreadTable {
    let all = ThreadTableQuery {
        rows: if query.rows.is_empty() {
            0..u64::MAX
        } else {
            query.rows
        },
        ..query
    };
    block_on(store.thread_table(&all, &NoYield)).expect("the log is read")
}

fn whole(store: &Store) -> ThreadTable {
    table(store, ThreadTableQuery::default())
}

fn only(store: &Store) -> ThreadTableRow {
    let mut rows = whole(store).rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

/// Returns the times of running, waiting for a capability, blocked on an MVar, in a foreign call. There must be no
/// others.
fn times(sums: &ThreadSums) -> [u64; 4] {
    let blocked = sums.times.blocked_ns;
    let [mvar, call] = [WaitReason::Mvar, WaitReason::ForeignCall];
    assert_eq!(
        sums.times.all_blocked_ns(),
        blocked[mvar as usize] + blocked[call as usize]
    );
    assert_eq!(sums.times.open_ns, 0);
    [
        sums.times.running_ns,
        sums.times.ready_ns(),
        blocked[mvar as usize],
        blocked[call as usize],
    ]
}

/// Returns the nonempty spans of a thread's lane.
fn lane(store: &Store, thread: u32) -> Vec<(u64, u64, Class)> {
    let lane = store.thread_lane(ThreadId(thread)).expect("the thread");
    (0..lane.len())
        .map(|i| (lane.span(i).0, lane.span(i).1, lane.class(i)))
        .filter(|(start, end, _)| start < end)
        .collect()
}

#[test]
fn a_turn_that_is_not_there_is_nothing() {
    // The page may still request spans of a previously opened log.
    let store = log(|b| b.create(10, 7).run(30, 7).stop(35, 7, DONE));
    let lane = store.thread_lane(ThreadId(7)).expect("the thread");
    for index in [lane.len(), lane.len() + 1, lane.len() + 2, 3_000_000] {
        assert!(lane.span(index).0 <= lane.span(index).1);
        assert_eq!((lane.cap(index), lane.owner(index)), (None, None));
        assert_eq!(lane.run_index(index), None);
    }
    assert_eq!(lane.code(3_000_000), None);
}

#[test]
fn a_new_thread_is_ready_at_once() {
    let store = log(|b| b.create(10, 7).wake(12, 7).run(30, 7).stop(35, 7, DONE));
    let row = only(&store);
    assert_eq!(times(&row.sums), [5, 20, 0, 0]);
    assert_eq!(row.created, Some(Nanos(10)));
    assert_eq!(row.finished, Some(Nanos(35)));
    assert_eq!(row.end, ThreadEnd::Finished);
    assert_eq!((row.sums.runs, row.sums.wakeups), (1, 1));
    let lane = lane(&store, 7);
    assert_eq!(lane, [(10, 30, Class::Ready), (30, 35, Class::Running)]);
}

#[test]
fn after_a_yield_or_an_overflow_it_is_ready_at_once() {
    for code in [HEAP, STACK, YIELD] {
        // A migration before the next run changes nothing.
        let store = log(|b| {
            b.run(10, 7).stop(20, 7, code).migrate(40, 7);
            b.run(50, 7).stop(60, 7, DONE)
        });
        let row = only(&store);
        assert_eq!(times(&row.sums), [20, 30, 0, 0], "code {code}");
        assert_eq!((row.created, row.sums.migrations), (None, 1));
    }
}

#[test]
fn after_a_block_it_is_ready_from_the_first_wakeup_on() {
    type Wake = fn(&mut LogBuilder) -> &mut LogBuilder;
    let ways: [Wake; 4] = [
        |b| b.wake(26, 7).wake(40, 7),
        |b| b.wake(26, 7).migrate(30, 7),
        |b| b.migrate(26, 7).wake(27, 7),
        |b| b.runnable(26, 7),
    ];
    for (i, wake) in ways.into_iter().enumerate() {
        let store = log(|b| {
            b.run(10, 7).stop(20, 7, MVAR);
            wake(b).run(50, 7).stop(60, 7, DONE)
        });
        let row = only(&store);
        assert_eq!(times(&row.sums), [20, 24, 6, 0], "way {i}");
        assert_eq!(row.sums.longest_ready_ns, 24);
        assert_eq!(row.sums.mean_ready_ns(), Some(24));
        let lane = lane(&store, 7);
        let waits = [(20, 26, Class::Mvar), (26, 50, Class::Ready)];
        assert_eq!(lane[1..3], waits, "way {i}");
    }
}

#[test]
fn only_a_wakeup_after_the_stop_counts() {
    // A wakeup before the stop belongs to an earlier wait, or came while the thread ran.
    let store = log(|b| {
        b.wake(5, 7).run(10, 7).wake(15, 7).stop(20, 7, MVAR);
        b.run(50, 7).stop(60, 7, DONE).wake(70, 7)
    });
    let row = only(&store);
    assert_eq!(times(&row.sums), [20, 0, 30, 0]);
    assert_eq!(row.sums.times.ready_waits, 0);
    assert_eq!(row.sums.mean_ready_ns(), None);
    // All wakeups are counted nevertheless.
    assert_eq!(row.sums.wakeups, 3);
}

#[test]
fn each_wait_needs_a_wakeup_of_its_own() {
    let store = log(|b| {
        b.run(10, 7).stop(20, 7, MVAR).wake(26, 7);
        b.run(50, 7).stop(60, 7, MVAR);
        b.run(90, 7).stop(99, 7, DONE)
    });
    assert_eq!(times(&only(&store).sums), [29, 24, 36, 0]);
}

#[test]
fn all_of_the_wait_after_a_foreign_call_is_the_call() {
    let store = log(|b| {
        b.run(10, 7).stop(20, 7, CALL).wake(30, 7).migrate(31, 7);
        b.run(50, 7).stop(60, 7, DONE)
    });
    assert_eq!(times(&only(&store).sums), [20, 0, 0, 30]);
    assert_eq!(lane(&store, 7)[1], (20, 50, Class::Foreign));
}

#[test]
fn reasons_are_told_apart() {
    let codes = [
        (MVAR, WaitReason::Mvar),
        (20, WaitReason::Mvar),
        (8, WaitReason::BlackHole),
        (STM, WaitReason::Stm),
        (18, WaitReason::ThrowTo),
        (CALL, WaitReason::ForeignCall),
        (15, WaitReason::ForeignCall),
        (11, WaitReason::Delay),
        (9, WaitReason::Io),
        (10, WaitReason::Io),
        (13, WaitReason::Io),
        (21, WaitReason::Io),
        (0, WaitReason::Other),
        (4, WaitReason::Other),
        (77, WaitReason::Other),
    ];
    for (code, reason) in codes {
        let store = log(|b| b.run(10, 7).stop(20, 7, code).run(50, 7).stop(60, 7, DONE));
        let mut expected = [0; 8];
        expected[reason as usize] = 30;
        assert_eq!(only(&store).sums.times.blocked_ns, expected, "code {code}");
        let lane = lane(&store, 7);
        assert_eq!(lane[1], (20, 50, reason.class()), "code {code}");
    }
}

#[test]
fn a_wait_of_more_than_32_bits_is_exact() {
    let (woken, run) = (30, 30 + 3 * (1u64 << 32) + 7);
    let store = log(|b| {
        b.run(10, 7).stop(20, 7, MVAR).wake(woken, 7);
        b.run(run, 7).stop(run + 10, 7, MVAR).wake(run + 12, 7);
        b.run(run + 12 + u64::from(u32::MAX), 7)
            .stop(run + 13 + u64::from(u32::MAX), 7, DONE)
    });
    let sums = only(&store).sums;
    assert_eq!(sums.longest_ready_ns, run - woken);
    assert_eq!(times(&sums)[1], run - woken + u64::from(u32::MAX));
    assert_eq!(times(&sums)[2], 12);
}

#[test]
fn what_goes_on_at_the_end_of_the_log() {
    // The log ends at 100 ns, when thread 9 stops.
    let end = |code: u16, woken: bool| {
        log(|b| {
            b.run(10, 7).stop(20, 7, code);
            if woken {
                b.wake(70, 7);
            }
            b.run(90, 9).stop(100, 9, DONE)
        })
    };
    let row = |store: &Store| whole(store).rows.into_iter().find(|row| row.id.0 == 7);
    let blocked = row(&end(MVAR, false)).expect("thread 7");
    assert_eq!(times(&blocked.sums), [10, 0, 80, 0]);
    assert_eq!(blocked.end.explanation(), "still blocked on an MVar");
    assert_eq!(blocked.finished, None);
    let woken = row(&end(MVAR, true)).expect("thread 7");
    assert_eq!(times(&woken.sums), [10, 30, 50, 0]);
    assert_eq!(woken.end, ThreadEnd::Ready);
    let yielded = row(&end(YIELD, false)).expect("thread 7");
    assert_eq!(times(&yielded.sums), [10, 80, 0, 0]);
    assert_eq!(yielded.end, ThreadEnd::Ready);

    let mut running = LogBuilder::new();
    running.block(Some(0), (1, 100), |b| b.run(10, 7));
    running.block(Some(1), (1, 100), |b| b.run(90, 9).stop(100, 9, DONE));
    let running = store_of(&running.end().bytes).expect("a log");
    let row = row(&running).expect("thread 7");
    assert_eq!(row.end, ThreadEnd::Running);
    assert_eq!(row.sums.times.open_ns, 90);
    assert_eq!(row.sums.times.life_ns(), 90);
}

#[test]
fn a_thread_of_which_only_the_name_is_known() {
    let store = log(|b| b.name(10, 7, "ghost").run(20, 9).stop(30, 9, DONE));
    let rows = whole(&store).rows;
    let ghost = rows.iter().find(|row| row.id.0 == 7).expect("it is listed");
    assert_eq!(ghost.end, ThreadEnd::Unknown);
    assert_eq!(ghost.sums, ThreadSums::default());
}

#[test]
fn a_thread_that_never_ran() {
    let store = log(|b| b.create(10, 7).name(60, 7, "x"));
    let row = only(&store);
    assert_eq!(times(&row.sums), [0, 50, 0, 0]);
    assert_eq!((row.end, row.sums.runs), (ThreadEnd::Ready, 0));
}

#[test]
fn a_second_stop_is_no_run() {
    let store = log(|b| {
        b.run(10, 7).stop(20, 7, MVAR).wake(25, 7);
        b.stop(30, 7, STM).run(50, 7).stop(60, 7, DONE)
    });
    let sums = only(&store).sums;
    assert_eq!(sums.runs, 2);
    assert_eq!(sums.times.ready_ns(), 5);
    assert_eq!(sums.times.blocked_ns[WaitReason::Stm as usize], 20);
    assert_eq!(sums.times.life_ns(), 50);
}

/// Three threads: 7 runs often, 8 waits long, 9 migrates and has no label.
fn three() -> Store {
    log(|b| {
        b.create(5, 7).create(6, 8).create(7, 9);
        b.name(8, 7, "Worker 1").name(9, 8, "worker 2");
        for i in 0..100 {
            b.run(1000 + i * 100, 7).stop(1040 + i * 100, 7, YIELD);
        }
        b.run(20_000, 8).stop(20_010, 8, DONE);
        b.migrate(21_000, 9)
            .wake(21_500, 9)
            .run(22_000, 9)
            .stop(22_005, 9, MVAR);
        b.wake(23_000, 9)
            .migrate(23_100, 9)
            .run(24_000, 9)
            .stop(24_001, 9, DONE)
    })
}

fn ids(table: &ThreadTable) -> Vec<u32> {
    table.rows.iter().map(|row| row.id.0).collect()
}

#[test]
fn sorts_by_any_column() {
    let store = three();
    let sorted = |sort, descending| {
        ids(&table(
            &store,
            ThreadTableQuery {
                sort,
                descending,
                ..Default::default()
            },
        ))
    };
    use ThreadColumn::*;
    let cases = [
        (Thread, false, [7, 8, 9]),
        (Thread, true, [9, 8, 7]),
        // Threads without a label come last in both directions.
        (Label, false, [7, 8, 9]),
        (Label, true, [8, 7, 9]),
        (Created, true, [9, 8, 7]),
        // Thread 7 did not finish.
        (Finished, false, [8, 9, 7]),
        (Finished, true, [9, 8, 7]),
        (End, false, [8, 9, 7]),
        (Running, true, [7, 8, 9]),
        (Running, false, [9, 8, 7]),
        (Ready, true, [9, 7, 8]),
        (Blocked, true, [9, 7, 8]),
        (BlockedOn(WaitReason::Mvar), true, [9, 7, 8]),
        (Runs, true, [7, 9, 8]),
        (LongestReady, true, [9, 8, 7]),
        (MeanReady, false, [7, 9, 8]),
        (Wakeups, true, [9, 7, 8]),
        (Migrations, true, [9, 7, 8]),
    ];
    for (column, descending, expected) in cases {
        assert_eq!(
            sorted(column, descending),
            expected,
            "{column:?} {descending}"
        );
    }
}

#[test]
fn filters_and_cuts_rows_out() {
    let store = three();
    let filtered = |filter: &str| {
        let query = ThreadTableQuery {
            filter: filter.to_owned(),
            sort: ThreadColumn::Thread,
            ..Default::default()
        };
        table(&store, query)
    };
    assert_eq!(ids(&filtered("WORK")), [7, 8]);
    assert_eq!(ids(&filtered("9")), [9]);
    assert_eq!(ids(&filtered("#8")), [8]);
    let none = filtered("nobody");
    assert_eq!((none.rows.len(), none.total), (0, 0));
    // The sums cover only the filtered rows.
    let workers = filtered("worker");
    assert_eq!(workers.total, 2);
    assert_eq!(workers.all.runs, 101);
    assert_eq!(workers.all.times.running_ns, 4010);
    assert_eq!(workers.all.migrations, 0);

    let part = |rows| {
        let query = ThreadTableQuery {
            sort: ThreadColumn::Thread,
            rows,
            ..Default::default()
        };
        let part = table(&store, query);
        assert_eq!((part.total, part.all.runs), (3, 103));
        ids(&part)
    };
    assert_eq!(part(0..2), [7, 8]);
    assert_eq!(part(1..2), [8]);
    assert_eq!(part(2..9), [9]);
    assert_eq!(part(5..9), [0; 0]);
}

#[test]
fn only_some_threads_are_wanted() {
    let store = three();
    let only = |threads: &[u32], filter: &str, range: Option<(u64, u64)>| {
        let query = ThreadTableQuery {
            only: threads.iter().copied().map(ThreadId).collect(),
            filter: filter.to_owned(),
            range: range.map(|(from, to)| Interval::new(Nanos(from), Nanos(to))),
            sort: ThreadColumn::Thread,
            ..Default::default()
        };
        table(&store, query)
    };
    assert_eq!(ids(&only(&[], "", None)), [7, 8, 9]);
    // Order, duplicates and unknown ids in the request do not matter.
    let two = only(&[9, 77, 7, 9], "", None);
    assert_eq!(ids(&two), [7, 9]);
    assert_eq!(two.total, 2);
    // The sums cover only these rows, which are unchanged.
    let all = only(&[], "", None);
    assert_eq!(two.rows, [all.rows[0].clone(), all.rows[2].clone()]);
    assert_eq!((two.all.runs, two.all.wakeups), (102, 2));
    assert_eq!(two.all.times.running_ns, 4006);
    // Combined with a filter or a range: rows that satisfy both.
    assert_eq!(ids(&only(&[8, 9], "worker", None)), [8]);
    assert_eq!(ids(&only(&[8, 9], "", Some((22_500, 23_050)))), [9]);
    assert_eq!(only(&[77], "", None).total, 0);
    let csv = COLUMNS.text(&two.rows, RowFormat::Csv, true);
    let threads: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(threads, ["thread", "7", "9"]);
}

#[test]
fn a_range_clips_times_and_counts_what_happens_in_it() {
    let store = three();
    let range = |from, to| {
        let query = ThreadTableQuery {
            range: Some(Interval::new(Nanos(from), Nanos(to))),
            sort: ThreadColumn::Thread,
            ..Default::default()
        };
        table(&store, query)
    };
    // From the middle of a run of thread 7 to the middle of a later one.
    let part = range(1120, 9130);
    assert_eq!(ids(&part), [7, 8, 9]);
    let seven = &part.rows[0].sums;
    assert_eq!(seven.runs, 80);
    assert_eq!(seven.times.running_ns, 20 + 79 * 40 + 30);
    assert_eq!(seven.times.ready_ns(), 80 * 60);
    assert_eq!((seven.longest_ready_ns, seven.times.ready_waits), (60, 80));
    assert_eq!(part.rows[1].sums.times.ready_ns(), 8010);
    // Thread 8 has finished before; thread 9 is woken once and migrates in this range.
    let late = range(22_500, 23_050);
    assert_eq!(ids(&late), [7, 9]);
    let nine = &late.rows[1].sums;
    assert_eq!((nine.wakeups, nine.migrations), (1, 0));
    assert_eq!(nine.times.blocked_ns[WaitReason::Mvar as usize], 500);
    assert_eq!(nine.times.ready_ns(), 50);
    assert_eq!(nine.runs, 0);
    // Before the first thread.
    assert_eq!(range(0, 3).total, 0);
}

#[test]
fn a_log_that_is_not_read_to_its_end_has_no_table() {
    assert_eq!(
        block_on(Store::default().thread_table(&ThreadTableQuery::default(), &NoYield)),
        None
    );
}
