//! Items of a thread: its waits and its runs, with what woke it.

use super::{Details, exact, on_cap};
use crate::scene::format;
use analysis::timeline::details::{DetailsQuery, Fact, Lead};
use analysis::timeline::instants::InstantKind;
use analysis::timeline::row::Row;
use analysis::timeline::threads::ThreadLane;
use analysis::timeline::turns::{PARTS, Turn};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::StopCode;
use model::lane::Lane;
use model::time::Span;

fn span_of((start, end): (u64, u64)) -> Span {
    Span::new(Nanos(start), Nanos(end))
}

impl Details<'_> {
    pub(super) fn of_thread(&self, thread: ThreadId, query: &DetailsQuery) -> Vec<Fact> {
        let mut facts = Vec::new();
        let Some(lane) = self.store.thread_lane(thread) else {
            return facts;
        };
        if query.many {
            let name = |index: usize| lane.class(index).name().to_owned();
            let what = ["run", "runs"];
            self.merged(query.row, query.span, &lane, what, name, &mut facts);
            return facts;
        }
        let from = lane.first_starting_at(query.span.start.0);
        let here = (from..lane.len()).take_while(|&i| lane.span(i).0 == query.span.start.0);
        let mut here = here.filter(|&i| lane.span(i).1 == query.span.end.0);
        let Some(index) = here.next() else {
            return facts;
        };
        match lane.run_place(index) {
            Some((Some(cap), place)) => self.run(cap, place, &mut facts),
            Some((None, _)) => self.duration_facts(query.span, &mut facts),
            None => self.wait(thread, &lane, index / PARTS, &mut facts),
        }
        facts
    }

    /// A wait: why, for how long, what ended it, and what came then.
    fn wait(&self, thread: ThreadId, lane: &ThreadLane<'_>, number: usize, facts: &mut Vec<Fact>) {
        let turn = lane.turn(number);
        self.before_run(thread, lane, (number, &turn), facts);
        if turn.code.is_some() {
            let run = span_of(turn.part(2));
            let cap = lane.cap(PARTS * number + 2);
            let text = format!(
                "at {}{}, for {}",
                format::time(run.start),
                on_cap(cap),
                format::duration(run.duration())
            );
            let row = cap.map_or(Row::Thread(thread), Row::Cap);
            facts.push(Fact::new("then ran", text).leading(Lead::Next, row, run));
        }
    }

    /// The wait before a run that is found by its start and capability, why
    /// the run ended, and when the thread ran again.
    pub(super) fn turn_of(
        &self,
        thread: ThreadId,
        (start, cap): (u64, CapId),
        facts: &mut Vec<Fact>,
    ) {
        let lane = self.store.thread_lane(thread);
        let Some((lane, number)) = lane.and_then(|lane| {
            let number = lane.run_of(start, cap)?;
            Some((lane, number))
        }) else {
            return;
        };
        let turn = lane.turn(number);
        self.ended(&lane, (number, &turn), facts);
        self.before_run(thread, &lane, (number, &turn), facts);
        let next = lane.turn(number + 1);
        if number + 1 < lane.runs() {
            let run = span_of(next.part(2));
            let cap = lane.cap(PARTS * (number + 1) + 2);
            let later = format::duration(run.start.since(Nanos(turn.part(2).1)));
            let text = format!("{later} later{}", on_cap(cap));
            let row = Row::Thread(thread);
            facts.push(Fact::new("ran again", text).leading(Lead::Other, row, run));
        }
    }

    /// Why a run ended, and whose black hole it was.
    fn ended(&self, lane: &ThreadLane<'_>, (number, turn): (usize, &Turn), facts: &mut Vec<Fact>) {
        let why = turn.code.unwrap_or(StopCode::OPEN);
        let text = why.explanation(None);
        facts.push(Fact::new("ended because", text));
        self.owner(lane.owner(PARTS * (number + 1)), turn.part(2).1, facts);
    }

    /// Who owned the black hole that a thread came to at a time.
    fn owner(&self, owner: Option<ThreadId>, at_ns: u64, facts: &mut Vec<Fact>) {
        let Some(owner) = owner else { return };
        let mut fact = Fact::new("owner of the black hole", self.name(owner));
        if let Some(span) = self.state_at(owner, Nanos(at_ns)) {
            fact = fact.leading(Lead::Other, Row::Thread(owner), span);
        }
        facts.push(fact);
    }

    /// The wait of a turn, and what ended it.
    fn before_run(
        &self,
        thread: ThreadId,
        lane: &ThreadLane<'_>,
        (number, turn): (usize, &Turn),
        facts: &mut Vec<Fact>,
    ) {
        let (blocked, ready) = (span_of(turn.part(0)), span_of(turn.part(1)));
        let why = turn.why;
        if why == StopCode::CREATED {
            self.created(thread, blocked.start, facts);
        } else {
            facts.push(Fact::new("waited before", why.explanation(None)));
            self.owner(lane.owner(PARTS * number), blocked.start.0, facts);
        }
        if blocked.duration() > Nanos(0) {
            facts.push(Fact::new(
                "blocked for",
                super::exact_duration(blocked.duration()),
            ));
        }
        if let Some(waking) = self.store.waking(thread, turn) {
            let by = waking
                .waker
                .map_or_else(|| "the runtime".to_owned(), |by| self.name(by));
            let text = format!("{by} at {}{}", format::time(waking.at), on_cap(waking.cap));
            let mut fact = Fact::new("woken by", text);
            let run = waking
                .cap
                .and_then(|cap| Some((cap, self.run_at(cap, waking.at)?)));
            if let Some((cap, run)) = run {
                fact = fact.leading(Lead::Waker, Row::Cap(cap), run);
            }
            facts.push(fact);
        }
        if let Some((at, cap)) = self.store.moved(thread, turn) {
            let from = cap.map_or_else(String::new, |cap| format!("from capability {cap} "));
            facts.push(Fact::new("moved", format!("{from}at {}", format::time(at))));
        }
        if ready.duration() > Nanos(0) {
            let text = super::exact_duration(ready.duration());
            facts.push(Fact::new("waited for a capability", text));
        }
    }

    /// Who created a thread.
    fn created(&self, thread: ThreadId, at: Nanos, facts: &mut Vec<Fact>) {
        let Some((cap, by)) = self.store.creator(thread, at) else {
            return;
        };
        let by = by.map_or_else(|| "the runtime".to_owned(), |by| self.name(by));
        let text = format!("{by} at {}{}", format::time(at), on_cap(cap));
        let mut fact = Fact::new("created by", text);
        let run = cap.and_then(|cap| Some((cap, self.run_at(cap, at)?)));
        if let Some((cap, run)) = run {
            fact = fact.leading(Lead::Waker, Row::Cap(cap), run);
        }
        facts.push(fact);
    }

    /// The first run of a thread from a time on, as words and as a place.
    pub(super) fn next_run(&self, thread: ThreadId, at: Nanos) -> Option<(String, Row, Span)> {
        let lane = self.store.thread_lane(thread)?;
        let number = lane.first_run_from(at.0);
        (number < lane.runs()).then_some(())?;
        let run = span_of(lane.turn(number).part(2));
        let cap = lane.cap(PARTS * number + 2);
        let later = exact(run.start.since(at));
        let text = format!("runs {later} later{}", on_cap(cap));
        Some((text, Row::Thread(thread), run))
    }

    /// An event about a thread, with where the thread ran then.
    pub(super) fn thread_event(&self, kind: InstantKind, thread: ThreadId, at: Nanos) -> Fact {
        let name = self.name(thread);
        let label = kind.singular();
        match self.next_run(thread, at) {
            Some((next, row, run)) => {
                let text = format!("{} · {name}, which {next}", exact(at));
                Fact::new(label, text).leading(Lead::Next, row, run)
            }
            None => Fact::new(label, format!("{} · {name}", exact(at))),
        }
    }
}
