//! Timeline rows of profiles: announced foreign calls by OS thread, and samples by capability. The samples
//! themselves stay in the [`Profile`]; the indexes here make the cost of drawing depend on pixels at every zoom
//! level.
//!
//! A call is one span, whatever runs in it: adjacent parts of a profile with the same foreign function on the same
//! stack. Where a callback of a call makes a foreign call, the inner call replaces it.
//!
//! If a pixel covers several samples, a majority vote (`Vote`) selects the function: one with more than half of
//! the non-idle samples always wins; if there is none, the winner is any of the functions.

use serde::{Deserialize, Serialize};

use crate::flamegraph::profiles::Profiles;
use crate::flamegraph::sources;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, OsThreadId};
use model::class::{Class, ClassTimes};
use model::forest::{Aggregate, Forest};
use model::lane::{BLOCK, Lane, LaneIndex};
use model::marks::NONE;
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::source::Source;
use model::profile::stacks::StackId;
use model::profile::{Profile, Track, TrackSource};
use model::saturating::saturating_u32;
use model::sorting::CompactSort;
use model::span_lane::{SpanLane, TimelineSpan};

/// Maximum number of functions whose names are sent to the page: of calls those with the most time, of samples
/// those with the most samples. The names of others are only shown in the details of an item.
pub(crate) const MAX_NAMES: usize = 2000;
/// Maximum number of listed OS threads; the first ones are listed.
pub(crate) const MAX_CALL_ROWS: usize = 1000;

/// Code of a call that was open when the log ended.
pub const OPEN: u8 = 1;

/// Caller of announced foreign calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Caller {
    /// An OS thread.
    OsThread(OsThreadId),
    /// An unannounced OS thread. Simultaneous calls are on different lanes, numbered from 0.
    Unknown {
        /// Number of the lane.
        lane: u32,
    },
}

impl Caller {
    /// Returns the profile track with these calls.
    pub const fn source(self) -> TrackSource {
        match self {
            Self::OsThread(thread) => TrackSource::OsThread(thread),
            Self::Unknown { lane } => TrackSource::UnknownThread { lane },
        }
    }

    /// Returns the caller of a profile track; `None` if it has no calls.
    pub const fn from_source(source: TrackSource) -> Option<Self> {
        match source {
            TrackSource::OsThread(thread) => Some(Self::OsThread(thread)),
            TrackSource::UnknownThread { lane } => Some(Self::Unknown { lane }),
            _ => None,
        }
    }
}

/// Functions whose names are sent to the page, by their number there.
#[derive(Clone, Debug, Default)]
struct NumberedNames {
    frames: Vec<FrameId>,
    numbers: SeededMap<FrameId, u32>,
}

impl NumberedNames {
    /// Selects the functions with the largest weights.
    fn select_heaviest(weights: SeededMap<FrameId, u64>) -> Self {
        let mut all: Vec<(FrameId, u64)> = weights.into_iter().collect();
        all.sort_small_by_key(|(frame, weight)| (std::cmp::Reverse(*weight), *frame));
        all.truncate(MAX_NAMES);
        let frames: Vec<FrameId> = all.into_iter().map(|(frame, _)| frame).collect();
        let numbers = frames.iter().copied().zip(0..).collect();
        Self { frames, numbers }
    }

    fn number(&self, frame: Option<FrameId>) -> Option<u32> {
        frame.and_then(|frame| self.numbers.get(&frame)).copied()
    }

    /// Returns the functions without their source locations.
    fn to_frames(&self, profile: Option<&Profile>) -> Vec<Frame> {
        let frames = self.frames.iter();
        let frame = |id: &FrameId| {
            let frame = profile.and_then(|profile| profile.frames.get(*id));
            Frame {
                location: None,
                ..frame.map_or_else(|| Frame::with_kind(FrameKind::Unknown, ""), Clone::clone)
            }
        };
        frames.map(frame).collect()
    }
}

/// Partial result of a Boyer–Moore majority vote over samples.
///
/// Votes are merged such that a function with more than half of the samples wins regardless of the order; without
/// a majority, the winner may depend on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Vote {
    frame: FrameId,
    /// Index of a sample of this function.
    sample: u32,
    /// Lead over the other functions; idle samples do not vote.
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

/// Index over the samples of a capability.
#[derive(Clone, Debug)]
struct SampleRow {
    cap: CapId,
    /// Index of the track in its profile.
    track: usize,
    times: LaneIndex<3>,
    votes: Forest<Vote>,
}

/// Timeline rows of the profiles of a log.
#[derive(Clone, Debug, Default)]
pub struct ProfileRows {
    calls: Vec<(Caller, SpanLane)>,
    call_names: NumberedNames,
    /// Profile that the samples are from.
    source: Source,
    gc: Option<FrameId>,
    samples: Vec<SampleRow>,
    sample_names: NumberedNames,
}

impl ProfileRows {
    /// Builds the rows. Samples are those of cost centres, or of Haskell stacks if the log has none of the former.
    pub fn new(profiles: &Profiles) -> Self {
        let mut rows = Self::default();
        if let Some(profile) = profiles.get(sources::COST_CENTRES) {
            rows.add_calls(profile);
        }
        let sources = [sources::COST_CENTRES, sources::STACK_SAMPLES];
        let has_samples = |source: &Source| {
            let profile = profiles.get(*source);
            profile.is_some_and(|profile| sampled_caps(profile).next().is_some())
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
            let of = Caller::from_source(track.source)?;
            Some((of, track))
        });
        let tracks: Vec<(Caller, &Track)> = tracks.take(MAX_CALL_ROWS).collect();
        if tracks.is_empty() {
            return;
        }
        let calls = calls_of_stacks(profile);
        let lanes: Vec<(Caller, Vec<CallPart>)> = tracks
            .into_iter()
            .map(|(of, track)| (of, call_parts(track, &calls)))
            .collect();
        let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
        for part in lanes.iter().flat_map(|(_, parts)| parts) {
            if let Some(frame) = profile.stacks.frame(part.call) {
                let weight = weights.entry(frame).or_default();
                *weight = weight.saturating_add(part.end - part.start);
            }
        }
        self.call_names = NumberedNames::select_heaviest(weights);
        for (of, parts) in lanes {
            let mut lane = SpanLane::default();
            for part in parts {
                lane.push(TimelineSpan {
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
            lane.sort_and_clip();
            self.calls.push((of, lane));
        }
    }

    fn add_samples(&mut self, profile: &Profile) {
        let mut frames = profile.frames.iter();
        let gc = frames.find(|(_, frame)| frame.kind == FrameKind::BuiltIn && frame.label == "GC");
        self.gc = gc.map(|(id, _)| id);
        let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
        for (place, cap, track) in sampled_caps(profile) {
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
        self.sample_names = NumberedNames::select_heaviest(weights);
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

    /// Returns the callers and their number of calls. A call interrupted by a callback's call counts again.
    pub fn call_counts(&self) -> impl Iterator<Item = (Caller, u64)> {
        let calls = self.calls.iter();
        calls.map(|(of, lane)| (*of, lane.len() as u64))
    }

    /// Returns the capabilities with samples, and their number of samples.
    pub fn sample_counts(&self, profiles: &Profiles) -> impl Iterator<Item = (CapId, u64)> {
        let profile = profiles.get(self.source);
        self.samples.iter().map(move |row| {
            let track = profile.and_then(|profile| profile.tracks.get(row.track));
            (row.cap, track.map_or(0, |track| track.samples.len() as u64))
        })
    }

    /// Returns the foreign functions of the calls by number, with their current names in `profiles`.
    pub fn foreign_functions(&self, profiles: &Profiles) -> Vec<Frame> {
        self.call_names
            .to_frames(profiles.get(sources::COST_CENTRES))
    }

    /// Returns the functions of the samples by number, with their current names in `profiles`.
    pub fn sampled_functions(&self, profiles: &Profiles) -> Vec<Frame> {
        self.sample_names.to_frames(profiles.get(self.source))
    }

    /// Returns the number of a function in [`sampled_functions`](Self::sampled_functions).
    pub fn sampled_function(&self, frame: Option<FrameId>) -> Option<u32> {
        self.sample_names.number(frame)
    }

    /// Returns the lane of calls of an OS thread. The detail of each is the number of its function in
    /// [`foreign_functions`](Self::foreign_functions), or [`NONE`]; the code is 0 or [`OPEN`].
    pub fn calls(&self, of: Caller) -> Option<&SpanLane> {
        let mut calls = self.calls.iter();
        calls.find(|(other, _)| *other == of).map(|(_, lane)| lane)
    }

    /// Returns the samples of a capability as a lane.
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

    /// Returns the profile that the samples are from.
    pub const fn source(&self) -> Source {
        self.source
    }
}

/// Returns the tracks of capabilities with timer samples.
fn sampled_caps(profile: &Profile) -> impl Iterator<Item = (usize, CapId, &Track)> {
    let tracks = profile.tracks.iter().enumerate();
    tracks.filter_map(|(place, track)| match track.source {
        TrackSource::Capability(cap) if track.sampled => Some((place, cap, track)),
        _ => None,
    })
}

fn vote(index: usize, frame: FrameId, class: Class) -> Vote {
    Vote {
        frame,
        sample: saturating_u32(index),
        lead: u32::from(class != Class::Other),
    }
}

/// Part of a call in which no other call was made.
#[derive(Clone, Copy, Debug)]
struct CallPart {
    start: u64,
    end: u64,
    /// Stack up to and including the foreign function.
    call: StackId,
    open: bool,
}

/// Maps each stack, by [`StackId::index`], to the prefix that ends with its innermost foreign call, or to the
/// empty stack. A C function outside of an announced call counts as a call itself.
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

/// Returns the calls of an OS thread in order.
fn call_parts(track: &Track, calls: &[StackId]) -> Vec<CallPart> {
    let mut parts: Vec<CallPart> = Vec::new();
    for index in 0..track.samples.len() {
        let Some((span, stack)) = track.samples.get(index) else {
            continue;
        };
        let call = calls.get(stack.index()).copied();
        let Some(call) = call.filter(|call| *call != StackId::EMPTY) else {
            continue;
        };
        let number = saturating_u32(index);
        let open = track.open.binary_search(&number).is_ok();
        match parts.last_mut() {
            Some(last) if last.call == call && last.end == span.start().0 => {
                last.end = span.end().0;
                last.open |= open;
            }
            _ => parts.push(CallPart {
                start: span.start().0,
                end: span.end().0,
                call,
                open,
            }),
        }
    }
    parts
}

/// Samples of a capability as a timeline lane.
#[derive(Clone, Copy, Debug)]
pub struct SampleLane<'a> {
    rows: &'a ProfileRows,
    row: &'a SampleRow,
    /// Profile of the samples.
    pub profile: &'a Profile,
    /// Track of the capability.
    pub track: &'a Track,
}

impl SampleLane<'_> {
    /// Returns the innermost function of a sample.
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
    fn times_before_index(&self, index: usize) -> ClassTimes {
        self.row.times.times_before_index(index, |i| {
            let (start, end) = self.span(i);
            (self.class(i), end - start)
        })
    }
    /// Returns a sample of the most frequent function.
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
