//! Names for addresses from real executables: those in `fixtures/symbols`, and, where gcc is installed, some that
//! are compiled by the test.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use eventlog::ids::Address;
use symbols::{Kind, Load, MAGIC_BYTES, NameRequest, Symbols, SymbolsError, is_symbols, kind};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/symbols")
        .join(name)
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a fixture")
}

fn read(path: &Path) -> Result<Symbols<File>, SymbolsError> {
    Symbols::read(File::open(path).expect("a file"))
}

/// Returns where the program was loaded, and the names of the addresses of functions, then of info tables.
fn names(path: &Path, functions: &[u64], info_tables: &[u64]) -> (Load, Vec<String>) {
    let addresses = |all: &[u64]| all.iter().copied().map(Address).collect();
    let wanted = NameRequest {
        functions: addresses(functions),
        info_tables: addresses(info_tables),
        ..NameRequest::default()
    };
    let naming = read(path)
        .and_then(|mut symbols| symbols.name(&wanted))
        .expect("names");
    let name = |(address, name): (Address, symbols::Name)| {
        let place = name.location.unwrap_or_default();
        let parts = [name.package, name.module, name.label, place];
        format!("{address} {}", parts.join("|"))
    };
    (naming.load, naming.names.into_iter().map(name).collect())
}

#[test]
fn an_executable_at_fixed_addresses_names_functions_with_their_lines() {
    let (load, names) = names(
        &fixture("fixed.elf"),
        &[0x40_012B, 0x40_010F, 0x40_0100, 0x40_012C],
        &[0x40_00E8 - 16, 0x40_00F0, 0x40_012B - 16],
    );
    assert_eq!(load, Load::AtFileAddress);
    assert_eq!(
        names,
        [
            "0x40012b ||bar_c|functions.c:11",
            "0x40010f ||nap|functions.c:6",
            "0x400100 ||helper|functions.c:4",
            "0x4000d8 base|GHC.Base|map|",
        ]
    );
}

#[test]
fn where_a_movable_executable_was_loaded_is_found() {
    let base = 0x5613_7A2C_5000;
    let functions = [base + 0x1D4, base + 0x1B8];
    let (load, found) = names(&fixture("pie.elf"), &functions, &[base + 0x191 - 32]);
    assert_eq!(load, Load::Moved(base as i64));
    assert_eq!(
        found,
        [
            "0x56137a2c51d4 ||bar_c|functions.c:11",
            "0x56137a2c51b8 ||nap|functions.c:6",
            "0x56137a2c5171 base|GHC.Base|map|",
        ]
    );
    let (load, found) = names(&fixture("pie.nm"), &functions, &[]);
    assert_eq!((load, found.len()), (Load::Moved(base as i64), 2));
    let elsewhere = [base + 0x1D4, base + 0x1B9];
    let (load, found) = names(&fixture("pie.elf"), &elsewhere, &[]);
    assert_eq!((load, found.len()), (Load::Nowhere, 0));
}

#[test]
fn executables_of_other_systems_are_read() {
    let slide = 0x4F2_C000;
    let functions = [slide + 0x1_0000_0290, slide + 0x1_0000_02C0];
    let (load, found) = names(&fixture("movable.macho"), &functions, &[]);
    assert_eq!(load, Load::Moved(0x4F2_C000));
    assert_eq!(found, ["0x104f2c290 ||bar_c|", "0x104f2c2c0 ||nap|"]);
    let functions = [0x7FF6_1234_1010, 0x7FF6_1234_1050];
    let (load, found) = names(&fixture("movable.exe"), &functions, &[]);
    assert_eq!(load, Load::Moved(0x7FF6_1234_0000 - 0x1_4000_0000));
    assert_eq!(found, ["0x7ff612341010 ||bar_c|", "0x7ff612341050 ||nap|"]);
    // Below the image base of the file, as Windows may load it.
    let (load, _) = names(&fixture("movable.exe"), &[0x1010, 0x1050], &[]);
    assert_eq!(load, Load::Moved(-0x1_4000_0000));
}

#[test]
fn the_output_of_nm_names_functions() {
    let functions = [0x40_012B, 0x40_010F];
    let (load, names) = names(&fixture("fixed.nm"), &functions, &[0x40_00D8]);
    assert_eq!(load, Load::AtFileAddress);
    assert_eq!(
        names,
        [
            "0x40012b ||bar_c|",
            "0x40010f ||nap|",
            "0x4000d8 base|GHC.Base|map|",
        ]
    );
}

#[test]
fn files_are_told_by_their_first_bytes() {
    let kind_of = |name: &str| kind(&bytes(&fixture(name)));
    assert_eq!(kind_of("fixed.elf"), Some(Kind::Elf));
    assert_eq!(kind_of("pie.nm"), Some(Kind::Nm));
    assert_eq!(kind_of("functions.c"), None);
    for (first, what) in [
        (&b"\xcf\xfa\xed\xfe"[..], Kind::MachO),
        (b"\xfe\xed\xfa\xce", Kind::MachO),
        (b"\xca\xfe\xba\xbe", Kind::Universal),
        (b"MZ\x90\0", Kind::Pe),
    ] {
        assert_eq!(kind(first), Some(what));
    }
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs");
    let mut seen = 0;
    for version in std::fs::read_dir(logs).expect("logs") {
        for log in std::fs::read_dir(version.expect("a folder").path()).expect("logs") {
            let first = bytes(&log.expect("a log").path());
            assert!(!is_symbols(&first[..first.len().min(MAGIC_BYTES)]));
            seen += 1;
        }
    }
    assert!(seen > 40);
}

#[test]
fn what_cannot_be_read_is_said_in_a_sentence() {
    let fixed = bytes(&fixture("fixed.elf"));
    let error = |bytes: &[u8]| {
        let read = Symbols::read(std::io::Cursor::new(bytes));
        read.err().map(|error| error.to_string())
    };
    let texts: Vec<String> = [
        error(b"hello"),
        error(b"\xca\xfe\xba\xbe\0\0\0\x02"),
        error(&bytes(&fixture("stripped.elf"))),
        error(&fixed[..600]),
        error(&fixed[..3]),
        error(b"                 U abort\n"),
    ]
    .into_iter()
    .map(|text| text.unwrap_or_else(|| "fine".to_owned()))
    .collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn any_damage_is_survived() {
    for name in ["fixed.elf", "movable.exe", "movable.macho"] {
        damage(&bytes(&fixture(name)));
    }
}

fn damage(fixed: &[u8]) {
    let wanted = NameRequest {
        functions: vec![Address(0x40_012B)],
        info_tables: vec![Address(0x40_00D8)],
        known: vec![(Address(0x40_00F0), "map_info".to_owned())],
    };
    for at in 0..fixed.len() {
        for bytes in [
            fixed[..at].to_vec(),
            [&fixed[..at], &[fixed[at] ^ 0xFF], &fixed[at + 1..]].concat(),
        ] {
            if let Ok(mut symbols) = Symbols::read(std::io::Cursor::new(bytes)) {
                let _ = symbols.name(&wanted);
            }
        }
    }
}

/// Programs that print the addresses of their functions, as the hooks do. Skipped without gcc.
#[test]
fn executables_of_this_machine_name_their_own_functions() {
    let folder = std::env::temp_dir().join(format!("eventscope-symbols-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = folder.join("own.c");
    let text = "#include <stdio.h>\nvoid inner(void) {}\nint main(void) {\n  printf(\"%p\\n%p\\n\", (void *)main, (void *)inner);\n  return 0;\n}\n";
    std::fs::write(&source, text).expect("a source");
    for way in ["-no-pie", "-pie"] {
        let program = folder.join(format!("own{way}"));
        let pic = if way == "-pie" { "-fPIE" } else { "-fno-pie" };
        let built = Command::new("gcc")
            .args(["-g", way, pic, "-o"])
            .args([&program, &source])
            .status();
        if !built.is_ok_and(|status| status.success()) {
            eprintln!("no gcc here that makes {way}: not tested");
            continue;
        }
        let said = Command::new(&program).output().expect("it runs").stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        let addresses: Vec<u64> = said
            .lines()
            .filter_map(|line| u64::from_str_radix(line.trim_start_matches("0x"), 16).ok())
            .collect();
        let (load, names) = names(&program, &addresses, &[]);
        assert_eq!(load == Load::AtFileAddress, way == "-no-pie", "{load:?}");
        let labels: Vec<&str> = names
            .iter()
            .filter_map(|name| name.split_once(' '))
            .map(|(_, name)| name)
            .collect();
        assert_eq!(labels, ["||main|own.c:3", "||inner|own.c:2"], "{way}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
