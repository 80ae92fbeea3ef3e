//! Messages and markers that the program wrote (`traceEvent`, `traceMarker`).

use serde::{Deserialize, Serialize};

use crate::findings::{Fact, Finding};
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, EventType, Record, Sink};
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

/// All messages of a log, as columns.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    times: Vec<u64>,
    caps: Vec<Option<CapId>>,
    kinds: Vec<MessageKind>,
    /// Where each text ends in `texts`.
    ends: Vec<u32>,
    texts: Vec<u8>,
    /// The first message whose text is not kept; no later one's is.
    first_without_text: Option<usize>,
}

/// How much text is kept in all; later messages are shown without theirs.
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

impl Sink for Messages {
    const CONSUMES: EventSet = EventSet::of(&[EventType::USER_MSG, EventType::USER_MARKER]);

    fn event(&mut self, record: &Record<'_>) {
        let (kind, text) = match record.event() {
            Event::UserMessage { msg } => (MessageKind::Message, msg.0),
            Event::UserMarker { markername } => (MessageKind::Marker, markername.0),
            _ => return,
        };
        self.push(record.time, record.cap, kind, text);
    }
}

impl Messages {
    /// Appends a message.
    pub(crate) fn push(&mut self, time: Nanos, cap: Option<CapId>, kind: MessageKind, text: &[u8]) {
        let text = &text[..text.len().min(MAX_TEXT_BYTES)];
        if self.first_without_text.is_none() {
            if self.texts.len() + text.len() <= TEXT_BUDGET_BYTES {
                self.texts.extend_from_slice(text);
            } else {
                self.first_without_text = Some(self.times.len());
            }
        }
        // Only logs of several runs go back in time here.
        let time = self.times.last().map_or(time.0, |&last| last.max(time.0));
        self.times.push(time);
        self.caps.push(cap);
        self.kinds.push(kind);
        self.ends
            .push(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// How many have no text because there is too much of it in the log, and
    /// when the first of them was; `None` if all have theirs.
    #[must_use]
    pub(crate) fn without_text(&self) -> Option<(usize, Nanos)> {
        let first = self.first_without_text?;
        Some((self.len() - first, Nanos(self.time(first))))
    }

    /// What is to be told of them: that some have no text.
    #[must_use]
    pub fn finding(&self) -> Option<Finding> {
        let (messages, first) = self.without_text()?;
        Some(Finding::at(first, Fact::MessagesCut(messages as u64)))
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
            cap: self.caps[index],
            kind: self.kinds[index],
            text: String::from_utf8_lossy(self.text(index)).into_owned(),
        })
    }

    /// When one was written, in nanoseconds.
    pub(crate) fn time(&self, index: usize) -> u64 {
        self.times.get(index).copied().unwrap_or_default()
    }

    /// On which capability one was written.
    pub(crate) fn cap(&self, index: usize) -> Option<CapId> {
        self.caps.get(index).copied().flatten()
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

    /// One mark for each bucket of `bucket_ns` that has messages in `view`.
    pub fn marks(&self, view: Interval, bucket_ns: u64, mut emit: impl FnMut(MessageMark)) {
        let aligned = view.start().0 / bucket_ns * bucket_ns;
        let mut at = self.times.partition_point(|&time| time < aligned);
        while let Some(&time) = self.times.get(at).filter(|&&time| time <= view.end().0) {
            let next_bucket = (time / bucket_ns + 1).saturating_mul(bucket_ns);
            let count = self.times[at..].partition_point(|&time| time < next_bucket);
            let kinds = &self.kinds[at..at + count.min(64)];
            emit(MessageMark {
                time,
                last_time: self.times[at + count - 1],
                first: at,
                count,
                has_marker: kinds.contains(&MessageKind::Marker),
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
        let first = Nanos(whole as u64 + 1);
        assert_eq!(messages.without_text(), Some((2, first)));
        assert_eq!(Messages::default().without_text(), None);
    }
}
