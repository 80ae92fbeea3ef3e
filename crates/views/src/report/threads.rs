//! Report section about the time of the threads.

use super::html::{Column, Table, cut};
use super::{Section, Wanted};
use crate::words::heap_report;
use analysis::timeline::thread_table::{ThreadColumn, ThreadSums, ThreadTableQuery, ThreadTimes};
use eventlog::ids::Duration;
use scene::format;
use session::Overview;
use session::query::Answers;

/// Maximum number of threads listed.
const ROWS: u64 = 100;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Overview,
    wanted: &Wanted,
) -> Option<Section> {
    let mut section = Section::new("threads", "Threads");
    let html = &mut section.body;
    let query = ThreadTableQuery {
        range: wanted.range,
        sort: ThreadColumn::Running,
        descending: true,
        rows: 0..ROWS,
        ..ThreadTableQuery::default()
    };
    let table = log.ask(query).await?.unwrap_or_default();
    if table.total == 0 {
        html.say(&match (wanted.range, &overview.report) {
            (_, Some(_)) => heap_report::nothing_of("threads"),
            (Some(_), _) => "No thread lived in this time.".to_owned(),
            (None, _) => "No thread is in this log: it was made without events of the scheduler. +RTS -l has them, -l-s and -l-a leave them out.".to_owned(),
        });
        return Some(section);
    }
    let label = |row: &ThreadTimes| row.label.clone().unwrap_or_default();
    let row = |row: &ThreadTimes| {
        let head = vec![format!("{} {}", row.id, label(row))];
        [head, sums(&row.sums), vec![row.end.explanation()]].concat()
    };
    html.table(&Table {
        caption: format!(
            "{}, those that ran longest first",
            format::many(table.total, "thread")
        ),
        columns: vec![
            Column::Text("Thread"),
            Column::Number("Running"),
            Column::Number("Ready, not run"),
            Column::Number("Blocked"),
            Column::Number("Foreign calls"),
            Column::Number("Longest ready"),
            Column::Number("Runs"),
            Column::Number("Wakeups"),
            Column::Number("Migrations"),
            Column::Text("In the end"),
        ],
        rows: table.rows.iter().map(row).collect(),
        all: Some(
            [
                vec!["All".to_owned()],
                sums(&table.all),
                vec![String::new()],
            ]
            .concat(),
        ),
    });
    if let Some(cut) = cut(table.rows.len(), table.total, "thread") {
        html.note(&cut);
    }
    html.note("A thread is ready while it could run, but no capability runs it.");
    Some(section)
}

fn sums(sums: &ThreadSums) -> Vec<String> {
    let time = |ns| format::duration(Duration(ns));
    vec![
        time(sums.times.running_ns),
        time(sums.times.ready_ns()),
        time(sums.times.blocked_outside_calls_ns()),
        time(sums.times.foreign_ns()),
        time(sums.longest_ready_ns),
        format::count(sums.runs),
        format::count(sums.wakeups),
        format::count(sums.migrations),
    ]
}
