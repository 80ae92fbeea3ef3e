//! A finding: what a rule has to say.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use eventlog::ids::{CapId, Duration, ThreadId};
use model::format;
use model::time::Interval;

/// What a finding costs: findings of one axis can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Time that the program could have used.
    Time,
    /// How long something took that somebody waited for.
    Latency,
    /// Bytes.
    Memory,
    /// Nothing: it is about the log, and what that cannot tell.
    Log,
}

impl Axis {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Time, Self::Latency, Self::Memory, Self::Log];

    /// What its findings stand under.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Time => "Time",
            Self::Latency => "Latency",
            Self::Memory => "Memory",
            Self::Log => "This log",
        }
    }
}

/// How much is at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Less than is worth a look: shown on demand.
    Minor,
    /// A hundredth of all, or 20 ms.
    Low,
    /// A twentieth of all, or a tenth of a second.
    Medium,
    /// A fifth of all, or a second.
    High,
}

impl Severity {
    /// Of a share of all time, or of the peak of the heap.
    #[must_use]
    pub fn of_share(share: f64) -> Self {
        match share {
            share if share >= 0.20 => Self::High,
            share if share >= 0.05 => Self::Medium,
            share if share >= 0.01 => Self::Low,
            _ => Self::Minor,
        }
    }

    /// Of something that took so long, in nanoseconds.
    #[must_use]
    pub const fn of_latency(ns: u64) -> Self {
        const MS: u64 = 1_000_000;
        match ns {
            ns if ns >= 1_000 * MS => Self::High,
            ns if ns >= 100 * MS => Self::Medium,
            ns if ns >= 20 * MS => Self::Low,
            _ => Self::Minor,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// It may be so; a person has to look.
    Hint,
    /// The pattern fits, but the log does not name the cause.
    Probable,
    /// The events say it.
    Certain,
}

impl Confidence {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Probable => "probable",
            Self::Certain => "certain",
        }
    }
}

/// A number of a finding, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", content = "value", rename_all = "kebab-case")]
pub enum Value {
    /// A time in nanoseconds.
    Ns(u64),
    /// Bytes.
    Bytes(u64),
    /// How many.
    Count(u64),
    /// A share; 1 is all.
    Share(f64),
    /// How many times as much.
    Times(f64),
    /// So many a second.
    PerSecond(f64),
}

/// What evidence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A thread.
    Thread(ThreadId),
    /// A capability.
    Capability(CapId),
    /// A collection, by its number.
    Collection(u32),
}

/// Where a finding is to be seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// When.
    pub range: Interval,
    /// What it is about, the most important first.
    pub subjects: Vec<Subject>,
    /// How much of the cost lies there.
    pub amount: Value,
}

/// What kind of a change is to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TryKind {
    /// An option of the runtime or of the compiler.
    Flag,
    /// A change of the program.
    Code,
    /// Another log, to know more.
    Measure,
}

/// What could help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// Which kind of a change.
    pub kind: TryKind,
    /// The flags as they are written, if it is one.
    pub flag: Option<Cow<'static, str>>,
    /// What to do, and why it helps.
    pub text: Cow<'static, str>,
    /// What it costs.
    pub price: Option<Cow<'static, str>>,
}

impl Try {
    /// An option.
    #[must_use]
    pub fn flag(
        flag: impl Into<Cow<'static, str>>,
        text: impl Into<Cow<'static, str>>,
        price: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            kind: TryKind::Flag,
            flag: Some(flag.into()),
            text: text.into(),
            price: Some(price.into()),
        }
    }

    /// A change of the program.
    #[must_use]
    pub fn code(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: TryKind::Code,
            flag: None,
            text: text.into(),
            price: None,
        }
    }

    /// Another log.
    #[must_use]
    pub fn measure(flag: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: TryKind::Measure,
            flag: Some(flag.into()),
            text: text.into(),
            price: None,
        }
    }
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule.
    pub rule: Cow<'static, str>,
    /// Whom it is about, where one rule may find several things; with the rule it
    /// says whether findings of two logs are the same.
    pub subject: Option<String>,
    /// What it costs.
    pub axis: Axis,
    /// How much is at stake.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// The rule that found its cause, if another finding explains it.
    #[serde(default)]
    pub explained_by: Option<Cow<'static, str>>,
    /// What it costs by itself.
    pub cost: Value,
    /// Of time, what no other finding before it claims: nanoseconds of the program.
    pub claimed_ns: u64,
    /// The share of the time, or of the peak of the heap.
    pub share: f64,
    /// What is wrong, with the number.
    pub title: String,
    /// What that means, in a sentence.
    pub meaning: Cow<'static, str>,
    /// What to try, the most likely first: three at most.
    pub tries: Vec<Try>,
    /// When not to trust it.
    pub distrust: Cow<'static, str>,
    /// The numbers behind it.
    pub numbers: Vec<(Cow<'static, str>, Value)>,
    /// Where it is to be seen, the worst first.
    pub evidence: Vec<Evidence>,
    /// How many such places there are, those in the list included.
    pub places: u64,
}

impl Finding {
    /// A finding of a rule that says no more than its title yet.
    #[must_use]
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
        }
    }

    /// A finding of memory: so many bytes, which are a share of the peak.
    #[must_use]
    pub fn of_memory(rule: &'static str, title: String, (bytes, share): (u64, f64)) -> Self {
        Self {
            severity: Severity::of_share(share),
            confidence: Confidence::Probable,
            cost: Value::Bytes(bytes),
            share,
            ..Self::new(rule, Axis::Memory, title)
        }
    }

    /// What it is known by, in links and where two logs are compared: its rule, and whom
    /// it is about if that rule may find several things.
    #[must_use]
    pub fn identity(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}:{subject}", self.rule),
            None => self.rule.to_string(),
        }
    }

    /// As grave as it can be: what is a hint only is never high, as guards fail by that.
    pub(crate) fn weighed(mut self) -> Self {
        if self.confidence == Confidence::Hint {
            self.severity = self.severity.min(Severity::Medium);
        }
        self
    }

    /// Whether it is worth a look without being asked for.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.severity > Severity::Minor
    }

    /// Says where it is to be seen, by how much lies there: the worst are kept.
    #[must_use]
    pub fn seen_in(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.places = 0;
        self.evidence.clear();
        for one in evidence {
            self.places += 1;
            // Of equal ones the first stands first.
            let more = |kept: &Evidence| kept.amount.size().total_cmp(&one.amount.size()).is_ge();
            let place = self.evidence.partition_point(more);
            if place < MOST_EVIDENCE {
                self.evidence.truncate(MOST_EVIDENCE - 1);
                self.evidence.insert(place, one);
            }
        }
        self
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match *self {
            Self::Ns(ns) => format::duration(Duration(ns)),
            Self::Bytes(bytes) => format::bytes(bytes),
            Self::Count(count) => format::count(count),
            Self::Share(share) => format::fraction(share),
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
    /// Its number, whatever its unit.
    #[must_use]
    pub const fn size(self) -> f64 {
        match self {
            Self::Ns(number) | Self::Bytes(number) | Self::Count(number) => number as f64,
            Self::Share(number) | Self::Times(number) | Self::PerSecond(number) => number,
        }
    }
}

/// So many places of a finding are listed.
pub const MOST_EVIDENCE: usize = 20;

/// What a rule answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// These are wrong.
    Found(Vec<Finding>),
    /// Nothing is, by this number: "collections took 1.4 %, the limit is 10 %".
    Clear(String),
    /// The log does not tell: what is missing, and which flag would log it.
    CannotTell(Cow<'static, str>),
}
