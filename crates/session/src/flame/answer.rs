//! Boxes of a flame graph query.

use super::cache::StepCache;
use super::layout::{self, Tree, left_heavy, time_order};
use super::query::{FlameBoxes, FlameHead, FlameQuery, NamedFrame, View};
use eventlog::ids::Duration;
use model::profile::frames::{Frame, FrameId, Frames};
use model::profile::stack_source::{CensusCounts, StackSource, WeightedStacks};
use model::profile::weights::Measure;
use model::profile::weights::share;

/// Answers a query without a cache.
pub fn answer(stack_source: &dyn StackSource, query: &FlameQuery) -> (FlameHead, FlameBoxes) {
    answer_with(&StepCache::default(), stack_source, query)
}

/// Answers a query with cached transformations.
pub fn answer_with(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameQuery,
) -> (FlameHead, FlameBoxes) {
    match query.view {
        View::Time if stack_source.has_time_order() => in_time(cache, stack_source, query),
        _ => by_weight(cache, stack_source, query),
    }
}

/// Frames whose names contain a text, ignoring case. An empty text matches nothing.
pub(super) struct Search(Vec<bool>);

impl Search {
    pub(super) fn new(frames: &Frames, text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let matches = |frame: &Frame| frame.name().to_lowercase().contains(&text);
        let found = || frames.iter().map(|(_, frame)| matches(frame)).collect();
        (!text.is_empty()).then(|| Self(found()))
    }

    pub(super) fn has(&self, frame: u32) -> bool {
        self.0.get(frame as usize).copied().unwrap_or(false)
    }
}

fn by_weight(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameQuery,
) -> (FlameHead, FlameBoxes) {
    let weighted = stack_source.weighted_stacks(&query.choice);
    let transformed = cache.transformed(stack_source, &weighted, &query.steps, &query.view);
    let frames = transformed.frames(&weighted.frames);
    let stacks = transformed.stacks(&weighted.stacks);
    let own = transformed.weights(weighted.own);
    let before = weighted.before.map(|before| transformed.weights(before));
    let search = Search::new(frames, &query.search);
    let found_share = search
        .as_ref()
        .map_or(0.0, |search| share(stacks, &own, &search.0, query.measure));
    let tree = Tree::new(
        (frames, stacks),
        own,
        before.as_deref(),
        query.measure,
        (weighted.censuses, weighted.absolute),
    );
    let view = layout::View::new(query, 1.0);
    let levels = left_heavy(&tree, view);
    let boxes = levels.boxes(stacks, 1.0, before.is_some());
    let head = FlameHead {
        total: tree.whole(),
        total_before: tree.whole_before(),
        censuses: weighted.censuses,
        absolute: weighted.absolute,
        frames: named_frames(frames, &boxes, search.as_ref()),
        found_share,
        shortened: transformed.shortened(),
        bands: Vec::new(),
        depth: levels.depth(),
    };
    (head, boxes)
}

fn in_time(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameQuery,
) -> (FlameHead, FlameBoxes) {
    let (profile, tracks) = stack_source.tracks_in_time_order(&query.choice);
    let transformed = cache.transformed_in_time(&profile, &query.steps, &query.view);
    let profile = &*profile;
    let frames = transformed.frames(&profile.frames);
    let range = query.choice.range.unwrap_or(profile.span);
    let total = range.duration();
    let shown: Vec<_> = tracks
        .iter()
        .filter_map(|&index| {
            let track = transformed.track(profile, index)?;
            let source = profile.tracks.get(index)?.source;
            Some((source, track, transformed.forest(index, &track)))
        })
        .collect();
    let pairs = shown.iter().map(|(_, track, forest)| (*track, &**forest));
    let view = layout::View::new(query, total.0 as f64);
    let (levels, bands) = time_order(pairs, range, view);
    let boxes = levels.boxes(transformed.stacks(&profile.stacks), total.0 as f64, false);
    let search = Search::new(frames, &query.search);
    let found_share = match &search {
        Some(_) if total > Duration::ZERO => found_in(cache, stack_source, query),
        _ => 0.0,
    };
    let sources = shown.iter().map(|(source, ..)| *source);
    let head = FlameHead {
        total: total.0,
        total_before: None,
        censuses: CensusCounts::default(),
        absolute: false,
        frames: named_frames(frames, &boxes, search.as_ref()),
        found_share,
        shortened: transformed.shortened(),
        bands: sources.zip(bands).collect(),
        depth: levels.depth(),
    };
    (head, boxes)
}

/// Returns the share of the sampled time with matching frames. Pauses are not sampled time.
fn found_in(cache: &StepCache, stack_source: &dyn StackSource, query: &FlameQuery) -> f64 {
    let weighted: WeightedStacks<'_> = stack_source.weighted_stacks(&query.choice);
    let transformed = cache.transformed(stack_source, &weighted, &query.steps, &query.view);
    let Some(search) = Search::new(transformed.frames(&weighted.frames), &query.search) else {
        return 0.0;
    };
    let own = transformed.weights(weighted.own);
    let stacks = transformed.stacks(&weighted.stacks);
    share(stacks, &own, &search.0, Measure::Amount)
}

/// Returns the frames that occur in the boxes.
fn named_frames(frames: &Frames, boxes: &FlameBoxes, search: Option<&Search>) -> Vec<NamedFrame> {
    let mut used = vec![false; frames.len()];
    for &frame in &boxes.frame {
        if let Some(used) = used.get_mut(frame as usize) {
            *used = true;
        }
    }
    let ids = (0..).zip(used).filter(|(_, used)| *used);
    let named = |(id, _)| {
        Some(NamedFrame {
            id,
            frame: frames.get(FrameId(id))?.clone(),
            found: search.is_some_and(|search| search.has(id)),
        })
    };
    ids.filter_map(named).collect()
}
