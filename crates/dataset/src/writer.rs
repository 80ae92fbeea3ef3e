//! Adding many logs in parallel, within a memory budget.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::add::{Job, Outcome};
use crate::claim::{LogClaim, Patience};
use crate::{Dataset, Error, Isolation, Rules, compaction};
use session::MemoryBudget;

/// How logs are added to a data set.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of logs that are analyzed at a time.
    pub jobs: NonZeroUsize,
    /// Memory for all of them together, in bytes: a target, not an enforced limit.
    pub memory_bytes: u64,
    /// Wall-clock time of time 0 of logs that do not have it, in nanoseconds since 1970.
    pub clock_origin_ns: Option<u64>,
    /// Adds each log in a process of its own; otherwise all are added in this one.
    pub isolation: Option<Isolation>,
}

impl Options {
    /// Divides memory and cores among logs that are added at a time.
    fn job<'a>(&self, dataset: &'a Dataset, rules: &'a Rules) -> Job<'a> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Job {
            dataset,
            rules,
            memory: MemoryBudget {
                bytes: self.memory_bytes / self.jobs.get() as u64,
            },
            threads: NonZeroUsize::new(cores / self.jobs).unwrap_or(NonZeroUsize::MIN),
            clock_origin_ns: self.clock_origin_ns,
        }
    }
}

/// Adds one log, beside others that other processes add; [`add_logs`] runs this where [`Options::isolation`] says so.
/// Returns `None` if another process is adding it.
///
/// # Errors
/// If the data set cannot be written. A log that cannot be read is no error.
pub fn add_log(
    dataset: &Dataset,
    log: &Path,
    rules: &Rules,
    options: &Options,
) -> Result<Option<Outcome>, Error> {
    options.job(dataset, rules).add(log, Patience::None)
}

/// Number of logs by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Logs that are in the tables now, damaged ones too.
    pub added: u64,
    /// Of them, those that are damaged.
    pub damaged: u64,
    /// Logs that were in the data set already.
    pub present: u64,
    /// Logs that cannot be read.
    pub failed: u64,
}

impl Added {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Added => self.added += 1,
            Outcome::Damaged(_) => {
                self.added += 1;
                self.damaged += 1;
            }
            Outcome::Present => self.present += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
    }
}

/// Adds logs, and finishes or undoes what killed processes left. `observe` is called for each log when it is done.
///
/// # Errors
/// If the data set cannot be written. Logs that cannot be read are no error.
pub fn add_logs(
    dataset: &Dataset,
    logs: &[PathBuf],
    rules: &Rules,
    options: &Options,
    observe: &(dyn Fn(&Path, &Outcome) + Sync),
) -> Result<Added, Error> {
    rules.check(dataset.partition(), logs)?;
    compaction::repair(dataset)?;
    LogClaim::clean_up(dataset)?;
    let logs = distinct(logs);
    let jobs = options.jobs;
    let job = options.job(dataset, rules);
    let admission = Admission::new(options.memory_bytes);
    let added = Mutex::new(Added::default());
    let claimed = Mutex::new(Vec::new());
    let add = |path: &PathBuf, patience| -> Result<(), Error> {
        let outcome =
            admission.while_admitted(needed_bytes(path), || match &options.isolation {
                Some(isolation) => isolation.add(&job, path, patience),
                None => job.add(path, patience),
            })?;
        match outcome {
            Some(outcome) => {
                lock(&added).count(&outcome);
                observe(path, &outcome);
            }
            None => lock(&claimed).push(path.clone()),
        }
        Ok(())
    };
    for_each(jobs, &logs, |path| add(path, Patience::None))?;
    // Another process was adding these. It may be done, or dead.
    let claimed = std::mem::take(&mut *lock(&claimed));
    for_each(jobs, &claimed, |path| add(path, Patience::Endless))?;
    dataset.write_views()?;
    Ok(*lock(&added))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the paths without repetitions.
fn distinct(logs: &[PathBuf]) -> Vec<PathBuf> {
    let mut known = BTreeSet::new();
    let logs = logs.iter().filter(|path| known.insert(*path));
    logs.cloned().collect()
}

/// Estimates the memory for a log. Indexes, names and messages cannot be spilled to a file, and take about a tenth
/// of its size; besides that there are pieces of the log, and row groups.
fn needed_bytes(path: &Path) -> u64 {
    const FIXED: u64 = 64 << 20;
    /// How much compressed logs inflate to.
    const INFLATED: u64 = 8;
    let len = fs::metadata(path).map_or(0, |about| about.len());
    let is_compressed = path
        .extension()
        .is_some_and(|extension| extension == "gz" || extension == "zst");
    let len = len.saturating_mul(if is_compressed { INFLATED } else { 1 });
    FIXED + len / 8
}

/// Lets logs begin while the memory that they need is within the budget; one is always let in.
struct Admission {
    budget: u64,
    used: Mutex<u64>,
    changed: Condvar,
}

impl Admission {
    const fn new(budget: u64) -> Self {
        Self {
            budget,
            used: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    fn while_admitted<T>(&self, bytes: u64, work: impl FnOnce() -> T) -> T {
        let used = lock(&self.used);
        let is_full = |used: &mut u64| *used > 0 && used.saturating_add(bytes) > self.budget;
        let mut used = self
            .changed
            .wait_while(used, is_full)
            .unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_add(bytes);
        drop(used);
        let result = work();
        let mut used = lock(&self.used);
        *used = used.saturating_sub(bytes);
        self.changed.notify_all();
        result
    }
}

/// Calls `work` for all items, on several threads. After an error no more items are begun.
pub(crate) fn for_each<T: Sync, E: Send>(
    threads: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = || {
        while !failed.load(Ordering::Relaxed)
            && let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
        {
            work(item).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others = (1..threads.get().min(items.len())).map_while(|_| {
            // If no more threads can be created, fewer are used.
            thread::Builder::new().spawn_scoped(scope, run).ok()
        });
        let others: Vec<_> = others.collect();
        let own = run();
        let join = |other: thread::ScopedJoinHandle<'_, _>| {
            let panicked = |panic| std::panic::resume_unwind(panic);
            other.join().unwrap_or_else(panicked)
        };
        others.into_iter().map(join).fold(own, Result::and)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_logs_wait_for_memory() {
        let admission = Admission::new(100);
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let four = NonZeroUsize::new(4).expect("four");
        let done = for_each(four, &[60_u64, 60, 30, 500, 30, 60], |&bytes| {
            admission.while_admitted(bytes, || {
                let bytes = usize::try_from(bytes).expect("small");
                let now = running.fetch_add(bytes, Ordering::SeqCst) + bytes;
                most.fetch_max(now, Ordering::SeqCst);
                thread::sleep(std::time::Duration::from_millis(2));
                running.fetch_sub(bytes, Ordering::SeqCst);
            });
            Ok::<(), ()>(())
        });
        assert_eq!(done, Ok(()));
        // The log that needs more than all memory runs alone.
        assert_eq!(most.load(Ordering::SeqCst), 500);
    }

    #[test]
    fn an_error_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let done = for_each(NonZeroUsize::MIN, &[1, 2, 3], |&item| {
            begun.fetch_add(1, Ordering::SeqCst);
            if item == 2 { Err("two") } else { Ok(()) }
        });
        assert_eq!((done, begun.load(Ordering::SeqCst)), (Err("two"), 2));
    }
}
