//! `eventscope spans FILE ANALYSIS`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use super::{Condition, Failure, Input, Output, report};
use analysis::automata::Oddity;
use analysis::automata::thread_state::{Activity, ThreadSpan};
use analysis::capability::{Lives, Usage, idle};
use analysis::spans::{Analyses, Open, SpanSink, Spans};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::time::Span;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    /// Which spans
    analysis: Analysis,
    /// How mutator spans are found
    #[arg(long, default_value = "thread")]
    by: By,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Analysis {
    /// cap, start, end
    Gc,
    /// cap, thread, start, end
    Mutator,
    /// thread, category, cap, reason, start, end
    ThreadState,
    /// cap, category, thread, start, end
    CapabilityUsage,
    /// As thread-state, from the thread's creation; a seventh column marks open spans
    ThreadLifecycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// From what each capability runs
    Cap,
    /// From the states of each thread
    Thread,
}

impl Analysis {
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Gc => &["cap", "start", "end"],
            Self::Mutator => &["cap", "thread", "start", "end"],
            Self::ThreadState => &["thread", "category", "cap", "reason", "start", "end"],
            Self::CapabilityUsage => &["cap", "category", "thread", "start", "end"],
            Self::ThreadLifecycle => &[
                "thread", "category", "cap", "reason", "start", "end", "open",
            ],
        }
    }
}

/// One span of any analysis.
#[derive(Clone, Copy, Debug)]
enum Row {
    Gc(CapId, Span),
    Mutator(Option<CapId>, ThreadId, Span),
    Thread(ThreadId, ThreadSpan, bool),
    Usage(CapId, Usage, Span),
}

impl Row {
    fn end(&self) -> Nanos {
        match self {
            Self::Gc(_, span) | Self::Mutator(_, _, span) | Self::Usage(_, _, span) => span.end,
            Self::Thread(_, thread, _) => thread.span.end,
        }
    }

    fn cells(&self) -> Vec<String> {
        let cap_or_empty = |cap: Option<CapId>| cap.map_or(String::new(), |cap| cap.to_string());
        let (mut cells, span) = match self {
            Self::Gc(cap, span) => (vec![cap.to_string()], span),
            Self::Mutator(cap, thread, span) => {
                (vec![cap_or_empty(*cap), thread.to_string()], span)
            }
            Self::Thread(thread, ThreadSpan { activity, span, .. }, _) => {
                let (category, cap, reason) = match activity {
                    Activity::Running(cap) => ("Running", cap_or_empty(*cap), String::new()),
                    Activity::Blocked(reason) => ("Blocked", String::new(), reason.to_string()),
                };
                (vec![thread.to_string(), category.into(), cap, reason], span)
            }
            Self::Usage(cap, usage, span) => {
                let (category, thread) = match usage {
                    Usage::Gc => ("GC", String::new()),
                    Usage::Mutator(thread) => ("Mutator", thread.to_string()),
                    Usage::Idle => ("Idle", String::new()),
                };
                (vec![cap.to_string(), category.into(), thread], span)
            }
        };
        cells.extend([span.start.0.to_string(), span.end.0.to_string()]);
        if matches!(self, Self::Thread(_, _, true)) {
            cells.push("open".into());
        }
        cells
    }
}

/// Collects the rows of one analysis.
#[derive(Debug)]
struct Collector {
    analysis: Analysis,
    by: By,
    rows: Vec<Row>,
    oddities: Vec<(Nanos, Option<CapId>, Oddity)>,
}

impl SpanSink for Collector {
    fn gc(&mut self, cap: CapId, span: Span) {
        match self.analysis {
            Analysis::Gc => self.rows.push(Row::Gc(cap, span)),
            Analysis::CapabilityUsage => self.rows.push(Row::Usage(cap, Usage::Gc, span)),
            _ => {}
        }
    }

    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        match (self.analysis, span.activity) {
            (Analysis::ThreadState | Analysis::ThreadLifecycle, _) => {
                self.rows.push(Row::Thread(thread, span, false));
            }
            (Analysis::Mutator, Activity::Running(cap)) if self.by == By::Thread => {
                self.rows.push(Row::Mutator(cap, thread, span.span));
            }
            (Analysis::CapabilityUsage, Activity::Running(Some(cap))) => {
                self.rows
                    .push(Row::Usage(cap, Usage::Mutator(thread), span.span));
            }
            _ => {}
        }
    }

    fn mutator(&mut self, cap: CapId, thread: ThreadId, span: Span) {
        self.rows.push(Row::Mutator(Some(cap), thread, span));
    }

    fn oddity(&mut self, at: Nanos, cap: Option<CapId>, oddity: Oddity) {
        self.oddities.push((at, cap, oddity));
    }

    fn open(&mut self, open: Open) {
        if let (Analysis::ThreadLifecycle, Open::Thread(thread, span, _)) = (self.analysis, open) {
            self.rows.push(Row::Thread(thread, span, true));
        }
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let (analysis, by) = (arguments.analysis, arguments.by);
    let analyses = Analyses {
        lifecycle: analysis == Analysis::ThreadLifecycle,
        mutator_by_cap: analysis == Analysis::Mutator && by == By::Cap,
    };
    let collector = Collector {
        analysis,
        by,
        rows: Vec::new(),
        oddities: Vec::new(),
    };
    let mut sink = (Spans::new(analyses, collector), Lives::default());
    let reader = Input::open(&arguments.file)?.read(&mut sink)?;
    let (spans, lives) = sink;
    let mut collector = spans.finish();
    if analysis == Analysis::CapabilityUsage {
        add_idle(&lives, &mut collector.rows);
    }
    collector.rows.sort_by_key(Row::end);
    print(analysis, &collector.rows, arguments.output, out)?;
    for (at, cap, oddity) in &collector.oddities {
        let cap = cap.map_or(String::new(), |cap| format!(", capability {cap}"));
        eprintln!("eventscope: at {} ns{cap}: {oddity}", at.0);
    }
    Ok(report(&reader))
}

/// Adds the idle spans of every capability.
fn add_idle(lives: &Lives, rows: &mut Vec<Row>) {
    let mut busy: BTreeMap<CapId, Vec<Span>> = BTreeMap::new();
    for row in &*rows {
        if let Row::Usage(cap, _, span) = row {
            busy.entry(*cap).or_default().push(*span);
        }
    }
    for (cap, life) in lives.caps() {
        let busy = busy.get(&cap).map_or(&[][..], Vec::as_slice);
        let spans = idle(life, busy);
        rows.extend(
            spans
                .into_iter()
                .map(|span| Row::Usage(cap, Usage::Idle, span)),
        );
    }
}

fn print(
    analysis: Analysis,
    rows: &[Row],
    output: Output,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let columns = analysis.columns();
    if output.json {
        let rows: Vec<_> = rows.iter().map(|row| json_row(columns, row)).collect();
        writeln!(out, "{}", serde_json::Value::Array(rows))?;
        return Ok(());
    }
    if output.header {
        writeln!(out, "{}", columns.join("\t"))?;
    }
    for row in rows {
        writeln!(out, "{}", row.cells().join("\t"))?;
    }
    Ok(())
}

fn json_row(columns: &[&str], row: &Row) -> serde_json::Value {
    let cells = row
        .cells()
        .into_iter()
        .map(|cell| match cell.parse::<u64>() {
            Ok(number) => json!(number),
            Err(_) if cell.is_empty() => serde_json::Value::Null,
            Err(_) if cell == "open" => json!(true),
            Err(_) => json!(cell),
        });
    let names = columns.iter().map(|name| (*name).to_owned());
    names.zip(cells).collect::<serde_json::Map<_, _>>().into()
}
