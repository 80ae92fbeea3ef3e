//! Merges several logs: those of several processes on a common time axis, or the parts that one log was cut into.
//!
//! **Parts.** Logs with the same header, process id and wall clock are of one process. Their events are merged by
//! time, without duplicates. So the parts of a cut log reproduce the log.
//!
//! **Processes.** Times are shifted to a common zero: by the wall clock, by the first events, by a marker that all
//! logs contain, or by messages that the processes send each other. Ambiguous numbers are changed; the first
//! process keeps its own:
//!
//! | numbers | in the following processes |
//! |---|---|
//! | capabilities, threads, capability sets, cost centres, texts of Mercury, counters of `perf` | continue after the largest of the previous process |
//! | tasks, info tables, ticky counters, spans and instruments of opentelemetry, announced foreign calls, texts and locations of ghc-stack-profiler | have the index of the process (1, 2, …) in their 16 highest bits |
//! | processes and machines of Eden, OS threads, process ids | unchanged: they mean the same in each log |
//!
//! If all logs were cut to ranges, the new one has the range from the first start to the last end, declared by
//! [`EventType::CUT_RANGE`]; the parts of a whole log yield the whole log.
//!
//! Each process has its capability set of type `OsProcess`, with process id and command line; where a log has
//! none, one with the name of the file is added. A heap census does not identify its process, so only the heap
//! profile of the first process that has one is written. The sampling interval of a time profile does not identify its
//! process either; [`MergeCounts::note_on_intervals`] tells if the processes have several.

mod feed;
mod pairs;
mod parts;
mod plan;
mod survey;
mod types;

pub use feed::Feed;
pub use pairs::{Aligned, Messages, Span};
pub use plan::{Align, Plan, PlanError};
pub use survey::{Facts, Survey};

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

pub(super) use self::feed::BatchEvent;
use self::parts::ProcessFeeds;
use self::plan::ProcessCapset;
use self::types::Types;
use super::renumber::Numbering;
use super::writer::{LogWriter, NewEvent};
use eventlog::EventSet;
use eventlog::cursor::{CapsetType, Cursor};
use eventlog::event::EventType;
use eventlog::ids::{Duration, Nanos};
use eventlog::problem::LogError;
use eventlog::source::Source;
use eventlog::status::StopCodes;
use thiserror::Error;

/// Event types of a heap profile.
const CENSUSES: EventSet = EventSet::from_types(&[
    EventType::HEAP_PROF_BEGIN,
    EventType::HEAP_PROF_SAMPLE_BEGIN,
    EventType::HEAP_PROF_SAMPLE_COST_CENTRE,
    EventType::HEAP_PROF_SAMPLE_STRING,
    EventType::HEAP_PROF_SAMPLE_END,
    EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
]);

/// Reason why logs could not be merged.
#[derive(Debug, Error)]
pub enum MergeError {
    /// An input could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The output could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Statistics of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Number of events in the new log.
    pub events: u64,
    /// Size of the new log in bytes.
    pub bytes: u64,
    /// Number of heap profile events dropped because another process has a heap profile.
    pub censuses: u64,
    /// Number of events dropped by type, because the logs declare the type too differently.
    pub misfits: BTreeMap<EventType, u64>,
    /// Sampling intervals of time profiles, in nanoseconds.
    pub tick_intervals: BTreeSet<u64>,
}

impl MergeCounts {
    /// Describes the loss if the processes sampled at different intervals: readers of the new log know one of them.
    pub fn note_on_intervals(&self) -> Option<String> {
        let all = self.tick_intervals.iter();
        let all: Vec<String> = all.map(|&ns| Span(i128::from(ns)).to_string()).collect();
        (all.len() > 1).then(|| {
            format!(
                "The processes sampled at different intervals ({}). A log does not tell whose interval is whose, so each sample of the new log stands for the last interval in it.",
                all.join(", ")
            )
        })
    }
}

/// An input process.
struct Process<'a, S> {
    feeds: ProcessFeeds<S>,
    numbering: &'a Numbering,
    shift: Duration,
    has_censuses: bool,
    /// Generated definitions to write before its first event.
    capset: Option<&'a ProcessCapset>,
}

/// Merges logs according to `plan`; `feeds` are the logs, in the order of the facts given to [`Plan::new`].
///
/// # Errors
/// If a log cannot be read, or the new one cannot be written.
pub fn merge<S: Source, W: Write>(
    plan: &Plan,
    feeds: Vec<Feed<S>>,
    out: W,
) -> Result<(W, MergeCounts), MergeError> {
    let mut feeds: Vec<Option<Feed<S>>> = feeds.into_iter().map(Some).collect();
    let mut processes: Vec<Process<'_, S>> = Vec::new();
    for process in &plan.processes {
        let own = process
            .logs
            .iter()
            .filter_map(|&log| feeds.get_mut(log)?.take());
        processes.push(Process {
            feeds: ProcessFeeds::new(own.collect()),
            numbering: &process.numbering,
            shift: process.shift,
            has_censuses: process.has_censuses,
            capset: process.capset.as_ref(),
        });
    }
    let mut merging = MergeOutput {
        writer: LogWriter::new(out),
        types: &plan.types,
        cut_range: plan.cut_range,
        payload: Vec::new(),
        counts: MergeCounts::default(),
    };
    merging.writer.begin(plan.types.declared())?;
    loop {
        // The process with the earliest event emits until the next one's time.
        let mut heads = Vec::new();
        for (place, process) in processes.iter_mut().enumerate() {
            if let Some(key) = process.feeds.key()? {
                heads.push((key + process.shift, place));
            }
        }
        heads.sort_unstable();
        let Some(&(time, first)) = heads.first() else {
            break;
        };
        let limit = heads.get(1).map_or(Nanos(u64::MAX), |&(time, _)| time);
        let process = &mut processes[first];
        if let Some(capset) = process.capset.take() {
            merging.announce(first, capset, time)?;
        }
        // Emits at least one event.
        let until = limit.max(time) - process.shift;
        let (numbering, shift, has_censuses) =
            (process.numbering, process.shift, process.has_censuses);
        process.feeds.emit(until, &mut |batch_event| {
            merging.write(batch_event, first, numbering, shift, has_censuses)
        })?;
    }
    let (out, bytes) = if processes.iter().all(|process| process.feeds.has_end()) {
        merging.writer.finish()?
    } else {
        merging.writer.finish_without_end()?
    };
    let counts = MergeCounts {
        bytes,
        ..merging.counts
    };
    Ok((out, counts))
}

/// State of the output.
struct MergeOutput<'a, W> {
    writer: LogWriter<W>,
    types: &'a Types,
    cut_range: Option<(Nanos, Nanos)>,
    payload: Vec<u8>,
    counts: MergeCounts,
}

impl<W: Write> MergeOutput<'_, W> {
    /// Writes the definitions of a process whose log has none.
    fn announce(&mut self, process: usize, capset: &ProcessCapset, time: Nanos) -> io::Result<()> {
        let set = capset.capset.to_be_bytes();
        let mut say = |id, mut payload: Vec<u8>| {
            if !self.types.pad(id, &mut payload) {
                *self.counts.misfits.entry(id).or_default() += 1;
                return Ok(());
            }
            self.counts.events += 1;
            let event = NewEvent {
                id,
                time,
                cap: None,
                payload: &payload,
            };
            self.writer.event_of_process(process, &event)
        };
        let kind = CapsetType::OS_PROCESS.0.to_be_bytes();
        say(EventType::CAPSET_CREATE, [&set[..], &kind].concat())?;
        say(
            EventType::PROGRAM_ARGS,
            [&set[..], capset.name.as_bytes(), &[0]].concat(),
        )?;
        for cap in capset.caps.clone() {
            say(
                EventType::CAPSET_ASSIGN_CAP,
                [&set[..], &cap.to_be_bytes()].concat(),
            )?;
        }
        Ok(())
    }

    /// Writes the range of the new log in place of that of a part.
    fn write_range(
        &mut self,
        batch_event: &BatchEvent<'_>,
        numbering: &Numbering,
        shift: Duration,
    ) -> io::Result<()> {
        let mut fields = Cursor::new(batch_event.payload, StopCodes::Standard);
        let times: [Option<u64>; 4] = std::array::from_fn(|_| fields.field());
        let (Some((from, to)), [_, _, Some(first), Some(last)]) = (self.cut_range, times) else {
            return Ok(());
        };
        let times = [from, to, Nanos(first) + shift, Nanos(last) + shift];
        self.counts.events += 1;
        self.writer.event(&NewEvent {
            id: batch_event.id,
            time: batch_event.time + shift,
            cap: numbering.new_cap(batch_event.cap),
            payload: &times.map(|time| time.0.to_be_bytes()).concat(),
        })
    }

    fn write(
        &mut self,
        batch_event: &BatchEvent<'_>,
        process: usize,
        numbering: &Numbering,
        shift: Duration,
        has_censuses: bool,
    ) -> io::Result<()> {
        if !has_censuses
            && CENSUSES.contains(batch_event.id)
            && batch_event.header.knows(batch_event.id)
        {
            self.counts.censuses += 1;
            return Ok(());
        }
        if batch_event.id == EventType::CUT_RANGE && batch_event.header.knows(batch_event.id) {
            return self.write_range(batch_event, numbering, shift);
        }
        if batch_event.id == EventType::PROF_BEGIN && batch_event.header.knows(batch_event.id) {
            let interval = Cursor::new(batch_event.payload, StopCodes::Standard).field::<u64>();
            let interval = interval.filter(|ns| *ns > 0);
            self.counts.tick_intervals.extend(interval);
        }
        numbering.rewrite(batch_event, self.types.stop_codes(), &mut self.payload);
        if batch_event.id == EventType::HEAP_BIO_PROF_SAMPLE_BEGIN {
            shift_census_time(&mut self.payload, shift);
        }
        if !self
            .types
            .fit(batch_event.header, batch_event.id, &mut self.payload)
        {
            *self.counts.misfits.entry(batch_event.id).or_default() += 1;
            return Ok(());
        }
        self.counts.events += 1;
        let event = NewEvent {
            id: batch_event.id,
            time: batch_event.time + shift,
            cap: numbering.new_cap(batch_event.cap),
            payload: &self.payload,
        };
        self.writer.event_of_process(process, &event)
    }
}

/// Shifts the time of a biographical census, which is written after the run, with the time as its second field.
fn shift_census_time(payload: &mut [u8], shift: Duration) {
    if let Some(field) = payload
        .get_mut(8..16)
        .and_then(|field| field.first_chunk_mut::<8>())
    {
        let time = Nanos(u64::from_be_bytes(*field)) + shift;
        *field = time.0.to_be_bytes();
    }
}
