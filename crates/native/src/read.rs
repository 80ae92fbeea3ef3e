//! Native reading of a whole log into a session, on one or several threads.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use analysis::segment::{Scratch, Segment};
use eventlog::source::{Driven, SharedSource, drive};
use eventlog::{LogError, Need, SliceStep, Step};
use session::{Job, JobId, Session, Working};

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
        Some(log) => analyse(threads, &mut session, log),
        None => analyse(threads, &mut session, file),
    }?;
    Ok(session)
}

/// Adapter that drives a session until its slices are known.
struct Indexing<'a>(&'a mut Session);

impl Driven for Indexing<'_> {
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
    fn cut(&mut self, at: u64) -> bool {
        Driven::cut(self.0, at)
    }
}

/// Maximum number of slices per thread that are being analyzed, queued, or waiting for those before them; bounds
/// the memory.
const SLICES_EACH: usize = 3;

fn analyse(
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
            scope.spawn(move || help(&to_do, &results, log));
        }
        let most = SLICES_EACH * (helpers + 1);
        let (mut queue, mut under_way) = (SliceQueue::default(), 0);
        while !session.is_complete() {
            while under_way + session.waiting_segments() < most
                && let Some(job) = session.next_job()
            {
                under_way += usize::from(jobs.send(job).is_ok());
            }
            // Results are merged first, because they occupy memory.
            let analysed = if let Ok(analysed) = done.try_recv() {
                analysed
            } else if let Ok(job) = to_do.try_recv() {
                Ok(queue.analyse(job, log))
            } else if under_way > 0
                && let Ok(analysed) = done.recv()
            {
                analysed
            } else {
                // There are no slices at all.
                session.advance(usize::MAX)?;
                continue;
            };
            under_way -= 1;
            let analysed = analysed.unwrap_or_else(|panic| resume_unwind(panic));
            if let Some(len) = analysed.cut {
                session.cut(len);
            }
            session.give(analysed.id, analysed.segment);
        }
        Ok(())
    })
}

/// Result of analyzing a slice.
struct Analysed {
    id: JobId,
    segment: Segment,
    /// Actual end of the log, if it is shorter than announced.
    cut: Option<u64>,
}

/// Result of a helper thread, or its panic.
type Found = Result<Analysed, Box<dyn Any + Send>>;

/// Analyzes slices until the channel is closed.
fn help(to_do: &Receiver<Job>, results: &Sender<Found>, log: &(impl SharedSource + ?Sized)) {
    let mut queue = SliceQueue::default();
    for job in to_do {
        // After an unreported panic, the others would wait for this slice forever.
        let found = catch_unwind(AssertUnwindSafe(|| queue.analyse(job, log)));
        if results.send(found).is_err() {
            return;
        }
    }
}

/// Buffers that a thread reuses from slice to slice.
#[derive(Default)]
struct SliceQueue {
    scratch: Scratch,
    buffer: Vec<u8>,
}

impl SliceQueue {
    fn analyse(&mut self, job: Job, log: &(impl SharedSource + ?Sized)) -> Analysed {
        let mut working = Working::new(job, &mut self.scratch);
        let mut cut = None;
        loop {
            match working.advance(usize::MAX) {
                SliceStep::Need(needs) => {
                    for Need(range) in needs {
                        let at = range.start;
                        match log.read_at(range, &mut self.buffer) {
                            Ok(bytes) if !bytes.is_empty() => working.supply(at, bytes),
                            _ => {
                                working.cut(at);
                                cut = Some(cut.map_or(at, |cut: u64| cut.min(at)));
                            }
                        }
                    }
                }
                SliceStep::More => {}
                SliceStep::Done => {
                    let (id, segment) = working.finish(&mut self.scratch);
                    return Analysed { id, segment, cut };
                }
            }
        }
    }
}
