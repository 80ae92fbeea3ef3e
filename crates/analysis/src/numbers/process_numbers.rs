//! Figures of each process in a log of several processes.

use serde::{Deserialize, Serialize};

use super::Numbers;
use super::summary::Summary;
use crate::account::report::CapTimes;
use crate::info::Info;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Figures of one process, for a log or a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessNumbers {
    /// Display name of the process.
    pub name: String,
    /// Process id in the operating system.
    pub pid: Option<u32>,
    /// Number of capabilities of the process.
    pub capabilities: u64,
    /// From the first to the last event of the process, clipped to the range.
    pub span: Interval,
    /// Total times of its capabilities.
    pub times: CapTimes,
    /// Number of collections that begin in the range, as logged by their leading capabilities.
    pub collections: u64,
    /// Total pauses of these collections in ns.
    pub gc_ns: u64,
    /// Bytes allocated by its capabilities; `None` without counters.
    pub bytes_allocated: Option<u64>,
}

impl ProcessNumbers {
    /// Returns the share of known capability time spent on running threads, 0 to 1.
    pub fn productivity(&self) -> Option<f64> {
        let known_ns = self.times.known_ns();
        (known_ns > 0).then(|| self.times.running_ns as f64 / known_ns as f64)
    }
}

impl Numbers {
    /// Adds figures per process to the summary of a log of several processes.
    ///
    /// Figures that are meaningful for a single program only are removed.
    pub(crate) fn summary_with_processes(
        &self,
        summary: Summary,
        info: &Info,
        end: Nanos,
        range: Option<Interval>,
    ) -> Summary {
        let processes = info.processes.all();
        if processes.is_empty() {
            return summary;
        }
        let window = self.window(end, range);
        let whole = Interval::new(Nanos(window.from), Nanos(window.to));
        let mut all = Vec::new();
        for own in processes {
            let is_own = |cap| own.caps.binary_search(&cap).is_ok();
            let mut times = CapTimes::default();
            for (_, of_cap) in summary.account.caps.iter().filter(|(cap, _)| is_own(*cap)) {
                times.add(of_cap);
            }
            let led = self.collections_in(window).filter(|gc| is_own(gc.cap));
            let (collections, gc_ns) = led.fold((0, 0_u64), |(count, ns), gc| {
                (count + 1, ns.saturating_add(gc.pause_ns()))
            });
            let allocated = own.caps.iter();
            let allocated = allocated.filter_map(|cap| self.allocated.growth(*cap, window));
            let logged = info.lives.caps_with_events();
            let logged = logged.filter(|(cap, ..)| is_own(*cap));
            let span = logged.filter_map(|(.., events)| events);
            all.push(ProcessNumbers {
                span: span.reduce(Interval::hull).unwrap_or_default().clip(whole),
                capabilities: own.caps.len() as u64,
                times,
                collections,
                gc_ns,
                bytes_allocated: allocated.reduce(u64::saturating_add),
                name: own.name,
                pid: own.process.pid,
            });
        }
        Summary {
            init_ns: None,
            mutator_ns: None,
            gc_ns: None,
            prof_ns: None,
            exit_ns: None,
            productivity: None,
            allocation_rate: None,
            processes: all,
            ..summary
        }
    }
}
