//! Converts foreign calls and C functions on one OS thread to samples that do not overlap.

use super::foreign::thread_stack::{CallEntry, Entry, ThreadEvent, ThreadStack, step};
use super::foreign::{CallKey, CallProblem, FunctionId, Functions, ThreadSteps};
use crate::diagnostics::{Diagnostic, Diagnostics};
use eventlog::ids::{Nanos, OsThreadId};
use model::profile::frames::FrameId;
use model::profile::samples::Samples;
use model::profile::stacks::{StackId, Stacks};
use model::saturating::saturating_u32;
use model::time::Interval;

/// A call with its frames resolved.
#[derive(Clone, Debug)]
pub(super) struct ResolvedCall {
    pub(super) key: CallKey,
    pub(super) span: Interval,
    /// Haskell stack of the caller, outermost first; empty if it was not announced.
    pub(super) haskell: Vec<FrameId>,
    /// Frame of the foreign function.
    pub(super) frame: FrameId,
    pub(super) open: bool,
}

/// Samples of a thread, and the indices of those cut off by the end of the log.
#[derive(Debug, Default)]
pub(super) struct NestedSamples {
    pub(super) samples: Samples,
    pub(super) open: Vec<u32>,
}

/// C functions of one OS thread.
pub(super) struct ThreadFunctions<'a> {
    pub(super) thread: OsThreadId,
    pub(super) steps: &'a ThreadSteps,
    pub(super) functions: &'a Functions,
    /// Frame of each function, by [`FunctionId`].
    pub(super) frames: &'a [FrameId],
}

/// Nests the calls and functions of one OS thread up to `end`, the end of the log.
///
/// A call inside another comes from a callback: it appears on top of the outer one, without the Haskell frames
/// that both stacks begin with. C functions appear on top of the call or function in progress at their entry. An
/// OS thread does one thing at a time: when a call begins that outlasts an earlier one, or a function around it
/// returns, the earlier call was over and its `STOP` came late.
///
/// What is on top of a call or function divides its own time into several samples, of which only the last counts: each
/// counts once.
pub(super) fn nest(
    mut calls: Vec<ResolvedCall>,
    functions: Option<&ThreadFunctions<'_>>,
    end: Nanos,
    stacks: &mut Stacks,
    anomalies: &mut Diagnostics,
) -> NestedSamples {
    calls.sort_by_key(|call| (call.span.start(), std::cmp::Reverse(call.span.end())));
    let mut nester = Nester {
        calls: &calls,
        functions,
        stacks,
        anomalies,
        stack: ThreadStack::default(),
        open: Vec::new(),
        at: Nanos(0),
        nested: NestedSamples::default(),
        counted: Vec::new(),
    };
    let mut starts = calls.iter().enumerate().peekable();
    let steps = |index| functions.and_then(|functions| functions.steps.get(index));
    let mut next_step = 0;
    loop {
        let start = starts.peek().map(|(_, call)| call.span.start());
        let function = steps(next_step);
        let stop = nester.stack.call().map(|call| call.end);
        // Order at equal times: stops first, so that adjacent calls do not overlap; then starts, so that functions
        // run inside their call. A function that returns at the stop of its call returns first.
        let step_first = function.filter(|step| start.is_none_or(|start| step.at < start));
        if let Some(step) = step_first
            && stop.is_none_or(|stop| step.at <= stop)
        {
            next_step += 1;
            nester.event(Nester::function(step.function, step.returns), step.at);
        } else if let Some(stop) = stop
            && start.is_none_or(|start| stop <= start)
        {
            nester.event(ThreadEvent::Stop, stop);
        } else if let Some((index, call)) = starts.next() {
            let call_entry = CallEntry {
                call: index,
                end: call.span.end(),
            };
            nester.event(ThreadEvent::Start(call_entry), call.span.start());
        } else {
            break;
        }
    }
    nester.finish(end)
}

/// A call or function in progress.
#[derive(Clone, Copy, Debug)]
struct OpenEntry {
    /// Stack up to it.
    stack: StackId,
    /// The last sample of its own time: this one counts it.
    counted: Option<usize>,
}

struct Nester<'a> {
    calls: &'a [ResolvedCall],
    functions: Option<&'a ThreadFunctions<'a>>,
    stacks: &'a mut Stacks,
    anomalies: &'a mut Diagnostics,
    stack: ThreadStack,
    /// The entries of `stack`.
    open: Vec<OpenEntry>,
    /// End of the samples so far.
    at: Nanos,
    nested: NestedSamples,
    /// For each call and function that is over, the sample that counts it.
    counted: Vec<usize>,
}

impl Nester<'_> {
    const fn function(function: FunctionId, returns: bool) -> ThreadEvent {
        if returns {
            ThreadEvent::Return(function)
        } else {
            ThreadEvent::Enter(function)
        }
    }

    fn event(&mut self, event: ThreadEvent, at: Nanos) {
        let step = step(&self.stack, event);
        if step.odd {
            self.odd_return(event, at);
            return;
        }
        let open = event == ThreadEvent::Stop && self.is_open();
        self.advance(at, open);
        while self.stack.len() > step.keep {
            let over = self.open.pop();
            self.counted.extend(over.and_then(|over| over.counted));
            if let Some(Entry::Call(gone)) = self.stack.pop()
                && at < gone.end
            {
                self.cut_off(gone.call, event, at);
            }
        }
        if let Some(entry) = step.push {
            let stack = self.stack_of(entry);
            self.stack.push(entry);
            self.open.push(OpenEntry {
                stack,
                counted: None,
            });
        }
    }

    /// Returns whether the end of the log cuts off the innermost call.
    fn is_open(&self) -> bool {
        let call = self.stack.call().and_then(|on| self.calls.get(on.call));
        call.is_some_and(|call| call.open)
    }

    /// Adds a sample of the current stack up to `at`.
    fn advance(&mut self, at: Nanos, open: bool) {
        if let Some(innermost) = self.open.last_mut()
            && self.at < at
        {
            let index = self.nested.samples.len();
            if open {
                self.nested.open.push(saturating_u32(index));
            }
            let span = Interval::new(self.at, at);
            self.nested.samples.push(span, innermost.stack);
            innermost.counted = Some(index);
        }
        self.at = self.at.max(at);
    }

    fn cut_off(&mut self, call: usize, event: ThreadEvent, at: Nanos) {
        let Some(call) = self.calls.get(call).map(|call| call.key.clone()) else {
            return;
        };
        let what = match (event, self.functions) {
            (ThreadEvent::Return(function), Some(known)) => CallProblem::CutByReturn {
                call,
                function: known.functions.address(function),
            },
            _ => CallProblem::Overlap(call),
        };
        self.anomalies.push(Diagnostic::at_time(at, what));
    }

    fn odd_return(&mut self, event: ThreadEvent, at: Nanos) {
        if let (ThreadEvent::Return(function), Some(known)) = (event, self.functions) {
            let what = CallProblem::ReturnWithoutCall {
                function: known.functions.address(function),
                thread: known.thread,
            };
            self.anomalies.push(Diagnostic::at_time(at, what));
        }
    }

    /// Returns the current stack with one more entry.
    fn stack_of(&mut self, entry: Entry) -> StackId {
        let base = self.open.last();
        let base = base.map_or(StackId::EMPTY, |open| open.stack);
        match entry {
            Entry::Function(function) => {
                let frames = self.functions.map(|functions| functions.frames);
                let frame = frames.and_then(|frames| frames.get(function.0 as usize));
                frame.map_or(base, |&frame| self.stacks.push(base, frame))
            }
            Entry::Call(on) => {
                let Some(call) = self.calls.get(on.call) else {
                    return base;
                };
                let outer = self.stack.call().and_then(|on| self.calls.get(on.call));
                let shared = outer.map_or(0, |outer| {
                    let pairs = outer.haskell.iter().zip(&call.haskell);
                    pairs.take_while(|(a, b)| a == b).count()
                });
                let own = call.haskell.iter().skip(shared).copied();
                own.chain([call.frame])
                    .fold(base, |stack, frame| self.stacks.push(stack, frame))
            }
        }
    }

    /// Ends the samples. Functions that have not returned at the end of the log are open.
    fn finish(mut self, end: Nanos) -> NestedSamples {
        self.advance(end, true);
        let open = self.open.iter();
        self.counted.extend(open.filter_map(|open| open.counted));
        self.nested.samples.count_only(self.counted);
        self.nested
    }
}

/// Limit of lanes for concurrent calls of unknown threads.
const MAX_LANES: usize = 64;

/// Distributes the calls of unknown threads over as few lanes as possible without overlaps.
pub(super) fn lanes(
    mut calls: Vec<ResolvedCall>,
    anomalies: &mut Diagnostics,
) -> Vec<Vec<ResolvedCall>> {
    calls.sort_by_key(|call| (call.span.start(), call.span.end()));
    let mut lanes: Vec<Vec<ResolvedCall>> = Vec::new();
    for call in calls {
        let ends_before = |lane: &Vec<ResolvedCall>| {
            lane.last()
                .is_none_or(|last| last.span.end() <= call.span.start())
        };
        match lanes.iter().position(ends_before) {
            Some(lane) => lanes[lane].push(call),
            None if lanes.len() < MAX_LANES => lanes.push(vec![call]),
            None => {
                let what = CallProblem::TooManyAtOnce(call.key);
                anomalies.push(Diagnostic::at_time(call.span.start(), what));
            }
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::super::foreign::FunctionMessage;
    use super::*;
    use eventlog::ids::Address;
    use std::collections::BTreeMap;

    fn call(number: i64, start: u64, end: u64, haskell: &[u32]) -> ResolvedCall {
        ResolvedCall {
            key: CallKey {
                number,
                name: "f".into(),
            },
            span: Interval::new(Nanos(start), Nanos(end)),
            haskell: haskell.iter().copied().map(FrameId).collect(),
            frame: FrameId(100 + u32::try_from(number).unwrap_or(0)),
            open: false,
        }
    }

    /// Start, end and frames of each sample.
    type Parts = Vec<(u64, u64, Vec<u32>)>;

    fn parts(samples: &Samples, stacks: &Stacks) -> Parts {
        let rows = (0..samples.len()).filter_map(|index| samples.get(index));
        rows.map(|(span, stack)| {
            let frames = stacks.outermost_first(stack).into_iter();
            (span.start().0, span.end().0, frames.map(|f| f.0).collect())
        })
        .collect()
    }

    fn nested(calls: Vec<ResolvedCall>) -> (Parts, Diagnostics) {
        let (mut stacks, mut anomalies) = (Stacks::default(), Diagnostics::default());
        let samples = nest(calls, None, Nanos(0), &mut stacks, &mut anomalies).samples;
        (parts(&samples, &stacks), anomalies)
    }

    #[test]
    fn a_callbacks_call_stands_on_the_outer_one() {
        let calls = vec![
            call(1, 0, 100, &[1, 2]),
            call(2, 20, 30, &[1, 3]),
            call(3, 30, 40, &[]),
        ];
        let (rows, anomalies) = nested(calls);
        assert_eq!(
            rows,
            [
                (0, 20, vec![1, 2, 101]),
                (20, 30, vec![1, 2, 101, 3, 102]),
                (30, 40, vec![1, 2, 101, 103]),
                (40, 100, vec![1, 2, 101]),
            ]
        );
        assert_eq!(anomalies, Diagnostics::default());
    }

    #[test]
    fn an_overlap_cuts_off_the_earlier_call() {
        let calls = vec![
            call(1, 0, 50, &[]),
            call(2, 10, 40, &[]),
            call(3, 30, 90, &[]),
        ];
        let (rows, anomalies) = nested(calls);
        assert_eq!(
            rows,
            [
                (0, 10, vec![101]),
                (10, 30, vec![101, 102]),
                (30, 90, vec![103]),
            ]
        );
        let at: Vec<u64> = anomalies
            .kept()
            .iter()
            .filter_map(Diagnostic::start)
            .map(|at| at.0)
            .collect();
        assert_eq!(at, [30, 30]);
    }

    #[test]
    fn calls_that_only_touch_are_no_overlap() {
        let (rows, anomalies) = nested(vec![call(1, 0, 10, &[]), call(2, 10, 20, &[])]);
        assert_eq!(rows, [(0, 10, vec![101]), (10, 20, vec![102])]);
        assert_eq!(anomalies, Diagnostics::default());
    }

    /// Frames of functions 1, 2, … are 201, 202, …
    fn walk(
        calls: Vec<ResolvedCall>,
        steps: &[(u64, u64, bool)],
        end: u64,
    ) -> (NestedSamples, Stacks, Diagnostics) {
        let mut functions = Functions::default();
        let thread = OsThreadId(7);
        for &(at, function, returns) in steps {
            let message = FunctionMessage {
                function: Address(function),
                thread,
                returns,
            };
            functions.message(message, Nanos(at));
        }
        let addresses = functions.addresses.iter();
        let frames: Vec<FrameId> = addresses
            .map(|address| FrameId(200 + u32::try_from(address.0).unwrap_or(0)))
            .collect();
        let steps = functions.threads.remove(&thread).unwrap_or_default();
        let functions = ThreadFunctions {
            thread,
            steps: &steps,
            functions: &functions,
            frames: &frames,
        };
        let (mut stacks, mut anomalies) = (Stacks::default(), Diagnostics::default());
        let end = Nanos(end);
        let nested = nest(calls, Some(&functions), end, &mut stacks, &mut anomalies);
        (nested, stacks, anomalies)
    }

    fn nested_with(
        calls: Vec<ResolvedCall>,
        steps: &[(u64, u64, bool)],
        end: u64,
    ) -> (Parts, Vec<u32>, Vec<String>) {
        let (nested, stacks, anomalies) = walk(calls, steps, end);
        let anomalies = anomalies.kept().iter().map(|odd| {
            let at = odd.start().unwrap_or_default();
            format!("{} {}", at.0, odd.rule().name())
        });
        (
            parts(&nested.samples, &stacks),
            nested.open,
            anomalies.collect(),
        )
    }

    #[test]
    fn functions_stand_on_the_call_that_goes_on() {
        let calls = vec![call(1, 10, 90, &[1]), call(2, 40, 50, &[1, 3])];
        let steps = [
            (5, 9, false),
            (6, 9, true),
            (20, 1, false),
            (30, 2, false),
            (42, 1, false),
            (48, 1, true),
            (60, 2, true),
            (80, 1, true),
        ];
        let (rows, open, anomalies) = nested_with(calls, &steps, 100);
        assert_eq!(
            rows,
            [
                (5, 6, vec![209]),
                (10, 20, vec![1, 101]),
                (20, 30, vec![1, 101, 201]),
                (30, 40, vec![1, 101, 201, 202]),
                (40, 42, vec![1, 101, 201, 202, 3, 102]),
                (42, 48, vec![1, 101, 201, 202, 3, 102, 201]),
                (48, 50, vec![1, 101, 201, 202, 3, 102]),
                (50, 60, vec![1, 101, 201, 202]),
                (60, 80, vec![1, 101, 201]),
                (80, 90, vec![1, 101]),
            ]
        );
        assert!(open.is_empty() && anomalies.is_empty(), "{anomalies:?}");
    }

    #[test]
    fn what_has_not_returned_ends_with_its_call_or_with_the_log() {
        let steps = [(20, 1, false), (30, 2, false), (60, 3, false)];
        let (rows, open, anomalies) = nested_with(vec![call(1, 10, 50, &[])], &steps, 100);
        assert_eq!(
            rows,
            [
                (10, 20, vec![101]),
                (20, 30, vec![101, 201]),
                (30, 50, vec![101, 201, 202]),
                (60, 100, vec![203]),
            ]
        );
        assert_eq!((open, anomalies), (vec![3], vec![]));
    }

    #[test]
    fn a_jump_out_of_functions_ends_them() {
        let steps = [
            (20, 1, false),
            (30, 2, false),
            (40, 3, false),
            (50, 1, true),
        ];
        let (rows, _, anomalies) = nested_with(vec![call(1, 10, 60, &[])], &steps, 60);
        assert_eq!(rows.last(), Some(&(50, 60, vec![101])));
        assert_eq!((rows.len(), anomalies), (5, vec![]));
    }

    #[test]
    fn odd_returns_cost_only_themselves() {
        let calls = vec![call(1, 10, 50, &[]), call(2, 35, 45, &[])];
        let steps = [(20, 2, true), (30, 1, false), (40, 1, true), (60, 1, true)];
        let (rows, _, anomalies) = nested_with(calls, &steps, 100);
        assert_eq!(
            rows,
            [
                (10, 30, vec![101]),
                (30, 35, vec![101, 201]),
                (35, 40, vec![101, 201, 102]),
                (40, 50, vec![101]),
            ]
        );
        assert_eq!(
            anomalies,
            [
                "20 call-return-unmatched",
                "40 call-cut-by-return",
                "60 call-return-unmatched",
            ]
        );
    }

    /// Stacks are limited to 65,535 frames, the walk is not; memory grows only with the messages.
    #[test]
    fn functions_may_call_themselves_very_deeply() {
        let steps = 200_000;
        let deep: Vec<(u64, u64, bool)> = (0..steps)
            .map(|at| (at, 1, false))
            .chain((0..steps).map(|at| (steps + at, 2, true)))
            .chain((0..steps).map(|at| (2 * steps + at, 1, true)))
            .collect();
        let (nested, stacks, anomalies) = walk(Vec::new(), &deep, 3 * steps);
        // Unmatched returns change nothing and yield no sample.
        assert_eq!(nested.samples.len() as u64, 2 * steps - 1);
        assert_eq!(stacks.len(), 65_536);
        assert!(nested.open.is_empty());
        assert_eq!(
            anomalies.kept().len() as u64,
            Diagnostics::MAX_KEPT_PER_RULE
        );
    }

    proptest::proptest! {
        /// For any messages: samples never overlap, the times of the parts of any division add up to the time of the
        /// whole, a call with time of its own counts once, and a function at most as often as it begins.
        #[test]
        fn any_messages_make_samples(
            calls in proptest::collection::vec((0..60_u64, 0..60_u64, 0..4_u32), 0..12),
            steps in proptest::collection::vec((0..60_u64, 0..4_u64, proptest::bool::ANY), 0..40),
            cut in 0..70_u64,
        ) {
            let calls = (0..).zip(calls).map(|(number, (start, length, haskell))| {
                call(number, start, (start + length).min(60), &[haskell])
            });
            let (nested, stacks, _) = walk(calls.collect(), &steps, 60);
            let rows = parts(&nested.samples, &stacks);
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for (index, (_, _, frames)) in rows.iter().enumerate() {
                let count = counts.entry(frames.last().copied().unwrap_or(0)).or_default();
                *count += usize::from(nested.samples.counts(index));
            }
            for (frame, count) in counts {
                let begins = |&&(_, function, returns): &&(u64, u64, bool)| {
                    !returns && 200 + function == u64::from(frame)
                };
                let most = if frame < 200 { 1 } else { steps.iter().filter(begins).count() };
                proptest::prop_assert!((1..=most).contains(&count), "{frame}: {count}");
            }
            let mut samples = Samples::default();
            for pair in rows.windows(2) {
                proptest::prop_assert!(pair[0].1 <= pair[1].0);
            }
            for (start, end, _) in &rows {
                proptest::prop_assert!(start < end && *end <= 60);
                samples.push(Interval::new(Nanos(*start), Nanos(*end)), StackId(1));
            }
            let time = |from, to| -> u64 {
                let range = Interval::new(Nanos(from), Nanos(to));
                samples.clipped_to(range).map(|part| part.span.duration().0).sum()
            };
            proptest::prop_assert_eq!(time(0, cut) + time(cut, 70), time(0, 70));
        }
    }

    #[test]
    fn lanes_keep_calls_apart() {
        let calls = vec![
            call(1, 0, 10, &[]),
            call(2, 5, 20, &[]),
            call(3, 10, 15, &[]),
        ];
        let numbers: Vec<Vec<i64>> = lanes(calls, &mut Diagnostics::default())
            .iter()
            .map(|lane| lane.iter().map(|call| call.key.number).collect())
            .collect();
        assert_eq!(numbers, [vec![1, 3], vec![2]]);
    }

    #[test]
    fn there_are_only_so_many_lanes() {
        let mut anomalies = Diagnostics::default();
        let calls = (0..70).map(|number| call(number, 0, 10, &[])).collect();
        assert_eq!(lanes(calls, &mut anomalies).len(), MAX_LANES);
        assert_eq!(anomalies.count(crate::diagnostics::Severity::Warning), 6);
    }
}
