//! Do full collections cost too much?
//!
//! Each goes through all that is alive, and copies most of it; they come whenever the old generation has grown by
//! the factor of `-F`.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::finding::{Outcome, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope};
use model::format;

/// Less of the time is usual.
const LEAST_SHARE: f64 = 0.10;
/// Fewer are no habit.
const LEAST: usize = 3;

const NAME: &str = "major-gc-heavy";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do full collections cost too much?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(scope: &Scope<'_>, ledger: &mut Ledger) -> Outcome {
    let found: Vec<_> = scope
        .stops_where(|stop| stop.is_major && stop.told.is_some())
        .filter(|(place, _)| ledger.is_free(*place))
        .collect();
    let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let share = scope.share(pause_ns);
    let count = found.len() as u64;
    if share < LEAST_SHARE || found.len() < LEAST {
        return Outcome::Clear(format!(
            "{} took {} of the time; the limits are 3 and 10 %",
            format::many(count, "major collection"),
            format::fraction(share)
        ));
    }
    let copied: u64 = found
        .iter()
        .filter_map(|(_, stop)| stop.told)
        .map(|told| told.copied_bytes)
        .sum();
    let each = copied / count.max(1);
    let title = format!(
        "{} copied {} each, {} of the time",
        format::many(count, "major collection"),
        format::bytes(each),
        format::fraction(share)
    );
    let mut finding = claim(scope, ledger, &found, (NAME, title));
    finding.meaning = "Each time the old generation fills up, all live data is traversed and, except for large objects, copied.".into();
    finding.tries = vec![
        Try::flag(
            "-A64m",
            "Keep short-lived data from growing old.",
            "memory: 64 MiB for each capability",
        ),
        Try::flag(
            "-F4",
            "Let the old generation grow more before it is collected.",
            "memory: up to twice as much",
        ),
    ];
    finding.tries.extend(scope.nonmoving());
    finding.distrust = "How long data lives decides what either of these saves.".into();
    if scope.is_nonmoving() {
        finding.meaning =
            "The program stands still for each, although the old generation is marked while it runs."
                .into();
    }
    if scope.has_argument("-c") {
        finding.meaning =
            "All live data is marked and moved together each time the old generation has filled: that takes longer than to copy it, and needs less memory."
                .into();
        finding.tries.truncate(1);
        finding.tries.push(Try::code(
            "Run it without -c: collections then copy what is alive.",
        ));
    }
    finding.numbers = vec![
        ("collections".into(), Value::Count(count)),
        ("copied in each".into(), Value::Bytes(each)),
    ];
    Outcome::Found(vec![finding])
}
