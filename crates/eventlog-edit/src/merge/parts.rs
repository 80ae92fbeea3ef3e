//! Merges the parts of one log: each event once, in log order.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::MergeError;
use super::feed::{BatchEvent, Feed};
use eventlog::event::EventType;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::header::Header;
use eventlog::ids::{CapId, Nanos};
use eventlog::is_undated;
use eventlog::problem::LogError;
use eventlog::source::Source;

/// The logs of one process.
#[derive(Debug)]
pub(super) struct ProcessFeeds<S> {
    feeds: Vec<Feed<S>>,
    /// Events so far with meaningless times, for deduplication.
    undated: SeededSet<OwnedBatchEvent>,
}

/// Owned copy of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OwnedBatchEvent {
    id: EventType,
    time: Nanos,
    cap: Option<CapId>,
    payload: Vec<u8>,
}

impl From<BatchEvent<'_>> for OwnedBatchEvent {
    fn from(batch_event: BatchEvent<'_>) -> Self {
        Self {
            id: batch_event.id,
            time: batch_event.time,
            cap: batch_event.cap,
            payload: batch_event.payload.to_vec(),
        }
    }
}

type Emit<'a> = dyn FnMut(&BatchEvent<'_>) -> io::Result<()> + 'a;

impl<S: Source> ProcessFeeds<S> {
    pub(super) fn new(feeds: Vec<Feed<S>>) -> Self {
        Self {
            feeds,
            undated: SeededSet::default(),
        }
    }

    /// Returns the time at which the next event is due; `None` at the end.
    pub(super) fn key(&mut self) -> Result<Option<Nanos>, LogError> {
        let mut first: Option<Nanos> = None;
        for feed in &mut self.feeds {
            if let Some(key) = feed.key()? {
                first = Some(first.map_or(key, |first| first.min(key)));
            }
        }
        Ok(first)
    }

    /// Returns whether all logs have a regular end, once all events were emitted.
    pub(super) fn has_end(&self) -> bool {
        self.feeds.iter().all(Feed::has_end)
    }

    /// Emits the events due up to `until`, or some of them.
    pub(super) fn emit(&mut self, until: Nanos, emit: &mut Emit<'_>) -> Result<(), MergeError> {
        if let [feed] = &mut self.feeds[..] {
            while feed.key()?.is_some_and(|key| key <= until)
                && let Some(batch_event) = feed.event()
            {
                emit(&batch_event)?;
                feed.advance();
            }
            return Ok(());
        }
        let Some(key) = self.key()?.filter(|&key| key <= until) else {
            return Ok(());
        };
        let mut alone = None;
        let mut next = Nanos(u64::MAX);
        for (place, feed) in self.feeds.iter_mut().enumerate() {
            match feed.key()? {
                Some(other) if other == key && alone.is_none() => alone = Some(place),
                Some(other) => next = next.min(other),
                None => {}
            }
        }
        match alone {
            Some(place) if next > key => self.emit_exclusive(place, until, next, emit),
            _ => self.emit_shared(key, emit),
        }
    }

    /// Emits the events before `next`, which only one part has.
    fn emit_exclusive(
        &mut self,
        place: usize,
        until: Nanos,
        next: Nanos,
        emit: &mut Emit<'_>,
    ) -> Result<(), MergeError> {
        let feed = &mut self.feeds[place];
        while feed.key()?.is_some_and(|key| key <= until && key < next)
            && let Some(batch_event) = feed.event()
        {
            if !is_undated(batch_event.id.0) || self.undated.insert(batch_event.into()) {
                emit(&batch_event)?;
            }
            feed.advance();
        }
        Ok(())
    }

    /// Emits the events of several parts at one time.
    fn emit_shared(&mut self, at: Nanos, emit: &mut Emit<'_>) -> Result<(), MergeError> {
        let mut all: Vec<OwnedBatchEvent> = Vec::new();
        let mut header: Option<Arc<Header>> = None;
        for feed in &mut self.feeds {
            let mut own: Vec<OwnedBatchEvent> = Vec::new();
            while feed.key()? == Some(at)
                && let Some(batch_event) = feed.event()
            {
                header.get_or_insert_with(|| Arc::clone(batch_event.header));
                if !is_undated(batch_event.id.0) || self.undated.insert(batch_event.into()) {
                    own.push(batch_event.into());
                }
                feed.advance();
            }
            all = join(all, own);
        }
        let Some(header) = header else { return Ok(()) };
        for event in &all {
            emit(&BatchEvent {
                id: event.id,
                time: event.time,
                cap: event.cap,
                payload: &event.payload,
                header: &header,
            })?;
        }
        Ok(())
    }
}

/// Merges two lists without duplicates, in an order compatible with both.
fn join(first: Vec<OwnedBatchEvent>, second: Vec<OwnedBatchEvent>) -> Vec<OwnedBatchEvent> {
    if first.is_empty() || second.is_empty() {
        return if first.is_empty() { second } else { first };
    }
    let mut places: SeededMap<&OwnedBatchEvent, VecDeque<usize>> = SeededMap::default();
    for (place, event) in first.iter().enumerate() {
        places.entry(event).or_default().push_back(place);
    }
    let mut next = 0;
    let mut pairs = Vec::new();
    for event in &second {
        let mut pair = None;
        if let Some(places) = places.get_mut(event) {
            while places.front().is_some_and(|&place| place < next) {
                places.pop_front();
            }
            pair = places.pop_front();
        }
        next = pair.map_or(next, |place| place + 1);
        pairs.push(pair);
    }
    let mut all = Vec::new();
    let mut first = first.into_iter().enumerate().peekable();
    for (event, pair) in second.into_iter().zip(pairs) {
        let Some(place) = pair else {
            all.push(event);
            continue;
        };
        while let Some((_, before)) = first.next_if(|(at, _)| *at <= place) {
            all.push(before);
        }
    }
    all.extend(first.map(|(_, event)| event));
    all
}
