//! Details of a thread's items. For a wait: reason, waker, and what the capability did meanwhile. For a run: what
//! preceded and followed it.

use super::TrackId;
use super::capability::Capability;
use super::collections::Collections;
use super::details::{
    DetailField, Details, DetailsQuery, LinkRelation, exact, exact_duration, exact_time, on_cap,
};
use super::thread::Thread;
use analysis::timeline::cap_activity::CapActivity;
use analysis::timeline::flow::WakeEvent;
use analysis::timeline::instants::InstantKind;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::{PARTS, Turn};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{Class, StopCode};
use model::lane::Lane;
use model::time::Interval;
use scene::format;

/// Label of the fact about the waker of a wait.
const WOKEN_BY: &str = "woken by";

impl Details<'_> {
    pub(super) fn thread_facts(&self, thread: ThreadId, query: &DetailsQuery) -> Vec<DetailField> {
        let mut facts = Vec::new();
        let Some(lane) = self.store.thread_lane(thread) else {
            return facts;
        };
        if query.many {
            // Of a single wait, the time behind other threads, in collections and beside idle capabilities is not
            // divided here.
            let name = |index: usize| match lane.class(index) {
                Class::Ready => "ready".to_owned(),
                class => class.name().to_owned(),
            };
            let what = ["run", "runs"];
            self.merged_facts(query.row, query.span, &lane, what, name, &mut facts);
            return facts;
        }
        let Some(index) = lane.find_exact(query.span) else {
            return facts;
        };
        match lane.run_index(index) {
            Some((Some(cap), place)) => self.run(cap, place, &mut facts),
            Some((None, _)) => self.duration_facts(query.span, &mut facts),
            None => self.wait(thread, &lane, index, &mut facts),
        }
        facts
    }

    /// Adds the details of a wait: reason, duration, waker, the run that followed, and the activity meanwhile.
    fn wait(
        &self,
        thread: ThreadId,
        lane: &ThreadLane<'_>,
        index: usize,
        facts: &mut Vec<DetailField>,
    ) {
        let number = index / PARTS;
        let turn = lane.turn(number);
        self.before_run(thread, lane, (number, &turn), facts);
        let woken = facts.iter().position(|fact| fact.label == WOKEN_BY);
        let wake_event = self.store.wake_event(thread, &turn);
        if let Some((at, wake_event)) = woken.zip(wake_event) {
            facts.splice(at + 1..at + 1, self.wake_event(&wake_event));
        }
        if turn.code.is_some() {
            let run = span_of(turn.run_span());
            let cap = lane.cap(PARTS * number + 2);
            let text = format!(
                "at {}{}, for {}",
                format::time(run.start()),
                on_cap(cap),
                format::duration(run.duration())
            );
            let row = cap.map_or(TrackId::from(Thread(thread)), |cap| Capability(cap).into());
            facts.push(DetailField::new("then ran", text).linked_as(LinkRelation::Next, row, run));
        }
        self.cap_activity(lane, (number, &turn), index % PARTS, facts);
    }

    /// Returns links to the waker on its own track, and to the wakeup event.
    fn wake_event(&self, wake_event: &WakeEvent) -> Vec<DetailField> {
        let waker = wake_event.waker;
        let there = waker.and_then(|waker| Some((waker, self.state_at(waker, wake_event.at)?)));
        let waker = there.map(|(waker, span)| {
            let fact = DetailField::new("the waker", self.name(waker));
            fact.linked_to(Thread(waker), span)
        });
        let text = format!(
            "{} at {}",
            wake_event.kind.singular(),
            exact_time(wake_event.at)
        );
        let event =
            DetailField::new("the event", text).linked_to_event(wake_event.at, wake_event.cap);
        waker.into_iter().chain([event]).collect()
    }

    /// Adds, for a run identified by start and capability, the wait before it, the reason why it ended, and the
    /// next run.
    pub(super) fn turn_of(
        &self,
        thread: ThreadId,
        (start, cap): (u64, CapId),
        facts: &mut Vec<DetailField>,
    ) {
        let lane = self.store.thread_lane(thread);
        let Some((lane, number)) = lane.and_then(|lane| {
            let number = lane.run_of(start, cap)?;
            Some((lane, number))
        }) else {
            return;
        };
        let turn = lane.turn(number);
        self.end_facts(&lane, (number, &turn), facts);
        self.before_run(thread, &lane, (number, &turn), facts);
        let next = lane.turn(number + 1);
        if number + 1 < lane.runs() {
            let run = span_of(next.run_span());
            let cap = lane.cap(PARTS * (number + 1) + 2);
            let later = format::duration(run.start().since(Nanos(turn.run_span().1)));
            let text = format!("{later} later{}", on_cap(cap));
            let row = Thread(thread);
            facts.push(DetailField::new("ran again", text).linked_to(row, run));
        }
    }

    /// Adds the reason why a run ended, and the owner of a black hole that blocked the thread.
    fn end_facts(
        &self,
        lane: &ThreadLane<'_>,
        (number, turn): (usize, &Turn),
        facts: &mut Vec<DetailField>,
    ) {
        let why = turn.code.unwrap_or(StopCode::OPEN);
        let text = why.explanation(None);
        facts.push(DetailField::new("ended because", text));
        self.owner(lane.owner(PARTS * (number + 1)), turn.run_span().1, facts);
    }

    /// Adds the owner of a black hole that blocked the thread at a time.
    fn owner(&self, owner: Option<ThreadId>, at_ns: u64, facts: &mut Vec<DetailField>) {
        let Some(owner) = owner else { return };
        let mut fact = DetailField::new("owner of the black hole", self.name(owner));
        if let Some(span) = self.state_at(owner, Nanos(at_ns)) {
            fact = fact.linked_to(Thread(owner), span);
        }
        facts.push(fact);
    }

    /// Adds the wait before a run, and what ended it.
    fn before_run(
        &self,
        thread: ThreadId,
        lane: &ThreadLane<'_>,
        (number, turn): (usize, &Turn),
        facts: &mut Vec<DetailField>,
    ) {
        let (blocked, ready) = (span_of(turn.blocked_span()), span_of(turn.runnable_span()));
        let why = turn.last_stop;
        if why == StopCode::CREATED {
            let at = blocked.start();
            let created = self.store.creator(thread, at);
            facts.extend(created.map(|(cap, by)| self.action_fact("created by", by, cap, at)));
        } else {
            let text = why.wait_explanation(None, turn.woken_by);
            facts.push(DetailField::new("waited before", text));
            self.owner(lane.owner(PARTS * number), blocked.start().0, facts);
        }
        if !blocked.is_empty() {
            facts.push(DetailField::new(
                "blocked for",
                exact_duration(blocked.duration()),
            ));
        }
        if let Some(wake_event) = self.store.wake_event(thread, turn) {
            facts.push(self.action_fact(WOKEN_BY, wake_event.waker, wake_event.cap, wake_event.at));
        }
        if let Some((at, cap)) = self.store.last_migration(thread, turn) {
            let from = cap.map_or_else(String::new, |cap| format!("from capability {cap} "));
            facts.push(DetailField::new(
                "moved",
                format!("{from}at {}", format::time(at)),
            ));
        }
        if !ready.is_empty() {
            let text = exact_duration(ready.duration());
            facts.push(DetailField::new("ready for", text));
            let parts = turn.ready_parts();
            let behind = match self.mostly_behind(lane, number, ready) {
                Some(thread) => format!("behind other threads, mostly {}", self.name(thread)),
                None => "behind other threads".to_owned(),
            };
            let parts = [
                ("in collections".to_owned(), parts.paused_ns),
                (behind, turn.behind_ns()),
                ("while a capability was idle".to_owned(), parts.idle_ns),
            ];
            for (what, ns) in parts.into_iter().filter(|&(_, ns)| ns > 0) {
                facts.push(DetailField::new(
                    "of that",
                    format!("{} {what}", format::duration_ns(ns)),
                ));
            }
        }
    }

    /// Returns the thread that ran longest on the capability for which a thread waited; `None` if none ran, or if
    /// there were too many runs to examine.
    fn mostly_behind(
        &self,
        lane: &ThreadLane<'_>,
        number: usize,
        ready: Interval,
    ) -> Option<ThreadId> {
        let cap = lane.cap(PARTS * number + 2)?;
        let cap_activity = self.store.cap_activity(cap, ready)?;
        let most = cap_activity.threads.first()?;
        (cap_activity.examined_until == ready.end()).then_some(most.thread)
    }

    /// Adds the activity of a capability during a part of a wait: while blocked, the capability that the thread
    /// had left; otherwise, the one on which it then ran.
    fn cap_activity(
        &self,
        lane: &ThreadLane<'_>,
        (number, turn): (usize, &Turn),
        part: usize,
        facts: &mut Vec<DetailField>,
    ) {
        /// Maximum number of threads listed individually.
        const NAMED: usize = 4;
        let stretch = span_of(turn.part(part));
        let left = || lane.cap(PARTS * number.checked_sub(1)? + 2);
        let next = || lane.cap(PARTS * number + 2);
        let cap = if part == 0 {
            left().or_else(next)
        } else {
            next().or_else(left)
        };
        let told = cap.and_then(|cap| Some((cap, self.store.cap_activity(cap, stretch)?)));
        let Some((cap, cap_activity)) = told.filter(|_| !stretch.is_empty()) else {
            return;
        };
        let share = |ns: u64| {
            let percent = format::percent(ns, stretch.duration().0);
            format!("{}, {percent}", format::duration_ns(ns))
        };
        let row = Capability(cap);
        let label = format!("meanwhile capability {cap}");
        let times = &cap_activity.times;
        let parts = [
            ("ran threads", times.running_ns),
            (
                "in collections",
                times.collection_cost_ns() + times.census_ns,
            ),
            ("idle", times.all_idle_ns()),
            ("unknown", times.unknown_ns),
        ];
        let parts = parts.into_iter().filter(|&(_, ns)| ns > 0);
        let parts: Vec<String> = parts
            .map(|(what, ns)| format!("{what} {}", format::percent(ns, stretch.duration().0)))
            .collect();
        facts.push(DetailField::new(label, parts.join(", ")));
        for ran in cap_activity.threads.iter().take(NAMED) {
            let text = format!("{} for {}", self.name(ran.thread), share(ran.ns));
            facts.push(DetailField::new("ran there", text).linked_to(row, ran.longest));
        }
        let others = cap_activity.threads.get(NAMED..).unwrap_or_default();
        if !others.is_empty() {
            let ns = others.iter().map(|ran| ran.ns).sum();
            let many = format::pluralize(others.len() as u64, "other thread");
            facts.push(DetailField::new(
                "ran there",
                format!("{many} for {}", share(ns)),
            ));
        }
        if cap_activity.examined_until < stretch.end() {
            let many = format::count(CapActivity::MAX_RUNS as u64);
            let until = format::time(cap_activity.examined_until);
            let text = format!("only the first {many} runs there, until {until}");
            facts.push(DetailField::new("examined", text));
        }
        if let Some(pause) = cap_activity.collection {
            let text = format!("longest for {}", format::duration(pause.duration()));
            let fact = DetailField::new("all collected", text);
            facts.push(fact.linked_to(Collections, pause));
        }
    }

    /// Describes the first run of a thread from a time on, with its track and interval.
    fn next_run(&self, thread: ThreadId, at: Nanos) -> Option<(String, TrackId, Interval)> {
        let lane = self.store.thread_lane(thread)?;
        let number = lane.first_run_from(at.0);
        (number < lane.runs()).then_some(())?;
        let run = span_of(lane.turn(number).run_span());
        let cap = lane.cap(PARTS * number + 2);
        let later = exact(run.start().since(at));
        let text = format!("runs {later} later{}", on_cap(cap));
        Some((text, Thread(thread).into(), run))
    }

    /// Returns a fact about an event of a thread, linked to the run that followed.
    pub(super) fn thread_event(
        &self,
        kind: InstantKind,
        thread: ThreadId,
        at: Nanos,
    ) -> DetailField {
        let name = self.name(thread);
        let label = kind.singular();
        match self.next_run(thread, at) {
            Some((next, row, run)) => {
                let text = format!("{} · {name}, which {next}", exact_time(at));
                DetailField::new(label, text).linked_as(LinkRelation::Next, row, run)
            }
            None => DetailField::new(label, format!("{} · {name}", exact_time(at))),
        }
    }
}

fn span_of((start, end): (u64, u64)) -> Interval {
    Interval::new(Nanos(start), Nanos(end))
}
