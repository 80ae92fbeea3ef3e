//! Native reading of a whole log into a session, on one or several threads.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use analysis::segment::{Scratch, Segment};
use eventlog::ids::{CapId, Nanos};
use eventlog::source::{PullReader, SharedSource, drive, read_log_by};
use eventlog::{LogError, LogReader, Need, Record, Sink, SliceStep, Step};
use session::{Job, JobId, Session, SliceAnalyzer};

/// Reads a whole log into a new session, on `threads` threads. The calling thread merges results, and analyzes
/// slices itself when there are none to merge.
///
/// # Errors
/// See [`eventlog::source::read_log`].
pub fn read_session_on(
    threads: NonZeroUsize,
    mut session: Session,
    file: &(impl SharedSource + ?Sized),
) -> Result<Session, LogError> {
    drive(&mut &*file, &mut Indexing(&mut session))?;
    let inflated = session.inflated().cloned();
    match &inflated {
        Some(log) => analyze(threads, &mut session, log),
        None => analyze(threads, &mut session, file),
    }?;
    Ok(session)
}

/// Reads a whole log into `sink`, as [`eventlog::source::read_log_by`] does. The loop over all events is compiled once,
/// in this crate, and not for each sink in crates that are compiled for size.
///
/// # Errors
/// See [`eventlog::source::read_log`].
pub fn read_records(
    reader: LogReader,
    log: &dyn SharedSource,
    sink: &mut impl Sink,
) -> Result<LogReader, LogError> {
    read_into(reader, log, AnySink(sink))
}

fn read_into(
    reader: LogReader,
    mut log: &dyn SharedSource,
    mut sink: AnySink<'_>,
) -> Result<LogReader, LogError> {
    read_log_by(reader, &mut log, &mut sink)
}

/// A sink of any type.
struct AnySink<'a>(&'a mut dyn DynSink);

/// Methods of [`Sink`] that can be called without its type.
trait DynSink {
    fn event(&mut self, record: &Record<'_>);
    fn stretch(&mut self, cap: Option<CapId>, times: (Nanos, Nanos));
}

impl<S: Sink> DynSink for S {
    fn event(&mut self, record: &Record<'_>) {
        Sink::event(self, record);
    }
    fn stretch(&mut self, cap: Option<CapId>, times: (Nanos, Nanos)) {
        Sink::stretch(self, cap, times);
    }
}

impl Sink for AnySink<'_> {
    fn event(&mut self, record: &Record<'_>) {
        self.0.event(record);
    }
    fn stretch(&mut self, cap: Option<CapId>, times: (Nanos, Nanos)) {
        self.0.stretch(cap, times);
    }
}

/// Adapter that drives a session until its slices are known.
struct Indexing<'a>(&'a mut Session);

impl PullReader for Indexing<'_> {
    fn advance(&mut self) -> Result<Step, LogError> {
        let step = self.0.advance(usize::MAX)?;
        Ok(match step {
            Step::Indexed => Step::Done,
            step => step,
        })
    }
    fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.0.supply(at, bytes);
    }
    fn truncate(&mut self, at: u64) -> bool {
        PullReader::truncate(self.0, at)
    }
}

/// Maximum number of slices per thread that are being analyzed, queued, or waiting for those before them; bounds
/// the memory.
const SLICES_EACH: usize = 3;

fn analyze(
    threads: NonZeroUsize,
    session: &mut Session,
    log: &(impl SharedSource + ?Sized),
) -> Result<(), LogError> {
    let helpers = threads.get().min(session.waiting_jobs()).saturating_sub(1);
    thread::scope(|scope| {
        let (jobs, to_do) = unbounded();
        let (results, done) = unbounded();
        for _ in 0..helpers {
            let (to_do, results) = (to_do.clone(), results.clone());
            scope.spawn(move || run_helper(&to_do, &results, log));
        }
        let most = SLICES_EACH * (helpers + 1);
        let (mut queue, mut under_way) = (SliceWorker::default(), 0);
        while !session.is_complete() {
            while under_way + session.waiting_segments() < most
                && let Some(job) = session.next_job()
            {
                under_way += usize::from(jobs.send(job).is_ok());
            }
            // Results are merged first, because they occupy memory.
            let analyzed = if let Ok(analyzed) = done.try_recv() {
                analyzed
            } else if let Ok(job) = to_do.try_recv() {
                let analyzed = queue.analyze(job, log);
                if to_do.is_empty() {
                    // The last segment is followed by the account of time, which needs the memory.
                    queue = SliceWorker::default();
                }
                Ok(analyzed)
            } else if under_way > 0
                && let Ok(analyzed) = done.recv()
            {
                analyzed
            } else {
                // There are no slices at all.
                session.advance(usize::MAX)?;
                continue;
            };
            under_way -= 1;
            let analyzed = analyzed.unwrap_or_else(|panic| resume_unwind(panic));
            if let Some(len) = analyzed.cut {
                session.truncate(len);
            }
            session.add_segment(analyzed.id, analyzed.segment);
        }
        Ok(())
    })
}

/// Result of analyzing a slice.
struct SliceAnalysis {
    id: JobId,
    segment: Segment,
    /// Actual end of the log, if it is shorter than announced.
    cut: Option<u64>,
}

/// Result of a helper thread, or its panic.
type HelperResult = Result<SliceAnalysis, Box<dyn Any + Send>>;

/// Analyzes slices until the channel is closed.
fn run_helper(
    to_do: &Receiver<Job>,
    results: &Sender<HelperResult>,
    log: &(impl SharedSource + ?Sized),
) {
    let mut queue = SliceWorker::default();
    for job in to_do {
        // After an unreported panic, the others would wait for this slice forever.
        let found = catch_unwind(AssertUnwindSafe(|| queue.analyze(job, log)));
        if to_do.is_empty() {
            queue = SliceWorker::default();
        }
        if results.send(found).is_err() {
            return;
        }
    }
}

/// Buffers that a thread reuses from slice to slice.
#[derive(Default)]
struct SliceWorker {
    scratch: Scratch,
    buffer: Vec<u8>,
    /// Buffers of the reader of slices: new memory costs the operating system time.
    reader_buffers: Vec<Vec<u8>>,
}

impl SliceWorker {
    fn analyze(&mut self, job: Job, log: &(impl SharedSource + ?Sized)) -> SliceAnalysis {
        let mut working = SliceAnalyzer::new(job, &mut self.scratch);
        working.lend_buffers(std::mem::take(&mut self.reader_buffers));
        let mut cut = None;
        loop {
            match working.advance(usize::MAX) {
                SliceStep::Need(needs) => {
                    for Need(range) in needs {
                        let at = range.start;
                        match log.read_at(range, &mut self.buffer) {
                            Ok(bytes) if !bytes.is_empty() => working.supply(at, bytes),
                            _ => {
                                working.truncate(at);
                                cut = Some(cut.map_or(at, |cut: u64| cut.min(at)));
                            }
                        }
                    }
                }
                SliceStep::More => {}
                SliceStep::Done => {
                    self.reader_buffers = working.take_buffers();
                    let (id, segment) = working.finish(&mut self.scratch);
                    return SliceAnalysis { id, segment, cut };
                }
            }
        }
    }
}
