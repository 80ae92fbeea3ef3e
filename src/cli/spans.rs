//! `eventscope spans FILE ANALYSIS`: prints spans of collections, threads or capabilities.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::ValueEnum;

use super::out::{RowLimit, Rows, escape_line, print_table};
use super::{Condition, Failure, LogFile, Out, Output, Range, Table, print_message, report};
use analysis::automata::Anomaly;
use analysis::automata::thread_state::{Activity, Reason, ThreadSpan};
use analysis::capability::{CapLifetimes, idle};
use analysis::diagnostics::Diagnostic;
use analysis::spans::{Analyses, OpenSpan, SpanSink, Spans, WaitReasons};
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{Event, EventType, Record, Sink};
use model::class::{ManagerThread, WaitReason};
use model::format;
use model::time::Interval;
use session::cells::Cell;
use views::words::diagnostics::line;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    /// Kind of spans
    analysis: Analysis,
    /// Origin of mutator spans
    #[arg(long, default_value = "thread")]
    by: SpanSource,
    /// Only spans of this thread
    #[arg(long, value_name = "NUMBER")]
    thread: Option<u32>,
    #[command(flatten)]
    range: Range,
    #[command(flatten)]
    limit: RowLimit,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Analysis {
    /// Garbage collections: cap, start, end
    Gc,
    /// Runs of threads: cap, thread, start, end
    Mutator,
    /// States of threads: thread, category, cap, reason (the status of the stop), start, end, and
    /// the reason for a wait
    ThreadState,
    /// States of capabilities: cap, category, thread, start, end
    CapabilityUsage,
    /// As thread-state, from the thread's creation; also whether a span is open at the end of
    /// the log, and rows for migrations, with the capability migrated to
    ThreadLifecycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SpanSource {
    /// Runs of each capability
    Cap,
    /// States of each thread
    Thread,
}

impl Analysis {
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Gc => &["cap", "start", "end"],
            Self::Mutator => &["cap", "thread", "start", "end"],
            Self::ThreadState => &[
                "thread",
                "category",
                "cap",
                "reason",
                "start",
                "end",
                "wait_reason",
            ],
            Self::CapabilityUsage => &["cap", "category", "thread", "start", "end"],
            Self::ThreadLifecycle => &[
                "thread",
                "category",
                "cap",
                "reason",
                "start",
                "end",
                "open",
                "to",
                "wait_reason",
            ],
        }
    }

    /// Returns whether an anomaly in the log affects these spans.
    fn concerns(self, by: SpanSource, anomaly: Anomaly) -> bool {
        let mutator_by_cap = self == Self::Mutator && by == SpanSource::Cap;
        match anomaly {
            Anomaly::GcEndWithoutStart | Anomaly::GcStartRepeated => {
                matches!(self, Self::Gc | Self::CapabilityUsage)
            }
            Anomaly::StopBeforeRun { .. } => self != Self::Gc && !mutator_by_cap,
            Anomaly::OtherThread { .. } => mutator_by_cap,
        }
    }
}

/// One row of any analysis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    category: &'static str,
    cap: Option<CapId>,
    thread: Option<ThreadId>,
    /// Why the thread does not run.
    reason: Option<Reason>,
    span: Interval,
    /// What the thread waits for.
    wait_reason: Option<WaitReason>,
    /// Whether the span is still open at the end of the log.
    open: bool,
    /// Capability that the thread migrates to.
    to: Option<CapId>,
}

impl Row {
    const fn new(category: &'static str, span: Interval) -> Self {
        Self {
            category,
            cap: None,
            thread: None,
            reason: None,
            span,
            wait_reason: None,
            open: false,
            to: None,
        }
    }

    /// Creates the row of a collection.
    pub(super) const fn gc(cap: CapId, span: Interval) -> Self {
        Self {
            cap: Some(cap),
            ..Self::new("GC", span)
        }
    }

    const fn mutator(cap: Option<CapId>, thread: ThreadId, span: Interval) -> Self {
        Self {
            cap,
            thread: Some(thread),
            ..Self::new("Mutator", span)
        }
    }

    /// Creates the row of a span of a thread's life, with the reason for waiting.
    pub(super) const fn thread(
        thread: ThreadId,
        span: ThreadSpan,
        wait_reason: Option<WaitReason>,
    ) -> Self {
        let (category, cap, reason) = match span.activity {
            Activity::Running(cap) => ("Running", cap, None),
            Activity::Blocked(reason) => ("Blocked", None, Some(reason)),
        };
        Self {
            cap,
            thread: Some(thread),
            reason,
            wait_reason,
            ..Self::new(category, span.span)
        }
    }

    /// Returns the cells in these columns.
    pub(super) fn cells(&self, columns: &[&str]) -> Vec<Cell<'static>> {
        let cell = |column: &&str| -> Cell<'static> {
            match *column {
                "cap" => self.cap.into(),
                "category" => self.category.into(),
                "end" => self.span.end().into(),
                "open" => Cell::Flag(self.open, "open"),
                "reason" => self.reason.map(|reason| reason.to_string()).into(),
                "start" => self.span.start().into(),
                "thread" => self.thread.into(),
                "to" => self.to.into(),
                "wait_reason" => self.wait_reason.map(WaitReason::name).into(),
                _ => Cell::Absent,
            }
        };
        columns.iter().map(cell).collect()
    }
}

/// Kinds of events present in a log.
#[derive(Default)]
struct RecordedKinds {
    gc: bool,
    scheduler: bool,
    /// Range of the cut, if the log was cut.
    cut: Option<Interval>,
}

impl Sink for RecordedKinds {
    fn event(&mut self, record: &Record<'_>) {
        match record.id {
            EventType::GC_START | EventType::GC_END => self.gc = true,
            EventType::RUN_THREAD | EventType::STOP_THREAD => self.scheduler = true,
            EventType::CUT_RANGE => {
                if let Event::CutRange { from, to, .. } = record.event() {
                    let range = Interval::new(Nanos(from), Nanos(to));
                    self.cut = Some(self.cut.map_or(range, |cut| cut.hull(range)));
                }
            }
            _ => {}
        }
    }
}

impl RecordedKinds {
    /// Explains why no span was printed, given the number of spans in the log.
    fn why_no_spans(&self, analysis: Analysis, all: usize) -> String {
        let (name, is_recorded, what, flag) = match analysis {
            Analysis::Gc => ("GC", self.gc, "GC", "-lg"),
            Analysis::Mutator => ("mutator", self.scheduler, "scheduler", "-ls"),
            Analysis::ThreadState | Analysis::ThreadLifecycle => {
                ("thread", self.scheduler, "scheduler", "-ls")
            }
            Analysis::CapabilityUsage => {
                let is_recorded = self.gc || self.scheduler;
                ("capability", is_recorded, "scheduler or GC", "-lsg")
            }
        };
        match (is_recorded, all) {
            (_, 1..) => format!("no {name} spans match: the log has {all} others"),
            (true, 0) => format!("no {name} spans: none ends in the log"),
            (false, 0) => format!(
                "no {name} spans: the log has no {what} events; run the program with +RTS {flag}, or -l for all events"
            ),
        }
    }
}

/// Maximum number of anomalies reported individually.
const MAX_KEPT_ANOMALIES: usize = 1000;

/// Collector of the rows of one analysis.
#[derive(Debug)]
struct Collector {
    analysis: Analysis,
    by: SpanSource,
    range: Option<Interval>,
    only: Option<ThreadId>,
    rows: Vec<Row>,
    /// Migrations of each thread since its last span ended.
    moves: SeededMap<ThreadId, Vec<Row>>,
    wait_reasons: WaitReasons,
    /// The first [`MAX_KEPT_ANOMALIES`] anomalies.
    anomalies: Vec<Diagnostic>,
    anomaly_count: usize,
}

impl Collector {
    /// Returns whether a row passes the filters by thread and range.
    fn passes_filters(&self, row: &Row) -> bool {
        self.only.is_none_or(|only| row.thread == Some(only)) && self.in_range(row.span)
    }

    fn in_range(&self, span: Interval) -> bool {
        self.range
            .is_none_or(|range| range.contains(span.start()) || span.contains(range.start()))
    }

    /// Adds a span of a thread's life. The migrations during the span precede it, because rows are sorted by their
    /// end.
    fn life(&mut self, thread: ThreadId, span: ThreadSpan, open: bool) {
        let moves = self.moves.remove(&thread).unwrap_or_default();
        if matches!(span.activity, Activity::Blocked(_)) {
            self.rows.extend(moves);
        }
        let wait = self.wait_reasons.end(thread, &span);
        self.rows.push(Row {
            open,
            ..Row::thread(thread, span, wait)
        });
    }
}

impl SpanSink for Collector {
    fn gc(&mut self, cap: CapId, span: Interval) {
        if matches!(self.analysis, Analysis::Gc | Analysis::CapabilityUsage) {
            self.rows.push(Row::gc(cap, span));
        }
    }

    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        match (self.analysis, span.activity) {
            (Analysis::ThreadState, _) => {
                let wait = self.wait_reasons.end(thread, &span);
                self.rows.push(Row::thread(thread, span, wait));
            }
            (Analysis::ThreadLifecycle, _) => self.life(thread, span, false),
            (Analysis::Mutator, Activity::Running(cap)) if self.by == SpanSource::Thread => {
                self.rows.push(Row::mutator(cap, thread, span.span));
            }
            (Analysis::CapabilityUsage, Activity::Running(cap @ Some(_))) => {
                self.rows.push(Row::mutator(cap, thread, span.span));
            }
            _ => {}
        }
    }

    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.wait_reasons.woken_by(thread, manager);
    }

    fn mutator(&mut self, cap: CapId, thread: ThreadId, span: Interval) {
        self.rows.push(Row::mutator(Some(cap), thread, span));
    }

    fn migration(&mut self, thread: ThreadId, from: Option<CapId>, to: Option<CapId>, at: Nanos) {
        if self.analysis == Analysis::ThreadLifecycle {
            let row = Row {
                cap: from,
                thread: Some(thread),
                to,
                ..Row::new("Migrated", Interval::empty_at(at))
            };
            self.moves.entry(thread).or_default().push(row);
        }
    }

    fn anomaly(&mut self, at: Nanos, cap: Option<CapId>, anomaly: Anomaly) {
        let of_thread = |only| anomaly.threads().contains(&Some(only));
        let asked = self.analysis.concerns(self.by, anomaly)
            && self.in_range(Interval::empty_at(at))
            && self.only.is_none_or(of_thread);
        if asked {
            self.anomaly_count += 1;
            if self.anomalies.len() < MAX_KEPT_ANOMALIES {
                self.anomalies
                    .push(Diagnostic::at_time(at, anomaly).with_cap(cap));
            }
        }
    }

    fn open(&mut self, open: OpenSpan) {
        if let (Analysis::ThreadLifecycle, OpenSpan::Thread(thread, span, _)) =
            (self.analysis, open)
        {
            self.life(thread, span, true);
        }
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let (analysis, by) = (arguments.analysis, arguments.by);
    if analysis == Analysis::Gc && arguments.thread.is_some() {
        let what = "collections have no thread: omit --thread";
        return Err(Failure::Usage(what.to_owned()));
    }
    let analyses = Analyses {
        lifecycle: analysis == Analysis::ThreadLifecycle,
        mutator_by_cap: analysis == Analysis::Mutator && by == SpanSource::Cap,
    };
    let collector = Collector {
        analysis,
        by,
        range: arguments.range.span()?,
        only: arguments.thread.map(ThreadId),
        rows: Vec::new(),
        moves: SeededMap::default(),
        wait_reasons: WaitReasons::default(),
        anomalies: Vec::new(),
        anomaly_count: 0,
    };
    let mut sink = (
        Spans::new(analyses, collector),
        (CapLifetimes::default(), RecordedKinds::default()),
    );
    let reader = arguments.log.open()?.read(&mut sink)?;
    let (spans, (lives, recorded)) = sink;
    arguments.range.check(recorded.cut.or(lives.log()))?;
    let mut collector = spans.finish();
    if let Some(cut) = recorded.cut {
        let asked = collector.range;
        collector.range = Some(asked.map_or(cut, |range| range.clip(cut)));
    }
    if analysis == Analysis::CapabilityUsage {
        add_idle(&lives, &mut collector.rows);
    }
    collector.rows.sort_by_key(|row| row.span.end());
    let rows = collector
        .rows
        .iter()
        .filter(|row| collector.passes_filters(row));
    let columns = analysis.columns();
    let mut printed = 0;
    if arguments.output.is_for_terminal() {
        let mut rows: Vec<&Row> = rows.collect();
        rows.sort_by_key(|row| Reverse(row.span.duration()));
        printed = rows.len();
        let most = usize::try_from(arguments.limit.rows()).unwrap_or(usize::MAX);
        let lines = rows
            .into_iter()
            .take(most)
            .map(|row| terminal_row(columns, row));
        let lines: Rows = lines.collect();
        if printed > 0 {
            print_table(out, &["lasted", "start", "span"], lines, printed as u64)?;
        }
    } else {
        let mut table = Table::begin(out, arguments.output, columns)?;
        for row in rows {
            table.row(&row.cells(columns))?;
            printed += 1;
        }
        table.end()?;
    }
    if printed == 0 {
        print_message(recorded.why_no_spans(analysis, collector.rows.len()));
    }
    print_anomalies(&collector);
    Ok(report(&reader))
}

/// Formats a row for a terminal.
fn terminal_row(columns: &[&str], row: &Row) -> Vec<String> {
    let mut words = String::new();
    for (name, cell) in columns.iter().zip(row.cells(columns)) {
        let text = cell.text();
        let separator = if words.is_empty() { "" } else { ", " };
        match *name {
            "start" | "end" => {}
            _ if text.is_empty() => {}
            "cap" => words += &format!("{separator}capability {text}"),
            "thread" => words += &format!("{separator}thread {text}"),
            "to" => words += &format!("{separator}to capability {text}"),
            "wait_reason" => words += &format!(" ({text})"),
            _ => words += &format!("{separator}{text}"),
        }
    }
    let (lasted, start) = (row.span.duration(), row.span.start());
    vec![
        format::duration(lasted),
        format::time(start),
        escape_line(&words),
    ]
}

/// Reports anomalies on standard error.
fn print_anomalies(collector: &Collector) {
    for anomaly in &collector.anomalies {
        let at = anomaly.start().unwrap_or_default();
        print_message(format_args!("at {} ns: {}", at.0, line(anomaly)));
    }
    let more = collector.anomaly_count - collector.anomalies.len();
    if more > 0 {
        print_message(format_args!("{more} more such events"));
    }
}

/// Adds the idle spans of every capability.
fn add_idle(lives: &CapLifetimes, rows: &mut Vec<Row>) {
    let mut busy: BTreeMap<CapId, Vec<Interval>> = BTreeMap::new();
    for row in &*rows {
        if let Some(cap) = row.cap {
            busy.entry(cap).or_default().push(row.span);
        }
    }
    for (cap, life) in lives.caps() {
        let busy = busy.get(&cap).map_or(&[][..], Vec::as_slice);
        rows.extend(idle(life, busy).into_iter().map(|span| Row {
            cap: Some(cap),
            ..Row::new("Idle", span)
        }));
    }
}
