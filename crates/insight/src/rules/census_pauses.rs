//! Does heap profiling distort what is seen?
//!
//! A census walks the live heap while the program stands still.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::finding::{Outcome, Severity, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope};
use analysis::listen::Listen;
use eventlog::ids::Duration;
use model::format;

/// Less of the time does not change the picture.
const LEAST_SHARE: f64 = 0.02;

const NAME: &str = "census-pauses";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does heap profiling distort what is seen?",
    inputs: &[Input::Collections, Input::Censuses],
    look: Look::InSteps(|scope, ledger, listen| Box::pin(look(scope, ledger, listen))),
};

async fn look(scope: &Scope<'_>, ledger: &mut Ledger, listen: &dyn Listen) -> Outcome {
    let mut found = Vec::new();
    for (place, stop) in scope.stops_where(|_| true) {
        listen.listen().await;
        if ledger.is_free(place) && scope.has_census(stop) {
            found.push((place, stop));
        }
    }
    let all_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let share = scope.share(all_ns);
    if share < LEAST_SHARE {
        let share = format::fraction(share);
        return Outcome::Clear(format!(
            "collections with censuses took {share} of the time; the limit is 2 %"
        ));
    }
    let title = format!(
        "{} stopped the program for {} of {}",
        format::many(found.len() as u64, "census"),
        format::duration(Duration(all_ns)),
        format::duration(Duration(scope.length_ns()))
    );
    let mut finding = claim(scope, ledger, &found, (NAME, title));
    // It is no fault of the program.
    finding.severity = finding.severity.min(Severity::Medium);
    finding.meaning = "Each census runs a major collection and walks the live heap while the program is stopped. Other findings about time are less certain because of it.".into();
    finding.tries = vec![Try::flag(
        "-i1",
        "Take a census less often: once a second.",
        "a coarser heap profile",
    )];
    finding.distrust = "Without the heap profile the program does not have these pauses.".into();
    finding.numbers = vec![("censuses".into(), Value::Count(found.len() as u64))];
    Outcome::Found(vec![finding])
}
