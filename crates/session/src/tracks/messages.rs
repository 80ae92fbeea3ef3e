//! Message track: messages and markers of the program.

use serde::{Deserialize, Serialize};

use super::details::{
    self, DetailField, Details, DetailsQuery, MAX_LISTED, event_list_link, exact_time, on_cap,
};
use super::legend::{COLUMN_PX, LegendEntry, LegendMark, LegendSample, MIDDLE, Section};
use super::sample_data::wave;
use super::thread::Thread;
use super::{Log, Shape, TrackEntry, TrackKind, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words;
use analysis::timeline::messages::MessageKind;
use model::density::Density;
use model::marks::{MarkKind, MarkWriter, NONE, NewMoment, PackedPayload, Payload};
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
pub struct MessagePayload {
    /// Number of the first message.
    pub first: Option<u32>,
    /// Whether any of the messages is a marker.
    pub has_marker: bool,
}

impl Payload for MessagePayload {
    fn pack(self) -> PackedPayload {
        PackedPayload([self.first.unwrap_or(NONE), self.has_marker.into(), 0, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self {
            first: packed.optional_word(0),
            has_marker: packed.word(1) != 0,
        }
    }
}

impl TrackKind for Messages {
    type Payload = MessagePayload;

    const GROUP: TrackGroup = TrackGroup::Program;
    const SHAPE: Shape = Shape::Moments;
    const SECTION: Section = Section::Events;

    link::word_link!("messages");

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let count = log.recording.messages.len() as u64;
        (count > 0).then(|| TrackEntry::new(Self, TITLE).note(format::count(count)))
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let mut density = Density::new(writer);
        let (wanted, column_ns) = (density.collect_interval(), density.column_ns());
        log.recording.messages.marks(wanted, column_ns, |mark| {
            density.push(NewMoment {
                start: mark.time,
                end: mark.last_time,
                count: mark.count,
                payload: MessagePayload {
                    first: u32::try_from(mark.first).ok(),
                    has_marker: mark.has_marker,
                },
            });
        });
        density.write(writer, |one, next| MessagePayload {
            has_marker: one.has_marker || next.has_marker,
            ..one
        });
    }

    /// Paints messages as diamonds and markers as flags. Dense messages become columns; markers in them keep their
    /// flags, or get lines where flags would overlap.
    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        let strip = &shown.strip;
        let middle = strip.area.y + strip.area.h / 2.0;
        let mut columns = Vec::new();
        let mut marks = shown.marks.row_marks(self).peekable();
        while let Some((mark, span)) = marks.next() {
            if mark.kind == MarkKind::Column {
                let marker = mark.read::<MessagePayload>().has_marker;
                columns.push(Column {
                    span,
                    count: mark.count,
                    color: strip.palette.ink2,
                    notable: marker.then_some(strip.palette.accent),
                });
                continue;
            }
            let x = strip.x(span.start());
            let marker = mark.read::<MessagePayload>().has_marker;
            let color = if marker {
                strip.palette.accent
            } else {
                strip.palette.ink2
            };
            let tick = strip.tick(span.start());
            painter.fill(tick, color.into());
            if marker {
                paint_flag(strip, x, painter);
            } else {
                let (left, right) = (x - 3.0, x + 3.0);
                let top = (x, middle - 3.0);
                let diamond = [(left, middle), top, (right, middle), (x, middle + 3.0)];
                painter.polygon(&diamond, color.into());
            }
            let next = marks.peek().map(|(_, next)| strip.x(next.start()));
            let number_x = if marker { x + 3.0 } else { x };
            strip.paint_number(mark.count, (number_x, middle), next, painter);
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

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
        let MessagePayload { first, has_marker } = item.read();
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

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        Details::for_log(log).message_facts(query.span)
    }

    fn message_of(self, item: &Item) -> Option<u32> {
        item.read::<MessagePayload>().first
    }

    fn legend() -> Vec<LegendEntry> {
        let said = |has_marker| {
            let said = MessagePayload {
                first: None,
                has_marker,
            };
            LegendSample::row(Self, vec![LegendMark::moment(MIDDLE).with_payload(said)])
        };
        vec![
            LegendEntry::new(
                "A message",
                "Written by the program (traceEvent), on the track of messages.",
                said(false),
            ),
            LegendEntry::new(
                "A marker",
                "Set by the program (traceMarker). It hides messages at the same position.",
                said(true),
            ),
            LegendEntry::new(
                "Many of them",
                "Columns where signs would overlap; height: square root of the number of messages. A flag or a line above: contains a marker. Zoom in for single signs.",
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
fn many() -> LegendSample {
    let column = |place: u32| {
        let from = f64::from(place) * COLUMN_PX;
        let said = MessagePayload {
            first: None,
            has_marker: place == 22,
        };
        let count = (40.0 * f64::from(wave(place as f32, 0.7))) as u32 + 1;
        LegendMark::column(from, from + COLUMN_PX)
            .count(count)
            .with_payload(said)
    };
    LegendSample::row(Messages, (3..30).map(column).collect())
}

impl Details<'_> {
    /// Returns the messages in a closed time range.
    fn message_facts(&self, span: Interval) -> Vec<DetailField> {
        let places = self.messages.indexes_in(span);
        let more = places.len().saturating_sub(MAX_LISTED);
        let mut facts = Vec::new();
        if let Some(first) = self.messages.get(places.start).filter(|_| more > 0) {
            facts.push(event_list_link(first.time, first.cap));
        }
        let listed = places.take(MAX_LISTED);
        facts.extend(listed.filter_map(|place| self.message_fact(place)));
        facts.extend(details::more(more));
        facts
    }

    fn message_fact(&self, place: usize) -> Option<DetailField> {
        let message = self.messages.get(place)?;
        let at = message.time;
        let label = match message.kind {
            MessageKind::Message => "message",
            MessageKind::Marker => "marker",
        };
        let label = format!("{label} at {}{}", exact_time(at), on_cap(message.cap));
        let fact = DetailField::new(label, message.text);
        let by = message
            .cap
            .and_then(|cap| self.store.run_at(cap, at, &mut 0));
        Some(match by {
            Some((thread, run)) => fact.linked_to(Thread(thread), run),
            None => fact,
        })
    }
}
