//! Details of an item beyond its mark, such as the waker of a thread, the next run, the statistics of a
//! collection, or the text of a message.

use serde::{Deserialize, Serialize};

use std::borrow::Cow;

use super::capability::Capability;
use super::{Log, TrackId};
use crate::tracks::item::Names;
use crate::tracks::words::{self, thread_name};
use analysis::timeline::messages::Messages;
use analysis::timeline::store::Store;
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use model::class::{Class, ClassTimes};
use model::lane::{Lane, first_of_bucket};
use model::profile::TrackSource;
use model::profile::source::Source;
use model::time::Interval;
use scene::format;

/// Query for the details of an item: the span of a mark, or a time interval of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailsQuery {
    /// Track of the item.
    pub row: TrackId,
    /// Start and end, as in the mark.
    pub span: Interval,
    /// Whether the mark merges several spans.
    pub many: bool,
}

/// Relation of a linked item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkRelation {
    /// The item made the thread runnable.
    Waker,
    /// The item ran next on the capability.
    Next,
    /// Any other relation to the fact's item.
    Other,
}

/// Position in the time-ordered flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameTarget {
    /// Source of the flame graph.
    pub source: Source,
    /// Track of the flame graph.
    pub track: TrackSource,
    /// Time of the position.
    pub at: Nanos,
}

/// Link target of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Item of the timeline.
    Item(LinkRelation, TrackId, Interval),
    /// Box of a flame graph.
    Flame(FlameTarget),
    /// Event in the event list: time and capability.
    Event(Nanos, Option<CapId>),
}

/// One fact about an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailField {
    /// Label, such as `woken by`.
    pub label: String,
    /// Value, such as `bound-1 (thread 8) on capability 0`.
    pub text: String,
    /// Link target, if the fact names something that can be shown.
    pub target: Option<Target>,
}

impl DetailField {
    /// Creates a fact without a link.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            target: None,
        }
    }

    /// Links the fact to an item.
    pub(crate) fn linked_to(self, row: impl Into<TrackId>, span: Interval) -> Self {
        self.linked_as(LinkRelation::Other, row, span)
    }

    /// Links the fact to an item with this relation.
    pub(crate) fn linked_as(
        mut self,
        lead: LinkRelation,
        row: impl Into<TrackId>,
        span: Interval,
    ) -> Self {
        self.target = Some(Target::Item(lead, row.into(), span));
        self
    }

    /// Links the fact to a box of a flame graph.
    #[must_use]
    pub(crate) const fn linked_to_flame(mut self, target: FlameTarget) -> Self {
        self.target = Some(Target::Flame(target));
        self
    }

    /// Links the fact to an event in the event list.
    #[must_use]
    pub(crate) const fn linked_to_event(mut self, at: Nanos, cap: Option<CapId>) -> Self {
        self.target = Some(Target::Event(at, cap));
        self
    }

    /// Returns the linked item of the timeline.
    pub const fn item(&self) -> Option<(LinkRelation, TrackId, Interval)> {
        match self.target {
            Some(Target::Item(lead, row, span)) => Some((lead, row, span)),
            _ => None,
        }
    }
}

/// Maximum number of items listed individually; beyond it, only counts are shown.
pub(super) const MAX_LISTED: usize = 12;

/// Provides the labels of threads, once the log is fully read.
impl Names for Store {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.label_of(thread)
    }
}

/// Data from which facts are derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details<'a> {
    /// Activity of capabilities and threads.
    pub(super) store: &'a Store,
    /// Messages of the program.
    pub(super) messages: &'a Messages,
    /// Time range of the whole log.
    log: Option<Interval>,
}

impl<'a> Details<'a> {
    /// Borrows the data of a log.
    pub(super) fn for_log(log: &Log<'a>) -> Self {
        Self {
            store: &log.recording.store,
            messages: &log.recording.messages,
            log: log.span,
        }
    }

    /// Returns the name of a thread.
    pub(super) fn name(&self, thread: ThreadId) -> String {
        thread_name(self.store, thread)
    }

    /// Adds a duration in nanoseconds, and its share of the log.
    pub(super) fn duration_facts(&self, span: Interval, facts: &mut Vec<DetailField>) {
        facts.push(DetailField::new(
            "duration",
            exact_duration(span.duration()),
        ));
        if let Some(log) = self.log.filter(|log| log.duration().0 > 0) {
            let share = format::percent(span.duration().0, log.duration().0);
            facts.push(DetailField::new("share of the log", share));
        }
    }

    /// Returns the run on a capability at a time.
    pub(super) fn run_at(&self, cap: CapId, at: Nanos) -> Option<Interval> {
        let runs = &self.store.cap(cap)?.runs;
        Some(runs.interval(runs.run_at(at.0, &mut 0)?))
    }

    /// Returns a fact about an action on a thread, linked to the run that caused it.
    pub(super) fn action_fact(
        &self,
        what: &str,
        by: Option<ThreadId>,
        cap: Option<CapId>,
        at: Nanos,
    ) -> DetailField {
        let by = by.map_or_else(|| "the runtime".to_owned(), |by| self.name(by));
        let text = format!("{by} at {}{}", format::time(at), on_cap(cap));
        let fact = DetailField::new(what, text);
        let run = cap.and_then(|cap| Some((cap, self.run_at(cap, at)?)));
        match run {
            Some((cap, run)) => fact.linked_as(LinkRelation::Waker, Capability(cap), run),
            None => fact,
        }
    }

    /// Returns the state of a thread at a time.
    pub(super) fn state_at(&self, thread: ThreadId, at: Nanos) -> Option<Interval> {
        let lane = self.store.thread_lane(thread)?;
        let index = lane.first_ending_after(at.0);
        let span = (index < lane.len()).then(|| lane.interval(index))?;
        (span.start() <= at).then_some(span)
    }

    /// Adds the details of a merged mark: the number of spans, the time and the displayed share of each class, and
    /// a link to the longest span.
    pub(super) fn merged_facts(
        &self,
        row: impl Into<TrackId>,
        span: Interval,
        lane: &impl Lane,
        what: [&str; 2],
        name: impl Fn(usize) -> String,
        facts: &mut Vec<DetailField>,
    ) {
        let first = |time: Nanos| first_of_bucket(lane, time.0, span.duration().0);
        let from = first(span.start());
        let mut to = first(span.end()).max(from);
        // A span as long as the bucket has its own mark.
        let is_long = |(start, end): (u64, u64)| end.saturating_sub(start) >= span.duration().0;
        if to > from && is_long(lane.span(to - 1)) {
            to -= 1;
        }
        let times = lane.times_between(from, to);
        if from == to && times == ClassTimes::default() {
            return;
        }
        let count = lane.count(from, to) as u64;
        let [one, several] = what;
        let what = if count == 1 { one } else { several };
        let text = format!("{} {what}", format::count(count));
        facts.push(DetailField::new("begin here", text));
        let shares = times.map(|time| (time as f64 / span.duration().0.max(1) as f64) as f32);
        let shares = words::normalized_shares(&shares);
        for ((class, &time), share) in Class::ALL.iter().zip(&times).zip(shares) {
            if time == 0 {
                continue;
            }
            let share = format::fraction(share);
            let text = format!("{}, {share} of this range", exact_duration(Duration(time)));
            facts.push(DetailField::new(class.name(), text));
        }
        if let Some(longest) = (from < to).then(|| lane.longest(from, to)).flatten() {
            let longest_span = lane.interval(longest);
            let duration = exact_duration(longest_span.duration());
            let fact = DetailField::new("the longest", format!("{}, {duration}", name(longest)));
            facts.push(fact.linked_to(row, longest_span));
        }
    }
}

/// Returns a fact about the number of items that are not listed, if there are any.
pub(super) fn more(count: usize) -> Option<DetailField> {
    let text = format!("{} more", format::count(count as u64));
    (count > 0).then(|| DetailField::new("and", text))
}

/// Returns a link to the first of many events in the event list.
pub(super) fn event_list_link(first: Nanos, cap: Option<CapId>) -> DetailField {
    let text = format!("from {} on", format::time(first));
    DetailField::new("in the list of events", text).linked_to_event(first, cap)
}

/// Formats a duration rounded and in nanoseconds.
pub(super) fn exact_duration(time: Duration) -> String {
    let short = format::duration(time);
    let exact = exact(time);
    if short == exact {
        return short;
    }
    format!("{short} ({exact})")
}

/// Formats a time in nanoseconds.
pub(super) fn exact_time(at: Nanos) -> String {
    exact(Duration(at.0))
}

/// Formats a duration in nanoseconds.
pub(super) fn exact(time: Duration) -> String {
    format!("{}{}ns", format::count(time.0), format::NBSP)
}

/// Returns ` on capability 3`, or nothing if `cap` is `None`.
pub(super) fn on_cap(cap: Option<CapId>) -> Cow<'static, str> {
    cap.map_or(Cow::Borrowed(""), |cap| {
        format!(" on capability {cap}").into()
    })
}
