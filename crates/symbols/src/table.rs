//! Addresses of the functions of a program, without their names.

/// A code symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Start address.
    pub(super) address: u64,
    /// Preference among several symbols at the same address; the lowest wins.
    pub(super) rank: u8,
    /// Index of the symbol in the file.
    pub(super) symbol: u32,
}

/// Code symbols sorted by address, one per address.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
}

impl Table {
    pub(super) fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable();
        entries.dedup_by_key(|entry| entry.address);
        Self { entries }
    }

    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Iterates over all start addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries.iter().map(|entry| entry.address)
    }

    /// Returns the index of the entry that starts at this address.
    pub(super) fn entry(&self, address: u64) -> Option<usize> {
        let place = self
            .entries
            .binary_search_by_key(&address, |entry| entry.address);
        place.ok()
    }

    /// Returns the indices of the entries before and behind this address, if both exist.
    pub(super) fn neighbors(&self, address: u64) -> Option<(usize, usize)> {
        let before = self
            .entries
            .partition_point(|entry| entry.address < address);
        let behind = self
            .entries
            .partition_point(|entry| entry.address <= address);
        let sides = (before.checked_sub(1)?, behind);
        (behind < self.entries.len()).then_some(sides)
    }

    /// Returns the file's symbol index of an entry.
    pub(super) fn symbol(&self, place: usize) -> u32 {
        self.entries.get(place).map_or(0, |entry| entry.symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_symbol_stands_for_an_address() {
        let entry = |address, rank, symbol| Entry {
            address,
            rank,
            symbol,
        };
        let entries = [
            entry(0x300, 0, 4),
            entry(0x100, 1, 1),
            entry(0x100, 0, 2),
            entry(0x200, 0, 3),
        ];
        let table = Table::new(entries.to_vec());
        assert_eq!(table.len(), 3);
        let symbol = |place: Option<usize>| place.map(|place| table.symbol(place));
        assert_eq!(symbol(table.entry(0x100)), Some(2));
        assert_eq!(symbol(table.entry(0x101)), None);
        for (address, sides) in [
            (0xFF, None),
            (0x100, None),
            (0x101, Some((2, 3))),
            (0x200, Some((2, 4))),
            (0x2FF, Some((3, 4))),
            (0x300, None),
            (u64::MAX, None),
        ] {
            let both = table.neighbors(address);
            let both = both.map(|(before, behind)| (table.symbol(before), table.symbol(behind)));
            assert_eq!(both, sides, "{address:#x}");
        }
    }
}
