//! Does one thread delay collections?
//!
//! For each collection with a long wait for all capabilities to stop, the log shows whose run ended last after the
//! request. If one thread accounts for most of that time, it is the cause: it ran a loop without allocation or an
//! unsafe foreign call, and could not be interrupted. Alternatively, the operating system ran another program on
//! its core for some milliseconds.

use std::collections::BTreeMap;

use super::prelude::*;
use eventlog::ids::CapId;
use model::sorting::CompactSort;

/// Minimum length of a wait: the default of the runtime's `--long-gc-sync`.
const LONG_NS: u64 = 1_000_000;
/// Minimum share of the waits caused by one thread; less may be chance, or the machine.
const MIN_THREAD_SHARE: f64 = 0.70;
/// Minimum number of waits, unless they are at least `LONG_ENOUGH_NS` in total: the operating system may stop any
/// thread for some milliseconds.
const MIN_COUNT: usize = 3;
const LONG_ENOUGH_NS: u64 = 20_000_000;
/// The operating system seldom takes a core away for longer than this. If several such waits make up most of the
/// time, the thread caused them. A single one, however long, may be the machine.
const SURE_NS: u64 = 15_000_000;
/// This many waits of at least `LIKELY_NS` on average are hardly chance either: on a busy machine, 41 waits took 3
/// ms each.
const MANY: u64 = 20;
const LIKELY_NS: u64 = 8_000_000;
/// As many late stops of one thread, each of at least `REGULAR_NS` and nearly equal, are not chance: what a
/// busy machine adds scatters. The spread is that from the 10th to the 90th percentile, as a share of the median.
const REGULAR_NS: u64 = 2_000_000;
const SPREAD: f64 = 0.15;
/// Minimum share of the time; less is not worth a change.
const MIN_SHARE: f64 = 0.01;
/// Maximum number of threads that are named together: workers that all make the same calls.
const MAX_THREADS: usize = 16;
/// Minimum share of the time that several threads delayed, and minimum mean delay: of several threads, chance and
/// the machine explain more than of one.
const MIN_SHARE_OF_SEVERAL: f64 = 0.05;
const MIN_MEAN_NS: u64 = 3_000_000;
/// Mean delay below which more collections are needed.
const CLEAR_NS: u64 = 5_000_000;

pub(super) const RULE: Rule = Rule {
    name: "gc-sync-straggler",
    question: "Do threads delay collections?",
    inputs: &[Input::Threads, Input::Collections],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Collection that waited for a thread.
pub(super) struct LateStop {
    pub(super) index: usize,
    cap: CapId,
    pub(super) thread: ThreadId,
    pub(super) late_ns: u64,
}

/// Returns the collections that waited longer than `min_ns`, with the thread that stopped last.
pub(super) fn late_stops(context: &RuleContext<'_>, min_ns: u64) -> Vec<LateStop> {
    let long = context.collections_where(|gc| gc.sync_ns() > min_ns);
    let late = long.filter_map(|(index, gc)| {
        let (cap, run) = gc.pause.last_to_stop?;
        let thread = context.log.store.thread_of(cap, run as usize)?;
        let (_, end) = context.log.store.cap(cap)?.runs.span_at(run as usize)?;
        Some(LateStop {
            index,
            cap,
            thread,
            late_ns: end
                .min(gc.pause.start.0)
                .saturating_sub(gc.pause.requested.0),
        })
    });
    late.collect()
}

/// Returns the sum of the delays by each thread.
pub(super) fn late_by_thread(late: &[LateStop]) -> BTreeMap<ThreadId, u64> {
    let mut by_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for late in late {
        let ns = by_thread.entry(late.thread).or_default();
        *ns = ns.saturating_add(late.late_ns);
    }
    by_thread
}

/// Returns the thread, with its time, that most often was the last to stop after a delay of always the same length.
fn regular(context: &RuleContext<'_>, late: &[LateStop]) -> Option<(ThreadId, u64)> {
    let mut by_thread: BTreeMap<ThreadId, Vec<u64>> = BTreeMap::new();
    for late in late {
        by_thread.entry(late.thread).or_default().push(late.late_ns);
    }
    let regular = by_thread.into_iter().filter_map(|(thread, mut late)| {
        late.sort_unstable();
        let at = |tenth: usize| late[(late.len() - 1) * tenth / 10];
        let (median, spread) = (at(5), at(9) - at(1));
        let is_regular = late.len() as u64 >= MANY
            && median >= REGULAR_NS
            && (spread as f64) < SPREAD * median as f64;
        let ns = late.iter().copied().fold(0, u64::saturating_add);
        (is_regular && context.share(ns) >= MIN_SHARE).then_some((thread, ns))
    });
    regular.max_by_key(|(_, ns)| *ns)
}

/// Returns the threads that each delayed collections often and for long, if together they caused most of the waits.
fn several(
    context: &RuleContext<'_>,
    by_thread: &BTreeMap<ThreadId, u64>,
    all_ns: u64,
) -> Option<Vec<ThreadId>> {
    let mut often: Vec<(u64, ThreadId)> = by_thread
        .iter()
        .map(|(thread, ns)| (*ns, *thread))
        .collect();
    often.sort_small_by(|a, b| b.cmp(a));
    often.truncate(MAX_THREADS);
    let ns: u64 = often.iter().map(|(ns, _)| ns).sum();
    let is_much =
        context.share(ns) >= MIN_SHARE_OF_SEVERAL && ns as f64 >= MIN_THREAD_SHARE * all_ns as f64;
    // One that delayed little may have been the last by chance.
    let limit = often.first().map_or(0, |(most, _)| most / 4);
    is_much.then(|| {
        often
            .into_iter()
            .filter(|(ns, _)| *ns >= limit)
            .map(|(_, thread)| thread)
            .collect()
    })
}

/// Creates the finding about threads of one kind that all cannot be interrupted.
fn held_up_by_several(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (late, threads): (&[LateStop], &[ThreadId]),
) -> Outcome {
    let of_thread: Vec<&LateStop> = late
        .iter()
        .filter(|late| threads.contains(&late.thread))
        .collect();
    let ns: u64 = of_thread.iter().map(|late| late.late_ns).sum();
    let count = of_thread.len() as u64;
    let mean_ns = ns / count.max(1);
    let limit = if mean_ns < CLEAR_NS { OFTEN } else { MANY };
    if count < limit || mean_ns < MIN_MEAN_NS {
        return Outcome::Clear(format!(
            "{} were the last to stop for {}, {} late on average; the limits are {limit} collections and 3 ms",
            format::pluralize(threads.len() as u64, "thread"),
            format::pluralize(count, "collection"),
            format::duration_ns(mean_ns),
        ));
    }
    for late in &of_thread {
        loss_budget.claim_sync(late.index);
    }
    let is_likely = mean_ns >= LIKELY_NS;
    let title = format!(
        "{} {}: {} waited {} for one of them, {} each",
        format::pluralize(threads.len() as u64, "thread"),
        match is_likely {
            true => "could not be interrupted",
            false => "stopped late",
        },
        format::pluralize(count, "collection"),
        format::duration_ns(ns),
        format::duration_ns(mean_ns),
    );
    let cost = ns.saturating_mul(context.caps.saturating_sub(1));
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Stopping, cost));
    finding.confidence = match is_likely {
        true => Confidence::Probable,
        false => Confidence::Hint,
    };
    let or_busy = match is_likely {
        true => "",
        false => " Or the machine was busy, and other programs ran on the cores of these threads.",
    };
    finding.meaning = format!("A collection begins only when all capabilities have stopped. A thread in an unsafe foreign call, or in a loop that does not allocate, stops when that ends, and the others wait: {} of the time of all capabilities.{or_busy}", finding.cost).into();
    finding.tries = advice(context, count);
    if !is_likely {
        finding.tries.push(record_again());
    }
    finding.distrust = DISTRUST.into();
    finding.set_numbers([
        ("held up", Value::Ns(ns)),
        ("collections", Value::Count(count)),
        ("threads", Value::Count(threads.len() as u64)),
    ]);
    Outcome::Found(vec![finding.with_evidence(evidence(context, &of_thread))])
}

/// Minimum number of collections that wait for short delays, and for advice to collect less often: with -A64m, a program
/// of large Integers took 27 % less time.
const OFTEN: u64 = 50;

const DISTRUST: &str = "On a busy machine, threads stop a few milliseconds late by chance.";

/// Returns what to do about threads that cannot be interrupted.
fn advice(context: &RuleContext<'_>, waits: u64) -> Vec<Advice> {
    let area = { context.larger_areas() }.find(|(flag, _)| *flag == "-A16m" && waits >= OFTEN);
    let area = area.map(|(flag, _)| {
        Advice::flag(
            flag,
            "Collect less often: each collection waits for these threads. Measure it.",
            "memory: 16 MiB for each capability",
        )
    });
    let calls = Advice::code(
        "For a foreign call: import it as safe, so that the runtime need not wait for it (price: each call is slower, and other threads run meanwhile). Arithmetic on an Integer of many thousand digits is such a call too.",
    );
    let loops = [
        Advice::flag(
            "-fno-omit-yields",
            "For a loop that does not allocate: compile its module with this flag, so that it can be interrupted.",
            "code a little larger and slower",
        ),
        Advice::measure(
            "-p -l",
            "Cost-centre samples in these waits can distinguish a loop from a call.",
        ),
    ];
    std::iter::once(calls).chain(area).chain(loops).collect()
}

fn record_again() -> Advice {
    Advice::code(
        "Record the log again on an idle machine, and check whether the same threads stop last.",
    )
}

fn evidence<'a>(
    context: &'a RuleContext<'_>,
    of_thread: &'a [&LateStop],
) -> impl Iterator<Item = Evidence> + 'a {
    of_thread.iter().map(|late| Evidence {
        range: context.collections[late.index].pause.span(),
        subjects: vec![Subject::Thread(late.thread), Subject::Capability(late.cap)],
        amount: Value::Ns(late.late_ns),
    })
}

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability: no other must stop".to_owned());
    }
    let late = late_stops(context, LONG_NS);
    let long = context.collections_where(|gc| gc.sync_ns() > LONG_NS);
    let all_ns: u64 = long.map(|(_, gc)| gc.sync_ns()).sum();
    let by_thread = late_by_thread(&late);
    let several = several(context, &by_thread, all_ns);
    let worst = by_thread.into_iter().max_by_key(|(_, ns)| *ns);
    let regular = regular(context, &late);
    let mostly = worst.filter(|(_, ns)| {
        context.share(*ns) >= MIN_SHARE && *ns as f64 >= MIN_THREAD_SHARE * all_ns as f64
    });
    let Some((thread, ns)) = regular.or(mostly) else {
        if let Some(threads) = several {
            return held_up_by_several(context, loss_budget, (&late, &threads));
        }
        return Outcome::Clear(format!(
            "waits of 1 ms or longer for all capabilities to stop took {} of the time, {} of it for one thread; the limits are 1 % and 70 %",
            format::fraction(context.share(all_ns)),
            format::fraction(worst.map_or(0, |(_, ns)| ns) as f64 / all_ns.max(1) as f64),
        ));
    };
    let of_thread: Vec<&LateStop> = late.iter().filter(|late| late.thread == thread).collect();
    if of_thread.len() < MIN_COUNT && ns < LONG_ENOUGH_NS {
        return Outcome::Clear(format!(
            "{} held up {} only, for {}; the limits are 3 and 20 ms",
            context.thread_name(thread),
            format::pluralize(of_thread.len() as u64, "collection"),
            format::duration_ns(ns)
        ));
    }
    for late in &of_thread {
        loss_budget.claim_sync(late.index);
    }
    let count = of_thread.len() as u64;
    let waits = of_thread.iter().map(|late| late.late_ns);
    let waits: Vec<u64> = waits.filter(|ns| *ns >= SURE_NS).collect();
    let is_sure = waits.len() >= MIN_COUNT && waits.iter().sum::<u64>() * 2 >= ns;
    // Chance does not choose the same thread nearly every time.
    let is_nearly_all = count * 10 >= context.collections.len() as u64 * 9;
    let is_long = ns / count.max(1) >= LIKELY_NS;
    let is_likely = regular.is_some() || count >= MANY && (is_long || is_nearly_all);
    let name = context.thread_name(thread);
    let [collections, time] = [
        format::pluralize(count, "collection"),
        format::duration_ns(ns),
    ];
    let title = if is_sure || regular.is_some() {
        format!("{name} held up {collections} for {time}: it could not be interrupted")
    } else {
        format!("{name} was the last to stop for {collections}, and {time} late in all")
    };
    let others = context.caps.saturating_sub(1);
    let mut finding = context.time_finding(
        RULE.name,
        title,
        loss_budget,
        (Pool::Stopping, ns.saturating_mul(others)),
    );
    finding.subject = Some(name);
    finding.confidence = match (is_sure, is_likely) {
        (true, _) => finding.confidence,
        (false, true) => Confidence::Probable,
        (false, false) => Confidence::Hint,
    };
    if count < MIN_COUNT as u64 {
        finding.severity = finding.severity.min(Severity::Low);
    }
    let why = match (is_sure, is_likely) {
        (true, _) => "",
        (false, true) if regular.is_some() => {
            " These waits are nearly equal, so they are not chance: it was in a foreign call, or a loop that cannot be interrupted."
        }
        (false, true) => {
            " So many waits for one thread are hardly chance: it was in a foreign call or a loop that cannot be interrupted."
        }
        (false, false) if count >= MANY => {
            " Each wait was short: the thread could not be interrupted, or other programs ran on its core."
        }
        (false, false) => {
            " It happened too rarely to distinguish a thread that cannot be interrupted from other programs on its core."
        }
    };
    finding.meaning = format!(
        "A collection begins only when all capabilities have stopped. For {} in total, {} of {} capabilities waited for this thread: {} for each capability, on average.{why}",
        format::duration_ns(ns),
        others,
        context.caps,
        finding.cost
    )
    .into();
    finding.tries = advice(context, count);
    if !is_sure {
        finding.tries.push(record_again());
    }
    finding.distrust = DISTRUST.into();
    finding.set_numbers([
        ("held up", Value::Ns(ns)),
        ("collections", Value::Count(count)),
        (
            "of all long waits",
            Value::Share(ns as f64 / all_ns.max(1) as f64),
        ),
    ]);
    Outcome::Found(vec![finding.with_evidence(evidence(context, &of_thread))])
}
