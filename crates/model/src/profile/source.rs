//! What flame graphs can be about, and what their weights mean.

use serde::{Deserialize, Serialize};

/// Where the stacks of a flame graph come from.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Source {
    /// Cost-centre samples of the capabilities (`+RTS -p -l`), and the foreign
    /// calls that the program announces, per OS thread: Haskell and foreign
    /// code on one time axis.
    #[default]
    CostCentres,
    /// Samples of Haskell stacks by `ghc-stack-profiler`, which need no
    /// profiling build.
    StackSamples,
    /// Spans that the program announces with messages, one on the other.
    Spans,
    /// What threads waited for while they did not run.
    Waiting,
    /// Heap samples by cost-centre stack (`+RTS -hc -l`).
    Heap,
}

/// In what a source counts beside its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes that were alive, summed over heap samples.
    Bytes,
}

impl Source {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 5] = [
        Self::CostCentres,
        Self::StackSamples,
        Self::Spans,
        Self::Waiting,
        Self::Heap,
    ];

    /// Its name in links and on the command line, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CostCentres => "cost-centres",
            Self::StackSamples => "stack-samples",
            Self::Spans => "spans",
            Self::Waiting => "waiting",
            Self::Heap => "heap",
        }
    }

    /// The source of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// In what it counts.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Heap => Unit::Bytes,
            _ => Unit::Time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_sources() {
        for source in Source::ALL {
            assert_eq!(Source::named(source.name()), Some(source));
        }
        assert_eq!(Source::named("other"), None);
    }
}
