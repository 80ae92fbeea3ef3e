//! Messages and markers that the program wrote (`traceEvent`, `traceMarker`).

use serde::{Deserialize, Serialize};

use crate::diagnostics::{Diagnostic, Fact};
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, EventType, Record};
use model::columns::Column;
use model::place::place32;
use model::time::Interval;

/// Whether it is a message or a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageKind {
    /// `traceEvent` and the like.
    Message,
    /// `traceMarker`.
    Marker,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The time of the message.
    pub time: Nanos,
    /// On which capability.
    pub cap: Option<CapId>,
    /// Message or marker.
    pub kind: MessageKind,
    /// What it says; it may be cut.
    pub text: String,
}

/// All messages of a log, or of a slice of it, as columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Messages {
    #[serde(skip)]
    times: Vec<u64>,
    /// [`NO_CAP`] if it is on none.
    #[serde(skip)]
    caps: Vec<u16>,
    #[serde(skip)]
    markers: Vec<u8>,
    /// Which of them are markers.
    #[serde(skip)]
    marker_places: Vec<u32>,
    /// Where each text ends in `texts`.
    #[serde(skip)]
    ends: Vec<u32>,
    #[serde(skip)]
    texts: Vec<u8>,
    without_text: WithoutText,
}

/// The messages without text, as there is too much of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct WithoutText {
    /// The first of them; no later one has its text.
    first: Option<usize>,
    /// How many have lost some, and how much.
    messages: u64,
    bytes: u64,
}

/// Blocks of capabilities have no such number in the format.
const NO_CAP: u16 = u16::MAX;

/// How much text is kept in all; later messages are shown without theirs, and a diagnostic
/// says how many.
pub const TEXT_BUDGET_BYTES: usize = 128 << 20;
/// How much of one message is kept.
const MAX_TEXT_BYTES: usize = 4096;

/// A mark for the messages of one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageMark {
    /// When the first one was written.
    pub time: u64,
    /// When the last one was.
    pub last_time: u64,
    /// Which one the first is.
    pub first: usize,
    /// How many they are.
    pub count: usize,
    /// Whether a marker is among them.
    pub has_marker: bool,
}

impl Messages {
    /// The types of events that it takes.
    pub(crate) const CONSUMES: EventSet =
        EventSet::of(&[EventType::USER_MSG, EventType::USER_MARKER]);

    /// Takes a message or a marker. The result is its text, if it is one.
    pub(crate) fn take<'a>(&mut self, record: &Record<'a>) -> Option<&'a [u8]> {
        let (kind, text) = match record.event() {
            Event::UserMessage { msg } => (MessageKind::Message, msg.0),
            Event::UserMarker { markername } => (MessageKind::Marker, markername.0),
            _ => return None,
        };
        self.push(record.time, record.cap, kind, text);
        Some(text)
    }

    /// Appends a message.
    pub(crate) fn push(&mut self, time: Nanos, cap: Option<CapId>, kind: MessageKind, text: &[u8]) {
        let text = &text[..text.len().min(MAX_TEXT_BYTES)];
        let without = &mut self.without_text;
        if without.first.is_none() && self.texts.len() + text.len() <= TEXT_BUDGET_BYTES {
            self.texts.extend_from_slice(text);
        } else {
            without.first.get_or_insert(self.times.len());
            without.messages += 1;
            without.bytes += text.len() as u64;
        }
        // Only logs of several runs go back in time here.
        let time = self.times.last().map_or(time.0, |&last| last.max(time.0));
        self.times.push(time);
        self.caps.push(cap.map_or(NO_CAP, |cap| cap.0));
        if kind == MessageKind::Marker {
            self.marker_places.push(place32(self.markers.len()));
        }
        self.markers.push(u8::from(kind == MessageKind::Marker));
        // It fits, as the budget does.
        self.ends.push(self.texts.len() as u32);
    }

    /// Adds the messages of the slice that follows.
    pub(crate) fn append(&mut self, slice: &Self) {
        let WithoutText {
            first,
            messages,
            bytes,
        } = slice.without_text;
        let with_text = first.unwrap_or(slice.len());
        for index in 0..slice.len() {
            if index == with_text {
                // Then there is no room here either.
                self.without_text.first.get_or_insert(self.len());
            }
            let (time, cap) = (Nanos(slice.time(index)), slice.cap(index));
            self.push(time, cap, slice.kind(index), slice.text(index));
        }
        let counted = slice.len() - with_text;
        self.without_text.messages += messages - counted as u64;
        self.without_text.bytes += bytes;
    }

    /// Shows each long list of numbers, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see((&mut self.times).into());
        see((&mut self.caps).into());
        see((&mut self.markers).into());
        see((&mut self.ends).into());
        see((&mut self.texts).into());
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// What is to be told of them: that some have no text.
    #[must_use]
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let WithoutText {
            first,
            messages,
            bytes,
        } = self.without_text;
        let first = Nanos(self.time(first?));
        Some(Diagnostic::at(first, Fact::MessagesCut { messages, bytes }))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Message> {
        Some(Message {
            time: Nanos(*self.times.get(index)?),
            cap: self.cap(index),
            kind: self.kind(index),
            text: String::from_utf8_lossy(self.text(index)).into_owned(),
        })
    }

    /// When one was written, in nanoseconds.
    pub(crate) fn time(&self, index: usize) -> u64 {
        self.times.get(index).copied().unwrap_or_default()
    }

    /// On which capability one was written.
    pub(crate) fn cap(&self, index: usize) -> Option<CapId> {
        let cap = self.caps.get(index).copied();
        cap.filter(|&cap| cap != NO_CAP).map(CapId)
    }

    fn kind(&self, index: usize) -> MessageKind {
        match self.markers.get(index) {
            Some(1) => MessageKind::Marker,
            _ => MessageKind::Message,
        }
    }

    /// What one says, as far as it is kept.
    pub(crate) fn text(&self, index: usize) -> &[u8] {
        let end = self.ends.get(index).map_or(0, |end| *end as usize);
        let before = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let from = before.map_or(0, |end| *end as usize);
        self.texts.get(from..end).unwrap_or_default()
    }

    /// The places of the messages from the start of a span to its end, both
    /// included.
    #[must_use]
    pub fn places(&self, span: Interval) -> std::ops::Range<usize> {
        let from = self.times.partition_point(|&time| time < span.start().0);
        let to = self.times.partition_point(|&time| time <= span.end().0);
        from..to.max(from)
    }

    /// Whether one of the messages at some places is a marker.
    fn has_marker(&self, places: std::ops::Range<usize>) -> bool {
        let before = |place: usize| {
            self.marker_places
                .partition_point(|&at| (at as usize) < place)
        };
        before(places.start) < before(places.end)
    }

    /// One mark for each bucket of `bucket_ns` that has messages in `view`.
    pub fn marks(&self, view: Interval, bucket_ns: u64, mut emit: impl FnMut(MessageMark)) {
        let aligned = view.start().0 / bucket_ns * bucket_ns;
        let mut at = self.times.partition_point(|&time| time < aligned);
        while let Some(&time) = self.times.get(at).filter(|&&time| time <= view.end().0) {
            let next_bucket = (time / bucket_ns + 1).saturating_mul(bucket_ns);
            let count = self.times[at..].partition_point(|&time| time < next_bucket);
            emit(MessageMark {
                time,
                last_time: self.times[at + count - 1],
                first: at,
                count,
                has_marker: self.has_marker(at..at + count),
            });
            at += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_beyond_the_budget_are_counted() {
        let mut messages = Messages::default();
        let mut say = |at: usize, text: &[u8]| {
            messages.push(Nanos(at as u64), None, MessageKind::Message, text);
        };
        // One byte is left over: enough for the next message, were it kept.
        let long = [b'x'; MAX_TEXT_BYTES];
        let whole = TEXT_BUDGET_BYTES / MAX_TEXT_BYTES - 1;
        (0..whole).for_each(|at| say(at, &long));
        say(whole, &long[1..]);
        say(whole + 1, b"two");
        say(whole + 2, b"y");
        assert_eq!(messages.text(whole).len(), MAX_TEXT_BYTES - 1);
        assert_eq!(
            [messages.text(whole + 1), messages.text(whole + 2)],
            [b"", b""]
        );
        let cut = |messages, bytes| {
            let first = Nanos(whole as u64 + 1);
            Some(Diagnostic::at(first, Fact::MessagesCut { messages, bytes }))
        };
        assert_eq!(messages.diagnostic(), cut(2, 4));
        assert_eq!(Messages::default().diagnostic(), None);
        // The same if they come in slices, however long.
        let mut later = Messages::default();
        later.push(Nanos(0), None, MessageKind::Marker, b"more");
        let mut all = Messages::default();
        all.append(&messages);
        all.append(&later);
        assert_eq!(all.diagnostic(), cut(3, 8));
        assert_eq!(all.text(whole), messages.text(whole));
        assert_eq!(
            all.get(whole + 3).map(|last| last.text),
            Some(String::new())
        );
    }
}
