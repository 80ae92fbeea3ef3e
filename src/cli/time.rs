//! `eventscope time FILE`: accounts for the time of capabilities, threads and the program, assigning every
//! nanosecond to one class.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};

use serde_json::{Map, Value, json};

use super::out::{RowLimit, Rows, escape_line, in_columns, in_widths, print_table};
use super::{Condition, Failure, LogRangeArguments, Out, print_message, report};
use analysis::account::report::ProgramTimes;
use analysis::timeline::thread_account::{BlockedFor, ThreadAccount};
use analysis::yielder::{NoYield, block_on};
use insight::input::Input;
use model::format;
use model::time::Interval;
use session::Session;
use session::queries::TimeQuery;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    of: LogRangeArguments,
    #[command(flatten)]
    limit: RowLimit,
}

/// Which events a log has: without them, their times are unknown, not 0.
#[derive(Clone, Copy, Debug)]
struct Known {
    threads: bool,
    collections: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.of.read()?;
    let program = session.ask(&TimeQuery(range));
    let info = &session.recording().info;
    let known = Known {
        threads: Input::Threads.is_in(info),
        collections: Input::Collections.is_in(info),
    };
    if arguments.of.json {
        print_json(&program, known, &session, range, out)?;
    } else if io::stdout().is_terminal() {
        let mut rows = capabilities(&program, format::duration_ns);
        for head in rows.iter_mut().take(1).flatten() {
            *head = head.replace('_', " ");
        }
        let (most, all) = (arguments.limit.rows(), program.caps.len() as u64);
        let shown = usize::try_from(most).unwrap_or(usize::MAX);
        out.text(in_columns(rows.get(..=shown).unwrap_or(&rows)))?;
        if all > most {
            let more = format::count(all - most);
            out.text(format_args!("… and {more} more (--all)\n"))?;
        }
        out.text("\n")?;
        print_first_threads(&session, range, arguments.limit, out)?;
        out.text("\n")?;
        out.text(in_columns(&program_rows(
            &program,
            known,
            format::duration_ns,
        )))?;
    } else {
        out.text(in_columns(&capabilities(&program, exact)))?;
        out.text("\n")?;
        print_threads(&session, range, out)?;
        out.text("\n")?;
        out.text(in_columns(&program_rows(&program, known, exact)))?;
    }
    for input in [Input::Threads, Input::Collections] {
        if !input.is_in(info) {
            print_message(input.missing_message());
        }
    }
    Ok(report(session.reader()))
}

/// Formats nanoseconds for other programs.
fn exact(ns: u64) -> String {
    ns.to_string()
}

/// Passes the threads to `take` one at a time, because a log may have millions.
fn for_each_thread(session: &Session, range: Option<Interval>, take: impl FnMut(ThreadAccount)) {
    let store = &session.recording().store;
    block_on(store.for_each_thread_account(range, &NoYield, take));
}

/// Returns the classes of a thread with their names, except those of blocked time.
fn thread_classes(thread: &ThreadAccount) -> [(&'static str, u64); 4] {
    [
        ("running", thread.running_ns),
        ("ready_in_collection", thread.runnable_during_gc_ns),
        ("ready_behind_thread", thread.runnable_behind_ns),
        ("ready_while_idle", thread.runnable_cap_idle_ns),
    ]
}

fn object(classes: &[(&str, u64)]) -> Map<String, Value> {
    let pair = |(name, time): &(&str, u64)| ((*name).to_owned(), json!(time));
    classes.iter().map(pair).collect()
}

/// Prints the JSON document. The threads are its last field, so that they can be streamed.
fn print_json(
    program: &ProgramTimes,
    known: Known,
    session: &Session,
    range: Option<Interval>,
    out: &mut Out,
) -> io::Result<()> {
    let caps = program.caps.iter().map(|(cap, times)| {
        json!({"cap": cap.0, "life": times.life_ns, "classes": object(&times.classes())})
    });
    let collections = &program.collections;
    let if_known = |number: u64| known.collections.then_some(number);
    let recording = session.recording();
    let part = recording.numbers.span(recording.end(), range);
    let document = json!({
        "range": {"from_ns": part.start(), "to_ns": part.end()},
        "capabilities": caps.collect::<Vec<_>>(),
        "program": {
            "life": program.life_ns,
            "parallelism": known.threads.then_some(&program.parallelism_ns),
            "collections": {
                "count": if_known(collections.count),
                "stopping": if_known(collections.stopping_ns),
                "pause": if_known(collections.pause_ns),
                "capability_time": if_known(collections.capability_ns),
            },
        },
    });
    let document = document.to_string();
    out.json_part(document.strip_suffix('}').unwrap_or_default())?;
    out.json_part(",\"threads\":[")?;
    let (mut written, mut separator) = (Ok(()), "");
    for_each_thread(session, range, |thread| {
        if written.is_ok() {
            written = out.json_part(&format!("{separator}{}", thread_json(&thread)));
            separator = ",";
        }
    });
    written?;
    out.json_part("]}\n")
}

fn thread_json(thread: &ThreadAccount) -> Value {
    let mut classes = object(&thread_classes(thread));
    let blocked = thread.blocked_ns.iter();
    let blocked: Map<String, Value> = blocked
        .map(|(reason, time)| (reason.name(), json!(time)))
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
}

fn capabilities(program: &ProgramTimes, text: fn(u64) -> String) -> Rows {
    let mut table = Vec::new();
    for (cap, times) in &program.caps {
        if table.is_empty() {
            let names = times.classes().map(|(name, _)| name.to_owned());
            let names = ["capability".to_owned(), "life".to_owned()]
                .into_iter()
                .chain(names);
            table.push(names.collect());
        }
        let row = [cap.to_string(), text(times.life_ns)].into_iter();
        table.push(
            row.chain(times.classes().map(|(_, time)| text(time)))
                .collect(),
        );
    }
    table
}

/// Columns of the thread table, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Thread,
    Life,
    Class(usize),
    Blocked(BlockedFor),
    ForeignCall,
    Unknown,
    Label,
}

/// Returns the numeric cells of a thread; blocked columns only for the reasons that it has.
fn numbers(thread: &ThreadAccount) -> impl Iterator<Item = (Column, u64)> {
    let classes = thread_classes(thread).into_iter().enumerate();
    let classes = classes.map(|(place, (_, time))| (Column::Class(place), time));
    let blocked = thread.blocked_ns.iter();
    let blocked = blocked.map(|(reason, time)| (Column::Blocked(*reason), *time));
    let first = [
        (Column::Thread, thread.id.0.into()),
        (Column::Life, thread.life_ns),
    ];
    let last = [
        (Column::ForeignCall, thread.foreign_ns),
        (Column::Unknown, thread.unknown_ns),
    ];
    first.into_iter().chain(classes).chain(blocked).chain(last)
}

impl Column {
    fn name(self, classes: [(&'static str, u64); 4]) -> String {
        match self {
            Self::Thread => "thread".to_owned(),
            Self::Life => "life".to_owned(),
            Self::Class(place) => classes.get(place).map_or("", |class| class.0).to_owned(),
            Self::Blocked(reason) => reason.name(),
            Self::ForeignCall => "foreign_call".to_owned(),
            Self::Unknown => "unknown".to_owned(),
            Self::Label => "label".to_owned(),
        }
    }
}

/// Prints the table of all threads. A first pass determines the column widths, so that no rows are kept in memory.
fn print_threads(session: &Session, range: Option<Interval>, out: &mut Out) -> io::Result<()> {
    let mut widths: BTreeMap<Column, usize> = BTreeMap::new();
    let mut heads: BTreeMap<Column, String> = BTreeMap::new();
    for_each_thread(session, range, |thread| {
        let label = (Column::Label, label(&thread).chars().count());
        let numbers = numbers(&thread).map(|(column, number)| (column, digits(number)));
        for (column, width) in numbers.chain([label]) {
            let widest = widths.entry(column).or_insert_with(|| {
                let name = column.name(thread_classes(&thread));
                let width = name.chars().count();
                heads.insert(column, name);
                width
            });
            *widest = width.max(*widest);
        }
    });
    let columns: Vec<(Column, usize)> = widths.into_iter().collect();
    let widths: Vec<usize> = columns.iter().map(|(_, width)| *width).collect();
    let heads: Vec<String> = heads.into_values().collect();
    if !heads.is_empty() {
        out.text(in_widths(&heads, &widths))?;
    }
    let mut written = Ok(());
    for_each_thread(session, range, |thread| {
        let own: BTreeMap<Column, u64> = numbers(&thread).collect();
        let cell = |(column, _): &(Column, usize)| match column {
            Column::Label => label(&thread),
            column => own.get(column).copied().unwrap_or_default().to_string(),
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        if written.is_ok() {
            written = out.text(in_widths(&cells, &widths));
        }
    });
    written
}

/// Returns the label of a thread in one line.
fn label(thread: &ThreadAccount) -> String {
    escape_line(thread.label.as_deref().unwrap_or_default())
}

/// Returns the number of decimal digits.
fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Prints the threads that ran the longest.
fn print_first_threads(
    session: &Session,
    range: Option<Interval>,
    limit: RowLimit,
    out: &mut Out,
) -> io::Result<()> {
    let most = usize::try_from(limit.rows()).unwrap_or(usize::MAX);
    let mut total = 0;
    // Sorted by running time, longest first, then by thread number.
    let mut first: BTreeSet<(std::cmp::Reverse<u64>, u32)> = BTreeSet::new();
    let mut accounts: BTreeMap<u32, ThreadAccount> = BTreeMap::new();
    for_each_thread(session, range, |thread| {
        total += 1;
        first.insert((std::cmp::Reverse(thread.running_ns), thread.id.0));
        accounts.insert(thread.id.0, thread);
        if first.len() > most
            && let Some((_, last)) = first.pop_last()
        {
            accounts.remove(&last);
        }
    });
    let rows = first.iter().filter_map(|(_, id)| accounts.get(id));
    let rows: Rows = rows.map(line).collect();
    if total == 0 {
        return Ok(());
    }
    let heads = [
        "running",
        "ready in GC",
        "ready, queued",
        "ready, idle cap",
        "blocked",
        "foreign call",
        "life",
        "thread",
    ];
    print_table(out, &heads, rows, total)
}

/// Formats a thread's row for a terminal.
fn line(thread: &ThreadAccount) -> Vec<String> {
    let blocked = thread.blocked_ns.values();
    let blocked = blocked.fold(0_u64, |sum, time| sum.saturating_add(*time));
    let label = thread.label.as_deref().unwrap_or_default();
    let mut row: Vec<String> = thread_classes(thread)
        .iter()
        .map(|(_, time)| format::duration_ns(*time))
        .collect();
    row.extend([blocked, thread.foreign_ns, thread.life_ns].map(format::duration_ns));
    row.push(escape_line(&format!("{} {label}", thread.id)));
    row
}

fn program_rows(program: &ProgramTimes, known: Known, text: fn(u64) -> String) -> Rows {
    let or_dash = |is_known: bool, number: String| match is_known {
        true => number,
        false => "-".to_owned(),
    };
    let collections = &program.collections;
    let mut table = vec![vec!["program".to_owned(), text(program.life_ns)]];
    for (count, time) in program.parallelism_ns.iter().enumerate() {
        let time = or_dash(known.threads, text(*time));
        table.push(vec![format!("{count} running"), time]);
    }
    table.push(vec![
        "collections".to_owned(),
        or_dash(known.collections, collections.count.to_string()),
    ]);
    for (name, time) in [
        ("stopping for collections", collections.stopping_ns),
        ("collection pauses", collections.pause_ns),
        ("capability time in collections", collections.capability_ns),
    ] {
        let time = or_dash(known.collections, text(time));
        table.push(vec![name.to_owned(), time]);
    }
    table
}
