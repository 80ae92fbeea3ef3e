//! `eventscope export --dataset` and `compact`: killed processes, several at once, bad logs, options.
//!
//! What is in the tables, and every step of a compaction, is tested in `crates/dataset`.

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{eventscope, fixture};
use serde_json::Value;
use tempfile::TempDir;

/// Small logs, and one that takes longer.
const LOGS: [&str; 8] = [
    "ghc-9.6.6/dense-N2-l-flush",
    "ghc-9.6.6/fib-forkio-N2-l",
    "ghc-9.6.6/gc-heavy-N1-l",
    "ghc-9.6.6/heap-N2-hT-l-au",
    "ghc-9.6.6/prof-time-N1-p-l-au",
    "ghc-9.6.6/cut-mid-event",
    "ghc-9.6.6/sparks-N2-ls",
    "ghc-9.0.2/binmsg-N1-l-au",
];

fn paths() -> Vec<String> {
    LOGS.map(|name| fixture(name).path().to_owned()).into()
}

fn arguments<'a>(folder: &'a Path, logs: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let folder = folder.to_str().expect("UTF-8");
    let mut arguments = vec!["export", "--dataset", folder];
    arguments.extend(more);
    arguments.extend(logs.iter().map(String::as_str));
    arguments
}

/// Adds logs; returns the exit status and standard error.
fn export(folder: &Path, logs: &[String], more: &[&str]) -> (Option<i32>, String) {
    let output = eventscope(&arguments(folder, logs, more));
    assert!(output.stdout.is_empty());
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    (output.status.code(), stderr)
}

/// Returns all files of a data set but views and locks, with their contents; entries of the manifest without dates.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).expect("a file");
            match path.extension().and_then(|end| end.to_str()) {
                Some("sql" | "lock") => continue,
                Some("json") => {
                    let mut entry: Value = serde_json::from_slice(&bytes).expect("JSON");
                    entry["added"] = Value::Null;
                    bytes = entry.to_string().into_bytes();
                }
                _ => {}
            }
            let name = path.strip_prefix(folder).expect("a path below");
            found.insert(name.to_owned(), bytes);
        }
    }
    found
}

fn undisturbed() -> (TempDir, BTreeMap<PathBuf, Vec<u8>>) {
    let folder = TempDir::new().expect("a folder");
    let (status, stderr) = export(folder.path(), &paths(), &[]);
    assert_eq!(
        (status, stderr.contains("8 logs added (1 damaged)")),
        (Some(0), true),
        "{stderr}"
    );
    let contents = contents(folder.path());
    (folder, contents)
}

#[track_caller]
fn assert_same(found: &BTreeMap<PathBuf, Vec<u8>>, expected: &BTreeMap<PathBuf, Vec<u8>>) {
    let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{}", name.display());
    }
}

#[test]
fn killed_exports_go_on_where_they_were() {
    let (_folder, expected) = undisturbed();
    let folder = TempDir::new().expect("a folder");
    let logs = paths();
    let (mut killed, mut half) = (0, 0);
    for attempt in 0..40_u64 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
        // Leftovers of another partition must not stay either.
        let other = ["--set", "host=elsewhere"];
        let more = if attempt % 3 == 2 { &other[..] } else { &[] };
        command
            .args(arguments(folder.path(), &logs[..4], more))
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("eventscope runs");
        std::thread::sleep(Duration::from_millis(1 + attempt * 17 % 160));
        child.kill().expect("killed, or at its end");
        killed += u32::from(child.wait().expect("a status").code().is_none());
        let manifest = folder.path().join("manifest");
        if let Ok(entries) = fs::read_dir(&manifest) {
            let started = entries.flatten();
            let started = started.filter(|e| e.file_name().to_string_lossy().ends_with(".started"));
            half += started.count().min(1);
        }
        // Nothing of what was added elsewhere remains for the comparison.
        if attempt % 3 == 2 {
            remove_elsewhere(folder.path());
        }
    }
    assert!(
        killed > 5 && half > 2,
        "{killed} killed, {half} half-written"
    );
    let (status, stderr) = export(folder.path(), &logs, &[]);
    assert_eq!(status, Some(0), "{stderr}");
    assert_same(&contents(folder.path()), &expected);
}

/// A process that ends while it adds a log, as for lack of memory, takes no other log along.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_costs_one_log() {
    let (_folder, expected) = undisturbed();
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
    command.args(arguments(folder.path(), &paths(), &["--jobs", "1"]));
    let mut program = command.stderr(Stdio::null()).spawn().expect("it runs");
    let child = std::iter::repeat_with(|| child_of(program.id()))
        .take(10_000)
        .find_map(|child| child)
        .expect("a process for a log");
    let kill = Command::new("kill").args(["-KILL", &child]).status();
    assert!(kill.expect("kill runs").success());
    assert_eq!(program.wait().expect("a status").code(), Some(0));
    let entries = fs::read_dir(folder.path().join("manifest")).expect("a folder");
    let entries = entries.map(|entry| fs::read_to_string(entry.expect("an entry").path()));
    let entries: Vec<String> = entries.map(|entry| entry.expect("a text")).collect();
    // Of each log, and nothing is left over.
    assert_eq!(entries.len(), LOGS.len());
    let crashed = entries.iter().filter(|entry| entry.contains("SIGKILL"));
    assert_eq!(crashed.count(), 1);
    let (status, stderr) = export(folder.path(), &paths(), &[]);
    assert_eq!(status, Some(0), "{stderr}");
    assert_same(&contents(folder.path()), &expected);
}

/// Returns the number of a process that another one started, if there is one.
#[cfg(target_os = "linux")]
fn child_of(parent: u32) -> Option<String> {
    fs::read_dir("/proc").expect("/proc").find_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let stat = fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
        // The name of the program, in parentheses, is followed by the state and the parent.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let (state, of) = (fields.next()?, fields.next()?);
        (state != "Z" && of == parent.to_string()).then_some(name)
    })
}

/// Removes logs that were added completely with another host, and leaves what is half-written.
fn remove_elsewhere(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder.join("manifest")) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let is_entry = path.extension().is_some_and(|end| end == "json");
        if is_entry && text.contains("host=elsewhere") {
            let entry: Value = serde_json::from_str(&text).expect("JSON");
            let tables = entry["tables"].as_object().expect("tables");
            for rows in tables.values() {
                fs::remove_file(folder.join(rows["file"].as_str().expect("a file")))
                    .expect("removed");
            }
            fs::remove_file(path).expect("removed");
        }
    }
}

#[test]
fn several_processes_add_the_same_logs() {
    let (_folder, expected) = undisturbed();
    let folder = TempDir::new().expect("a folder");
    let logs = paths();
    let run = |_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
        command
            .args(arguments(folder.path(), &logs, &[]))
            .stderr(Stdio::piped());
        command.spawn().expect("eventscope runs")
    };
    let children: Vec<_> = (0..3).map(run).collect();
    let mut added = 0;
    for child in children {
        let output = child.wait_with_output().expect("a status");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(output.status.success(), "{stderr}");
        let last = stderr.lines().last().expect("a line");
        let count = last
            .strip_prefix("eventscope: ")
            .and_then(|line| line.split(' ').next());
        added += count
            .and_then(|count| count.parse::<u32>().ok())
            .expect("a number");
    }
    assert_eq!(added, 8);
    assert_same(&contents(folder.path()), &expected);
}

#[test]
fn bad_logs_do_not_fail_the_others() {
    let (folder, input) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let bad = input.path().join("bad.eventlog");
    fs::write(&bad, "GIF89a").expect("a file");
    fs::create_dir(input.path().join("deep")).expect("a folder");
    let good = input.path().join("deep/good.eventlog");
    fs::copy(fixture("ghc-9.6.6/sparks-N2-ls").path(), good).expect("a copy");
    fs::write(input.path().join("notes.txt"), "none").expect("a file");
    let logs = [input.path().to_str().expect("UTF-8").to_owned()];
    let (status, stderr) = export(folder.path(), &logs, &[]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stderr.contains("bad.eventlog: This is not an eventlog"),
        "{stderr}"
    );
    assert!(
        stderr.contains("1 log added, 1 could not be read (see "),
        "{stderr}"
    );
    let (status, _) = export(folder.path(), &logs, &["--strict"]);
    assert_eq!(status, Some(1));
}

#[test]
fn options_are_checked() {
    let folder = TempDir::new().expect("a folder");
    let logs = [fixture("ghc-9.6.6/sparks-N2-ls").path().to_owned()];
    let never = folder.path().join("never");
    for (more, status, why) in [
        (
            &["--partition", "app,version"][..],
            1,
            "--set version=VALUE",
        ),
        (&["--partition", "App"], 1, "small letters"),
        (
            &["--without", "event"],
            2,
            "the tables that can be left out",
        ),
        (&["--set", "day=tomorrow"], 2, "2026-01-31"),
        (&["--set", "host"], 2, "KEY=VALUE"),
        (&["--name-pattern", "{a"], 2, "not closed"),
        (&["--format", "csv"], 2, "cannot be used with"),
        (&["--from", "1s"], 2, "cannot be used with"),
        (
            &["--texts", "keep", "--anonymise"],
            2,
            "cannot be used with",
        ),
    ] {
        let (code, stderr) = export(&never, &logs, more);
        assert_eq!(code, Some(status), "{more:?} {stderr}");
        assert!(stderr.contains(why), "{more:?} {stderr}");
        assert!(!never.exists(), "{more:?}");
    }
    let path = logs[0].as_str();
    assert_eq!(
        eventscope(&["export", "--set", "a=b", path]).status.code(),
        Some(2)
    );
    assert_eq!(eventscope(&["export", path]).status.code(), Some(2));
    let never = never.to_str().expect("UTF-8");
    let output = eventscope(&["compact", never]);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(stderr.contains("is not a data set"), "{stderr}");
    assert_eq!(output.status.code(), Some(1));

    let (status, _) = export(
        folder.path(),
        &logs,
        &["--partition", "app,zone", "--set", "zone=eu"],
    );
    assert_eq!(status, Some(0));
    assert!(folder.path().join("runs/app=sparks/zone=eu").is_dir());
    // It refuses other keys before it asks for their values.
    for keys in ["app", "app,version"] {
        let (status, stderr) = export(folder.path(), &logs, &["--partition", keys]);
        assert_eq!(status, Some(1));
        assert!(stderr.contains("leave --partition out"), "{stderr}");
    }
}

#[test]
fn killed_compactions_lose_nothing() {
    let (template, _) = undisturbed();
    let dataset = template.path().to_str().expect("UTF-8");
    let rows = rows_by_file(template.path());
    for attempt in 0..6 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
        command.args(["compact", dataset]).stderr(Stdio::null());
        let mut child = command.spawn().expect("eventscope runs");
        std::thread::sleep(Duration::from_millis(3 + attempt * 13));
        child.kill().expect("killed, or at its end");
        child.wait().expect("a status");
        let (status, stderr) = export(template.path(), &paths(), &[]);
        assert_eq!(status, Some(0));
        assert!(
            stderr.contains("0 logs added, 8 already in the data set"),
            "{stderr}"
        );
        assert_eq!(rows_by_file(template.path()), rows);
    }
    assert!(eventscope(&["compact", dataset]).status.success());
    assert_eq!(rows_by_file(template.path()), rows);
}

/// Sums of rows by table: as the manifest says, if all its files are there; and the files have no others.
fn rows_by_file(folder: &Path) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for entry in fs::read_dir(folder.join("manifest")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "json") {
            let text = fs::read_to_string(path).expect("a text");
            let entry: Value = serde_json::from_str(&text).expect("JSON");
            for (table, rows) in entry["tables"].as_object().expect("tables") {
                let file = folder.join(rows["file"].as_str().expect("a file"));
                assert!(file.exists(), "{}", file.display());
                *sums.entry(table.clone()).or_default() += rows["rows"].as_u64().expect("a number");
            }
        }
    }
    sums
}
