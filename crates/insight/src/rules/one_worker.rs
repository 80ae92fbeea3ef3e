//! Does one capability do the work of a parallel program?
//!
//! A program that makes sparks is meant to run in parallel. Where one capability runs nearly all
//! of it, the sparks have no effect: they are evaluated too late, too little, or not at all.

use super::{Look, Rule};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::ledger::{Ledger, Pool};
use crate::scope::{Input, Scope};
use eventlog::ids::CapId;
use model::format;

/// So much of all running time is that of one capability.
const MOST: f64 = 0.95;
/// It runs for so much of the time: else the program waits for something.
const BUSY: f64 = 0.50;
/// So many sparks are made by a program that is meant to be parallel.
const LEAST_SPARKS: u64 = 100;

pub(super) const NAME: &str = "one-worker";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does one capability do the work of a parallel program?",
    inputs: &[Input::Threads, Input::Sparks],
    look: Look::AtOnce(look),
};

fn look(scope: &Scope<'_>, ledger: &mut Ledger) -> Outcome {
    let times = &scope.times.caps;
    let ran_ns: u64 = times.iter().map(|(_, times)| times.running_ns).sum();
    let most = times.iter().max_by_key(|(_, times)| times.running_ns);
    let (cap, most_ns) = most.map_or((CapId(0), 0), |(cap, times)| (*cap, times.running_ns));
    let share = most_ns as f64 / ran_ns.max(1) as f64;
    let busy = scope.share(most_ns);
    if scope.caps < 2 || share < MOST || busy < BUSY {
        return Outcome::Clear(format!(
            "the busiest of {} did {} of the work, and ran for {} of the time; the limits are 95 % and 50 %",
            format::many(scope.caps, "capability"),
            format::fraction(share),
            format::fraction(busy)
        ));
    }
    let sparks = scope.sparks();
    if sparks.count < LEAST_SPARKS {
        return Outcome::Clear(format!(
            "the program made {}; the limit is 100",
            format::many(sparks.count, "spark")
        ));
    }
    let title = format!(
        "The program made {}, but 1 of {} did {} of the work",
        format::many(sparks.count, "spark"),
        format::many(scope.caps, "capability"),
        format::fraction(share)
    );
    let mut finding = scope.of_time(
        NAME,
        title,
        ledger,
        (Pool::Serial, ledger.all_ns(Pool::Serial)),
    );
    finding.confidence = Confidence::Probable;
    finding.meaning = "The sparks have no effect: what was to run in parallel was evaluated by the thread that made them, or is a small part of the work.".into();
    finding.tries = vec![
        Try::code(
            "Let each spark evaluate all of its result: rdeepseq or force. A spark that ends at the first constructor leaves the work to the thread that needs the value.",
        ),
        Try::code(
            "Spark before the values are needed, and use what rpar, parList or using return.",
        ),
    ];
    finding.distrust =
        "In another part of the run, or with other input, the work may be divided better.".into();
    finding.numbers = vec![
        ("work of the busiest".into(), Value::Share(share)),
        ("sparks".into(), Value::Count(sparks.count)),
        ("sparks converted".into(), Value::Count(sparks.converted)),
    ];
    let evidence = std::iter::once(Evidence {
        range: scope.range,
        subjects: vec![Subject::Capability(cap)],
        amount: Value::Ns(most_ns),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
