//! Source of the live heap by allocating cost centre stack.
//!
//! Reuses the censuses of the heap profiles; only the stacks of their bands are built here.

use std::sync::Arc;

use super::super::centres::CostCentres;
use super::super::draft::Draft;
use super::{AnalysisResults, BuiltProfile, FlameOrigin, FlameSource, ProfileBuilder};
use crate::diagnostics::Diagnostics;
use crate::heap::{HeapProfile, Label};
use eventlog::ids::{CostCentreId, Nanos};
use model::census::BandId;
use model::profile::frames::Frame;
use model::profile::heap::{HeapProfileStacks, HeapStacks};
use model::profile::samples::Samples;
use model::profile::source::Unit;
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track, TrackSource};
use model::saturating::saturating_u32;

/// The source `heap`.
#[derive(Clone, Debug)]
pub(super) struct Heap;

/// Description of the source `heap`.
pub(super) const SOURCE: FlameSource = FlameSource {
    name: "heap",
    title: "Live heap",
    help: "Live bytes by the cost-centre stack that allocated them (+RTS -hc -l)",
    how_to_record: "build the program with -prof and run it with +RTS -hc -l (GHC 8.2 and later)",
    unit: Unit::Bytes,
    sample_noun: |_| "censuses",
    ..FlameSource::DEFAULT
};

impl FlameOrigin for Heap {
    fn builder(&self) -> Option<Box<dyn ProfileBuilder>> {
        Some(Box::new(Self))
    }
}

/// Collects no events: the heap profiles are stored elsewhere.
impl ProfileBuilder for Heap {
    fn finish(&mut self, results: &AnalysisResults<'_>, centres: &CostCentres) -> BuiltProfile {
        BuiltProfile {
            profile: profile(results.heap.iter(), results.log.end(), centres),
            anomalies: Diagnostics::default(),
        }
    }
}

/// Builds the profile of all heap profiles whose bands are stacks; without tracks if there is none.
///
/// `end` is the time of the last event.
fn profile<'a>(
    heap: impl Iterator<Item = &'a HeapProfile>,
    end: Nanos,
    centres: &CostCentres,
) -> Profile {
    let mut draft = Draft::new();
    let mut named: Stacks<CostCentreId> = Stacks::default();
    // Stands for stacks that were too small to be stored.
    let rest = draft.push(StackId::EMPTY, Frame::built_in("small stacks", "REST"));
    let of_stacks = |profile: &&HeapProfile| profile.has_stacks();
    let bands: Vec<(&HeapProfile, Vec<Option<StackId>>)> = heap
        .filter(of_stacks)
        .map(|profile| (profile, stacks(profile, &mut named)))
        .collect();
    if bands.is_empty() {
        return draft.finish(end, None);
    }
    let placed = centres.insert_stacks(named, &mut draft.frames, &mut draft.stacks);
    let new = |stack: Option<StackId>| {
        let placed = stack.and_then(|stack| placed.get(stack.index()));
        placed.copied().unwrap_or(rest)
    };
    let part = |(profile, bands): (&HeapProfile, Vec<Option<StackId>>)| HeapProfileStacks {
        censuses: Arc::clone(&profile.censuses),
        stack_of: bands.into_iter().map(new).collect(),
        timed: profile.is_timed(),
    };
    let parts = bands.into_iter().map(part).collect();
    draft.tracks.push(Track {
        source: TrackSource::Program,
        samples: Samples::default(),
        open: Vec::new(),
        sampled: true,
    });
    draft.finish_heap(end, HeapStacks::new(parts, end))
}

/// Interns the stack of each band; `None` for bands that are no stack.
fn stacks(profile: &HeapProfile, into: &mut Stacks<CostCentreId>) -> Vec<Option<StackId>> {
    let bands = saturating_u32(profile.censuses.bands());
    let stack = |band| match profile.label(BandId(band))? {
        Label::Stack(innermost_first) => Some(into.intern(innermost_first.into_iter().rev())),
        Label::Text(_) | Label::Rest => None,
    };
    (0..bands).map(stack).collect()
}
