//! A part of a log by what the program said in it: from one marker to another, or a span.

use analysis::recording::Recording;
use eventlog::ids::Nanos;
use model::time::Interval;

/// A marker, message or span by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// What it is called.
    pub name: String,
    /// Which of that name, by time, from 1 on.
    pub number: usize,
}

/// A part of a log by names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From a marker or message, or the begin, to another, or the end.
    Between(Option<Place>, Option<Place>),
    /// A span of the program.
    Span(Place),
}

impl Place {
    /// Reads `NAME` or `NAME#n`; the first of that name if there is no number from 1 on.
    #[must_use]
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

    /// When the program said it first, or for the n-th time; `None` if it did not.
    #[must_use]
    pub fn time(&self, log: &Recording) -> Option<Nanos> {
        let messages = (0..log.messages.len()).filter_map(|place| log.messages.get(place));
        let mut said = messages.filter(|message| message.text == self.name);
        said.nth(self.number - 1).map(|message| message.time)
    }

    /// When the span of that name was.
    #[must_use]
    pub fn span(&self, log: &Recording) -> Option<Interval> {
        let mut listed = log.tracks.spans.listed().iter();
        let listed = listed.find(|listed| listed.info.name == self.name)?;
        let span = listed.spans.get(self.number - 1)?;
        Some(Interval::new(Nanos(span.start), Nanos(span.end)))
    }
}

impl Window {
    /// The part of a log, of which `whole` is looked at.
    ///
    /// # Errors
    ///
    /// What the log does not have, or that its end lies before its begin.
    pub fn range(&self, log: &Recording, whole: Interval) -> Result<Interval, String> {
        match self {
            Self::Span(place) => {
                let missing = || {
                    format!(
                        "there is no {} of that name: {}",
                        nth(place, "span"),
                        place.name
                    )
                };
                place.span(log).ok_or_else(missing)
            }
            Self::Between(from, to) => {
                let time = |place: &Option<Place>, else_: Nanos| match place {
                    None => Ok(else_),
                    Some(place) => place.time(log).ok_or_else(|| {
                        format!(
                            "there is no {} of that name: {}",
                            nth(place, "marker"),
                            place.name
                        )
                    }),
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

fn nth(place: &Place, what: &str) -> String {
    match place.number {
        1 => what.to_owned(),
        number => format!("{what} number {number}"),
    }
}
