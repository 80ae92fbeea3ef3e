//! How the collector of a run was set: its area, its factor, and which collections were requested.

use crate::collection_in_range::CollectionInRange;
use crate::context::{RuleContext, cached};
use crate::flags::option_bytes;
use crate::input::Input;
use eventlog::ids::Nanos;

/// Allocation area of a capability by default, since GHC 9.2 and before.
pub(crate) const AREA_BYTES: u64 = 4 << 20;
pub(crate) const OLD_AREA_BYTES: u64 = 1 << 20;

impl<'a> RuleContext<'a> {
    /// Returns the allocation area of a capability in bytes (`-A`): as logged by the runtime, which includes
    /// compiled-in options, else from the arguments, else the default of the GHC version.
    pub fn allocation_area_bytes(&self) -> u64 {
        self.known_area_bytes().unwrap_or(AREA_BYTES)
    }

    /// Same as [`allocation_area_bytes`](Self::allocation_area_bytes); `None` if nothing in the log tells it.
    pub(crate) fn known_area_bytes(&self) -> Option<u64> {
        let process = self.log.info.process();
        if let Some(heap) = process.heap.filter(|heap| heap.allocation_area_bytes > 0) {
            return Some(heap.allocation_area_bytes);
        }
        let from_arguments = self
            .option_value("-A")
            .and_then(|value| option_bytes(&value));
        from_arguments.or_else(|| match process.ghc.as_deref().map(version) {
            Some(version) if version < (9, 2) => Some(OLD_AREA_BYTES),
            Some(_) => Some(AREA_BYTES),
            None => self.probable_area_bytes(),
        })
    }

    /// Returns the default area that fits what was allocated before collections, of which there have to be two: a log
    /// that was not written to its end may lack the version of GHC.
    fn probable_area_bytes(&self) -> Option<u64> {
        const ENOUGH: usize = 101;
        let pairs = self.collections.windows(2).take(ENOUGH);
        let allocated = pairs.map(|two| {
            let numbers = &self.log.numbers;
            numbers.most_allocated_bytes(two[0].pause.start, two[1].pause.start)
        });
        let mut allocated: Vec<u64> = allocated.collect();
        allocated.sort_unstable();
        let usual = allocated.get(allocated.len() / 2)?;
        Some(match *usual < AREA_BYTES / 2 {
            true => OLD_AREA_BYTES,
            false => AREA_BYTES,
        })
    }

    /// Returns the factor of live data to which the old generation may grow before it is collected (`-F`): from
    /// the arguments, else 2, the default of every GHC.
    pub fn old_generation_factor(&self) -> f64 {
        let from_arguments = self.option_value("-F");
        let from_arguments = from_arguments.and_then(|value| value.parse().ok());
        from_arguments
            .filter(|factor: &f64| factor.is_finite() && *factor >= 1.0)
            .unwrap_or(2.0)
    }

    /// Returns the major collections that were requested explicitly, with their indices: no capability had
    /// allocated nearly enough to trigger them.
    pub async fn requested_collections(&self) -> Vec<(usize, &CollectionInRange<'a>)> {
        let find = self.find_requested_collections();
        let indices = cached(&self.requested_collections, find).await.iter();
        indices
            .map(|index| (*index, &self.collections[*index]))
            .collect()
    }

    /// Compares with the usual allocation before minor collections, which have no other trigger. The arguments
    /// alone are not enough: they lack compiled-in options (`-with-rtsopts`).
    async fn find_requested_collections(&self) -> Vec<usize> {
        const NEARLY: f64 = 0.9;
        // Right after another one, with little allocation in between, the old generation cannot have grown by its
        // factor.
        const EARLY: f64 = 0.5;
        const LIVE_BYTES: u64 = 6_000_000;
        let (mut live_bytes, mut since_major, mut was_major) = (0_u64, 0_u64, false);
        let factor = self.old_generation_factor();
        let grows_freely = self.heap_limit_bytes().is_none() && !self.has_argument("-G1");
        let mut steps = self.steps();
        let (mut before_minors, mut majors) = (Vec::new(), Vec::new());
        for (index, gc) in self.collections_where(|gc| gc.statistics.is_some()) {
            steps.step().await;
            let next = self.collections.get(index + 1);
            let next = next.map_or(Nanos(u64::MAX), |next| next.pause.start);
            let allocated = self.log.numbers.most_allocated_bytes(gc.pause.start, next);
            let statistics = gc.statistics.copied().unwrap_or_default();
            since_major = since_major.saturating_add(statistics.allocated_bytes);
            if gc.is_major {
                let may_grow = live_bytes as f64 * (factor - 1.0);
                let is_early = was_major
                    && grows_freely
                    && live_bytes >= LIVE_BYTES
                    && (since_major as f64) < EARLY * may_grow;
                majors.push((index, allocated, is_early));
                live_bytes = statistics.live_bytes.unwrap_or(0);
                since_major = 0;
            } else {
                before_minors.push(allocated);
            }
            was_major = gc.is_major;
        }
        before_minors.sort_unstable();
        let usual = before_minors.get(before_minors.len() / 2);
        let area = self.allocation_area_bytes();
        let limit = usual.map_or(area, |usual| area.min(*usual)) as f64 * NEARLY;
        majors.retain(|(_, allocated, is_early)| *is_early || (*allocated as f64) < limit);
        majors.into_iter().map(|(index, ..)| index).collect()
    }

    /// Returns whether the nonmoving collector is used, as far as the log shows: a compiled-in option
    /// (`-with-rtsopts`) shows only in the events.
    pub fn is_nonmoving(&self) -> bool {
        Input::Nonmoving.is_in(&self.log.info)
            || self.has_argument("--nonmoving-gc")
            || self.has_argument("-xn")
    }
}

pub(crate) fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}
