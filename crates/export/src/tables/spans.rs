//! Table `spans`: collections, states of threads, and idle times of capabilities.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::idle::{Idle, ReachBack};
use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use analysis::automata::thread_state::{Activity, Reason, ThreadSpan};
use analysis::spans::{Analyses, SpanSink, Spans, WaitReasons};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{Record, Sink};
use model::class::{ManagerThread, WaitReason};
use model::time::Interval;
use session::cells::Column;

/// Spans of capabilities and threads.
pub(super) const TABLE: Table = Table {
    name: "spans",
    help: "One row per span of a capability or thread, roughly in the order of their ends. Those of kind gc are listed by `eventscope spans FILE gc`, running by `mutator`, running and blocked by `thread-state`, and gc, idle and running on a capability by `capability-usage`.",
    columns: &[
        Column::text(
            "kind",
            "gc: the capability is in a collection; running: a thread runs; blocked: a thread does not run; idle: the capability neither collects nor runs a thread",
        ),
        Column::number("cap", "Capability; empty for blocked threads"),
        Column::number("thread", "Thread; empty for gc and idle"),
        Column::text("reason", "Reason for which a blocked thread had stopped"),
        Column::number("start_ns", "Start"),
        Column::number("end_ns", "End"),
        Column::number("duration_ns", "Length"),
        Column::number(
            "woken_ns",
            "Time at which a stopped thread became runnable again",
        ),
        Column::text(
            "wait_reason",
            "What a blocked thread waited for, as in the table threads: MVar, black hole, STM, throwTo, foreign call, sleep, I/O, other. A wait on an MVar or in STM that was ended by the timer or I/O manager of the runtime is sleep or I/O. Empty if the thread could run",
        ),
    ],
    fill,
};

/// The analyses needed for these spans.
const ANALYSES: Analyses = Analyses {
    lifecycle: false,
    mutator_by_cap: false,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let reach_back = read(log, ReachBack::default())?.most();
    let lives = log.session.recording().info.lives.caps();
    let idle: BTreeMap<CapId, Idle> = lives
        .map(|(cap, life)| (cap, Idle::new(life, reach_back)))
        .collect();
    let writer = Writer {
        log,
        rows,
        idle,
        wait_reasons: WaitReasons::default(),
        reason: String::new(),
        written: Ok(()),
    };
    let mut writer = read(log, writer)?;
    for (cap, idle) in std::mem::take(&mut writer.idle) {
        idle.finish(&mut |span| writer.row("idle", (Some(cap), None), None, span, None));
    }
    writer.written
}

/// Reads the log through the analyses.
fn read<S: SpanSink>(log: &Log<'_>, sink: S) -> Result<S, Error> {
    let mut spans = Spans::new(ANALYSES, sink);
    log.records(|record: &Record<'_>| spans.offer(record))?;
    Ok(spans.finish())
}

struct Writer<'a> {
    log: &'a Log<'a>,
    rows: &'a mut Rows,
    idle: BTreeMap<CapId, Idle>,
    wait_reasons: WaitReasons,
    /// Buffer for the text of a reason.
    reason: String,
    written: Result<(), Error>,
}

impl Writer<'_> {
    fn row(
        &mut self,
        kind: &'static str,
        (cap, thread): (Option<CapId>, Option<ThreadId>),
        reason: Option<(Reason, Option<WaitReason>)>,
        span: Interval,
        woken: Option<Nanos>,
    ) {
        if self.written.is_err() || !self.log.is_selected(span) {
            return;
        }
        let wait_reason = reason.and_then(|(_, wait)| wait).map(WaitReason::name);
        let reason: Option<&str> = reason.map(|(reason, _)| {
            self.reason.clear();
            // A string can always be written to.
            let _written = write!(self.reason, "{reason}");
            self.reason.as_str()
        });
        self.written = self.rows.row(&[
            kind.into(),
            cap.into(),
            thread.into(),
            reason.into(),
            span.start().into(),
            span.end().into(),
            span.duration().into(),
            woken.into(),
            wait_reason.into(),
        ]);
    }

    /// Records a busy span of a capability, and writes idle spans before it.
    fn busy(&mut self, cap: CapId, span: Interval) {
        let Some(mut idle) = self.idle.remove(&cap) else {
            return;
        };
        idle.busy(span, &mut |span| {
            self.row("idle", (Some(cap), None), None, span, None);
        });
        self.idle.insert(cap, idle);
    }
}

impl SpanSink for Writer<'_> {
    fn gc(&mut self, cap: CapId, span: Interval) {
        self.row("gc", (Some(cap), None), None, span, None);
        self.busy(cap, span);
    }

    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, woken: Option<Nanos>) {
        let wait_reason = self.wait_reasons.end(thread, &span);
        let thread = Some(thread);
        match span.activity {
            Activity::Running(cap) => {
                self.row("running", (cap, thread), None, span.span, woken);
                if let Some(cap) = cap {
                    self.busy(cap, span.span);
                }
            }
            Activity::Blocked(reason) => {
                let reason = Some((reason, wait_reason));
                self.row("blocked", (None, thread), reason, span.span, woken);
            }
        }
    }

    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.wait_reasons.woken_by(thread, manager);
    }
}

impl SpanSink for ReachBack {
    fn gc(&mut self, cap: CapId, span: Interval) {
        self.busy(cap, span);
    }

    fn thread(&mut self, _: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        if let Activity::Running(Some(cap)) = span.activity {
            self.busy(cap, span.span);
        }
    }
}
