//! Ranges of a log by names that the program logged: between two markers, or a span.

use analysis::recording::Recording;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Marker, message or span by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Occurrence {
    /// Exact text of the message or marker, or name of the span.
    pub name: String,
    /// Which occurrence of the name, in order of time, starting at 1.
    pub number: usize,
}

/// Range of a log by names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From a marker or message (default: the start) to another (default: the end).
    Between(Option<Occurrence>, Option<Occurrence>),
    /// A span of the program.
    Span(Occurrence),
}

impl Occurrence {
    /// Parses `NAME` or `NAME#n`. Without a number of at least 1, the whole text is the name and means its first
    /// occurrence.
    pub fn parse(text: &str) -> Self {
        let numbered = text.rsplit_once('#').and_then(|(name, number)| {
            let number = number.parse::<usize>().ok().filter(|number| *number > 0);
            Some((name, number?))
        });
        let (name, number) = numbered.unwrap_or((text, 1));
        Self {
            name: name.to_owned(),
            number,
        }
    }

    /// Returns the time of this occurrence of the message or marker; `None` if the log does not have it.
    pub fn time(&self, log: &Recording) -> Option<Nanos> {
        let messages = (0..log.messages.len()).filter_map(|index| log.messages.get(index));
        let mut said = messages.filter(|message| message.text == self.name);
        said.nth(self.number - 1).map(|message| message.time)
    }

    /// Returns the range of this occurrence of the span; `None` if the log does not have it.
    pub fn span(&self, log: &Recording) -> Option<Interval> {
        let mut listed = log.tracks.spans.listed().iter();
        let listed = listed.find(|listed| listed.info.name == self.name)?;
        let span = listed.calls().get(self.number - 1)?;
        Some(Interval::new(Nanos(span.start), Nanos(span.end)))
    }
}

impl Window {
    /// Resolves to a range of the log. `whole` supplies the ends that are not named.
    ///
    /// # Errors
    ///
    /// If the log does not have a name or that many occurrences of it, or if the end does not lie after the start.
    pub fn range(&self, log: &Recording, whole: Interval) -> Result<Interval, String> {
        match self {
            Self::Span(occurrence) => {
                let span = occurrence.span(log);
                span.ok_or_else(|| missing(occurrence, "span"))
            }
            Self::Between(from, to) => {
                let time = |occurrence: &Option<Occurrence>, else_: Nanos| match occurrence {
                    None => Ok(else_),
                    Some(occurrence) => {
                        let time = occurrence.time(log);
                        time.ok_or_else(|| missing(occurrence, "marker"))
                    }
                };
                let (from, to) = (time(from, whole.start())?, time(to, whole.end())?);
                if from < to {
                    Ok(Interval::new(from, to))
                } else {
                    Err("the last marker comes before the first one".to_owned())
                }
            }
        }
    }
}

fn missing(Occurrence { name, number }: &Occurrence, what: &str) -> String {
    match number {
        1 => format!("there is no {what} of that name: {name}"),
        _ => format!("there is no {what} number {number} of that name: {name}"),
    }
}
