//! Facts that should be equal on both sides.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::digest::facts::REPORTS;

/// ComparableFact that is not equal in all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnequalFact {
    /// Name of the fact, such as `GHC`.
    pub name: Cow<'static, str>,
    /// Distinct values in the runs before, sorted; empty for a log without the fact.
    pub before: Vec<String>,
    /// Distinct values in the runs after, sorted.
    pub after: Vec<String>,
    /// Whether the difference is only worth a note, as no compared number depends on it.
    pub is_note: bool,
}

/// Returns the facts that are not equal in all runs.
pub(super) fn unequal_facts(before: &[Digest], after: &[Digest]) -> Vec<UnequalFact> {
    let mut names: Vec<&Cow<'static, str>> = Vec::new();
    for fact in before.iter().chain(after).flat_map(|digest| &digest.facts) {
        if !names.contains(&&fact.name) {
            names.push(&fact.name);
        }
    }
    let all = names.into_iter().map(|name| UnequalFact {
        name: name.clone(),
        before: values(before, name),
        after: values(after, name),
        is_note: name == REPORTS,
    });
    let one = |values: &[String]| values.len() <= 1;
    let is_equal = |of: &UnequalFact| one(&of.before) && one(&of.after) && of.before == of.after;
    all.filter(|of| !is_equal(of)).collect()
}

fn values(side: &[Digest], name: &str) -> Vec<String> {
    let value = |digest: &Digest| {
        let fact = digest.facts.iter().find(|fact| fact.name == name);
        fact.map(|fact| fact.value.clone()).unwrap_or_default()
    };
    let mut values: Vec<String> = side.iter().map(value).collect();
    values.sort();
    values.dedup();
    values
}
