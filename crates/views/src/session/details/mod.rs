//! What is known of one item of the timeline beyond what its mark says. Each
//! kind of row has a file.

mod cap;
mod collections;
mod graph;
mod instants;
mod profile;
mod spans;
mod thread;

use std::borrow::Cow;

use super::Session;
use crate::scene::format;
use crate::scene::item::Names;
use crate::scene::words::thread_name;
use analysis::timeline::details::{DetailsQuery, Fact, Lead};
use analysis::timeline::messages::Messages;
use analysis::timeline::row::Row;
use analysis::timeline::store::Store;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{Class, ClassTimes};
use model::lane::Lane;
use model::time::Span;

/// So many of a kind are listed one by one; of more, only how many they are.
const MOST_LISTED: usize = 12;

/// Threads are called by their labels, once the log is read to its end.
impl Names for Store {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.label_of(thread)
    }
    fn message(&self, _: u32) -> Option<&str> {
        None
    }
}

impl Session {
    /// What is known of an item beyond its mark.
    #[must_use]
    pub fn details(&self, query: &DetailsQuery) -> Vec<Fact> {
        let details = Details {
            store: &self.recording.store,
            messages: &self.recording.messages,
            log: self.span(),
        };
        match query.row {
            Row::Cap(cap) => details.of_cap(cap, query),
            Row::Thread(thread) => details.of_thread(thread, query),
            Row::Instants(cap) => details.of_instants(cap, query.span),
            Row::Messages => details.of_messages(query.span),
            Row::Collections => self.collection_details(query),
            Row::Nonmoving => self.nonmoving_details(query),
            Row::UserSpan(number) => self.user_span_details(number, query),
            Row::Task(task) => self.task_details(task, query),
            Row::Blocks(cap) => self.block_details(cap, query),
            Row::ForeignCalls(of) => self.call_details(&details, of, query),
            Row::Samples(cap) => self.sample_details(&details, cap, query),
            Row::Activity => self.activity_details(query),
            Row::Graph(_) | Row::Sparks(..) | Row::Perf(_) => self.graph_details(query),
        }
    }
}

/// What the facts come from.
#[derive(Clone, Copy, Debug)]
struct Details<'a> {
    store: &'a Store,
    messages: &'a Messages,
    /// The time of the whole log.
    log: Option<Span>,
}

impl Details<'_> {
    fn name(&self, thread: ThreadId) -> String {
        thread_name(self.store, thread)
    }

    /// How long something took, to the nanosecond, and its share of the log.
    fn duration_facts(&self, span: Span, facts: &mut Vec<Fact>) {
        facts.push(Fact::new("duration", exact_duration(span.duration())));
        if let Some(log) = self.log.filter(|log| log.duration().0 > 0) {
            let share = format::percent(span.duration().0, log.duration().0);
            facts.push(Fact::new("share of the log", share));
        }
    }

    /// The item of a capability that lies at a time: its run.
    fn run_at(&self, cap: CapId, at: Nanos) -> Option<Span> {
        let runs = &self.store.cap(cap)?.runs;
        let (start, end) = runs.span(runs.at(at.0, &mut 0)?);
        Some(Span::new(Nanos(start), Nanos(end)))
    }

    /// The item of a thread that lies at a time.
    fn state_at(&self, thread: ThreadId, at: Nanos) -> Option<Span> {
        let lane = self.store.thread_lane(thread)?;
        let index = lane.first_ending_after(at.0);
        let (start, end) = (index < lane.len()).then(|| lane.span(index))?;
        (start <= at.0).then(|| Span::new(Nanos(start), Nanos(end)))
    }

    /// What a lane has in a stretch: how many, the time of each class, and the
    /// longest span with its name, as a fact that leads to it.
    fn merged(
        &self,
        row: Row,
        span: Span,
        lane: &impl Lane,
        what: [&str; 2],
        name: impl Fn(usize) -> String,
        facts: &mut Vec<Fact>,
    ) {
        let from = lane.first_starting_at(span.start.0);
        let to = lane.first_starting_at(span.end.0).max(from);
        let times = lane.time_in(span);
        if from == to && times == ClassTimes::default() {
            return;
        }
        let count = lane.count(from, to) as u64;
        let [one, several] = what;
        let what = if count == 1 { one } else { several };
        let text = format!("{} {what}", format::count(count));
        facts.push(Fact::new("begin here", text));
        for (class, &time) in Class::ALL.iter().zip(&times).filter(|(_, time)| **time > 0) {
            let share = format::percent(time, span.duration().0);
            let text = format!("{}, {share} of this stretch", exact_duration(Nanos(time)));
            facts.push(Fact::new(class.name(), text));
        }
        if let Some(longest) = (from < to).then(|| lane.longest(from, to)).flatten() {
            let (start, end) = lane.span(longest);
            let longest_span = Span::new(Nanos(start), Nanos(end));
            let duration = exact_duration(longest_span.duration());
            let fact = Fact::new("the longest", format!("{}, {duration}", name(longest)));
            facts.push(fact.leading(Lead::Other, row, longest_span));
        }
    }
}

/// A duration for people and to the nanosecond.
fn exact_duration(time: Nanos) -> String {
    let short = format::duration(time);
    let exact = exact(time);
    if short == exact {
        return short;
    }
    format!("{short} ({exact})")
}

/// A time to the nanosecond.
fn exact(time: Nanos) -> String {
    format!("{}{}ns", format::count(time.0), format::NBSP)
}

/// ` on capability 3`, if that is known.
fn on_cap(cap: Option<CapId>) -> Cow<'static, str> {
    cap.map_or(Cow::Borrowed(""), |cap| {
        format!(" on capability {cap}").into()
    })
}
