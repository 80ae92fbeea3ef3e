//! Legend entries for arrows and for user input: selection, cursor, notes, measurement, minimap.

use super::Entry;
use super::small_scene::{Part, SmallScene, track};
use crate::timeline::layout::{Kind, Track};
use analysis::timeline::activity::COLLECTING;
use analysis::timeline::flow::{Arrow, ArrowKind};
use eventlog::ids::{CapId, ThreadId};
use model::class::Class;
use session::tracks::TrackId;
use session::tracks::activity::Activity;
use session::tracks::capability::Capability;
use session::tracks::group::TrackGroup;
use session::tracks::legend::{LegendMark, LegendSample, SAMPLE_PX, interval_between, time_at};
use session::tracks::thread::Thread;

const CAP: TrackId = TrackId::Capability(Capability(CapId(0)));
const THREAD: TrackId = thread_row(7);

const fn thread_row(id: u32) -> TrackId {
    TrackId::Thread(Thread(ThreadId(id)))
}

pub(super) fn arrows() -> Vec<Entry> {
    let waker = thread_row(3);
    let arrow = |kind, from_thread| Arrow {
        kind,
        from: time_at(24.0),
        from_cap: Some(CapId(0)),
        from_thread,
        to: time_at(64.0),
        to_cap: Some(CapId(1)),
        thread: ThreadId(7),
    };
    let runs = |class| {
        vec![
            LegendMark::span(class, 8.0, 64.0),
            LegendMark::span(Class::Running, 64.0, 92.0),
        ]
    };
    let wakeup = SmallScene {
        arrows: vec![arrow(ArrowKind::Wakeup, Some(ThreadId(3)))],
        ..LegendSample::rows(&[
            (waker, vec![LegendMark::span(Class::Running, 4.0, 40.0)]),
            (THREAD, runs(Class::Mvar)),
        ])
        .into()
    };
    let migration = SmallScene {
        arrows: vec![arrow(ArrowKind::Migration, None)],
        ..LegendSample::rows(&[
            (CAP, vec![LegendMark::span(Class::Running, 4.0, 24.0)]),
            (THREAD, runs(Class::Ready)),
        ])
        .into()
    };
    vec![
        Entry::new(
            "Woken",
            "From the run that woke the thread to its next run.",
            wakeup,
        ),
        Entry::new(
            "Migrated",
            "From the capability that the thread left to its next run, on another one.",
            migration,
        ),
    ]
}

/// Returns a thread that runs and waits, as a background for the overlays.
fn thread() -> SmallScene {
    LegendSample::row(
        THREAD,
        vec![
            LegendMark::span(Class::Running, 6.0, 30.0),
            LegendMark::span(Class::Mvar, 30.0, 52.0),
            LegendMark::span(Class::Running, 52.0, 90.0),
        ],
    )
    .into()
}

fn activity() -> SmallScene {
    let busy = [0.4, 1.0, 1.6, 0.8, 1.9, 1.2, 0.6, 1.4];
    let collecting = [0.1, 0.0, 0.4, 0.2, 0.0, 0.6, 0.3, 0.1];
    LegendSample::graph(Activity, &[(0, &busy), (COLLECTING, &collecting)]).into()
}

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = tracks();
    entries.extend(selection());
    entries.extend(notes_and_minimap());
    entries
}

fn tracks() -> Vec<Entry> {
    let pinned = Track {
        pinned: true,
        ..track(Kind::Track(THREAD), "Pinned")
    };
    let other = track(Kind::Track(thread_row(3)), "Other");
    vec![
        Entry::new(
            "A group that is open",
            "Click to fold its tracks.",
            SmallScene::heading(TrackGroup::Threads, false),
        ),
        Entry::new(
            "A group that is folded",
            "Click to show its tracks.",
            SmallScene::heading(TrackGroup::Tasks, true),
        ),
        Entry::new(
            "Pinned tracks",
            "Tracks above the thick line stay at the top while the others scroll.",
            SmallScene {
                part: Part::Names,
                ..SmallScene::tracks(vec![pinned, other])
            },
        ),
    ]
}

fn selection() -> Vec<Entry> {
    let thread = thread();
    let limited = {
        let marked = Track {
            selected: true,
            ..track(Kind::Track(thread_row(3)), "")
        };
        let other = track(Kind::Track(thread_row(4)), "");
        SmallScene {
            range: Some(interval_between(24.0, 72.0)),
            ..SmallScene::tracks(vec![marked, other])
        }
    };
    vec![
        Entry::new(
            "The selected range",
            "All panels show this range; its length is on the time axis.",
            SmallScene {
                part: Part::Axis,
                range: Some(interval_between(14.0, 82.0)),
                ..thread.clone()
            },
        ),
        Entry::new(
            "A range on selected tracks",
            "The range and the panels are limited to the colored tracks.",
            limited,
        ),
        Entry::new(
            "The selected item",
            "Clicked or reached with the arrow keys; its details are shown.",
            SmallScene {
                selected: thread.item(THREAD, 60.0),
                ..thread.clone()
            },
        ),
        Entry::new(
            "The item under the pointer",
            "The line below the timeline describes it.",
            SmallScene {
                hovered: thread.item(THREAD, 60.0),
                ..thread.clone()
            },
        ),
        Entry::new(
            "The pointer",
            "The same time on all tracks.",
            SmallScene {
                pointer: Some(time_at(48.0)),
                ..thread.clone()
            },
        ),
        Entry::new(
            "The cursor",
            "The instant that was clicked last, here or in a panel.",
            SmallScene {
                part: Part::Axis,
                cursor: Some(time_at(48.0)),
                ..thread.clone()
            },
        ),
        Entry::new(
            "A measurement",
            "Two instants and the time between them.",
            SmallScene {
                measure: Some((time_at(12.0), time_at(84.0))),
                ..SmallScene::tracks(vec![
                    track(Kind::Track(CAP), ""),
                    track(Kind::Track(THREAD), ""),
                ])
            },
        ),
    ]
}

fn notes_and_minimap() -> Vec<Entry> {
    vec![
        Entry::new(
            "A note",
            "An instant that you named.",
            thread().note(16.0, 16.0, "start"),
        ),
        Entry::new(
            "A note without space for its name",
            "Or without a name: a flag.",
            thread().note(16.0, 16.0, ""),
        ),
        Entry::new(
            "A note on a range",
            "A bar on the time axis between two lines.",
            thread().note(16.0, 80.0, "slow"),
        ),
        Entry::new(
            "The minimap",
            "The activity of the whole log; the part in view is framed, the rest is dim.",
            activity().minimap(interval_between(24.0, 60.0)),
        ),
        Entry::new(
            "Hatched",
            "Before the start or after the end of this log, while the compared log has events.",
            SmallScene {
                log: Some(interval_between(0.0, 56.0)),
                ..LegendSample::row(THREAD, vec![LegendMark::span(Class::Running, 6.0, 56.0)])
                    .into()
            },
        ),
        Entry::new(
            "The selected range on the minimap",
            "Visible even if another part of the log is in view.",
            SmallScene {
                range: Some(interval_between(66.0, 84.0)),
                ..activity().minimap(interval_between(0.0, SAMPLE_PX))
            },
        ),
    ]
}
