//! `eventscope info FILE`: prints general facts about a log.

use std::io;

use serde_json::{Value, json};

use super::out::{Rows, escape_line, in_columns_before_text, print_table};
use super::{Condition, Failure, LogFile, Out, Output, Table, report};
use analysis::info::Info;
use analysis::process::{CapChange, Process};
use analysis::processes::OsProcess;
use eventlog::LogReader;
use eventlog::ids::Nanos;
use model::format;
use model::time::Interval;
use session::cells::Cell;
use views::words::diagnostics::line;
use views::words::process as words;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    output: Output,
}

/// Columns of the rows. The last two are empty, except for event types and changes of capabilities.
const COLUMNS: [&str; 4] = ["field", "value", "count_or_change", "bytes_or_time"];

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let mut info = Info::default();
    let reader = arguments.log.open()?.read(&mut info)?;
    if arguments.output.json {
        print_json(&info, &reader, out)?;
    } else if arguments.output.is_for_terminal() {
        print_on_terminal(&rows(&info, &reader), out)?;
    } else {
        let mut rows = rows(&info, &reader);
        if arguments.output.header || arguments.output.is_csv() {
            // A reader of columns expects each row to have all of them.
            for row in &mut rows {
                row.resize(COLUMNS.len(), Cell::Absent);
            }
        }
        Table::print(out, arguments.output, &COLUMNS, rows)?;
    }
    Ok(report(&reader))
}

/// Returns the range of the log that this one was cut from; `None` if it was not cut.
fn uncut(info: &Info) -> Option<Interval> {
    info.cut_range.and(info.lives.log())
}

fn print_json(info: &Info, reader: &LogReader, out: &mut Out) -> io::Result<()> {
    let types: Vec<_> = info
        .types()
        .iter()
        .map(|t| {
            json!({ "id": t.id, "name": t.name, "description": t.description,
                    "declared_bytes": t.declared_bytes, "count": t.count, "bytes": t.bytes })
        })
        .collect();
    let caps: Vec<_> = info
        .lives
        .caps()
        .map(|(cap, life)| json!({ "cap": cap.0, "start": life.start().0, "end": life.end().0 }))
        .collect();
    let damage = reader.damage();
    let span = info.covered();
    let process = info.process();
    let mut document = process_json(&process);
    let of_log = json!({
        "heap_report": reader.heap_report(),
        "capability_changes": process.capability_changes,
        "capability_sets": process.capsets,
        "capabilities": caps,
        "first": span.map(|span| span.start().0),
        "last": span.map(|span| span.end().0),
        "before_cut": uncut(info).map(|log| json!({ "first": log.start().0, "last": log.end().0 })),
        "bytes": reader.len().0,
        "events": info.events,
        "types": types,
        "warnings": damage.kept.iter().map(|damage| line(&damage.into())).collect::<Vec<_>>(),
        "lost_bytes": damage.lost_bytes,
    });
    extend(&mut document, of_log);
    if !process.processes.is_empty() {
        let processes = process.processes.iter().map(|own| {
            let mut object = process_json(&own.process);
            let caps: Vec<u16> = own.caps.iter().map(|cap| cap.0).collect();
            extend(
                &mut object,
                json!({ "name": own.name, "capabilities": caps }),
            );
            object
        });
        document["processes"] = processes.collect();
    }
    out.json(&document)
}

/// Returns the JSON object of a process: of the only one of a log, or of one of a merged log.
fn process_json(process: &Process) -> Value {
    json!({
        "ghc": process.ghc,
        "rts": process.rts,
        "way": process.ways.iter().map(words::way).collect::<Vec<_>>(),
        "program": process.program_name(),
        "arguments": process.command_words().collect::<Vec<_>>(),
        "pid": process.pid,
        "parent_pid": process.parent_pid,
        "started": process.started.map(|started| started.to_string()),
        "environment_variables": process.environment_count,
        "heap": process.heap,
    })
}

/// Adds the fields of an object to another.
fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(fields), Value::Object(more)) = (object, more) {
        fields.extend(more);
    }
}

/// Returns the rows: a field name with its values.
fn rows(info: &Info, reader: &LogReader) -> Vec<Vec<Cell<'static>>> {
    let mut rows: Vec<Vec<Cell<'static>>> = Vec::new();
    let mut row = |field: &'static str, value: String| rows.push(vec![field.into(), value.into()]);
    if let Some(report) = reader.heap_report() {
        row("form", "heap profile in text (.hp)".to_owned());
        if let Some(date) = &report.date {
            row("date", date.clone());
        }
    }
    let process = info.process();
    if process.processes.is_empty() {
        for (field, value) in process_rows(&process) {
            row(field, value);
        }
    } else {
        row("processes", process.processes.len().to_string());
    }
    // In merged logs, each process has these rows, preceded by its name.
    for OsProcess {
        name,
        caps,
        process,
    } in &process.processes
    {
        row("process", name.clone());
        for (field, value) in process_rows(process) {
            row(field, value);
        }
        let caps: Vec<String> = caps.iter().map(ToString::to_string).collect();
        row("of capabilities", caps.join(" "));
    }
    for CapChange { at, cap, change } in &process.capability_changes {
        let cap = cap.to_string();
        rows.push(vec![
            "capability".into(),
            cap.into(),
            words::change(*change).into(),
            (*at).into(),
        ]);
    }
    let caps = info.lives.caps().count() as u64;
    rows.push(vec!["capabilities".into(), caps.into()]);
    if let Some(range) = info.covered() {
        rows.push(vec!["first".into(), range.start().into()]);
        rows.push(vec!["last".into(), range.end().into()]);
    }
    if let Some(log) = uncut(info) {
        let (first, last) = (log.start().0, log.end().0);
        let text = format!("{first} to {last}");
        rows.push(vec!["before the cut".into(), text.into()]);
    }
    rows.push(vec!["events".into(), info.events.into()]);
    for t in info.types() {
        let cells = ["type".into(), t.name.into(), t.count.into(), t.bytes.into()];
        rows.push(cells.into());
    }
    for damage in &reader.damage().kept {
        rows.push(vec!["warning".into(), line(&damage.into()).into()]);
    }
    rows
}

/// Prints the rows on a terminal: general fields first, then event types.
fn print_on_terminal(rows: &[Vec<Cell<'static>>], out: &mut Out) -> io::Result<()> {
    let (types, fields): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row[0].text() == "type");
    let fields: Rows = fields
        .into_iter()
        .map(|row| {
            let field = row[0].text().into_owned();
            let cell = |cell: &Cell<'_>| match (cell, field.as_str()) {
                (Cell::Number(ns), "first" | "last" | "capability") => format::time(Nanos(*ns)),
                (Cell::Number(number), _) => format::count(*number),
                (cell, _) => escape_line(&cell.text()),
            };
            let values: Vec<String> = row[1..].iter().map(cell).collect();
            vec![field, values.join(" ")]
        })
        .collect();
    out.text(in_columns_before_text(&fields))?;
    let types: Rows = types
        .into_iter()
        .map(|row| match row.as_slice() {
            [_, name, Cell::Number(count), Cell::Number(bytes)] => {
                let name = escape_line(&name.text());
                vec![format::count(*count), format::bytes(*bytes), name]
            }
            _ => Vec::new(),
        })
        .collect();
    let total = types.len() as u64;
    if total > 0 {
        out.text("\n")?;
        print_table(out, &["events", "size", "type"], types, total)?;
    }
    Ok(())
}

/// Returns what a process is, and how it was started, as far as the log records it.
fn process_rows(process: &Process) -> Vec<(&'static str, String)> {
    let or_unknown = |text: Option<&str>| text.unwrap_or("unknown").to_owned();
    let command: Vec<&str> = process.command_words().collect();
    let mut rows = vec![
        ("ghc", or_unknown(process.ghc.as_deref())),
        ("rts", or_unknown(process.rts.as_deref())),
        ("program", or_unknown(process.program_name())),
        ("arguments", command.join(" ")),
    ];
    if !process.ways.is_empty() {
        rows.push(("way", words::ways(&process.ways)));
    }
    rows.extend(process.pid.map(|pid| ("pid", pid.to_string())));
    rows.extend(process.parent_pid.map(|pid| ("parent", pid.to_string())));
    rows.extend(process.started.map(|at| ("started", at.to_string())));
    rows.extend(process.heap.map(|heap| ("heap", words::heap(&heap))));
    rows
}
