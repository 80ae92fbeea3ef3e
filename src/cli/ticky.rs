//! `eventscope ticky FILE`: prints ticky-ticky counters: entries and allocations of closures.

use serde_json::json;

use super::out::{MAX_ROWS, escape_line, in_columns_before_text, titled};
use super::{Condition, Failure, LogFile, Out, Output, Range, Table, print_message, report};
use analysis::ticky::{TickyColumn, TickyQuery, TickyRow, TickyTable};
use scene::format;
use session::cells::row_object;
use session::ticky_export::COLUMNS;
use views::words::ticky::{HOW_TO_RECORD, count_errs, flaw_text, size_sign};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Sort by name, kind, module, place, args, fvs, entries, allocs, allocs-per-entry, allocd, allocd-count or entries-per-allocd
    #[arg(long, value_name = "COLUMN", default_value = "allocs", value_parser = column)]
    sort: TickyColumn,
    /// Reverse the order
    #[arg(long)]
    reverse: bool,
    /// Only counters with these words in name, module or place; a word may apply to one column (kind:thunk, module:Data.Map) or be a bound (entries>1000, allocs>=2M)
    #[arg(long, value_name = "WORDS", default_value = "")]
    filter: String,
    /// Maximum number of counters
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print tab-separated rows with all columns
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    tsv: bool,
    #[command(flatten)]
    output: Output,
}

fn column(name: &str) -> Result<TickyColumn, String> {
    let all = || TickyColumn::ALL.map(TickyColumn::name).join(", ");
    TickyColumn::from_name(name).ok_or_else(|| format!("use one of {}", all()))
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.log.read(arguments.range)?;
    let query = TickyQuery {
        range,
        only: None,
        filter: arguments.filter.clone(),
        sort: arguments.sort,
        descending: arguments.sort.largest_first() != arguments.reverse,
        rows: 0..most_rows(arguments),
    };
    let table = session.ask(&query);
    let condition = report(session.reader());
    if table.counters == 0 {
        let what = format!(
            "the log has no ticky counters: {} and run with +RTS -lT",
            HOW_TO_RECORD[0]
        );
        return Err(Failure::Absent(what));
    }
    if arguments.output.json {
        out.json(&document(&table))?;
    } else if arguments.tsv || arguments.output.is_csv() {
        let rows = table.rows.iter().map(|row| COLUMNS.cells(row));
        Table::print(out, arguments.output, &COLUMNS.names(), rows)?;
    } else {
        out.text(in_columns(&table))?;
        let more = table.total.saturating_sub(table.rows.len() as u64);
        if more > 0 && arguments.limit.is_none() {
            let (more, all) = (format::count(more), table.total);
            out.text(format_args!("… and {more} more (--limit {all})\n"))?;
        }
    }
    if table.total == 0 {
        let all = format::pluralize(table.counters, "counter");
        print_message(match arguments.filter.is_empty() {
            true => format!("no counters: none of {all} counted in the range"),
            false => format!("no counters match: the log has {all}"),
        });
    }
    if let Some(flaw) = table.flaw() {
        out.flush()?;
        print_message(flaw_text(flaw));
    }
    Ok(condition)
}

/// Returns the maximum number of rows; limited on a terminal by default.
fn most_rows(arguments: &Arguments) -> u64 {
    let is_for_terminal = !arguments.tsv && arguments.output.is_for_terminal();
    let usual = if is_for_terminal { MAX_ROWS } else { u64::MAX };
    arguments.limit.unwrap_or(usual)
}

fn document(table: &TickyTable) -> serde_json::Value {
    let names = COLUMNS.names();
    let rows = table.rows.iter();
    let rows = rows.map(|row| row_object(&names, &COLUMNS.cells(row)));
    json!({
        "counters": table.counters,
        "samples": table.samples,
        "allocated_bytes": table.allocated_bytes,
        "entries_hold_bytes": table.entries_hold_bytes,
        "total": table.total,
        "entries": table.all.entries,
        "allocs_bytes": table.all.allocs_bytes,
        "allocs_share": table.share(table.all.allocs_bytes),
        "allocd_bytes": table.all.allocd_bytes,
        "rows": rows.collect::<Vec<_>>(),
    })
}

/// Column titles; all columns but the last have numbers.
const HEADS: [&str; 8] = [
    "entries",
    "allocs",
    "share",
    "per entry",
    "allocd",
    "allocd#",
    "entries each",
    "counter",
];

/// Formats the table for human readers, followed by the sums of all rows.
fn in_columns(table: &TickyTable) -> String {
    let mut lines = titled(&HEADS);
    lines.extend(table.rows.iter().map(|row| line(table, row).to_vec()));
    let all = TickyRow {
        counts: table.all,
        ..TickyRow::default()
    };
    let mut sums = line(table, &all);
    let counters = format::pluralize(table.total, "counter");
    sums[7] = match table.samples {
        0 => counters,
        samples => format!("{counters}, {}", format::pluralize(samples, "sample")),
    };
    lines.push(sums.to_vec());
    in_columns_before_text(&lines)
}

fn line(table: &TickyTable, row: &TickyRow) -> [String; 8] {
    let counts = &row.counts;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| format::NO_VALUE.to_owned());
    let ratio = |ratio: Option<f64>| or_dash(ratio.map(|ratio| format!("{ratio:.2}")));
    let share = table.share(counts.allocs_bytes);
    let sign = size_sign(count_errs(row));
    let of_closures = |text: String| or_dash(Some(text).filter(|_| table.has_allocd));
    [
        counts.entries.to_string(),
        counts.allocs_bytes.to_string(),
        or_dash(share.map(|share| format!("{:.2} %", share * 100.0))),
        ratio(row.allocs_per_entry()),
        of_closures(counts.allocd_bytes.to_string()),
        row.allocd_count().map_or_else(
            || or_dash(None),
            |count| of_closures(format!("{sign}{count}")),
        ),
        ratio(row.entries_per_allocd()),
        escape_line(&row_name(row)),
    ]
}

/// Returns the full name of a counter.
fn row_name(row: &TickyRow) -> String {
    let definition = row.definition.as_ref();
    definition.map_or_else(|| row.short_name(), |it| it.name.clone())
}
