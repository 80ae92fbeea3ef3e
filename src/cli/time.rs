//! `eventscope time FILE`: where the time of capabilities, threads and the
//! program went, every nanosecond in one class.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{Condition, Failure, LogFile, Out, Range, report};
use analysis::account::report::ProgramTimes;
use analysis::timeline::thread_account::ThreadAccount;
use model::class::StopCode;
use views::session::questions::{ThreadTimeQuery, TimeQuery};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let range = arguments.range.span()?;
    let session = arguments.log.open()?.read_session()?;
    let program = session.ask(&TimeQuery(range));
    let threads = session.ask(&ThreadTimeQuery(range)).unwrap_or_default();
    if arguments.json {
        out.json(&document(&program, &threads))?;
    } else {
        let tables = [
            capabilities(&program),
            thread_rows(&threads),
            program_rows(&program),
        ];
        out.text(tables.map(|table| in_columns(&table)).join("\n"))?;
    }
    Ok(report(session.reader()))
}

/// The classes of a thread, under their names, without what it was blocked on.
fn thread_classes(thread: &ThreadAccount) -> [(&'static str, u64); 4] {
    [
        ("running", thread.running_ns),
        ("ready_in_collection", thread.ready_paused_ns),
        ("ready_behind_thread", thread.ready_behind_ns),
        ("ready_while_idle", thread.ready_idle_ns),
    ]
}

/// The name of the stop that says on what a thread is blocked.
fn reason(code: StopCode) -> String {
    if code == StopCode::OPEN {
        return "Unknown".to_owned();
    }
    code.status(None).to_string()
}

fn document(program: &ProgramTimes, threads: &[ThreadAccount]) -> Value {
    let object = |classes: &[(&str, u64)]| -> Map<String, Value> {
        let pair = |(name, time): &(&str, u64)| ((*name).to_owned(), json!(time));
        classes.iter().map(pair).collect()
    };
    let caps = program.caps.iter().map(|(cap, times)| {
        json!({"cap": cap.0, "life": times.life_ns, "classes": object(&times.classes())})
    });
    let threads = threads.iter().map(|thread| {
        let mut classes = object(&thread_classes(thread));
        let blocked = thread.blocked_ns.iter();
        let blocked: Map<String, Value> = blocked
            .map(|(code, time)| (reason(*code), json!(time)))
            .collect();
        classes.insert("blocked".to_owned(), blocked.into());
        classes.insert("foreign_call".to_owned(), json!(thread.foreign_ns));
        classes.insert("unknown".to_owned(), json!(thread.unknown_ns));
        json!({
            "thread": thread.id.0,
            "label": thread.label,
            "life": thread.life_ns,
            "classes": classes,
        })
    });
    let collections = &program.collections;
    json!({
        "capabilities": caps.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "program": {
            "life": program.life_ns,
            "parallelism": program.parallelism_ns,
            "collections": {
                "count": collections.count,
                "stopping": collections.stopping_ns,
                "pause": collections.pause_ns,
                "capability_time": collections.capability_ns,
            },
        },
    })
}

/// Rows of cells; the first has the names of the columns.
type Table = Vec<Vec<String>>;

fn capabilities(program: &ProgramTimes) -> Table {
    let mut table = Vec::new();
    for (cap, times) in &program.caps {
        if table.is_empty() {
            let names = times.classes().map(|(name, _)| name.to_owned());
            let names = ["capability".to_owned(), "life".to_owned()]
                .into_iter()
                .chain(names);
            table.push(names.collect());
        }
        let row = [cap.to_string(), times.life_ns.to_string()].into_iter();
        table.push(
            row.chain(times.classes().map(|(_, time)| time.to_string()))
                .collect(),
        );
    }
    table
}

fn thread_rows(threads: &[ThreadAccount]) -> Table {
    let mut reasons: Vec<StopCode> = Vec::new();
    for thread in threads {
        reasons.extend(thread.blocked_ns.keys());
    }
    reasons.sort_unstable();
    reasons.dedup();
    let mut table = Table::new();
    for thread in threads {
        let classes = thread_classes(thread);
        let rest = [
            ("foreign_call", thread.foreign_ns),
            ("unknown", thread.unknown_ns),
        ];
        if table.is_empty() {
            let mut names = vec!["thread".to_owned(), "life".to_owned()];
            names.extend(classes.map(|(name, _)| name.to_owned()));
            names.extend(reasons.iter().map(|code| reason(*code)));
            names.extend(rest.map(|(name, _)| name.to_owned()));
            names.push("label".to_owned());
            table.push(names);
        }
        let mut row = vec![thread.id.to_string(), thread.life_ns.to_string()];
        row.extend(classes.map(|(_, time)| time.to_string()));
        let blocked = |code| thread.blocked_ns.get(code).copied().unwrap_or_default();
        row.extend(reasons.iter().map(|code| blocked(code).to_string()));
        row.extend(rest.map(|(_, time)| time.to_string()));
        row.push(thread.label.clone().unwrap_or_default());
        table.push(row);
    }
    table
}

fn program_rows(program: &ProgramTimes) -> Table {
    let collections = &program.collections;
    let mut table = vec![vec!["program".to_owned(), program.life_ns.to_string()]];
    for (count, time) in program.parallelism_ns.iter().enumerate() {
        table.push(vec![format!("{count} running"), time.to_string()]);
    }
    for (name, number) in [
        ("collections", collections.count),
        ("stopping for collections", collections.stopping_ns),
        ("collections' pauses", collections.pause_ns),
        (
            "capabilities' time in collections",
            collections.capability_ns,
        ),
    ] {
        table.push(vec![name.to_owned(), number.to_string()]);
    }
    table
}

/// A table in columns, the numbers to the right.
fn in_columns(table: &Table) -> String {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in table {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // A text takes whatever is written to it.
            let _ = match column {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
