//! Stack samples grouped by the scheduler state of their thread.
//!
//! The outermost frames of a stack are the state (`running`, `ready` or `blocked`) and, for a blocked thread, the
//! reason. The stacks below `running` and `ready` form an on-CPU flame graph, those below `blocked` an off-CPU
//! one. A sample has the time at which a thread of the profiler wrote it. That thread then runs on the capability,
//! so a thread that was running there counts as `ready`.

use super::super::draft::Draft;
use crate::timeline::store::Store;
use crate::timeline::waits::WaitKind;
use eventlog::hash::SeededMap;
use eventlog::ids::{Nanos, ThreadId};
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::samples::Samples;
use model::profile::stacks::StackId;
use model::profile::{Profile, Track, TrackSource};
use model::time::Interval;

/// Scheduler state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Known(Option<WaitKind>),
    /// The thread does not exist at that time, or the log has no scheduler events.
    Unknown,
}

impl State {
    /// Returns the frame names for the state, outermost first.
    fn names(self) -> [Option<&'static str>; 2] {
        match self {
            Self::Known(None) => [Some("running"), None],
            Self::Known(Some(WaitKind::Blocked(reason))) => [Some("blocked"), Some(reason.name())],
            Self::Known(Some(WaitKind::Queued(_) | WaitKind::Collection)) => [Some("ready"), None],
            Self::Unknown => [Some("unknown state"), None],
        }
    }
}

/// Returns the states of a thread at these times, which are sorted.
fn thread_states(store: &Store, thread: ThreadId, times: &[Nanos]) -> Vec<State> {
    let mut states = Vec::with_capacity(times.len());
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return states;
    };
    // The end of a range is exclusive; include the time of the last sample.
    let range = Interval::new(first, Nanos(last.0.saturating_add(1)));
    store.wait_pieces(thread, range, 0, |piece| {
        while let Some(&time) = times
            .get(states.len())
            .filter(|time| **time < piece.span.end())
        {
            let lives = piece.span.start() <= time;
            states.push(if lives {
                State::Known(piece.wait)
            } else {
                State::Unknown
            });
        }
    });
    states.resize(times.len(), State::Unknown);
    states
}

/// Regroups a profile of stack samples by thread, with the state as outermost frames.
///
/// The result has no tracks if the log has no scheduler events.
pub fn group_by_state(profile: &Profile, store: &Store, end: Nanos) -> Profile {
    let mut draft = Draft::new();
    let frames = profile.frames.iter();
    let frames: Vec<FrameId> = frames
        .map(|(_, frame)| draft.frames.intern(frame.clone()))
        .collect();
    let mut placed: SeededMap<(State, StackId), StackId> = SeededMap::default();
    let mut is_known = false;
    for track in &profile.tracks {
        let TrackSource::Thread(thread) = track.source else {
            continue;
        };
        let all = || (0..track.samples.len()).filter_map(|place| track.samples.get(place));
        let times: Vec<Nanos> = all().map(|(span, _)| span.end()).collect();
        let mut samples = Samples::default();
        for (state, (span, stack)) in thread_states(store, thread, &times).into_iter().zip(all()) {
            is_known |= state != State::Unknown;
            let new = placed.entry((state, stack)).or_insert_with(|| {
                let kind = match state {
                    State::Known(_) => FrameKind::Waiting,
                    State::Unknown => FrameKind::Unknown,
                };
                let names = state.names().into_iter().flatten();
                let outermost = names.fold(StackId::EMPTY, |stack, name| {
                    draft.push(stack, Frame::with_kind(kind, name))
                });
                let inner = profile.stacks.outermost_first(stack).into_iter();
                let inner = inner.filter_map(|frame| frames.get(frame.0 as usize));
                inner.fold(outermost, |stack, frame| draft.stacks.push(stack, *frame))
            });
            samples.push(span, *new);
        }
        draft.tracks.push(Track {
            source: track.source,
            samples,
            open: Vec::new(),
            sampled: true,
        });
    }
    if !is_known {
        draft.tracks.clear();
    }
    draft.finish(end, profile.tick_interval)
}
