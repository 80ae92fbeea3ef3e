//! Messages and markers of the program (`traceEvent`, `traceMarker`).

use serde::{Deserialize, Serialize};

use crate::diagnostics::{Diagnostic, Fact};
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, EventType, Record};
use model::columns::Column;
use model::saturating::saturating_u32;
use model::time::Interval;

/// Message or marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageKind {
    /// `UserMessage`: `traceEvent` and similar functions.
    Message,
    /// `UserMarker`: `traceMarker`.
    Marker,
}

/// One message or marker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Time of the message.
    pub time: Nanos,
    /// Capability that logged it.
    pub cap: Option<CapId>,
    /// Whether it is a message or a marker.
    pub kind: MessageKind,
    /// Text, possibly truncated.
    pub text: String,
}

/// Messages of a log or slice, in columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Messages {
    #[serde(skip)]
    times: Vec<u64>,
    /// Capability of each message, or [`NO_CAP`].
    #[serde(skip)]
    caps: Vec<u16>,
    /// Flags of each message: [`MARKER`], [`TRUNCATED`].
    #[serde(skip)]
    flags: Vec<u8>,
    /// Indexes of the markers.
    #[serde(skip)]
    marker_places: Vec<u32>,
    /// End offset of each text in `texts`.
    #[serde(skip)]
    ends: Vec<u32>,
    #[serde(skip)]
    texts: Vec<u8>,
    without_text: WithoutText,
}

/// Messages whose text was dropped because the budget was exhausted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct WithoutText {
    /// Index of the first one; all later texts are dropped as well.
    first: Option<usize>,
    /// Number of messages that lost text, and the lost bytes.
    messages: u64,
    bytes: u64,
}

/// Sentinel: the format reserves this capability number.
const NO_CAP: u16 = u16::MAX;

/// Flag of a marker.
const MARKER: u8 = 1;
/// Flag of a message whose text was longer than [`MAX_TEXT_BYTES`].
const TRUNCATED: u8 = 2;

/// Maximum total size of texts. The texts of later messages are dropped, which a diagnostic reports.
pub const TEXT_BUDGET_BYTES: usize = 128 << 20;
/// Maximum size of one text; longer ones are truncated.
pub const MAX_TEXT_BYTES: usize = 4096;

/// Summary of the messages in one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageMark {
    /// Time of the first message.
    pub time: u64,
    /// Time of the last message.
    pub last_time: u64,
    /// Index of the first message.
    pub first: usize,
    /// Number of messages.
    pub count: usize,
    /// Whether any of them is a marker.
    pub has_marker: bool,
}

impl Messages {
    /// Event types that [`take`](Self::take) processes.
    pub(crate) const CONSUMES: EventSet =
        EventSet::from_types(&[EventType::USER_MSG, EventType::USER_MARKER]);

    /// Processes a message or marker event. Returns its text; `None` for other events.
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
        let (text, rest) = text.split_at(text.len().min(MAX_TEXT_BYTES));
        let flags = match kind {
            MessageKind::Message => 0,
            MessageKind::Marker => MARKER,
        };
        let truncated = if rest.is_empty() { 0 } else { TRUNCATED };
        self.push_flagged(time, cap, flags | truncated, text);
    }

    fn push_flagged(&mut self, time: Nanos, cap: Option<CapId>, flags: u8, text: &[u8]) {
        let without = &mut self.without_text;
        if without.first.is_none() && self.texts.len() + text.len() <= TEXT_BUDGET_BYTES {
            self.texts.extend_from_slice(text);
        } else {
            without.first.get_or_insert(self.times.len());
            without.messages += 1;
            without.bytes += text.len() as u64;
        }
        // Only in files with several logs does time go backwards here.
        let time = self.times.last().map_or(time.0, |&last| last.max(time.0));
        self.times.push(time);
        self.caps.push(cap.map_or(NO_CAP, |cap| cap.0));
        if flags & MARKER != 0 {
            self.marker_places.push(saturating_u32(self.flags.len()));
        }
        self.flags.push(flags);
        // Fits into 32 bits because the budget does.
        self.ends.push(self.texts.len() as u32);
    }

    /// Appends the messages of the following slice.
    pub(crate) fn append(&mut self, slice: &Self) {
        let WithoutText {
            first,
            messages,
            bytes,
        } = slice.without_text;
        let with_text = first.unwrap_or(slice.len());
        for index in 0..slice.len() {
            if index == with_text {
                // If the slice exceeded the budget, so does the log.
                self.without_text.first.get_or_insert(self.len());
            }
            let (time, cap) = (Nanos(slice.time(index)), slice.cap(index));
            self.push_flagged(time, cap, slice.flags(index), slice.text(index));
        }
        let counted = slice.len() - with_text;
        self.without_text.messages += messages - counted as u64;
        self.without_text.bytes += bytes;
    }

    /// Calls `see` with each column, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see((&mut self.times).into());
        see((&mut self.caps).into());
        see((&mut self.flags).into());
        see((&mut self.ends).into());
        see((&mut self.texts).into());
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the diagnostic about dropped texts, if there are any.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let WithoutText {
            first,
            messages,
            bytes,
        } = self.without_text;
        let first = Nanos(self.time(first?));
        Some(Diagnostic::at_time(
            first,
            Fact::MessagesCut { messages, bytes },
        ))
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns a message by index.
    pub fn get(&self, index: usize) -> Option<Message> {
        Some(Message {
            time: Nanos(*self.times.get(index)?),
            cap: self.cap(index),
            kind: self.kind(index),
            text: String::from_utf8_lossy(self.text(index)).into_owned(),
        })
    }

    /// Returns the time of a message in nanoseconds.
    pub(crate) fn time(&self, index: usize) -> u64 {
        self.times.get(index).copied().unwrap_or_default()
    }

    /// Returns the capability of a message.
    pub(crate) fn cap(&self, index: usize) -> Option<CapId> {
        let cap = self.caps.get(index).copied();
        cap.filter(|&cap| cap != NO_CAP).map(CapId)
    }

    fn kind(&self, index: usize) -> MessageKind {
        match self.flags(index) & MARKER {
            0 => MessageKind::Message,
            _ => MessageKind::Marker,
        }
    }

    fn flags(&self, index: usize) -> u8 {
        self.flags.get(index).copied().unwrap_or_default()
    }

    /// Returns the times of the messages whose texts were longer than [`MAX_TEXT_BYTES`].
    pub fn truncated(&self) -> impl Iterator<Item = Nanos> {
        let all = self.flags.iter().zip(&self.times);
        let truncated = all.filter(|(flags, _)| **flags & TRUNCATED != 0);
        truncated.map(|(_, time)| Nanos(*time))
    }

    /// Returns the stored text of a message.
    pub(crate) fn text(&self, index: usize) -> &[u8] {
        let end = self.ends.get(index).map_or(0, |end| *end as usize);
        let before = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let from = before.map_or(0, |end| *end as usize);
        self.texts.get(from..end).unwrap_or_default()
    }

    /// Returns the indexes of the messages from the start to the end of a span, both inclusive.
    pub fn indexes_in(&self, span: Interval) -> std::ops::Range<usize> {
        let from = self.times.partition_point(|&time| time < span.start().0);
        let to = self.times.partition_point(|&time| time <= span.end().0);
        from..to.max(from)
    }

    /// Returns whether any of the messages at these indexes is a marker.
    fn has_marker(&self, places: std::ops::Range<usize>) -> bool {
        let before = |place: usize| {
            self.marker_places
                .partition_point(|&at| (at as usize) < place)
        };
        before(places.start) < before(places.end)
    }

    /// Emits one mark per bucket of `bucket_ns` with messages in `view`.
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
        // One byte of the budget is left, enough for the text of the last message if texts were still stored.
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
            Some(Diagnostic::at_time(
                first,
                Fact::MessagesCut { messages, bytes },
            ))
        };
        assert_eq!(messages.diagnostic(), cut(2, 4));
        assert_eq!(Messages::default().diagnostic(), None);
        // The result is the same when messages are appended slice by slice.
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

    #[test]
    fn truncated_texts_are_known_slice_by_slice() {
        let mut slice = Messages::default();
        let long = [b'x'; MAX_TEXT_BYTES + 1];
        let texts: [&[u8]; 3] = [&long[1..], &long, b"short"];
        for (time, text) in (0..).zip(texts) {
            slice.push(Nanos(time), None, MessageKind::Marker, text);
        }
        let mut all = Messages::default();
        all.append(&slice);
        for messages in [slice, all] {
            assert_eq!(messages.truncated().collect::<Vec<_>>(), [Nanos(1)]);
            assert_eq!(messages.text(1).len(), MAX_TEXT_BYTES);
            assert!(messages.has_marker(1..2));
        }
    }
}
