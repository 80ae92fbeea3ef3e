//! Recursive-descent parser of assertions.

use std::fmt;

use super::request::{RequestKind, ValueRequest};
use super::statistic::Statistic;
use super::{Assertion, Change, Condition, Level, Operator, Term, TermComparison};
use crate::finding::Severity;
use crate::metrics::{Labels, Metric, Unit, matches_pattern, metric_by_name};
use crate::rules::RULES;
use crate::window::{Occurrence, Window};

/// Syntax error in an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Position in characters, starting at 0.
    pub position: usize,
    /// What was expected, or which name is unknown.
    pub message: String,
    /// Pattern that matches no rule, if that is the error.
    pub unknown_rule: Option<String>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.message, self.position + 1)
    }
}

pub(super) fn parse(text: &str) -> Result<Assertion, ParseError> {
    let mut parser = Parser { text, at: 0 };
    let mut level = Level::Error;
    for (word, parsed_level) in [("warn:", Level::Warn), ("error:", Level::Error)] {
        if parser.take(word) {
            level = parsed_level;
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
    Err(parser.error("“and” or the end is expected here"))
}

/// Cursor over the text; `at` is a byte offset.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            position: self
                .text
                .get(..self.at)
                .map_or(0, |before| before.chars().count()),
            message: message.into(),
            unknown_rule: None,
        }
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip_space();
        self.take_at_once(word)
    }

    fn expect(&mut self, word: &str) -> Result<(), ParseError> {
        if self.take(word) {
            return Ok(());
        }
        Err(self.error(format!("“{word}” is expected here")))
    }

    /// Skips space, then takes the longest run of matching characters.
    fn word(&mut self, is_of: impl Fn(char) -> bool) -> &'a str {
        self.skip_space();
        self.letters(is_of)
    }

    /// Takes the longest run of matching characters.
    fn letters(&mut self, is_of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !is_of(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn condition(&mut self) -> Result<Condition, ParseError> {
        if self.take("same(") {
            let request = self.metric()?;
            self.expect(")")?;
            return Ok(Condition::Same(request));
        }
        let left = self.term()?;
        let operator = Operator::ALL.into_iter().find(|(sign, _)| self.take(sign));
        let Some((_, operator)) = operator else {
            return Err(self.error("a comparison is expected here: < <= > >= == !="));
        };
        let right = self.term()?;
        Ok(Condition::Compared(TermComparison {
            left,
            operator,
            right,
        }))
    }

    fn term(&mut self) -> Result<Term, ParseError> {
        self.skip_space();
        let begin = self.at;
        if self.take("finding(") {
            let kind = self.findings()?;
            let request = self.request(begin, kind);
            return Ok(Term::Scaled {
                factor: 1.0,
                request,
            });
        }
        for (word, change) in Change::ALL {
            if self.take(word) {
                let request = self.metric()?;
                self.expect(")")?;
                return Ok(Term::Change(change, request));
            }
        }
        let number = self.number()?;
        let factor = match number {
            Some(number) if !self.take("*") => return self.with_unit(number),
            number => number.unwrap_or(1.0),
        };
        let request = self.metric()?;
        Ok(Term::Scaled { factor, request })
    }

    /// Creates the request whose source text starts at `begin` and ends here.
    fn request(&self, begin: usize, kind: RequestKind) -> ValueRequest {
        let text = self.text.get(begin..self.at).unwrap_or_default();
        ValueRequest {
            text: text.trim().to_owned(),
            kind,
        }
    }

    fn number(&mut self) -> Result<Option<f64>, ParseError> {
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
            .map_err(|_| self.error(format!("“{digits}” is not a number")))
    }

    fn with_unit(&mut self, number: f64) -> Result<Term, ParseError> {
        const UNITS: [(&str, f64, Unit); 13] = [
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
        ];
        self.skip_space();
        let begin = self.at;
        let name = match self.take_at_once("%") {
            true => "%",
            false => self.letters(char::is_alphabetic),
        };
        if name == "and" {
            self.at = begin;
            return Ok(Term::Number(number, None));
        }
        let known = UNITS.into_iter().find(|(known, ..)| *known == name);
        if known.is_none() && !name.is_empty() {
            self.at = begin;
            let names = UNITS.map(|(name, ..)| name).join(", ");
            return Err(self.error(format!(
                "“{name}” is neither a unit nor “and”: the units are {names}, and /s after another one or alone"
            )));
        }
        let (times, unit) = match known {
            Some((_, times, unit)) => (times, Some(unit)),
            None => (1.0, None),
        };
        // A share per second is no rate of any metric.
        let is_rate = unit != Some(Unit::Share) && self.take("/s");
        let unit = if is_rate { Some(Unit::PerSecond) } else { unit };
        Ok(Term::Number(number * times, unit))
    }

    fn findings(&mut self) -> Result<RequestKind, ParseError> {
        let is_of_name =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '*');
        self.skip_space();
        let begin = self.at;
        let pattern = self.word(is_of_name).to_owned();
        // A guard with a misspelled rule would always hold.
        if !RULES
            .iter()
            .any(|rule| matches_pattern(&pattern, rule.name))
        {
            self.at = begin;
            let message =
                format!("“{pattern}” is not a rule: eventscope findings --json lists all of them");
            return Err(ParseError {
                unknown_rule: Some(pattern),
                ..self.error(message)
            });
        }
        let mut severity = None;
        if self.take(",") {
            let name = self.word(is_of_name);
            severity = Severity::ALL.into_iter().find(|one| one.name() == name);
            if severity.is_none() {
                return Err(self.error("minor, low, medium or high is expected here"));
            }
        }
        self.expect(")")?;
        Ok(RequestKind::Findings(pattern, severity))
    }

    fn metric(&mut self) -> Result<ValueRequest, ParseError> {
        self.skip_space();
        let begin = self.at;
        let name = self.word(|letter| letter.is_ascii_alphanumeric() || letter == '.');
        let (metric, labels, statistic) = match metric_by_name(name) {
            Some(metric) => {
                let labels = self.labels()?;
                let has_statistic = self.take_at_once(".");
                let statistic = has_statistic.then(|| self.statistic()).transpose()?;
                (metric, labels, statistic)
            }
            None => {
                let Some((metric, statistic)) = with_statistic(name) else {
                    self.at = begin;
                    let message =
                        format!("“{name}” is not a metric: eventscope metrics lists all of them");
                    return Err(self.error(message));
                };
                (metric, Labels::new(), Some(statistic))
            }
        };
        let has_window = self.take_at_once("@");
        let window = has_window.then(|| self.window()).transpose()?;
        let kind = RequestKind::Metric {
            metric,
            labels,
            statistic,
            window,
        };
        Ok(self.request(begin, kind))
    }

    /// Same as [`take`](Self::take), without skipping space first.
    fn take_at_once(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn window(&mut self) -> Result<Window, ParseError> {
        if self.take_at_once("span:") {
            let span = self.occurrence()?;
            return span
                .map(Window::Span)
                .ok_or_else(|| self.error("the name of a span is expected here"));
        }
        let from = self.occurrence()?;
        if !self.take_at_once("..") {
            return Err(self.error("“..” is expected here: marker..marker, or span:NAME"));
        }
        let to = self.occurrence()?;
        Ok(Window::Between(from, to))
    }

    /// Parses a name with an optional number; `None` if there is no name.
    fn occurrence(&mut self) -> Result<Option<Occurrence>, ParseError> {
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
            // Two dots end a name, a single one does not.
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
            number.ok_or_else(|| self.error("a number of at least 1 is expected here"))?
        } else {
            1
        };
        Ok(Some(Occurrence { name, number }))
    }

    fn statistic(&mut self) -> Result<Statistic, ParseError> {
        let name = self.word(|letter| letter.is_ascii_alphanumeric());
        let found = Statistic::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, statistic)| statistic).ok_or_else(|| {
            self.error("a statistic is expected here: sum, count, max, min, mean, p50, p90, p99, share or rate")
        })
    }

    fn labels(&mut self) -> Result<Labels, ParseError> {
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

/// Splits a name such as `gc.pause.p99` into metric and statistic.
fn with_statistic(name: &str) -> Option<(&'static Metric, Statistic)> {
    let (front, last) = name.rsplit_once('.')?;
    let found = Statistic::ALL.into_iter().find(|(name, _)| *name == last);
    Some((metric_by_name(front)?, found?.1))
}
