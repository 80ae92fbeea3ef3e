//! Sums of heap sizes over several processes in one log.

use eventlog::cursor::CapsetType;
use eventlog::ids::CapsetId;

/// Type of capability sets that are OS processes.
const OS_PROCESS: CapsetType = CapsetType(2);
/// Limit of processes; more come from damage.
const MAX_PROCESSES: usize = 64;

/// Latest heap figures of each process.
///
/// A log of one process has one heap, independent of the capability set in its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Heaps(Vec<Heap>);

#[derive(Clone, Copy, Debug)]
struct Heap {
    capset: CapsetId,
    size_bytes: u64,
    live_bytes: u64,
}

impl Heaps {
    /// Records a new capability set.
    pub(super) fn created(&mut self, capset: CapsetId, kind: CapsetType) {
        if kind == OS_PROCESS
            && self.0.len() < MAX_PROCESSES
            && self.0.iter().all(|heap| heap.capset != capset)
        {
            self.0.push(Heap {
                capset,
                size_bytes: 0,
                live_bytes: 0,
            });
        }
    }

    /// Updates the heap size of one process, and returns the sum over all.
    pub(super) fn size(&mut self, capset: CapsetId, bytes: u64) -> u64 {
        self.set_and_sum(capset, bytes, |heap| &mut heap.size_bytes)
    }

    /// Updates the live bytes of one process, and returns the sum over all.
    pub(super) fn live(&mut self, capset: CapsetId, bytes: u64) -> u64 {
        self.set_and_sum(capset, bytes, |heap| &mut heap.live_bytes)
    }

    fn set_and_sum(
        &mut self,
        capset: CapsetId,
        bytes: u64,
        which: fn(&mut Heap) -> &mut u64,
    ) -> u64 {
        let Some(own) = self.0.iter_mut().find(|heap| heap.capset == capset) else {
            return bytes;
        };
        *which(own) = bytes;
        let all = self.0.iter_mut().map(|heap| *which(heap));
        all.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_of_processes_are_told_together() {
        let (one, two) = (CapsetId(0), CapsetId(2));
        let mut heaps = Heaps::default();
        heaps.created(one, OS_PROCESS);
        heaps.created(CapsetId(1), CapsetType(3));
        assert_eq!(heaps.size(one, 10), 10);
        // No process; the value is returned as is.
        assert_eq!(heaps.size(CapsetId(1), 7), 7);
        heaps.created(two, OS_PROCESS);
        heaps.created(two, OS_PROCESS);
        assert_eq!((heaps.size(two, 5), heaps.live(two, 3)), (15, 3));
        assert_eq!(
            (heaps.size(one, 1), heaps.live(one, u64::MAX)),
            (6, u64::MAX)
        );
    }
}
