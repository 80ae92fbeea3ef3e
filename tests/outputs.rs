//! Output files never replace an input, and replace their target only when they are complete.
#![cfg(unix)]

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{eventscope, fixture};
use tempfile::TempDir;

/// Commands that write a file, without their log and output arguments.
const WRITERS: [(&str, &[&str]); 7] = [
    ("cut", &["--out"]),
    ("merge", &["--out"]),
    ("report", &["--out"]),
    ("flamegraph", &["--format", "folded", "--out"]),
    ("export", &["--format", "chrome", "--out"]),
    ("export", &["--format", "perfetto", "--out"]),
    ("heap", &["--chart"]),
];

/// Returns a log that is suitable for a command.
fn log_of(command: &str) -> Vec<u8> {
    let name = match command {
        "heap" => "ghc-9.6.6/heap-N2-hT-l-au",
        _ => "ghc-9.6.6/dense-N2-l-flush",
    };
    fixture(name).bytes()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn no_command_replaces_its_input() {
    for (command, options) in WRITERS {
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
        let log = log_of(command);
        fs::write(path("log"), &log).expect("a file");
        fs::hard_link(path("log"), path("hard")).expect("a link");
        symlink("log", path("soft")).expect("a link");
        for output in ["log", "hard", "soft"] {
            let run = eventscope(&[&[command, &path("log")], options, &[&path(output)]].concat());
            let errors = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(
                run.status.code(),
                Some(2),
                "{command} to {output}: {errors}"
            );
            assert!(
                errors.contains("cannot be read and written at once"),
                "{errors}"
            );
            assert!(
                fs::read(path("log")).expect("a file") == log,
                "{command} to {output}"
            );
        }
        assert_eq!(names(folder.path()), ["hard", "log", "soft"], "{command}");
    }
}

#[test]
fn no_table_replaces_an_input() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let log = log_of("export");
    fs::write(path("log"), &log).expect("a file");
    fs::write(path("log.traces.binpb"), &log).expect("a file");
    let run = eventscope(&[
        "export",
        &path("log"),
        &path("log.traces.binpb"),
        "--format",
        "otlp",
        "--out",
        &path(""),
    ]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    assert!(fs::read(path("log.traces.binpb")).expect("a file") == log);
}

#[test]
fn the_standard_output_is_no_input() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("log");
    let log = log_of("events");
    fs::write(&path, &log).expect("a file");
    let out = fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .expect("a file");
    let run = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .arg("events")
        .arg(&path)
        .stdout(out)
        .status();
    assert_eq!(run.expect("eventscope runs").code(), Some(2));
    assert!(fs::read(&path).expect("a file") == log);
}

#[test]
fn a_log_that_cannot_be_read_leaves_the_old_output() {
    for (command, options) in WRITERS {
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
        fs::write(path("log"), "this is no log").expect("a file");
        fs::write(path("old"), "old").expect("a file");
        let run = eventscope(&[&[command, &path("log")], options, &[&path("old")]].concat());
        assert_eq!(run.status.code(), Some(1), "{command}: {run:?}");
        assert_eq!(fs::read(path("old")).expect("a file"), b"old", "{command}");
        assert_eq!(names(folder.path()), ["log", "old"], "{command}");
    }
}

#[test]
fn an_interrupted_command_leaves_the_old_output() {
    for (command, signal, status) in [("cut", "INT", 130), ("report", "TERM", 143)] {
        let folder = TempDir::new().expect("a folder");
        let old = folder.path().join("old");
        fs::write(&old, "old").expect("a file");
        // The command waits for its standard input.
        let mut child = Command::new(env!("CARGO_BIN_EXE_eventscope"))
            .args([command, "-", "--out"])
            .arg(&old)
            .stdin(Stdio::piped())
            .spawn()
            .expect("eventscope runs");
        // `wait` would close standard input, and the command would finish.
        let stdin = child.stdin.take();
        let deadline = Instant::now() + Duration::from_secs(60);
        while names(folder.path()).len() == 1 {
            assert!(Instant::now() < deadline, "{command} begins its output");
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.expect("kill runs").success());
        let ended = child.wait().expect("it ends");
        drop(stdin);
        assert_eq!(ended.code(), Some(status), "{command}");
        assert_eq!(fs::read(&old).expect("a file"), b"old", "{command}");
        assert_eq!(names(folder.path()), ["old"], "{command}");
    }
}

#[test]
fn a_dash_is_the_standard_output() {
    for (command, options) in WRITERS {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("log"), log_of(command)).expect("a file");
        let run = |output: &str| {
            let mut process = Command::new(env!("CARGO_BIN_EXE_eventscope"));
            process.current_dir(folder.path()).args([command, "log"]);
            let run = process.args(options).arg(output).output();
            let run = run.expect("eventscope runs");
            let told = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{command} to {output}: {told}");
            run.stdout
        };
        assert!(run("file").is_empty(), "{command}");
        let printed = run("-");
        let written = fs::read(folder.path().join("file")).expect("a file");
        assert!(!written.is_empty() && printed == written, "{command}");
        assert_eq!(names(folder.path()), ["file", "log"], "{command}");
    }
}

#[test]
fn the_standard_output_is_no_folder() {
    let folder = TempDir::new().expect("a folder");
    let log = log_of("export");
    fs::write(folder.path().join("log"), &log).expect("a file");
    fs::write(folder.path().join("other"), &log).expect("a file");
    for arguments in [
        &["--format", "csv", "--out", "-", "log"] as &[&str],
        &["--format", "otlp", "--out", "-", "log"],
        &["--format", "chrome", "--out", "-", "log", "other"],
        &["--dataset", "-", "log"],
    ] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_eventscope"));
        process.current_dir(folder.path()).arg("export");
        let run = process.args(arguments).output().expect("eventscope runs");
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {run:?}");
        assert!(run.stdout.is_empty(), "{arguments:?}");
        assert_eq!(names(folder.path()), ["log", "other"], "{arguments:?}");
    }
}

/// Names that are not UTF-8 may be the same text, but the outputs are different files.
#[test]
fn names_of_the_same_text_get_outputs_of_their_own() {
    let folder = TempDir::new().expect("a folder");
    let logs =
        ["fib-forkio-N2-l", "sparks-N2-ls"].map(|name| fixture(&format!("ghc-9.6.6/{name}")));
    let inputs = [b"run\xff", b"run\xfe"].map(|name| folder.path().join(OsStr::from_bytes(name)));
    for (input, log) in inputs.iter().zip(&logs) {
        fs::write(input, log.bytes()).expect("a file");
    }
    let out = folder.path().join("out");
    let run = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(["export", "--format", "chrome", "--out"])
        .arg(&out)
        .args(&inputs)
        .output()
        .expect("eventscope runs");
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert_eq!(names(&out).len(), 2);
}
