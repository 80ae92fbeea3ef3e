//! How much time each stack, and each frame, has in a range.

use serde::{Deserialize, Serialize};

use super::frames::{Frame, FrameId};
use super::layout::Layout;
use super::profile::{Profile, Track};
use super::stacks::StackId;
use crate::automata::Span;
use crate::ids::Nanos;

/// What a stack, or anything, weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Nanoseconds, or bytes: what its source counts in.
    pub amount: u64,
    /// Samples.
    pub count: u64,
}

impl Weight {
    /// Adds another.
    pub const fn add(&mut self, other: Self) {
        self.amount = self.amount.saturating_add(other.amount);
        self.count = self.count.saturating_add(other.count);
    }
}

impl Profile {
    /// The weight of each stack itself in a range of some tracks, by its number.
    #[must_use]
    pub fn weigh(&self, tracks: &[usize], range: Span) -> Vec<Weight> {
        let mut own = vec![Weight::default(); self.stacks.len()];
        if let Some(heap) = &self.heap {
            heap.weigh(range, &mut own);
        }
        for track in chosen(self, tracks) {
            for sample in track.samples.in_range(range) {
                if let Some(weight) = own.get_mut(sample.stack.index()) {
                    weight.add(Weight {
                        amount: sample.span.duration().0,
                        count: u64::from(sample.ends),
                    });
                }
            }
        }
        own
    }
}

/// The weight of every stack of a profile, in columns by stack.
pub(super) struct Weights {
    /// Of the stack itself.
    pub(super) own: Vec<Weight>,
    /// Of it and all stacks that it is the beginning of.
    pub(super) total: Vec<Weight>,
}

impl Weights {
    pub(super) fn new(profile: &Profile, tracks: &[usize], range: Span) -> Self {
        let own = profile.weigh(tracks, range);
        let mut total = own.clone();
        for stack in profile
            .stacks
            .ids()
            .rev()
            .filter(|&id| id != StackId::EMPTY)
        {
            let weight = total[stack.index()];
            total[profile.stacks.parent(stack).index()].add(weight);
        }
        Self { own, total }
    }

    /// The time of all samples.
    pub(super) fn sampled(&self) -> Nanos {
        Nanos(self.total.first().map_or(0, |weight| weight.amount))
    }
}

/// The tracks with these indices; those that there are.
pub(super) fn chosen<'a>(
    profile: &'a Profile,
    tracks: &'a [usize],
) -> impl Iterator<Item = &'a Track> {
    tracks.iter().filter_map(|&index| profile.tracks.get(index))
}

/// How much time a frame has, wherever it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameTotal {
    /// The frame.
    pub frame: FrameId,
    /// Time in which it was innermost.
    pub self_time: Nanos,
    /// Time in which it was anywhere in the stack. Recursion counts once.
    pub total_time: Nanos,
    /// Samples in which it was innermost.
    pub self_samples: u64,
    /// Samples in which it was anywhere in the stack.
    pub samples: u64,
}

/// Time per frame in a range of some tracks (none: all of the profile's span),
/// the greatest own time first.
#[must_use]
pub fn frame_totals(profile: &Profile, tracks: &[usize], range: Option<Span>) -> Vec<FrameTotal> {
    let weights = Weights::new(profile, tracks, range.unwrap_or(profile.span));
    let none = (Weight::default(), Weight::default());
    let mut frames = vec![none; profile.frames.len()];
    for stack in profile.stacks.ids() {
        let Some(frame) = profile.stacks.frame(stack) else {
            continue;
        };
        let Some((own, total)) = frames.get_mut(frame.0 as usize) else {
            continue;
        };
        own.add(weights.own[stack.index()]);
        let mut outer = profile.stacks.innermost_first(profile.stacks.parent(stack));
        if weights.total[stack.index()].amount > 0 && !outer.any(|other| other == frame) {
            total.add(weights.total[stack.index()]);
        }
    }
    let row = |(frame, (own, total)): (FrameId, (Weight, Weight))| FrameTotal {
        frame,
        self_time: Nanos(own.amount),
        total_time: Nanos(total.amount),
        self_samples: own.count,
        samples: total.count,
    };
    let mut rows: Vec<FrameTotal> = (0..).map(FrameId).zip(frames).map(row).collect();
    rows.retain(|row| row.total_time > Nanos(0));
    rows.sort_by_key(|row| {
        let times = std::cmp::Reverse((row.self_time, row.total_time));
        (times, profile.label(row.frame))
    });
    rows
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matches {
    /// For each box of the layout, whether it matches.
    pub boxes: Vec<bool>,
    /// The part of the sampled time in which a matching frame was in the
    /// stack, from 0 to 1.
    pub share: f64,
}

/// Finds `text` in `Module.label` of the frames of a layout, whatever the
/// case of its letters. Nothing is found by an empty text.
#[must_use]
pub fn search(layout: &Layout, profile: &Profile, text: &str) -> Matches {
    let text = text.trim().to_lowercase();
    let matches = |frame: &Frame| !text.is_empty() && frame.name().to_lowercase().contains(&text);
    let frames: Vec<bool> = profile
        .frames
        .iter()
        .map(|(_, frame)| matches(frame))
        .collect();
    let found = |frame: FrameId| frames.get(frame.0 as usize).copied().unwrap_or(false);
    let weights = Weights::new(profile, &layout.tracks, layout.range);
    let mut stacks: Vec<bool> = Vec::with_capacity(profile.stacks.len());
    let mut time = Weight::default();
    for stack in profile.stacks.ids() {
        let outer = stacks.get(profile.stacks.parent(stack).index()).copied();
        let here = outer.unwrap_or(false) || profile.stacks.frame(stack).is_some_and(found);
        stacks.push(here);
        if here {
            time.add(weights.own[stack.index()]);
        }
    }
    let sampled = weights.sampled().0;
    Matches {
        boxes: layout.frame.iter().map(|&frame| found(frame)).collect(),
        share: if sampled == 0 {
            0.0
        } else {
            time.amount as f64 / sampled as f64
        },
    }
}
