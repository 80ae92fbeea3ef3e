//! Output on a terminal: aligned tables with units, the longest rows first, limited in number.
#![cfg(unix)]

use crate::common;

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use common::build::LogBuilder;
use common::{eventscope, fixture, stdout};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

/// Runs a command with a terminal as its standard output. Returns the exit status and the output.
fn on_terminal(arguments: &[&str]) -> (Option<i32>, String) {
    run_on_terminal(arguments, |command, terminal| {
        command.stdout(terminal).stderr(Stdio::null());
    })
}

/// Like [`on_terminal`], with the terminal attached by `attach`.
fn run_on_terminal(arguments: &[&str], attach: fn(&mut Command, File)) -> (Option<i32>, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("a terminal");
    unlockpt(&terminal).expect("a terminal");
    let name = ptsname(&terminal, Vec::new()).expect("a name");
    let name = name.to_str().expect("UTF-8");
    let side = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .expect("a terminal");
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
    command.args(arguments).stdin(Stdio::null());
    attach(&mut command, side);
    let mut child = command.spawn().expect("eventscope runs");
    // The command holds the terminal open.
    drop(command);
    let mut printed = Vec::new();
    let mut terminal = File::from(terminal);
    let mut piece = [0; 4096];
    // Reading a terminal that no process has open is an error on some systems.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        printed.extend_from_slice(&piece[..count]);
    }
    let status = child.wait().expect("it ends").code();
    (
        status,
        String::from_utf8(printed)
            .expect("UTF-8")
            .replace("\r\n", "\n"),
    )
}

#[test]
fn tables_have_heads_and_units() {
    let log = fixture("ghc-9.6.6/gc-heavy-N2-la-nonmoving");
    let path = log.path();
    let commands: [(&[&str], &[&str]); 6] = [
        (&["threads", path], &["running", "foreign call", "thread"]),
        (&["collections", path], &["pause", "heap size", "MiB", "#"]),
        (&["spans", path, "gc"], &["lasted", "capability 0"]),
        (
            &["spans", path, "thread-state"],
            &["lasted", "thread", "Blocked"],
        ),
        (&["time", path], &["capability", "ready in GC"]),
        (&["info", path], &["capabilities", "events", "RunThread"]),
    ];
    for (command, words) in commands {
        let (status, printed) = on_terminal(command);
        assert_eq!(status, Some(0), "{command:?}: {printed}");
        assert!(!printed.contains('\t'), "{command:?}: {printed}");
        for word in words {
            assert!(
                printed.contains(word),
                "{command:?} has no {word}: {printed}"
            );
        }
        assert!(printed.contains("ms"), "{command:?}: {printed}");
        assert!(printed.lines().count() < 80, "{command:?}: {printed}");
        // Output to other programs does not change.
        let piped = stdout(command);
        assert!(
            !piped.contains('…') && !piped.contains("\u{a0}"),
            "{command:?}"
        );
        if command[0] != "time" {
            let header = [command, &["--header"]].concat();
            assert_eq!(on_terminal(&header).1, stdout(&header), "{command:?}");
        }
    }
}

#[test]
fn long_tables_are_cut() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 10_000_000), |b| {
        for thread in 1..=100u32 {
            let at = u64::from(thread) * 10_000;
            b.event(0, at, &thread.to_be_bytes())
                .run(at + 1, thread)
                .stop(at + 1 + u64::from(thread), thread, 5);
        }
        b
    });
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("log");
    std::fs::write(&path, &log.end().bytes).expect("a file");
    let path = path.to_str().expect("UTF-8");
    for command in [
        &["threads", path] as &[&str],
        &["spans", path, "mutator"],
        &["time", path],
    ] {
        let (_, printed) = on_terminal(command);
        assert!(printed.contains("… and 60 more (--all)"), "{printed}");
        let lines: Vec<&str> = printed
            .lines()
            .skip_while(|line| !line.ends_with("100"))
            .collect();
        assert!(lines[1].ends_with("99"), "the longest first: {printed}");
        let (_, all) = on_terminal(&[command, &["--all"]].concat());
        assert_eq!(all.lines().count(), printed.lines().count() + 59, "{all}");
        assert!(!all.contains('…'));
        assert!(stdout(command).lines().count() >= 100);
    }
}

#[test]
fn a_report_is_not_for_terminals() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let (status, printed) = on_terminal(&["report", log.path()]);
    assert_eq!((status, printed.as_str()), (Some(2), ""));
    assert!(
        eventscope(&["report", log.path()])
            .stdout
            .starts_with(b"<!")
    );
}

/// A table of many counters is limited to its first rows.
#[test]
fn long_tables_of_counters_end() {
    let types = [(210, None, "Ticky counter definition")];
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), (10, 1000), |log| {
        for number in 0..100_u8 {
            let texts = format!("\0\x01a\0n{number}\0");
            let id = u64::from(number).to_be_bytes();
            log.event(210, 20, &[&id[..], texts.as_bytes()].concat());
        }
        log
    });
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("log");
    std::fs::write(&path, &log.end().bytes).expect("a file");
    let ticky = ["ticky", path.to_str().expect("UTF-8")];
    let (_, printed) = on_terminal(&ticky);
    assert!(printed.contains("… and 60 more (--limit 100)"), "{printed}");
    assert!(stdout(&ticky).lines().count() > 100);
}

#[test]
fn files_for_other_tools_are_not_for_terminals() {
    let profile = fixture("ghc-9.6.6/prof-ffi-safe-N1-p-l");
    let (status, printed) = on_terminal(&["flamegraph", profile.path()]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.lines().count() <= 42, "{printed}");
    for format in ["speedscope", "svg", "pprof"] {
        let words = ["flamegraph", profile.path(), "--format", format];
        assert_eq!(on_terminal(&words).0, Some(2), "{format}");
    }
}

#[test]
fn a_log_of_many_damaged_places_does_not_flood_a_terminal() {
    let mut log = LogBuilder::new();
    for number in 0..100 {
        let at = 1000 + number * 100;
        log.block(Some(0), (at, at + 50), |log| {
            log.run(at + 1, 1).event(999, at + 2, &[])
        });
    }
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("log");
    std::fs::write(&path, &log.end().bytes).expect("a file");
    let threads = ["threads", path.to_str().expect("UTF-8")];
    let (_, messages) = run_on_terminal(&threads, |command, terminal| {
        command.stdout(Stdio::null()).stderr(terminal);
    });
    let lines: Vec<&str> = messages.lines().collect();
    assert_eq!(lines.len(), 21, "{messages}");
    assert!(lines[20].contains("80 more damaged places"), "{messages}");
    let output = eventscope(&threads);
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 100);
}
