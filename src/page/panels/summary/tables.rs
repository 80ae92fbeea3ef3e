//! Tables: collections by generation, parallelism, time account of each capability.

use std::ops::RangeInclusive;

use yew::prelude::*;

use super::About;
use super::facts::{FactValue, NO_COLLECTION, SummaryFact, card, list};
use crate::goto_link::{GotoLink, collection_target};
use crate::guide::guide;
use crate::pagination::Pagination;
use crate::share_bar::share_bar;
use crate::term::{Term, heading};
use analysis::account::report::CapTimes;
use analysis::numbers::summary::Generation;
use eventlog::ids::CapId;
use scene::format::{self, duration_ns};
use views::words::process::capability_counts;

fn or_dash(ns: Option<u64>) -> String {
    ns.map_or_else(|| format::NO_VALUE.to_owned(), duration_ns)
}

/// Renders the collections by generation.
pub(super) fn collections(about: About<'_>) -> Html {
    let rows = &about.numbers.generations;
    if rows.is_empty() {
        let untold = about.numbers.account.collections;
        if untold.count > 0 {
            let (count, time) = (format::count(untold.count), duration_ns(untold.pause_ns));
            let text = format!(
                "{count} collections, {time} together. The log has no statistics of them: GHC 7.6 and later write these with +RTS -l."
            );
            return card("Collections", html! { <p>{ text }</p> });
        }
        let why = if about.has_heap() {
            "No collection is in this log."
        } else {
            "No GC events in this log. GHC 7.6 and later write them with +RTS -l, but not with -l-g or -l-a."
        };
        return card(
            "Collections",
            html! { <p class="faint">{ why }{ " " }{ guide("record-gc", "How to record them") }</p> },
        );
    }
    let cells = |row: &Generation| {
        html! {
            <>
                <td class="number">{ format::count(row.collections) }</td>
                <td class="number">{ format::count(row.parallel) }</td>
                <td class="number">{ duration_ns(row.elapsed_ns) }</td>
                <td class="number">{ or_dash(pause(row, row.avg_pause_ns)) }</td>
                <td class="number">
                    <GotoLink text={or_dash(pause(row, row.max_pause_ns))} what="the longest pause"
                        target={row.longest.map(collection_target)} on_goto={about.on_goto.clone()} />
                </td>
            </>
        }
    };
    let line = |row: &Generation| {
        html! {
            <tr key={row.generation}><th scope="row">{ row.generation }</th>{ cells(row) }</tr>
        }
    };
    let table = html! {
        <table class="plain-table">
            <thead>
                <tr>
                    { heading("Gen", "Generation: objects by age. New objects are in generation 0, which is collected often and quickly. Survivors move to the next one. A collection of the oldest is a major collection: it traverses all live data.") }
                    { heading("Number", "Number of collections that started in this time.") }
                    { heading("Parallel", "Number of these collections that used more than one thread.") }
                    { heading("Elapsed", "Total time for which they stopped the program.") }
                    { heading("Average", "Mean pause.") }
                    { heading("Longest", "Longest pause: the longest time without any response of the program.") }
                </tr>
            </thead>
            <tbody>{ for rows.iter().map(line) }</tbody>
            if rows.len() > 1 {
                <tfoot><tr><th scope="row">{ "All" }</th>{ cells(&total(rows)) }</tr></tfoot>
            }
        </table>
    };
    card(
        "Collections",
        html! { <>{ table }{ list(collection_facts(about), about.on_goto) }</> },
    )
}

/// Returns the pause; `None` without collections.
fn pause(row: &Generation, pause_ns: u64) -> Option<u64> {
    (row.collections > 0).then_some(pause_ns)
}

/// Sums up all generations.
fn total(rows: &[Generation]) -> Generation {
    let sum = |get: fn(&Generation) -> u64| rows.iter().map(get).fold(0, u64::saturating_add);
    let collections = sum(|row| row.collections);
    let pauses: u128 = rows
        .iter()
        .map(|row| u128::from(row.avg_pause_ns) * u128::from(row.collections))
        .sum();
    let average = pauses.checked_div(collections.into()).unwrap_or(0);
    let longest = rows.iter().max_by_key(|row| row.max_pause_ns);
    Generation {
        generation: 0,
        collections,
        parallel: sum(|row| row.parallel),
        elapsed_ns: sum(|row| row.elapsed_ns),
        avg_pause_ns: u64::try_from(average).unwrap_or(u64::MAX),
        max_pause_ns: longest.map_or(0, |row| row.max_pause_ns),
        longest: longest.and_then(|row| row.longest),
    }
}

fn collection_facts(about: About<'_>) -> Vec<SummaryFact> {
    let numbers = about.numbers;
    let balance: FactValue = match (numbers.work_balance, numbers.parallel_collections) {
        (Some(share), _) => Ok((format::fraction(share), String::new())),
        (None, Some(0)) => Err("no parallel collection here".into()),
        (None, _) => Err("nothing was copied in parallel".into()),
    };
    let sync: FactValue = match (numbers.sync_ns, numbers.collections) {
        (Some(ns), _) => Ok((duration_ns(ns), String::new())),
        (None, Some(0)) => Err(NO_COLLECTION.into()),
        (None, _) => Err("no requests in this log".into()),
    };
    let (account, all) = (&numbers.account, numbers.account.all_caps());
    let cost_ns = account.collections.capability_ns;
    let cost: FactValue = match cost_ns {
        _ if account.so_far => Err("known once the log is read".into()),
        0 => Err(NO_COLLECTION.into()),
        _ => {
            let share = format::percent(cost_ns, all.known_ns());
            Ok((duration_ns(cost_ns), format!("{share} of their time")))
        }
    };
    vec![
        SummaryFact::new(
            "Work balance",
            "Balance of parallel collections: 100 % if all threads copied the same amount, 0 % if one thread did all the work.",
            balance,
        ),
        SummaryFact::new(
            "Sync time",
            "Total time from the request to the start of each collection, until all capabilities had stopped. It counts as mutator time. Only the threaded runtime (-threaded) logs these requests.",
            sync,
        ),
        SummaryFact::new(
            "Cost for capabilities",
            "Time of all capabilities for collections: stopping, working, waiting, resuming. A pause of 1 ms on four capabilities costs 4 ms and more. The Collections panel shows the parts.",
            cost,
        ),
    ]
}

/// Maximum number of rows in the table of parallelism.
const COUNTS_SHOWN: usize = 17;

/// Renders for how long each number of capabilities ran threads at the same time.
pub(super) fn parallelism(about: About<'_>) -> Html {
    let account = &about.numbers.account;
    let all_ns = account.life_ns;
    if account.so_far {
        return card(
            "Parallelism",
            html! { <p class="faint">{ "The number of running capabilities appears once the log is read." }</p> },
        );
    }
    if about
        .whole
        .is_none_or(|whole| whole.account.all_caps().running_ns == 0)
    {
        return card(
            "Parallelism",
            html! { <p class="faint">{ "This log has no scheduler events: +RTS -l writes them. " }{ guide("record-threads", "How to record them") }</p> },
        );
    }
    let line = |(counts, ns): (RangeInclusive<usize>, u64)| {
        let (first, last) = (*counts.start(), *counts.end());
        let name = capability_counts(&counts);
        let class = if last == 0 { "idle" } else { "running" };
        html! {
            <tr key={first}>
                <th scope="row">{ name }</th>
                <td class="bar-cell">{ share_bar(all_ns, [(class, ns)]) }</td>
                <td class="number">{ duration_ns(ns) }</td>
                <td class="number share-number">{ format::percent(ns, all_ns) }</td>
            </tr>
        }
    };
    let mean = |name, help, mean: Option<f64>| {
        SummaryFact::new(
            name,
            help,
            mean.map(|mean| (format!("{mean:.2}"), format!("of {}", account.caps.len())))
                .ok_or_else(|| "nothing ran here".into()),
        )
    };
    let means = vec![
        mean(
            "Mean",
            "Mean number of capabilities that ran threads, over the whole time.",
            account.mean_parallelism_of_all(),
        ),
        mean(
            "Mean while any runs",
            "Mean number of capabilities that ran threads, over the time in which any did.",
            account.mean_parallelism(),
        ),
    ];
    let table = html! {
        <table class="plain-table parallelism">
            <thead>
                <tr>
                    <th scope="col"><Term name="Running" help="Number of capabilities that ran Haskell threads at the same time. Several numbers share a row if there are many." /></th>
                    <th class="bar-cell"><span class="visually-hidden">{ "Share as a bar" }</span></th>
                    <th scope="col" colspan="2"><Term name="Time" help="Time in which exactly this number ran. The rows sum to the length of the log, or of its part in the range." /></th>
                </tr>
            </thead>
            <tbody>{ for account.parallelism_rows(COUNTS_SHOWN).into_iter().map(line) }</tbody>
        </table>
    };
    card(
        "Parallelism",
        html! { <>{ table }{ list(means, about.on_goto) }</> },
    )
}

/// A row of the table of capabilities: time account and allocated bytes.
#[derive(Clone, Copy)]
struct Row {
    cap: CapId,
    times: CapTimes,
    allocated: Option<u64>,
}

/// A column: color class, name, explanation and time.
type Column = (
    &'static str,
    &'static str,
    &'static str,
    fn(&CapTimes) -> u64,
);

const COLUMNS: [Column; 7] = [
    ("running", "Running", "It ran Haskell threads.", |times| {
        times.running_ns
    }),
    (
        "gc",
        "Collecting",
        "It collected garbage, from the start of a collection of the program to its end.",
        |times| times.collecting_ns,
    ),
    (
        "gc part",
        "Waiting in collections",
        "Time in a collection outside of its work phases: before the first one, looking for work, or done with its part; or during a heap census. Meanwhile the leader prepares and finishes the collection, and the others wait.",
        |times| times.waiting_ns.saturating_add(times.census_ns),
    ),
    (
        "gc-sync",
        "Stopping",
        "It was stopped until all capabilities had stopped for a collection.",
        |times| times.stopping_ns,
    ),
    (
        "returning",
        "Resuming after GC",
        "A collection was over, but its OS thread had not resumed.",
        |times| times.returning_ns,
    ),
    (
        "ready",
        "Idle, work ready",
        "It was idle while a thread was ready on some capability: lost parallelism.",
        |times| times.idle_work_available_ns,
    ),
    (
        "idle",
        "Idle",
        "It was idle, and no thread was ready.",
        |times| times.idle_ns,
    ),
];

/// Column shown only if some time is unknown.
const UNKNOWN: Column = (
    "unknown",
    "Unknown",
    "Not in the log: a buffer was lost when the program was killed, bytes are damaged, or the log is still being read.",
    |times| times.unknown_ns,
);

fn columns(rows: &[Row]) -> Vec<Column> {
    let unknown = rows.iter().any(|row| row.times.unknown_ns > 0);
    let more = unknown.then_some(UNKNOWN);
    COLUMNS.into_iter().chain(more).collect()
}

/// Renders the shares as a stacked bar.
fn bar(times: &CapTimes, columns: &[Column]) -> Html {
    let part = |(class, .., time): &Column| (*class, time(times));
    share_bar(times.life_ns, columns.iter().map(part))
}

fn cells(row: &Row, columns: &[Column]) -> Html {
    let cell = |(.., time): &Column| {
        let ns = time(&row.times);
        html! {
            <>
                <td class="number">{ duration_ns(ns) }</td>
                <td class="number share-number">{ format::percent(ns, row.times.life_ns) }</td>
            </>
        }
    };
    let allocated = row
        .allocated
        .map_or_else(|| format::NO_VALUE.to_owned(), format::bytes);
    html! {
        <>
            <td class="bar-cell">{ bar(&row.times, columns) }</td>
            { for columns.iter().map(cell) }
            <td class="number size">{ allocated }</td>
        </>
    }
}

/// Sums up all capabilities; `cap` is meaningless.
fn all(rows: &[Row]) -> Row {
    let mut times = CapTimes::default();
    for row in rows {
        times.add(&row.times);
    }
    Row {
        cap: CapId(0),
        times,
        allocated: rows
            .iter()
            .filter_map(|row| row.allocated)
            .reduce(u64::saturating_add),
    }
}

/// Renders the time account of each capability; `pagination` limits how many are listed.
pub(super) fn capabilities(about: About<'_>, pagination: &Pagination) -> Html {
    let numbers = about.numbers;
    let allocated = numbers.capabilities.iter().map(|row| row.bytes_allocated);
    let every = numbers.account.caps.iter().zip(allocated);
    let every: Vec<Row> = every
        .map(|(&(cap, times), allocated)| Row {
            cap,
            times,
            allocated,
        })
        .collect();
    if every.is_empty() {
        return card(
            "Capabilities",
            html! { <p class="faint">{ "No capabilities in this log. Run the program with +RTS -l, which writes scheduler events. " }{ guide("record-threads", "How to record them") }</p> },
        );
    }
    let scope = &about.track_selection.scope;
    let limited = !scope.caps.is_empty();
    let wanted = |row: &&Row| !limited || scope.has_cap(row.cap);
    let rows: Vec<Row> = every.iter().filter(wanted).copied().collect();
    let columns = columns(&rows);
    if rows.is_empty() {
        return card(
            "Capabilities",
            html! { <p class="faint">{ "No events of the selected capabilities. Clear the selection (Esc) to see all." }</p> },
        );
    }
    let which = match (limited, rows.len()) {
        (false, _) => "each capability",
        (true, 1) => "the selected capability",
        (true, _) => "each selected capability",
    };
    let of = format!("Time of {which} in {}", about.extent.words());
    let sum = match limited {
        true => format!("These {} of {}", rows.len(), every.len()),
        false => "All".to_owned(),
    };
    let line = |row: &Row| {
        html! {
            <tr key={row.cap.0}><th scope="row">{ about.processes.cap_name(row.cap) }</th>{ cells(row, &columns) }</tr>
        }
    };
    let colored = |&(class, name, help, _): &Column| {
        html! {
            <th scope="col" colspan="2"><span class={classes!("swatch", class)} aria-hidden="true" />{ " " }<Term {name} {help} /></th>
        }
    };
    let body = html! {
        <div class="summary">
            <table class="plain-table">
                <caption>{ of }</caption>
                <thead>
                    <tr>
                        <th scope="col"><Term name="Capability" help="Virtual processor that runs one Haskell thread at a time; +RTS -N sets their number." /></th>
                        <th class="bar-cell"><span class="visually-hidden">{ "Shares as a bar" }</span></th>
                        { for columns.iter().map(colored) }
                        <th scope="col" class="size"><Term name="Allocated" help="Bytes allocated on it, counted at collections." /></th>
                    </tr>
                </thead>
                <tbody>{ for rows.iter().take(pagination.shown).map(line) }</tbody>
                if rows.len() > 1 {
                    <tfoot><tr><th scope="row">{ sum }</th>{ cells(&all(&rows), &columns) }</tr></tfoot>
                }
            </table>
            { pagination.button(rows.len(), "capabilities") }
            { list(vec![tasks(about)], about.on_goto) }
        </div>
    };
    card("Capabilities", body)
}

/// Returns the number of OS threads of the runtime.
fn tasks(about: About<'_>) -> SummaryFact {
    let shown = match about.numbers.os_threads {
        Some(number) => Ok((format::count(number), String::new())),
        None => Err("the log has no task events".into()),
    };
    let (name, help) = match about.extent.range {
        None => (
            "OS threads",
            "OS threads that ran Haskell or collected garbage: one for each capability, and more for foreign calls.",
        ),
        Some(_) => (
            "New OS threads",
            "OS threads that ran Haskell or collected garbage for the first time in this range.",
        ),
    };
    SummaryFact::new(name, help, shown)
}
