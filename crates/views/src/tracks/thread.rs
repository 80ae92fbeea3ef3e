//! A thread: its runs, and what it waits for between them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::capability::Capability;
use super::details::{
    Details, DetailsQuery, Fact, Lead, exact, exact_duration, exact_time, on_cap,
};
use super::legend::{Explained, FROM, Made, Sample, Section, TO, buckets};
use super::thread_paint::paint;
use super::waves::wave;
use super::{Contents, Known, Listed, Log, Row, Shape, TrackKind, link};
use crate::scene::format;
use crate::scene::painter::Painter;
use crate::scene::strip::Strip;
use crate::tracks::group::Group;
use crate::tracks::item::{Item, Names, Shown};
use crate::tracks::words::{duration, several, thread_name, when};
use analysis::timeline::instants::InstantKind;
use analysis::timeline::thread_lane::{ThreadLane, ThreadRow};
use analysis::timeline::turns::{PARTS, Turn};
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use model::class::{Class, StopCode};
use model::lane::Lane;
use model::marks::{MarkKind, NONE, Packed, Payload, Writer, wide};
use model::time::Interval;

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Thread(pub ThreadId);

/// What a thread does in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs on a capability, if that is known.
    Runs(Option<CapId>),
    /// It waits.
    Waits {
        /// What stopped it.
        why: StopCode,
        /// The thread that owns the black hole waited for, if that is known.
        owner: Option<ThreadId>,
        /// How long the other part of the same wait is: the wait for a
        /// capability that follows a block, or the block before it.
        other: Duration,
    },
}

impl Payload for State {
    fn pack(self) -> Packed {
        match self {
            Self::Runs(cap) => Packed([NONE, cap.map_or(NONE, |cap| cap.0.into()), 0, 0]),
            Self::Waits { why, owner, other } => {
                let [high, low] = wide(other.0);
                let owner = owner.map_or(NONE, |owner| owner.0);
                Packed([why.0.into(), owner, high, low])
            }
        }
    }

    fn unpack(packed: Packed) -> Self {
        match packed.some(0) {
            None => {
                let cap = packed.some(1).and_then(|cap| u16::try_from(cap).ok());
                Self::Runs(cap.map(CapId))
            }
            Some(why) => Self::Waits {
                why: StopCode(why as u8),
                owner: packed.some(1).map(ThreadId),
                other: Duration(packed.wide(2)),
            },
        }
    }
}

impl TrackKind for Thread {
    type Payload = State;

    const GROUP: Group = Group::Threads;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Threads;

    fn link(self, _: &Contents) -> String {
        format!("thread{}", self.0)
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        let number = u32::try_from(link::number(link, "thread")?).ok()?;
        Some(Self(ThreadId(number)))
    }

    fn of_log(_: &Log<'_>) -> Vec<Listed> {
        Vec::new()
    }

    /// The page lists those that its filter lets through, and pinned ones.
    fn shown(known: &Known<'_>) -> Vec<Listed> {
        let listed = |row: &ThreadRow| {
            let labelled = row.label.as_deref().is_some_and(|label| !label.is_empty());
            let track = Listed::new(Self(row.id), thread_label(row));
            if labelled {
                track.note(format!("#{}", row.id))
            } else {
                track
            }
        };
        let is_new = |row: &&ThreadRow| known.threads.iter().all(|other| other.id != row.id);
        let pinned = known.pinned_threads.iter().filter(is_new);
        known.threads.iter().chain(pinned).map(listed).collect()
    }

    fn thread(self) -> Option<ThreadId> {
        Some(self.0)
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let Some(lane) = log.recording.store.thread_lane(self.0) else {
            return;
        };
        writer.lane(&lane, |i| match lane.code(i) {
            None => State::Runs(lane.cap(i)),
            Some(why) => State::Waits {
                why,
                owner: lane.owner(i),
                other: Duration(lane.other_wait_ns(i)),
            },
        });
    }

    fn paint<N: Names>(self, shown: &Shown<'_, N>, strip: &Strip<'_>, painter: &mut impl Painter) {
        paint(self, shown.marks, strip, painter);
    }

    fn spoken(self, title: &str) -> String {
        let number = format!("thread {}", self.0);
        if title == number {
            number
        } else {
            format!("{number}: {title}")
        }
    }

    fn describe(self, item: &Item, names: &impl Names) -> (String, String) {
        let name = thread_name(names, self.0);
        if item.kind == MarkKind::Many {
            let what = if item.count == 1 { "run" } else { "runs" };
            return (name, several(item, what));
        }
        let (duration, when) = (duration(item), when(item));
        let cap = on_cap(self.cap_of(item));
        let text = match item.class {
            Class::Running => format!("ran for {duration}{cap} · {when}"),
            Class::Open => format!("ran for {duration}{cap}, until the log ended · {when}"),
            _ => format!("{} · {when}", wait(item)),
        };
        (name, text)
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<Fact> {
        Details::of(log).of_thread(self.0, query)
    }

    /// Of a run its capability.
    fn cap_of(self, item: &Item) -> Option<CapId> {
        match item.read() {
            State::Runs(cap) => cap,
            State::Waits { .. } => None,
        }
    }

    fn class_of(self, item: &Item) -> Option<Class> {
        Some(item.class)
    }

    fn legend() -> Vec<Explained> {
        let of = |class| Sample::row(Thread(ThreadId(7)), vec![Made::span(class, FROM, TO)]);
        let several = buckets(|place| {
            vec![
                (Class::Running, wave(place, 0.7)),
                (Class::Blocked, 0.15),
                (Class::Ready, 0.05),
            ]
        });
        vec![
            Explained::new(
                "Running",
                "The thread runs Haskell code on a capability.",
                of(Class::Running),
            ),
            Explained::new(
                "Ready",
                "It could run, but no capability runs it: what blocked it is over, it yielded, its heap block was used up, its stack grows, or it is new.",
                of(Class::Ready),
            ),
            Explained::new(
                "Blocked",
                "It waits for a Haskell object: an MVar, a value that another thread computes (black hole), an STM retry, throwTo.",
                of(Class::Blocked),
            ),
            Explained::new(
                "In a foreign call",
                "It is in a safe foreign call; the capability does other work. A wait for a capability after the call is part of this: the log does not say when the call returned.",
                of(Class::Foreign),
            ),
            Explained::new(
                "Waiting for I/O",
                "It waits for a file, a socket or a delay, or the log gives no reason.",
                of(Class::Io),
            ),
            Explained::new(
                "Still running",
                "It was still running when the log ended.",
                of(Class::Open),
            ),
            Explained::new(
                "Several runs in a pixel",
                "The bar is as high as the share of the time in which it ran; the line has the colour of what it waited for most.",
                Sample::row(Thread(ThreadId(7)), several),
            ),
        ]
    }
}

/// A wait of a thread in words: what blocked it, and how long it then waited
/// until it ran.
fn wait(item: &Item) -> String {
    let duration = duration(item);
    let State::Waits { why, owner, other } = item.read() else {
        return format!("ran for {duration}");
    };
    let why = why.explanation(owner);
    let after = format::duration(other);
    match (item.class, other) {
        (Class::Ready, Duration::ZERO) => format!("was ready for {duration}: {why}"),
        (Class::Ready, _) => {
            format!("was ready for {duration}, after it was {why} for {after}")
        }
        (_, Duration::ZERO) => format!("was {why} for {duration}"),
        _ => format!("was {why} for {duration}, then was ready for {after}"),
    }
}

fn span_of((start, end): (u64, u64)) -> Interval {
    Interval::new(Nanos(start), Nanos(end))
}

impl Details<'_> {
    fn of_thread(&self, thread: ThreadId, query: &DetailsQuery) -> Vec<Fact> {
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
        let Some(index) = lane.exactly(query.span) else {
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
                format::time(run.start()),
                on_cap(cap),
                format::duration(run.duration())
            );
            let row = cap.map_or(Row::from(Thread(thread)), |cap| Capability(cap).into());
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
            let later = format::duration(run.start().since(Nanos(turn.part(2).1)));
            let text = format!("{later} later{}", on_cap(cap));
            let row = Thread(thread);
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
            fact = fact.leading(Lead::Other, Thread(owner), span);
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
            let at = blocked.start();
            let created = self.store.creator(thread, at);
            facts.extend(created.map(|(cap, by)| self.done_by("created by", by, cap, at)));
        } else {
            facts.push(Fact::new("waited before", why.explanation(None)));
            self.owner(lane.owner(PARTS * number), blocked.start().0, facts);
        }
        if !blocked.is_empty() {
            facts.push(Fact::new("blocked for", exact_duration(blocked.duration())));
        }
        if let Some(waking) = self.store.waking(thread, turn) {
            facts.push(self.done_by("woken by", waking.waker, waking.cap, waking.at));
        }
        if let Some((at, cap)) = self.store.moved(thread, turn) {
            let from = cap.map_or_else(String::new, |cap| format!("from capability {cap} "));
            facts.push(Fact::new("moved", format!("{from}at {}", format::time(at))));
        }
        if !ready.is_empty() {
            let text = exact_duration(ready.duration());
            facts.push(Fact::new("ready for", text));
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
                facts.push(Fact::new(
                    "of that",
                    format!("{} {what}", format::duration(Duration(ns))),
                ));
            }
        }
    }

    /// The thread that ran most of the time on the capability for which a thread
    /// waited; `None` if no other did, or they are too many to look at.
    fn mostly_behind(
        &self,
        lane: &ThreadLane<'_>,
        number: usize,
        ready: Interval,
    ) -> Option<ThreadId> {
        const MOST_RUNS: usize = 10_000;
        let cap = lane.cap(PARTS * number + 2)?;
        let runs = &self.store.cap(cap)?.runs;
        let first = runs.first_ending_after(ready.start().0);
        let end = runs.first_starting_at(ready.end().0);
        if end.saturating_sub(first) > MOST_RUNS {
            return None;
        }
        let mut times: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for place in first..end {
            let (from, to) = runs.span(place);
            let time = to
                .min(ready.end().0)
                .saturating_sub(from.max(ready.start().0));
            *times.entry(self.store.thread_of(cap, place)?).or_default() += time;
        }
        let most = times.into_iter().max_by_key(|&(_, time)| time);
        most.filter(|&(_, time)| time > 0).map(|(thread, _)| thread)
    }

    /// The first run of a thread from a time on, as words and as a place.
    fn next_run(&self, thread: ThreadId, at: Nanos) -> Option<(String, Row, Interval)> {
        let lane = self.store.thread_lane(thread)?;
        let number = lane.first_run_from(at.0);
        (number < lane.runs()).then_some(())?;
        let run = span_of(lane.turn(number).part(2));
        let cap = lane.cap(PARTS * number + 2);
        let later = exact(run.start().since(at));
        let text = format!("runs {later} later{}", on_cap(cap));
        Some((text, Thread(thread).into(), run))
    }

    /// An event about a thread, with where the thread ran then.
    pub(super) fn thread_event(&self, kind: InstantKind, thread: ThreadId, at: Nanos) -> Fact {
        let name = self.name(thread);
        let label = kind.singular();
        match self.next_run(thread, at) {
            Some((next, row, run)) => {
                let text = format!("{} · {name}, which {next}", exact_time(at));
                Fact::new(label, text).leading(Lead::Next, row, run)
            }
            None => Fact::new(label, format!("{} · {name}", exact_time(at))),
        }
    }
}

/// The name of a thread of which there is a label, or not.
fn thread_label(row: &ThreadRow) -> String {
    let label = row.label.clone().filter(|label| !label.is_empty());
    label.unwrap_or_else(|| format!("thread {}", row.id))
}
