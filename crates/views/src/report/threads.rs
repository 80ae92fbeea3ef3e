//! Report section about the time of the threads.

use super::html::{Column, Table};
use super::{ReportSubject, Section};
use crate::words::heap_report;
use analysis::timeline::thread_table::{
    ThreadColumn, ThreadSums, ThreadTableQuery, ThreadTableRow,
};
use scene::format;
use session::Overview;
use session::query::Answers;

/// Maximum number of threads listed.
const ROWS: u64 = 100;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Overview,
    subject: &ReportSubject,
) -> Option<Section> {
    let mut section = Section::new("threads", "Threads");
    let html = &mut section.body;
    let query = ThreadTableQuery {
        range: subject.range,
        sort: ThreadColumn::Running,
        descending: true,
        rows: 0..ROWS,
        ..ThreadTableQuery::default()
    };
    let table = log.ask(query).await?.unwrap_or_default();
    if table.total == 0 {
        html.paragraph(&match (subject.range, &overview.report) {
            (_, Some(_)) => heap_report::nothing_of("threads"),
            (Some(_), _) => "No threads in this range.".to_owned(),
            (None, _) => "No threads in this log: it has no scheduler events. +RTS -l logs them, -l-s and -l-a do not.".to_owned(),
        });
        return Some(section);
    }
    let label = |row: &ThreadTableRow| row.label.clone().unwrap_or_default();
    let row = |row: &ThreadTableRow| {
        let head = vec![format!("{} {}", row.id, label(row))];
        [head, sums(&row.sums), vec![row.end.explanation()]].concat()
    };
    html.table(&Table {
        caption: format!(
            "{}, longest running time first",
            format::pluralize(table.total, "thread")
        ),
        columns: Column::parse(
            "Thread|#Running|#Ready, not run|#Blocked|#Foreign calls|#Longest ready|#Runs|#Wakeups|#Migrations|Final state",
        ),
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
    html.truncation_note(table.rows.len(), table.total, "thread");
    html.note("A ready thread could run, but no capability runs it.");
    Some(section)
}

fn sums(sums: &ThreadSums) -> Vec<String> {
    let time = format::duration_ns;
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
