//! Rows of the profile: announced foreign calls by OS thread, and samples by
//! capability. The samples themselves stay where they are
//! ([`Profile`]); here is the index that makes any zoom cost pixels.
//!
//! A call is one span, whatever ran in it: the parts of a profile that have
//! the same foreign function on the same stack and follow each other at once.
//! Where a callback of it calls out again, the inner call takes its place.
//!
//! Of several samples in a pixel the functions are counted as in a vote
//! (`Vote`): one that has more than half of those that are not idle always
//! wins, where none has, it is one of them.

use serde::{Deserialize, Serialize};

use crate::flamegraph::profiles::Profiles;
use crate::flamegraph::sources;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, OsThreadId};
use model::class::{Class, ClassTimes};
use model::forest::{Aggregate, Forest};
use model::lane::{BLOCK, Lane, LaneIndex};
use model::marks::NONE;
use model::place::place32;
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::source::Source;
use model::profile::stacks::StackId;
use model::profile::{Profile, Track, TrackSource};
use model::sorting::SortSmall;
use model::span_lane::{Piece, SpanLane};

/// Of how many functions the names are told to the page: of calls those with
/// the most time, of samples those with the most samples. Of others the
/// details of an item tell.
pub(crate) const MOST_NAMES: usize = 2000;
/// How many OS threads are listed: the first ones.
pub(crate) const MOST_CALL_ROWS: usize = 1000;

/// The code of a call that was not over when the log ended.
pub const OPEN: u8 = 1;

/// Whose announced foreign calls are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CallsOf {
    /// An OS thread's.
    OsThread(OsThreadId),
    /// Those of OS threads that were not announced. Calls at the same time are
    /// on different lanes, from 0.
    Unknown {
        /// The number of the lane.
        lane: u32,
    },
}

impl CallsOf {
    /// The track of the profile with these calls.
    #[must_use]
    pub const fn source(self) -> TrackSource {
        match self {
            Self::OsThread(thread) => TrackSource::OsThread(thread),
            Self::Unknown { lane } => TrackSource::UnknownThread { lane },
        }
    }

    /// Whose calls a track of a profile has; `None` if it has none.
    #[must_use]
    pub const fn of_source(source: TrackSource) -> Option<Self> {
        match source {
            TrackSource::OsThread(thread) => Some(Self::OsThread(thread)),
            TrackSource::UnknownThread { lane } => Some(Self::Unknown { lane }),
            _ => None,
        }
    }
}

/// Functions whose names are told to the page, by their number there.
#[derive(Clone, Debug, Default)]
struct Named {
    frames: Vec<FrameId>,
    numbers: SeededMap<FrameId, u32>,
}

impl Named {
    /// The functions with the greatest weights.
    fn heaviest(weights: SeededMap<FrameId, u64>) -> Self {
        let mut all: Vec<(FrameId, u64)> = weights.into_iter().collect();
        all.sort_small_by_key(|(frame, weight)| (std::cmp::Reverse(*weight), *frame));
        all.truncate(MOST_NAMES);
        let frames: Vec<FrameId> = all.into_iter().map(|(frame, _)| frame).collect();
        let numbers = frames.iter().copied().zip(0..).collect();
        Self { frames, numbers }
    }

    fn number(&self, frame: Option<FrameId>) -> Option<u32> {
        frame.and_then(|frame| self.numbers.get(&frame)).copied()
    }

    /// The functions, without where they are in the source.
    fn told(&self, profile: Option<&Profile>) -> Vec<Frame> {
        let frames = self.frames.iter();
        let frame = |id: &FrameId| {
            let frame = profile.and_then(|profile| profile.frames.get(*id));
            Frame {
                location: None,
                ..frame.map_or_else(|| Frame::of_kind(FrameKind::Unknown, ""), Clone::clone)
            }
        };
        frames.map(frame).collect()
    }
}

/// What is the most among several samples, as far as it is known without
/// counting each function: the majority vote of Boyer and Moore. Votes
/// combine so that a function with more than half of all wins in whatever
/// order; who wins where none has as many may depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Vote {
    frame: FrameId,
    /// A sample of this function.
    sample: u32,
    /// By how much it leads; nobody votes for being idle.
    lead: u32,
}

impl Aggregate for Vote {
    fn combine(self, later: Self) -> Self {
        let (ahead, behind) = if later.lead > self.lead {
            (later, self)
        } else {
            (self, later)
        };
        let lead = if ahead.frame == behind.frame {
            ahead.lead.saturating_add(behind.lead)
        } else {
            ahead.lead - behind.lead
        };
        Self { lead, ..ahead }
    }
}

/// The index of a capability's samples.
#[derive(Clone, Debug)]
struct SampleRow {
    cap: CapId,
    /// The place of the track in its profile.
    track: usize,
    times: LaneIndex<3>,
    votes: Forest<Vote>,
}

/// The rows of a log's profile.
#[derive(Clone, Debug, Default)]
pub struct ProfileRows {
    calls: Vec<(CallsOf, SpanLane)>,
    call_names: Named,
    /// Which profile the samples are from.
    source: Source,
    gc: Option<FrameId>,
    samples: Vec<SampleRow>,
    sample_names: Named,
}

impl ProfileRows {
    /// The rows of the profiles of a log. Samples are those of cost centres;
    /// only of a log without those, the ones of Haskell stacks.
    #[must_use]
    pub fn of(profiles: &Profiles) -> Self {
        let mut rows = Self::default();
        if let Some(profile) = profiles.get(sources::COST_CENTRES) {
            rows.add_calls(profile);
        }
        let sources = [sources::COST_CENTRES, sources::STACK_SAMPLES];
        let has_samples = |source: &Source| {
            let profile = profiles.get(*source);
            profile.is_some_and(|profile| sampled(profile).next().is_some())
        };
        if let Some(source) = sources.into_iter().find(has_samples) {
            rows.source = source;
            if let Some(profile) = profiles.get(source) {
                rows.add_samples(profile);
            }
        }
        rows
    }

    fn add_calls(&mut self, profile: &Profile) {
        let tracks = profile.tracks.iter().filter_map(|track| {
            let of = CallsOf::of_source(track.source)?;
            Some((of, track))
        });
        let tracks: Vec<(CallsOf, &Track)> = tracks.take(MOST_CALL_ROWS).collect();
        if tracks.is_empty() {
            return;
        }
        let calls = calls_of_stacks(profile);
        let lanes: Vec<(CallsOf, Vec<Part>)> = tracks
            .into_iter()
            .map(|(of, track)| (of, parts(track, &calls)))
            .collect();
        let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
        for part in lanes.iter().flat_map(|(_, parts)| parts) {
            if let Some(frame) = profile.stacks.frame(part.call) {
                let weight = weights.entry(frame).or_default();
                *weight = weight.saturating_add(part.end - part.start);
            }
        }
        self.call_names = Named::heaviest(weights);
        for (of, parts) in lanes {
            let mut lane = SpanLane::default();
            for part in parts {
                lane.push(Piece {
                    start: part.start,
                    end: part.end,
                    detail: self
                        .call_names
                        .number(profile.stacks.frame(part.call))
                        .unwrap_or(NONE),
                    class: Class::Foreign,
                    code: if part.open { OPEN } else { 0 },
                });
            }
            lane.settle();
            self.calls.push((of, lane));
        }
    }

    fn add_samples(&mut self, profile: &Profile) {
        let mut frames = profile.frames.iter();
        let gc = frames.find(|(_, frame)| frame.kind == FrameKind::BuiltIn && frame.label == "GC");
        self.gc = gc.map(|(id, _)| id);
        let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
        for (place, cap, track) in sampled(profile) {
            let mut row = SampleRow {
                cap,
                track: place,
                times: LaneIndex::new([Class::Running, Class::Gc, Class::Other]),
                votes: Forest::new(),
            };
            let mut block: Option<Vote> = None;
            for index in 0..track.samples.len() {
                let Some((span, stack)) = track.samples.get(index) else {
                    continue;
                };
                let frame = profile.stacks.frame(stack).unwrap_or(profile.idle);
                let class = self.class(profile, frame);
                row.times.push(class, span.duration().0);
                let vote = vote(index, frame, class);
                block = Some(block.map_or(vote, |block| block.combine(vote)));
                if (index + 1).is_multiple_of(BLOCK)
                    && let Some(block) = block.take()
                {
                    row.votes.push(block);
                }
                *weights.entry(frame).or_default() += 1;
            }
            self.samples.push(row);
        }
        self.sample_names = Named::heaviest(weights);
    }

    fn class(&self, profile: &Profile, frame: FrameId) -> Class {
        if frame == profile.idle {
            Class::Other
        } else if Some(frame) == self.gc {
            Class::Gc
        } else {
            Class::Running
        }
    }

    /// Whose calls there are, and how many; one that was interrupted by a
    /// callback's counts again.
    pub fn call_counts(&self) -> impl Iterator<Item = (CallsOf, u64)> {
        let calls = self.calls.iter();
        calls.map(|(of, lane)| (*of, lane.len() as u64))
    }

    /// The capabilities with samples, and how many each has.
    pub fn sample_counts(&self, profiles: &Profiles) -> impl Iterator<Item = (CapId, u64)> {
        let profile = profiles.get(self.source);
        self.samples.iter().map(move |row| {
            let track = profile.and_then(|profile| profile.tracks.get(row.track));
            (row.cap, track.map_or(0, |track| track.samples.len() as u64))
        })
    }

    /// The foreign functions of most calls, as the profiles call them now.
    #[must_use]
    pub fn foreign_functions(&self, profiles: &Profiles) -> Vec<Frame> {
        self.call_names.told(profiles.get(sources::COST_CENTRES))
    }

    /// The functions of most samples, as the profiles call them now.
    #[must_use]
    pub fn sampled_functions(&self, profiles: &Profiles) -> Vec<Frame> {
        self.sample_names.told(profiles.get(self.source))
    }

    /// The number of a sampled function among those whose names are told.
    #[must_use]
    pub fn sampled_function(&self, frame: Option<FrameId>) -> Option<u32> {
        self.sample_names.number(frame)
    }

    /// The calls of an OS thread: the detail of each is the number of its
    /// function among those whose names are told, or [`NONE`]; the code 0 or
    /// [`OPEN`].
    #[must_use]
    pub fn calls(&self, of: CallsOf) -> Option<&SpanLane> {
        let mut calls = self.calls.iter();
        calls.find(|(other, _)| *other == of).map(|(_, lane)| lane)
    }

    /// The samples of a row as a lane.
    #[must_use]
    pub fn samples<'a>(&'a self, profiles: &'a Profiles, cap: CapId) -> Option<SampleLane<'a>> {
        let row = self.samples.iter().find(|row| row.cap == cap)?;
        let profile = profiles.get(self.source)?;
        let track = profile.tracks.get(row.track)?;
        Some(SampleLane {
            rows: self,
            row,
            profile,
            track,
        })
    }

    /// Which profile the samples are from.
    #[must_use]
    pub const fn source(&self) -> Source {
        self.source
    }
}

/// The tracks of capabilities that have samples of a timer.
fn sampled(profile: &Profile) -> impl Iterator<Item = (usize, CapId, &Track)> {
    let tracks = profile.tracks.iter().enumerate();
    tracks.filter_map(|(place, track)| match track.source {
        TrackSource::Capability(cap) if track.sampled => Some((place, cap, track)),
        _ => None,
    })
}

fn vote(index: usize, frame: FrameId, class: Class) -> Vote {
    Vote {
        frame,
        sample: place32(index),
        lead: u32::from(class != Class::Other),
    }
}

/// A stretch of a call in which no other call was made.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    end: u64,
    /// The stack up to the foreign function.
    call: StackId,
    open: bool,
}

/// For each stack that of the innermost foreign call in it, or the empty one:
/// by [`StackId::index`]. A C function that no announced call made counts as
/// a call itself.
fn calls_of_stacks(profile: &Profile) -> Vec<StackId> {
    let mut calls: Vec<StackId> = Vec::with_capacity(profile.stacks.len());
    for stack in profile.stacks.ids() {
        let frame = profile.stacks.frame(stack);
        let frame = frame.and_then(|frame| profile.frames.get(frame));
        let outer = calls.get(profile.stacks.parent(stack).index()).copied();
        let outer = outer.unwrap_or(StackId::EMPTY);
        let is_call = frame.is_some_and(|frame| match frame.kind {
            FrameKind::ForeignCall => true,
            FrameKind::Foreign => outer == StackId::EMPTY,
            _ => false,
        });
        calls.push(if is_call { stack } else { outer });
    }
    calls
}

/// The calls of an OS thread, one after the other.
fn parts(track: &Track, calls: &[StackId]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for index in 0..track.samples.len() {
        let Some((span, stack)) = track.samples.get(index) else {
            continue;
        };
        let call = calls.get(stack.index()).copied();
        let Some(call) = call.filter(|call| *call != StackId::EMPTY) else {
            continue;
        };
        let number = place32(index);
        let open = track.open.binary_search(&number).is_ok();
        match parts.last_mut() {
            Some(last) if last.call == call && last.end == span.start().0 => {
                last.end = span.end().0;
                last.open |= open;
            }
            _ => parts.push(Part {
                start: span.start().0,
                end: span.end().0,
                call,
                open,
            }),
        }
    }
    parts
}

/// The samples of a capability as a lane of the timeline.
#[derive(Clone, Copy, Debug)]
pub struct SampleLane<'a> {
    rows: &'a ProfileRows,
    row: &'a SampleRow,
    /// The profile that they are of.
    pub profile: &'a Profile,
    /// The samples.
    pub track: &'a Track,
}

impl SampleLane<'_> {
    /// What ran: the innermost function of a sample.
    #[must_use]
    pub fn frame(&self, index: usize) -> Option<FrameId> {
        let (_, stack) = self.track.samples.get(index)?;
        self.profile.stacks.frame(stack)
    }

    fn vote(&self, index: usize) -> Vote {
        let frame = self.frame(index).unwrap_or(self.profile.idle);
        vote(index, frame, self.rows.class(self.profile, frame))
    }
}

impl Lane for SampleLane<'_> {
    fn len(&self) -> usize {
        self.track.samples.len()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        let sample = self.track.samples.get(index);
        sample.map_or((0, 0), |(span, _)| (span.start().0, span.end().0))
    }
    fn class(&self, index: usize) -> Class {
        let frame = self.frame(index).unwrap_or(self.profile.idle);
        self.rows.class(self.profile, frame)
    }
    fn before(&self, index: usize) -> ClassTimes {
        self.row.times.before(index, |i| {
            let (start, end) = self.span(i);
            (self.class(i), end - start)
        })
    }
    /// One of the samples of the function that has the most of them.
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        let count = |from: usize, to: usize| {
            let votes = (from..to).map(|index| self.vote(index));
            votes.reduce(Vote::combine)
        };
        let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
        let winner = if first >= last {
            count(from, to)
        } else {
            let parts = [
                count(from, first * BLOCK),
                self.row.votes.query(first, last),
                count(last * BLOCK, to),
            ];
            parts.into_iter().flatten().reduce(Vote::combine)
        };
        winner.map(|vote| vote.sample as usize)
    }
}
