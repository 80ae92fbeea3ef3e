//! Slices of a log on their way through the analysis.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use analysis::segment::{Scratch, Segment, SegmentAnalysis};
use analysis::timeline::slice::BoundaryState;
use eventlog::{Inflated, Need, Slice, SliceReader, SliceStep};
use serde::{Deserialize, Serialize};

/// Sequence number of a slice job. Segments are appended in this order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct JobId(pub u64);

/// A slice to analyze, on any thread or worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Position in the append order.
    pub id: JobId,
    slice: Slice,
    entry: BoundaryState,
}

/// Analysis of one slice in progress. It does no I/O: it requests the byte ranges that it needs.
#[derive(Debug)]
pub struct SliceAnalyzer {
    id: JobId,
    reader: SliceReader,
    analysis: SegmentAnalysis,
}

/// Progress of an analysis after one step.
#[derive(Debug)]
pub enum AnalysisStep {
    /// Supply at least the first byte of each of these ranges.
    Need(Vec<Need>),
    /// `max_events` is used up; call again.
    More,
    /// Result of a finished slice.
    Done(JobId, Box<Segment>),
}

impl SliceAnalyzer {
    /// Starts a job; `scratch` lends buffers of earlier jobs.
    pub fn new(job: Job, scratch: &mut Scratch) -> Self {
        Self {
            id: job.id,
            reader: SliceReader::new(job.slice),
            analysis: SegmentAnalysis::new(job.entry, std::mem::take(scratch)),
        }
    }

    /// Lends the buffers of an earlier analysis; see [`SliceReader::lend_buffers`].
    pub fn lend_buffers(&mut self, buffers: Vec<Vec<u8>>) {
        self.reader.lend_buffers(buffers);
    }

    /// Takes the buffers back once the slice is read; see [`SliceReader::take_buffers`].
    pub fn take_buffers(&mut self) -> Vec<Vec<u8>> {
        self.reader.take_buffers()
    }

    /// Advances as far as the supplied bytes and `max_events` allow.
    pub fn advance(&mut self, max_events: usize) -> SliceStep {
        self.analysis.read(&mut self.reader, max_events)
    }

    /// Supplies bytes of the log that begin at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
    }

    /// Truncates the log to `len` bytes.
    pub fn truncate(&mut self, len: u64) {
        self.reader.truncate(len);
    }

    /// Returns byte ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.reader.upcoming()
    }

    /// Returns the result of a fully read slice, and gives the buffers back.
    pub fn finish(self, scratch: &mut Scratch) -> (JobId, Segment) {
        let (segment, left) = self.analysis.finish(self.reader.finish());
        *scratch = left;
        (self.id, segment)
    }
}

/// Slices that are not yet appended.
#[derive(Debug, Default)]
pub(super) struct Slices {
    pub(super) planned: bool,
    /// Slices that no worker has taken yet.
    pub(super) waiting: VecDeque<Job>,
    /// Analyzed segments that wait for earlier ones.
    pub(super) analyzed: BTreeMap<JobId, Segment>,
    /// Next job to append, and the end of the planned jobs.
    next: JobId,
    end: JobId,
    /// Slice that is being appended, in case it must be analyzed again.
    pub(super) current: Option<Slice>,
    /// Slice that is being analyzed on this thread.
    pub(super) working: Option<Box<SliceAnalyzer>>,
    scratch: Scratch,
    /// Read buffer for an inflated log.
    bytes: Vec<u8>,
}

impl Slices {
    /// Replaces all slices; pending results of earlier ones are discarded.
    pub(super) fn plan(&mut self, slices: Vec<Slice>) {
        self.plan_after(slices);
        if let Some(first) = self.waiting.front_mut() {
            first.entry = BoundaryState::start();
        }
    }

    /// Like [`plan`](Self::plan), for slices that follow ones already appended.
    pub(super) fn plan_after(&mut self, slices: Vec<Slice>) {
        let first = self.end.0;
        self.planned = true;
        self.working = None;
        self.analyzed.clear();
        self.next = self.end;
        self.end = JobId(first + slices.len() as u64);
        let jobs = (first..).zip(slices).map(|(id, slice)| Job {
            id: JobId(id),
            entry: BoundaryState::default(),
            slice,
        });
        self.waiting = jobs.collect();
    }

    /// Returns whether the slice that is being appended is the last one.
    pub(super) const fn is_appending_last(&self) -> bool {
        self.next.0 + 1 == self.end.0
    }

    pub(super) fn are_done(&self) -> bool {
        self.planned && self.next == self.end
    }

    pub(super) fn add_segment(&mut self, id: JobId, segment: Segment) {
        if self.next <= id && id < self.end {
            self.analyzed.insert(id, segment);
        }
    }

    /// Takes the next segment to append, if it has arrived.
    pub(super) fn take_next(&mut self) -> Option<Segment> {
        let segment = self.analyzed.remove(&self.next)?;
        self.current = Some(segment.part.slice().clone());
        Some(segment)
    }

    /// Marks the current slice as appended.
    pub(super) fn mark_appended(&mut self) {
        self.current = None;
        self.next.0 += 1;
    }

    /// Requeues the current slice, to be analyzed again from the corrected state.
    pub(super) fn requeue(&mut self, entry: BoundaryState) {
        if let Some(slice) = self.current.take() {
            let id = self.next;
            self.waiting.push_front(Job { id, slice, entry });
        }
    }

    /// Analyzes a slice on this thread; returns `None` if none is left.
    pub(super) fn advance(
        &mut self,
        max_events: usize,
        log: Option<&Inflated>,
    ) -> Option<AnalysisStep> {
        if self.working.is_none() {
            let job = self.waiting.pop_front()?;
            self.working = Some(Box::new(SliceAnalyzer::new(job, &mut self.scratch)));
        }
        let working = self.working.as_mut()?;
        let mut step = working.advance(max_events);
        while let (SliceStep::Need(needs), Some(log)) = (&step, log) {
            for Need(range) in needs {
                if log.read(range.clone(), &mut self.bytes) {
                    working.supply(range.start, &self.bytes);
                } else {
                    working.truncate(range.start);
                }
            }
            step = working.advance(max_events);
        }
        Some(match step {
            SliceStep::Need(needs) => AnalysisStep::Need(needs),
            SliceStep::More => AnalysisStep::More,
            SliceStep::Done => {
                let (id, segment) = self.working.take()?.finish(&mut self.scratch);
                AnalysisStep::Done(id, Box::new(segment))
            }
        })
    }

    pub(super) fn supply(&mut self, at: u64, bytes: &[u8]) {
        if let Some(working) = &mut self.working {
            working.supply(at, bytes);
        }
    }

    pub(super) fn truncate(&mut self, len: u64) {
        if let Some(working) = &mut self.working {
            working.truncate(len);
        }
    }

    pub(super) fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.working.iter().flat_map(|working| working.upcoming())
    }

    /// Bytes read of the slice that is analyzed on this thread.
    pub(super) fn done_bytes(&self) -> u64 {
        let working = self.working.as_ref();
        working.map_or(0, |working| working.reader.done_bytes())
    }
}
