//! Items of a capability: runs, and parts of collections.

use super::{Details, MOST_LISTED, exact_duration};
use crate::scene::format;
use analysis::timeline::details::{DetailsQuery, Fact, Lead};
use analysis::timeline::row::Row;
use eventlog::ids::{CapId, Nanos};
use model::class::Class;
use model::lane::Lane;
use model::time::Span;

/// The place of the span of a lane that is exactly this one.
fn place_of(lane: &impl Lane, span: Span) -> Option<usize> {
    let from = lane.first_starting_at(span.start.0);
    let here = (from..lane.len()).take_while(|&i| lane.span(i).0 == span.start.0);
    let mut here = here.filter(|&i| lane.span(i).1 == span.end.0);
    here.next()
}

impl Details<'_> {
    pub(super) fn of_cap(&self, cap: CapId, query: &DetailsQuery) -> Vec<Fact> {
        let mut facts = Vec::new();
        let Some(lanes) = self.store.cap(cap) else {
            return facts;
        };
        if query.many {
            self.many_of_cap(cap, query.span, &mut facts);
        } else if let Some(place) = place_of(&lanes.runs, query.span) {
            self.run(cap, place, &mut facts);
        } else if let Some(place) = place_of(&lanes.phases, query.span) {
            self.collection(cap, place, &mut facts);
        }
        facts
    }

    fn many_of_cap(&self, cap: CapId, span: Span, facts: &mut Vec<Fact>) {
        let Some(lanes) = self.store.cap(cap) else {
            return;
        };
        let thread = |place| {
            let thread = self.store.thread_of(cap, place);
            thread.map_or_else(String::new, |thread| self.name(thread))
        };
        let row = Row::Cap(cap);
        let what = ["run of a thread", "runs of threads"];
        self.merged(row, span, &lanes.runs, what, thread, facts);
        let phases = &lanes.phases;
        let phase = |place| phases.class(place).name().to_owned();
        let what = ["collection", "collections"];
        self.merged(row, span, phases, what, phase, facts);
    }

    /// A run, by its place in the lane of its capability.
    pub(super) fn run(&self, cap: CapId, place: usize, facts: &mut Vec<Fact>) {
        let (Some(lanes), Some(thread)) = (self.store.cap(cap), self.store.thread_of(cap, place))
        else {
            return;
        };
        let (start, end) = lanes.runs.span(place);
        let span = Span::new(Nanos(start), Nanos(end));
        let fact = Fact::new("thread", self.name(thread));
        facts.push(fact.leading(Lead::Other, Row::Thread(thread), span));
        facts.push(Fact::new("capability", cap.to_string()));
        self.duration_facts(span, facts);
        self.turn_of(thread, (start, cap), facts);
        let neighbours = [
            (place.checked_sub(1), "ran here before", Lead::Other),
            (place.checked_add(1), "ran here next", Lead::Next),
        ];
        for (place, label, lead) in neighbours {
            let neighbour = place.and_then(|place| self.neighbour(cap, place, span));
            if let Some((text, at)) = neighbour {
                facts.push(Fact::new(label, text).leading(lead, Row::Cap(cap), at));
            }
        }
    }

    /// Another run of the same capability, and how far it is from this one.
    fn neighbour(&self, cap: CapId, place: usize, span: Span) -> Option<(String, Span)> {
        let (start, end) = self.store.cap(cap)?.runs.span_at(place)?;
        let other = Span::new(Nanos(start), Nanos(end));
        let name = self.name(self.store.thread_of(cap, place)?);
        let ran = format::duration(other.duration());
        let apart = if other.start >= span.end {
            format!("{} later", format::duration(other.start.since(span.end)))
        } else {
            format!("{} earlier", format::duration(span.start.since(other.end)))
        };
        Some((format!("{name}, {apart}, for {ran}"), other))
    }

    /// The collection that a phase belongs to, phase by phase.
    fn collection(&self, cap: CapId, place: usize, facts: &mut Vec<Fact>) {
        let Some(lanes) = self.store.cap(cap) else {
            return;
        };
        let phases = &lanes.phases;
        let span = |i: usize| {
            let (start, end) = phases.span(i);
            Span::new(Nanos(start), Nanos(end))
        };
        let places = phases.collection_of(place);
        let mut parts = places.clone().filter(|&i| phases.class(i).is_gc());
        if let Some(first) = parts.next() {
            let last = parts.next_back().unwrap_or(first);
            let whole = Span::new(span(first).start, span(last).end);
            let text = format!(
                "{} on capability {cap}, {} – {}",
                exact_duration(whole.duration()),
                format::time(whole.start),
                format::time(whole.end),
            );
            facts.push(Fact::new("collection", text));
            self.duration_facts(span(place), facts);
        }
        if places.len() > MOST_LISTED {
            // Idle and done take turns while the others work.
            let name = |place: usize| phases.class(place).name().to_owned();
            let (start, end) = (span(places.start).start, span(places.end - 1).end);
            let what = ["collection", "collections"];
            let whole = Span::new(start, end);
            self.merged(Row::Cap(cap), whole, phases, what, name, facts);
            return;
        }
        for i in places {
            let label = match phases.class(i) {
                Class::GcSync => "waited for all to stop",
                Class::GcStart => "began",
                Class::GcIdle => "was idle",
                Class::GcDone => "was done",
                _ => "worked",
            };
            let here = if i == place { " (this)" } else { "" };
            let text = format!("{}{here}", exact_duration(span(i).duration()));
            let fact = Fact::new(label, text);
            facts.push(fact.leading(Lead::Other, Row::Cap(cap), span(i)));
        }
    }
}
