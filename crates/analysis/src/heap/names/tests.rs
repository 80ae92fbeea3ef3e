use proptest::prelude::*;

use super::*;
use crate::heap::groups::GroupBy;
use eventlog::ids::Address;
use eventlog::status::StopCodes;
use eventlog::{Event, EventType};
use symbols::Load;

#[derive(Default)]
struct Log {
    info_tables: InfoTables,
    centres: CostCentres,
    symbols: TableSymbols,
}

impl Log {
    fn names(&self) -> BandNames<'_> {
        BandNames::new(&self.info_tables, &self.centres, &self.symbols)
    }

    fn table(&mut self, address: u64, texts: &str) {
        let payload = [&address.to_be_bytes()[..], texts.as_bytes()].concat();
        let event = Event::decode(EventType::IPE, &payload, StopCodes::default());
        self.info_tables.describe(&event);
    }

    fn text(&self, breakdown: Breakdown, label: &str) -> BandDescription {
        self.names().describe(breakdown, &Label::Text(label.into()))
    }

    /// Formats name, `what` and groups, with `-` for unknown ones.
    fn row(&self, breakdown: Breakdown, label: &str) -> String {
        let found = self.text(breakdown, label);
        let groups = [
            GroupBy::Package,
            GroupBy::Module,
            GroupBy::Type,
            GroupBy::Kind,
        ];
        let groups = groups.map(|by| by.group_of(&found).unwrap_or("-".into()).into_owned());
        format!("{} | {} | {}", found.name, found.what, groups.join(" | "))
    }
}

fn symbol(package: &str, module: &str, label: &str, kind: SymbolKind) -> Name {
    Name {
        package: package.into(),
        module: module.into(),
        label: label.into(),
        kind,
        ..Name::default()
    }
}

/// Symbols as read from an executable.
fn symbols(tables: &InfoTables) -> TableSymbols {
    use SymbolKind::{Constructor, InfoTable};
    let used = Name {
        used_in: "Main".into(),
        ..symbol("ghc-prim", "GHC.Types", ":", Constructor)
    };
    let names = [
        (0x10, symbol("main", "Main", "main1", InfoTable)),
        (
            0x20,
            symbol("containers-0.7-inplace", "Data.Map", "Bin", Constructor),
        ),
        (0x30, symbol("rts", "", "stg_ARR_WORDS", InfoTable)),
        (0x40, used.clone()),
        (0x50, symbol("", "", "sd4f_info", InfoTable)),
        (0x60, used),
    ];
    let within = symbol("base", "GHC.Event", "", SymbolKind::Other);
    let naming = NamedAddresses {
        load: Load::AtFileAddress,
        names: names.map(|(at, name)| (Address(at), name)).to_vec(),
        modules: vec![(Address(0x70), within)],
    };
    TableSymbols::new(&naming, tables)
}

#[test]
fn info_tables_are_named_by_the_log_and_the_executable() {
    let mut log = Log::default();
    log.table(
        0x40,
        ":_Main_5_con_info\x004\x00[]\0mkShape\0Main\0P.hs:17:30-63\0",
    );
    log.table(
        0x80,
        "sat_s1_info\x0016\0[Shape]\0main.go\0Main\0P.hs:42:5\0",
    );
    log.table(0x90, "\0\0\0\0\0:\0");
    let rows = |log: &Log| {
        let labels = (1..=9).map(|number| format!("{:#x}", number * 0x10));
        let rows = labels.map(|label| log.row(Breakdown::InfoTable, &label));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(
        rows(&log),
        [
            "0x10 |  | - | - | - | -",
            "0x20 |  | - | - | - | -",
            "0x30 |  | - | - | - | -",
            ": | constructor of type [], made by mkShape | - | Main | [] | constructors",
            "0x50 |  | - | - | - | -",
            "0x60 |  | - | - | - | -",
            "0x70 |  | - | - | - | -",
            "main.go | thunk of type [Shape] | - | Main | [] | thunks",
            "0x90 |  | - | - | - | -",
        ]
    );
    log.symbols = symbols(&log.info_tables);
    assert_eq!(
        rows(&log),
        [
            "main1 | function or thunk | main | Main | - | functions or thunks",
            "Bin | constructor | containers | Data.Map | - | constructors",
            "ARR_WORDS | array | - | - | - | arrays",
            ": | constructor of type [], made by mkShape | main | Main | [] | constructors",
            "sd4f_info | function or thunk | - | - | - | functions or thunks",
            ": | constructor from ghc-prim:GHC.Types of type [] | main | Main | [] | constructors",
            "0x70 | function or thunk without a symbol | base | GHC.Event | - | functions or thunks",
            "main.go | thunk of type [Shape] | main | Main | [] | thunks",
            // Without any information, the address stays.
            "0x90 |  | - | - | - | -",
        ]
    );
    let thunk = log.text(Breakdown::InfoTable, "0x80");
    assert_eq!(thunk.subtitle(), "thunk of type [Shape] · P.hs:42:5");
    assert_eq!(
        log.text(Breakdown::InfoTable, "0x20").subtitle(),
        "constructor · Data.Map"
    );
}

#[test]
fn labels_of_closure_types_are_taken_apart() {
    let log = Log::default();
    for (label, row) in [
        (
            "ghc-prim:GHC.Types.:",
            ": | constructor | ghc-prim | GHC.Types | - | constructors",
        ),
        (
            "main:Main.Node",
            "Node | constructor | main | Main | - | constructors",
        ),
        (
            "containers-0.7-inplace:Data.Map.Internal.Bin",
            "Bin | constructor | containers | Data.Map.Internal | - | constructors",
        ),
        (
            "base:A.:.:",
            ":.: | constructor | base | A | - | constructors",
        ),
        (
            "ghc-prim:GHC.Tuple.(,)",
            "(,) | constructor | ghc-prim | GHC.Tuple | - | constructors",
        ),
        (
            "THUNK_1_0",
            "THUNK_1_0 | thunk that keeps one pointer | - | - | - | thunks",
        ),
        (
            "FUN_0_2",
            "FUN_0_2 | function that keeps 2 words of data | - | - | - | functions",
        ),
        ("ARR_WORDS", "ARR_WORDS | array | - | - | - | arrays"),
        ("ODD", "ODD |  | - | - | - | -"),
        (":", ": |  | - | - | - | -"),
    ] {
        assert_eq!(log.row(Breakdown::ClosureType, label), row);
    }
}

#[test]
fn other_labels_are_taken_apart() {
    let log = Log::default();
    for (breakdown, label, row) in [
        (
            Breakdown::ClosureDescription,
            "<base:GHC.Event.Array.sat_s37m>",
            "sat_s37m | function or thunk | base | GHC.Event.Array | - | functions or thunks",
        ),
        (
            Breakdown::ClosureDescription,
            "Just",
            "Just | constructor | - | - | - | constructors",
        ),
        (
            Breakdown::ClosureDescription,
            "MVAR",
            "MVAR | mutable variable | - | - | - | mutable variables",
        ),
        (Breakdown::Type, "Shape", "Shape |  | - | - | Shape | -"),
        (
            Breakdown::Type,
            "->>IO",
            "->>IO | function of 2 arguments that gives IO | - | - | -> | -",
        ),
        (
            Breakdown::Type,
            "->Double",
            "->Double | function of one argument that gives Double | - | - | -> | -",
        ),
        (Breakdown::Type, "*", "* | of any type | - | - | - | -"),
        (
            Breakdown::Type,
            "ARR_WORDS",
            "ARR_WORDS | array | - | - | - | arrays",
        ),
        (Breakdown::Module, "Main", "Main |  | - | Main | - | -"),
        (
            Breakdown::Retainer,
            "(48)SYSTEM,MAIN",
            "SYSTEM, MAIN | retainer set 48 of 2 members | - | - | - | -",
        ),
        (Breakdown::Retainer, "odd", "odd |  | - | - | - | -"),
        (
            Breakdown::Era,
            "3",
            "era 3 | allocated in this era | - | - | - | -",
        ),
        (Breakdown::Biography, "DRAG", "DRAG |  | - | - | - | -"),
    ] {
        assert_eq!(log.row(breakdown, label), row);
    }
    let members = log.text(Breakdown::Retainer, "(48)SYSTEM,MAIN").members;
    assert_eq!(members, ["SYSTEM", "MAIN"]);
}

#[test]
fn stacks_are_called_by_their_innermost_centre() {
    let centres = [
        (1, "main\0Main\0M.hs:1:1\0"),
        (2, "go\0Main\0M.hs:2:1\0"),
        (3, "SYSTEM\0SYSTEM\0<built-in>\0"),
    ];
    let log = Log {
        centres: crate::flamegraph::test_support::declared(&centres),
        ..Log::default()
    };
    let stack = |ids: &[u32]| {
        let ids = ids.iter().copied().map(CostCentreId).collect();
        log.names()
            .describe(Breakdown::CostCentreStack, &Label::Stack(ids))
    };
    let found = stack(&[2, 1]);
    assert_eq!(found.name, "Main.go");
    assert_eq!(found.subtitle(), "← Main.main · M.hs:2:1");
    assert_eq!(
        found.members,
        ["Main.go (M.hs:2:1)", "Main.main (M.hs:1:1)"]
    );
    assert_eq!(found.module.as_deref(), Some("Main"));
    assert_eq!(stack(&[]).name, "MAIN");
    let system = stack(&[3]);
    assert_eq!((&*system.name, system.module), ("SYSTEM", None));
    assert_eq!(stack(&[9]).name, "cost centre 9");
}

#[test]
fn bands_are_explained() {
    let mut log = Log {
        symbols: symbols(&InfoTables::default()),
        ..Log::default()
    };
    log.table(
        0x80,
        "sat_s1_info\x0016\0[Shape]\0main.go\0Main\0P.hs:42:5\0",
    );
    let what = |breakdown, label: &str| {
        let found = log.names().explain(breakdown, &Label::Text(label.into()));
        found.map(|found| found.what)
    };
    let of_type = |name| {
        let named = ClosureType::from_name(name).expect("a type");
        Some(type_words(named).explanation.what)
    };
    for (breakdown, label, name) in [
        (Breakdown::InfoTable, "0x80", "THUNK_1_0"),
        (Breakdown::InfoTable, "0x20", "CONSTR"),
        (Breakdown::InfoTable, "0x30", "ARR_WORDS"),
        (Breakdown::ClosureType, "STACK", "STACK"),
        (Breakdown::ClosureType, "main:Main.Node", "CONSTR"),
        (Breakdown::ClosureDescription, "MVAR", "MVAR_CLEAN"),
    ] {
        assert_eq!(what(breakdown, label), of_type(name), "{label}");
    }
    assert_eq!(what(Breakdown::InfoTable, "0x10"), None);
    assert_eq!(what(Breakdown::Biography, "VOID"), Some("Never used."));
    assert!(what(Breakdown::Era, "1").is_some());
    assert!(what(Breakdown::Retainer, "(1)MAIN").is_some());
}

proptest! {
    #[test]
    fn any_label_is_described(number in 0..10_u32, label in "\\PC{0,24}|(0x|<)?[a-zA-Z:.(),>_-]{0,24}") {
        let log = Log { symbols: symbols(&InfoTables::default()), ..Log::default() };
        let breakdown = Breakdown::of_number(number);
        let found = log.text(breakdown, &label);
        for by in [GroupBy::Name, GroupBy::Package, GroupBy::Module, GroupBy::Type, GroupBy::Kind] {
            let _ = by.group_of(&found);
        }
        let _ = (found.subtitle(), log.names().explain(breakdown, &Label::Text(label.into())));
    }
}
