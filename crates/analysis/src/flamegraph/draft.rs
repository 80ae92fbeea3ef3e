//! A profile that is being made: the frames and stacks that every profile
//! has, and what its tracks say of its time.

use eventlog::ids::{Duration, Nanos};
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::heap::HeapStacks;
use model::profile::revision::Revision;
use model::profile::sample_threads::SampleThreads;
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track};
use model::time::Interval;

/// A profile without its time.
pub(super) struct Draft {
    pub(super) frames: Frames,
    pub(super) stacks: Stacks,
    pub(super) tracks: Vec<Track>,
    idle: FrameId,
    idle_stack: StackId,
}

impl Draft {
    /// A profile with nothing in it.
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

    /// A profile of what was announced: where there is nothing, nothing is known.
    pub(super) fn with_empty_gaps() -> Self {
        Self {
            idle_stack: StackId::EMPTY,
            ..Self::new()
        }
    }

    /// The stack of `parent` with this frame inside of it.
    pub(super) fn push(&mut self, parent: StackId, frame: Frame) -> StackId {
        let frame = self.frames.intern(frame);
        self.stacks.push(parent, frame)
    }

    /// The profile, from its first sample to the end of the log.
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

    /// The profile of what was alive, from the begin of the log's clock.
    pub(super) fn finish_heap(self, end: Nanos, heap: HeapStacks) -> Profile {
        let mut profile = self.finish(end, None);
        profile.span = Interval::new(Nanos(0), end);
        profile.heap = Some(heap);
        profile
    }
}
