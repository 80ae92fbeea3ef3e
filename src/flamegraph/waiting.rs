//! What threads waited for, as stacks: thread, state, reason. Nothing is kept
//! of it: the sums come from the lanes of the timeline when they are asked
//! for, and are those of the table of threads.
//!
//! Threads with one label are one frame. Of threads without a label those
//! that waited least in the whole log share a frame if there are too many
//! (`timeline/wait_groups`), unless they were chosen.
//!
//! A wait counts in the range in which it ends.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::draft::Draft;
use super::frames::{Frame, FrameKind};
use super::origin::{Choice, Origin, Weighed};
use super::profile::{Profile, Samples, Track, TrackSource};
use super::profiles::{SourceInfo, TrackInfo};
use super::source::Source;
use super::stacks::StackId;
use super::weights::Weight;
use crate::automata::Span;
use crate::ids::{Nanos, ThreadId};
use crate::timeline::Store;
use crate::timeline::wait_groups::{GroupName, WaitGroups};
use crate::timeline::waits::Wait;

/// So many threads have tracks if none is chosen: those that waited most.
const MOST_TRACKS: usize = 64;
/// So many have tracks if they are chosen.
const MOST_CHOSEN: usize = 1000;
/// In so many stretches the tracks are divided together; in each the pieces
/// that are shorter are merged.
const STRETCHES: u64 = 1 << 16;
/// In so many stretches one track is divided at most.
const MOST_STRETCHES: u64 = 4096;

fn chosen_threads(choice: &Choice) -> Vec<ThreadId> {
    let thread = |source: &TrackSource| match source {
        TrackSource::Thread(thread) => Some(*thread),
        _ => None,
    };
    choice.tracks.iter().filter_map(thread).collect()
}

fn groups<'a>(store: &'a Store, choice: &Choice) -> Cow<'a, WaitGroups> {
    if choice.tracks.is_empty() {
        return Cow::Borrowed(store.wait_groups());
    }
    Cow::Owned(store.wait_groups_of(&chosen_threads(choice)))
}

/// The waits of each group in a range: time and count by kind.
type GroupWeights = Vec<[Weight; KINDS]>;

/// How many kinds of waits there is room for.
const KINDS: usize = 16;

fn weigh(store: &Store, groups: &WaitGroups, range: Option<Span>) -> GroupWeights {
    let mut weights = vec![[Weight::default(); KINDS]; groups.names.len()];
    let mut members = groups.members.iter();
    let places = groups.members.iter().map(|&(place, _)| place);
    store.waits_in(range, places, |place, sums| {
        // Both go through the members in one order.
        let Some(&(_, group)) = members.find(|(member, _)| *member == place) else {
            return;
        };
        let Some(weights) = weights.get_mut(group as usize) else {
            return;
        };
        for (weight, (_, amount, count)) in weights.iter_mut().zip(sums.iter()) {
            weight.add(Weight { amount, count });
        }
    });
    weights
}

fn waiting_frame(label: &str) -> Frame {
    Frame::of_kind(FrameKind::Waiting, label)
}

fn thread_stack(draft: &mut Draft, name: &GroupName) -> StackId {
    let frame = Frame::of_kind(FrameKind::Thread, &name.to_string());
    draft.push(StackId::EMPTY, frame)
}

/// The stack of a wait of the thread with that stack.
fn wait_stack(draft: &mut Draft, thread: StackId, wait: Wait) -> StackId {
    let state = draft.push(thread, waiting_frame(wait.state()));
    draft.push(state, waiting_frame(wait.reason()))
}

fn set(own: &mut Vec<Weight>, stack: StackId, weight: Weight) {
    if own.len() <= stack.index() {
        own.resize(stack.index() + 1, Weight::default());
    }
    if let Some(own) = own.get_mut(stack.index()) {
        own.add(weight);
    }
}

impl Origin for Store {
    fn weighed(&self, choice: &Choice) -> Weighed<'_> {
        let groups = groups(self, choice);
        let now = weigh(self, &groups, choice.range);
        let before = choice.before.map(|range| weigh(self, &groups, Some(range)));
        let mut draft = Draft::new();
        let (mut own, mut own_before) = (Vec::new(), Vec::new());
        for (group, name) in groups.names.iter().enumerate() {
            let mut thread = None;
            for (kind, wait) in Wait::all().enumerate() {
                let weight_of = |weights: &GroupWeights| weights[group][kind];
                let (now, then) = (weight_of(&now), before.as_ref().map(weight_of));
                let then = then.unwrap_or_default();
                if now == Weight::default() && then == Weight::default() {
                    continue;
                }
                let thread = *thread.get_or_insert_with(|| thread_stack(&mut draft, name));
                let stack = wait_stack(&mut draft, thread, wait);
                set(&mut own, stack, now);
                set(&mut own_before, stack, then);
            }
        }
        own.resize(draft.stacks.len(), Weight::default());
        own_before.resize(draft.stacks.len(), Weight::default());
        Weighed {
            frames: Cow::Owned(draft.frames),
            stacks: Cow::Owned(draft.stacks),
            own,
            before: before.map(|_| own_before),
            heap_samples: 0,
        }
    }

    fn in_time(&self, choice: &Choice) -> (Cow<'_, Profile>, Vec<usize>) {
        let whole = Span::new(Nanos(0), self.end());
        let range = choice.range.unwrap_or(whole);
        let threads = shown_threads(self, choice);
        let stretches = STRETCHES / (threads.len() as u64).max(1);
        let width_ns = range.duration().0 / stretches.clamp(1, MOST_STRETCHES);
        let mut draft = Draft::new();
        for thread in threads {
            let track = track(self, &mut draft, thread, (range, width_ns));
            draft.tracks.push(track);
        }
        let tracks = (0..draft.tracks.len()).collect();
        let profile = Profile {
            span: choice.range.unwrap_or_else(|| began(&draft, self.end())),
            ..draft.finish(self.end(), None)
        };
        (Cow::Owned(profile), tracks)
    }
}

fn began(draft: &Draft, end: Nanos) -> Span {
    let starts = draft.tracks.iter();
    let starts = starts.filter_map(|track| track.samples.start.first());
    let start = starts.min().copied().unwrap_or(end);
    Span::new(start, end.max(start))
}

/// The threads with tracks: the chosen ones, or those that waited most in the
/// range, the longest first.
fn shown_threads(store: &Store, choice: &Choice) -> Vec<ThreadId> {
    if !choice.tracks.is_empty() {
        let mut threads = chosen_threads(choice);
        threads.truncate(MOST_CHOSEN);
        return threads;
    }
    let mut waited: Vec<(Reverse<u64>, u32)> = Vec::new();
    let places = store.wait_groups().members.iter().map(|&(place, _)| place);
    store.waits_in(choice.range, places, |place, sums| {
        waited.push((Reverse(sums.all_ns()), place));
    });
    if waited.len() > MOST_TRACKS {
        waited.select_nth_unstable(MOST_TRACKS);
        waited.truncate(MOST_TRACKS);
    }
    waited.sort_unstable();
    let threads = waited.into_iter();
    threads
        .filter_map(|(_, place)| store.thread_at(place))
        .collect()
}

fn track(
    store: &Store,
    draft: &mut Draft,
    thread: ThreadId,
    (range, width_ns): (Span, u64),
) -> Track {
    let name = match store.label_of(thread) {
        Some(label) => GroupName::Label(label.into()),
        None => GroupName::Thread(thread),
    };
    let base = thread_stack(draft, &name);
    let mut samples = Samples::default();
    store.wait_pieces(thread, range, width_ns, |piece| {
        let stack = match piece.wait {
            Some(wait) => wait_stack(draft, base, wait),
            None => draft.push(base, waiting_frame("running")),
        };
        samples.push(piece.span, stack);
    });
    Track {
        source: TrackSource::Thread(thread),
        samples,
        open: Vec::new(),
        sampled: false,
    }
}

/// What there is to be said of waiting, for lists: the threads that waited
/// longest, with how often they ran; `None` if none waited.
#[must_use]
pub fn waiting_info(store: &Store) -> Option<SourceInfo> {
    let longest = store.wait_groups().longest.iter();
    let tracks: Vec<TrackInfo> = longest
        .map(|waited| TrackInfo {
            source: TrackSource::Thread(waited.thread),
            label: store.label_of(waited.thread).map(str::to_owned),
            samples: waited.runs.into(),
        })
        .collect();
    (!tracks.is_empty()).then_some(SourceInfo {
        source: Source::Waiting,
        tracks,
    })
}
