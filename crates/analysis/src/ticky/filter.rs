//! One-line filter language for ticky counters.

use super::table::{CounterView, TickyColumn, Value};

/// Filter for counters; all of its terms must match.
///
/// A term is a text contained in name, module, source location or number; a text contained in one column
/// (`module:Data.Map`), or equal to it (`module=Main`); or a bound (`entries>1000`, `allocs>=2M`). Double quotes
/// enclose a text with spaces. A term of no other form is a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter(Vec<Term>);

#[derive(Clone, Debug, PartialEq)]
enum Term {
    /// Contained in any text; lowercase.
    Anywhere(String),
    /// Contained in a text column.
    In(TickyColumn, String),
    /// Equal to a text column.
    Is(TickyColumn, String),
    /// Bound on a number column.
    Bound(TickyColumn, Relation, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

/// Relation operators, longer ones first.
const RELATIONS: [(&str, Relation); 5] = [
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    (">", Relation::More),
    ("<", Relation::Less),
    ("=", Relation::Equal),
];

impl Filter {
    /// Parses a filter; every text is valid.
    pub fn parse(text: &str) -> Self {
        Self(words(text).map(Term::parse).collect())
    }

    /// Returns whether a counter matches.
    pub(super) fn matches_view(&self, view: &CounterView<'_>) -> bool {
        self.0.iter().all(|term| term.matches_view(view))
    }
}

/// Splits a line into words, parts of which may be in double quotes.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let mut word = String::new();
        let mut quoted = false;
        for c in rest.by_ref() {
            match c {
                '"' => quoted = !quoted,
                c if c.is_whitespace() && !quoted => {
                    if !word.is_empty() {
                        return Some(word);
                    }
                }
                c => word.push(c),
            }
        }
        (!word.is_empty()).then_some(word)
    })
}

impl Term {
    fn parse(word: String) -> Self {
        Self::in_column(&word)
            .or_else(|| Self::bound(&word))
            .or_else(|| Self::is(&word))
            .unwrap_or_else(|| Self::Anywhere(word.to_lowercase()))
    }

    fn in_column(word: &str) -> Option<Self> {
        let (name, text) = word.split_once(':')?;
        let column = TickyColumn::from_name(name).filter(|column| column.has_text())?;
        let text = match column {
            TickyColumn::Arguments | TickyColumn::FreeVariables => text.to_owned(),
            _ => text.to_lowercase(),
        };
        Some(Self::In(column, text))
    }

    fn bound(word: &str) -> Option<Self> {
        let at = word.find(['<', '>', '='])?;
        let (name, rest) = word.split_at(at);
        let (sign, relation) = RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign))?;
        let column = TickyColumn::from_name(name).filter(|column| column.has_number())?;
        Some(Self::Bound(column, *relation, number(&rest[sign.len()..])?))
    }

    fn is(word: &str) -> Option<Self> {
        let (name, text) = word.split_once('=')?;
        let column = TickyColumn::from_name(name).filter(|column| column.has_text())?;
        Some(Self::Is(column, text.to_owned()))
    }

    fn matches_view(&self, view: &CounterView<'_>) -> bool {
        match self {
            Self::Is(column, text) => view.text(*column) == Some(text),
            Self::Anywhere(text) => {
                view.texts().any(|found| has(found, text)) || {
                    // A match of the number is rare, and formatting it is expensive.
                    text.bytes().all(|byte| byte.is_ascii_digit()) && view.id().to_string() == *text
                }
            }
            Self::In(column, text) => view.has_text(*column, text),
            Self::Bound(column, relation, bound) => {
                let number = view.value(*column).and_then(|value| match value {
                    Value::Count(count) => Some(count as f64),
                    Value::Ratio(ratio) => Some(ratio),
                    Value::Text(_) => None,
                });
                number.is_some_and(|number| match relation {
                    Relation::Less => number < *bound,
                    Relation::AtMost => number <= *bound,
                    Relation::Equal => number == *bound,
                    Relation::AtLeast => number >= *bound,
                    Relation::More => number > *bound,
                })
            }
        }
    }
}

/// Parses a number with an optional suffix, as `2M`: k, M and G for 10³, 10⁶ and 10⁹.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        (at, 'G') => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    let number: f64 = digits.parse().ok()?;
    number.is_finite().then_some(number * factor)
}

/// Returns whether `text` contains `part`, ignoring case; `part` must be lowercase.
pub(super) fn has(text: &str, part: &str) -> bool {
    if !text.is_ascii() || !part.is_ascii() {
        return text.to_lowercase().contains(part);
    }
    let mut windows = text.as_bytes().windows(part.len().max(1));
    part.is_empty() || windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_terms() {
        let filter = Filter::parse(
            "Main kind:thunk module=M args=2 entries>=10k args:Li \"a b\" x:y allocs>z .>",
        );
        let anywhere = |text: &str| Term::Anywhere(text.to_owned());
        let expected = [
            anywhere("main"),
            Term::In(TickyColumn::Kind, "thunk".to_owned()),
            Term::Is(TickyColumn::Module, "M".to_owned()),
            Term::Bound(TickyColumn::Arguments, Relation::Equal, 2.0),
            Term::Bound(TickyColumn::Entries, Relation::AtLeast, 1e4),
            Term::In(TickyColumn::Arguments, "Li".to_owned()),
            anywhere("a b"),
            anywhere("x:y"),
            anywhere("allocs>z"),
            anywhere(".>"),
        ];
        assert_eq!(filter.0, expected);
        assert_eq!(Filter::parse("  \"").0, []);
        assert_eq!(Filter::parse("entries:5").0, [anywhere("entries:5")]);
    }

    #[test]
    fn numbers_may_be_short() {
        assert_eq!(number("2M"), Some(2e6));
        assert_eq!(number("0.5"), Some(0.5));
        assert_eq!(number("infinity"), None);
        assert_eq!(number(""), None);
        assert_eq!(number("é"), None);
    }

    #[test]
    fn case_does_not_matter() {
        assert!(has("Main.$wGo3", "$wgo"));
        assert!(has("ÄPFEL", "äpfel"));
        assert!(has("x", ""));
        assert!(!has("x", "xy"));
    }
}
