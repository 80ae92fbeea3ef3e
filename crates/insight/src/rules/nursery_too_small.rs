//! Would a larger allocation area save collections?
//!
//! A minor collection copies what is alive of what was allocated last. The more is
//! allocated in between, the more of it has died by then, so that fewer and not much
//! longer collections are left.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope, Stop};
use model::format;

/// Less of the time is usual for a program in Haskell.
const LEAST_SHARE: f64 = 0.10;
/// Fewer collections cannot be made much fewer.
const LEAST: usize = 50;
/// With so much for each capability between two collections more gains little.
const LARGE_BYTES: u64 = 16 << 20;

/// Where less of what was allocated is copied, the collections themselves take the time.
const HARDLY_COPIED: f64 = 0.05;

const NAME: &str = "nursery-too-small";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Would a larger allocation area save collections?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(scope: &Scope<'_>, ledger: &mut Ledger) -> Outcome {
    let is_minor = |stop: &Stop<'_>| stop.told.is_some() && !stop.is_major;
    let found: Vec<_> = scope
        .stops_where(is_minor)
        .filter(|(place, _)| ledger.is_free(*place))
        .collect();
    let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let mut allocated: Vec<u64> = found
        .iter()
        .filter_map(|(_, stop)| stop.told)
        .map(|told| told.allocated_bytes)
        .collect();
    allocated.sort_unstable();
    let median = allocated.get(allocated.len() / 2).copied().unwrap_or(0);
    let share = scope.share(pause_ns);
    let is_small = median <= LARGE_BYTES.saturating_mul(scope.caps);
    if share < LEAST_SHARE || found.len() < LEAST || !is_small {
        return Outcome::Clear(format!(
            "{} took {} of the time, with {} allocated before each; the limits are 10 % and {} for each capability",
            format::many(found.len() as u64, "minor collection"),
            format::fraction(share),
            format::bytes(median),
            format::bytes(LARGE_BYTES)
        ));
    }
    let count = found.len() as u64;
    let title = format!(
        "{} took {} of the time",
        format::many(count, "minor collection"),
        format::fraction(share)
    );
    let mut finding = claim(scope, ledger, &found, (NAME, title));
    // How much of it a larger area saves depends on how long the data lives.
    finding.confidence = Confidence::Probable;
    let told = || found.iter().filter_map(|(_, stop)| stop.told);
    let sum = |bytes: &mut dyn Iterator<Item = u64>| bytes.fold(0, u64::saturating_add);
    let copied = sum(&mut told().map(|told| told.copied_bytes));
    let copied = copied as f64 / sum(&mut allocated.iter().copied()).max(1) as f64;
    finding.meaning = if copied < HARDLY_COPIED {
        "Hardly anything survives them, but each collection costs some hundredths of a millisecond. A larger allocation area makes fewer of them."
    } else {
        "Data is copied before it had time to die. A larger allocation area can save up to all of it."
    }
    .into();
    finding.tries = vec![
        Try::flag(
            "-A64m",
            "Collect less often; with several capabilities add -n4m.",
            "memory: 64 MiB for each capability; the processor's cache helps less",
        ),
        Try::code("Allocate less: a profile by cost centres (-p) or ticky counters say who does."),
    ];
    finding.distrust =
        "If most of the data lives long, collections become longer as they become fewer.".into();
    finding.numbers = vec![
        ("collections".into(), Value::Count(count)),
        ("allocated before each".into(), Value::Bytes(median)),
        ("copied of what was allocated".into(), Value::Share(copied)),
    ];
    Outcome::Found(vec![finding])
}
