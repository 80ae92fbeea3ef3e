//! A profile: who was seen where, when, for how long.

pub mod beside;
pub mod frames;
pub mod heap;
pub mod origin;
pub mod revision;
pub mod sample_threads;
pub mod samples;
pub mod source;
pub mod stacks;
mod sums;
mod tree_order;
pub mod weights;

pub use frames::{Frame, FrameId, FrameKind, Frames};
pub use heap::HeapStacks;
pub use origin::{Choice, Origin, Weighed};
pub use revision::Revision;
pub use sample_threads::SampleThreads;
pub use samples::{Sample, Samples};
pub use source::{Source, Unit};
pub use stacks::{StackId, Stacks};
pub use tree_order::TreeOrder;
pub use weights::{Measure, Weight};

use serde::{Deserialize, Serialize};

use crate::time::Interval;

use eventlog::ids::{Address, CapId, Duration, OsThreadId, ThreadId};
use symbols::Name;

/// Everything that a log tells about where time went.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The functions.
    pub frames: Frames,
    /// The stacks made of them.
    pub stacks: Stacks,
    /// The frame `IDLE`, which fills gaps.
    pub idle: FrameId,
    /// What stands in gaps: the stack of `IDLE` alone, or the one without frames.
    pub idle_stack: StackId,
    /// Capabilities by number, then OS threads by number, then the calls of
    /// which the OS thread is not known.
    pub tracks: Vec<Track>,
    /// How often the runtime takes a sample (`ProfBegin`), if the log says so.
    pub tick_interval: Option<Duration>,
    /// From the first sample to the end of the log.
    pub span: Interval,
    /// Of which Haskell thread each sample of a capability is, where the log
    /// tells.
    pub threads: SampleThreads,
    /// If it is about what is alive, not about time: the censuses, in place of
    /// the tracks' samples.
    pub heap: Option<HeapStacks>,
    /// Changes with the names of frames: what is made of the frames and stacks
    /// is kept under it.
    pub revision: Revision,
}

impl Profile {
    /// The runtime's default for profiled programs (`+RTS -V0.001`).
    pub const DEFAULT_TICK: Duration = Duration(1_000_000);

    /// A profile of nothing.
    #[must_use]
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

    /// Gives names to the frames that have an address.
    pub fn name_addresses<'a>(&mut self, name: impl Fn(Address) -> Option<&'a Name>) {
        self.frames.name_addresses(name);
        self.revision = Revision::next();
    }

    /// Up to which length a gap between the samples of `track` is no more than
    /// the timer's jitter: under two ticks. Foreign calls have exact times.
    #[must_use]
    pub fn jitter(&self, track: &Track) -> Duration {
        if !track.sampled {
            return Duration::ZERO;
        }
        let tick = self.tick_interval.unwrap_or(Self::DEFAULT_TICK);
        Duration(tick.0.saturating_mul(2).saturating_sub(1))
    }

    /// The places of these tracks; of none: of all that are shown together.
    /// Threads show the samples of the capabilities once more.
    #[must_use]
    pub fn chosen(&self, sources: &[TrackSource]) -> Vec<usize> {
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

/// Whose time a track shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TrackSource {
    /// The samples of a capability.
    Capability(CapId),
    /// The announced foreign calls of an OS thread.
    OsThread(OsThreadId),
    /// Announced foreign calls of unknown OS threads. Calls at the same time
    /// cannot be one thread's: they are on different lanes, from 0.
    UnknownThread {
        /// Its number among such lanes, from 0.
        lane: u32,
    },
    /// What a Haskell thread did, or waited for.
    Thread(ThreadId),
    /// Spans that the program announced, as far as they lie inside each other.
    /// Where two only overlap, the later one is on the next lane, from 0.
    Spans {
        /// The thread that ran when they began; `None` if none did, or if
        /// they are the spans of several threads, one after the other.
        thread: Option<ThreadId>,
        /// Its number among such lanes, from 0.
        lane: u32,
    },
    /// The whole program.
    Program,
}

impl TrackSource {
    /// Its name in links and on the command line, which never changes: `cap0`,
    /// `os71`, `unknown0`, `thread5`, `spans5.0`, `spans.0` of no thread,
    /// `program`.
    #[must_use]
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

    /// The source of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
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

/// Samples of one source.
#[derive(Clone, Debug)]
pub struct Track {
    /// The track that the samples are of.
    pub source: TrackSource,
    /// The samples.
    pub samples: Samples,
    /// Which of them the end of the log cut off: foreign calls without a
    /// `STOP`. Ascending.
    pub open: Vec<u32>,
    /// Whether its times are a timer's, and so no more exact than a tick.
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
            assert_eq!(TrackSource::named(&source.name()), Some(source));
        }
        for name in ["", "cap", "cap-1", "spans", "spans5", "spansx.1", "all"] {
            assert_eq!(TrackSource::named(name), None, "{name}");
        }
    }
}
