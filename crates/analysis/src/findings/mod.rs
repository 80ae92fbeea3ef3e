//! What is wrong or odd about a log, or worth to know about it, as values:
//! by which [`Rule`], how grave, when and where in the file, about what, with
//! which numbers. Whoever looks at a log makes [`Finding`]s and hands them to
//! [`Findings`]; their words are made elsewhere.
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
use model::time::Interval;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
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

impl Finding {
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

impl From<&Damage> for Finding {
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
pub struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<Rule, u64>,
}

impl Findings {
    /// How many of each rule are kept in full.
    pub const KEPT: u64 = 1000;

    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.rule()).or_default();
        *count += 1;
        if *count <= Self::KEPT {
            self.kept.push(finding);
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
        for finding in &other.kept {
            self.push(finding.clone());
        }
        for (&rule, &count) in &other.counts {
            self.count_more(rule, count.saturating_sub(Self::KEPT));
        }
    }

    /// Puts them in order of time; those without a time come last.
    pub fn sort(&mut self) {
        let key = |finding: &Finding| (finding.range.is_none(), finding.range, finding.offset);
        self.kept.sort_by_key(key);
    }

    /// Those that are kept: [`KEPT`](Self::KEPT) of each rule.
    #[must_use]
    pub fn kept(&self) -> &[Finding] {
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

    fn odd(at: u64) -> Finding {
        Finding::at(Nanos(at), Oddity::GcStartRepeated)
    }

    #[test]
    fn each_rule_keeps_its_first_and_counts_all() {
        let mut findings = Findings::default();
        for at in 0..Findings::KEPT + 500 {
            findings.push(odd(at));
        }
        findings.push(Finding::new(Fact::OpenCollection));
        assert_eq!(findings.kept().len() as u64, Findings::KEPT + 1);
        let counts = |findings: &Findings| findings.counts().collect::<Vec<_>>();
        let expected = [(Rule::GcStartRepeated, 1500), (Rule::OpenCollection, 1)];
        assert_eq!(counts(&findings), expected);
        assert_eq!(findings.count(Severity::Note), 1501);
        assert_eq!(findings.count(Severity::Warning), 1500);
        let mut all = Findings::default();
        all.push(odd(9));
        all.append(&findings);
        assert_eq!(counts(&all)[0], (Rule::GcStartRepeated, 1501));
    }

    #[test]
    fn sorted_by_time() {
        let mut findings = Findings::default();
        findings.push(Finding::new(Fact::OpenCollection));
        findings.push(odd(7));
        findings.push(odd(3));
        findings.sort();
        let times: Vec<_> = findings.kept().iter().map(Finding::start).collect();
        assert_eq!(times, [Some(Nanos(3)), Some(Nanos(7)), None]);
    }

    #[test]
    fn where_it_was_found_is_a_subject_once() {
        let cap = |cap| Subject::Capability(CapId(cap));
        let finding = Finding::new(Fact::BufferMissing(CapId(1)));
        assert_eq!(finding.clone().on(Some(CapId(1))).subjects(), [cap(1)]);
        assert_eq!(finding.on(Some(CapId(2))).subjects(), [cap(1), cap(2)]);
    }
}
