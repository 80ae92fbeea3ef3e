//! Profiles: samples of stacks over time, by track.

pub mod compared;
pub mod frames;
pub mod heap;
pub mod revision;
pub mod sample_threads;
pub mod samples;
pub mod source;
pub mod stack_source;
pub mod stacks;
mod sums;
mod tree_order;
pub mod weights;

pub use frames::{Frame, FrameId, FrameKind, Frames};
pub use heap::HeapStacks;
pub use revision::Revision;
pub use sample_threads::SampleThreads;
pub use samples::{Sample, Samples};
pub use source::{Source, Unit};
pub use stack_source::{FlameSelection, StackSource, WeightedStacks};
pub use stacks::{StackId, Stacks};
pub use tree_order::TreeOrder;
pub use weights::{Measure, Weight};

use serde::{Deserialize, Serialize};

use crate::time::Interval;

use eventlog::ids::{Address, CapId, Duration, OsThreadId, ThreadId};
use symbols::Name;

/// All samples of one source of a log, with their stacks and frames.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Interned frames (functions).
    pub frames: Frames,
    /// Interned stacks of these frames.
    pub stacks: Stacks,
    /// The frame `IDLE`, which fills gaps.
    pub idle: FrameId,
    /// Stack shown in gaps: the stack of `IDLE` alone, or the empty stack.
    pub idle_stack: StackId,
    /// Tracks: capabilities by number, then OS threads by number, then foreign calls of unknown OS threads.
    pub tracks: Vec<Track>,
    /// Interval of the sampling timer (`ProfBegin`), if it is in the log.
    pub tick_interval: Option<Duration>,
    /// From the first sample to the end of the log.
    pub span: Interval,
    /// Haskell thread of each sample of a capability, where the log has scheduler events.
    pub threads: SampleThreads,
    /// For profiles of live bytes instead of time: the heap censuses, which replace the samples of the tracks.
    pub heap: Option<HeapStacks>,
    /// Cache key for results derived from frames and stacks; changes when frames are renamed.
    pub revision: Revision,
}

impl Profile {
    /// Default timer interval of profiled programs (`+RTS -V0.001`).
    pub const DEFAULT_TICK: Duration = Duration(1_000_000);

    /// Creates a profile without samples.
    pub fn empty() -> Self {
        Self {
            frames: Frames::default(),
            stacks: Stacks::default(),
            idle: FrameId(0),
            idle_stack: StackId::EMPTY,
            tracks: Vec::new(),
            tick_interval: None,
            span: Interval::default(),
            threads: SampleThreads::default(),
            heap: None,
            revision: Revision::next(),
        }
    }

    /// Names the frames that have an address, by symbol lookup.
    pub fn name_addresses<'a>(&mut self, name: impl Fn(Address) -> Option<&'a Name>) {
        self.frames.name_addresses(name);
        self.revision = Revision::next();
    }

    /// Returns the longest gap between samples of `track` that may be timer jitter: just under two ticks. Zero
    /// for tracks with exact times, such as foreign calls.
    pub fn jitter(&self, track: &Track) -> Duration {
        if !track.sampled {
            return Duration::ZERO;
        }
        let tick = self.tick_interval.unwrap_or(Self::DEFAULT_TICK);
        Duration(tick.0.saturating_mul(2).saturating_sub(1))
    }

    /// Returns the indices of the tracks of `sources`; if it is empty, of all tracks that are shown by default.
    /// Threads are not, if there are capabilities, as they repeat the samples of these.
    pub fn selected_tracks(&self, sources: &[TrackSource]) -> Vec<usize> {
        let of_cap = |track: &Track| matches!(track.source, TrackSource::Capability(_));
        let has_caps = self.tracks.iter().any(of_cap);
        let is_chosen = |source: TrackSource| match source {
            TrackSource::Thread(_) if sources.is_empty() => !has_caps,
            _ => sources.is_empty() || sources.contains(&source),
        };
        let tracks = self.tracks.iter().enumerate();
        tracks
            .filter(|(_, track)| is_chosen(track.source))
            .map(|(place, _)| place)
            .collect()
    }
}

/// Owner of the time on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TrackSource {
    /// Samples of a capability.
    Capability(CapId),
    /// Announced foreign calls of an OS thread.
    OsThread(OsThreadId),
    /// Announced foreign calls of unknown OS threads. Calls that overlap in time are of different threads, so
    /// they are on different lanes.
    UnknownThread {
        /// Number of the lane, from 0.
        lane: u32,
    },
    /// States of a Haskell thread: running or waiting.
    Thread(ThreadId),
    /// User spans, as far as they nest. A span that only overlaps an earlier one is on the next lane.
    Spans {
        /// The thread that ran when the spans began; `None` if no thread ran, or for the consecutive spans of
        /// several threads.
        thread: Option<ThreadId>,
        /// Number of the lane, from 0.
        lane: u32,
    },
    /// The program as a whole.
    Program,
}

impl TrackSource {
    /// Returns the stable name for links and the command line: `cap0`, `os71`, `unknown0`, `thread5`, `spans5.0`,
    /// `spans.0` without a thread, `program`.
    pub fn name(self) -> String {
        match self {
            Self::Capability(cap) => format!("cap{cap}"),
            Self::OsThread(thread) => format!("os{thread}"),
            Self::UnknownThread { lane } => format!("unknown{lane}"),
            Self::Thread(thread) => format!("thread{thread}"),
            Self::Spans { thread, lane } => {
                let thread = thread.map_or(String::new(), |thread| thread.to_string());
                format!("spans{thread}.{lane}")
            }
            Self::Program => "program".to_owned(),
        }
    }

    /// Parses a [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "program" {
            return Some(Self::Program);
        }
        if let Some((thread, lane)) = name
            .strip_prefix("spans")
            .and_then(|rest| rest.split_once('.'))
        {
            let thread = match thread {
                "" => None,
                number => Some(ThreadId(number.parse().ok()?)),
            };
            let lane = lane.parse().ok()?;
            return Some(Self::Spans { thread, lane });
        }
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (kind, number) = name.split_at(digits);
        Some(match kind {
            "cap" => Self::Capability(CapId(number.parse().ok()?)),
            "os" => Self::OsThread(OsThreadId(number.parse().ok()?)),
            "unknown" => Self::UnknownThread {
                lane: number.parse().ok()?,
            },
            "thread" => Self::Thread(ThreadId(number.parse().ok()?)),
            _ => return None,
        })
    }
}

impl std::fmt::Display for TrackSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Capability(cap) => write!(f, "Capability {cap}"),
            Self::OsThread(thread) => write!(f, "OS thread {thread}"),
            Self::UnknownThread { lane: 0 } => f.write_str("Unknown OS thread"),
            Self::UnknownThread { lane } => write!(f, "Unknown OS thread ({})", lane + 1),
            Self::Thread(thread) => write!(f, "Thread {thread}"),
            Self::Spans { thread, lane } => {
                match thread {
                    Some(thread) => write!(f, "Spans of thread {thread}")?,
                    None => f.write_str("Spans of no thread")?,
                }
                match lane {
                    0 => Ok(()),
                    lane => write!(f, " ({})", lane + 1),
                }
            }
            Self::Program => f.write_str("Program"),
        }
    }
}

/// Samples of one source, in time order.
#[derive(Clone, Debug)]
pub struct Track {
    /// Owner of the time.
    pub source: TrackSource,
    /// The samples; none overlap.
    pub samples: Samples,
    /// Indices of samples that the end of the log cut off (foreign calls without a `STOP`), ascending.
    pub open: Vec<u32>,
    /// Whether the times come from a timer, and are accurate only to a tick.
    pub sampled: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_tracks() {
        let thread = ThreadId(5);
        for source in [
            TrackSource::Capability(CapId(3)),
            TrackSource::OsThread(OsThreadId(u64::MAX)),
            TrackSource::UnknownThread { lane: 2 },
            TrackSource::Thread(thread),
            TrackSource::Spans {
                thread: Some(thread),
                lane: 1,
            },
            TrackSource::Spans {
                thread: None,
                lane: 0,
            },
            TrackSource::Program,
        ] {
            assert_eq!(TrackSource::from_name(&source.name()), Some(source));
        }
        for name in ["", "cap", "cap-1", "spans", "spans5", "spansx.1", "all"] {
            assert_eq!(TrackSource::from_name(name), None, "{name}");
        }
    }
}
