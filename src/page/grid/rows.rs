//! The rows of a table, as far as they are at hand.

use yew::prelude::*;

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridRow {
    pub(crate) cells: Vec<Html>,
    pub(crate) class: Classes,
    /// Where it stands, if the rows are a tree.
    pub(crate) branch: Option<Branch>,
}

/// Where a row stands in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// How deep, from 1.
    pub(crate) level: u16,
    /// Whether what stands below it is shown; `None` if nothing does.
    pub(crate) open: Option<bool>,
    /// Its place among its neighbours, from 1, and how many these are.
    pub(crate) place: (u32, u32),
}

impl From<Vec<Html>> for GridRow {
    fn from(cells: Vec<Html>) -> Self {
        Self {
            cells,
            class: Classes::new(),
            branch: None,
        }
    }
}

impl<const N: usize> From<[String; N]> for GridRow {
    fn from(cells: [String; N]) -> Self {
        Vec::from(cells.map(Html::from)).into()
    }
}

/// Rows that are at hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// The number of the first one.
    pub(crate) first: u64,
    pub(crate) rows: Vec<GridRow>,
}

impl Rows {
    pub(super) fn get(&self, number: u64) -> Option<&GridRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}
