//! INIT and EXIT, the startup and shutdown phases of the runtime, as reported by `+RTS -s`.
//!
//! The log has no events for them. They are bounded by the calls that the main OS thread makes into Haskell, each
//! of which is a task from `TaskCreate` to `TaskDelete` (`rts/RtsStartup.c`, `rts/RtsMain.c`):
//!
//! | call | made by | bounds |
//! |---|---|---|
//! | start of the I/O manager (threaded runtime only) | `hs_init` | INIT ends when it returns |
//! | `main` | `hs_main` | INIT ends before it, EXIT begins when it returns |
//! | flush of the standard handles | `hs_exit` | EXIT begins before it |
//!
//! A program that ends by `exitWith` calls `hs_exit` from inside `main`, whose last stop is that foreign call.
//! EXIT ends, and the runtime computes its report, right after the last `HeapAllocated`.
//!
//! A log begun in a running program has no INIT. Which call of it is `main`'s, it does not show: nor EXIT.
//!
//! All bounds are within a few microseconds of the runtime's own. Where a busy capability delays a call, the event
//! before the delay is used.

use super::Numbers;
use super::step_function::Window;
use crate::info::Info;
use crate::process::Way;
use crate::timeline::store::Store;
use crate::timeline::tasks::{OPEN, Tasks};
use eventlog::ids::{Nanos, OsThreadId, TaskId};
use model::class::WaitReason;
use model::span_lane::TimelineSpan;
use model::time::Interval;

/// Maximum time between a task and the creation of its thread.
const AT_ONCE_NS: u64 = 100_000;

/// Bounds of INIT and EXIT, as far as known from the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// End of INIT, which begins at time 0. `None` if the log does not show the phases.
    init_end: Option<Nanos>,
    /// Start of EXIT; `None` if the log ends before it.
    exit_start: Option<Nanos>,
    /// Time of the runtime's report; `None` if it is not before the last event.
    report: Option<Nanos>,
}

/// Outermost calls of an OS thread into Haskell.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: usize,
    first: Interval,
    /// End of the second to last call.
    end_before_last: u64,
    last: Interval,
    /// Whether the log ends before the last call does.
    is_open: bool,
}

impl Calls {
    /// Extracts the calls of a task.
    ///
    /// A call in which the task changes its capability consists of several adjacent pieces.
    fn from_pieces(pieces: &[TimelineSpan]) -> Self {
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
    /// Finds the phases of a log that has been read.
    ///
    /// `is_shut_down` is whether the runtime ended and wrote the whole log.
    pub(crate) fn find(
        info: &Info,
        tasks: &Tasks,
        store: &Store,
        numbers: &Numbers,
        is_shut_down: bool,
    ) -> Self {
        if info.begin() > Nanos(0) {
            return Self {
                init_end: Some(info.begin()),
                ..Self::default()
            };
        }
        let process = info.process();
        let calls = main_task(tasks, process.pid, process.ways.contains(&Way::Threaded));
        let calls = calls.and_then(|task| Some(Calls::from_pieces(tasks.lane(task)?.spans())));
        let Some(calls) = calls.filter(|calls| calls.count > 0 && !process.ways.is_empty()) else {
            return Self::default();
        };
        let is_threaded = process.ways.contains(&Way::Threaded);
        // Calls made by `hs_main`: main, flush of handles, and in the threaded runtime the start of the I/O
        // manager.
        let expected = if is_threaded { 3 } else { 2 };
        // There is no flush while the program runs, or if it ends from inside main.
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
            // The log may also end while main is in any other foreign call.
            let stop = last_foreign_call(info, store, calls.last.start());
            stop.filter(|stop| numbers.counted_after_collections(*stop).is_some())
        } else if calls.count == expected {
            Some(Nanos(calls.end_before_last))
        } else {
            // A C program that calls Haskell: only what `hs_exit` does is EXIT.
            Some(calls.last.start())
        };
        Self {
            init_end: Some(init_end),
            exit_start: begun,
            report: begun.and_then(|begun| numbers.counted_after_collections(begun)),
        }
    }

    /// Returns the part of INIT in a window.
    pub(super) fn init(&self, window: Window) -> Option<Window> {
        Some(window.clip(0, self.init_end?.0))
    }

    /// Returns the part of EXIT in a window; `None` if the log ends before it, or does not show it.
    pub(super) fn exit(&self, window: Window) -> Option<Window> {
        Some(window.clip(self.exit_start?.0, self.report_ns()))
    }

    /// Returns whether the log shows the phases.
    pub(super) const fn are_known(&self) -> bool {
        self.init_end.is_some()
    }

    /// Returns the part of a window that the runtime's report covers.
    pub(super) fn reported(&self, window: Window) -> Window {
        window.clip(0, self.report_ns())
    }

    fn report_ns(&self) -> u64 {
        self.report.map_or(u64::MAX, |report| report.0)
    }
}

/// Returns the task of the main OS thread.
///
/// On Linux, its thread id equals the process id. Elsewhere, it is the thread whose call ends first, as that call
/// starts the I/O manager; in the non-threaded runtime, it is the first task.
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
        let calls = Calls::from_pieces(tasks.lane(task)?.spans());
        let has_ended = calls.count > 1 || !calls.is_open;
        has_ended.then_some((calls.first.end(), task))
    };
    let ended = tasks.all().filter_map(|(task, _)| first_end(task));
    ended.min_by_key(|(end, _)| *end).map(|(_, task)| task)
}

/// Returns the last stop of the thread created for a call at this time, if it stopped for a foreign call.
fn last_foreign_call(info: &Info, store: &Store, call: Nanos) -> Option<Nanos> {
    let soon = Interval::new(call, Nanos(call.0.saturating_add(AT_ONCE_NS)));
    let caps = info.lives.caps();
    let created = caps.filter_map(|(cap, _)| store.creations_on(cap, soon).next());
    let (_, thread) = created.min()?;
    let (stopped, why) = store.last_stop(thread)?;
    (why.wait_reason() == Some(WaitReason::ForeignCall)).then_some(stopped)
}

impl Numbers {
    /// Returns the time of the last allocation sample, if that is after `after` and all collections.
    ///
    /// By then the program has ended, and the runtime computes its report.
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

    fn piece(start: u64, end: u64, code: u8) -> TimelineSpan {
        TimelineSpan {
            start,
            end,
            detail: 0,
            class: Class::Other,
            code,
        }
    }

    #[test]
    fn pieces_that_touch_are_one_call() {
        let calls = Calls::from_pieces(&[piece(1, 5, 0), piece(5, 9, 0), piece(12, 20, OPEN)]);
        assert_eq!((calls.count, calls.is_open), (2, true));
        assert_eq!(calls.first, Interval::new(Nanos(1), Nanos(9)));
        assert_eq!(calls.end_before_last, 9);
        assert_eq!(calls.last, Interval::new(Nanos(12), Nanos(20)));
        assert_eq!(Calls::from_pieces(&[]).count, 0);
    }
}
