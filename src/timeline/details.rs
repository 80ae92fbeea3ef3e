//! What is known of one item beyond what its mark says: who woke the thread,
//! what ran next, what a collection copied, what a message says.

use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::automata::Span;

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

/// One fact about an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about: `woken by`.
    pub label: String,
    /// The fact: `bound-1 (thread 8) on capability 0`.
    pub text: String,
    /// Where what it names is on the timeline.
    pub lead: Option<(Lead, Row, Span)>,
}

impl Fact {
    /// A fact that leads nowhere.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            lead: None,
        }
    }

    /// The same, leading to an item.
    #[must_use]
    pub fn leading(mut self, lead: Lead, row: Row, span: Span) -> Self {
        self.lead = Some((lead, row, span));
        self
    }
}
