//! Finds the load address of the program. Position-independent executables (PIE) have other addresses in memory
//! than in their file, shifted by a multiple of the page size.

use super::NameRequest;
use super::table::Table;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::Address;

/// Minimum page size.
const PAGE: u64 = 4096;

/// Maximum number of info tables that are sampled.
const SAMPLE: usize = 512;

/// Load address of a program, as far as addresses determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// At the addresses of the file.
    AtFileAddress,
    /// Shifted by this number of bytes; negative if before the addresses of the file.
    Moved(i64),
    /// No shift maps the addresses to functions of the file.
    Nowhere,
    /// This many shifts fit, so the address is ambiguous.
    Several(usize),
    /// The log has other names for its info tables than the file: it is another build of the program.
    OtherBuild,
}

impl Load {
    /// Returns the difference between addresses in memory and in the file.
    pub const fn offset(self) -> Option<u64> {
        match self {
            Self::AtFileAddress => Some(0),
            Self::Moved(by) => Some(by as u64),
            Self::Nowhere | Self::Several(_) | Self::OtherBuild => None,
        }
    }
}

/// Distances from the start of an info table to its symbol, which is at its end, where the code is. A table has
/// two words, with profiling four (`StgInfoTable` in `rts/storage/InfoTables.h`), of 8 bytes or of 4; without
/// tables next to code, the symbol is at the start. The most common distances come first.
const HEADERS: [u64; 4] = [16, 32, 8, 0];

/// Load address of a program, and position of the symbols of its info tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoadLayout {
    pub(super) load: Load,
    /// Distance from the start of an info table to its symbol. `None` if no distance leads many of them to
    /// symbols; then info tables get no names.
    pub(super) header: Option<u64>,
}

/// Finds the load address: by functions, all of which must begin at symbols; without any, by the info tables.
/// `fixed` means that the program can only be loaded at the addresses of its file.
pub(super) fn find_load_address(table: &Table, wanted: &NameRequest, fixed: bool) -> LoadLayout {
    let functions = by_functions(table, &wanted.functions, fixed);
    let load = functions.or(fixed.then_some(Load::AtFileAddress));
    let tables = sample_info_tables(wanted);
    if tables.is_empty() {
        let load = load.unwrap_or(Load::AtFileAddress);
        return LoadLayout { load, header: None };
    }
    let votes = match load.map(Load::offset) {
        Some(None) => Votes::default(),
        Some(Some(offset)) => votes_at(table, &tables, offset),
        None => votes_anywhere(table, &tables),
    };
    let found = decide(&votes, tables.len());
    // Functions take precedence over info tables.
    let load = functions.unwrap_or(found.load);
    LoadLayout { load, ..found }
}

/// Finds the load address by functions alone; `None` without any.
fn by_functions(table: &Table, functions: &[Address], fixed: bool) -> Option<Load> {
    let &first = functions.first()?;
    let begins = |address: &&Address| table.entry(address.0).is_some();
    if fixed || functions.iter().filter(begins).count() * 2 > functions.len() {
        return Some(Load::AtFileAddress);
    }
    let fits = |offset: &u64| {
        let at = |address: &Address| table.entry(address.0.wrapping_sub(*offset));
        functions.iter().all(|address| at(address).is_some())
    };
    let same_page = |entry: &u64| entry % PAGE == first.0 % PAGE;
    let entries = table.addresses().filter(same_page);
    let mut fitting = entries.map(|at| first.0.wrapping_sub(at)).filter(fits);
    Some(match (fitting.next(), fitting.count()) {
        (None, _) => Load::Nowhere,
        (Some(offset), 0) => Load::Moved(offset as i64),
        (Some(_), more) => Load::Several(more + 1),
    })
}

/// Samples info tables evenly over the program.
fn sample_info_tables(wanted: &NameRequest) -> Vec<Address> {
    let known = wanted.known.iter().map(|(address, _)| *address);
    let mut all: Vec<Address> = wanted.info_tables.iter().copied().chain(known).collect();
    all.sort_unstable();
    all.dedup();
    let step = all.len().div_ceil(SAMPLE).max(1);
    all.into_iter().step_by(step).collect()
}

/// Number of info tables with a symbol, by offset and index in [`HEADERS`].
type Votes = SeededMap<(u64, usize), usize>;

fn votes_at(table: &Table, tables: &[Address], offset: u64) -> Votes {
    let count = |header: u64| {
        let symbol = |address: &&Address| {
            let at = address.0.wrapping_sub(offset).wrapping_add(header);
            table.entry(at).is_some()
        };
        tables.iter().filter(symbol).count()
    };
    let headers = HEADERS.iter().enumerate();
    let votes = headers.map(|(place, header)| ((offset, place), count(*header)));
    votes.collect()
}

fn votes_anywhere(table: &Table, tables: &[Address]) -> Votes {
    // Offsets are multiples of the page size, so symbols are grouped by their address within the page.
    let mut by_page: SeededMap<u64, Vec<u64>> = SeededMap::default();
    for address in tables {
        for header in HEADERS {
            by_page
                .entry(address.0.wrapping_add(header) % PAGE)
                .or_default();
        }
    }
    for entry in table.addresses() {
        if let Some(entries) = by_page.get_mut(&(entry % PAGE)) {
            entries.push(entry);
        }
    }
    let mut votes = Votes::default();
    for address in tables {
        for (place, header) in HEADERS.iter().enumerate() {
            let symbol = address.0.wrapping_add(*header);
            for entry in by_page.get(&(symbol % PAGE)).into_iter().flatten() {
                let offset = symbol.wrapping_sub(*entry);
                *votes.entry((offset, place)).or_default() += 1;
            }
        }
    }
    votes
}

/// Returns the offset with the most votes, if more than an eighth of the tables voted for it and no other offset
/// has half as many. Not all tables have a symbol: those of local closures may have none, and those of shared
/// libraries are elsewhere. By chance, one in fifty has one at any offset.
fn decide(votes: &Votes, tables: usize) -> LoadLayout {
    let nowhere = LoadLayout {
        load: Load::Nowhere,
        header: None,
    };
    let best = votes
        .iter()
        .max_by_key(|((offset, place), count)| (**count, std::cmp::Reverse((*place, *offset))));
    let Some((&(offset, place), &most)) = best.filter(|(_, most)| **most * 8 > tables) else {
        return nowhere;
    };
    let rivals = votes.iter().filter(|(_, count)| **count * 2 >= most);
    let offsets: SeededSet<u64> = rivals.map(|((offset, _), _)| *offset).collect();
    LoadLayout {
        load: match (offsets.len(), offset) {
            (0 | 1, 0) => Load::AtFileAddress,
            (0 | 1, _) => Load::Moved(offset as i64),
            (several, _) => Load::Several(several),
        },
        header: HEADERS.get(place).copied(),
    }
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
            (vec![], false, Load::AtFileAddress),
            (vec![0x1139, 0x3200], false, Load::AtFileAddress),
            (
                vec![base + 0x1139, base + 0x1150],
                false,
                Load::Moved(base as i64),
            ),
            (vec![base + 0x3200], false, Load::Moved(base as i64)),
            (vec![base + 0x2139], false, Load::Several(2)),
            (vec![base + 0x1139, base + 0x3201], false, Load::Nowhere),
            (vec![base + 0x1139], true, Load::AtFileAddress),
            // One of three belongs to a shared library.
            (vec![0x1139, 0x3200, base], false, Load::AtFileAddress),
            // A file whose own address is greater than that in memory.
            (vec![0x150, 0x1139 - 0x1000], false, Load::Moved(-0x1000)),
        ] {
            let info_tables = match functions.is_empty() {
                true => vec![],
                false => addresses(&[1]),
            };
            let wanted = NameRequest {
                functions: addresses(&functions),
                info_tables,
                ..NameRequest::default()
            };
            assert_eq!(
                find_load_address(&table, &wanted, fixed).load,
                load,
                "{functions:x?}"
            );
        }
    }

    #[test]
    fn info_tables_tell_where_a_program_was_loaded_and_how_long_they_are() {
        let table = table(&[0x1139, 0x1150, 0x2139, 0x3200]);
        let base = 0x7000_0000;
        for (symbols, header, fixed, load) in [
            (
                vec![0x1139, 0x1150, 0x3200, 0x77],
                16,
                false,
                Load::AtFileAddress,
            ),
            (vec![0x1139, 0x1150], 16, false, Load::Several(2)),
            (vec![0x1139, 0x1150, 0x77], 32, true, Load::AtFileAddress),
            // Most belong to shared libraries.
            (
                vec![0x1139, 1, 2, 3, 4, 5, 6],
                16,
                true,
                Load::AtFileAddress,
            ),
            (vec![0x1138, 1, 2], 16, true, Load::Nowhere),
            (
                vec![base + 0x1139, base + 0x1150, base + 0x3200, base + 0x3333],
                16,
                false,
                Load::Moved(base as i64),
            ),
            (
                vec![base + 0x1139, base + 0x1150, base + 0x3200],
                0,
                false,
                Load::Moved(base as i64),
            ),
            (vec![base + 0x2139], 16, false, Load::Several(2)),
            (vec![base + 0x2138], 16, false, Load::Nowhere),
        ] {
            let begin = |symbol: &u64| Address(symbol.wrapping_sub(header));
            let wanted = NameRequest {
                info_tables: symbols.iter().map(begin).collect(),
                ..NameRequest::default()
            };
            let found = find_load_address(&table, &wanted, fixed);
            assert_eq!(found.load, load, "{symbols:x?}");
            // Matching functions do not name info tables that do not match.
            let with_function = NameRequest {
                functions: addresses(&[0x1139]),
                info_tables: addresses(&[0x77]),
                ..NameRequest::default()
            };
            let as_it_stands = LoadLayout {
                load: Load::AtFileAddress,
                header: None,
            };
            assert_eq!(
                find_load_address(&table, &with_function, fixed),
                as_it_stands
            );
            if load.offset().is_some() {
                assert_eq!(found.header, Some(header), "{symbols:x?}");
            }
        }
    }

    #[test]
    fn a_program_of_many_functions_is_found_among_all_places() {
        // As dense as in real programs: a symbol for every 400 bytes, in steps of 8.
        let mut at = 0x40_0000;
        let mut step = 0x2545_F491_4F6C_DD1D_u64;
        let mut symbols = Vec::new();
        for _ in 0..20_000 {
            step ^= step << 13;
            step ^= step >> 7;
            step ^= step << 17;
            at += 8 + step % 100 * 8;
            symbols.push(at);
        }
        let base = 0x5613_7A2C_5000;
        let table = table(&symbols);
        let begins = symbols.iter().step_by(40).map(|at| at + base - 32);
        // Two of three have no symbol.
        let wanted = NameRequest {
            info_tables: begins
                .enumerate()
                .map(|(number, at)| Address(if number % 3 == 0 { at } else { at + 4 }))
                .collect(),
            ..NameRequest::default()
        };
        let found = find_load_address(&table, &wanted, false);
        assert_eq!(
            (found.load, found.header),
            (Load::Moved(base as i64), Some(32))
        );
        assert_eq!(find_load_address(&table, &wanted, true).load, Load::Nowhere);
    }
}
