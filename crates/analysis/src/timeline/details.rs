//! What is known of one item beyond what its mark says: who woke the thread,
//! what ran next, what a collection copied, what a message says.

use serde::{Deserialize, Serialize};

use super::row::Row;
use eventlog::ids::Nanos;
use model::profile::TrackSource;
use model::profile::source::Source;
use model::time::Span;

/// Which item is meant: the span of a row, as its mark says it; or, of a
/// graph, the stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailsQuery {
    /// The row.
    pub row: Row,
    /// When it begins and ends.
    pub span: Span,
    /// Whether it stands for several.
    pub many: bool,
}

/// What a fact leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lead {
    /// To what made the thread runnable.
    Waker,
    /// To what ran next on the capability.
    Next,
    /// To something else that it names.
    Other,
}

/// A place in the flame graph that is ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameTarget {
    /// Of which source.
    pub source: Source,
    /// On which track.
    pub track: TrackSource,
    /// At which time.
    pub at: Nanos,
}

/// Where what a fact names is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// An item of the timeline.
    Item(Lead, Row, Span),
    /// A box of a flame graph.
    Flame(FlameTarget),
}

/// One fact about an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about: `woken by`.
    pub label: String,
    /// The fact: `bound-1 (thread 8) on capability 0`.
    pub text: String,
    /// Where what it names is to be seen.
    pub target: Option<Target>,
}

impl Fact {
    /// A fact that leads nowhere.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            target: None,
        }
    }

    /// The same, leading to an item.
    #[must_use]
    pub fn leading(mut self, lead: Lead, row: Row, span: Span) -> Self {
        self.target = Some(Target::Item(lead, row, span));
        self
    }

    /// The same, leading to a box of a flame graph.
    #[must_use]
    pub const fn in_flame(mut self, target: FlameTarget) -> Self {
        self.target = Some(Target::Flame(target));
        self
    }

    /// The item of the timeline that it leads to.
    #[must_use]
    pub const fn item(&self) -> Option<(Lead, Row, Span)> {
        match self.target {
            Some(Target::Item(lead, row, span)) => Some((lead, row, span)),
            _ => None,
        }
    }
}
