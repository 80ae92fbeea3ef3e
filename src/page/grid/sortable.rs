//! Columns of a table with their sort keys.

use super::Column;

/// Columns of a table, each with the key by which rows are sorted; `None` if they cannot be sorted by it.
#[derive(Clone, Copy)]
pub(crate) struct SortableColumns<S: 'static> {
    pub(crate) columns: &'static [Column],
    pub(crate) keys: &'static [Option<S>],
}

impl<S: Copy + PartialEq> SortableColumns<S> {
    /// Returns the sort key of the column with that index.
    pub(crate) fn key(&self, column: usize) -> Option<S> {
        self.keys.get(column).copied().flatten()
    }

    /// Returns the index of the first column with that sort key.
    pub(crate) fn index_of(&self, key: S) -> Option<usize> {
        self.keys.iter().position(|other| *other == Some(key))
    }

    /// Returns the first columns.
    pub(crate) const fn first(&self, count: usize) -> Self {
        Self {
            columns: self.columns.split_at(count).0,
            keys: self.keys.split_at(count).0,
        }
    }
}

/// Creates [`SortableColumns`] from pairs of columns and sort keys.
macro_rules! sortable_columns {
    ($($column:expr => $key:expr,)*) => {
        $crate::grid::SortableColumns { columns: &[$($column),*], keys: &[$($key),*] }
    };
}

pub(crate) use sortable_columns;
