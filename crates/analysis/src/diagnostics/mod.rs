//! What is wrong or odd about a log, or worth to know about it, as values:
//! by which [`Rule`], how grave, when and where in the file, about what, with
//! which numbers. Whoever looks at a log makes [`Diagnostic`]s and hands them to
//! [`Diagnostics`]; their words are made elsewhere.
//!
//! A new rule is a line in `rule.rs`, and a [`Fact`] that comes under it.

mod fact;
mod gather;
mod rule;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use fact::{Fact, Number, Subject, Unit};
pub use rule::{Rule, Severity};

use eventlog::Damage;
use eventlog::ids::{ByteOffset, CapId, Nanos};
use model::sorting::SortSmall;
use model::time::Interval;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What it is.
    pub fact: Fact,
    /// When, if that is known; a moment is a range without a length. For a
    /// part of the file that cannot be read: the last event before it.
    pub range: Option<Interval>,
    /// Where in the (uncompressed) file, if it is about its bytes.
    pub offset: Option<ByteOffset>,
    /// The capability in whose block it was found.
    pub cap: Option<CapId>,
}

impl Diagnostic {
    /// Something about the whole log.
    #[must_use]
    pub fn new(fact: impl Into<Fact>) -> Self {
        Self {
            fact: fact.into(),
            range: None,
            offset: None,
            cap: None,
        }
    }

    /// Something that happened at a time.
    #[must_use]
    pub fn at(at: Nanos, fact: impl Into<Fact>) -> Self {
        Self {
            range: Some(Interval::at(at)),
            ..Self::new(fact)
        }
    }

    /// Says on which capability it was found.
    #[must_use]
    pub fn on(self, cap: Option<CapId>) -> Self {
        Self { cap, ..self }
    }

    /// The rule that it comes under.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.fact.rule()
    }

    /// When it happened or began, if that is known.
    #[must_use]
    pub fn start(&self) -> Option<Nanos> {
        self.range.map(|range| range.start())
    }

    /// What it is about, the most important first; at last where it was found.
    #[must_use]
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
            range: damage.after.map(Interval::at),
            offset: Some(damage.at),
            cap: damage.cap,
        }
    }
}

/// What was found: the first of each rule in full, all of them counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    counts: BTreeMap<Rule, u64>,
}

impl Diagnostics {
    /// How many of each rule are kept in full.
    pub const KEPT: u64 = 1000;

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = self.counts.entry(diagnostic.rule()).or_default();
        *count += 1;
        if *count <= Self::KEPT {
            self.kept.push(diagnostic);
        }
    }

    /// Adds so many of a rule, which are counted but not kept.
    pub(crate) fn count_more(&mut self, rule: Rule, more: u64) {
        if more > 0 {
            *self.counts.entry(rule).or_default() += more;
        }
    }

    /// Adds those of another list.
    pub fn append(&mut self, other: &Self) {
        for diagnostic in &other.kept {
            self.push(diagnostic.clone());
        }
        for (&rule, &count) in &other.counts {
            self.count_more(rule, count.saturating_sub(Self::KEPT));
        }
    }

    /// Puts them in order of time; those without a time come last.
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

    /// Those that are kept: [`KEPT`](Self::KEPT) of each rule.
    #[must_use]
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// How many there are of each rule that there is any of.
    pub fn counts(&self) -> impl Iterator<Item = (Rule, u64)> + '_ {
        self.counts.iter().map(|(&rule, &count)| (rule, count))
    }

    /// How many there are that are at least so grave.
    #[must_use]
    pub fn count(&self, least: Severity) -> u64 {
        let grave = self.counts().filter(|(rule, _)| rule.severity() >= least);
        grave.map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automata::Oddity;

    fn odd(at: u64) -> Diagnostic {
        Diagnostic::at(Nanos(at), Oddity::GcStartRepeated)
    }

    #[test]
    fn each_rule_keeps_its_first_and_counts_all() {
        let mut diagnostics = Diagnostics::default();
        for at in 0..Diagnostics::KEPT + 500 {
            diagnostics.push(odd(at));
        }
        diagnostics.push(Diagnostic::new(Fact::OpenCollection));
        assert_eq!(diagnostics.kept().len() as u64, Diagnostics::KEPT + 1);
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
        assert_eq!(diagnostic.clone().on(Some(CapId(1))).subjects(), [cap(1)]);
        assert_eq!(diagnostic.on(Some(CapId(2))).subjects(), [cap(1), cap(2)]);
    }
}
