//! Diagnostics about a log: damage, irregularities and notes, as structured values.
//!
//! Each has a [`Rule`] with a severity, a time range, a byte offset, its subjects and its numbers. Analyses create
//! [`Diagnostic`]s and collect them in [`Diagnostics`]; the texts for users are generated elsewhere.
//!
//! A new rule takes a line in `rule.rs` and a [`Fact`] that maps to it.

mod fact;
mod gather;
mod rule;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use fact::{Fact, Number, Subject, Unit};
pub use rule::{Rule, Severity};

use eventlog::Damage;
use eventlog::ids::{ByteOffset, CapId, Nanos};
use model::sorting::CompactSort;
use model::time::Interval;

/// A single finding about a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The finding itself, with its subjects and numbers.
    pub fact: Fact,
    /// Time range, if known; a moment is a range of zero length. For an unreadable part of the file: the last
    /// event before it.
    pub range: Option<Interval>,
    /// Offset in the (uncompressed) file, for findings about its bytes.
    pub offset: Option<ByteOffset>,
    /// Capability whose block contained it.
    pub cap: Option<CapId>,
}

impl Diagnostic {
    /// Creates a diagnostic about the whole log.
    pub fn new(fact: impl Into<Fact>) -> Self {
        Self {
            fact: fact.into(),
            range: None,
            offset: None,
            cap: None,
        }
    }

    /// Creates a diagnostic about a moment.
    pub fn at_time(at: Nanos, fact: impl Into<Fact>) -> Self {
        Self {
            range: Some(Interval::empty_at(at)),
            ..Self::new(fact)
        }
    }

    /// Sets the capability in whose block it was found.
    #[must_use]
    pub fn with_cap(self, cap: Option<CapId>) -> Self {
        Self { cap, ..self }
    }

    /// Returns the rule of the fact.
    pub fn rule(&self) -> Rule {
        self.fact.rule()
    }

    /// Returns the start of the time range, if known.
    pub fn start(&self) -> Option<Nanos> {
        self.range.map(|range| range.start())
    }

    /// Returns the subjects, the most important first; the capability of the block comes last.
    pub fn subjects(&self) -> Vec<Subject> {
        let mut subjects = self.fact.subjects();
        let cap = self.cap.map(Subject::Capability);
        subjects.extend(cap.filter(|cap| !subjects.contains(cap)));
        subjects
    }
}

impl From<&Damage> for Diagnostic {
    fn from(damage: &Damage) -> Self {
        let (kind, lost_bytes) = (damage.kind, damage.lost_bytes);
        Self {
            fact: Fact::Damage { kind, lost_bytes },
            range: damage.after.map(Interval::empty_at),
            offset: Some(damage.at),
            cap: damage.cap,
        }
    }
}

/// List of diagnostics: a limited number per rule in full, and exact counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    counts: BTreeMap<Rule, u64>,
}

impl Diagnostics {
    /// Limit of diagnostics kept in full per rule.
    pub const MAX_KEPT_PER_RULE: u64 = 1000;

    /// Appends a diagnostic, in full up to the limit of its rule.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = self.counts.entry(diagnostic.rule()).or_default();
        *count += 1;
        if *count <= Self::MAX_KEPT_PER_RULE {
            self.kept.push(diagnostic);
        }
    }

    /// Adds diagnostics of a rule to its count only.
    pub(crate) fn count_more(&mut self, rule: Rule, more: u64) {
        if more > 0 {
            *self.counts.entry(rule).or_default() += more;
        }
    }

    /// Appends the diagnostics and counts of another list.
    pub fn append(&mut self, other: &Self) {
        for diagnostic in &other.kept {
            self.push(diagnostic.clone());
        }
        for (&rule, &count) in &other.counts {
            self.count_more(rule, count.saturating_sub(Self::MAX_KEPT_PER_RULE));
        }
    }

    /// Sorts by time range, then offset; diagnostics without a time come last.
    pub fn sort(&mut self) {
        let key = |diagnostic: &Diagnostic| {
            (
                diagnostic.range.is_none(),
                diagnostic.range,
                diagnostic.offset,
            )
        };
        self.kept.sort_small_by_key(key);
    }

    /// Returns the diagnostics kept in full: the first [`MAX_KEPT_PER_RULE`](Self::MAX_KEPT_PER_RULE) of each rule.
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// Returns the rules with at least one diagnostic, and their counts.
    pub fn counts(&self) -> impl Iterator<Item = (Rule, u64)> + '_ {
        self.counts.iter().map(|(&rule, &count)| (rule, count))
    }

    /// Returns the number of diagnostics of severity `least` or higher.
    pub fn count(&self, least: Severity) -> u64 {
        let grave = self.counts().filter(|(rule, _)| rule.severity() >= least);
        grave.map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automata::Anomaly;

    fn odd(at: u64) -> Diagnostic {
        Diagnostic::at_time(Nanos(at), Anomaly::GcStartRepeated)
    }

    #[test]
    fn each_rule_keeps_its_first_and_counts_all() {
        let mut diagnostics = Diagnostics::default();
        for at in 0..Diagnostics::MAX_KEPT_PER_RULE + 500 {
            diagnostics.push(odd(at));
        }
        diagnostics.push(Diagnostic::new(Fact::OpenCollection));
        assert_eq!(
            diagnostics.kept().len() as u64,
            Diagnostics::MAX_KEPT_PER_RULE + 1
        );
        let counts = |diagnostics: &Diagnostics| diagnostics.counts().collect::<Vec<_>>();
        let expected = [(Rule::GcStartRepeated, 1500), (Rule::OpenCollection, 1)];
        assert_eq!(counts(&diagnostics), expected);
        assert_eq!(diagnostics.count(Severity::Note), 1501);
        assert_eq!(diagnostics.count(Severity::Warning), 1500);
        let mut all = Diagnostics::default();
        all.push(odd(9));
        all.append(&diagnostics);
        assert_eq!(counts(&all)[0], (Rule::GcStartRepeated, 1501));
    }

    #[test]
    fn sorted_by_time() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::new(Fact::OpenCollection));
        diagnostics.push(odd(7));
        diagnostics.push(odd(3));
        diagnostics.sort();
        let times: Vec<_> = diagnostics.kept().iter().map(Diagnostic::start).collect();
        assert_eq!(times, [Some(Nanos(3)), Some(Nanos(7)), None]);
    }

    #[test]
    fn where_it_was_found_is_a_subject_once() {
        let cap = |cap| Subject::Capability(CapId(cap));
        let diagnostic = Diagnostic::new(Fact::BufferMissing(CapId(1)));
        assert_eq!(
            diagnostic.clone().with_cap(Some(CapId(1))).subjects(),
            [cap(1)]
        );
        assert_eq!(
            diagnostic.with_cap(Some(CapId(2))).subjects(),
            [cap(1), cap(2)]
        );
    }
}
