//! Message track: messages and markers of the program.

use serde::{Deserialize, Serialize};

use super::details::{
    Details, DetailsQuery, Fact, Lead, MOST_LISTED, exact_time, in_the_list, on_cap,
};
use super::legend::{COLUMN_PX, Explained, MIDDLE, Sample, SampleMark, Section};
use super::thread::Thread;
use super::waves::wave;
use super::{Contents, Listed, Log, Shape, TrackKind};
use crate::tracks::group::Group;
use crate::tracks::item::{Item, Names, Shown};
use crate::tracks::words;
use analysis::timeline::messages::MessageKind;
use model::density::Density;
use model::marks::{MarkKind, NONE, NewMoment, Packed, Payload, Writer};
use model::time::Interval;
use scene::format;
use scene::painter::Painter;
use scene::strip::{Column, Strip};

/// Messages of all capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Messages;

/// Title of the track.
const TITLE: &str = "Messages";

/// One message, or several at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Number of the first message.
    pub first: Option<u32>,
    /// Whether any of the messages is a marker.
    pub has_marker: bool,
}

impl Payload for Said {
    fn pack(self) -> Packed {
        Packed([self.first.unwrap_or(NONE), self.has_marker.into(), 0, 0])
    }

    fn unpack(packed: Packed) -> Self {
        Self {
            first: packed.some(0),
            has_marker: packed.word(1) != 0,
        }
    }
}

impl TrackKind for Messages {
    type Payload = Said;

    const GROUP: Group = Group::Program;
    const SHAPE: Shape = Shape::Moments;
    const SECTION: Section = Section::Events;

    fn link(self, _: &Contents) -> String {
        "messages".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "messages").then_some(Self)
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let count = log.recording.messages.len() as u64;
        let track = || Listed::new(Self, TITLE).note(format::count(count));
        (count > 0).then(track).into_iter().collect()
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let mut density = Density::of(writer);
        let (wanted, column_ns) = (density.wanted(), density.column_ns());
        log.recording.messages.marks(wanted, column_ns, |mark| {
            density.push(NewMoment {
                start: mark.time,
                end: mark.last_time,
                count: mark.count,
                payload: Said {
                    first: u32::try_from(mark.first).ok(),
                    has_marker: mark.has_marker,
                },
            });
        });
        density.write(writer, |one, next| Said {
            has_marker: one.has_marker || next.has_marker,
            ..one
        });
    }

    /// Paints messages as diamonds and markers as flags. Dense messages become columns; markers in them keep their
    /// flags, or get lines where flags would overlap.
    fn paint<N: Names>(self, shown: &Shown<'_, N>, strip: &Strip<'_>, painter: &mut dyn Painter) {
        let middle = strip.area.y + strip.area.h / 2.0;
        let mut columns = Vec::new();
        let mut marks = shown.marks.of(self).peekable();
        while let Some((mark, span)) = marks.next() {
            if mark.kind == MarkKind::Column {
                let marker = mark.read::<Said>().has_marker;
                columns.push(Column {
                    span,
                    count: mark.count,
                    colour: strip.palette.ink2,
                    notable: marker.then_some(strip.palette.accent),
                });
                continue;
            }
            let x = strip.x(span.start());
            let marker = mark.read::<Said>().has_marker;
            let colour = if marker {
                strip.palette.accent
            } else {
                strip.palette.ink2
            };
            let tick = strip.tick(span.start());
            painter.fill(tick, colour.into());
            if marker {
                paint_flag(strip, x, painter);
            } else {
                let (left, right) = (x - 3.0, x + 3.0);
                let top = (x, middle - 3.0);
                let diamond = [(left, middle), top, (right, middle), (x, middle + 3.0)];
                painter.polygon(&diamond, colour.into());
            }
            let next = marks.peek().map(|(_, next)| strip.x(next.start()));
            let beside = if marker { x + 3.0 } else { x };
            strip.paint_number(mark.count, (beside, middle), next, painter);
        }
        strip.paint_density(&columns, painter);
        let with_marker = columns.iter().filter(|column| column.notable.is_some());
        let mut room = f64::NEG_INFINITY;
        for x in with_marker.map(|column| strip.x(column.span.start())) {
            if x >= room {
                paint_flag(strip, x, painter);
                room = x + FLAG_PX;
            }
        }
    }

    fn describe(self, item: &Item, names: &impl Names) -> (String, String) {
        let Said { first, has_marker } = item.read();
        let text = first.and_then(|number| names.message(number));
        let text = text.unwrap_or_default();
        let at = format::time(item.span.start());
        if item.kind == MarkKind::Column && item.count == 1 {
            let what = if has_marker { "marker" } else { "message" };
            return (
                text.to_owned(),
                format!("· {what} in {}", words::when(item)),
            );
        }
        if item.kind == MarkKind::Column {
            let what = if has_marker {
                "messages and markers"
            } else {
                "messages"
            };
            return (TITLE.to_owned(), words::density(item, what));
        }
        match (item.count, has_marker) {
            (1, true) => (text.to_owned(), format!("· marker at {at}")),
            (1, false) => (text.to_owned(), format!("· message at {at}")),
            (count, _) => (
                format!("{} messages", format::count(count.into())),
                format!("from {at}; the first: {text}"),
            ),
        }
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<Fact> {
        Details::of(log).of_messages(query.span)
    }

    fn message_of(self, item: &Item) -> Option<u32> {
        item.read::<Said>().first
    }

    fn legend() -> Vec<Explained> {
        let said = |has_marker| {
            let said = Said {
                first: None,
                has_marker,
            };
            Sample::row(Self, vec![SampleMark::moment(MIDDLE).with(said)])
        };
        vec![
            Explained::new(
                "A message",
                "The program wrote it to the log (traceEvent). It stands in the track of messages.",
                said(false),
            ),
            Explained::new(
                "A marker",
                "The program set it (traceMarker). Where messages share a place with it, it stands for them.",
                said(true),
            ),
            Explained::new(
                "Many of them",
                "Columns where signs would cover each other, as high as the square root of how many messages there are. A flag or a line over one: a marker is among them. Zoom in, and each has its sign.",
                many(),
            ),
        ]
    }
}

/// Width of a flag, with some space after it.
const FLAG_PX: f64 = 9.0;

/// Paints the flag of a marker.
fn paint_flag(strip: &Strip<'_>, x: f64, painter: &mut dyn Painter) {
    let (top, right) = (strip.area.y + 3.0, x + 7.0);
    let flag = [(x, top), (right, top + 3.0), (x, top + 6.0)];
    painter.polygon(&flag, strip.palette.accent.into());
}

/// Returns a legend sample of density columns, one of which has a marker.
fn many() -> Sample {
    let column = |place: u32| {
        let from = f64::from(place) * COLUMN_PX;
        let said = Said {
            first: None,
            has_marker: place == 22,
        };
        let count = (40.0 * f64::from(wave(place as f32, 0.7))) as u32 + 1;
        SampleMark::column(from, from + COLUMN_PX)
            .count(count)
            .with(said)
    };
    Sample::row(Messages, (3..30).map(column).collect())
}

impl Details<'_> {
    /// Returns the messages in a closed time range.
    fn of_messages(&self, span: Interval) -> Vec<Fact> {
        let places = self.messages.places(span);
        let more = places.len().saturating_sub(MOST_LISTED);
        let mut facts = Vec::new();
        if let Some(first) = self.messages.get(places.start).filter(|_| more > 0) {
            facts.push(in_the_list(first.time, first.cap));
        }
        let listed = places.take(MOST_LISTED);
        facts.extend(listed.filter_map(|place| self.message_fact(place)));
        if more > 0 {
            let text = format!("{} more", format::count(more as u64));
            facts.push(Fact::new("and", text));
        }
        facts
    }

    fn message_fact(&self, place: usize) -> Option<Fact> {
        let message = self.messages.get(place)?;
        let at = message.time;
        let label = match message.kind {
            MessageKind::Message => "message",
            MessageKind::Marker => "marker",
        };
        let label = format!("{label} at {}{}", exact_time(at), on_cap(message.cap));
        let fact = Fact::new(label, message.text);
        let by = message.cap.and_then(|cap| {
            let thread = self.store.running(cap, at, &mut 0)?;
            Some((thread, self.run_at(cap, at)?))
        });
        Some(match by {
            Some((thread, run)) => fact.leading(Lead::Other, Thread(thread), run),
            None => fact,
        })
    }
}
