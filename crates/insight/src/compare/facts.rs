//! What should be equal on both sides.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::digest::facts::REPORTS;

/// Something that should be equal in all runs and is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unequal {
    /// What it is, such as `GHC`.
    pub name: Cow<'static, str>,
    /// What it is in the runs before, each value once; an empty one if a log does not tell.
    pub before: Vec<String>,
    /// What it is in the runs after.
    pub after: Vec<String>,
    /// Whether it is only a note: no number that is compared depends on it.
    pub is_note: bool,
}

/// What is not the same in all runs.
pub(super) fn unequal(before: &[Digest], after: &[Digest]) -> Vec<Unequal> {
    let mut names: Vec<&Cow<'static, str>> = Vec::new();
    for fact in before.iter().chain(after).flat_map(|digest| &digest.facts) {
        if !names.contains(&&fact.name) {
            names.push(&fact.name);
        }
    }
    let all = names.into_iter().map(|name| Unequal {
        name: name.clone(),
        before: values(before, name),
        after: values(after, name),
        is_note: name == REPORTS,
    });
    let one = |values: &[String]| values.len() <= 1;
    let is_equal = |of: &Unequal| one(&of.before) && one(&of.after) && of.before == of.after;
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
