//! Sums of figures over several processes in one log.

use crate::process::MAX_CAPSETS;
use eventlog::cursor::CapsetType;
use eventlog::ids::CapsetId;

/// Latest figures of each process, of `N` kinds.
///
/// A log of one process has one heap, independent of the capability set in its events.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSums<const N: usize>(Vec<(CapsetId, [u64; N])>);

impl<const N: usize> Default for ProcessSums<N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<const N: usize> ProcessSums<N> {
    /// Records a new capability set.
    pub(crate) fn created(&mut self, capset: CapsetId, kind: CapsetType) {
        let is_known = self.0.iter().any(|(known, _)| *known == capset);
        if kind == CapsetType::OS_PROCESS && self.0.len() < MAX_CAPSETS && !is_known {
            self.0.push((capset, [0; N]));
        }
    }

    /// Returns the index of a process; `None` for a capability set that is no process.
    pub(crate) fn index_of(&self, capset: CapsetId) -> Option<usize> {
        self.0.iter().position(|(known, _)| *known == capset)
    }

    /// Updates the figures of a process that are given, and returns the sums over all. The figures of a capability set
    /// that is no process are returned as they are.
    pub(crate) fn update(&mut self, capset: CapsetId, figures: [Option<u64>; N]) -> [u64; N] {
        let Some((_, own)) = self.0.iter_mut().find(|(known, _)| *known == capset) else {
            return figures.map(Option::unwrap_or_default);
        };
        for (own, figure) in own.iter_mut().zip(figures) {
            *own = figure.unwrap_or(*own);
        }
        let add = |sums: [u64; N], (_, of): &(CapsetId, [u64; N])| {
            std::array::from_fn(|at| sums[at].saturating_add(of[at]))
        };
        self.0.iter().fold([0; N], add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_processes_are_added_up() {
        let (one, two) = (CapsetId(0), CapsetId(2));
        let mut sums = ProcessSums::default();
        sums.created(one, CapsetType::OS_PROCESS);
        sums.created(CapsetId(1), CapsetType::CLOCK_DOMAIN);
        assert_eq!(sums.update(one, [Some(10), None]), [10, 0]);
        // No process; the value is returned as is.
        assert_eq!(sums.update(CapsetId(1), [Some(7), None]), [7, 0]);
        sums.created(two, CapsetType::OS_PROCESS);
        sums.created(two, CapsetType::OS_PROCESS);
        assert_eq!(sums.update(two, [Some(5), Some(3)]), [15, 3]);
        assert_eq!(sums.update(one, [Some(1), Some(u64::MAX)]), [6, u64::MAX]);
    }
}
