//! Foreign calls on one OS thread, made into samples that do not overlap.

use super::foreign::{CallKey, CallProblem, Oddities};
use super::frames::FrameId;
use super::profile::Samples;
use super::stacks::{StackId, Stacks};
use crate::automata::Span;

/// A call with its frames resolved.
#[derive(Clone, Debug)]
pub(super) struct PlacedCall {
    pub(super) key: CallKey,
    pub(super) span: Span,
    /// The Haskell stack, outermost first; empty if it was not announced.
    pub(super) haskell: Vec<FrameId>,
    /// The foreign function.
    pub(super) frame: FrameId,
    pub(super) open: bool,
}

/// The samples of a thread, and which of them are open.
#[derive(Debug, Default)]
pub(super) struct Nested {
    pub(super) samples: Samples,
    pub(super) open: Vec<u32>,
}

/// A call that goes on while the calls are walked through.
struct GoingOn {
    span: Span,
    stack: StackId,
    haskell: Vec<FrameId>,
    open: bool,
    key: CallKey,
}

/// Walks through the calls of one OS thread. A call inside another is a
/// callback's: it stands on top of the outer one, without the Haskell frames
/// that both stacks begin with. An OS thread does one thing at a time: where
/// a call begins and outlives an earlier one, the earlier one was over, and
/// only its `STOP` came late.
pub(super) fn nest(
    mut calls: Vec<PlacedCall>,
    stacks: &mut Stacks,
    oddities: &mut Oddities,
) -> Nested {
    calls.sort_by_key(|call| (call.span.start, std::cmp::Reverse(call.span.end)));
    let mut nested = Nested::default();
    let mut going_on: Vec<GoingOn> = Vec::new();
    for call in calls {
        let at = call.span.start;
        while let Some(inner) = going_on.last_mut() {
            if call.span.end <= inner.span.end && at < inner.span.end {
                break;
            }
            if at < inner.span.end {
                inner.span.end = at;
                let what = CallProblem::Overlap(inner.key.clone());
                oddities.push(at, what);
            }
            close_innermost(&mut going_on, &mut nested);
        }
        if let Some(outer) = going_on.last() {
            part(outer, Span::new(outer.span.start, at), false, &mut nested);
        }
        let stack = stack_inside(going_on.last(), &call, stacks);
        going_on.push(GoingOn {
            span: call.span,
            stack,
            haskell: call.haskell,
            open: call.open,
            key: call.key,
        });
    }
    while !going_on.is_empty() {
        close_innermost(&mut going_on, &mut nested);
    }
    nested
}

/// Ends the innermost call; what is left of the one around it comes after it.
fn close_innermost(going_on: &mut Vec<GoingOn>, nested: &mut Nested) {
    if let Some(inner) = going_on.pop() {
        part(&inner, inner.span, inner.open, nested);
        if let Some(outer) = going_on.last_mut() {
            outer.span.start = inner.span.end;
        }
    }
}

/// Adds a part of a call.
fn part(call: &GoingOn, span: Span, open: bool, nested: &mut Nested) {
    if span.start < span.end {
        if open {
            let index = u32::try_from(nested.samples.len()).unwrap_or(u32::MAX);
            nested.open.push(index);
        }
        nested.samples.push(span, call.stack);
    }
}

fn stack_inside(outer: Option<&GoingOn>, call: &PlacedCall, stacks: &mut Stacks) -> StackId {
    let (base, shared) = match outer {
        None => (StackId::EMPTY, 0),
        Some(outer) => {
            let pairs = outer.haskell.iter().zip(&call.haskell);
            (outer.stack, pairs.take_while(|(a, b)| a == b).count())
        }
    };
    let own = call.haskell.iter().skip(shared).copied();
    own.chain([call.frame])
        .fold(base, |stack, frame| stacks.push(stack, frame))
}

/// How many calls of unknown threads are shown at once.
const MAX_LANES: usize = 64;

/// Spreads calls of unknown threads over as few lanes as keep them apart.
pub(super) fn lanes(mut calls: Vec<PlacedCall>, oddities: &mut Oddities) -> Vec<Vec<PlacedCall>> {
    calls.sort_by_key(|call| (call.span.start, call.span.end));
    let mut lanes: Vec<Vec<PlacedCall>> = Vec::new();
    for call in calls {
        let ends_before = |lane: &Vec<PlacedCall>| {
            lane.last()
                .is_none_or(|last| last.span.end <= call.span.start)
        };
        match lanes.iter().position(ends_before) {
            Some(lane) => lanes[lane].push(call),
            None if lanes.len() < MAX_LANES => lanes.push(vec![call]),
            None => oddities.push(call.span.start, CallProblem::TooManyAtOnce(call.key)),
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::super::foreign::CallOddity;
    use super::*;
    use crate::ids::Nanos;

    fn call(number: i64, start: u64, end: u64, haskell: &[u32]) -> PlacedCall {
        PlacedCall {
            key: CallKey {
                number,
                name: "f".into(),
            },
            span: Span::new(Nanos(start), Nanos(end)),
            haskell: haskell.iter().copied().map(FrameId).collect(),
            frame: FrameId(100 + u32::try_from(number).unwrap_or(0)),
            open: false,
        }
    }

    /// Start, end and frames of every sample.
    /// Start, end and frames of each part.
    type Parts = Vec<(u64, u64, Vec<u32>)>;

    fn nested(calls: Vec<PlacedCall>) -> (Parts, Vec<CallOddity>) {
        let (mut stacks, mut oddities) = (Stacks::default(), Oddities::default());
        let samples = nest(calls, &mut stacks, &mut oddities).samples;
        let rows = (0..samples.len()).map(|i| {
            let (span, stack) = samples.get(i).expect("a sample");
            let frames = stacks.outermost_first(stack);
            (
                span.start.0,
                span.end.0,
                frames.iter().map(|f| f.0).collect(),
            )
        });
        (rows.collect(), oddities.finish(Nanos(0)))
    }

    #[test]
    fn a_callbacks_call_stands_on_the_outer_one() {
        let calls = vec![
            call(1, 0, 100, &[1, 2]),
            call(2, 20, 30, &[1, 3]),
            call(3, 30, 40, &[]),
        ];
        let (rows, oddities) = nested(calls);
        assert_eq!(
            rows,
            [
                (0, 20, vec![1, 2, 101]),
                (20, 30, vec![1, 2, 101, 3, 102]),
                (30, 40, vec![1, 2, 101, 103]),
                (40, 100, vec![1, 2, 101]),
            ]
        );
        assert_eq!(oddities, []);
    }

    #[test]
    fn an_overlap_cuts_off_the_earlier_call() {
        let calls = vec![
            call(1, 0, 50, &[]),
            call(2, 10, 40, &[]),
            call(3, 30, 90, &[]),
        ];
        let (rows, oddities) = nested(calls);
        assert_eq!(
            rows,
            [
                (0, 10, vec![101]),
                (10, 30, vec![101, 102]),
                (30, 90, vec![103]),
            ]
        );
        let at: Vec<u64> = oddities.iter().map(|oddity| oddity.at.0).collect();
        assert_eq!(at, [30, 30]);
    }

    #[test]
    fn calls_that_only_touch_are_no_overlap() {
        let (rows, oddities) = nested(vec![call(1, 0, 10, &[]), call(2, 10, 20, &[])]);
        assert_eq!(rows, [(0, 10, vec![101]), (10, 20, vec![102])]);
        assert_eq!(oddities, []);
    }

    #[test]
    fn lanes_keep_calls_apart() {
        let calls = vec![
            call(1, 0, 10, &[]),
            call(2, 5, 20, &[]),
            call(3, 10, 15, &[]),
        ];
        let numbers: Vec<Vec<i64>> = lanes(calls, &mut Oddities::default())
            .iter()
            .map(|lane| lane.iter().map(|call| call.key.number).collect())
            .collect();
        assert_eq!(numbers, [vec![1, 3], vec![2]]);
    }

    #[test]
    fn there_are_only_so_many_lanes() {
        let mut oddities = Oddities::default();
        let calls = (0..70).map(|number| call(number, 0, 10, &[])).collect();
        assert_eq!(lanes(calls, &mut oddities).len(), MAX_LANES);
        assert_eq!(oddities.finish(Nanos(0)).len(), 6);
    }
}
