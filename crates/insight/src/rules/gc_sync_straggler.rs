//! Who delays collections?
//!
//! Of each collection that all took long to stop for, the log says whose run ended last
//! after the request. If one thread has most of that time, it is the cause: it ran in a
//! loop that does not allocate, or in an unsafe foreign call, and could not be stopped. Or
//! the operating system had put another program on its core, for some milliseconds.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use eventlog::ids::{CapId, Duration, ThreadId};
use model::format;

/// What the runtime itself calls long (`--long-gc-sync` waits that long by default).
const LONG_NS: u64 = 1_000_000;
/// The share of the waits that one thread must have: else it is chance, or the machine.
const MOST: f64 = 0.70;
/// Fewer waits may be chance, unless they are long: the operating system may stop any thread
/// for some milliseconds.
const LEAST: usize = 3;
const LONG_ENOUGH_NS: u64 = 20_000_000;
/// The operating system seldom takes a core away for longer: where most of the time is in
/// several such waits, it was the thread. A single one, however long, may be the machine.
const SURE_NS: u64 = 15_000_000;
/// Many waits that are shorter are hardly chance either: on a busy machine 41 waits took 3 ms each.
const MANY: u64 = 20;
const LIKELY_NS: u64 = 8_000_000;
/// Less of the time is not worth a change.
const LEAST_SHARE: f64 = 0.01;

const NAME: &str = "gc-sync-straggler";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Who delays collections?",
    inputs: &[Input::Threads, Input::Collections],
    look: Look::AtOnce(look),
};

/// A collection that waited for a thread.
struct Late {
    place: usize,
    cap: CapId,
    thread: ThreadId,
    late_ns: u64,
}

fn late(context: &RuleContext<'_>) -> Vec<Late> {
    let long = context.stops_where(|stop| stop.sync_ns() > LONG_NS);
    let late = long.filter_map(|(place, stop)| {
        let (cap, run) = stop.pause.last_to_stop?;
        let thread = context.log.store.thread_of(cap, run as usize)?;
        let (_, end) = context.log.store.cap(cap)?.runs.span_at(run as usize)?;
        Some(Late {
            place,
            cap,
            thread,
            late_ns: end
                .min(stop.pause.start.0)
                .saturating_sub(stop.pause.requested.0),
        })
    });
    late.collect()
}

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability: nobody else has to stop".to_owned());
    }
    let late = late(context);
    let long = context.stops_where(|stop| stop.sync_ns() > LONG_NS);
    let all_ns: u64 = long.map(|(_, stop)| stop.sync_ns()).sum();
    let mut by_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for late in &late {
        *by_thread.entry(late.thread).or_default() += late.late_ns;
    }
    let worst = by_thread.into_iter().max_by_key(|(_, ns)| *ns);
    let share = context.share(all_ns);
    let Some((thread, ns)) = worst
        .filter(|(_, ns)| context.share(*ns) >= LEAST_SHARE && *ns as f64 >= MOST * all_ns as f64)
    else {
        let share = format::fraction(share);
        return Outcome::Clear(format!(
            "waits of 1 ms or longer for all to stop took {share} of the time, the limit is 1 %; or no single thread was the cause"
        ));
    };
    let places: Vec<&Late> = late.iter().filter(|late| late.thread == thread).collect();
    if places.len() < LEAST && ns < LONG_ENOUGH_NS {
        return Outcome::Clear(format!(
            "{} held up {} only, for {}; the limits are 3 and 20 ms",
            context.thread_name(thread),
            format::many(places.len() as u64, "collection"),
            format::duration(Duration(ns))
        ));
    }
    for late in &places {
        loss_budget.claim_sync(late.place);
    }
    let count = places.len() as u64;
    let waits = places.iter().map(|late| late.late_ns);
    let waits: Vec<u64> = waits.filter(|ns| *ns >= SURE_NS).collect();
    let is_sure = waits.len() >= LEAST && waits.iter().sum::<u64>() * 2 >= ns;
    let is_likely = count >= MANY && ns / count.max(1) >= LIKELY_NS;
    let name = context.thread_name(thread);
    let [collections, time] = [
        format::many(count, "collection"),
        format::duration(Duration(ns)),
    ];
    let title = if is_sure {
        format!("{name} held up {collections} for {time}: it could not be interrupted")
    } else {
        format!("{name} was the last to stop for {collections}, and {time} late in all")
    };
    let others = context.caps.saturating_sub(1);
    let mut finding = context.of_time(
        NAME,
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
    let why = match (is_sure, is_likely) {
        (true, _) => "",
        (false, true) => {
            " So many long waits for one thread are hardly chance: it was in a foreign call or a loop that cannot be interrupted."
        }
        (false, false) => {
            " It happened too seldom to tell a thread that cannot be interrupted from a machine that ran something else on its core."
        }
    };
    finding.meaning = format!(
        "A collection can only begin when all capabilities have stopped. For {} in all, {} of {} capabilities stood still and waited for this thread: of the program's time that is {}.{why}",
        format::duration(Duration(ns)),
        others,
        context.caps,
        finding.cost
    )
    .into();
    if !is_sure {
        finding.tries.push(Try::code(
            "Record the log again on a machine where nothing else needs the cores: does the same thread come last?",
        ));
    }
    finding.tries.extend([
        Try::code(
            "If the thread was in a foreign call: import it as safe, so that the runtime need not wait for it (price: each call is slower, and other threads run meanwhile).",
        ),
        Try::flag(
            "-fno-omit-yields",
            "If it was in a loop that does not allocate: compile its module with this, so that it can be interrupted.",
            "code a little larger and slower",
        ),
        Try::measure(
            "-p -l",
            "Cost-centre samples inside it can tell whether it was a loop or a call.",
        ),
    ]);
    finding.distrust = "On a machine with other work, threads are late by chance, by a few milliseconds each time.".into();
    finding.numbers = vec![
        ("held up".into(), Value::Ns(ns)),
        ("collections".into(), Value::Count(count)),
        (
            "of all long waits".into(),
            Value::Share(ns as f64 / all_ns.max(1) as f64),
        ),
    ];
    let evidence = places.iter().map(|late| Evidence {
        range: context.stops[late.place].pause.span(),
        subjects: vec![Subject::Thread(thread), Subject::Capability(late.cap)],
        amount: Value::Ns(late.late_ns),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
