//! From spans that lie inside each other to samples: what stood on top when.

use std::borrow::Cow;

use super::ProgramSpan;
use eventlog::ids::Nanos;
use model::profile::frames::FrameId;
use model::profile::samples::Samples;
use model::profile::stacks::{StackId, Stacks};
use model::time::Interval;

/// So many collections inside of spans are shown where they were.
const MOST_PLACED: usize = 2_000_000;

/// When the whole program collected.
pub(super) struct Collections<'a> {
    /// By time; no two overlap.
    all: Cow<'a, [(u64, u64)]>,
}

impl<'a> Collections<'a> {
    /// Those of a log, for these lanes of spans. If they cut the spans in too
    /// many parts, some that follow each other become one as long as they are
    /// together, where the first of them was.
    pub(super) fn new<'b>(
        all: &'a [(u64, u64)],
        lanes: impl Iterator<Item = &'b Vec<ProgramSpan>>,
    ) -> Self {
        let inside = |span: &ProgramSpan| {
            let from = all.partition_point(|&(_, end)| end <= span.start);
            let to = all.partition_point(|&(start, _)| start < span.end);
            to.saturating_sub(from)
        };
        // What lies inside of an outer span counts once.
        let outer = |spans: &'b Vec<ProgramSpan>| {
            let mut covered = 0;
            let outer = spans.iter().filter(move |span| {
                let is_outer = span.start >= covered;
                covered = covered.max(span.end);
                is_outer
            });
            outer.map(inside).sum::<usize>()
        };
        let placed: usize = lanes.map(outer).sum();
        let together = placed.div_ceil(MOST_PLACED);
        if together < 2 {
            let all = Cow::Borrowed(all);
            return Self { all };
        }
        let one = |some: &[(u64, u64)]| {
            let start = some.first().map_or(0, |&(start, _)| start);
            let length: u64 = some.iter().map(|(start, end)| end - start).sum();
            (start, start + length)
        };
        Self {
            all: all.chunks(together).map(one).collect(),
        }
    }
}

/// Writes the samples of a lane.
struct Writer<'a> {
    samples: Samples,
    stacks: &'a mut Stacks,
    gc: FrameId,
    collections: &'a [(u64, u64)],
    /// The first collection that is not over.
    next: usize,
}

impl Writer<'_> {
    /// Nothing stood on `stack` from `start` to `end` but collections.
    fn stretch(&mut self, stack: StackId, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let ended = |&(_, end): &(u64, u64)| end <= at;
            while self.collections.get(self.next).is_some_and(ended) {
                self.next += 1;
            }
            let collection = self.collections.get(self.next).copied();
            let (from, to) =
                collection.map_or((end, end), |(from, to)| (from.min(end), to.min(end)));
            self.push(stack, at, from);
            if from < to {
                let collecting = self.stacks.push(stack, self.gc);
                self.push(collecting, at.max(from), to);
            }
            at = to.max(from);
        }
    }

    fn push(&mut self, stack: StackId, start: u64, end: u64) {
        if start < end {
            self.samples
                .push(Interval::new(Nanos(start), Nanos(end)), stack);
        }
    }
}

/// The samples of a lane; the frames are those of the names, and that of the
/// collector.
pub(super) fn samples(
    stacks: &mut Stacks,
    spans: &[ProgramSpan],
    collections: &Collections<'_>,
    (names, gc): (&[FrameId], FrameId),
) -> Samples {
    let mut writer = Writer {
        samples: Samples::default(),
        stacks,
        gc,
        collections: &collections.all,
        next: 0,
    };
    // The spans that go on: their stacks and ends.
    let mut going_on: Vec<(StackId, u64)> = Vec::new();
    let mut at = 0;
    for span in spans {
        while let Some(&(stack, end)) = going_on.last().filter(|(_, end)| *end <= span.start) {
            writer.stretch(stack, at, end);
            at = end.max(at);
            going_on.pop();
        }
        let around = going_on.last().map_or(StackId::EMPTY, |&(stack, _)| stack);
        if around != StackId::EMPTY {
            writer.stretch(around, at, span.start);
        }
        at = span.start;
        if let Some(&frame) = names.get(span.name as usize) {
            let stack = writer.stacks.push(around, frame);
            going_on.push((stack, span.end));
        }
    }
    while let Some((stack, end)) = going_on.pop() {
        writer.stretch(stack, at, end);
        at = end.max(at);
    }
    writer.samples
}
