//! The slices of a log on their way through the analysis.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use analysis::segment::{Scratch, Segment, SegmentAnalysis};
use analysis::timeline::slice::Entry;
use eventlog::{Inflated, Need, Slice, SliceReader, SliceStep};
use serde::{Deserialize, Serialize};

/// The number of a slice that is analysed: the later one is put together later.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct JobId(pub u64);

/// A slice that is to be analysed, by whoever has the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    slice: Slice,
    entry: Entry,
}

/// An analysis of a slice that goes on. It does no I/O: it names what it needs.
#[derive(Debug)]
pub struct Working {
    id: JobId,
    reader: SliceReader,
    analysis: SegmentAnalysis,
}

/// How far an analysis came.
#[derive(Debug)]
pub enum Worked {
    /// Supply at least the first byte of each of these ranges.
    Need(Vec<Need>),
    /// The allowance is used up; go on.
    More,
    /// What the slice is worth.
    Done(JobId, Box<Segment>),
}

impl Working {
    /// Begins.
    #[must_use]
    pub fn new(job: Job, scratch: &mut Scratch) -> Self {
        Self {
            id: job.id,
            reader: SliceReader::new(job.slice),
            analysis: SegmentAnalysis::new(job.entry, std::mem::take(scratch)),
        }
    }

    /// Goes on as far as the supplied bytes and `max_events` allow.
    pub fn advance(&mut self, max_events: usize) -> SliceStep {
        self.analysis.read(&mut self.reader, max_events)
    }

    /// Takes bytes of the log that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
    }

    /// Learns that the log ends at `len`.
    pub fn cut(&mut self, len: u64) {
        self.reader.cut(len);
    }

    /// The ranges that will be wanted soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.reader.upcoming()
    }

    /// What the slice is worth, once all of it was read.
    #[must_use]
    pub fn finish(self, scratch: &mut Scratch) -> (JobId, Segment) {
        let (segment, left) = self.analysis.finish(self.reader.finish());
        *scratch = left;
        (self.id, segment)
    }
}

/// The slices of a log that are not put together yet.
#[derive(Debug, Default)]
pub(super) struct Slices {
    planned: bool,
    waiting: VecDeque<Job>,
    /// Those that wait for the ones before them.
    there: BTreeMap<JobId, Segment>,
    /// The next one that is put together, and the slice that it is of.
    next: JobId,
    end: JobId,
    /// What is put together just now, should it be wanted again.
    taken: Option<Slice>,
    working: Option<Box<Working>>,
    scratch: Scratch,
    /// What was read of an inflated log.
    bytes: Vec<u8>,
}

impl Slices {
    pub(super) const fn are_planned(&self) -> bool {
        self.planned
    }

    /// These are the slices of the log; what is known of others counts for nothing.
    pub(super) fn plan(&mut self, slices: Vec<Slice>) {
        self.plan_behind(slices);
        if let Some(first) = self.waiting.front_mut() {
            first.entry = Entry::start();
        }
    }

    /// As [`plan`](Self::plan), behind others that were put together.
    pub(super) fn plan_behind(&mut self, slices: Vec<Slice>) {
        let first = self.end.0;
        self.planned = true;
        self.working = None;
        self.there.clear();
        self.next = self.end;
        self.end = JobId(first + slices.len() as u64);
        let jobs = (first..).zip(slices).map(|(id, slice)| Job {
            id: JobId(id),
            entry: Entry::default(),
            slice,
        });
        self.waiting = jobs.collect();
    }

    /// Whether the slice that is put together just now is the last one.
    pub(super) const fn is_at_last(&self) -> bool {
        self.next.0 + 1 == self.end.0
    }

    /// The slice that is put together just now.
    pub(super) const fn at(&self) -> Option<&Slice> {
        self.taken.as_ref()
    }

    pub(super) fn are_done(&self) -> bool {
        self.planned && self.next == self.end
    }

    pub(super) const fn is_at_work(&self) -> bool {
        self.working.is_some()
    }

    pub(super) fn next_job(&mut self) -> Option<Job> {
        self.waiting.pop_front()
    }

    pub(super) fn waiting_jobs(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn waiting_segments(&self) -> usize {
        self.there.len()
    }

    pub(super) fn give(&mut self, id: JobId, segment: Segment) {
        if self.next <= id && id < self.end {
            self.there.insert(id, segment);
        }
    }

    /// The next slice to be put together, if it is there.
    pub(super) fn take(&mut self) -> Option<Segment> {
        let segment = self.there.remove(&self.next)?;
        self.taken = Some(segment.part.slice().clone());
        Some(segment)
    }

    /// It was put together.
    pub(super) fn taken(&mut self) {
        self.taken = None;
        self.next.0 += 1;
    }

    /// It is to be analysed again, from what is known by now.
    pub(super) fn again(&mut self, entry: Entry) {
        if let Some(slice) = self.taken.take() {
            let id = self.next;
            self.waiting.push_front(Job { id, slice, entry });
        }
    }

    /// Analyses a slice here; `None` if there is none left.
    pub(super) fn advance(&mut self, max_events: usize, log: Option<&Inflated>) -> Option<Worked> {
        if self.working.is_none() {
            let job = self.waiting.pop_front()?;
            self.working = Some(Box::new(Working::new(job, &mut self.scratch)));
        }
        let working = self.working.as_mut()?;
        let mut step = working.advance(max_events);
        while let (SliceStep::Need(needs), Some(log)) = (&step, log) {
            for Need(range) in needs {
                if log.read(range.clone(), &mut self.bytes) {
                    working.supply(range.start, &self.bytes);
                } else {
                    working.cut(range.start);
                }
            }
            step = working.advance(max_events);
        }
        Some(match step {
            SliceStep::Need(needs) => Worked::Need(needs),
            SliceStep::More => Worked::More,
            SliceStep::Done => {
                let (id, segment) = self.working.take()?.finish(&mut self.scratch);
                Worked::Done(id, Box::new(segment))
            }
        })
    }

    pub(super) fn supply(&mut self, at: u64, bytes: &[u8]) {
        if let Some(working) = &mut self.working {
            working.supply(at, bytes);
        }
    }

    pub(super) fn cut(&mut self, len: u64) {
        if let Some(working) = &mut self.working {
            working.cut(len);
        }
    }

    pub(super) fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.working.iter().flat_map(|working| working.upcoming())
    }

    /// Bytes of the slice that is analysed here.
    pub(super) fn done_bytes(&self) -> u64 {
        let working = self.working.as_ref();
        working.map_or(0, |working| working.reader.done_bytes())
    }
}
