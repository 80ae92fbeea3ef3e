//! Descriptions of info tables (`-finfo-table-map`).
//!
//! An info table describes all closures of one kind: the values of a constructor, or the thunks created at one
//! source location. Heap profiles by info table and stack samples refer to it by its address, from GHC 10 on by an
//! id that is the same in all runs of a build; an `IPE` event describes it. A program has some 100,000 info
//! tables, with `base` and other libraries many more: texts are interned, with at most
//! [`InfoTables::BUDGET_BYTES`] in total.

use std::fmt;
use std::hash::BuildHasher;

use super::closure_type::ClosureType;
use super::event::Event;
use crate::hash::SeededMap;

/// Description of an info table. Missing information is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoTable<'a> {
    /// The name of the table, such as `sat_s48D_info` or `Rect_Main_0_con_info`.
    pub name: &'a str,
    /// The type of its closures.
    pub closure_type: Option<ClosureType>,
    /// The Haskell type of its closures, such as `[Shape]`.
    pub type_: &'a str,
    /// The function that creates its closures, such as `main.scale`.
    pub label: &'a str,
    /// The module that creates its closures.
    pub module: &'a str,
    /// The source location of that.
    pub location: SourceLocation<'a>,
}

/// A source location, such as `src/Main.hs:44:19-48`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation<'a> {
    /// The file; empty if the location is unknown.
    pub file: &'a str,
    /// Lines and columns, such as `44:19-48` or `(37,1)-(53,52)`.
    pub span: &'a str,
}

impl<'a> SourceLocation<'a> {
    /// Parses the location in an `IPE` event: file and span, or just `:`.
    fn parse(text: &'a str) -> Self {
        let (mut file, mut span) = text.rsplit_once(':').unwrap_or((text, ""));
        // If a span has a single line, it is written without parentheses.
        if !span.is_empty()
            && !span.starts_with('(')
            && let Some((before, line)) = file.rsplit_once(':')
            && line.bytes().all(|byte| byte.is_ascii_digit())
        {
            (file, span) = (before, &text[before.len() + 1..]);
        }
        Self { file, span }
    }

    /// Whether the location is unknown.
    pub const fn is_empty(self) -> bool {
        self.file.is_empty() && self.span.is_empty()
    }
}

impl fmt::Display for SourceLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file)?;
        if self.span.is_empty() {
            return Ok(());
        }
        write!(f, ":{}", self.span)
    }
}

impl InfoTable<'_> {
    /// Returns the constructor, if the table belongs to one. With `-fdistinct-constructor-tables`, the table's
    /// name also encodes where the constructor is used; this is removed.
    pub fn constructor(&self) -> Option<&str> {
        let name = self.name.strip_suffix("_con_info")?;
        // Removes the `_Main_0` of `Rect_Main_0`; constructor names may contain `_`.
        let bare = name.rsplit_once('_').and_then(|(rest, number)| {
            let counted = number.bytes().all(|byte| byte.is_ascii_digit());
            let rest = rest.strip_suffix(self.module)?.strip_suffix('_')?;
            (counted && !self.module.is_empty()).then_some(rest)
        });
        Some(bare.unwrap_or(name))
    }

    /// Returns a short name for its closures: the constructor, the function that creates them, or else the name of
    /// the table.
    pub fn short_name(&self) -> &str {
        match (self.constructor(), self.label) {
            (Some(constructor), _) => constructor,
            (None, "") => self.name.strip_suffix("_info").unwrap_or(self.name),
            (None, label) => label,
        }
    }

    /// Returns module and [short name](Self::short_name).
    pub fn qualified(&self) -> String {
        let label = self.short_name();
        if self.module.is_empty() {
            label.to_owned()
        } else {
            format!("{}.{label}", self.module)
        }
    }
}

/// Parses the address of an info table in a label of a heap profile by info table: `0x40fff8`.
pub fn address_of(label: &str) -> Option<u64> {
    let digits = label.strip_prefix("0x")?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex
        .then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
}

/// Handle of an interned text.
type TextId = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    name: TextId,
    type_: TextId,
    label: TextId,
    module: TextId,
    file: TextId,
    span: TextId,
    closure_type: Option<ClosureType>,
}

/// The info tables that a log describes, by address.
#[derive(Clone, Debug, Default)]
pub struct InfoTables {
    texts: TextTable,
    tables: SeededMap<u64, Entry>,
    dropped: u64,
}

impl InfoTables {
    /// Memory limit; later tables are dropped.
    pub const BUDGET_BYTES: usize = 96 << 20;
    /// Memory per table without its texts, in a hash map that is half full.
    const TABLE_BYTES: usize = 2 * (size_of::<Entry>() + 8);

    /// Records an `IPE` event; others are ignored. The last description of a table wins.
    pub fn describe(&mut self, event: &Event<'_>) {
        let Event::InfoTableProv {
            info,
            table_name,
            closure_desc,
            ty_desc,
            label,
            module,
            src_loc,
        } = event
        else {
            return;
        };
        let texts = [table_name, ty_desc, label, module, src_loc].map(|text| text.0.to_str());
        let [name, type_, label, module, place] = &texts;
        let table = InfoTable {
            name,
            closure_type: ClosureType::from_digits(&closure_desc.0.to_str()),
            type_,
            label,
            module,
            location: SourceLocation::parse(place),
        };
        if self.size_bytes() > Self::BUDGET_BYTES {
            self.dropped += u64::from(self.get(*info) != Some(table));
            return;
        }
        self.insert(*info, &table);
    }

    fn insert(&mut self, address: u64, table: &InfoTable<'_>) {
        let entry = Entry {
            name: self.texts.intern(table.name),
            type_: self.texts.intern(table.type_),
            label: self.texts.intern(table.label),
            module: self.texts.intern(table.module),
            file: self.texts.intern(table.location.file),
            span: self.texts.intern(table.location.span),
            closure_type: table.closure_type,
        };
        self.tables.insert(address, entry);
    }

    /// Returns the description of the table at this address.
    pub fn get(&self, address: u64) -> Option<InfoTable<'_>> {
        self.tables.get(&address).map(|entry| self.table(entry))
    }

    fn table(&self, entry: &Entry) -> InfoTable<'_> {
        let text = |id| self.texts.get(id);
        InfoTable {
            name: text(entry.name),
            closure_type: entry.closure_type,
            type_: text(entry.type_),
            label: text(entry.label),
            module: text(entry.module),
            location: SourceLocation {
                file: text(entry.file),
                span: text(entry.span),
            },
        }
    }

    /// Whether tables have ids as in GHC 10 instead of addresses: a node number from 1 on in the upper half, a
    /// counter in the lower. Addresses of tables are further apart.
    pub fn uses_stable_ids(&self) -> bool {
        let is_id = |id: u64| matches!(id >> 32, 1..=0xFFFF);
        let most = 4 * self.tables.len() as u64;
        !self.is_empty()
            && self
                .tables
                .keys()
                .all(|&id| is_id(id) && id & 0xFFFF_FFFF <= most)
    }

    /// Adds tables that only another log describes, if both logs identify tables in the same way. Returns the
    /// number of added tables; `None` if the other log is of another build: it describes a table differently, or
    /// they have no address in common.
    pub fn merge_descriptions(&mut self, other: &Self, uses_stable_ids: bool) -> Option<u64> {
        let mut agrees = uses_stable_ids && other.uses_stable_ids();
        for (address, table) in self.iter() {
            match other.get(address) {
                Some(described) if described != table => return None,
                Some(_) => agrees = true,
                None => {}
            }
        }
        let mut added = 0;
        for (address, table) in other.iter().filter(|_| agrees) {
            if self.get(address).is_none() && self.size_bytes() <= Self::BUDGET_BYTES {
                self.insert(address, &table);
                added += 1;
            }
        }
        agrees.then_some(added)
    }

    /// Iterates over all tables with their addresses, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, InfoTable<'_>)> {
        let tables = self.tables.iter();
        tables.map(|(address, entry)| (*address, self.table(entry)))
    }

    /// Returns the number of tables.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Returns the number of descriptions dropped because of the memory limit.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the approximate memory consumption in bytes.
    pub fn size_bytes(&self) -> usize {
        self.texts.size_bytes() + self.tables.len() * Self::TABLE_BYTES
    }
}

/// Interned texts.
#[derive(Clone, Debug, Default)]
struct TextTable {
    text: String,
    /// End of each text in `text`; handle 0 is the empty text.
    ends: Vec<u32>,
    /// Handles by hash. If two texts have the same hash, only the first is found again.
    ids: SeededMap<u64, TextId>,
}

impl TextTable {
    /// Maximum length of a text in bytes; longer ones are truncated.
    const MAX_BYTES: usize = 4096;
    /// Memory overhead per text in bytes.
    const TEXT_BYTES: usize = 4 + 2 * 16;

    fn intern(&mut self, text: &str) -> TextId {
        let text = &text[..text.floor_char_boundary(Self::MAX_BYTES)];
        if text.is_empty() {
            return 0;
        }
        let hash = self.ids.hasher().hash_one(text);
        let known = self.ids.get(&hash).copied();
        if let Some(id) = known.filter(|id| self.get(*id) == text) {
            return id;
        }
        self.text.push_str(text);
        self.ends
            .push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        let id = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.ids.entry(hash).or_insert(id);
        id
    }

    fn get(&self, id: TextId) -> &str {
        let Some(place) = (id as usize).checked_sub(1) else {
            return "";
        };
        let begin = place
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let begin = begin.map_or(0, |begin| *begin as usize);
        let end = self.ends.get(place).map_or(begin, |end| *end as usize);
        self.text.get(begin..end).unwrap_or_default()
    }

    fn size_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * Self::TEXT_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventType;
    use crate::status::StopCodes;
    use proptest::prelude::*;

    fn take(tables: &mut InfoTables, address: u64, texts: [&str; 6]) {
        let mut payload = address.to_be_bytes().to_vec();
        for text in texts {
            payload.extend(text.bytes().chain([0]));
        }
        tables.describe(&Event::decode(
            EventType::IPE,
            &payload,
            StopCodes::default(),
        ));
    }

    #[test]
    fn tables_are_what_events_say() {
        let mut tables = InfoTables::default();
        let place = "src/A.hs:44:19-48";
        let thunk = ["sat_s1_info", "16", "Double", "main.go", "A", place];
        take(&mut tables, 8, ["old", "", "", "", "", ""]);
        take(&mut tables, 8, thunk);
        let constructor = ["D#_A_1_con_info", "3", "Double", "main.go", "A", ":"];
        take(&mut tables, 16, constructor);
        let table = tables.get(8).expect("a table");
        assert_eq!(
            table,
            InfoTable {
                name: "sat_s1_info",
                closure_type: ClosureType::from_name("THUNK_1_0"),
                type_: "Double",
                label: "main.go",
                module: "A",
                location: SourceLocation {
                    file: "src/A.hs",
                    span: "44:19-48"
                },
            }
        );
        assert_eq!(table.qualified(), "A.main.go");
        let table = tables.get(16).expect("a table");
        assert_eq!(table.qualified(), "A.D#");
        assert!(table.location.is_empty());
        assert_eq!((tables.get(9), tables.len()), (None, 2));
    }

    #[test]
    fn places_are_taken_apart() {
        for (text, file, span) in [
            ("src/A.hs:44:19-48", "src/A.hs", "44:19-48"),
            ("src/A.hs:44:19", "src/A.hs", "44:19"),
            ("C:\\A.hs:(3,1)-(4,7)", "C:\\A.hs", "(3,1)-(4,7)"),
            ("C:\\A.hs:4:7", "C:\\A.hs", "4:7"),
            (":", "", ""),
            ("", "", ""),
            ("A.hs", "A.hs", ""),
            ("A.hs:", "A.hs", ""),
        ] {
            assert_eq!(
                SourceLocation::parse(text),
                SourceLocation { file, span },
                "{text}"
            );
        }
    }

    #[test]
    fn constructors_are_told_from_where_they_are_used() {
        let constructor = |name, module| {
            let table = InfoTable {
                name,
                closure_type: None,
                type_: "",
                label: "",
                module,
                location: SourceLocation::default(),
            };
            table.constructor().map(str::to_owned)
        };
        for (name, module, found) in [
            ("Rect_Main_0_con_info", "Main", Some("Rect")),
            ("A_B_Data.Map_12_con_info", "Data.Map", Some("A_B")),
            (":_Main_5_con_info", "Main", Some(":")),
            ("Rect_con_info", "Main", Some("Rect")),
            ("A_1_con_info", "Main", Some("A_1")),
            ("Rect_info", "Main", None),
            ("", "", None),
        ] {
            assert_eq!(constructor(name, module).as_deref(), found, "{name}");
        }
    }

    #[test]
    fn texts_are_kept_once_and_no_more_than_fit() {
        let mut tables = InfoTables::default();
        for address in 0..1000 {
            take(
                &mut tables,
                address,
                ["x_info", "1", "Int", "f", "M", "M.hs:1:1"],
            );
        }
        assert_eq!(tables.texts.text, "x_infoIntfMM.hs1:1");
        let long = "x".repeat(4000);
        let mut address = 0;
        while tables.dropped() == 0 {
            address += 1;
            take(
                &mut tables,
                address,
                [&format!("{address}{long}"), "", "", "", "", ""],
            );
            assert!(address < 50_000);
        }
        let size = tables.size_bytes();
        assert!(size < InfoTables::BUDGET_BYTES + 10_000, "{size}");
        // A repeated description is not counted as dropped.
        take(&mut tables, 1, [&format!("1{long}"), "", "", "", "", ""]);
        assert_eq!(tables.dropped(), 1);
    }

    #[test]
    fn ids_are_told_from_addresses() {
        let tables = |addresses: &[u64]| {
            let mut tables = InfoTables::default();
            for &address in addresses {
                take(
                    &mut tables,
                    address,
                    ["x_info", "1", "Int", "f", "M", "M.hs:1:1"],
                );
            }
            tables
        };
        let node = |node: u64, index: u64| node << 32 | index;
        assert!(tables(&[node(1, 1), node(1, 2), node(2, 1), node(1, 5)]).uses_stable_ids());
        assert!(!tables(&[]).uses_stable_ids());
        // A program at a fixed address, a relocated one, and one of macOS.
        assert!(!tables(&[0x40_1000, 0x40_1020]).uses_stable_ids());
        assert!(!tables(&[0x5555_5555_4000, 0x5555_5555_4020]).uses_stable_ids());
        assert!(!tables(&[0x1_0000_3F40, 0x1_0000_3F60]).uses_stable_ids());
    }

    #[test]
    fn another_log_of_the_same_build_describes_more() {
        let id = |index: u64| 1 << 32 | index;
        let mut older = InfoTables::default();
        let place = "A.hs:1:1";
        take(
            &mut older,
            id(1),
            ["a_info", "16", "Int", "main.a", "A", place],
        );
        take(
            &mut older,
            id(2),
            ["b_info", "16", "Int", "main.b", "A", place],
        );
        let mut log = InfoTables::default();
        assert_eq!(log.merge_descriptions(&older, true), Some(2));
        assert_eq!(
            log.get(id(2)).map(|table| table.qualified()),
            Some("A.main.b".to_owned())
        );
        // A log with addresses must describe some tables itself.
        assert_eq!(
            InfoTables::default().merge_descriptions(&older, false),
            None
        );
        let mut other = InfoTables::default();
        take(
            &mut other,
            id(1),
            ["c_info", "16", "Int", "main.c", "A", place],
        );
        assert_eq!(other.merge_descriptions(&older, true), None);
        assert_eq!(other.len(), 1);
    }

    proptest! {
        #[test]
        fn any_place_is_written_as_it_was(text in "[a-z0-9:.()/,-]{0,30}") {
            let place = SourceLocation::parse(&text);
            prop_assert_eq!(place.to_string(), text.strip_suffix(':').unwrap_or(&text));
        }

        #[test]
        fn texts_are_given_back(texts in prop::collection::vec("[a-c]{0,3}", 0..40)) {
            let mut kept = TextTable::default();
            let ids: Vec<TextId> = texts.iter().map(|text| kept.intern(text)).collect();
            for (id, text) in ids.iter().zip(&texts) {
                prop_assert_eq!(kept.get(*id), text);
            }
        }
    }
}
