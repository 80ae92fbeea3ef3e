//! Names of the bands of a heap profile by info table: from the log, and from the symbols of the program that
//! wrote it (`fixtures/symbols/heap-ipe.nm`).

use crate::common;

use std::io::Cursor;
use std::path::Path;

use common::{fixture, session_of};
use session::heap::band_info::{BandInfo, BandInfoQuery};
use session::heap::choice::{Grouping, HeapChoice, SelectedBands};
use session::{AddressNames, Session};
use symbols::Symbols;

fn session() -> Session {
    let bytes = fixture("ghc-9.10.3/heap-ipe-N1-hi-l-au").bytes();
    session_of(&bytes).expect("it can be read")
}

fn chosen(session: &Session, group: Grouping) -> SelectedBands {
    let choice = HeapChoice {
        group,
        bands: u32::MAX,
        ..HeapChoice::default()
    };
    session.heap(&choice, None).expect("a heap profile")
}

/// Returns name, subtitle and share of bytes of each band, largest first.
fn shares(session: &Session, group: Grouping) -> Vec<(String, String, f64)> {
    let chosen = chosen(session, group);
    let all: u128 = chosen
        .ranking
        .bands()
        .iter()
        .map(|(_, sums)| sums.bytes)
        .sum();
    let mut bands: Vec<_> = chosen.ranking.bands().iter().collect();
    bands.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.bytes));
    let share = |bytes: u128| bytes as f64 / all as f64;
    let rows = bands.into_iter().map(|(band, sums)| {
        let name = chosen.bands.name(*band).to_owned();
        (
            name,
            chosen.bands.subtitle(*band).to_owned(),
            share(sums.bytes),
        )
    });
    rows.collect()
}

/// Returns the share of bytes in bands whose name is not just an address.
fn named(session: &Session) -> f64 {
    let bands = shares(session, Grouping::Band).into_iter();
    let named = bands.filter(|(name, ..)| !name.starts_with("0x"));
    named.map(|(_, _, share)| share).sum()
}

fn list() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("tests/fixtures/symbols/heap-ipe.nm")).expect("a list")
}

fn name_by(session: &mut Session, list: &str) -> AddressNames {
    let mut symbols = Symbols::read(Cursor::new(list)).expect("symbols");
    session.set_symbols(&mut symbols).expect("it can be read")
}

/// Maps the addresses of all symbols with `to`.
fn with_moved_addresses(list: &str, to: impl Fn(u64) -> u64) -> String {
    let line = |line: &str| {
        let (address, rest) = line.split_once(' ')?;
        let address = to(u64::from_str_radix(address, 16).ok()?);
        Some(format!("{address:016x} {rest}\n"))
    };
    list.lines().filter_map(line).collect()
}

/// Assigns the names to the addresses in reverse order.
fn with_reversed_names(list: &str) -> String {
    let lines = list.lines().zip(list.lines().rev());
    let line = |(line, other): (&str, &str)| {
        let (address, _) = line.split_once(' ')?;
        let (_, rest) = other.split_once(' ')?;
        Some(format!("{address} {rest}\n"))
    };
    lines.filter_map(line).collect()
}

#[test]
fn the_executable_names_what_the_log_does_not() {
    let mut session = session();
    let before = named(&session);
    assert!((0.556..0.557).contains(&before), "{before}");
    let told = name_by(&mut session, &list());
    assert_eq!(
        told.text,
        "41 of the 58 addresses in the log have names now, from the output of nm."
    );
    let after = named(&session);
    assert!(after > 0.9999, "{after}");
    let rows = |group| {
        let rows = shares(&session, group).into_iter();
        let rows = rows
            .map(|(name, subtitle, share)| format!("{:8.4} % {name} | {subtitle}", 100.0 * share));
        rows.collect::<Vec<_>>().join("\n")
    };
    let mut all = String::new();
    for group in Grouping::ALL {
        all += &format!("--- {}\n{}\n", group.title(), rows(group));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn groups_have_together_what_bands_have() {
    let mut session = session();
    for _ in 0..2 {
        for group in Grouping::ALL {
            let sum: f64 = shares(&session, group).iter().map(|row| row.2).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{group:?} {sum}");
        }
        name_by(&mut session, &list());
    }
}

#[test]
fn a_program_that_was_loaded_elsewhere_names_the_same() {
    let (mut here, mut there) = (session(), session());
    name_by(&mut here, &list());
    let told = name_by(
        &mut there,
        &with_moved_addresses(&list(), |at| at - 0x40_0000),
    );
    assert!(
        told.text
            .contains("loaded at its file addresses + 0x400000"),
        "{}",
        told.text
    );
    let bands = |session| shares(session, Grouping::Band);
    assert_eq!(bands(&here), bands(&there));
}

#[test]
fn another_build_names_nothing() {
    let unnamed = shares(&session(), Grouping::Band);
    for list in [
        with_moved_addresses(&list(), |at| at + (at >> 10 << 3)),
        // The same addresses with other names.
        with_reversed_names(&list()),
    ] {
        let mut session = session();
        let told = name_by(&mut session, &list);
        assert!(
            told.text.starts_with("Nothing symbolicated"),
            "{}",
            told.text
        );
        assert!(told.failed);
        assert_eq!(shares(&session, Grouping::Band), unnamed);
    }
}

#[test]
fn a_band_is_told_about() {
    let mut session = session();
    let about = |session: &Session, key: &str| {
        let key = key.to_owned();
        session.ask(&BandInfoQuery { profile: 0, key })
    };
    let told = |about: &BandInfo| (about.band.name.clone(), about.closure_type.clone());
    let unnamed = about(&session, "0x488890").expect("a band");
    assert_eq!(told(&unnamed), ("0x488890".to_owned(), None));
    assert!(
        unnamed.advice.contains("Drop the executable"),
        "{unnamed:?}"
    );
    name_by(&mut session, &list());
    let named = about(&session, "0x488890").expect("a band");
    assert_eq!(told(&named), (":".to_owned(), Some("CONSTR".to_owned())));
    let thunk = about(&session, "0x40f140").expect("a band");
    assert!(thunk.what.starts_with("A calculation that is put off"));
    assert_eq!(
        thunk.facts(),
        [
            ("is", "thunk of type Tree"),
            ("closure type", "THUNK_2_0"),
            ("type", "Tree"),
            ("module", "Main"),
            ("package", "main"),
            ("place", "/home/users/src/programs/ProfHeap.hs:29:41-53"),
        ]
    );
    assert_eq!(about(&session, "no such band"), None);
}

#[test]
fn sentences_of_events_have_the_names() {
    let mut session = session();
    let context = |session: &Session| {
        let names = session.event_context().names;
        [names.info_table(0x48_8890), names.info_table(0x40_FFF8)]
    };
    assert_eq!(context(&session), [None, Some("Main.main".to_owned())]);
    name_by(&mut session, &list());
    assert_eq!(
        context(&session),
        [Some("GHC.Types.:".to_owned()), Some("Main.main".to_owned())]
    );
}
