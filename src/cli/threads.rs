//! `eventscope threads FILE`.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{Condition, Failure, Input, Output, Range, escaped, report};
use analysis::capability::Lives;
use analysis::spans::{Analyses, Spans};
use analysis::timeline::store::Store;
use analysis::timeline::thread_export::{COLUMNS, Cell, cells};
use analysis::timeline::thread_table::{ThreadColumn, ThreadTable, ThreadTableQuery};
use eventlog::ids::Nanos;
use eventlog::{Event, EventType, Record, Sink};
use model::time::Span;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    #[command(flatten)]
    range: Range,
    #[command(flatten)]
    output: Output,
}

/// What the table is made of.
struct Threads {
    lives: Lives,
    spans: Spans<Store>,
}

impl Sink for Threads {
    fn event(&mut self, record: &Record<'_>) {
        self.lives.offer(record);
        self.spans.offer(record);
        if record.id == EventType::THREAD_LABEL
            && let Event::ThreadLabel { thread, label } = record.event()
        {
            self.spans.sink.label(thread, &label.to_str());
        }
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let analyses = Analyses {
        lifecycle: true,
        mutator_by_cap: false,
    };
    let mut sink = Threads {
        lives: Lives::default(),
        spans: Spans::new(analyses, Store::default()),
    };
    let reader = Input::open(&arguments.file)?.read(&mut sink)?;
    let log = sink.lives.log().unwrap_or(Span::new(Nanos(0), Nanos(0)));
    let mut store = sink.spans.finish();
    store.settle(log.end);
    let query = ThreadTableQuery {
        range: arguments.range.span(),
        sort: ThreadColumn::Thread,
        rows: 0..u64::MAX,
        ..ThreadTableQuery::default()
    };
    let table = store.thread_table(&query).unwrap_or_default();
    print(&table, arguments.output, out)?;
    Ok(report(&reader))
}

fn print(table: &ThreadTable, output: Output, out: &mut impl Write) -> Result<(), Failure> {
    let rows = table.rows.iter().map(cells);
    if output.json {
        let rows: Vec<Value> = rows.map(json_row).collect();
        writeln!(out, "{}", Value::Array(rows))?;
        return Ok(());
    }
    if output.header {
        writeln!(out, "{}", COLUMNS.join("\t"))?;
    }
    for row in rows {
        let row = row.map(|cell| match cell {
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => escaped(&text),
            Cell::Absent => String::new(),
        });
        writeln!(out, "{}", row.join("\t"))?;
    }
    Ok(())
}

fn json_row(row: [Cell; COLUMNS.len()]) -> Value {
    let values = row.map(|cell| match cell {
        Cell::Number(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::Absent => Value::Null,
    });
    let names = COLUMNS.map(str::to_owned);
    names.into_iter().zip(values).collect::<Map<_, _>>().into()
}
