//! Does waking idle capabilities cost more than collecting?
//!
//! A parallel collection takes all capabilities, also those that stand by: each must be
//! woken first, which takes the operating system some hundredths of a millisecond. Where
//! few capabilities work and collections are small, that is most of their time. No event
//! says when a capability was woken, and a busy machine takes long for anything: a hint.

use super::{Look, Rule};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::ledger::{Ledger, Pool};
use crate::scope::{Input, Scope, Stop};
use analysis::listen::{Listen, Steps};
use eventlog::ids::Duration;
use model::format;
use model::lane::Lane;

/// Less of the time is not worth a change.
const LEAST_SHARE: f64 = 0.02;

/// Fewer collections are no habit.
const LEAST: usize = 10;

const NAME: &str = "gc-sync-idle-caps";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does waking idle capabilities cost more than collecting?",
    inputs: &[Input::Threads, Input::GcStatistics],
    look: Look::InSteps(|scope, ledger, listen| Box::pin(look(scope, ledger, listen))),
};

/// How many capabilities ran a thread when a collection was asked for.
fn ran_before(scope: &Scope<'_>, stop: &Stop<'_>) -> u64 {
    let time = stop.pause.requested.0;
    let running = scope.cap_ids().filter(|cap| {
        // The one that asks has just stopped.
        *cap == stop.pause.leader
            || scope.log.store.cap(*cap).is_some_and(|cap| {
                let next = cap.runs.first_ending_after(time);
                next < cap.runs.len() && cap.runs.start(next) < time
            })
    });
    running.count() as u64
}

async fn look(scope: &Scope<'_>, ledger: &mut Ledger, listen: &dyn Listen) -> Outcome {
    let is_parallel = |stop: &Stop<'_>| stop.told.is_some_and(|told| told.is_parallel());
    let mostly_idle = |stop: &Stop<'_>| {
        is_parallel(stop) && ran_before(scope, stop) * 2 <= scope.caps && scope.caps > 1
    };
    let (mut found, mut steps) = (Vec::new(), Steps::new(listen));
    for (place, stop) in scope.stops_where(|_| true) {
        steps.step().await;
        if ledger.is_sync_free(place) && mostly_idle(stop) {
            found.push((place, stop));
        }
    }
    let sync_ns: u64 = found.iter().map(|(_, stop)| stop.sync_ns()).sum();
    let share = scope.share(sync_ns);
    if share < LEAST_SHARE || found.len() < LEAST {
        let share = format::fraction(share);
        let count = format::many(found.len() as u64, "collection");
        return Outcome::Clear(format!(
            "stopping for parallel collections while most capabilities were idle took {share} of the time in {count}; the limits are 2 % and 10 collections"
        ));
    }
    for (place, _) in &found {
        ledger.claim_sync(*place);
    }
    let title = format!(
        "Waking idle capabilities took {} before {}",
        format::duration(Duration(sync_ns)),
        format::many(found.len() as u64, "parallel collection")
    );
    let cost = sync_ns.saturating_mul(scope.caps);
    let mut finding = scope.of_time(NAME, title, ledger, (Pool::Stopping, cost));
    finding.confidence = Confidence::Hint;
    finding.meaning =
        "A parallel collection wakes every capability, even to copy a few kilobytes.".into();
    finding.tries = vec![
        Try::flag(
            "-qg",
            "Collect with one thread: nobody has to be woken.",
            "large collections take longer",
        ),
        Try::flag(
            "-A64m",
            "Collect less often.",
            "memory: 64 MiB for each capability",
        ),
        Try::flag(
            "-N2",
            "Use as many capabilities as there is work for.",
            "less parallel work",
        ),
    ];
    finding.distrust =
        "Where the machine was busy with something else, waiting for its cores looks the same; and large collections may gain more from all cores than waking them costs."
            .into();
    finding.numbers = vec![
        ("waking".into(), Value::Ns(sync_ns)),
        ("collections".into(), Value::Count(found.len() as u64)),
    ];
    let evidence = Scope::evidence_of(found.iter().map(|(_, stop)| *stop), |stop| {
        Value::Ns(stop.sync_ns())
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
