//! `eventscope events FILE`: prints events in time order. It reads the log twice: the first pass measures how far
//! timestamps go back and collects names, so that a thread has its label from its creation on.

use std::io;

use serde_json::{Map, json};

use super::event_types::types_named;
use super::{
    Condition, Failure, LogFile, Out, Output, Range, Table, cap_or_dash, print_message, report,
};
use analysis::capability::CapLifetimes;
use analysis::timeline::store::Store;
use eventlog::cursor::Value;
use eventlog::display::{BackDating, DisplayOrder};
use eventlog::ids::{CapId, ThreadId};
use eventlog::sentence::write_sentence;
use eventlog::{Event, EventType, Names, Record, Sink};
use session::Session;
use session::events::filter::{CapFilter, EventFilter, Matcher};
use session::events::{EventContext, EventList};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    /// Only events of this capability
    #[arg(long, value_name = "NUMBER")]
    cap: Option<u16>,
    /// Only events about this thread, or on a capability while it ran this thread
    #[arg(long, value_name = "NUMBER")]
    thread: Option<u32>,
    #[command(flatten)]
    range: Range,
    /// Only events of this type, such as RunThread or 1
    #[arg(long = "type")]
    name: Option<String>,
    /// Only events whose text contains this
    #[arg(long = "match")]
    text: Option<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let filter = EventFilter {
        cap: (arguments.cap).map_or(CapFilter::All, |cap| CapFilter::Only(CapId(cap))),
        thread: arguments.thread.map(ThreadId),
        range: arguments.range.span()?,
        ..EventFilter::default()
    };
    let types = TypeFilter::new(arguments.name.as_deref())?;
    let input = arguments.log.open()?;
    // Only the filter by thread needs to know which thread ran where.
    let session = match filter.thread {
        Some(_) => Some(input.read_session()?),
        None => None,
    };
    let mut back_dating = BackDating::default();
    let mut names = Names::default();
    let (mut all, mut of_type) = (0u64, 0u64);
    let observe = |record: &Record<'_>| {
        back_dating.observe(record.time);
        names.offer(record);
        all += 1;
        of_type += u64::from(types.contains(record));
    };
    let mut sink = (observe, CapLifetimes::default());
    input.read(&mut sink)?;
    arguments.range.check(sink.1.log())?;
    let list = EventList {
        filter,
        ..EventList::default()
    };
    let nothing_ran = Store::default();
    let without_runs = EventContext {
        store: &nothing_ran,
        names: &names,
    };
    let context = (session.as_ref()).map_or(without_runs, Session::event_context);
    let table = Table::lines(out, arguments.output, &["time", "cap", "name", "text"])?;
    let mut rows = Rows {
        arguments,
        types,
        printed: 0,
        matcher: Matcher::new(&list),
        context,
        table,
        text: String::new(),
    };
    let mut written = Ok(());
    let print = |record: &Record<'_>| {
        if written.is_ok() {
            written = rows.event(record);
        }
    };
    let mut sink = DisplayOrder::new(print, back_dating.max());
    let reader = input.read(&mut sink)?;
    let _print = sink.finish();
    written?;
    let Rows { table, printed, .. } = rows;
    table.end()?;
    if printed == 0 {
        print_message(why_no_events(arguments, all, of_type));
    }
    Ok(report(&reader))
}

/// Explains why no event was printed, given the number of events in the log, in total and of the requested type.
fn why_no_events(arguments: &Arguments, all: u64, of_type: u64) -> String {
    match (all, of_type, &arguments.name) {
        (0, _, _) => "no events: the log contains none".to_owned(),
        (_, 0, Some(name)) => {
            format!("no events: the log has none of type {name}; `eventscope info` lists its types")
        }
        _ => format!("no events match: the log has {all}"),
    }
}

/// Filter by event type.
#[derive(Clone, Debug)]
enum TypeFilter {
    Any,
    Name(String),
    Number(EventType),
}

impl TypeFilter {
    /// Parses a type name or number; `None` matches any type.
    fn new(name: Option<&str>) -> Result<Self, Failure> {
        let Some(name) = name else {
            return Ok(Self::Any);
        };
        if let Ok(number) = name.parse() {
            return Ok(Self::Number(EventType(number)));
        }
        // Events of undeclared types have this name.
        if name != "UnknownEvent" {
            types_named(name)?;
        }
        Ok(Self::Name(name.to_owned()))
    }

    fn contains(&self, record: &Record<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Name(name) => record.event().name() == name,
            Self::Number(number) => record.id == *number,
        }
    }
}

/// Prints the events that pass the filters.
struct Rows<'a> {
    arguments: &'a Arguments,
    types: TypeFilter,
    printed: u64,
    matcher: Matcher,
    context: EventContext<'a>,
    table: Table<'a>,
    text: String,
}

impl Rows<'_> {
    fn event(&mut self, record: &Record<'_>) -> io::Result<()> {
        if !self.matcher.is_row(record, &self.context) {
            return Ok(());
        }
        if !self.types.contains(record) {
            return Ok(());
        }
        let event = record.event();
        let name = event.name();
        self.text.clear();
        write_sentence(&mut self.text, &event, record.header, self.context.names);
        let wanted = self.arguments.text.as_deref();
        if wanted.is_some_and(|wanted| !self.text.contains(wanted)) {
            return Ok(());
        }
        self.printed += 1;
        if self.table.is_json() {
            return self.table.object(&json_object(&event, record));
        }
        let (time, text) = (record.time.into(), self.text.as_str().into());
        self.table
            .row(&[time, cap_or_dash(record.cap), name.into(), text])
    }
}

pub(super) fn json_object(event: &Event<'_>, record: &Record<'_>) -> serde_json::Value {
    let mut object = Map::new();
    object.insert("time".into(), json!(record.time));
    object.insert("cap".into(), json!(record.cap));
    for (name, value) in event.fields() {
        // `CapCreate` and similar events have a `cap` field of their own, which replaces that of the block: they
        // are logged outside any capability's block.
        object.insert(name.into(), json_value(value));
    }
    // `PerfName` has a field of that name, which is in the text as well.
    object.insert("name".into(), json!(event.name()));
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
