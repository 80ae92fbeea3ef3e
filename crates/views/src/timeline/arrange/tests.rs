//! Tests of folding, pinning, hiding, moving and filtering tracks.

use proptest::prelude::*;

use super::*;
use crate::timeline::reveal::hidden_names;
use analysis::timeline::profile_rows::Caller;
use analysis::timeline::thread_lane::ThreadListRow;
use eventlog::ids::{CapId, OsThreadId};
use session::tracks::LogContents;
use session::tracks::activity::Activity;
use session::tracks::calls::ForeignCalls;
use session::tracks::collections::Collections;
use session::tracks::instants::Instants;
use session::tracks::memory::Memory;
use session::tracks::messages::Messages;
use session::tracks::samples::Samples;
use session::tracks::user_span::UserSpan;

fn name(name: &str) -> TrackName {
    TrackName::new(name).expect("a name")
}

pub(crate) fn thread(id: u32, label: Option<&str>) -> ThreadListRow {
    ThreadListRow {
        id: ThreadId(id),
        label: label.map(str::to_owned),
        created: None,
        finished: false,
        run_ns: 0,
        runs: 1,
    }
}

/// Returns the input for a log that has no threads but these.
pub(crate) fn input<'a>(
    caps: &'a [(CapId, String)],
    contents: &'a LogContents,
    threads: &'a [ThreadListRow],
) -> TrackListInput<'a> {
    TrackListInput {
        caps,
        contents,
        threads,
        pinned_threads: &[],
        threads_in_all: threads.len() as u64,
    }
}

/// Returns the layout of a log with three capabilities, four threads, and one of most other tracks.
fn shown(view: &TrackView) -> Layout {
    with_known(|known| Layout::new(arrange(known, view)))
}

fn with_known<T>(act: impl FnOnce(&TrackListInput<'_>) -> T) -> T {
    let caps: Vec<_> = (0..3).map(|cap| (CapId(cap), String::new())).collect();
    let contents = LogContents {
        tracks: vec![
            TrackEntry::new(Activity, "Activity"),
            TrackEntry::new(Collections, "Collections"),
            TrackEntry::new(Messages, "Messages"),
            TrackEntry::new(Instants(CapId(0)), "Events of capability 0"),
            TrackEntry::new(Instants(CapId(1)), "Events of capability 1"),
            TrackEntry::new(Memory::Heap, "Heap"),
            TrackEntry::new(Memory::Allocated, "Allocation rate"),
            TrackEntry::new(UserSpan(0), "load"),
        ],
        ..LogContents::default()
    };
    let threads = [
        thread(7, Some("worker")),
        thread(1, None),
        thread(9, Some("worker")),
        thread(3, Some("logger")),
    ];
    act(&TrackListInput {
        pinned_threads: &[thread(9, Some("worker")), thread(20, None)],
        ..input(&caps, &contents, &threads)
    })
}

/// Returns the names of the visible tracks, headings in parentheses.
fn names(view: &TrackView) -> String {
    let layout = shown(view);
    let one = |track: &Track| match track.row() {
        Some(_) if track.pinned => format!("*{}", track.name),
        Some(_) => track.name.to_string(),
        None => format!("({})", track.name),
    };
    let names: Vec<String> = layout.tracks().iter().map(one).collect();
    names.join(" ")
}

/// Applies changes in sequence, each to the layout at that time.
fn after(changes: impl IntoIterator<Item = TrackChange>) -> TrackView {
    let mut view = TrackView::default();
    for change in changes {
        let layout = shown(&view);
        view.change(change, &layout);
    }
    view
}

#[test]
fn at_first() {
    assert_eq!(
        names(&TrackView::default()),
        "(program) activity gc messages (caps) cap0 cap1 cap2 (events) (memory) \
         (spans) span:load (threads) thread7 thread1 thread9 thread3"
    );
}

#[test]
fn the_rows_of_a_profile_come_after_the_capabilities() {
    let calls = |of| TrackEntry::new(ForeignCalls(of), "Calls").note("× 3");
    let contents = LogContents {
        tracks: vec![
            TrackEntry::new(Activity, "Activity"),
            TrackEntry::new(Samples(CapId(0)), "Samples, cap 0").note("1,200"),
            calls(Caller::OsThread(OsThreadId(71))),
            calls(Caller::Unknown { lane: 0 }),
            calls(Caller::Unknown { lane: 1 }),
            TrackEntry::new(Instants(CapId(0)), "Events of capability 0"),
        ],
        ..LogContents::default()
    };
    let caps = [(CapId(0), String::new())];
    let known = input(&caps, &contents, &[]);
    let tracks = arrange(&known, &TrackView::default()).into_iter();
    let names = tracks.map(|track| format!("{}: {} {}", track.name, track.title, track.note));
    let names: Vec<String> = names.skip(2).collect();
    assert_eq!(
        names,
        [
            "caps: CAPABILITIES ",
            "cap0: Capability 0 ",
            "samples: PROFILE SAMPLES ",
            "samples0: Samples, cap 0 1,200",
            "calls: FOREIGN CALLS ",
            "calls71: Calls × 3",
            "callsunknown0: Calls × 3",
            "callsunknown1: Calls × 3",
            "events: EVENTS 1",
        ]
    );
}

#[test]
fn folding_and_hiding() {
    let fold = |group: &str| TrackChange::Fold(name(group));
    let view = after(["program", "memory", "spans", "threads", "events"].map(fold));
    assert_eq!(
        names(&view),
        "(program) (caps) cap0 cap1 cap2 (events) events0 events1 (memory) heap alloc (spans) (threads)"
    );
    let again = after(["caps", "events", "caps", "events"].map(fold));
    assert_eq!(again, TrackView::default());
    let hide = |track: &str| TrackChange::Hide(name(track));
    let view = after(["program", "memory", "spans", "threads", "events", "cap1"].map(hide));
    assert_eq!(names(&view), "(caps) cap0 cap2");
    let view = after([hide("caps"), hide("cap0"), TrackChange::Show(name("caps"))]);
    assert!(names(&view).contains("(caps) cap1 cap2 (events)"));
    let view = after([hide("caps"), hide("cap0"), TrackChange::ShowAll]);
    assert_eq!(view, TrackView::default());
}

#[test]
fn what_is_hidden_has_a_name() {
    let hide = |track: &str| TrackChange::Hide(name(track));
    let view = after([hide("caps"), hide("cap0"), hide("thread7"), hide("alloc")]);
    let hidden = with_known(|known| hidden_names(known, &view));
    let hidden: Vec<_> = hidden.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(hidden, ["Capability 0", "Allocation rate", "worker"]);
}

#[test]
fn what_is_pinned_comes_first_and_passes_the_filter() {
    let pin = |track: &str| TrackChange::Pin(name(track));
    let mut view = after([
        pin("thread9"),
        pin("cap1"),
        TrackChange::Fold(name("threads")),
    ]);
    assert!(names(&view).starts_with("*thread9 *cap1 (program)"));
    assert!(
        names(&view).ends_with("(caps) cap0 cap2 (events) (memory) (spans) span:load (threads)")
    );
    view.filter = "Heap".into();
    // The thread list is filtered before it is arranged.
    assert_eq!(
        names(&view),
        "*thread9 *cap1 (memory) heap (threads) thread7 thread1 thread3"
    );
    let layout = shown(&view);
    view.change(pin("cap1"), &layout);
    assert!(names(&view).starts_with("*thread9 (memory)"));
    let moved = after([
        pin("cap0"),
        pin("cap1"),
        pin("cap2"),
        TrackChange::Shift(name("cap0"), Direction::Down),
        TrackChange::Shift(name("cap2"), Direction::Up),
    ]);
    assert!(names(&moved).starts_with("*cap1 *cap2 *cap0 (program)"));
}

#[test]
fn moving() {
    let shift = |track: &str, direction| TrackChange::Shift(name(track), direction);
    let view = after([
        shift("cap2", Direction::Up),
        shift("cap2", Direction::Up),
        shift("cap2", Direction::Up),
        shift("thread7", Direction::Down),
        shift("caps", Direction::Down),
    ]);
    let shown_names = names(&view);
    assert!(
        shown_names.contains("(events) (caps) cap2 cap0 cap1 (memory)"),
        "{shown_names}"
    );
    assert!(shown_names.contains("(threads) thread1 thread7 thread9"));
    let layout = shown(&TrackView::default());
    let place = |track: &str| {
        layout
            .tracks()
            .iter()
            .position(|one| one.name == name(track))
    };
    let (cap0, cap2) = (place("cap0").expect("shown"), place("cap2").expect("shown"));
    assert!(layout.may_follow(&name("cap0"), cap2));
    assert!(!layout.may_follow(&name("cap0"), cap0));
    assert!(!layout.may_follow(&name("thread7"), cap2));
    let view = after([layout.drop_at(name("cap0"), cap2)]);
    assert!(names(&view).contains("(caps) cap1 cap2 cap0"));
    let view = after([layout.drop_at(name("cap2"), cap0)]);
    assert!(names(&view).contains("(caps) cap2 cap0 cap1"));
}

#[test]
fn threads_with_one_label_stand_together() {
    let view = after([TrackChange::GroupThreads]);
    assert!(names(&view).contains(
        "(threads) (label:worker) thread7 thread9 (label:without a label) thread1 (label:logger) thread3"
    ));
    let fold = TrackChange::Fold(name("label:worker"));
    let view = after([TrackChange::GroupThreads, fold]);
    assert!(names(&view).contains("(threads) (label:worker) (label:without a label) thread1"));
}

fn any_change() -> impl Strategy<Value = TrackChange> {
    let track = prop::sample::select(vec![
        "cap0",
        "cap1",
        "cap2",
        "thread7",
        "caps",
        "threads",
        "events",
        "label:worker",
        "nothing",
    ])
    .prop_map(name);
    let direction = prop::sample::select(vec![Direction::Up, Direction::Down]);
    (track.clone(), prop::option::of(track), direction, 0..9u8).prop_map(
        |(name, after, direction, kind)| match kind {
            0 => TrackChange::Fold(name),
            1 => TrackChange::Pin(name),
            2 => TrackChange::Hide(name),
            3 => TrackChange::Show(name),
            4 => TrackChange::Select(name),
            5 => TrackChange::Move(Move { name, after }),
            6 => TrackChange::GroupThreads,
            _ => TrackChange::Shift(name, direction),
        },
    )
}

proptest! {
    /// After any changes, each track is shown at most once, and showing all restores every track.
    #[test]
    fn no_track_is_lost(changes in prop::collection::vec(any_change(), 0..30)) {
        let mut view = after(changes);
        let layout = shown(&view);
        let mut ids: Vec<_> = layout.tracks().iter().map(|track| track.name.clone()).collect();
        ids.sort();
        let count = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
        view.hidden.clear();
        view.folded.clear();
        view.opened.extend([name("events"), name("memory")]);
        let rows = |view: &TrackView| {
            let layout = shown(view);
            let tracks = layout.tracks().iter().filter(|track| track.row().is_some());
            let mut ids: Vec<_> = tracks.map(|track| track.name.clone()).collect();
            ids.sort();
            ids
        };
        let all = TrackView { opened: [name("events"), name("memory")].into(), ..TrackView::default() };
        prop_assert_eq!(rows(&view), rows(&all));
    }
}

/// Returns the tracks of a server on two capabilities.
fn server(view: &TrackView) -> String {
    let threads = [
        thread(2, Some("IOManager on cap 0")),
        thread(6, Some("TimerManager")),
        thread(1, None),
        thread(8, Some("IOManager of mine")),
    ];
    let contents = LogContents::default();
    let known = TrackListInput {
        threads_in_all: 1000,
        ..input(&[], &contents, &threads)
    };
    let tracks = arrange(&known, view);
    let one = |track: &Track| match (track.row(), track.note.as_str()) {
        (Some(_), _) => track.name.to_string(),
        (None, note) => format!("({}: {note})", track.name),
    };
    tracks.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn threads_by_which_the_runtime_waits_are_folded_away() {
    let view = TrackView::default();
    assert_eq!(
        server(&view),
        "(threads: 2 of 998) thread1 thread8 (runtime: 2)"
    );
    // The group unfolded, one of its tracks pinned, or a filter that matches its tracks.
    let opened = TrackView {
        opened: [name("runtime")].into(),
        ..TrackView::default()
    };
    let open = "(threads: 2 of 998) thread1 thread8 (runtime: ) thread2 thread6";
    assert_eq!(server(&opened), open);
    let pinned = TrackView {
        pinned: vec![name("thread6")],
        ..TrackView::default()
    };
    assert_eq!(
        server(&pinned),
        "thread6 (threads: 2 of 998) thread1 thread8 (runtime: 1)"
    );
    let filtered = TrackView {
        filter: "manager".into(),
        ..TrackView::default()
    };
    assert_eq!(server(&filtered), open);
}
