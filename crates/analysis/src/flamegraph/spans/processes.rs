//! Processes that announce spans: each has its own collections and its own end.

use crate::account::TimeAttribution;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos};

/// What the spans of a process depend on.
#[derive(Clone, Debug)]
pub(super) struct SpanProcess {
    /// Start and end of its collections in ns, sorted and without overlaps.
    pub(super) collections: Vec<(u64, u64)>,
    /// Time of its last event: the end of its open spans.
    end: Nanos,
}

/// Processes that announce spans.
#[derive(Clone, Debug)]
pub struct SpanProcesses {
    /// The first one stands for the whole log, the others are the processes of a log that several wrote.
    all: Vec<SpanProcess>,
    /// Index of the process of each capability, if there are several.
    caps: SeededMap<CapId, usize>,
}

impl SpanProcesses {
    /// Creates the only process of a log that ends at `end`. `collections` are sorted and without overlaps.
    pub fn one(collections: Vec<(u64, u64)>, end: Nanos) -> Self {
        Self {
            all: vec![SpanProcess { collections, end }],
            caps: SeededMap::default(),
        }
    }

    /// Finds the processes of a log that ends at `end`. `collections` are those of all processes, sorted and without
    /// overlaps.
    pub(crate) fn find(
        account: TimeAttribution<'_>,
        collections: Vec<(u64, u64)>,
        end: Nanos,
    ) -> Self {
        let mut found = Self::one(collections, end);
        let several: Vec<_> = account.processes().collect();
        if several.len() < 2 {
            return found;
        }
        for (caps, pauses) in several {
            let place = found.all.len();
            found.caps.extend(caps.iter().map(|cap| (*cap, place)));
            let ends = caps.iter().map(|cap| account.life_of(*cap).end());
            let collections = pauses.all().iter();
            found.all.push(SpanProcess {
                collections: collections
                    .map(|pause| (pause.start.0, pause.end.0))
                    .collect(),
                end: ends.max().unwrap_or(end),
            });
        }
        found
    }

    /// Returns all processes, that of the whole log first.
    pub(super) fn all(&self) -> &[SpanProcess] {
        &self.all
    }

    /// Returns the index of the process of a span that began on a capability.
    pub(super) fn index_of(&self, cap: Option<CapId>) -> usize {
        let place = cap.and_then(|cap| self.caps.get(&cap));
        place.copied().unwrap_or(0)
    }

    /// Returns the end of an open span that began on a capability.
    pub(crate) fn end(&self, cap: Option<CapId>) -> Nanos {
        let process = self.all.get(self.index_of(cap));
        process.map_or(Nanos(0), |process| process.end)
    }
}
