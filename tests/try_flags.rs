//! `eventscope try` with small scripts that behave like programs compiled by GHC: they accept `+RTS`, write a log
//! to the file that `-ol` names, and sleep for a time that depends on their flags.
#![cfg(unix)]

use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use common::{eventscope, finding_log};

/// Folder with a script that executes `body` after setting `$log` and `$flags`.
struct Program {
    folder: TempDir,
}

impl Program {
    fn new(body: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let log = finding_log("nursery-too-small-found");
        let script = format!(
            "#!/bin/sh\nlog= flags=' '\nfor word in \"$@\"; do\n\
             case $word in -ol*) log=${{word#-ol}};; *) flags=\"$flags$word \";; esac\ndone\n\
             write_log() {{ if [ -n \"$log\" ]; then cp '{}' \"$log\"; fi; }}\n{body}\n",
            log
        );
        let program = Self { folder };
        let path = program.path("program");
        fs::write(&path, script).expect("the script is written");
        let all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, all).expect("the script can be run");
        program
    }

    fn path(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("UTF-8").to_owned()
    }

    /// Runs `eventscope try` with these options and program arguments.
    fn run(&self, options: &[&str], arguments: &[&str]) -> Output {
        let program = self.path("program");
        let mut words = vec!["try"];
        words.extend(options);
        words.extend(["--", program.as_str()]);
        words.extend(arguments);
        eventscope(&words)
    }

    /// Runs `eventscope try` on a program that it rejects. Returns the error message.
    fn refusal(&self, options: &[&str]) -> String {
        let output = self.run(options, &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    }
}

fn candidate<'a>(document: &'a Value, flag: &str) -> &'a Value {
    let all = document["candidates"].as_array().expect("a list");
    let is = |one: &&Value| one["flags"] == serde_json::json!([flag]);
    all.iter()
        .find(is)
        .unwrap_or_else(|| panic!("{flag} is not there: {document}"))
}

#[test]
fn the_better_flag_is_found_and_what_goes_wrong_with_others_is_told() {
    let program = Program::new(
        "write_log\n\
         case $flags in\n\
         *' -A64m '*) echo same;;\n\
         *' -A16m '*) exec sleep 100;;\n\
         *' -A4m '*) echo other;;\n\
         *) echo same; sleep 0.25;;\n\
         esac",
    );
    let output = program.run(
        &["--json", "--runs", "6"],
        &["a b", "+RTS", "-A256k", "-lsg"],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let best = &document["recommendation"];
    assert_eq!(best["flags"], "-A64m", "{document}");
    assert_eq!(best["line"], "ghc … \"-with-rtsopts=-A64m\"");
    let faster = candidate(&document, "-A64m");
    assert_eq!(candidate(&document, "-A16m")["rule"], "nursery-too-small");
    assert_eq!(faster["wall"]["claim"], "changed");
    assert_eq!(faster["runs"]["wall_ns"].as_array().map(Vec::len), Some(6));
    assert_eq!(candidate(&document, "-A16m")["state"], "timed-out");
    let other = candidate(&document, "-A4m");
    assert_eq!(other["state"], "other-output");
    assert_eq!(other["why"], "prints 6 bytes, without the flags 5");
    let command = document["command"].as_str().expect("a text");
    assert!(command.ends_with("'a b' +RTS -A256k"), "{command}");
    let progress = String::from_utf8_lossy(&output.stderr);
    for part in [
        "+RTS -A256k -lsg -ol",
        "nursery-too-small",
        "round 6 of 6: unchanged 0.",
    ] {
        assert!(progress.contains(part), "{progress}");
    }
}

#[test]
fn a_table_tells_that_nothing_is_better() {
    // Each run reads the whole input, which is opened anew.
    let program = Program::new("write_log; read line; echo \"$line\"; [ \"$line\" = hello ]");
    let input = program.path("input");
    fs::write(&input, "hello\n").expect("the input is written");
    let output = program.run(&["--stdin", &input, "--budget", "1m"], &["+RTS", "-A64m"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut lines = text.lines();
    assert!(
        lines
            .next()
            .is_some_and(|line| line.trim_start().starts_with("wall")),
        "{text}"
    );
    assert!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("unchanged")),
        "{text}"
    );
    assert!(text.contains("\n-A16m "), "{text}");
}

#[test]
fn the_budget_ends_the_runs() {
    let program = Program::new("write_log; sleep 0.3");
    let output = program.run(&["--budget", "1s", "--json"], &[]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["within_budget"], false);
    assert_eq!(document["recommendation"]["flags"], Value::Null);
    let spent = document["spent_ns"].as_u64().expect("a number");
    // Runs in progress are killed when the time is over.
    assert!(spent < 3_000_000_000, "{spent}");
    let sentence = document["recommendation"]["sentence"].as_str();
    assert!(
        sentence.is_some_and(|text| text.starts_with("Too few runs")),
        "{sentence:?}"
    );
}

#[test]
fn a_program_that_cannot_be_tried_is_told_what_to_do() {
    let no_options = "echo 'program: Most RTS options are disabled. Link with -rtsopts to enable them.' >&2; exit 1";
    let no_log = "echo 'program: the flag -l requires the program to be built with -eventlog or -debug' >&2; exit 1";
    for (body, told) in [
        (no_options, "link it with -rtsopts"),
        (no_log, "link it with -eventlog"),
        (
            "echo 'no such table' >&2; exit 3",
            "ended with status 3, not 0: no such table",
        ),
        ("kill -9 $$", "the program was killed by a signal"),
        ("echo hello", "the program wrote no log"),
        ("echo broken > \"$log\"", "could not read the log"),
    ] {
        let refusal = Program::new(body).refusal(&[]);
        assert!(refusal.contains(told), "{body}: {refusal}");
    }
    let hangs = Program::new("write_log; exec sleep 100");
    let refusal = hangs.refusal(&["--timeout", "300ms"]);
    assert!(refusal.contains("did not end within 0.3 s"), "{refusal}");
    let input = hangs.refusal(&["--stdin", "no such file"]);
    assert!(input.contains("--stdin no such file: "), "{input}");

    let missing = eventscope(&["try", "--", "./no-such-program"]);
    assert_eq!(missing.status.code(), Some(1));
    let told = String::from_utf8_lossy(&missing.stderr);
    assert!(
        told.contains("program ./no-such-program not found") && !told.contains("name one"),
        "{told}"
    );
    let missing = eventscope(&["try", "--", "no-such-program"]);
    let hint = String::from_utf8_lossy(&missing.stderr);
    assert!(
        hint.contains("its path, such as ./no-such-program"),
        "{hint}"
    );
    // The options of the program are its own, with or without -- before it.
    let plain = eventscope(&["try", "./no-such-program", "--json", "+RTS", "-N2"]);
    let told = String::from_utf8_lossy(&plain.stderr);
    let own = "one run with a log: ./no-such-program --json +RTS -N2";
    assert!(told.contains(own), "{told}");
}

#[test]
fn another_exit_status_can_be_that_of_success() {
    let program = Program::new("write_log; exit 3");
    let output = program.run(&["--status", "3", "--runs", "4", "--json"], &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let wrong = program.run(&["--runs", "3"], &[]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn findings_name_the_command() {
    let log = finding_log("nursery-too-small-found");
    let command = "eventscope try -- ./KeepTable 20000 500000 +RTS -A256k";
    let text = common::stdout(&["findings", &log]);
    assert_eq!(
        text.lines().next_back(),
        Some(format!("To measure the proposed flags: {command}").as_str())
    );
    let json: Value =
        serde_json::from_str(&common::stdout(&["findings", &log, "--json"])).expect("JSON");
    assert_eq!(json["try_command"], command);
    // No finding in this log advises an RTS flag.
    let clear = finding_log("nursery-too-small-clear");
    assert!(!common::stdout(&["findings", &clear]).contains("eventscope try"));
}
