//! Assertions about a log, such as `gc.pause.p99 < 10 ms and finding(*, high) == 0`, or about two sides of runs:
//! `regress(time.wall) < 5 %`.
//!
//! ```text
//! assertion  = [("warn" | "error") ":"] condition {"and" condition}
//! condition  = value ("<" | "<=" | ">" | ">=" | "==" | "!=") value | "same(" metric ")"
//! value      = number [unit] ["/s"] | [number "*"] metric | "finding(" pattern ["," severity] ")"
//!            | ("delta" | "regress") "(" metric ")"
//! metric     = name ["{" label "=" pattern {"," label "=" pattern} "}"] ["." statistic] ["@" window]
//! statistic  = "sum" | "count" | "max" | "min" | "mean" | "p50" | "p90" | "p99" | "share" | "rate"
//! window     = [place] ".." [place] | "span:" place
//! place      = (word | '"' text '"') ["#" number]
//! unit       = "ns" | "us" | "ms" | "s" | "B" | "KiB" | "MiB" | "GiB" | "kB" | "MB" | "GB" | "%"
//! ```
//!
//! `share` is a share of the examined time, `rate` is per second of it. A window is a span, or reaches from one
//! marker or message of the program to another; `#` selects the n-th of that name, by default the first. A metric
//! without its events has no value: it is not 0.
//!
//! `delta`, `regress` and `same` apply to two sides of runs ([`crate::compare::guard`]).

mod parser;
mod request;
pub mod runs;
mod statistic;
#[cfg(test)]
mod tests;

pub use parser::ParseError;
pub use request::ValueRequest;

use crate::amount::Amount;
use crate::metrics::{LocatedNumber, MetricContext, NumberError, Unit};
use statistic::Statistic;

/// Severity of a failed assertion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Failure is reported as a warning.
    Warn,
    /// Failure is an error.
    #[default]
    Error,
}

/// Parsed assertion: conditions that must all hold.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// Source text, trimmed.
    pub text: String,
    /// Severity of a failure.
    pub level: Level,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
enum Condition {
    Compared(TermComparison),
    Same(ValueRequest),
}

#[derive(Clone, Debug)]
struct TermComparison {
    left: Term,
    operator: Operator,
    right: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
    NotEqual,
}

impl Operator {
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
    Scaled { factor: f64, request: ValueRequest },
    Change(Change, ValueRequest),
}

/// Function on the change between two sides of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Relative change from before to after.
    Delta,
    /// Lower bound of the relative change for the worse, at the confidence of claims.
    Regress,
}

impl Change {
    const ALL: [(&'static str, Self); 2] = [("delta(", Self::Delta), ("regress(", Self::Regress)];
}

/// Source of the values in assertions.
pub trait ValueSource {
    /// Returns a value.
    ///
    /// # Errors
    ///
    /// If the value is not available, or the request is invalid.
    fn value(&self, request: &ValueRequest) -> Result<Amount, NumberError>;

    /// Returns the relative change of a value.
    ///
    /// # Errors
    ///
    /// If there are not two sides, or too few runs.
    fn change(&self, _: Change, request: &ValueRequest) -> Result<f64, NumberError> {
        Err(needs_two_sides(request))
    }

    /// Returns whether there is no difference, with the values before and after.
    ///
    /// # Errors
    ///
    /// Same as [`change`](Self::change).
    fn same(&self, request: &ValueRequest) -> Result<(bool, (Amount, Amount)), NumberError> {
        Err(needs_two_sides(request))
    }
}

fn needs_two_sides(request: &ValueRequest) -> NumberError {
    NumberError::Usage(format!(
        "the change of {} needs two sides of runs: use eventscope compare A --to B",
        request.text
    ))
}

impl ValueSource for MetricContext<'_> {
    fn value(&self, request: &ValueRequest) -> Result<Amount, NumberError> {
        request.evaluate(self)
    }
}

/// Result of checking an assertion.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the assertion holds.
    pub holds: bool,
    /// Left and right side of the first comparison that fails, else of the last one.
    pub found: (Amount, Amount),
}

impl Assertion {
    /// Parses an assertion.
    ///
    /// # Errors
    ///
    /// If the text does not follow the grammar, or has an unknown name.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parser::parse(text)
    }

    /// Returns the values that the assertion uses.
    pub fn requests(&self) -> impl Iterator<Item = &ValueRequest> {
        self.conditions.iter().flat_map(|condition| {
            let both = match condition {
                Condition::Same(request) => [Some(request), None],
                Condition::Compared(compared) => {
                    [compared.left.request(), compared.right.request()]
                }
            };
            both.into_iter().flatten()
        })
    }

    /// Checks the assertion against a log or another source of values.
    ///
    /// # Errors
    ///
    /// If a value is not available, or the request is invalid.
    pub fn check(&self, values: &impl ValueSource) -> Result<Verdict, NumberError> {
        let mut last = None;
        for condition in &self.conditions {
            let verdict = condition.check(values)?;
            let holds = verdict.holds;
            last = Some(verdict);
            if !holds {
                break;
            }
        }
        last.ok_or_else(|| NumberError::Usage("nothing is compared".to_owned()))
    }
}

impl Condition {
    fn check(&self, values: &impl ValueSource) -> Result<Verdict, NumberError> {
        match self {
            Self::Same(request) => {
                let (holds, found) = values.same(request)?;
                Ok(Verdict { holds, found })
            }
            Self::Compared(TermComparison {
                left,
                operator,
                right,
            }) => {
                let found = to_common_unit(left.value(values)?, right.value(values)?)?;
                let holds = operator.holds(found.0.number, found.1.number);
                Ok(Verdict { holds, found })
            }
        }
    }
}

/// Converts both sides to a common unit; a plain 0 fits any unit.
fn to_common_unit(
    (left, left_unit): (f64, Option<Unit>),
    (right, right_unit): (f64, Option<Unit>),
) -> Result<(Amount, Amount), NumberError> {
    let unit = left_unit.or(right_unit).unwrap_or(Unit::Count);
    let fits = |number: f64, has: Option<Unit>| match has {
        Some(has) => has == unit,
        None => number == 0.0 || unit == Unit::Count || unit == Unit::PerSecond,
    };
    if !fits(left, left_unit) || !fits(right, right_unit) {
        let name = |unit: Option<Unit>| match unit.unwrap_or(Unit::Count) {
            Unit::Ns => "ns",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
            Unit::Share => "share",
            Unit::PerSecond => "per second",
        };
        let (left, right) = (name(left_unit), name(right_unit));
        return Err(NumberError::Usage(format!(
            "{left} cannot be compared with {right}: write a unit after the number, such as 10 ms, 512 MiB, 5 % or 2 GB/s"
        )));
    }
    let found = |number| Amount { number, unit };
    Ok((found(left), found(right)))
}

impl Term {
    const fn request(&self) -> Option<&ValueRequest> {
        match self {
            Self::Number(..) => None,
            Self::Scaled { request, .. } | Self::Change(_, request) => Some(request),
        }
    }

    fn value(&self, values: &impl ValueSource) -> Result<(f64, Option<Unit>), NumberError> {
        match self {
            Self::Number(number, unit) => Ok((*number, *unit)),
            Self::Scaled { factor, request } => {
                let Amount { number, unit } = values.value(request)?;
                Ok((factor * number, Some(unit)))
            }
            Self::Change(change, request) => {
                Ok((values.change(*change, request)?, Some(Unit::Share)))
            }
        }
    }
}

/// Returns median, 99th percentile and maximum, by their names in assertions.
pub fn ranks(all: &[LocatedNumber]) -> Vec<(&'static str, LocatedNumber)> {
    let wanted = Statistic::ALL
        .iter()
        .filter(|(name, _)| ["p50", "p99", "max"].contains(name));
    let ranks = wanted.filter_map(|(name, statistic)| Some((*name, statistic.select(all)?)));
    ranks.collect()
}
