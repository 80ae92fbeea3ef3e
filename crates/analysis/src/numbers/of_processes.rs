//! The numbers of each process of a log that is of several.

use serde::{Deserialize, Serialize};

use super::Numbers;
use super::summary::Summary;
use crate::account::report::CapTimes;
use crate::info::Info;
use eventlog::ids::Nanos;
use model::time::Interval;

/// The numbers of one process, of a log or of an interval of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessNumbers {
    /// What it is called.
    pub name: String,
    /// Its number in the operating system.
    pub pid: Option<u32>,
    /// How many capabilities it has.
    pub capabilities: u64,
    /// From its first event to its last, as far as they are inside.
    pub span: Interval,
    /// How its capabilities spent that, together.
    pub times: CapTimes,
    /// Collections that begin inside, as those tell it that led them.
    pub collections: u64,
    /// How long these took, in nanoseconds.
    pub gc_ns: u64,
    /// What its capabilities allocated.
    pub bytes_allocated: Option<u64>,
}

impl ProcessNumbers {
    /// The share of the time of its capabilities in which they ran threads, of what the log tells
    /// of: 0 to 1.
    #[must_use]
    pub fn productivity(&self) -> Option<f64> {
        let known_ns = self.times.known_ns();
        (known_ns > 0).then(|| self.times.running_ns as f64 / known_ns as f64)
    }
}

impl Numbers {
    /// The summary of a log that several processes have written: with the numbers of each, and
    /// without those that make sense of one program only.
    pub(crate) fn of_several(
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
        let window = Self::window(end, range);
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
