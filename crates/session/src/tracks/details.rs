//! What is known of one item beyond what its mark says: who woke the thread,
//! what ran next, what a collection copied, what a message says.

use serde::{Deserialize, Serialize};

use std::borrow::Cow;

use super::capability::Capability;
use super::{Log, Row};
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

/// Which item is meant: the span of a row, as its mark says it; or, of a
/// graph, the stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailsQuery {
    /// The row.
    pub row: Row,
    /// When it begins and ends.
    pub span: Interval,
    /// Whether it stands for several.
    pub many: bool,
}

/// What a fact leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lead {
    /// To what made the thread runnable.
    Waker,
    /// To what ran next on the capability.
    Next,
    /// To something else that it names.
    Other,
}

/// A place in the flame graph that is ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameTarget {
    /// Of which source.
    pub source: Source,
    /// On which track.
    pub track: TrackSource,
    /// At which time.
    pub at: Nanos,
}

/// Where what a fact names is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// An item of the timeline.
    Item(Lead, Row, Interval),
    /// A box of a flame graph.
    Flame(FlameTarget),
    /// An event in the list of all: its time, and its capability.
    Event(Nanos, Option<CapId>),
}

/// One fact about an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about: `woken by`.
    pub label: String,
    /// The fact: `bound-1 (thread 8) on capability 0`.
    pub text: String,
    /// Where what it names is to be seen.
    pub target: Option<Target>,
}

impl Fact {
    /// A fact that leads nowhere.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            target: None,
        }
    }

    /// It leads to an item.
    #[must_use]
    pub(crate) fn leading(mut self, lead: Lead, row: impl Into<Row>, span: Interval) -> Self {
        self.target = Some(Target::Item(lead, row.into(), span));
        self
    }

    /// It leads to a box of a flame graph.
    #[must_use]
    pub(crate) const fn in_flame(mut self, target: FlameTarget) -> Self {
        self.target = Some(Target::Flame(target));
        self
    }

    /// It leads to an event in the list of all.
    #[must_use]
    pub(crate) const fn at_event(mut self, at: Nanos, cap: Option<CapId>) -> Self {
        self.target = Some(Target::Event(at, cap));
        self
    }

    /// The item of the timeline that it leads to.
    #[must_use]
    pub const fn item(&self) -> Option<(Lead, Row, Interval)> {
        match self.target {
            Some(Target::Item(lead, row, span)) => Some((lead, row, span)),
            _ => None,
        }
    }
}

/// So many of a kind are listed one by one; of more, only how many they are.
pub(super) const MOST_LISTED: usize = 12;

/// Threads are called by their labels, once the log is read to its end.
impl Names for Store {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.label_of(thread)
    }
}

/// What the facts come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details<'a> {
    /// What capabilities and threads did.
    pub(super) store: &'a Store,
    /// What the program wrote.
    pub(super) messages: &'a Messages,
    /// The time of the whole log.
    log: Option<Interval>,
}

impl<'a> Details<'a> {
    /// Of a log.
    pub(super) fn of(log: &Log<'a>) -> Self {
        Self {
            store: &log.recording.store,
            messages: &log.recording.messages,
            log: log.span,
        }
    }

    /// How a thread is called.
    pub(super) fn name(&self, thread: ThreadId) -> String {
        thread_name(self.store, thread)
    }

    /// How long something took, to the nanosecond, and its share of the log.
    pub(super) fn duration_facts(&self, span: Interval, facts: &mut Vec<Fact>) {
        facts.push(Fact::new("duration", exact_duration(span.duration())));
        if let Some(log) = self.log.filter(|log| log.duration().0 > 0) {
            let share = format::percent(span.duration().0, log.duration().0);
            facts.push(Fact::new("share of the log", share));
        }
    }

    /// The item of a capability that lies at a time: its run.
    pub(super) fn run_at(&self, cap: CapId, at: Nanos) -> Option<Interval> {
        let runs = &self.store.cap(cap)?.runs;
        Some(runs.interval(runs.at(at.0, &mut 0)?))
    }

    /// What somebody did to a thread at a time, leading to the run that did it.
    pub(super) fn done_by(
        &self,
        what: &str,
        by: Option<ThreadId>,
        cap: Option<CapId>,
        at: Nanos,
    ) -> Fact {
        let by = by.map_or_else(|| "the runtime".to_owned(), |by| self.name(by));
        let text = format!("{by} at {}{}", format::time(at), on_cap(cap));
        let fact = Fact::new(what, text);
        let run = cap.and_then(|cap| Some((cap, self.run_at(cap, at)?)));
        match run {
            Some((cap, run)) => fact.leading(Lead::Waker, Capability(cap), run),
            None => fact,
        }
    }

    /// The item of a thread that lies at a time.
    pub(super) fn state_at(&self, thread: ThreadId, at: Nanos) -> Option<Interval> {
        let lane = self.store.thread_lane(thread)?;
        let index = lane.first_ending_after(at.0);
        let span = (index < lane.len()).then(|| lane.interval(index))?;
        (span.start() <= at).then_some(span)
    }

    /// What a mark of several spans stands for: how many, the time of each class
    /// with the share that the mark shows of it, and the longest span with its
    /// name, as a fact that leads to it.
    pub(super) fn merged(
        &self,
        row: impl Into<Row>,
        span: Interval,
        lane: &impl Lane,
        what: [&str; 2],
        name: impl Fn(usize) -> String,
        facts: &mut Vec<Fact>,
    ) {
        let first = |time: Nanos| first_of_bucket(lane, time.0, span.duration().0);
        let from = first(span.start());
        let mut to = first(span.end()).max(from);
        // One as long as the stretch has a mark of its own.
        let is_long = |(start, end): (u64, u64)| end.saturating_sub(start) >= span.duration().0;
        if to > from && is_long(lane.span(to - 1)) {
            to -= 1;
        }
        let times = lane.between(from, to);
        if from == to && times == ClassTimes::default() {
            return;
        }
        let count = lane.count(from, to) as u64;
        let [one, several] = what;
        let what = if count == 1 { one } else { several };
        let text = format!("{} {what}", format::count(count));
        facts.push(Fact::new("begin here", text));
        let shares = times.map(|time| (time as f64 / span.duration().0.max(1) as f64) as f32);
        let shares = words::whole(&shares);
        for ((class, &time), share) in Class::ALL.iter().zip(&times).zip(shares) {
            if time == 0 {
                continue;
            }
            let share = format::fraction(share);
            let text = format!(
                "{}, {share} of this stretch",
                exact_duration(Duration(time))
            );
            facts.push(Fact::new(class.name(), text));
        }
        if let Some(longest) = (from < to).then(|| lane.longest(from, to)).flatten() {
            let longest_span = lane.interval(longest);
            let duration = exact_duration(longest_span.duration());
            let fact = Fact::new("the longest", format!("{}, {duration}", name(longest)));
            facts.push(fact.leading(Lead::Other, row, longest_span));
        }
    }
}

/// Where the first of many events is among all events.
pub(super) fn in_the_list(first: Nanos, cap: Option<CapId>) -> Fact {
    let text = format!("from {} on", format::time(first));
    Fact::new("in the list of events", text).at_event(first, cap)
}

/// A duration for people and to the nanosecond.
pub(super) fn exact_duration(time: Duration) -> String {
    let short = format::duration(time);
    let exact = exact(time);
    if short == exact {
        return short;
    }
    format!("{short} ({exact})")
}

/// A point in time to the nanosecond.
pub(super) fn exact_time(at: Nanos) -> String {
    exact(Duration(at.0))
}

/// A duration to the nanosecond.
pub(super) fn exact(time: Duration) -> String {
    format!("{}{}ns", format::count(time.0), format::NBSP)
}

/// ` on capability 3`, if that is known.
pub(super) fn on_cap(cap: Option<CapId>) -> Cow<'static, str> {
    cap.map_or(Cow::Borrowed(""), |cap| {
        format!(" on capability {cap}").into()
    })
}
