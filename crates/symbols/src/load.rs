//! Where the system loaded the program. Programs that may be loaded anywhere
//! (PIE) have other addresses in memory than in their file: all by the same
//! number of pages.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Wanted;
use super::table::Table;
use eventlog::ids::Address;

/// A page is at least so large.
const PAGE: u64 = 4096;

/// How many addresses inside the code are looked at.
const SAMPLE: usize = 512;

/// Where a program was loaded, as far as addresses tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Where its file says.
    AsItStands,
    /// So many bytes behind that; before it if that is negative.
    Moved(i64),
    /// No place makes the addresses functions of the file.
    Nowhere,
    /// So many places do: which is not to be told.
    Several(usize),
}

impl Load {
    /// What addresses in memory have more than those in the file.
    #[must_use]
    pub const fn offset(self) -> Option<u64> {
        match self {
            Self::AsItStands => Some(0),
            Self::Moved(by) => Some(by as u64),
            Self::Nowhere | Self::Several(_) => None,
        }
    }
}

/// Finds where the program was loaded: by its functions, which have to begin
/// where symbols are, all of them; without any, by what most of the other
/// addresses say. `fixed`: it can only be loaded where its file says.
pub(super) fn find(table: &Table, wanted: &Wanted, fixed: bool) -> Load {
    let begins = |address: &&Address| table.entry(address.0).is_some();
    let most = |addresses: &[Address]| {
        let hits = addresses.iter().filter(begins).count();
        hits * 2 > addresses.len()
    };
    if fixed || most(&wanted.functions) {
        return Load::AsItStands;
    }
    if !wanted.functions.is_empty() {
        return by_all(table, &wanted.functions);
    }
    if wanted.code.is_empty() || most(&wanted.code) {
        return Load::AsItStands;
    }
    by_most(table, &wanted.code)
}

/// The offset that makes all of them beginnings.
fn by_all(table: &Table, functions: &[Address]) -> Load {
    let Some(&first) = functions.first() else {
        return Load::AsItStands;
    };
    let fits = |offset: &u64| {
        let at = |address: &Address| table.entry(address.0.wrapping_sub(*offset));
        functions.iter().all(|address| at(address).is_some())
    };
    let mut fitting = offsets(table, first).filter(fits);
    match (fitting.next(), fitting.count()) {
        (None, _) => Load::Nowhere,
        (Some(offset), 0) => Load::Moved(offset as i64),
        (Some(_), more) => Load::Several(more + 1),
    }
}

/// The offset that makes more of them beginnings than any other does, and
/// more than half.
fn by_most(table: &Table, code: &[Address]) -> Load {
    let distinct: FxHashSet<Address> = code.iter().copied().take(SAMPLE).collect();
    let mut votes: FxHashMap<u64, usize> = FxHashMap::default();
    for &address in &distinct {
        for offset in offsets(table, address) {
            *votes.entry(offset).or_default() += 1;
        }
    }
    let most = votes.values().copied().max().unwrap_or(0);
    let mut best = votes.iter().filter(|(_, count)| **count == most);
    match (best.next(), best.count()) {
        (Some((&offset, _)), 0) if most * 2 > distinct.len() => Load::Moved(offset as i64),
        (Some(_), more) if more > 0 && most * 2 > distinct.len() => Load::Several(more + 1),
        _ => Load::Nowhere,
    }
}

/// The offsets that make an address the beginning of something.
fn offsets(table: &Table, address: Address) -> impl Iterator<Item = u64> + '_ {
    let same_page = move |entry: &u64| entry % PAGE == address.0 % PAGE;
    table
        .addresses()
        .filter(same_page)
        .map(move |entry| address.0.wrapping_sub(entry))
}

#[cfg(test)]
mod tests {
    use super::super::table::Entry;
    use super::*;

    fn table(addresses: &[u64]) -> Table {
        let entry = |&address: &u64| Entry {
            address,
            rank: 0,
            symbol: 0,
            size: 0,
        };
        Table::new(addresses.iter().map(entry).collect())
    }

    fn addresses(all: &[u64]) -> Vec<Address> {
        all.iter().copied().map(Address).collect()
    }

    #[test]
    fn functions_tell_where_a_program_was_loaded() {
        let table = table(&[0x1139, 0x1150, 0x2139, 0x3200]);
        let base = 0x5555_5555_4000;
        for (functions, fixed, load) in [
            (vec![], false, Load::AsItStands),
            (vec![0x1139, 0x3200], false, Load::AsItStands),
            (
                vec![base + 0x1139, base + 0x1150],
                false,
                Load::Moved(base as i64),
            ),
            (vec![base + 0x3200], false, Load::Moved(base as i64)),
            (vec![base + 0x2139], false, Load::Several(2)),
            (vec![base + 0x1139, base + 0x3201], false, Load::Nowhere),
            (vec![base + 0x1139], true, Load::AsItStands),
            // One of three is another library's.
            (vec![0x1139, 0x3200, base], false, Load::AsItStands),
            // A file whose own place is behind that in memory.
            (vec![0x150, 0x1139 - 0x1000], false, Load::Moved(-0x1000)),
        ] {
            let wanted = Wanted {
                functions: addresses(&functions),
                code: addresses(&[1]),
            };
            let wanted = match functions.is_empty() {
                true => Wanted::default(),
                false => wanted,
            };
            assert_eq!(find(&table, &wanted, fixed), load, "{functions:x?}");
        }
    }

    #[test]
    fn without_functions_most_addresses_decide() {
        let table = table(&[0x1139, 0x1150, 0x2139, 0x3200]);
        for (code, load) in [
            (vec![0x1139, 0x1150, 0x77], Load::AsItStands),
            (
                vec![0x7000_1139, 0x7000_1150, 0x7000_3200, 0x7000_3333],
                Load::Moved(0x7000_0000),
            ),
            (vec![0x7000_1139, 0x7000_3333, 0x7000_3335], Load::Nowhere),
            (vec![0x7000_2139], Load::Several(2)),
        ] {
            let wanted = Wanted {
                functions: Vec::new(),
                code: addresses(&code),
            };
            assert_eq!(find(&table, &wanted, false), load, "{code:x?}");
        }
    }
}
