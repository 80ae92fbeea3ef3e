//! Report section with the numbers of `+RTS -s` and the time of the capabilities.

use super::html::{Column, Html, Table};
use super::{ReportSubject, Section};
use crate::words::process::capability_counts;
use crate::words::processes;
use analysis::account::report::{CapTimes, ProgramTimes};
use analysis::numbers::summary::{SparkTotals, Summary};
use scene::format::{self, duration_ns};
use session::queries::SummaryQuery;
use session::query::Answers;

/// Maximum number of capabilities listed.
const CAPS: usize = 64;
/// Maximum number of rows of the parallelism table.
const COUNTS: usize = 17;

pub(super) async fn section(log: &impl Answers, subject: &ReportSubject) -> Option<Section> {
    let mut section = Section::new("summary", "Summary");
    let html = &mut section.body;
    let summary = log.ask(SummaryQuery(subject.range)).await?;
    if !summary.processes.is_empty() {
        let column = |(name, _)| match name {
            "Process" => Column::Text(name),
            _ => Column::Number(name),
        };
        let rows = summary.processes.iter();
        html.table(&Table::new(
            "The processes of this log",
            processes::COLUMNS.map(column).to_vec(),
            rows.map(|own| processes::row(own).to_vec()),
        ));
        html.note(processes::TOGETHER);
    }
    html.facts(&times(&summary));
    if summary.gc_ns.is_none() && summary.processes.is_empty() {
        html.note("The log has no GC events (+RTS -l writes them, but not with -l-g or -l-a): the times of mutator and collector are unknown.");
    }
    match &summary.sparks {
        Some(sparks) if sparks.count > 0 => {
            html.heading("Sparks");
            html.facts(&spark_facts(sparks));
        }
        Some(_) => html.note("The program created no sparks."),
        None => html.note("The log has no spark counters: programs linked with -threaded write them with +RTS -l."),
    }
    capabilities(html, &summary);
    parallelism(html, &summary.account);
    Some(section)
}

fn or_nothing<T>(number: Option<T>, text: impl FnOnce(T) -> String) -> String {
    number.map_or_else(|| format::NO_VALUE.to_owned(), text)
}

/// Row that only logs of programs built for profiling have.
const PROF: &str = "PROF: heap censuses";

/// Returns the rows of the time summary.
fn times(summary: &Summary) -> Vec<(&'static str, String)> {
    let total = summary.total_ns;
    let part = |ns: u64| format!("{} · {}", duration_ns(ns), format::percent(ns, total));
    let rows = vec![
        ("Total, from the start of the clock", duration_ns(total)),
        (
            "Events, from the first to the last",
            duration_ns(summary.account.life_ns),
        ),
        (
            "INIT: startup of the runtime",
            or_nothing(summary.init_ns, part),
        ),
        (
            "MUT: the program outside of collections",
            or_nothing(summary.mutator_ns, part),
        ),
        ("GC: in collections", or_nothing(summary.gc_ns, part)),
        (PROF, or_nothing(summary.prof_ns, part)),
        (
            "EXIT: shutdown of the runtime",
            or_nothing(summary.exit_ns, part),
        ),
        (
            "Capabilities busy: running threads",
            or_nothing(summary.cap_busy, format::fraction),
        ),
        (
            "Productivity by +RTS -s",
            or_nothing(summary.productivity, format::fraction),
        ),
        (
            "Collections",
            or_nothing(summary.collections, format::count),
        ),
        (
            "of these parallel",
            or_nothing(summary.parallel_collections, format::count),
        ),
        (
            "Work balance of parallel collections",
            or_nothing(summary.work_balance, format::fraction),
        ),
        (
            "Sync time: until all capabilities had stopped",
            or_nothing(summary.sync_ns, duration_ns),
        ),
        (
            "OS threads that first ran here",
            or_nothing(summary.os_threads, format::count),
        ),
    ];
    let rows = rows.into_iter();
    rows.filter(|&(name, _)| name != PROF || summary.prof_ns.is_some())
        .collect()
}

fn spark_facts(sparks: &SparkTotals) -> Vec<(&'static str, String)> {
    let all = sparks.count;
    let part = |name, number| {
        let share = format::percent(number, all);
        (name, format!("{} · {share}", format::count(number)))
    };
    vec![
        ("Total", format::count(all)),
        part("Converted: evaluated in parallel", sparks.converted),
        part("Overflowed: the pool was full", sparks.overflowed),
        part("Dud: evaluated already", sparks.dud),
        part("Garbage collected", sparks.gcd),
        part("Fizzled: evaluated meanwhile", sparks.fizzled),
    ]
}

fn capabilities(html: &mut Html, summary: &Summary) {
    let caps = &summary.account.caps;
    if caps.is_empty() {
        html.note("The log has no capabilities: scheduler events, which +RTS -l writes, are probably missing.");
        return;
    }
    let cells = |times: &CapTimes, allocated: Option<u64>| {
        let part = |ns: u64| match ns {
            0 => format::NO_VALUE.to_owned(),
            _ => format!(
                "{} · {}",
                duration_ns(ns),
                format::percent(ns, times.life_ns)
            ),
        };
        let mut cells = [
            times.running_ns,
            times.in_collections_ns(),
            times.stopping_ns.saturating_add(times.returning_ns),
            times.idle_work_available_ns,
            times.idle_ns,
            times.unknown_ns,
        ]
        .map(part)
        .to_vec();
        cells.push(or_nothing(allocated, format::bytes));
        cells
    };
    let rows = caps.iter().zip(&summary.capabilities).take(CAPS);
    let rows = rows.map(|((cap, times), row)| {
        [vec![cap.to_string()], cells(times, row.bytes_allocated)].concat()
    });
    let all = [
        vec!["All".to_owned()],
        cells(&summary.account.all_caps(), summary.bytes_allocated),
    ];
    html.table(&Table {
        all: (caps.len() > 1).then(|| all.concat()),
        ..Table::new(
            "Time of each capability",
            Column::parse(
                "Capability|#Running threads|#In collections|#Stopping, resuming|#Idle, a thread ready|#Idle|#Unknown|#Allocated",
            ),
            rows,
        )
    });
    html.truncation_note(CAPS.min(caps.len()), caps.len() as u64, "capability");
}

/// Writes for how long each number of capabilities ran threads.
fn parallelism(html: &mut Html, account: &ProgramTimes) {
    if account.all_caps().running_ns == 0 {
        html.note("The number of running capabilities is unknown: the log lacks scheduler events, which +RTS -l writes.");
        return;
    }
    let rows = account
        .parallelism_rows(COUNTS)
        .into_iter()
        .map(|(counts, ns)| {
            let name = capability_counts(&counts);
            vec![name, duration_ns(ns), format::percent(ns, account.life_ns)]
        });
    html.table(&Table::new(
        "Time by number of capabilities that ran threads",
        Column::parse("Capabilities|#Time|#Share"),
        rows,
    ));
    let means = account
        .mean_parallelism_of_all()
        .zip(account.mean_parallelism());
    if let Some((all, running)) = means {
        html.note(&format!(
            "Mean: {all:.2}; while any ran threads: {running:.2}."
        ));
    }
}
