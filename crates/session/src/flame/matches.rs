//! Search results in a flame graph: their number, and the widest ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::answer::Search;
use super::cache::StepCache;
use super::layout::{Tree, each_leading};
use super::occurrence::for_each_run;
use super::query::{FlameMatch, FlameMatches, FlameMatchesQuery, View};
use eventlog::ids::Nanos;
use model::profile::TrackSource;
use model::profile::stack_source::StackSource;
use model::profile::stacks::Stacks;

/// Maximum number of returned matches.
const MOST: usize = 1_000;

/// Returns the boxes of matching frames in a graph by weight, or in time order, the intervals in which a matching
/// frame is on the stack of a track.
pub fn matches(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameMatchesQuery,
) -> FlameMatches {
    let widest = match query.view {
        View::Time if stack_source.has_time_order() => in_time(cache, stack_source, query),
        _ => by_weight(cache, stack_source, query),
    };
    widest.map(Widest::done).unwrap_or_default()
}

/// Match ordered by width; among equals, the leftmost is the greatest.
#[derive(Clone, Copy, Debug)]
struct ByWidth(FlameMatch);

impl ByWidth {
    fn key(&self) -> (u64, Reverse<u64>) {
        // The bits of nonnegative floats sort like their values.
        (self.0.width.to_bits(), Reverse(self.0.left.to_bits()))
    }
}

impl PartialEq for ByWidth {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByWidth {}

impl PartialOrd for ByWidth {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByWidth {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Number of matches, and a min-heap of the widest ones.
#[derive(Debug, Default)]
struct Widest {
    count: u64,
    kept: BinaryHeap<Reverse<ByWidth>>,
}

impl Widest {
    fn add(&mut self, found: FlameMatch) {
        self.count += 1;
        self.kept.push(Reverse(ByWidth(found)));
        if self.kept.len() > MOST {
            self.kept.pop();
        }
    }

    fn done(self) -> FlameMatches {
        let sorted = self.kept.into_sorted_vec();
        FlameMatches {
            count: self.count,
            widest: sorted
                .into_iter()
                .map(|Reverse(ByWidth(found))| found)
                .collect(),
        }
    }
}

/// Returns for each stack whether its innermost frame matches.
fn ending(stacks: &Stacks, search: &Search) -> Vec<bool> {
    let frames = stacks.ids().map(|stack| stacks.frame(stack));
    frames
        .map(|frame| frame.is_some_and(|frame| search.has(frame.0)))
        .collect()
}

fn by_weight(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameMatchesQuery,
) -> Option<Widest> {
    let weighted = stack_source.weighted_stacks(&query.choice);
    let transformed = cache.transformed(stack_source, &weighted, &query.steps, &query.view);
    let frames = transformed.frames(&weighted.frames);
    let stacks = transformed.stacks(&weighted.stacks);
    let search = Search::new(frames, &query.search)?;
    let before = weighted.before.map(|before| transformed.weights(before));
    let tree = Tree::new(
        (frames, stacks),
        transformed.weights(weighted.own),
        before.as_deref(),
        query.measure,
        (weighted.censuses, weighted.absolute),
    );
    let ending = ending(stacks, &search);
    let mut widest = Widest::default();
    each_leading(&tree, &ending, |level, left, width| {
        widest.add(FlameMatch {
            left,
            width,
            level: u16::try_from(level).unwrap_or(u16::MAX),
            track: None,
        });
    });
    Some(widest)
}

fn in_time(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameMatchesQuery,
) -> Option<Widest> {
    let (profile, tracks) = stack_source.tracks_in_time_order(&query.choice);
    let transformed = cache.transformed_in_time(&profile, &query.steps, &query.view);
    let profile = &*profile;
    let stacks = transformed.stacks(&profile.stacks);
    let search = Search::new(transformed.frames(&profile.frames), &query.search)?;
    let mut inside = ending(stacks, &search);
    // Parents have smaller ids than their children.
    for stack in stacks.ids() {
        let outer = inside.get(stacks.parent(stack).index());
        let outer = outer.copied().unwrap_or(false);
        if let Some(inside) = inside.get_mut(stack.index()) {
            *inside |= outer;
        }
    }
    let range = query.choice.range.unwrap_or(profile.span);
    let whole = (range.duration().0 as f64).max(1.0);
    let part = |time: Nanos| time.since(range.start()).0 as f64 / whole;
    let mut widest = Widest::default();
    for index in tracks {
        let Some(track) = transformed.track(profile, index) else {
            continue;
        };
        let source: Option<TrackSource> = profile.tracks.get(index).map(|track| track.source);
        let _ = for_each_run(&track, range, range.start(), &inside, |span| {
            widest.add(FlameMatch {
                left: part(span.start()),
                width: part(span.end()) - part(span.start()),
                level: 0,
                track: source,
            });
            ControlFlow::<()>::Continue(())
        });
    }
    Some(widest)
}
