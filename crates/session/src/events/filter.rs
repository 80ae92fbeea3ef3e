//! Filter and search of the event list.

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use super::{EventContext, EventList};
use analysis::timeline::scope::Scope;
use eventlog::cursor::Cursor;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{EventSet, EventType, Record};
use model::time::Interval;

/// Filter by the capability on which an event happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CapFilter {
    /// Events with or without a capability.
    #[default]
    All,
    /// Only events without a capability.
    Without,
    /// Only events of this capability.
    Only(CapId),
}

/// Conditions that an event must meet to be listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFilter {
    /// Numbers of event types; empty for all.
    pub types: Vec<u16>,
    /// Capability of the event.
    pub cap: CapFilter,
    /// Thread that the event is about, or that was running on its capability.
    pub thread: Option<ThreadId>,
    /// Half-open time range; `None` is the whole log.
    pub range: Option<Interval>,
    /// Scope: events on one of its capabilities, about one of its threads, or while one of its threads ran on the
    /// event's capability.
    pub scope: Scope,
}

impl EventFilter {
    /// Returns whether all events pass.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

/// Tracks the running thread of each capability, for events in almost chronological order.
#[derive(Clone, Debug, Default)]
pub(super) struct Running {
    caps: Vec<CapCursor>,
}

/// Position on the lane of a capability.
#[derive(Clone, Debug, Default)]
struct CapCursor {
    /// Index of the first run that ends after the latest event.
    place: usize,
    /// The run found last, in which most of the following events are.
    run: Option<(ThreadId, Interval)>,
}

impl Running {
    /// Returns the thread that an event is about, or that is running on its capability.
    pub(super) fn thread_of(
        &mut self,
        record: &Record<'_>,
        context: &EventContext<'_>,
    ) -> Option<ThreadId> {
        own_thread(record).or_else(|| {
            let cap = record.cap?;
            let at = usize::from(cap.0);
            if at >= self.caps.len() {
                self.caps.resize_with(at + 1, CapCursor::default);
            }
            let CapCursor { place, run } = &mut self.caps[at];
            if !run.is_some_and(|(_, span)| span.contains(record.time)) {
                *run = context.store.run_at(cap, record.time, place);
            }
            run.map(|(thread, _)| thread)
        })
    }
}

/// Returns the thread that an event is about, which is its first field.
fn own_thread(record: &Record<'_>) -> Option<ThreadId> {
    if !EventSet::THREAD_EVENTS.contains(record.id) || !record.header.knows(record.id) {
        return None;
    }
    Cursor::new(record.payload, record.header.stop_codes).field()
}

/// Matcher of rows and search results.
#[derive(Debug)]
pub struct Matcher {
    filter: EventFilter,
    /// Event types that pass; `None` for all.
    pub(super) types: Option<EventSet>,
    needle: Option<Finder<'static>>,
    ascii: bool,
    running: Running,
    text: String,
}

impl Matcher {
    /// Creates a matcher for a list.
    pub fn new(list: &EventList) -> Self {
        let needle = list.search.to_lowercase();
        let types = list.filter.types.iter().map(|&id| EventType(id));
        let types: EventSet = types.collect();
        Self {
            types: (!list.filter.types.is_empty()).then_some(types),
            ascii: needle.is_ascii(),
            needle: (!needle.is_empty()).then(|| Finder::new(needle.as_bytes()).into_owned()),
            filter: list.filter.clone(),
            running: Running::default(),
            text: String::new(),
        }
    }

    /// Returns whether an event passes the filter.
    pub fn is_row(&mut self, record: &Record<'_>, context: &EventContext<'_>) -> bool {
        if self.types.is_some_and(|types| !types.contains(record.id)) {
            return false;
        }
        let filter = &self.filter;
        let wrong_cap = match filter.cap {
            CapFilter::All => false,
            CapFilter::Without => record.cap.is_some(),
            CapFilter::Only(cap) => record.cap != Some(cap),
        };
        if wrong_cap
            || filter
                .range
                .is_some_and(|range| !range.contains(record.time))
        {
            return false;
        }
        let scope = &filter.scope;
        let in_scope = scope.is_everything() || record.cap.is_some_and(|cap| scope.has_cap(cap));
        if filter.thread.is_none() && (in_scope || scope.threads.is_empty()) {
            return in_scope;
        }
        let thread = self.running.thread_of(record, context);
        (filter.thread.is_none() || thread == filter.thread)
            && (in_scope || thread.is_some_and(|thread| scope.has_thread(thread)))
    }

    /// Returns the thread that an event is about, or that was running on its capability.
    pub fn thread_of(
        &mut self,
        record: &Record<'_>,
        context: &EventContext<'_>,
    ) -> Option<ThreadId> {
        self.running.thread_of(record, context)
    }

    /// Returns whether the name or text of an event contains the search text; `false` without one.
    pub fn is_found(&mut self, record: &Record<'_>, context: &EventContext<'_>) -> bool {
        let Some(needle) = &self.needle else {
            return false;
        };
        self.text.clear();
        self.text.push_str(record.event().name());
        self.text.push('\n');
        context.write_text(record, &mut self.text);
        if self.ascii {
            self.text.make_ascii_lowercase();
            needle.find(self.text.as_bytes()).is_some()
        } else {
            needle.find(self.text.to_lowercase().as_bytes()).is_some()
        }
    }

    /// Returns whether events of these types and times may include rows.
    pub(super) fn may_be_in(
        &self,
        types: &EventSet,
        after: Option<Nanos>,
        upto: Option<Nanos>,
    ) -> bool {
        let early = |range: Interval| upto.is_some_and(|upto| upto < range.start());
        let late = |range: Interval| after.is_some_and(|after| after >= range.end());
        let outside = self
            .filter
            .range
            .is_some_and(|range| early(range) || late(range));
        !outside && self.types.is_none_or(|wanted| wanted.intersects(types))
    }
}
