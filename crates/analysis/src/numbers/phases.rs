//! INIT and EXIT, the phases in which the runtime starts and ends, as `+RTS -s` reports them.
//!
//! The log has no events for them. They are bounded by the calls that the main OS thread makes into Haskell,
//! each of which is a task from `TaskCreate` to `TaskDelete` (`rts/RtsStartup.c`, `rts/RtsMain.c`):
//!
//! | call | made by | bounds |
//! |---|---|---|
//! | start of the I/O manager (threaded runtime only) | `hs_init` | INIT ends when it returns |
//! | `main` | `hs_main` | INIT ends before it, EXIT begins when it returns |
//! | flush of the standard handles | `hs_exit` | EXIT begins before it |
//!
//! A program that ends by `exitWith` calls `hs_exit` from inside of `main`, whose last stop is that foreign call. EXIT
//! ends, and the runtime makes up its report, right after the last `HeapAllocated`.
//!
//! All bounds are within some microseconds of the runtime's own; where a busy capability delays a call, the event
//! that comes before the delay is taken.

use super::Numbers;
use super::steps::Window;
use crate::info::Info;
use crate::process::Way;
use crate::timeline::store::Store;
use crate::timeline::tasks::{OPEN, Tasks};
use eventlog::ids::{Nanos, OsThreadId, TaskId};
use model::class::WaitReason;
use model::span_lane::Piece;
use model::time::Interval;

/// A thread is created within this time of the task that calls it.
const AT_ONCE_NS: u64 = 100_000;

/// When INIT ends, EXIT begins and the runtime makes up its report, as far as the log tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// When INIT ends; it begins with the log's clock. `None` if the log does not tell of the phases.
    init_end: Option<Nanos>,
    /// When EXIT begins; `None` if the log ends before.
    exit_start: Option<Nanos>,
    /// When the runtime makes up its report; `None` if that is not before the log's last event.
    report: Option<Nanos>,
}

/// The calls of an OS thread into Haskell that are not made from inside of another.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: usize,
    first: Interval,
    /// When the last call but one ended.
    end_before_last: u64,
    last: Interval,
    /// Whether the log ends before the last call does.
    is_open: bool,
}

impl Calls {
    /// The calls of a task. It is one piece after another where it changes its capability in a call.
    fn of_pieces(pieces: &[Piece]) -> Self {
        let mut calls = Self::default();
        for piece in pieces {
            let span = Interval::new(Nanos(piece.start), Nanos(piece.end));
            if calls.count > 0 && piece.start == calls.last.end().0 {
                calls.last = calls.last.hull(span);
            } else {
                calls.count += 1;
                calls.end_before_last = calls.last.end().0;
                calls.last = span;
            }
            if calls.count == 1 {
                calls.first = calls.last;
            }
            calls.is_open = piece.code == OPEN;
        }
        calls
    }
}

impl Phases {
    /// The phases of a log that is read; `is_shut_down` is whether the runtime ended and wrote all of it.
    pub(crate) fn find(
        info: &Info,
        tasks: &Tasks,
        store: &Store,
        numbers: &Numbers,
        is_shut_down: bool,
    ) -> Self {
        let process = info.process();
        let calls = main_task(tasks, process.pid, process.ways.contains(&Way::Threaded));
        let calls = calls.and_then(|task| Some(Calls::of_pieces(tasks.lane(task)?.pieces())));
        let Some(calls) = calls.filter(|calls| calls.count > 0 && !process.ways.is_empty()) else {
            return Self::default();
        };
        let is_threaded = process.ways.contains(&Way::Threaded);
        // What `hs_main` makes: main, the flush of handles, and the start of the I/O manager.
        let expected = if is_threaded { 3 } else { 2 };
        // While the program runs, or if it ends from inside of main, there is no flush.
        if calls.count + usize::from(calls.is_open) < expected {
            return Self::default();
        }
        let init_end = if is_threaded {
            calls.first.end()
        } else {
            calls.first.start()
        };
        let begun = if !is_shut_down {
            None
        } else if calls.is_open {
            // A log may end while main is in any foreign call.
            let stop = last_foreign_call(info, store, calls.last.start());
            stop.filter(|stop| numbers.counted_after_collections(*stop).is_some())
        } else if calls.count == expected {
            Some(Nanos(calls.end_before_last))
        } else {
            // A program in C that calls Haskell: what it does before `hs_exit` is its own.
            Some(calls.last.start())
        };
        Self {
            init_end: Some(init_end),
            exit_start: begun,
            report: begun.and_then(|begun| numbers.counted_after_collections(begun)),
        }
    }

    /// INIT inside of a window.
    pub(super) fn init(&self, window: Window) -> Option<Window> {
        Some(window.clip(0, self.init_end?.0))
    }

    /// EXIT inside of a window; `None` if the log ends before it, or does not tell.
    pub(super) fn exit(&self, window: Window) -> Option<Window> {
        Some(window.clip(self.exit_start?.0, self.report_ns()))
    }

    /// Whether the log tells of them.
    pub(super) const fn are_known(&self) -> bool {
        self.init_end.is_some()
    }

    /// The part of a window for which the runtime's report is made.
    pub(super) fn reported(&self, window: Window) -> Window {
        window.clip(0, self.report_ns())
    }

    fn report_ns(&self) -> u64 {
        self.report.map_or(u64::MAX, |report| report.0)
    }
}

/// The task of the main OS thread. On Linux its number is that of the process. Elsewhere it is the thread whose call
/// ends first, which starts the I/O manager; without one it is the first task that there is.
fn main_task(tasks: &Tasks, pid: Option<u32>, is_threaded: bool) -> Option<TaskId> {
    let pid = pid.map(|pid| OsThreadId(pid.into()));
    let by_number = pid.and_then(|pid| tasks.all().find(|(_, thread)| *thread == Some(pid)));
    if let Some((task, _)) = by_number {
        return Some(task);
    }
    if !is_threaded {
        return tasks.all().next().map(|(task, _)| task);
    }
    let first_end = |task: TaskId| {
        let calls = Calls::of_pieces(tasks.lane(task)?.pieces());
        let has_ended = calls.count > 1 || !calls.is_open;
        has_ended.then_some((calls.first.end(), task))
    };
    let ended = tasks.all().filter_map(|(task, _)| first_end(task));
    ended.min_by_key(|(end, _)| *end).map(|(_, task)| task)
}

/// When the thread that was created for a call at a time stopped last, if that was for a foreign call.
fn last_foreign_call(info: &Info, store: &Store, call: Nanos) -> Option<Nanos> {
    let soon = Interval::new(call, Nanos(call.0.saturating_add(AT_ONCE_NS)));
    let caps = info.lives.caps();
    let created = caps.filter_map(|(cap, _)| store.creations_on(cap, soon).next());
    let (_, thread) = created.min()?;
    let (stopped, why) = store.last_stop(thread)?;
    (why.wait_reason() == Some(WaitReason::ForeignCall)).then_some(stopped)
}

impl Numbers {
    /// When allocation was counted last, if that was after a time and after all collections: by then the program
    /// has ended, and the runtime makes up its report.
    fn counted_after_collections(&self, after: Nanos) -> Option<Nanos> {
        let counts = self.allocated.caps();
        let counted = counts.filter_map(|(_, steps)| steps.last_time()).max()?;
        let collections = self.collections.all.last().map_or(0, |last| last.end.0);
        (counted > after.0.max(collections)).then_some(Nanos(counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::class::Class;

    fn piece(start: u64, end: u64, code: u8) -> Piece {
        Piece {
            start,
            end,
            detail: 0,
            class: Class::Other,
            code,
        }
    }

    #[test]
    fn pieces_that_touch_are_one_call() {
        let calls = Calls::of_pieces(&[piece(1, 5, 0), piece(5, 9, 0), piece(12, 20, OPEN)]);
        assert_eq!((calls.count, calls.is_open), (2, true));
        assert_eq!(calls.first, Interval::new(Nanos(1), Nanos(9)));
        assert_eq!(calls.end_before_last, 9);
        assert_eq!(calls.last, Interval::new(Nanos(12), Nanos(20)));
        assert_eq!(Calls::of_pieces(&[]).count, 0);
    }
}
