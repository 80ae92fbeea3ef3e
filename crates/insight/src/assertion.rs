//! What a log is to fulfil: `gc.pause.p99 < 10 ms and finding(*, high) == 0`.
//!
//! ```text
//! assertion  = [("warn" | "error") ":"] comparison {"and" comparison}
//! comparison = value ("<" | "<=" | ">" | ">=" | "==" | "!=") value
//! value      = number [unit] | [number "*"] metric | "finding(" pattern ["," severity] ")"
//! metric     = name ["{" label "=" pattern {"," label "=" pattern} "}"] ["." statistic]
//! statistic  = "sum" | "count" | "max" | "min" | "mean" | "p50" | "p90" | "p99" | "share" | "rate"
//! unit       = "ns" | "us" | "ms" | "s" | "B" | "KiB" | "MiB" | "GiB" | "kB" | "MB" | "GB" | "%" | "/s"
//! ```
//!
//! `share` is a part of the time that is looked at, `rate` so much in each second of it. A
//! metric without its events has no number: it is not 0.

use std::fmt;

use crate::finding::Severity;
use crate::metrics::{Labels, Looked, Metric, NoNumber, Numbers, Unit, is_like, named};
use model::format;

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
    comparisons: Vec<Comparison>,
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
    Metric {
        times: f64,
        metric: &'static Metric,
        labels: Labels,
        statistic: Option<Statistic>,
    },
    Findings(String, Option<Severity>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    Sum,
    Count,
    Max,
    Min,
    Mean,
    Percentile(u8),
    Share,
    Rate,
}

impl Statistic {
    const ALL: [(&'static str, Self); 10] = [
        ("sum", Self::Sum),
        ("count", Self::Count),
        ("max", Self::Max),
        ("min", Self::Min),
        ("mean", Self::Mean),
        ("p50", Self::Percentile(50)),
        ("p90", Self::Percentile(90)),
        ("p99", Self::Percentile(99)),
        ("share", Self::Share),
        ("rate", Self::Rate),
    ];
}

/// What is wrong with an assertion, and where, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where.
    pub at: usize,
    /// What was expected, or is not known.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.what, self.at + 1)
    }
}

/// A number with its unit, as an assertion found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The number.
    pub number: f64,
    /// What it counts.
    pub unit: Unit,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.number.round().max(0.0) as u64;
        let text = match self.unit {
            Unit::Ns => format::duration(eventlog::ids::Duration(whole)),
            Unit::Bytes => format::bytes(whole),
            Unit::Share => format::fraction(self.number),
            Unit::Count if self.number.fract() == 0.0 => format::count(whole),
            Unit::Count => format!("{:.2}", self.number),
            Unit::PerSecond => format!("{:.0}/s", self.number),
        };
        f.write_str(&text)
    }
}

/// What an assertion says of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether it holds.
    pub holds: bool,
    /// Both sides of the first comparison that does not hold, else of the last one.
    pub found: (Found, Found),
}

impl Assertion {
    /// Reads an assertion.
    ///
    /// # Errors
    ///
    /// If it is not one.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let mut parser = Parser { text, at: 0 };
        let mut level = Level::Error;
        for (word, named) in [("warn:", Level::Warn), ("error:", Level::Error)] {
            if parser.take(word) {
                level = named;
            }
        }
        let mut comparisons = vec![parser.comparison()?];
        while parser.take("and") {
            comparisons.push(parser.comparison()?);
        }
        parser.skip_space();
        if parser.rest().is_empty() {
            let text = text.trim().to_owned();
            return Ok(Self {
                text,
                level,
                comparisons,
            });
        }
        Err(parser.wrong("“and” or the end is expected here"))
    }

    /// Whether it holds of a log.
    ///
    /// # Errors
    ///
    /// If the log does not tell, or if it cannot be asked like this.
    pub fn check(&self, looked: &Looked<'_>) -> Result<Verdict, NoNumber> {
        let mut last = None;
        for Comparison { left, how, right } in &self.comparisons {
            let (from, to) = (left.value(looked)?, right.value(looked)?);
            let found = alike(from, to)?;
            let holds = how.holds(found.0.number, found.1.number);
            last = Some(Verdict { holds, found });
            if !holds {
                break;
            }
        }
        last.ok_or_else(|| NoNumber::Usage("nothing is compared".to_owned()))
    }
}

/// Both with one unit: a plain 0 is of any.
fn alike(
    (left, left_unit): (f64, Option<Unit>),
    (right, right_unit): (f64, Option<Unit>),
) -> Result<(Found, Found), NoNumber> {
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
    let found = |number| Found { number, unit };
    Ok((found(left), found(right)))
}

impl Term {
    fn value(&self, looked: &Looked<'_>) -> Result<(f64, Option<Unit>), NoNumber> {
        match self {
            Self::Number(number, unit) => Ok((*number, *unit)),
            Self::Findings(pattern, severity) => {
                let found = looked.report.findings.iter().filter(|finding| {
                    is_like(pattern, &finding.rule)
                        && finding.severity >= severity.unwrap_or(Severity::Low)
                });
                Ok((found.count() as f64, Some(Unit::Count)))
            }
            Self::Metric {
                times,
                metric,
                labels,
                statistic,
            } => {
                let numbers = metric.read(looked, labels)?;
                let (number, unit) = statistic_of(metric, &numbers, *statistic, looked)?;
                Ok((times * number, Some(unit)))
            }
        }
    }
}

fn statistic_of(
    metric: &Metric,
    numbers: &Numbers,
    statistic: Option<Statistic>,
    looked: &Looked<'_>,
) -> Result<(f64, Unit), NoNumber> {
    let seconds = looked.scope.length_ns() as f64 / 1e9;
    let sum = |numbers: &Numbers| match numbers {
        Numbers::One(number) => *number,
        Numbers::Many(all) => all.iter().sum(),
    };
    let none = || NoNumber::NoData(format!("there is nothing of {} there", metric.name));
    match (statistic, numbers) {
        (Some(Statistic::Share), _) if metric.unit == Unit::Ns => {
            Ok((sum(numbers) / 1e9 / seconds, Unit::Share))
        }
        (Some(Statistic::Share), _) => Err(NoNumber::Usage(format!(
            "{} has no share: it is no time",
            metric.name
        ))),
        (Some(Statistic::Rate), _) => Ok((sum(numbers) / seconds, Unit::PerSecond)),
        (None | Some(Statistic::Sum), Numbers::One(number)) => Ok((*number, metric.unit)),
        (Some(_), Numbers::One(_)) => Err(NoNumber::Usage(format!(
            "{} is one number: it has no such statistic",
            metric.name
        ))),
        (None, Numbers::Many(_)) => Err(NoNumber::Usage(format!(
            "{} is many numbers: say which, such as {}.max or {}.p99",
            metric.name, metric.name, metric.name
        ))),
        (Some(Statistic::Count), Numbers::Many(all)) => Ok((all.len() as f64, Unit::Count)),
        (Some(Statistic::Sum), Numbers::Many(all)) => Ok((all.iter().sum(), metric.unit)),
        (Some(statistic), Numbers::Many(all)) => {
            let mut all = all.clone();
            all.sort_by(f64::total_cmp);
            let number = match statistic {
                Statistic::Max => all.last().copied(),
                Statistic::Min => all.first().copied(),
                Statistic::Percentile(part) => {
                    // So many of a hundred are not greater.
                    let place = (all.len() * usize::from(part)).div_ceil(100);
                    all.get(place.saturating_sub(1)).copied()
                }
                _ => (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64),
            };
            Ok((number.ok_or_else(none)?, metric.unit))
        }
    }
}

/// Reads from left to right.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, what: impl Into<String>) -> Malformed {
        Malformed {
            at: self
                .text
                .get(..self.at)
                .map_or(0, |before| before.chars().count()),
            what: what.into(),
        }
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), Malformed> {
        if self.take(word) {
            return Ok(());
        }
        Err(self.wrong(format!("“{word}” is expected here")))
    }

    /// As much as is of such letters.
    fn word(&mut self, is_of: impl Fn(char) -> bool) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|letter| !is_of(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn comparison(&mut self) -> Result<Comparison, Malformed> {
        let left = self.term()?;
        let how = How::ALL.into_iter().find(|(sign, _)| self.take(sign));
        let Some((_, how)) = how else {
            return Err(self.wrong("a comparison is expected here: < <= > >= == !="));
        };
        let right = self.term()?;
        Ok(Comparison { left, how, right })
    }

    fn term(&mut self) -> Result<Term, Malformed> {
        if self.take("finding(") {
            return self.findings();
        }
        self.skip_space();
        let Some(number) = self.number()? else {
            return self.metric(1.0);
        };
        if self.take("*") {
            return self.metric(number);
        }
        Ok(self.with_unit(number))
    }

    fn number(&mut self) -> Result<Option<f64>, Malformed> {
        if !self
            .rest()
            .starts_with(|letter: char| letter.is_ascii_digit() || letter == '-')
        {
            return Ok(None);
        }
        let digits =
            self.word(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '_'));
        let number = digits.replace('_', "").parse::<f64>();
        number
            .map(Some)
            .map_err(|_| self.wrong(format!("“{digits}” is no number")))
    }

    fn with_unit(&mut self, number: f64) -> Term {
        const UNITS: [(&str, f64, Unit); 14] = [
            ("ns", 1.0, Unit::Ns),
            ("us", 1e3, Unit::Ns),
            ("µs", 1e3, Unit::Ns),
            ("ms", 1e6, Unit::Ns),
            ("s", 1e9, Unit::Ns),
            ("KiB", 1024.0, Unit::Bytes),
            ("MiB", 1_048_576.0, Unit::Bytes),
            ("GiB", 1_073_741_824.0, Unit::Bytes),
            ("kB", 1e3, Unit::Bytes),
            ("MB", 1e6, Unit::Bytes),
            ("GB", 1e9, Unit::Bytes),
            ("B", 1.0, Unit::Bytes),
            ("%", 0.01, Unit::Share),
            ("/s", 1.0, Unit::PerSecond),
        ];
        let unit = UNITS.into_iter().find(|(name, ..)| self.take(name));
        match unit {
            Some((_, times, unit)) => Term::Number(number * times, Some(unit)),
            None => Term::Number(number, None),
        }
    }

    fn findings(&mut self) -> Result<Term, Malformed> {
        let is_of_name =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '*');
        let pattern = self.word(is_of_name).to_owned();
        let mut severity = None;
        if self.take(",") {
            let name = self.word(is_of_name);
            let all = [
                Severity::Minor,
                Severity::Low,
                Severity::Medium,
                Severity::High,
            ];
            severity = all.into_iter().find(|one| one.name() == name);
            if severity.is_none() {
                return Err(self.wrong("minor, low, medium or high is expected here"));
            }
        }
        self.expect(")")?;
        Ok(Term::Findings(pattern, severity))
    }

    fn metric(&mut self, times: f64) -> Result<Term, Malformed> {
        self.skip_space();
        let begin = self.at;
        let name = self.word(|letter| letter.is_ascii_alphanumeric() || letter == '.');
        let unknown = |parser: &mut Self, name: &str| {
            parser.at = begin;
            let what = format!("“{name}” is no metric: eventscope metrics lists all of them");
            Err(parser.wrong(what))
        };
        if let Some(metric) = named(name) {
            let labels = self.labels()?;
            let statistic = if self.rest().starts_with('.') {
                self.at += 1;
                Some(self.statistic()?)
            } else {
                None
            };
            return Ok(Term::Metric {
                times,
                metric,
                labels,
                statistic,
            });
        }
        let Some((metric, last)) = name
            .rsplit_once('.')
            .and_then(|(front, last)| Some((named(front)?, last)))
        else {
            return unknown(self, name);
        };
        let found = Statistic::ALL.into_iter().find(|(name, _)| *name == last);
        let Some((_, statistic)) = found else {
            return unknown(self, name);
        };
        Ok(Term::Metric {
            times,
            metric,
            labels: Labels::new(),
            statistic: Some(statistic),
        })
    }

    fn statistic(&mut self) -> Result<Statistic, Malformed> {
        let name = self.word(|letter| letter.is_ascii_alphanumeric());
        let found = Statistic::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, statistic)| statistic).ok_or_else(|| {
            self.wrong("a statistic is expected here: sum, count, max, min, mean, p50, p90, p99, share or rate")
        })
    }

    fn labels(&mut self) -> Result<Labels, Malformed> {
        let mut labels = Labels::new();
        if !self.rest().starts_with('{') {
            return Ok(labels);
        }
        self.at += 1;
        loop {
            let name = self
                .word(|letter| letter.is_ascii_alphanumeric())
                .to_owned();
            self.expect("=")?;
            let value = if self.take("\"") {
                let value = self.word(|letter| letter != '"').to_owned();
                self.expect("\"")?;
                value
            } else {
                self.word(|letter| !matches!(letter, ',' | '}'))
                    .trim()
                    .to_owned()
            };
            labels.insert(name, value);
            if !self.take(",") {
                self.expect("}")?;
                return Ok(labels);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            (
                "gc.pause.p99",
                "a comparison is expected here: < <= > >= == != (at character 13)",
            ),
            (
                "gc.puase.p99 < 10 ms",
                "“gc.puase.p99” is no metric: eventscope metrics lists all of them (at character 1)",
            ),
            (
                "1 < gc.pause.p98",
                "“gc.pause.p98” is no metric: eventscope metrics lists all of them (at character 5)",
            ),
            (
                "gc.count{gen=1 > 2",
                "“}” is expected here (at character 19)",
            ),
            (
                "finding(*, huge) == 0",
                "minor, low, medium or high is expected here (at character 16)",
            ),
            (
                "gc.count > 2 or 1 > 0",
                "“and” or the end is expected here (at character 14)",
            ),
            ("1.2.3 < gc.count", "“1.2.3” is no number (at character 6)"),
        ];
        for (text, said) in cases {
            let wrong = Assertion::parse(text).expect_err(text);
            assert_eq!(wrong.to_string(), said, "{text}");
        }
    }

    #[test]
    fn all_forms_are_read() {
        for text in [
            "gc.pause.p99 < 10 ms",
            "warn: gc.time.share<20%",
            "error: heap.live.max <= 512 MiB and gc.count{gen=1} != 0",
            "finding(*, high) == 0",
            "finding(gc-*) == 0",
            "span.time{name=\"handle request\"}.mean > 1_000us",
            "2 * gc.sync.sum >= gc.time",
            "alloc.bytes.rate < 1e0 /s",
        ] {
            let read = Assertion::parse(text);
            if text.contains("1e0") {
                assert!(read.is_err(), "{text}");
            } else {
                assert!(read.is_ok(), "{text}: {read:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9.<>=!{}\"*(), :%/µé-]{0,40}") {
            let _ = Assertion::parse(&text);
        }

        #[test]
        fn stars_stand_for_anything(parts in prop::collection::vec("[a-c]{0,3}", 1..4), between in "[a-c]{0,4}") {
            let pattern = parts.join("*");
            prop_assert!(is_like(&pattern, &parts.join(&between)));
            prop_assert!(!is_like(&(pattern + "x"), &parts.join(&between)));
        }
    }
}
