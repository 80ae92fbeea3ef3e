//! A profile under construction: frames, stacks and tracks, from which its time span follows.

use eventlog::ids::{Duration, Nanos};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::heap::HeapStacks;
use model::profile::revision::Revision;
use model::profile::sample_threads::SampleThreads;
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track};
use model::time::Interval;

/// A profile without its time span.
pub(super) struct Draft {
    pub(super) frames: Frames,
    pub(super) stacks: Stacks,
    pub(super) tracks: Vec<Track>,
    idle: FrameId,
    idle_stack: StackId,
}

impl Draft {
    /// Creates a profile whose gaps are shown as `IDLE`.
    pub(super) fn new() -> Self {
        let mut frames = Frames::default();
        let mut stacks = Stacks::default();
        let idle = frames.intern(Frame::built_in("IDLE", "IDLE"));
        let idle_stack = stacks.push(StackId::EMPTY, idle);
        Self {
            frames,
            stacks,
            tracks: Vec::new(),
            idle,
            idle_stack,
        }
    }

    /// Creates a profile of announced spans, whose gaps stay empty: nothing is known about them.
    pub(super) fn with_empty_gaps() -> Self {
        Self {
            idle_stack: StackId::EMPTY,
            ..Self::new()
        }
    }

    /// Interns the stack `parent` with `frame` as its new innermost frame.
    pub(super) fn push(&mut self, parent: StackId, frame: Frame) -> StackId {
        let frame = self.frames.intern(frame);
        self.stacks.push(parent, frame)
    }

    /// Completes the profile; its span reaches from the first sample to the end of the log.
    pub(super) fn finish(self, end: Nanos, tick_interval: Option<Duration>) -> Profile {
        let spans = || self.tracks.iter().filter_map(|track| track.samples.span());
        let start = spans().map(|span| span.start()).min().unwrap_or(end);
        let last = spans().map(|span| span.end()).max().unwrap_or(end);
        Profile {
            frames: self.frames,
            stacks: self.stacks,
            idle: self.idle,
            idle_stack: self.idle_stack,
            tracks: self.tracks,
            tick_interval,
            span: Interval::new(start, end.max(last)),
            threads: SampleThreads::default(),
            heap: None,
            revision: Revision::next(),
        }
    }

    /// Completes a heap profile; its span reaches from time 0 to the end of the log.
    pub(super) fn finish_heap(self, end: Nanos, heap: HeapStacks) -> Profile {
        let mut profile = self.finish(end, None);
        profile.span = Interval::new(Nanos(0), end);
        profile.heap = Some(heap);
        profile
    }
}
