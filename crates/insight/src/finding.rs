//! Results of rules.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use eventlog::ids::{CapId, ThreadId};
use model::format;
use model::time::Interval;

model::named_enum! {
    /// Kind of cost; findings of the same axis are comparable.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Axis {
        /// Time that the program could have used.
        Time: "Time";
        /// Duration of something that the program or its users wait for.
        Latency: "Latency";
        /// Bytes of memory.
        Memory: "Memory";
        /// No cost: the finding is about the limits of the log.
        Log: "This log";
    }
    /// Returns the heading of the axis.
    fn title;
}

model::named_enum! {
    /// Size of the cost. Limits are for a share of all time or of the heap's peak, or for a latency.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Severity {
        /// Below the other limits: shown only on demand.
        Minor: "minor";
        /// From 1 %, or 20 ms.
        Low: "low";
        /// From 5 %, or 100 ms.
        Medium: "medium";
        /// From 20 %, or 1 s.
        High: "high";
    }
    /// Returns the lowercase name.
    fn name;
}

impl Severity {
    /// Returns the severity of a share of all time, or of the heap's peak.
    pub fn of_share(share: f64) -> Self {
        match share {
            share if share >= 0.20 => Self::High,
            share if share >= 0.05 => Self::Medium,
            share if share >= 0.01 => Self::Low,
            _ => Self::Minor,
        }
    }

    /// Returns the severity of a latency in nanoseconds.
    pub const fn of_latency(ns: u64) -> Self {
        const MS: u64 = 1_000_000;
        match ns {
            ns if ns >= 1_000 * MS => Self::High,
            ns if ns >= 100 * MS => Self::Medium,
            ns if ns >= 20 * MS => Self::Low,
            _ => Self::Minor,
        }
    }
}

model::named_enum! {
    /// Confidence of a finding.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Confidence {
        /// A possibility for a person to check.
        Hint: "hint";
        /// The pattern fits, but the log does not name the cause.
        Probable: "probable";
        /// The events prove it.
        Certain: "certain";
    }
    /// Returns the lowercase name.
    fn name;
}

/// Number of a finding, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", content = "value", rename_all = "kebab-case")]
pub enum Value {
    /// Time in nanoseconds.
    Ns(u64),
    /// Size in bytes.
    Bytes(u64),
    /// Number of items.
    Count(u64),
    /// Share of a whole, from 0 to 1.
    Share(f64),
    /// Mean number of items.
    Mean(f64),
    /// Factor.
    Times(f64),
    /// Items per second.
    PerSecond(f64),
}

/// Subject of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Thread by number.
    Thread(ThreadId),
    /// Capability by number.
    Capability(CapId),
    /// Collection by number, starting at 1.
    Collection(u32),
}

/// Position in the log that shows a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Time range to look at.
    pub range: Interval,
    /// Threads, capabilities or collections involved, most important first.
    pub subjects: Vec<Subject>,
    /// Part of the cost at this position.
    pub amount: Value,
}

impl Evidence {
    /// Creates evidence without a subject.
    pub const fn new(range: Interval, amount: Value) -> Self {
        Self {
            range,
            subjects: Vec::new(),
            amount,
        }
    }

    /// Creates evidence about one thread.
    pub fn for_thread(thread: ThreadId, range: Interval, amount: Value) -> Self {
        Self {
            subjects: vec![Subject::Thread(thread)],
            ..Self::new(range, amount)
        }
    }
}

/// Form of an [`Advice`]: an option, a change of the code, or a further measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdviceKind {
    /// Option of the runtime or of the compiler.
    Flag,
    /// Change of the program.
    Code,
    /// Another log, for more information.
    Measure,
}

/// Piece of advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// Kind of advice.
    pub kind: AdviceKind,
    /// Flags as typed, if the advice has any.
    pub flag: Option<Cow<'static, str>>,
    /// What to do, and why it helps.
    pub text: Cow<'static, str>,
    /// Disadvantage of following the advice.
    pub price: Option<Cow<'static, str>>,
}

impl Advice {
    /// Creates advice to use an option.
    pub fn flag(
        flag: impl Into<Cow<'static, str>>,
        text: impl Into<Cow<'static, str>>,
        price: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            kind: AdviceKind::Flag,
            flag: Some(flag.into()),
            text: text.into(),
            price: Some(price.into()),
        }
    }

    /// Creates advice to change the program.
    pub fn code(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: AdviceKind::Code,
            flag: None,
            text: text.into(),
            price: None,
        }
    }

    /// Creates several pieces of advice to change the program.
    pub(crate) fn code_changes<const N: usize>(texts: [&'static str; N]) -> Vec<Self> {
        texts.map(Self::code).into()
    }

    /// Creates advice to take another log.
    pub fn measure(flag: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: AdviceKind::Measure,
            flag: Some(flag.into()),
            text: text.into(),
            price: None,
        }
    }
}

/// Problem found by a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the rule.
    pub rule: Cow<'static, str>,
    /// Subject, for rules that can have several findings. Together with the rule, it identifies the same finding
    /// in another log.
    pub subject: Option<String>,
    /// Kind of cost.
    pub axis: Axis,
    /// Size of the cost.
    pub severity: Severity,
    /// Confidence in the finding.
    pub confidence: Confidence,
    /// Rule of another finding that is the cause of this one.
    #[serde(default)]
    pub explained_by: Option<Cow<'static, str>>,
    /// Total cost, whatever other findings claim of it.
    pub cost: Value,
    /// Part of a time cost that no earlier finding claims, in nanoseconds (capability time divided by
    /// capabilities).
    pub claimed_ns: u64,
    /// Cost as a share of the time, or of the heap's peak.
    pub share: f64,
    /// One-line statement of the problem, with its number.
    pub title: String,
    /// Explanation in one sentence.
    pub meaning: Cow<'static, str>,
    /// Advice, most likely to help first; at most three pieces.
    pub tries: Vec<Advice>,
    /// Circumstances in which the finding may be wrong.
    pub distrust: Cow<'static, str>,
    /// Named numbers behind the finding.
    pub numbers: Vec<(Cow<'static, str>, Value)>,
    /// Positions in the log, largest amount first; at most [`MAX_EVIDENCE`].
    pub evidence: Vec<Evidence>,
    /// Number of all such positions, including those not listed.
    pub places: u64,
    /// What the amounts of the evidence count, in the singular; empty if these have a unit.
    #[serde(default)]
    pub counted: Cow<'static, str>,
}

impl Finding {
    /// Creates a finding with only a title.
    pub fn new(rule: &'static str, axis: Axis, title: String) -> Self {
        Self {
            rule: rule.into(),
            subject: None,
            axis,
            severity: Severity::Minor,
            confidence: Confidence::Certain,
            explained_by: None,
            cost: Value::Count(0),
            claimed_ns: 0,
            share: 0.0,
            title,
            meaning: "".into(),
            tries: Vec::new(),
            distrust: "".into(),
            numbers: Vec::new(),
            evidence: Vec::new(),
            places: 0,
            counted: "".into(),
        }
    }

    /// Creates a finding of bytes and their share of the heap's peak.
    pub fn of_memory(rule: &'static str, title: String, (bytes, share): (u64, f64)) -> Self {
        Self {
            severity: Severity::of_share(share),
            confidence: Confidence::Probable,
            cost: Value::Bytes(bytes),
            share,
            ..Self::new(rule, Axis::Memory, title)
        }
    }

    /// Returns the identity for links and for comparing logs: the rule, with the subject if there is one.
    pub fn identity(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}:{subject}", self.rule),
            None => self.rule.to_string(),
        }
    }

    /// Caps the severity of hints at medium, as guards fail on high severity.
    pub(crate) fn with_capped_severity(mut self) -> Self {
        if self.confidence == Confidence::Hint {
            self.severity = self.severity.min(Severity::Medium);
        }
        self
    }

    /// Returns the amount of a piece of evidence in words.
    pub fn amount_text(&self, evidence: &Evidence) -> String {
        match evidence.amount {
            Value::Count(count) if !self.counted.is_empty() => {
                format::pluralize(count, &self.counted)
            }
            amount => amount.to_string(),
        }
    }

    /// Returns whether to show the finding without being asked: its severity is above minor.
    pub fn is_significant(&self) -> bool {
        self.severity > Severity::Minor
    }

    /// Returns a named number behind the finding.
    pub(crate) fn number(&self, name: &str) -> Option<Value> {
        let mut numbers = self.numbers.iter();
        let number = numbers.find(|(other, _)| other == name);
        number.map(|(_, number)| *number)
    }

    /// Sets the named numbers behind the finding.
    pub(crate) fn set_numbers<const N: usize>(&mut self, numbers: [(&'static str, Value); N]) {
        self.numbers = numbers.map(|(name, value)| (name.into(), value)).into();
    }

    /// Sets the evidence; keeps the pieces with the largest amounts.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.places = 0;
        self.evidence.clear();
        for one in evidence {
            self.places += 1;
            // Among equal amounts, keep the earlier one first.
            let more = |kept: &Evidence| kept.amount.size().total_cmp(&one.amount.size()).is_ge();
            let index = self.evidence.partition_point(more);
            if index < MAX_EVIDENCE {
                self.evidence.truncate(MAX_EVIDENCE - 1);
                self.evidence.insert(index, one);
            }
        }
        self
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match *self {
            Self::Ns(ns) => format::duration_ns(ns),
            Self::Bytes(bytes) => format::bytes(bytes),
            Self::Count(count) => format::count(count),
            Self::Share(share) => format::fraction(share),
            Self::Mean(mean) => format!("{mean:.1}"),
            Self::Times(times) => format!("{times:.1} times"),
            Self::PerSecond(rate) => format!("{} a second", format::count(rate as u64)),
        };
        f.write_str(&text)
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Thread(thread) => write!(f, "thread {thread}"),
            Self::Capability(cap) => write!(f, "capability {cap}"),
            Self::Collection(number) => write!(f, "collection {number}"),
        }
    }
}

impl Value {
    /// Returns the number without its unit.
    pub const fn size(self) -> f64 {
        match self {
            Self::Ns(number) | Self::Bytes(number) | Self::Count(number) => number as f64,
            Self::Share(number)
            | Self::Mean(number)
            | Self::Times(number)
            | Self::PerSecond(number) => number,
        }
    }
}

/// Maximum number of pieces of evidence listed per finding.
pub const MAX_EVIDENCE: usize = 20;

/// Answer of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// Problems.
    Found(Vec<Finding>),
    /// No problem, with the number that shows it: "collections took 1.4 %, the limit is 10 %".
    Clear(String),
    /// The log is not sufficient: what is missing, and the flag that would log it.
    CannotTell(Cow<'static, str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_has_its_words() {
        let words = |value: Value| value.to_string();
        assert_eq!(words(Value::Mean(1.06)), "1.1");
        assert_eq!(words(Value::Times(2.5)), "2.5 times");
        assert_eq!(words(Value::Share(0.5)), "50.0\u{a0}%");
    }
}
