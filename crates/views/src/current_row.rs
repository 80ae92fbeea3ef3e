//! The current row of a table. While a log grows, rows are inserted and change places: the current row stays with its
//! item.

/// Items of the loaded rows of a table, by which they are recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedItems<T> {
    /// Number of the first loaded row.
    first: u64,
    items: Vec<T>,
}

impl<T> LoadedItems<T> {
    /// Creates the items of the rows from row `first` on.
    pub fn new(first: u64, items: impl IntoIterator<Item = T>) -> Self {
        Self {
            first,
            items: items.into_iter().collect(),
        }
    }

    /// Creates the items of a table that is not loaded.
    pub fn none() -> Self {
        Self::new(0, [])
    }

    fn get(&self, row: u64) -> Option<&T> {
        let place = row.checked_sub(self.first)?;
        self.items.get(usize::try_from(place).ok()?)
    }
}

/// Current row of a table, loaded or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentRow<T> {
    /// Number of the row when it became the current one.
    row: u64,
    /// Item of the row, once it is loaded.
    item: Option<T>,
}

impl<T: Clone + PartialEq> CurrentRow<T> {
    /// Makes a row the current one.
    pub fn new(row: u64, loaded: &LoadedItems<T>) -> Self {
        Self {
            row,
            item: loaded.get(row).cloned(),
        }
    }

    /// Adds the item if the row was not loaded when it became the current one.
    #[must_use]
    pub fn with_item_of(self, loaded: &LoadedItems<T>) -> Self {
        match self.item {
            Some(_) => self,
            None => Self::new(self.row, loaded),
        }
    }

    /// Returns the number of the row in which the item is now; `None` if that row is not loaded, and another item has
    /// taken its place.
    pub fn row(&self, loaded: &LoadedItems<T>) -> Option<u64> {
        let Some(item) = &self.item else {
            return Some(self.row);
        };
        let in_place = loaded.get(self.row);
        if in_place == Some(item) {
            return Some(self.row);
        }
        let place = loaded.items.iter().position(|other| other == item);
        let moved = place.map(|place| loaded.first.saturating_add(place as u64));
        moved.or(in_place.is_none().then_some(self.row))
    }

    /// Returns the item of the row, if it was loaded.
    pub fn into_item(self) -> Option<T> {
        self.item
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_current_row_follows_its_item() {
        let before = LoadedItems::new(0, ["a", "b", "c"]);
        let current = CurrentRow::new(1, &before);
        assert_eq!(current.row(&before), Some(1));
        // The log has grown.
        let after = LoadedItems::new(0, ["x", "a", "y", "b", "c"]);
        assert_eq!(current.row(&after), Some(3));
        // Its new row is not loaded: no other item is current instead.
        assert_eq!(current.row(&LoadedItems::new(0, ["x", "a"])), None);
        assert_eq!(current.into_item(), Some("b"));
    }

    #[test]
    fn a_row_that_is_scrolled_away_stays_current() {
        let current = CurrentRow::new(1, &LoadedItems::new(0, ["a", "b", "c"]));
        assert_eq!(current.row(&LoadedItems::new(50, ["p", "q"])), Some(1));
        assert_eq!(current.row(&LoadedItems::none()), Some(1));
        assert_eq!(current.row(&LoadedItems::new(50, ["a", "b"])), Some(51));
    }

    #[test]
    fn a_row_gets_its_item_once_it_is_loaded() {
        // The keyboard goes to rows that are not loaded yet.
        let current = CurrentRow::new(7, &LoadedItems::new(0, ["a", "b"]));
        let loaded = LoadedItems::new(6, ["g", "h"]);
        assert_eq!(current.row(&loaded), Some(7));
        let current = current.with_item_of(&loaded);
        let grown = LoadedItems::new(6, ["f", "g", "h"]);
        assert_eq!(current.row(&grown), Some(8));
        assert_eq!(current.clone().with_item_of(&grown), current);
    }

    proptest! {
        #[test]
        fn the_item_of_the_current_row_stays_the_same(
            items in proptest::collection::btree_set(0..100_u32, 1..20),
            others in proptest::collection::btree_set(100..200_u32, 0..20),
            row in 0..20_usize,
            seed in any::<u64>(),
        ) {
            let mut items: Vec<u32> = items.into_iter().collect();
            let row = row % items.len();
            let current = CurrentRow::new(row as u64, &LoadedItems::new(0, items.clone()));
            let item = items[row];
            // More items come, and all of them change places.
            items.extend(others);
            items.sort_by_key(|item| seed.wrapping_mul(u64::from(*item) * 2 + 1) >> 7);
            let now = current.row(&LoadedItems::new(0, items.clone()));
            prop_assert_eq!(now.map(|now| items[now as usize]), Some(item));
        }
    }
}
