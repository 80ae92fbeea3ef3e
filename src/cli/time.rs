//! `eventscope time FILE`: where the time of capabilities, threads and the
//! program went, every nanosecond in one class.

use serde_json::{Map, Value, json};

use super::out::{Rows, in_columns};
use super::{Condition, Failure, Out, Whole, report};
use analysis::account::report::ProgramTimes;
use analysis::numbers::Numbers;
use analysis::timeline::thread_account::{BlockedFor, ThreadAccount};
use model::time::Interval;
use session::questions::{ThreadTimeQuery, TimeQuery};

pub(super) fn run(arguments: &Whole, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.read()?;
    let program = session.ask(&TimeQuery(range));
    let threads = session.ask(&ThreadTimeQuery(range)).unwrap_or_default();
    if arguments.json {
        let part = Numbers::span(session.recording().end(), range);
        out.json(&document(part, &program, &threads))?;
    } else {
        let tables = [
            capabilities(&program),
            thread_rows(&threads),
            program_rows(&program),
        ];
        out.text(tables.map(|table| in_columns(&table)).join("\n"))?;
    }
    Ok(report(session.reader()))
}

/// The classes of a thread, under their names, without what it was blocked on.
fn thread_classes(thread: &ThreadAccount) -> [(&'static str, u64); 4] {
    [
        ("running", thread.running_ns),
        ("ready_in_collection", thread.ready_paused_ns),
        ("ready_behind_thread", thread.ready_behind_ns),
        ("ready_while_idle", thread.ready_idle_ns),
    ]
}

fn document(range: Interval, program: &ProgramTimes, threads: &[ThreadAccount]) -> Value {
    let object = |classes: &[(&str, u64)]| -> Map<String, Value> {
        let pair = |(name, time): &(&str, u64)| ((*name).to_owned(), json!(time));
        classes.iter().map(pair).collect()
    };
    let caps = program.caps.iter().map(|(cap, times)| {
        json!({"cap": cap.0, "life": times.life_ns, "classes": object(&times.classes())})
    });
    let threads = threads.iter().map(|thread| {
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
    });
    let collections = &program.collections;
    json!({
        "range": {"from_ns": range.start(), "to_ns": range.end()},
        "capabilities": caps.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "program": {
            "life": program.life_ns,
            "parallelism": program.parallelism_ns,
            "collections": {
                "count": collections.count,
                "stopping": collections.stopping_ns,
                "pause": collections.pause_ns,
                "capability_time": collections.capability_ns,
            },
        },
    })
}

fn capabilities(program: &ProgramTimes) -> Rows {
    let mut table = Vec::new();
    for (cap, times) in &program.caps {
        if table.is_empty() {
            let names = times.classes().map(|(name, _)| name.to_owned());
            let names = ["capability".to_owned(), "life".to_owned()]
                .into_iter()
                .chain(names);
            table.push(names.collect());
        }
        let row = [cap.to_string(), times.life_ns.to_string()].into_iter();
        table.push(
            row.chain(times.classes().map(|(_, time)| time.to_string()))
                .collect(),
        );
    }
    table
}

fn thread_rows(threads: &[ThreadAccount]) -> Rows {
    let mut reasons: Vec<BlockedFor> = Vec::new();
    for thread in threads {
        reasons.extend(thread.blocked_ns.keys());
    }
    reasons.sort_unstable();
    reasons.dedup();
    let mut table = Rows::new();
    for thread in threads {
        let classes = thread_classes(thread);
        let rest = [
            ("foreign_call", thread.foreign_ns),
            ("unknown", thread.unknown_ns),
        ];
        if table.is_empty() {
            let mut names = vec!["thread".to_owned(), "life".to_owned()];
            names.extend(classes.map(|(name, _)| name.to_owned()));
            names.extend(reasons.iter().map(|reason| reason.name()));
            names.extend(rest.map(|(name, _)| name.to_owned()));
            names.push("label".to_owned());
            table.push(names);
        }
        let mut row = vec![thread.id.to_string(), thread.life_ns.to_string()];
        row.extend(classes.map(|(_, time)| time.to_string()));
        let blocked = |reason| thread.blocked_ns.get(reason).copied().unwrap_or_default();
        row.extend(reasons.iter().map(|reason| blocked(reason).to_string()));
        row.extend(rest.map(|(_, time)| time.to_string()));
        row.push(thread.label.clone().unwrap_or_default());
        table.push(row);
    }
    table
}

fn program_rows(program: &ProgramTimes) -> Rows {
    let collections = &program.collections;
    let mut table = vec![vec!["program".to_owned(), program.life_ns.to_string()]];
    for (count, time) in program.parallelism_ns.iter().enumerate() {
        table.push(vec![format!("{count} running"), time.to_string()]);
    }
    for (name, number) in [
        ("collections", collections.count),
        ("stopping for collections", collections.stopping_ns),
        ("collections' pauses", collections.pause_ns),
        (
            "capabilities' time in collections",
            collections.capability_ns,
        ),
    ] {
        table.push(vec![name.to_owned(), number.to_string()]);
    }
    table
}
