//! `eventscope info FILE`.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use super::{Condition, Failure, Input, Output, escaped, report};
use analysis::info::Info;
use analysis::process::{CapChange, Process};
use eventlog::LogReader;
use eventlog::quantity::ByteCount;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let mut info = Info::default();
    let reader = Input::open(&arguments.file)?.read(&mut info)?;
    if arguments.output.json {
        print_json(&info, &reader, out)?;
    } else {
        print_rows(&info, &reader, arguments.output.header, out)?;
    }
    Ok(report(&reader))
}

fn print_json(info: &Info, reader: &LogReader, out: &mut impl Write) -> Result<(), Failure> {
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
        .map(|(cap, life)| json!({ "cap": cap.0, "start": life.start.0, "end": life.end.0 }))
        .collect();
    let damage = reader.damage();
    let span = info.first_and_last();
    let process = info.process();
    let document = json!({
        "ghc": info.ghc_version(),
        "rts": info.rts,
        "way": process.way,
        "program": info.program(),
        "arguments": info.args,
        "pid": info.pid,
        "parent_pid": process.parent_pid,
        "started": process.started.map(|started| started.to_string()),
        "environment_variables": process.environment_count,
        "heap": process.heap,
        "capability_changes": process.capability_changes,
        "capability_sets": process.capsets,
        "capabilities": caps,
        "first": span.map(|(first, _)| first.0),
        "last": span.map(|(_, last)| last.0),
        "bytes": reader.len().0,
        "events": info.events,
        "types": types,
        "warnings": damage.kept.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "lost_bytes": damage.lost_bytes,
    });
    writeln!(out, "{document}")?;
    Ok(())
}

fn print_rows(
    info: &Info,
    reader: &LogReader,
    header: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if header {
        writeln!(out, "field\tvalue")?;
    }
    let or_unknown = |text: Option<&str>| escaped(text.unwrap_or("unknown"));
    writeln!(out, "ghc\t{}", or_unknown(info.ghc_version()))?;
    writeln!(out, "rts\t{}", or_unknown(info.rts.as_deref()))?;
    writeln!(out, "program\t{}", or_unknown(info.program()))?;
    writeln!(out, "arguments\t{}", escaped(&info.args.join(" ")))?;
    print_process(&info.process(), out)?;
    writeln!(out, "capabilities\t{}", info.lives.caps().count())?;
    if let Some((first, last)) = info.first_and_last() {
        writeln!(out, "first\t{}", first.0)?;
        writeln!(out, "last\t{}", last.0)?;
    }
    writeln!(out, "events\t{}", info.events)?;
    for t in info.types() {
        writeln!(out, "type\t{}\t{}\t{}", t.name, t.count, t.bytes)?;
    }
    for damage in &reader.damage().kept {
        writeln!(out, "warning\t{damage}")?;
    }
    Ok(())
}

/// How the process was started, as far as the log says.
fn print_process(process: &Process, out: &mut impl Write) -> Result<(), Failure> {
    if !process.way.is_empty() {
        writeln!(out, "way\t{}", process.way.join(", "))?;
    }
    if let Some(pid) = process.pid {
        writeln!(out, "pid\t{pid}")?;
    }
    if let Some(pid) = process.parent_pid {
        writeln!(out, "parent\t{pid}")?;
    }
    if let Some(started) = process.started {
        writeln!(out, "started\t{started}")?;
    }
    if let Some(heap) = process.heap {
        let limit = heap.max_heap_bytes;
        let limit = limit.map_or_else(
            || "no limit".to_owned(),
            |bytes| format!("at most {}", ByteCount(bytes)),
        );
        writeln!(
            out,
            "heap\t{} generations, {limit}, allocation area {}",
            heap.generations,
            ByteCount(heap.allocation_area_bytes)
        )?;
    }
    for change in &process.capability_changes {
        let CapChange { at, cap, change } = change;
        writeln!(out, "capability\t{cap}\t{}\t{}", change.words(), at.0)?;
    }
    Ok(())
}
