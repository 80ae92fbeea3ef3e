//! What a log is to fulfil: `gc.pause.p99 < 10 ms and finding(*, high) == 0`, or two sides of
//! runs: `regress(time.wall) < 5 %`.
//!
//! ```text
//! assertion  = [("warn" | "error") ":"] condition {"and" condition}
//! condition  = value ("<" | "<=" | ">" | ">=" | "==" | "!=") value | "same(" metric ")"
//! value      = number [unit] | [number "*"] metric | "finding(" pattern ["," severity] ")"
//!            | ("delta" | "regress") "(" metric ")"
//! metric     = name ["{" label "=" pattern {"," label "=" pattern} "}"] ["." statistic] ["@" window]
//! statistic  = "sum" | "count" | "max" | "min" | "mean" | "p50" | "p90" | "p99" | "share" | "rate"
//! window     = [place] ".." [place] | "span:" place
//! place      = (word | '"' text '"') ["#" number]
//! unit       = "ns" | "us" | "ms" | "s" | "B" | "KiB" | "MiB" | "GiB" | "kB" | "MB" | "GB" | "%" | "/s"
//! ```
//!
//! `share` is a part of the time that is looked at, `rate` so much in each second of it. A
//! window goes from one marker or message of the program to another, or is a span; the first
//! of that name, or the `#`-th. A metric without its events has no number: it is not 0.
//!
//! `delta`, `regress` and `same` are of two sides of runs ([`crate::compare::guard`]).

mod asked;
mod parser;
pub mod runs;
mod statistic;
#[cfg(test)]
mod tests;

pub use asked::Asked;
pub use parser::Malformed;

use crate::amount::Amount;
use crate::metrics::{MetricContext, NoNumber, Seen, Unit};
use statistic::Statistic;

/// How much depends on an assertion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// It is said if it does not hold.
    Warn,
    /// It has to hold.
    #[default]
    Error,
}

/// An assertion.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// As it was written.
    pub text: String,
    /// How much depends on it.
    pub level: Level,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
enum Condition {
    Compared(Comparison),
    Same(Asked),
}

#[derive(Clone, Debug)]
struct Comparison {
    left: Term,
    how: How,
    right: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
    NotEqual,
}

impl How {
    const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::LessOrEqual),
        (">=", Self::MoreOrEqual),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<", Self::Less),
        (">", Self::More),
    ];

    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::More => left > right,
            Self::MoreOrEqual => left >= right,
            Self::Equal => (left - right).abs() < f64::EPSILON * left.abs().max(1.0),
            Self::NotEqual => !Self::Equal.holds(left, right),
        }
    }
}

#[derive(Clone, Debug)]
enum Term {
    Number(f64, Option<Unit>),
    Asked { times: f64, asked: Asked },
    Change(Change, Asked),
}

/// What is asked of two sides of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// By which share it is more after.
    Delta,
    /// By which share it is worse at least, as sure as claims are.
    Regress,
}

impl Change {
    const ALL: [(&'static str, Self); 2] = [("delta(", Self::Delta), ("regress(", Self::Regress)];
}

/// Where the numbers of an assertion come from.
pub trait Values {
    /// A number.
    ///
    /// # Errors
    ///
    /// If there is none, or if it cannot be asked like this.
    fn value(&self, asked: &Asked) -> Result<Amount, NoNumber>;

    /// How much it changed, as a share.
    ///
    /// # Errors
    ///
    /// If there are no two sides, or too few runs to tell.
    fn change(&self, _: Change, asked: &Asked) -> Result<f64, NoNumber> {
        Err(two_sides(asked))
    }

    /// Whether no difference is seen, with the number before and after.
    ///
    /// # Errors
    ///
    /// As of [`change`](Self::change).
    fn same(&self, asked: &Asked) -> Result<(bool, (Amount, Amount)), NoNumber> {
        Err(two_sides(asked))
    }
}

fn two_sides(asked: &Asked) -> NoNumber {
    NoNumber::Usage(format!(
        "how {} changed only two sides of runs tell: eventscope compare A --to B",
        asked.text
    ))
}

impl Values for MetricContext<'_> {
    fn value(&self, asked: &Asked) -> Result<Amount, NoNumber> {
        asked.read(self)
    }
}

/// What an assertion says of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether it holds.
    pub holds: bool,
    /// Both sides of the first comparison that does not hold, else of the last one.
    pub found: (Amount, Amount),
}

impl Assertion {
    /// Reads an assertion.
    ///
    /// # Errors
    ///
    /// If it is not one.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        parser::parse(text)
    }

    /// The numbers that it is about.
    pub fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.conditions.iter().flat_map(|condition| {
            let both = match condition {
                Condition::Same(asked) => [Some(asked), None],
                Condition::Compared(compared) => [compared.left.asked(), compared.right.asked()],
            };
            both.into_iter().flatten()
        })
    }

    /// Whether it holds of a log, or of whatever has numbers.
    ///
    /// # Errors
    ///
    /// If there is no such number, or if it cannot be asked like this.
    pub fn check(&self, values: &impl Values) -> Result<Verdict, NoNumber> {
        let mut last = None;
        for condition in &self.conditions {
            let verdict = condition.check(values)?;
            let holds = verdict.holds;
            last = Some(verdict);
            if !holds {
                break;
            }
        }
        last.ok_or_else(|| NoNumber::Usage("nothing is compared".to_owned()))
    }
}

impl Condition {
    fn check(&self, values: &impl Values) -> Result<Verdict, NoNumber> {
        match self {
            Self::Same(asked) => {
                let (holds, found) = values.same(asked)?;
                Ok(Verdict { holds, found })
            }
            Self::Compared(Comparison { left, how, right }) => {
                let found = alike(left.value(values)?, right.value(values)?)?;
                let holds = how.holds(found.0.number, found.1.number);
                Ok(Verdict { holds, found })
            }
        }
    }
}

/// Both with one unit: a plain 0 is of any.
fn alike(
    (left, left_unit): (f64, Option<Unit>),
    (right, right_unit): (f64, Option<Unit>),
) -> Result<(Amount, Amount), NoNumber> {
    let unit = left_unit.or(right_unit).unwrap_or(Unit::Count);
    let fits = |number: f64, has: Option<Unit>| match has {
        Some(has) => has == unit,
        None => number == 0.0 || unit == Unit::Count || unit == Unit::PerSecond,
    };
    if !fits(left, left_unit) || !fits(right, right_unit) {
        let name = |unit: Option<Unit>| format!("{:?}", unit.unwrap_or(Unit::Count)).to_lowercase();
        let (left, right) = (name(left_unit), name(right_unit));
        return Err(NoNumber::Usage(format!(
            "{left} cannot be compared with {right}: write the unit behind the number, such as 10 ms, 512 MiB or 5 %"
        )));
    }
    let found = |number| Amount { number, unit };
    Ok((found(left), found(right)))
}

impl Term {
    const fn asked(&self) -> Option<&Asked> {
        match self {
            Self::Number(..) => None,
            Self::Asked { asked, .. } | Self::Change(_, asked) => Some(asked),
        }
    }

    fn value(&self, values: &impl Values) -> Result<(f64, Option<Unit>), NoNumber> {
        match self {
            Self::Number(number, unit) => Ok((*number, *unit)),
            Self::Asked { times, asked } => {
                let Amount { number, unit } = values.value(asked)?;
                Ok((times * number, Some(unit)))
            }
            Self::Change(change, asked) => Ok((values.change(*change, asked)?, Some(Unit::Share))),
        }
    }
}

/// The one in the middle, the one that one of a hundred exceeds, and the greatest of many
/// numbers, by the names that assertions have for them.
#[must_use]
pub fn ranks(all: &[Seen]) -> Vec<(&'static str, Seen)> {
    let wanted = Statistic::ALL
        .iter()
        .filter(|(name, _)| ["p50", "p99", "max"].contains(name));
    let ranks = wanted.filter_map(|(name, statistic)| Some((*name, statistic.one_of(all)?)));
    ranks.collect()
}
