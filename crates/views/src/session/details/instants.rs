//! Events at points in time, and messages.

use super::{Details, MOST_LISTED, exact, on_cap};
use crate::scene::format;
use analysis::timeline::details::{Fact, Lead};
use analysis::timeline::instants::InstantKind;
use analysis::timeline::messages::MessageKind;
use analysis::timeline::row::Row;
use eventlog::ids::{CapId, Nanos};
use model::time::Span;

impl Details<'_> {
    /// What happened on a capability from a time to another, both included.
    pub(super) fn of_instants(&self, cap: CapId, span: Span) -> Vec<Fact> {
        let range = (span.start.0, span.end.0.max(span.start.0));
        let counts = self.store.instant_counts(cap, range);
        let total: usize = counts.iter().map(|(_, count)| count).sum();
        if total > MOST_LISTED {
            let fact = |(kind, count): (InstantKind, usize)| {
                let what = match count {
                    1 => kind.singular(),
                    _ => kind.plural(),
                };
                Fact::new(what, format::count(count as u64))
            };
            return counts.into_iter().map(fact).collect();
        }
        let list = self.store.instant_list(cap, range, MOST_LISTED);
        let facts = list.into_iter().map(|(kind, at, thread)| match thread {
            Some(thread) => self.thread_event(kind, thread, at),
            None => {
                let text = self.message_text(kind, cap, at);
                let text = text.map_or_else(String::new, |text| format!(" · {text}"));
                Fact::new(kind.singular(), format!("{}{text}", exact(at)))
            }
        });
        facts.collect()
    }

    /// What a message or marker says that a capability wrote at a time.
    fn message_text(&self, kind: InstantKind, cap: CapId, at: Nanos) -> Option<String> {
        let kind = match kind {
            InstantKind::Message => MessageKind::Message,
            InstantKind::Marker => MessageKind::Marker,
            _ => return None,
        };
        let places = self.messages.places(Span::new(at, at)).take(MOST_LISTED);
        let mut messages = places.filter_map(|place| self.messages.get(place));
        let found = messages.find(|one| one.kind == kind && one.cap == Some(cap))?;
        Some(found.text)
    }

    /// The messages from a time to another, both included.
    pub(super) fn of_messages(&self, span: Span) -> Vec<Fact> {
        let places = self.messages.places(span);
        let more = places.len().saturating_sub(MOST_LISTED);
        let mut facts: Vec<Fact> = places
            .take(MOST_LISTED)
            .filter_map(|place| self.message_fact(place))
            .collect();
        if more > 0 {
            let text = format!("{} more", format::count(more as u64));
            facts.push(Fact::new("and", text));
        }
        facts
    }

    fn message_fact(&self, place: usize) -> Option<Fact> {
        let message = self.messages.get(place)?;
        let at = message.time;
        let label = match message.kind {
            MessageKind::Message => "message",
            MessageKind::Marker => "marker",
        };
        let label = format!("{label} at {}{}", exact(at), on_cap(message.cap));
        let fact = Fact::new(label, message.text);
        let by = message.cap.and_then(|cap| {
            let thread = self.store.running(cap, at, &mut 0)?;
            Some((thread, self.run_at(cap, at)?))
        });
        Some(match by {
            Some((thread, run)) => fact.leading(Lead::Other, Row::Thread(thread), run),
            None => fact,
        })
    }
}
