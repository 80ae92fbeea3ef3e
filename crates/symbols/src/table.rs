//! Where the functions of a program are, without their names.

/// A symbol of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Where it begins.
    pub(super) address: u64,
    /// How good a name it makes if there are several at this address; the
    /// least is the best.
    pub(super) rank: u8,
    /// Its number in the file.
    pub(super) symbol: u32,
    /// How many bytes; 0 if that is not known.
    pub(super) size: u32,
}

/// How far a function of unknown size reaches if no other follows.
const REACH: u64 = 1 << 16;

/// The symbols of the code, one for each address, by address.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
}

impl Table {
    pub(super) fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable();
        // Where the best name has no size, another may.
        entries.dedup_by(|next, kept| {
            let same = next.address == kept.address;
            if same {
                kept.size = kept.size.max(next.size);
            }
            same
        });
        Self { entries }
    }

    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All addresses at which something begins.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries.iter().map(|entry| entry.address)
    }

    /// The place of what begins at this address.
    pub(super) fn entry(&self, address: u64) -> Option<usize> {
        let place = self
            .entries
            .binary_search_by_key(&address, |entry| entry.address);
        place.ok()
    }

    /// The place of what this address lies in.
    pub(super) fn around(&self, address: u64) -> Option<usize> {
        let after = self
            .entries
            .partition_point(|entry| entry.address <= address);
        let place = after.checked_sub(1)?;
        let entry = self.entries.get(place)?;
        let reach = match entry.size {
            0 => REACH,
            size => u64::from(size),
        };
        (address - entry.address < reach).then_some(place)
    }

    /// The number in the file of the symbol at a place.
    pub(super) fn symbol(&self, place: usize) -> u32 {
        self.entries.get(place).map_or(0, |entry| entry.symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_in_the_symbol_before_them() {
        let entry = |address, size, rank, symbol| Entry {
            address,
            rank,
            symbol,
            size,
        };
        let table = Table::new(vec![
            entry(0x300, 0, 0, 4),
            entry(0x100, 0x20, 1, 1),
            entry(0x100, 0x40, 0, 2),
            entry(0x200, 0, 0, 3),
        ]);
        assert_eq!(table.len(), 3);
        let symbol = |place: Option<usize>| place.map(|place| table.symbol(place));
        assert_eq!(symbol(table.entry(0x100)), Some(2));
        assert_eq!(symbol(table.entry(0x101)), None);
        for (address, found) in [
            (0xFF, None),
            (0x100, Some(2)),
            (0x13F, Some(2)),
            (0x140, None),
            (0x2FF, Some(3)),
            (0x300, Some(4)),
            (0x300 + REACH, None),
            (u64::MAX, None),
        ] {
            assert_eq!(symbol(table.around(address)), found, "{address:#x}");
        }
    }
}
