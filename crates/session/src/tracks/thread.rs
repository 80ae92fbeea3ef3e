//! Thread tracks: runs, and the waits between them.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, Details, DetailsQuery, on_cap};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO, buckets};
use super::sample_data::wave;
use super::thread_paint::paint;
use super::{Log, Shape, TrackEntry, TrackKind, TrackListInput, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{duration, several, thread_name, when};
use analysis::timeline::thread_lane::ThreadListRow;
use eventlog::ids::{CapId, Duration, ThreadId};
use model::class::{Class, ManagerThread, StopCode};
use model::marks::{MarkKind, MarkWriter, NONE, PackedPayload, Payload, split_u64};
use scene::format;
use scene::painter::Painter;

/// Track of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Thread(pub ThreadId);

/// State of a thread during a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Running on a capability, if that is known.
    Runs(Option<CapId>),
    /// Not running: blocked, or waiting for a capability.
    Waits {
        /// Reason why the previous run stopped.
        why: StopCode,
        /// Owner of the black hole that blocks the thread, if known.
        owner: Option<ThreadId>,
        /// I/O or timer manager of the runtime that ended the wait, if one did.
        woken_by: Option<ManagerThread>,
        /// Duration of the other part of the same wait: the wait for a capability after a block, or the block
        /// before it.
        other: Duration,
    },
}

impl Payload for State {
    fn pack(self) -> PackedPayload {
        match self {
            Self::Runs(cap) => PackedPayload([NONE, cap.map_or(NONE, |cap| cap.0.into()), 0, 0]),
            Self::Waits {
                why,
                owner,
                woken_by,
                other,
            } => {
                let [high, low] = split_u64(other.0);
                let manager = woken_by.map_or(0, ManagerThread::number);
                let owner = owner.map_or(NONE, |owner| owner.0);
                PackedPayload([u32::from(why.0) | u32::from(manager) << 8, owner, high, low])
            }
        }
    }

    fn unpack(packed: PackedPayload) -> Self {
        match packed.optional_word(0) {
            None => {
                let cap = packed
                    .optional_word(1)
                    .and_then(|cap| u16::try_from(cap).ok());
                Self::Runs(cap.map(CapId))
            }
            Some(why) => Self::Waits {
                why: StopCode(why as u8),
                owner: packed.optional_word(1).map(ThreadId),
                woken_by: ManagerThread::from_number((why >> 8) as u8),
                other: Duration(packed.u64_at(2)),
            },
        }
    }
}

impl TrackKind for Thread {
    type Payload = State;

    const GROUP: TrackGroup = TrackGroup::Threads;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Threads;

    link::number_link!("thread", |thread| Self(ThreadId(thread)));

    fn entries_in_log(_: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        Vec::new()
    }

    /// Lists the threads that pass the page's filter, and pinned ones.
    fn entries_to_show(known: &TrackListInput<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |row: &ThreadListRow| {
            let labelled = row.label.as_deref().is_some_and(|label| !label.is_empty());
            let track = TrackEntry::new(Self(row.id), thread_label(row));
            if labelled {
                track.note(format!("#{}", row.id))
            } else {
                track
            }
        };
        let is_new =
            move |row: &&ThreadListRow| known.threads.iter().all(|other| other.id != row.id);
        let pinned = known.pinned_threads.iter().filter(is_new);
        known.threads.iter().chain(pinned).map(listed)
    }

    fn thread(self) -> Option<ThreadId> {
        Some(self.0)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let Some(lane) = log.recording.store.thread_lane(self.0) else {
            return;
        };
        writer.lane(&lane, |i| match lane.code(i) {
            None => State::Runs(lane.cap(i)),
            Some(why) => State::Waits {
                why,
                owner: lane.owner(i),
                woken_by: lane.woken_by(i),
                other: Duration(lane.other_wait_ns(i)),
            },
        });
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        paint(self, shown.marks, &shown.strip, painter);
    }

    fn name_in_sentence(self, title: &str) -> String {
        let number = format!("thread {}", self.0);
        if title == number {
            number
        } else {
            format!("{number}: {title}")
        }
    }

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
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

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        Details::for_log(log).thread_facts(self.0, query)
    }

    /// Returns the capability of a run.
    fn cap_of(self, item: &Item) -> Option<CapId> {
        match item.read() {
            State::Runs(cap) => cap,
            State::Waits { .. } => None,
        }
    }

    fn class_of(self, item: &Item) -> Option<Class> {
        Some(item.class)
    }

    fn legend() -> Vec<LegendEntry> {
        let of =
            |class| LegendSample::row(Thread(ThreadId(7)), vec![LegendMark::span(class, FROM, TO)]);
        let several = buckets(|place| {
            vec![
                (Class::Running, wave(place, 0.7)),
                (Class::Mvar, 0.15),
                (Class::Ready, 0.05),
            ]
        });
        vec![
            LegendEntry::new(
                "Running",
                "The thread runs Haskell code on a capability.",
                of(Class::Running),
            ),
            LegendEntry::new(
                "Ready",
                "It could run, but no capability runs it: it was woken, it yielded, its allocation block was full, its stack overflowed its chunk, or it is new.",
                of(Class::Ready),
            ),
            LegendEntry::new(
                "Blocked on an MVar",
                "It waits until another thread fills the MVar, or empties it. Channels and locks are made of MVars.",
                of(Class::Mvar),
            ),
            LegendEntry::new(
                "Blocked in an STM retry",
                "It waits until another thread changes one of the variables that its transaction read.",
                of(Class::Stm),
            ),
            LegendEntry::new(
                "Blocked on a black hole",
                "It needs a thunk that another thread is evaluating.",
                of(Class::BlackHole),
            ),
            LegendEntry::new(
                "Blocked in throwTo",
                "It waits until another thread has received its exception.",
                of(Class::ThrowTo),
            ),
            LegendEntry::new(
                "In a foreign call",
                "It is in a safe foreign call; the capability does other work. Includes the wait for a capability after the call: the time of the return is not logged.",
                of(Class::Foreign),
            ),
            LegendEntry::new(
                "Sleeping",
                "It waits in threadDelay, or for a timeout. With -threaded the log contains a wait for an MVar, recognized because the runtime's TimerManager thread ends it.",
                of(Class::Sleeping),
            ),
            LegendEntry::new(
                "Waiting for I/O",
                "It waits for a file or a socket, as logged, or because one of the runtime's IOManager threads ended the wait. Or the log has no reason.",
                of(Class::Io),
            ),
            LegendEntry::new(
                "Still running",
                "It was still running when the log ended.",
                of(Class::Open),
            ),
            LegendEntry::new(
                "Several runs in a pixel",
                "Bar height: share of the time in which it ran. Line color: the longest wait reason.",
                LegendSample::row(Thread(ThreadId(7)), several),
            ),
        ]
    }
}

/// Describes a wait: what blocked the thread, and how long it then waited for a capability.
fn wait(item: &Item) -> String {
    let duration = duration(item);
    let State::Waits {
        why,
        owner,
        woken_by,
        other,
    } = item.read()
    else {
        return format!("ran for {duration}");
    };
    let why = why.wait_explanation(owner, woken_by);
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

/// Returns the label of a thread, or its number if it has none.
fn thread_label(row: &ThreadListRow) -> String {
    let label = row.label.clone().filter(|label| !label.is_empty());
    label.unwrap_or_else(|| format!("thread {}", row.id))
}
