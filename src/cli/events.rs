//! `eventscope events FILE`, in two passes: the first measures how far times go
//! back and collects names, so that a thread has its label from its creation on.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Map, json};

use super::{Condition, Failure, Input, Output, escaped, report};
use eventlog::cursor::Value;
use eventlog::display::{BackDating, DisplayOrder};
use eventlog::sentence::write_sentence;
use eventlog::{Event, Names, Record, Sink};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    /// Only events of this capability
    #[arg(long)]
    cap: Option<u16>,
    /// Only events at or after this time, in nanoseconds
    #[arg(long)]
    from: Option<u64>,
    /// Only events at or before this time, in nanoseconds
    #[arg(long)]
    to: Option<u64>,
    /// Only events of this type, such as RunThread
    #[arg(long = "type")]
    name: Option<String>,
    /// Only events whose text contains this
    #[arg(long = "match")]
    text: Option<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let input = Input::open(&arguments.file)?;
    let mut back_dating = BackDating::default();
    let mut names = Names::default();
    input.read(&mut |record: &Record<'_>| {
        back_dating.observe(record.time);
        names.offer(record);
    })?;
    if arguments.output.header && !arguments.output.json {
        writeln!(out, "time\tcap\tname\ttext")?;
    }
    let mut written = Ok(());
    let mut text = String::new();
    let print = |record: &Record<'_>| {
        if written.is_ok() {
            text.clear();
            written = print_event(arguments, record, &names, &mut text, out);
        }
    };
    let mut sink = DisplayOrder::new(print, back_dating.most());
    let reader = input.read(&mut sink)?;
    let _print = sink.finish();
    written?;
    Ok(report(&reader))
}

fn print_event(
    arguments: &Arguments,
    record: &Record<'_>,
    names: &Names,
    text: &mut String,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let time = record.time.0;
    let cap = record.cap.map(|cap| cap.0);
    let wrong_cap = arguments.cap.is_some() && arguments.cap != cap;
    let early = arguments.from.is_some_and(|from| time < from);
    let late = arguments.to.is_some_and(|to| time > to);
    if wrong_cap || early || late {
        return Ok(());
    }
    let event = record.event();
    let name = event.name();
    if arguments
        .name
        .as_deref()
        .is_some_and(|wanted| wanted != name)
    {
        return Ok(());
    }
    write_sentence(text, &event, record.header, names);
    if arguments
        .text
        .as_deref()
        .is_some_and(|wanted| !text.contains(wanted))
    {
        return Ok(());
    }
    if arguments.output.json {
        return writeln!(out, "{}", json_object(&event, time, cap));
    }
    let cap = cap.map_or_else(|| "-".to_owned(), |cap| cap.to_string());
    writeln!(out, "{time}\t{cap}\t{name}\t{}", escaped(text))
}

fn json_object(event: &Event<'_>, time: u64, cap: Option<u16>) -> serde_json::Value {
    let mut object = Map::new();
    object.insert("time".into(), json!(time));
    object.insert("cap".into(), json!(cap));
    object.insert("name".into(), json!(event.name()));
    for (name, value) in event.fields() {
        // `CapCreate` and its like have a field `cap` of their own, which
        // says more than the block's: those stand in no capability's block.
        object.insert(name.into(), json_value(value));
    }
    object.into()
}

fn json_value(value: Value<'_>) -> serde_json::Value {
    match value {
        Value::Absent => serde_json::Value::Null,
        Value::Number(number) => json!(number),
        Value::Text(text) => json!(text.to_str()),
        Value::Name(name) => json!(name),
        Value::Numbers(numbers) => json!(numbers),
        Value::Texts(texts) => json!(texts.iter().map(|text| text.to_str()).collect::<Vec<_>>()),
        Value::Bytes(bytes) => {
            json!(
                bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
            )
        }
    }
}
