//! Converts nested spans to samples of the innermost span at each time.

use std::borrow::Cow;

use super::{ProgramSpan, SpanProcesses};
use eventlog::ids::Nanos;
use model::profile::frames::FrameId;
use model::profile::samples::Samples;
use model::profile::stacks::{StackId, Stacks};
use model::time::Interval;

/// Limit of collections inside spans that are shown at their own times.
const MAX_PLACED: usize = 2_000_000;

/// Collections of each process.
pub(super) struct Collections<'a> {
    processes: &'a SpanProcesses,
    /// By process: start and end in ns, sorted and without overlaps.
    all: Vec<Cow<'a, [(u64, u64)]>>,
}

impl<'a> Collections<'a> {
    /// Creates the collections to show on these lanes.
    ///
    /// Above [`MAX_PLACED`] splits of spans, each group of successive collections is merged into one, with their
    /// total length, at the start of the first.
    pub(super) fn new<'b>(
        processes: &'a SpanProcesses,
        lanes: impl Iterator<Item = &'b Vec<ProgramSpan>>,
    ) -> Self {
        let inside = |span: &ProgramSpan| {
            let process = processes.all().get(processes.index_of(span.cap));
            let all = process.map_or(&[][..], |process| process.collections.as_slice());
            let from = all.partition_point(|&(_, end)| end <= span.start);
            let to = all.partition_point(|&(start, _)| start < span.end);
            to.saturating_sub(from)
        };
        // Count each collection once, within the outermost span.
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
        let together = placed.div_ceil(MAX_PLACED);
        let one = |some: &[(u64, u64)]| {
            let start = some.first().map_or(0, |&(start, _)| start);
            let length: u64 = some.iter().map(|(start, end)| end - start).sum();
            (start, start + length)
        };
        let mut all: Vec<Cow<'a, [(u64, u64)]>> = Vec::new();
        for process in processes.all() {
            let own = process.collections.as_slice();
            all.push(if together < 2 {
                Cow::Borrowed(own)
            } else {
                own.chunks(together).map(one).collect()
            });
        }
        Self { processes, all }
    }
}

/// Builds the samples of one lane.
struct SampleWriter<'a> {
    samples: Samples,
    stacks: &'a mut Stacks,
    gc: FrameId,
    collections: &'a Collections<'a>,
    /// By process: index of the first collection that has not ended.
    next: Vec<usize>,
    /// For each ended span, the sample that counts it.
    counted: Vec<usize>,
}

/// A span that has not ended.
struct OpenSpan {
    stack: StackId,
    end: u64,
    /// Index of its process.
    process: usize,
    /// The last sample of the span itself, or a collection on it if it has none so far: this one counts the span.
    counted: Option<usize>,
}

impl SampleWriter<'_> {
    /// Writes the time from `start` to `end`, in which `span` is innermost except for collections.
    fn stretch(&mut self, span: &mut OpenSpan, start: u64, end: u64) {
        let all = self.collections;
        let collections = all.all.get(span.process);
        let collections = collections.map_or(&[][..], |own| &**own);
        let mut next = self.next.get(span.process).copied().unwrap_or_default();
        let mut at = start;
        while at < end {
            let ended = |&(_, end): &(u64, u64)| end <= at;
            while collections.get(next).is_some_and(ended) {
                next += 1;
            }
            let collection = collections.get(next).copied();
            let (from, to) =
                collection.map_or((end, end), |(from, to)| (from.min(end), to.min(end)));
            if let Some(index) = self.push(span.stack, at, from) {
                span.counted = Some(index);
            }
            if from < to {
                let collecting = self.stacks.push(span.stack, self.gc);
                let index = self.push(collecting, at.max(from), to);
                span.counted = span.counted.or(index);
            }
            at = to.max(from);
        }
        if let Some(known) = self.next.get_mut(span.process) {
            *known = next;
        }
    }

    /// Writes a sample, unless it is empty; returns its index.
    fn push(&mut self, stack: StackId, start: u64, end: u64) -> Option<usize> {
        if start >= end {
            return None;
        }
        let index = self.samples.len();
        self.samples
            .push(Interval::new(Nanos(start), Nanos(end)), stack);
        Some(index)
    }

    /// Writes the rest of a span, from `at` to its end.
    fn finish(&mut self, mut span: OpenSpan, at: u64) {
        let end = span.end;
        self.stretch(&mut span, at, end);
        self.counted.extend(span.counted);
    }
}

/// Returns the samples of a lane; of those of a span, one counts. `names` has the frame of each name; `gc` is the
/// collector's frame.
pub(super) fn samples(
    stacks: &mut Stacks,
    spans: &[ProgramSpan],
    collections: &Collections<'_>,
    (names, gc): (&[FrameId], FrameId),
) -> Samples {
    let mut writer = SampleWriter {
        samples: Samples::default(),
        stacks,
        gc,
        collections,
        next: vec![0; collections.all.len()],
        counted: Vec::new(),
    };
    // Open spans, outermost first.
    let mut open_spans: Vec<OpenSpan> = Vec::new();
    let mut at = 0;
    for span in spans {
        while let Some(ended) = open_spans.pop_if(|open| open.end <= span.start) {
            let end = ended.end;
            writer.finish(ended, at);
            at = end.max(at);
        }
        let mut around = StackId::EMPTY;
        if let Some(open) = open_spans.last_mut() {
            writer.stretch(open, at, span.start);
            around = open.stack;
        }
        at = span.start;
        if let Some(&frame) = names.get(span.name as usize) {
            let stack = writer.stacks.push(around, frame);
            open_spans.push(OpenSpan {
                stack,
                end: span.end,
                process: collections.processes.index_of(span.cap),
                counted: None,
            });
        }
    }
    while let Some(ended) = open_spans.pop() {
        let end = ended.end;
        writer.finish(ended, at);
        at = end.max(at);
    }
    let SampleWriter {
        mut samples,
        counted,
        ..
    } = writer;
    samples.count_only(counted);
    samples
}
