//! Rows of a table that are currently loaded.

use yew::prelude::*;

/// Cells of one row, with its style and tree position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridRow {
    pub(crate) cells: Vec<Html>,
    pub(crate) class: Classes,
    /// Position in the tree, if the rows form one.
    pub(crate) branch: Option<Branch>,
}

/// Position of a row in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// Depth, from 1.
    pub(crate) level: u16,
    /// Whether the row is expanded; `None` if it has no children.
    pub(crate) open: Option<bool>,
    /// Position among its siblings, from 1, and their number.
    pub(crate) place: (u32, u32),
}

impl GridRow {
    /// Sets the style of the row.
    pub(crate) fn with_class(self, class: Option<&'static str>) -> Self {
        Self {
            class: classes!(class),
            ..self
        }
    }
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

/// Contiguous range of loaded rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Number of the first loaded row.
    pub(crate) first: u64,
    pub(crate) rows: Vec<GridRow>,
}

impl Rows {
    pub(super) fn get(&self, number: u64) -> Option<&GridRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}
