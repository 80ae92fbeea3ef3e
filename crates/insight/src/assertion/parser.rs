//! Reads assertions.

use std::fmt;

use super::asked::{Asked, What};
use super::statistic::Statistic;
use super::{Assertion, Change, Comparison, Condition, How, Level, Term};
use crate::finding::Severity;
use crate::metrics::{Labels, Metric, Unit, named};
use crate::window::{Place, Window};

/// What is wrong with an assertion, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where, in characters.
    pub at: usize,
    /// What was expected, or is not known.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.what, self.at + 1)
    }
}

/// Reads an assertion.
pub(super) fn parse(text: &str) -> Result<Assertion, Malformed> {
    let mut parser = Parser { text, at: 0 };
    let mut level = Level::Error;
    for (word, named) in [("warn:", Level::Warn), ("error:", Level::Error)] {
        if parser.take(word) {
            level = named;
        }
    }
    let mut conditions = vec![parser.condition()?];
    while parser.take("and") {
        conditions.push(parser.condition()?);
    }
    parser.skip_space();
    if parser.rest().is_empty() {
        let text = text.trim().to_owned();
        return Ok(Assertion {
            text,
            level,
            conditions,
        });
    }
    Err(parser.wrong("“and” or the end is expected here"))
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

    /// As much as is of such letters, behind any space.
    fn word(&mut self, is_of: impl Fn(char) -> bool) -> &'a str {
        self.skip_space();
        self.letters(is_of)
    }

    /// As much as is of such letters.
    fn letters(&mut self, is_of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !is_of(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn condition(&mut self) -> Result<Condition, Malformed> {
        if self.take("same(") {
            let asked = self.metric()?;
            self.expect(")")?;
            return Ok(Condition::Same(asked));
        }
        let left = self.term()?;
        let how = How::ALL.into_iter().find(|(sign, _)| self.take(sign));
        let Some((_, how)) = how else {
            return Err(self.wrong("a comparison is expected here: < <= > >= == !="));
        };
        let right = self.term()?;
        Ok(Condition::Compared(Comparison { left, how, right }))
    }

    fn term(&mut self) -> Result<Term, Malformed> {
        self.skip_space();
        let begin = self.at;
        if self.take("finding(") {
            let what = self.findings()?;
            let asked = self.asked(begin, what);
            return Ok(Term::Asked { times: 1.0, asked });
        }
        for (word, change) in Change::ALL {
            if self.take(word) {
                let asked = self.metric()?;
                self.expect(")")?;
                return Ok(Term::Change(change, asked));
            }
        }
        let number = self.number()?;
        let times = match number {
            Some(number) if !self.take("*") => return Ok(self.with_unit(number)),
            number => number.unwrap_or(1.0),
        };
        let asked = self.metric()?;
        Ok(Term::Asked { times, asked })
    }

    /// What was read from a place on.
    fn asked(&self, begin: usize, what: What) -> Asked {
        let text = self.text.get(begin..self.at).unwrap_or_default();
        Asked {
            text: text.trim().to_owned(),
            what,
        }
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

    fn findings(&mut self) -> Result<What, Malformed> {
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
        Ok(What::Findings(pattern, severity))
    }

    fn metric(&mut self) -> Result<Asked, Malformed> {
        self.skip_space();
        let begin = self.at;
        let name = self.word(|letter| letter.is_ascii_alphanumeric() || letter == '.');
        let (metric, labels, statistic) = match named(name) {
            Some(metric) => {
                let labels = self.labels()?;
                let has_statistic = self.take_at_once(".");
                let statistic = has_statistic.then(|| self.statistic()).transpose()?;
                (metric, labels, statistic)
            }
            None => {
                let Some((metric, statistic)) = with_statistic(name) else {
                    self.at = begin;
                    let what =
                        format!("“{name}” is no metric: eventscope metrics lists all of them");
                    return Err(self.wrong(what));
                };
                (metric, Labels::new(), Some(statistic))
            }
        };
        let window = if self.take_at_once("@") {
            Some(self.window()?)
        } else {
            None
        };
        let what = What::Metric {
            metric,
            labels,
            statistic,
            window,
        };
        Ok(self.asked(begin, what))
    }

    /// As [`take`](Self::take), without space before it.
    fn take_at_once(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn window(&mut self) -> Result<Window, Malformed> {
        if self.take_at_once("span:") {
            let span = self.place()?;
            return span
                .map(Window::Span)
                .ok_or_else(|| self.wrong("the name of a span is expected here"));
        }
        let from = self.place()?;
        if !self.take_at_once("..") {
            return Err(self.wrong("“..” is expected here: marker..marker, or span:NAME"));
        }
        let to = self.place()?;
        Ok(Window::Between(from, to))
    }

    /// A name and its number; `None` if there is none.
    fn place(&mut self) -> Result<Option<Place>, Malformed> {
        let name = if self.take_at_once("\"") {
            let name = self.letters(|letter| letter != '"').to_owned();
            self.expect("\"")?;
            name
        } else {
            let is_of_name = |letter: char| {
                !letter.is_whitespace()
                    && !matches!(letter, '#' | ')' | '<' | '>' | '=' | '!' | '"')
            };
            let word = self.letters(is_of_name);
            // Two dots end a name, one does not.
            let end = word.find("..").unwrap_or(word.len());
            self.at -= word.len() - end;
            word[..end].to_owned()
        };
        if name.is_empty() {
            return Ok(None);
        }
        let number = if self.take_at_once("#") {
            let digits = self.letters(|letter| letter.is_ascii_digit());
            let number = digits.parse::<usize>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| self.wrong("a number from 1 on is expected here"))?
        } else {
            1
        };
        Ok(Some(Place { name, number }))
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

/// The metric and the statistic of `gc.pause.p99`.
fn with_statistic(name: &str) -> Option<(&'static Metric, Statistic)> {
    let (front, last) = name.rsplit_once('.')?;
    let found = Statistic::ALL.into_iter().find(|(name, _)| *name == last);
    Some((named(front)?, found?.1))
}
