//! Single numbers, each with an explanation, or the reason why it is missing.

use yew::prelude::*;

use super::About;
use super::words::{CONVERTED, DUD, FIZZLED, GCD, OVERFLOWED, SPARK};
use crate::goto_link::{GotoLink, collection_target};
use crate::guide::guide;
use crate::share_bar::share_bar;
use crate::term::Term;
use crate::viewer::NavigationTarget;
use analysis::numbers::summary::SparkTotals;
use model::time::Interval;
use scene::format::{self, duration_ns};
use views::words::processes::OF_EACH;

/// Reason for missing statistics of the collector; a sentence below the list names the remedy.
const NO_GC: &str = "no GC events in this log";
/// Reason for missing start and end times of the runtime.
const NO_PHASES: &str = "not in this log";
/// Reason for missing heap numbers.
const NO_HEAP: &str = "no heap events in this log";
/// Reason for missing numbers of major collections; short, so that the layout does not jump while a selection is
/// dragged.
const NO_MAJOR: &str = "no major collection here";
/// Reason for missing numbers of collections in a range; a collection counts where it begins.
pub(super) const NO_COLLECTION: &str = "no collection begins here";

/// A number as text and, in small print, a remark; or the reason why it is missing.
pub(super) type FactValue = Result<(String, String), String>;

/// A named number with its explanation.
pub(super) struct SummaryFact {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) shown: FactValue,
    /// The time at which it was measured, if there is one.
    pub(super) place: Option<Interval>,
}

impl SummaryFact {
    pub(super) const fn new(name: &'static str, help: &'static str, shown: FactValue) -> Self {
        Self {
            name,
            help,
            shown,
            place: None,
        }
    }

    /// Sets the time at which the number was measured.
    fn at(self, place: Option<Interval>) -> Self {
        Self { place, ..self }
    }
}

pub(super) fn list(facts: Vec<SummaryFact>, on_goto: &Callback<NavigationTarget>) -> Html {
    let line = |fact: SummaryFact| {
        let (class, value, more) = match fact.shown {
            Ok((value, more)) => ("number", value, more),
            Err(why) => ("absent", format::NO_VALUE.to_owned(), why),
        };
        html! {
            <div class={classes!("fact", class)} key={fact.name}>
                <dt><Term name={fact.name} help={fact.help} /></dt>
                <dd class="value">
                    <GotoLink text={value} what={format!("the {}", fact.name.to_lowercase())}
                        target={fact.place.map(collection_target)} on_goto={on_goto.clone()} />
                </dd>
                <dd class="more">{ more }</dd>
            </div>
        }
    };
    html! { <dl class="facts">{ for facts.into_iter().map(line) }</dl> }
}

pub(super) fn card(title: &str, body: Html) -> Html {
    html! { <section class="numbers-card"><h3>{ title }</h3>{ body }</section> }
}

fn only(value: String) -> (String, String) {
    (value, String::new())
}

/// Formats a size with a unit, and exactly in bytes from 1 KiB on.
fn size(bytes: u64) -> (String, String) {
    let exact = format!("{} B", format::count(bytes));
    let short = format::bytes(bytes);
    if bytes < 1024 {
        only(short)
    } else {
        (short, exact)
    }
}

/// Name of the fact that only programs built for profiling have.
const PROF: &str = "Heap censuses";

/// Renders the card of run, mutator and collection times.
pub(super) fn time(about: About<'_>) -> Html {
    let numbers = about.numbers;
    let total_ns = numbers.total_ns;
    let several = !numbers.processes.is_empty();
    let no_gc = if several { OF_EACH } else { NO_GC };
    let no_phases = if several { OF_EACH } else { NO_PHASES };
    let or = |ns: Option<u64>, why: &str| {
        ns.map(|ns| (duration_ns(ns), format::percent(ns, total_ns)))
            .ok_or_else(|| why.to_owned())
    };
    let part = |ns| or(ns, no_gc);
    let phase = |ns| or(ns, no_phases);
    let (length, total) = (duration_ns(numbers.account.life_ns), duration_ns(total_ns));
    // The clock usually starts so shortly before the first event that both lengths print the same.
    let length = (length != total).then(|| {
        SummaryFact::new(
            "Events",
            "From the first event to the last, as in the header; for a range, the part inside it.",
            Ok(only(length)),
        )
    });
    let others = [
        SummaryFact::new(
            "Total",
            "Elapsed time as in the runtime's report (+RTS -s): from the start of its clock, which is before the first event. Logs contain no CPU time.",
            Ok(only(total)),
        ),
        SummaryFact::new(
            "Init",
            "INIT in the runtime's report: startup of the runtime, before main.",
            phase(numbers.init_ns),
        ),
        SummaryFact::new(
            "Mutator",
            "MUT in the runtime's report: all time outside of garbage collections, including time in which the program waits.",
            phase(numbers.mutator_ns),
        ),
        SummaryFact::new(
            "GC",
            "GC in the runtime's report: garbage collections, which pause the whole program.",
            part(numbers.gc_ns),
        ),
        SummaryFact::new(
            PROF,
            "PROF in the runtime's report of programs built for profiling: heap censuses during collections. It is part of the pauses, but not of GC; the runtime's productivity includes it.",
            part(numbers.prof_ns),
        ),
        SummaryFact::new(
            "Exit",
            "EXIT in the runtime's report: after main, the runtime stops threads and timers; excludes the last collection.",
            phase(numbers.exit_ns),
        ),
        SummaryFact::new(
            "Capabilities busy",
            "Share of the capabilities' time in which they ran threads, excluding time that is not in the log. In the rest they were idle or stopped for collections.",
            numbers
                .cap_busy
                .map(|share| only(format::fraction(share)))
                .ok_or_else(|| match numbers.account.so_far {
                    true => "known once the log is read".into(),
                    false => "the log has no scheduler events".into(),
                }),
        ),
        SummaryFact::new(
            "Productivity by +RTS -s",
            "Share of mutator time in the elapsed time, whether or not capabilities run threads; includes heap censuses in programs built for profiling and the wait until all capabilities have stopped. If it is low in a long run, the program spends its time in garbage collection. (“of total elapsed” in +RTS -s.)",
            match numbers.productivity {
                Some(share) => Ok(only(format::fraction(share))),
                None if numbers.mutator_ns.is_some() => Err("no time in this range".into()),
                None if numbers.gc_ns.is_some() => Err(no_phases.to_owned()),
                None => Err(no_gc.to_owned()),
            },
        ),
    ];
    let bar = numbers.in_collections_ns().filter(|_| total_ns > 0).map(|gc_ns| {
        let runtime_ns = numbers.init_ns.unwrap_or(0) + numbers.exit_ns.unwrap_or(0);
        let mutator_ns = total_ns.saturating_sub(gc_ns + runtime_ns);
        let parts = [("running", mutator_ns), ("gc", gc_ns), ("idle", runtime_ns)];
        html! {
            <div class="time-bar" aria-hidden="true">
                { share_bar(total_ns, parts) }
                <p><span class="swatch running" />{ " Mutator " }<span class="swatch gc" />{ " GC " }<span class="swatch idle" />{ " Init, exit" }</p>
            </div>
        }
    });
    let why = (numbers.gc_ns.is_none() && !several).then(|| {
        html! { <p class="faint">{ "+RTS -l writes GC events; -l-g and -l-a leave them out. " }{ guide("record-gc", "How to record them") }</p> }
    });
    let others = others.into_iter();
    let others = others.filter(|fact| fact.name != PROF || numbers.prof_ns.is_some());
    let facts = length.into_iter().chain(others).collect();
    card(
        "Time",
        html! { <>{ list(facts, about.on_goto) }{ bar }{ why }</> },
    )
}

/// Renders the card of allocation and residency.
pub(super) fn memory(about: About<'_>) -> Html {
    let numbers = about.numbers;
    let or = |number: Option<u64>, why: &str| {
        number.map(size).ok_or_else(|| {
            let why = if about.has_heap() { why } else { NO_HEAP };
            why.to_owned()
        })
    };
    let samples = numbers.residency_samples.unwrap_or(0);
    let average = or(numbers.average_residency, NO_MAJOR).map(|(value, _)| {
        let of = match samples {
            1 => "of 1 sample".to_owned(),
            _ => format!("of {} samples", format::count(samples)),
        };
        (value, of)
    });
    let rate = match (numbers.allocation_rate, numbers.bytes_allocated) {
        (Some(rate), _) => Ok((format!("{}/s", format::bytes(rate)), String::new())),
        (None, Some(_)) if numbers.mutator_ns == Some(0) => Err("no mutator time here".into()),
        (None, _) if !numbers.processes.is_empty() => Err(OF_EACH.to_owned()),
        (None, _) => or(None, "the log has no counts of allocation"),
    };
    let fact = SummaryFact::new;
    let places = &numbers.places;
    let facts = vec![
        fact(
            "Allocated",
            "Total bytes allocated for new values; most of them soon become garbage. Counted at collections: for a range, as of the last count before each end.",
            or(
                numbers.bytes_allocated,
                "the log has no counts of allocation",
            ),
        ),
        fact(
            "Allocation rate",
            "Allocated bytes per second of elapsed mutator time. +RTS -s divides by CPU seconds, which are not in a log, so its rate differs when several processors work or the program waits.",
            rate,
        ),
        fact(
            "Maximum residency",
            "Maximum of the live data after a major collection. It may have been greater in between.",
            or(numbers.max_residency, NO_MAJOR),
        )
        .at(places.max_residency),
        fact(
            "Average residency",
            "Mean of the live data after major collections, one sample each.",
            average,
        ),
        fact(
            "Maximum heap size",
            "Maximum of the memory that the runtime held for the heap after a collection, used or not. The runtime's own maximum is at least this: peaks during a collection are not logged.",
            or(numbers.max_heap_size, "no collection until here")
                .map(|(size, exact)| (format!("≥ {size}"), exact)),
        )
        .at(places.max_heap_size),
        fact(
            "Maximum slop",
            "Unused memory at the ends of blocks: maximum after a major collection.",
            or(numbers.max_slop, NO_MAJOR),
        )
        .at(places.max_slop),
        fact(
            "Maximum fragmentation",
            "Memory that the runtime could not return after a collection, because parts of each megablock were in use: maximum.",
            or(numbers.max_fragmentation, NO_COLLECTION),
        )
        .at(places.max_fragmentation),
        fact(
            "Fragmentation at the end",
            "Fragmentation after the last collection that ended by the end of this time.",
            or(numbers.last_fragmentation, "no collection until here"),
        ),
        fact(
            "Copied",
            "Bytes copied by collections: live data is moved, garbage is left behind. Copying is most of a collection's work.",
            or(numbers.bytes_copied, NO_COLLECTION),
        ),
    ];
    let why = (!about.has_heap()).then(|| {
        html! { <p class="faint">{ "GHC 7.6 and later write heap events with +RTS -l; -l-g and -l-a leave them out. " }{ guide("record-gc", "How to record them") }</p> }
    });
    card(
        "Memory",
        html! { <>{ list(facts, about.on_goto) }{ why }</> },
    )
}

/// Renders the card of spark counts.
pub(super) fn sparks(about: About<'_>) -> Html {
    let body = match &about.numbers.sparks {
        None => {
            html! { <p class="faint">{ "This log has no spark counts: link the program with -\u{2060}threaded and run it with +RTS -l. " }{ guide("record-sparks", "How to record them") }</p> }
        }
        Some(_) if about.has_no_sparks() => {
            html! { <p class="faint">{ "This program created no sparks." }</p> }
        }
        Some(totals) => list(spark_facts(totals), about.on_goto),
    };
    card("Sparks", body)
}

/// Returns the total and the counts by fate of sparks.
pub(super) fn spark_facts(totals: &SparkTotals) -> Vec<SummaryFact> {
    let all = totals.count;
    let fact = |name, help, number| {
        let shown = Ok((format::count(number), format::percent(number, all)));
        SummaryFact::new(name, help, shown)
    };
    let mut total = fact("Total", SPARK, all);
    total.shown = Ok(only(format::count(all)));
    vec![
        total,
        fact("Converted", CONVERTED, totals.converted),
        fact("Overflowed", OVERFLOWED, totals.overflowed),
        fact("Dud", DUD, totals.dud),
        fact("GC’d", GCD, totals.gcd),
        fact("Fizzled", FIZZLED, totals.fizzled),
    ]
}
