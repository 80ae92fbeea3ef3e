//! Symbolication of the addresses in a log.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

use super::Session;
use analysis::heap::names::TableSymbols;
use analysis::heap::{Breakdown, Label};
use analysis::recording::Recording;
use eventlog::hash::SeededMap;
use eventlog::ids::Address;
use eventlog::info_tables::{InfoTables, address_of};
use eventlog::names::Key;
use model::profile::frames::FrameKind;
use model::sorting::CompactCollect;
use scene::format;
use symbols::{Kind, Load, Name, NameRequest, Symbols, SymbolsError};

/// Maximum number of info tables described by the log that are used to find the load address of the program.
const MAX_KNOWN_TABLES: usize = 4096;

/// Result of a symbolication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressNames {
    /// Number of addresses that got a name.
    pub named: u64,
    /// Number of distinct addresses to name.
    pub addresses: u64,
    /// Sentence that reports the result to the user.
    pub text: String,
    /// Whether the file is useless for this log.
    pub failed: bool,
}

impl Session {
    /// Returns whether the log has info table ids, which GHC 10 writes instead of addresses. Executables have no
    /// symbols for ids.
    pub fn has_table_ids(&self) -> bool {
        let Recording { info, names, .. } = &self.recording;
        info.has_table_ids() || names.info_tables().uses_stable_ids()
    }

    /// Returns the unnamed addresses of the log, and known ones that determine the load address. Info tables that
    /// the log describes are included if a heap profile is by info table: only symbols have the package.
    pub fn addresses(&self) -> NameRequest {
        let (mut functions, mut info_tables) = (BTreeSet::new(), BTreeSet::new());
        for (_, frame) in self.recording.profiles.frames().flat_map(|all| all.iter()) {
            let Some(address) = frame.address.map(Address) else {
                continue;
            };
            match frame.kind {
                FrameKind::Foreign => functions.insert(address),
                _ => info_tables.insert(address),
            };
        }
        info_tables.extend(self.profiled_tables());
        if self.has_table_ids() {
            return NameRequest {
                functions: functions.into_iter().collect(),
                ..NameRequest::default()
            };
        }
        let tables = self.recording.names.info_tables();
        // Constructors have symbols in every program, local closures do not.
        let constructors = tables
            .iter()
            .filter(|(_, table)| table.constructor().is_some());
        let constructors = constructors.map(|(address, table)| (Address(address), table.name));
        let known: BTreeMap<Address, &str> = constructors.collect_small();
        let known = known.into_iter().take(MAX_KNOWN_TABLES);
        NameRequest {
            functions: functions.into_iter().collect(),
            info_tables: info_tables.into_iter().collect(),
            known: known
                .map(|(address, name)| (address, name.to_owned()))
                .collect(),
        }
    }

    /// Returns the info tables in heap profiles.
    fn profiled_tables(&self) -> impl Iterator<Item = Address> + '_ {
        let profiles = self.recording.heap().iter();
        let profiles = profiles.filter(|profile| profile.kind.breakdown == Breakdown::InfoTable);
        let labels = profiles.flat_map(|profile| profile.bands().map(|band| profile.label(band)));
        labels.filter_map(|label| match label? {
            Label::Text(text) => address_of(&text).map(Address),
            _ => None,
        })
    }

    /// Names the addresses of a fully read log.
    ///
    /// # Errors
    /// If the file can no longer be read.
    pub fn set_symbols<R: Read + Seek>(
        &mut self,
        symbols: &mut Symbols<R>,
    ) -> Result<AddressNames, SymbolsError> {
        let wanted = self.addresses();
        if wanted.functions.is_empty() && self.has_table_ids() {
            let kind = symbols.kind();
            return Ok(AddressNames {
                named: 0,
                addresses: 0,
                text: format!(
                    "Nothing symbolicated: the log has ids of info tables, which are not addresses in the {kind}. Use another log of the same build that describes them."
                ),
                failed: true,
            });
        }
        let naming = symbols.name(&wanted)?;
        let tables = self.recording.names.info_tables();
        let unknown = |address: &Address| tables.get(address.0).is_none();
        let distinct: BTreeSet<Address> = (wanted.functions.into_iter())
            .chain(wanted.info_tables.into_iter().filter(unknown))
            .collect();
        let names: SeededMap<Address, &Name> =
            naming.names.iter().map(|(at, name)| (*at, name)).collect();
        let named = distinct.iter().filter(|at| names.contains_key(at)).count() as u64;
        let addresses = distinct.len() as u64;
        for (address, name) in &naming.names {
            self.recording
                .names
                .insert(Key::InfoTable(address.0), &name.qualified());
        }
        let profiles = &mut self.recording.profiles;
        profiles.name_addresses(|address| names.get(&address).copied());
        if !names.is_empty() {
            self.recording.table_symbols =
                TableSymbols::new(&naming, self.recording.names.info_tables());
            self.heap_cache.forget();
        }
        Ok(AddressNames {
            named,
            addresses,
            text: in_words(symbols.kind(), naming.load, named, addresses),
            failed: named == 0 && addresses > 0,
        })
    }

    /// Names info tables of this log that another log of the same build describes. Both must be fully read.
    pub fn set_info_tables(&mut self, tables: &InfoTables) -> AddressNames {
        let have_ids = self.has_table_ids();
        let names = &mut self.recording.names;
        let Some(added) = names.complete_info_tables(tables, have_ids) else {
            return AddressNames {
                named: 0,
                addresses: 0,
                text: "Nothing symbolicated: the other log has no info tables of the same build. Use a log of the same program that describes them (-finfo-table-map).".to_owned(),
                failed: true,
            };
        };
        let described = |address: Address| {
            let table = names.info_tables().get(address.0)?;
            (!table.short_name().is_empty()).then(|| Name {
                module: table.module.to_owned(),
                label: table.short_name().to_owned(),
                location: (!table.location.is_empty()).then(|| table.location.to_string()),
                ..Name::default()
            })
        };
        let frames = self.recording.profiles.frames();
        let addresses = frames.flat_map(|all| all.iter().filter_map(|(_, frame)| frame.address));
        let found: SeededMap<Address, Name> = addresses
            .map(Address)
            .filter_map(|address| Some((address, described(address)?)))
            .collect();
        let profiles = &mut self.recording.profiles;
        profiles.name_addresses(|address| found.get(&address));
        self.heap_cache.forget();
        let text = format!(
            "The other log describes {} info tables.",
            format::count(added)
        );
        AddressNames {
            named: added,
            addresses: added,
            text,
            failed: false,
        }
    }
}

fn in_words(kind: Kind, load: Load, named: u64, addresses: u64) -> String {
    if addresses == 0 {
        return format!("No addresses to symbolicate in the log; the {kind} was read.");
    }
    let all = match addresses {
        1 => "the address".to_owned(),
        many => format!("the {} addresses", format::count(many)),
    };
    let moved = match load {
        Load::Several(places) => {
            return format!(
                "Nothing symbolicated: at {} load addresses, {all} of the log would be in functions of the {kind}. Build the program with -no-pie, which fixes the load address.",
                format::count(places as u64)
            );
        }
        Load::Nowhere => {
            return format!(
                "Nothing symbolicated: no load address makes {all} of the log functions of the {kind}. Use the executable that wrote this log."
            );
        }
        Load::OtherBuild => {
            return format!(
                "Nothing symbolicated: names in the log differ from those in the {kind}, which is another build of the program. Use the executable that wrote this log."
            );
        }
        Load::Moved(by) => format!(", loaded at its file addresses {}", offset(by)),
        Load::AtFileAddress => String::new(),
    };
    let have = |has: &str| format!("{has} now, from the {kind}{moved}.");
    match named {
        0 => format!(
            "Nothing symbolicated: none of {all} of the log is in a function of the {kind}. Use the executable that wrote this log."
        ),
        named if named == addresses && named == 1 => {
            format!("The address in the log {}", have("has a name"))
        }
        named if named == addresses => {
            format!(
                "All {} addresses in the log {}",
                format::count(named),
                have("have names")
            )
        }
        named => format!(
            "{} of {all} in the log {}",
            format::count(named),
            have(if named == 1 {
                "has a name"
            } else {
                "have names"
            })
        ),
    }
}

fn offset(by: i64) -> String {
    let sign = if by < 0 { '−' } else { '+' };
    format!("{sign} {}", Address(by.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_addresses_is_a_sentence() {
        let texts = [
            in_words(Kind::Elf, Load::AtFileAddress, 0, 0),
            in_words(Kind::Elf, Load::AtFileAddress, 1, 1),
            in_words(Kind::Nm, Load::AtFileAddress, 3, 3),
            in_words(Kind::Pe, Load::Moved(-0x1000), 1, 3),
            in_words(Kind::Elf, Load::Moved(0x5555_5555_4000), 2, 3),
            in_words(Kind::Elf, Load::AtFileAddress, 0, 3),
            in_words(Kind::MachO, Load::Nowhere, 0, 3),
            in_words(Kind::Elf, Load::Several(27), 0, 1),
            in_words(Kind::Elf, Load::OtherBuild, 0, 2),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
