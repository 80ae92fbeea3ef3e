//! Single numbers, each with what it means, or why it is not there.

use yew::prelude::*;

use super::About;
use super::words::{CONVERTED, DUD, FIZZLED, GCD, OVERFLOWED, SPARK};
use crate::guide::guide;
use crate::place::{PlaceLink, seen_at};
use crate::shares::share_bar;
use crate::term::Term;
use crate::viewer::Goto;
use analysis::numbers::summary::SparkTotals;
use eventlog::ids::Duration;
use model::time::Interval;
use scene::format;
use views::words::processes::OF_EACH;

/// Why a log has no numbers of the collector; a sentence below says what to do.
const NO_GC: &str = "no GC events in this log";
/// Why a log does not tell when the runtime started and ended.
const NO_PHASES: &str = "not in this log";
/// Why a log has no numbers of the heap.
const NO_HEAP: &str = "no heap events in this log";
/// Short, so that a line stays a line while a selection is dragged.
const NO_MAJOR: &str = "no major collection here";
/// Collections count where they begin.
pub(super) const NO_COLLECTION: &str = "no collection begins here";

/// A number: the text for it and, smaller, what else there is to say; or why
/// there is none.
pub(super) type Shown = Result<(String, String), String>;

/// A line of a list.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) shown: Shown,
    /// When it was so, if that is a time.
    pub(super) place: Option<Interval>,
}

impl Fact {
    pub(super) const fn new(name: &'static str, help: &'static str, shown: Shown) -> Self {
        Self {
            name,
            help,
            shown,
            place: None,
        }
    }

    /// It was so then.
    fn at(self, place: Option<Interval>) -> Self {
        Self { place, ..self }
    }
}

/// A list of numbers.
pub(super) fn list(facts: Vec<Fact>, on_goto: &Callback<Goto>) -> Html {
    let line = |fact: Fact| {
        let (class, value, more) = match fact.shown {
            Ok((value, more)) => ("number", value, more),
            Err(why) => ("absent", format::NOTHING.to_owned(), why),
        };
        html! {
            <div class={classes!("fact", class)} key={fact.name}>
                <dt><Term name={fact.name} help={fact.help} /></dt>
                <dd class="value">
                    <PlaceLink text={value} what={format!("the {}", fact.name.to_lowercase())}
                        place={fact.place.map(seen_at)} on_goto={on_goto.clone()} />
                </dd>
                <dd class="more">{ more }</dd>
            </div>
        }
    };
    html! { <dl class="facts">{ for facts.into_iter().map(line) }</dl> }
}

/// A card with a heading.
pub(super) fn card(title: &str, body: Html) -> Html {
    html! { <section class="numbers-card"><h3>{ title }</h3>{ body }</section> }
}

fn only(value: String) -> (String, String) {
    (value, String::new())
}

/// A size as people read it, and exactly.
fn size(bytes: u64) -> (String, String) {
    let exact = format!("{} B", format::count(bytes));
    let short = format::bytes(bytes);
    if bytes < 1024 {
        only(short)
    } else {
        (short, exact)
    }
}

fn duration(ns: u64) -> String {
    format::duration(Duration(ns))
}

/// The fact that only programs built for profiling have.
const PROF: &str = "Heap censuses";

/// Where the time went.
pub(super) fn time(about: About<'_>) -> Html {
    let numbers = about.numbers;
    let total_ns = numbers.total_ns;
    let several = !numbers.processes.is_empty();
    let no_gc = if several { OF_EACH } else { NO_GC };
    let part = |ns: Option<u64>| {
        ns.map(|ns| (duration(ns), format::percent(ns, total_ns)))
            .ok_or_else(|| no_gc.to_owned())
    };
    let no_phases = if several { OF_EACH } else { NO_PHASES };
    let phase = |ns: Option<u64>| {
        ns.map(|ns| (duration(ns), format::percent(ns, total_ns)))
            .ok_or_else(|| no_phases.to_owned())
    };
    let (length, total) = (duration(numbers.account.life_ns), duration(total_ns));
    // Most clocks start so shortly before the first event that both read alike.
    let length = (length != total).then(|| Fact {
        place: None,
        name: "Events",
        help: "From the first event to the last, as in the header; of a range, what of it lies inside.",
        shown: Ok(only(length)),
    });
    let others = [
        Fact {
            place: None,
            name: "Total",
            help: "Elapsed time by the runtime's report (+RTS -s): from the start of its clock, which is before the first event. How long the processors worked (CPU time) is not in a log.",
            shown: Ok(only(total)),
        },
        Fact {
            place: None,
            name: "Init",
            help: "INIT by the runtime's report: the runtime starts, before main.",
            shown: phase(numbers.init_ns),
        },
        Fact {
            place: None,
            name: "Mutator",
            help: "MUT by the runtime's report: the program itself outside of garbage collections, also while it waits or has not much to do.",
            shown: phase(numbers.mutator_ns),
        },
        Fact {
            place: None,
            name: "GC",
            help: "GC by the runtime's report: garbage collections, in which the whole program stands still.",
            shown: part(numbers.gc_ns),
        },
        Fact {
            place: None,
            name: PROF,
            help: "PROF by the runtime's report, which programs built for profiling have: collections count the heap for a profile. It is part of their pauses, and no part of GC; the productivity by the runtime has it in.",
            shown: part(numbers.prof_ns),
        },
        Fact {
            place: None,
            name: "Exit",
            help: "EXIT by the runtime's report: after main, the runtime stops threads and timers; without the last collection.",
            shown: phase(numbers.exit_ns),
        },
        Fact {
            place: None,
            name: "Capabilities busy",
            help: "The share of the capabilities' time in which they ran threads, of all that the log tells of. What is missing to 100 % they stood still for collections or were idle.",
            shown: numbers
                .cap_busy
                .map(|share| only(format::fraction(share)))
                .ok_or_else(|| match numbers.account.so_far {
                    true => "known once the log is read".into(),
                    false => "the log has no events of the scheduler".into(),
                }),
        },
        Fact {
            place: None,
            name: "Productivity by +RTS -s",
            help: "Mutator time, and that of heap censuses in programs built for profiling, as a share of the elapsed time, whether capabilities run threads in it or not; the wait until all have stopped counts as mutator time. If it is low in a long run, the program spends its time collecting garbage. (+RTS -s calls it “of total elapsed”.)",
            shown: match numbers.productivity {
                Some(share) => Ok(only(format::fraction(share))),
                None if numbers.mutator_ns.is_some() => Err("no time passes here".into()),
                None if numbers.gc_ns.is_some() => Err(no_phases.to_owned()),
                None => Err(no_gc.to_owned()),
            },
        },
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

/// What the program allocated, and what it kept.
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
    let fact = Fact::new;
    let places = &numbers.places;
    let facts = vec![
        fact(
            "Allocated",
            "All memory that was ever handed out for new values; most of it soon becomes garbage. Counted at collections: for a range, as of the last count before its ends.",
            or(
                numbers.bytes_allocated,
                "the log has no counts of allocation",
            ),
        ),
        fact(
            "Allocation rate",
            "Allocated bytes in each second of elapsed mutator time. +RTS -s divides by CPU seconds, which are not in a log, so that its rate differs when several processors work or the program waits.",
            rate,
        ),
        fact(
            "Maximum residency",
            "The most that was still in use (live) after a major collection. In between it may have been more.",
            or(numbers.max_residency, NO_MAJOR),
        )
        .at(places.max_residency),
        fact(
            "Average residency",
            "The mean of what was live after major collections; each looks once, which is a sample.",
            average,
        ),
        fact(
            "Maximum heap size",
            "The most memory that the runtime held from the system for the heap, used or not, after a collection. The runtime's own maximum is at least this: a peak in the middle of a collection is not in a log.",
            or(numbers.max_heap_size, "no collection until here")
                .map(|(size, exact)| (format!("≥ {size}"), exact)),
        )
        .at(places.max_heap_size),
        fact(
            "Maximum slop",
            "Memory at the ends of blocks that holds nothing, at its most after a major collection.",
            or(numbers.max_slop, NO_MAJOR),
        )
        .at(places.max_slop),
        fact(
            "Maximum fragmentation",
            "Memory that the runtime held after a collection and could not give back, because parts of it are in use; at its most.",
            or(numbers.max_fragmentation, NO_COLLECTION),
        )
        .at(places.max_fragmentation),
        fact(
            "Fragmentation at the end",
            "How much of such memory there was after the last collection that had ended by the end of this time.",
            or(numbers.last_fragmentation, "no collection until here"),
        ),
        fact(
            "Copied",
            "What collections copied: live data is moved, garbage is left behind. Copying is most of a collection's work.",
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

/// What became of sparks.
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

/// The six numbers, each with what it means.
pub(super) fn spark_facts(totals: &SparkTotals) -> Vec<Fact> {
    let all = totals.count;
    let fact = |name, help, number| {
        let shown = Ok((format::count(number), format::percent(number, all)));
        Fact::new(name, help, shown)
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
