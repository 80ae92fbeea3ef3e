//! Reading a whole log into a session, natively: on one thread from whatever can be
//! read, or on several.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use analysis::segment::{Scratch, Segment};
use eventlog::source::{Driven, SharedSource, drive};
use eventlog::{LogError, Need, SliceStep, Step};
use session::{Job, JobId, Session, Working};

/// Reads a whole log into a session that was made for it, on so many threads. This one
/// puts together what is found, and helps the others when there is nothing to put.
///
/// # Errors
/// As [`eventlog::source::read_log`].
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

/// A session that is driven until its slices are known.
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

/// For each thread there are at most so many slices that are analysed, wait for it, or
/// wait for those before them: that bounds the memory.
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
        let (mut desk, mut under_way) = (Desk::default(), 0);
        while !session.is_complete() {
            while under_way + session.waiting_segments() < most
                && let Some(job) = session.next_job()
            {
                under_way += usize::from(jobs.send(job).is_ok());
            }
            // What was found is put together first, as it takes memory.
            let analysed = if let Ok(analysed) = done.try_recv() {
                analysed
            } else if let Ok(job) = to_do.try_recv() {
                Ok(desk.analyse(job, log))
            } else if under_way > 0
                && let Ok(analysed) = done.recv()
            {
                analysed
            } else {
                // There is no slice at all.
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

/// A slice, analysed.
struct Analysed {
    id: JobId,
    segment: Segment,
    /// Where the log turned out to end, if before its end.
    cut: Option<u64>,
}

/// What a helper found, or why it panicked.
type Found = Result<Analysed, Box<dyn Any + Send>>;

/// Analyses slices until no more come.
fn help(to_do: &Receiver<Job>, results: &Sender<Found>, log: &(impl SharedSource + ?Sized)) {
    let mut desk = Desk::default();
    for job in to_do {
        // Otherwise the others would wait for this slice for ever.
        let found = catch_unwind(AssertUnwindSafe(|| desk.analyse(job, log)));
        if results.send(found).is_err() {
            return;
        }
    }
}

/// What a thread keeps from slice to slice.
#[derive(Default)]
struct Desk {
    scratch: Scratch,
    buffer: Vec<u8>,
}

impl Desk {
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
