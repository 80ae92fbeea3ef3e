//! Runtime settings that determine how much memory is held.

use serde::{Deserialize, Serialize};

use crate::process::HeapSettings;
use crate::recording::Recording;

/// Collection method of the oldest generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Collector {
    /// Copies live data, so that two copies exist during a collection.
    #[default]
    Copying,
    /// Compacts live data in place (`-c`).
    Compacting,
    /// Leaves live data in place, and marks it while the program runs (`--nonmoving-gc`).
    Nonmoving,
}

impl Collector {
    /// Returns the runtime's estimate of memory for a collection, as a multiple of live data (`rts/sm/GC.c`).
    pub const fn factor(self) -> f64 {
        match self {
            Self::Copying => 2.0,
            Self::Compacting | Self::Nonmoving => 1.2,
        }
    }
}

/// Default of `-F`: growth factor of the oldest generation between its collections.
const OLD_GENERATION_FACTOR: f64 = 2.0;
/// Default of `-Fd`.
const RETURN_DECAY: f64 = 4.0;

/// Settings that determine the memory held, as far as known from the log.
///
/// Flags compiled into a program (`-with-rtsopts`) are not logged, so a missing setting need not have its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryFlags {
    /// Layout of the heap (`HeapInfoGHC`).
    pub heap: Option<HeapSettings>,
    /// Collection method of the oldest generation.
    pub collector: Collector,
    /// `-F`, if given.
    pub old_generation_factor: Option<f64>,
    /// `-Fd`, if given.
    pub return_decay: Option<f64>,
    /// Whether a heap size is suggested (`-H`), which enlarges nurseries.
    pub suggested_heap: bool,
}

impl MemoryFlags {
    /// Reads the settings of a log.
    pub(super) fn from_recording(log: &Recording) -> Self {
        let mut flags = Self {
            heap: log.info.facts.heap(),
            ..Self::default()
        };
        for flag in log.info.runtime_options() {
            flags.take(&flag);
        }
        // The program itself may enable it.
        if !log.tracks.nonmoving.is_empty() {
            flags.collector = Collector::Nonmoving;
        }
        flags
    }

    /// Applies a flag; the last of conflicting flags wins.
    fn take(&mut self, flag: &str) {
        match flag {
            "-c" => self.collector = Collector::Compacting,
            "--nonmoving-gc" | "-xn" => self.collector = Collector::Nonmoving,
            "--copying-gc" => self.collector = Collector::Copying,
            _ => {
                let number = |text: &str| {
                    let number: Option<f64> = text.parse().ok();
                    number.filter(|number| number.is_finite() && *number >= 0.0)
                };
                if let Some(decay) = flag.strip_prefix("-Fd").and_then(number) {
                    self.return_decay = Some(decay);
                } else if let Some(factor) = flag.strip_prefix("-F").and_then(number) {
                    self.old_generation_factor = Some(factor);
                } else if flag.starts_with("-H") {
                    self.suggested_heap = true;
                }
            }
        }
    }

    /// Returns `-F`, or its default.
    pub fn old_generation_factor(&self) -> f64 {
        self.old_generation_factor.unwrap_or(OLD_GENERATION_FACTOR)
    }

    /// Returns `-Fd`, or its default.
    pub fn return_decay(&self) -> f64 {
        self.return_decay.unwrap_or(RETURN_DECAY)
    }

    /// Returns the size of the allocation area per capability.
    pub fn nursery_bytes(&self) -> Option<u64> {
        self.heap.map(|heap| heap.allocation_area_bytes)
    }

    /// Returns the memory usually held for this many bytes in live blocks.
    ///
    /// It is (2 + F) times as much, and a nursery per capability.
    ///
    /// The oldest generation grows to F times its live data before it is collected, and copying takes a second
    /// copy. Compacting and the nonmoving collector need less than that.
    pub fn expected_bytes(&self, live_bytes: u64, capabilities: u64) -> Option<u64> {
        let nurseries = self.nursery_bytes()?.saturating_mul(capabilities);
        let factor = self.collector.factor() + self.old_generation_factor();
        let of_live = (factor * live_bytes as f64) as u64;
        Some(of_live.saturating_add(nurseries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::rts_flags;

    fn flags(words: &str) -> MemoryFlags {
        let arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut flags = MemoryFlags::default();
        rts_flags(&arguments).for_each(|flag| flags.take(flag));
        flags
    }

    #[test]
    fn only_flags_for_the_runtime_count() {
        let found = flags("prog -c -F9 +RTS -F1.5 -Fd2 -RTS -xn");
        assert_eq!(found.collector, Collector::Copying);
        assert_eq!(found.old_generation_factor, Some(1.5));
        assert_eq!(found.return_decay, Some(2.0));
        assert_eq!(flags("prog -- +RTS -c"), MemoryFlags::default());
        assert_eq!(flags("prog +RTS --RTS -c"), MemoryFlags::default());
        let odd = flags("prog +RTS -Fx -F-1 -Finf -c30 -hc");
        assert_eq!(odd, MemoryFlags::default());
    }

    #[test]
    fn the_last_flag_counts() {
        let found = flags("prog +RTS -xn -c -F3 -RTS a +RTS -F4 -H1g");
        assert_eq!(found.collector, Collector::Compacting);
        assert_eq!(found.old_generation_factor(), 4.0);
        assert!(found.suggested_heap);
        let found = flags("prog +RTS --nonmoving-gc --copying-gc");
        assert_eq!(found.collector, Collector::Copying);
        assert_eq!(found.old_generation_factor(), 2.0);
    }

    #[test]
    fn what_is_expected() {
        let heap = HeapSettings {
            generations: 2,
            max_heap_bytes: None,
            allocation_area_bytes: 4 << 20,
            megablock_bytes: 1 << 20,
            block_bytes: 4096,
        };
        let of = |collector, old_generation_factor| MemoryFlags {
            heap: Some(heap),
            collector,
            old_generation_factor,
            ..MemoryFlags::default()
        };
        let mib = |flags: MemoryFlags| flags.expected_bytes(100 << 20, 2).map(|n| n >> 20);
        assert_eq!(mib(of(Collector::Copying, None)), Some(408));
        assert_eq!(mib(of(Collector::Copying, Some(1.5))), Some(358));
        assert_eq!(mib(of(Collector::Compacting, None)), Some(328));
        assert_eq!(mib(MemoryFlags::default()), None);
    }
}
