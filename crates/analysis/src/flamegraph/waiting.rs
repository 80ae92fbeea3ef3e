//! Waits of threads, as stacks of thread, state and reason.
//!
//! Computed per query from the lanes of the timeline, with the same sums as the table of threads. The profile in time
//! order is kept, as zooming requests it again.
//!
//! Threads with the same label share a frame. If there are too many labels or threads without a label, those that
//! waited least in the whole log share a frame (`timeline/wait_groups`), unless they are selected.
//!
//! A wait counts in the range in which it ends.

use model::profile::revision::Revision;
use std::borrow::Cow;
use std::sync::Arc;

use super::draft::Draft;
use super::source_info::{SourceInfo, TrackInfo};
use crate::timeline::group_waits::{MAX_NAMED, RangeWaits};
use crate::timeline::store::Store;
use crate::timeline::wait_groups::{GroupName, WaitGroups};
use crate::timeline::waits::WaitKind;
use crate::yielder::{NoYield, Yield, block_on};
use eventlog::ids::{Nanos, ThreadId};
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::samples::{Sample, Samples};
use model::profile::source::Source;
use model::profile::stack_source::{
    CensusCounts, FlameSelection, ProfileRef, StackSource, WeightedStacks,
};
use model::profile::stacks::StackId;
use model::profile::weights::Weight;
use model::profile::{Profile, Track, TrackSource};
use model::time::Interval;

/// Limit of selected threads with a track.
const MAX_CHOSEN: usize = 1000;
/// Number of time slots of all tracks together; pieces shorter than a slot are merged.
const STRETCHES: u64 = 1 << 14;
/// Limit of time slots per track.
const MAX_STRETCHES: u64 = 4096;

fn chosen_threads(choice: &FlameSelection) -> Vec<ThreadId> {
    let thread = |source: &TrackSource| match source {
        TrackSource::Thread(thread) => Some(*thread),
        _ => None,
    };
    choice.tracks.iter().filter_map(thread).collect()
}

fn groups<'a>(store: &'a Store, choice: &FlameSelection) -> Cow<'a, WaitGroups> {
    if choice.tracks.is_empty() {
        return Cow::Borrowed(store.wait_groups());
    }
    Cow::Owned(store.wait_groups_of(&chosen_threads(choice)))
}

impl Store {
    /// Computes the lanes and groups that a query about waiting needs, unless they exist.
    pub(crate) async fn prepare_waits(&self, choice: &FlameSelection, yielder: &dyn Yield) {
        if !self.is_finished() {
            return;
        }
        for thread in chosen_threads(choice) {
            self.prepare_life(thread, yielder).await;
        }
        if choice.tracks.is_empty() {
            self.prepare_wait_groups(yielder).await;
            for range in [Some(choice.range), choice.before.map(Some)]
                .into_iter()
                .flatten()
            {
                self.all_waits_in(range, yielder).await;
            }
        }
    }

    /// Computes the profile that a query in time order needs, unless it is cached.
    pub(crate) async fn prepare_waits_in_time(&self, choice: &FlameSelection, yielder: &dyn Yield) {
        if self.is_finished() {
            self.prepare_wait_groups(yielder).await;
            self.waits_in_time(choice, yielder).await;
        }
    }

    /// Returns the waits of the selected threads as tracks, from the cache if possible.
    async fn waits_in_time(&self, choice: &FlameSelection, yielder: &dyn Yield) -> Arc<Profile> {
        let key = (choice.tracks.clone(), choice.range);
        if let Some(known) = self.waits_in_time.get(&key) {
            return known;
        }
        let whole = Interval::new(Nanos(0), self.end());
        let range = choice.range.unwrap_or(whole);
        let threads = shown_threads(self, choice, yielder).await;
        let stretches = STRETCHES / (threads.len() as u64).max(1);
        let width_ns = range.duration().0 / stretches.clamp(1, MAX_STRETCHES);
        let mut draft = Draft::with_empty_gaps();
        let frames = WaitFrames::new(&mut draft);
        for thread in threads {
            self.prepare_life(thread, yielder).await;
            yielder.yield_if_due().await;
            let draft_of = (&mut draft, &frames);
            let track = track(self, draft_of, thread, (range, width_ns));
            draft.tracks.push(track);
        }
        let profile = Profile {
            // The time axis does not depend on the selected threads.
            span: range,
            ..draft.finish(self.end(), None)
        };
        let samples = profile.tracks.iter().map(|track| track.samples.len());
        let bytes = samples.sum::<usize>() * size_of::<Sample>();
        self.waits_in_time
            .insert(key, Arc::new(profile), bytes as u64)
    }
}

/// Returns the waits of the selected threads in a range.
fn waits_of(store: &Store, choice: &FlameSelection, range: Option<Interval>) -> Arc<RangeWaits> {
    block_on(async {
        if choice.tracks.is_empty() {
            return store.all_waits_in(range, &NoYield).await;
        }
        let groups = groups(store, choice);
        Arc::new(RangeWaits::compute(store, &groups, range, &NoYield).await)
    })
}

fn waiting_frame(label: &str) -> Frame {
    Frame::with_kind(FrameKind::Waiting, label)
}

fn thread_stack(draft: &mut Draft, name: &GroupName) -> StackId {
    let frame = Frame::with_kind(FrameKind::Thread, &name.to_string());
    draft.push(StackId::EMPTY, frame)
}

/// Frames of waits, shared by all threads.
struct WaitFrames {
    /// State and reason, by [`WaitKind::index`].
    frames: Vec<(FrameId, FrameId)>,
}

impl WaitFrames {
    fn new(draft: &mut Draft) -> Self {
        let mut frame = |label| draft.frames.intern(waiting_frame(label));
        let frames = WaitKind::all().map(|wait| (frame(wait.state()), frame(wait.reason())));
        Self {
            frames: frames.collect(),
        }
    }

    /// Returns the stack of a wait below the stack of its thread.
    fn stack(&self, draft: &mut Draft, thread: StackId, wait: WaitKind) -> StackId {
        let Some(&(state, reason)) = self.frames.get(wait.index()) else {
            return thread;
        };
        let state = draft.stacks.push(thread, state);
        draft.stacks.push(state, reason)
    }
}

fn add_weight(own: &mut Vec<Weight>, stack: StackId, weight: Weight) {
    if own.len() <= stack.index() {
        own.resize(stack.index() + 1, Weight::default());
    }
    if let Some(own) = own.get_mut(stack.index()) {
        own.add(weight);
    }
}

impl StackSource for Store {
    fn weighted_stacks(&self, choice: &FlameSelection) -> WeightedStacks<'_> {
        let groups = groups(self, choice);
        let now = waits_of(self, choice, choice.range);
        let before = choice
            .before
            .map(|range| waits_of(self, choice, Some(range)));
        let mut draft = Draft::with_empty_gaps();
        let frames = WaitFrames::new(&mut draft);
        let (mut own, mut own_before) = (Vec::new(), Vec::new());
        for (group, name) in groups.names.iter().enumerate() {
            let mut thread = None;
            for (kind, wait) in WaitKind::all().enumerate() {
                let weight_of = |waits: &Arc<RangeWaits>| waits.weights[group][kind];
                let (now, then) = (weight_of(&now), before.as_ref().map(weight_of));
                let then = then.unwrap_or_default();
                if now == Weight::default() && then == Weight::default() {
                    continue;
                }
                let thread = *thread.get_or_insert_with(|| thread_stack(&mut draft, name));
                let stack = frames.stack(&mut draft, thread, wait);
                add_weight(&mut own, stack, now);
                add_weight(&mut own_before, stack, then);
            }
        }
        own.resize(draft.stacks.len(), Weight::default());
        own_before.resize(draft.stacks.len(), Weight::default());
        WeightedStacks {
            frames: Cow::Owned(draft.frames),
            stacks: Cow::Owned(draft.stacks),
            own,
            before: before.map(|_| own_before),
            censuses: CensusCounts::default(),
            absolute: false,
        }
    }

    /// Stacks are built per query, so none may be cached by revision.
    fn revision(&self) -> Revision {
        Revision::next()
    }

    fn tracks_in_time_order(&self, choice: &FlameSelection) -> (ProfileRef<'_>, Vec<usize>) {
        let profile = block_on(self.waits_in_time(choice, &NoYield));
        let tracks = (0..profile.tracks.len()).collect();
        (ProfileRef::Cached(profile), tracks)
    }
}

/// Returns the threads to show: the selected ones, or else those that waited longest in the range.
async fn shown_threads(
    store: &Store,
    choice: &FlameSelection,
    yielder: &dyn Yield,
) -> Vec<ThreadId> {
    if !choice.tracks.is_empty() {
        let mut threads = chosen_threads(choice);
        threads.truncate(MAX_CHOSEN);
        return threads;
    }
    if choice.range.is_none_or(|range| store.is_whole(range)) {
        // Known without the sums of all threads.
        let longest = store.wait_groups().longest.iter().take(MAX_NAMED);
        return longest.map(|waited| waited.thread).collect();
    }
    let waits = store.all_waits_in(choice.range, yielder).await;
    waits.longest.clone()
}

fn track(
    store: &Store,
    (draft, frames): (&mut Draft, &WaitFrames),
    thread: ThreadId,
    (range, width_ns): (Interval, u64),
) -> Track {
    let name = match store.label_of(thread) {
        Some(label) => GroupName::Label(label.into()),
        None => GroupName::Thread(thread),
    };
    let base = thread_stack(draft, &name);
    let mut samples = Samples::default();
    let running = draft.push(base, waiting_frame("running"));
    store.wait_pieces(thread, range, width_ns, |piece| {
        let wait = piece.wait.map(|wait| frames.stack(draft, base, wait));
        let stack = wait.unwrap_or(running);
        samples.push(piece.span, stack);
    });
    Track {
        source: TrackSource::Thread(thread),
        samples,
        open: Vec::new(),
        sampled: false,
    }
}

/// Summarizes the source: the threads that waited longest, with their number of runs; `None` if no thread waited.
pub(crate) fn waiting_info(source: Source, store: &Store) -> Option<SourceInfo> {
    let longest = store.wait_groups().longest.iter();
    let tracks: Vec<TrackInfo> = longest
        .map(|waited| TrackInfo {
            source: TrackSource::Thread(waited.thread),
            label: store.label_of(waited.thread).map(str::to_owned),
            samples: waited.runs.into(),
        })
        .collect();
    (!tracks.is_empty()).then_some(SourceInfo { source, tracks })
}

#[cfg(test)]
mod tests {
    use crate::timeline::group_waits::MAX_NAMED;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::automata::thread_state::{Activity, ThreadSpan};
    use eventlog::StopStatus;
    use eventlog::ids::CapId;

    /// Runs of 5 ns, one after the other: thread, gap before the run, kind of stop, and how long before the run
    /// the thread was woken.
    fn store(runs: &[(u32, u64, u8, u64)], labels: &[(u32, &str)]) -> Store {
        let mut store = Store::default();
        let mut at = 0;
        for &(thread, gap, stop, awake) in runs {
            let start = at + gap;
            at = start + 5;
            let stop = match stop {
                0 => StopStatus::BlockedOnMVar,
                1 => StopStatus::ThreadYielding,
                2 => StopStatus::HeapOverflow,
                _ => StopStatus::ForeignCall,
            };
            let span = ThreadSpan {
                activity: Activity::Running(Some(CapId(0))),
                span: Interval::new(Nanos(start), Nanos(at)),
                stop: Some(stop),
            };
            let woken = Nanos(start.saturating_sub(awake));
            store.add_span(ThreadId(thread), span, Some(woken));
        }
        for (thread, label) in labels {
            let label = store.text(label);
            store.label(ThreadId(*thread), label);
        }
        store.finish(Nanos(at + 10));
        store
    }

    fn choice(range: Option<(u64, u64)>) -> FlameSelection {
        FlameSelection {
            source: crate::flamegraph::sources::WAITING,
            range: range.map(|(start, end)| Interval::new(Nanos(start), Nanos(end))),
            ..FlameSelection::default()
        }
    }

    fn folded(weighed: &WeightedStacks<'_>, own: &[Weight]) -> BTreeMap<String, (u64, u64)> {
        let mut folded = BTreeMap::new();
        for (stack, weight) in weighed.stacks.ids().zip(own) {
            let frames = weighed.stacks.outermost_first(stack).into_iter();
            let names = frames.filter_map(|id| weighed.frames.get(id).map(Frame::name));
            let names: Vec<String> = names.collect();
            if *weight != Weight::default() {
                folded.insert(names.join(";"), (weight.amount, weight.count));
            }
        }
        folded
    }

    #[test]
    fn threads_with_one_label_are_one_frame() {
        let runs = [(1, 0, 0, 0), (2, 0, 1, 0), (3, 5, 0, 0), (1, 10, 3, 4)];
        let store = store(&runs, &[(1, "worker"), (2, "worker")]);
        let all = store.weighted_stacks(&choice(None));
        let expected = [
            // Blocked 5 to 30, woken at 26; then in a foreign call to the end.
            ("worker;blocked;MVar", (21, 1)),
            ("worker;blocked;foreign call", (10, 1)),
            ("worker;queued;woken", (4, 1)),
            ("worker;queued;yield", (35, 1)),
            ("thread 3;blocked;MVar", (25, 1)),
        ];
        let expected = expected.map(|(stack, weight)| (stack.to_owned(), weight));
        assert_eq!(folded(&all, &all.own), BTreeMap::from(expected));
        let compared = store.weighted_stacks(&FlameSelection {
            before: Some(Interval::new(Nanos(0), Nanos(10))),
            ..choice(Some((10, 26)))
        });
        let now = folded(&compared, &compared.own);
        let before = folded(&compared, compared.before.as_deref().unwrap_or_default());
        assert_eq!(now["worker;blocked;MVar"], (16, 1));
        assert_eq!(before["worker;blocked;MVar"], (5, 0));
        assert_eq!(now["worker;queued;yield"], (16, 0));
    }

    #[test]
    fn the_least_of_too_many_threads_are_one_frame() {
        let runs: Vec<(u32, u64, u8, u64)> = (1..=10_050).map(|thread| (thread, 0, 0, 0)).collect();
        let store = store(&runs, &[]);
        let all = store.weighted_stacks(&choice(None));
        let folded = folded(&all, &all.own);
        assert_eq!(folded.len(), 10_001);
        // The last threads waited least: 10, 15, … ns.
        let more: u64 = (0..50).map(|thread| 10 + 5 * thread).sum();
        assert_eq!(folded["50 more threads;blocked;MVar"], (more, 50));
        let chosen = FlameSelection {
            tracks: vec![TrackSource::Thread(ThreadId(10_050))],
            ..choice(None)
        };
        let one = store.weighted_stacks(&chosen);
        let only = super::tests::folded(&one, &one.own);
        assert_eq!(
            only,
            BTreeMap::from([("thread 10050;blocked;MVar".to_owned(), (10, 1))])
        );
        let info =
            waiting_info(crate::flamegraph::sources::WAITING, &store).expect("threads waited");
        assert_eq!(info.tracks.len(), 1000);
        assert_eq!(info.tracks[0].source, TrackSource::Thread(ThreadId(1)));
        assert_eq!(store.tracks_in_time_order(&choice(None)).1.len(), MAX_NAMED);
    }

    #[test]
    fn the_least_of_too_many_labels_are_one_frame() {
        let runs: Vec<(u32, u64, u8, u64)> = (1..=10_054).map(|thread| (thread, 0, 0, 0)).collect();
        let names: Vec<String> = (1..=10_054)
            .map(|thread| format!("label {}", thread % 10_051))
            .collect();
        let labels: Vec<(u32, &str)> = (1..).zip(names.iter().map(String::as_str)).collect();
        let store = store(&runs, &labels);
        let all = store.weighted_stacks(&choice(None));
        let folded = folded(&all, &all.own);
        assert_eq!(folded.len(), 10_001);
        // Three labels have two threads, among the first and the last; of the other labels, the last 51 waited
        // least.
        let waited = |thread: u64| 10 + 5 * (10_054 - thread);
        let more: u64 = (10_001..=10_051).map(waited).sum();
        assert_eq!(folded["51 more threads;blocked;MVar"], (more, 51));
        let two = waited(2) + waited(10_053);
        assert_eq!(folded["label 2;blocked;MVar"], (two, 2));
    }

    proptest! {
        /// For any runs: the waits in the parts of any division of the time add up to those of the whole, and
        /// merging pieces by width changes no sum.
        #[test]
        fn parts_sum_to_the_whole(
            runs in prop::collection::vec((0..3_u32, 0..9_u64, 0..4_u8, 0..30_u64), 0..500),
            cuts in prop::collection::vec(0..5000_u64, 0..5),
            width in 0..300_u64,
        ) {
            let store = store(&runs, &[(1, "one"), (2, "one")]);
            let end = store.end().0;
            let whole = store.weighted_stacks(&choice(None));
            let whole = folded(&whole, &whole.own);
            let mut ends: Vec<u64> = cuts.into_iter().map(|cut| cut.min(end)).collect();
            ends.extend([0, end]);
            ends.sort_unstable();
            let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            let mut pieces: BTreeMap<Option<WaitKind>, u64> = BTreeMap::new();
            for pair in ends.windows(2) {
                let part = store.weighted_stacks(&choice(Some((pair[0], pair[1]))));
                for (stack, (ns, count)) in folded(&part, &part.own) {
                    let sum = sums.entry(stack).or_default();
                    *sum = (sum.0 + ns, sum.1 + count);
                }
                let range = Interval::new(Nanos(pair[0]), Nanos(pair[1]));
                let mut last = 0;
                store.wait_pieces(ThreadId(1), range, width, |piece| {
                    *pieces.entry(piece.wait).or_default() += piece.span.duration().0;
                    assert!(piece.span.start().0 >= last && piece.span.end() <= range.end());
                    last = piece.span.end().0;
                });
            }
            prop_assert_eq!(sums, whole);
            let mut exact: BTreeMap<Option<WaitKind>, u64> = BTreeMap::new();
            let all = Interval::new(Nanos(0), Nanos(end));
            store.wait_pieces(ThreadId(1), all, 0, |piece| {
                *exact.entry(piece.wait).or_default() += piece.span.duration().0;
            });
            prop_assert_eq!(pieces, exact);
        }
    }
}
