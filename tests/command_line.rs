//! Guarantees of the command line for any log: no output that a terminal interprets, rows that stay rows, pipes
//! that work like files, and a sentence with an exit status for every failure.
#![cfg(unix)]

use crate::common;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use common::build::{LogBuilder, TYPES};
use common::{eventscope, fixture, stdout};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value as Json;

/// Texts with control characters, bidirectional overrides, separators and spreadsheet formulas.
const TEXTS: [&str; 10] = [
    "\u{1b}[31mRED\u{1b}]0;TITLE\u{7}\u{1b}[2J",
    "nul\0inside",
    "c1 \u{9b}2J \u{90}",
    "right \u{202e}tfel\u{202c} \u{2066}isolated\u{2069}",
    "tab\tline\nreturn\rend",
    "back\\slash \\t",
    "=cmd|'/C calc'!A0",
    "@SUM(1+1), \"quoted\"",
    "-1+2",
    "+3",
];

/// File that is deleted when dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let name = format!("eventscope-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).expect("a file");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Builds a log whose labels, messages, spans and arguments are [`TEXTS`].
fn log_with_control_characters() -> Vec<u8> {
    let mut types = TYPES.to_vec();
    types.extend([
        (25, Some(8), "Create capability set"),
        (29, None, "Identify the RTS version"),
        (30, None, "Program arguments"),
    ]);
    let mut log = LogBuilder::with_types(&types);
    log.block(None, (1, 5), |b| {
        let arguments = [&[0; 4], TEXTS.join("\0").as_bytes()].concat();
        b.event(
            29,
            2,
            &[&[0; 4], "GHC-9.10.3 \u{1b}[31mrts".as_bytes()].concat(),
        )
        .event(30, 3, &arguments)
    });
    log.block(Some(0), (10, 10_000), |b| {
        for (i, text) in (0u32..).zip(TEXTS) {
            let at = 100 * u64::from(i) + 10;
            let id = (i + 1).to_be_bytes();
            b.event(0, at, &id)
                .event(44, at + 1, &[&id, text.as_bytes()].concat())
                .run(at + 2, i + 1)
                .event(19, at + 3, format!("START {text}").as_bytes())
                .event(19, at + 4, format!("STOP {text}").as_bytes())
                .stop(at + 5, i + 1, 1);
        }
        // Stops a thread that does not run, so that `check` prints its label.
        b.stop(5000, 1, 1)
    });
    log.end().bytes.clone()
}

/// Returns whether a terminal interprets a character, or reorders the text around it.
fn is_terminal_control(c: char) -> bool {
    (c.is_control() && !"\t\n".contains(c))
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let log = Temporary::new(
        "nasty\u{1b}[31m\u{202e}.eventlog",
        &log_with_control_characters(),
    );
    let commands: [&[&str]; 14] = [
        &["info"],
        &["info", "--json"],
        &["events"],
        &["events", "--json"],
        &["check"],
        &["check", "--json"],
        &["threads"],
        &["threads", "--json"],
        &["summary"],
        &["flamegraph", "--source", "spans"],
        &["flamegraph", "--source", "spans", "--format", "folded"],
        &["flamegraph", "--source", "spans", "--format", "speedscope"],
        &["flamegraph", "--source", "spans", "--format", "svg"],
        &["flamegraph", "--source", "waiting", "--json"],
    ];
    for command in commands {
        let output = eventscope(&[command, &[log.path()]].concat());
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(printed.len() > 50, "{command:?}: {printed}");
        assert!(
            !printed.contains(is_terminal_control),
            "{command:?}: {printed:?}"
        );
    }
    // Error messages that contain the name of a missing file.
    let gone = format!("{}.gone\n\u{7}", log.path());
    for arguments in [["info", &gone], ["threads", &gone]] {
        let output = eventscope(&arguments);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said.contains("No such file") && said.lines().count() == 1,
            "{said}"
        );
        assert!(!said.contains(is_terminal_control), "{said:?}");
    }
}

/// Heap profile in text whose labels and arguments are [`TEXTS`].
#[test]
fn nothing_of_a_heap_profile_is_obeyed_either() {
    let texts = TEXTS.map(|text| text.replace(['\n', '\r', '\0'], "?"));
    let mut file = format!("JOB \"{}\"\n", texts.join(" "));
    for (number, text) in texts.iter().enumerate() {
        file += &format!("BEGIN_SAMPLE {number}\n{text}\t{number}00\nEND_SAMPLE {number}\n");
    }
    let log = Temporary::new("nasty.hp", file.as_bytes());
    let commands: [&[&str]; 7] = [
        &["heap"],
        &["heap", "--json"],
        &["heap", "--tsv", "--header"],
        &["heap", "--csv"],
        &["heap", "--censuses", "--json"],
        &["heap", "--between", "1", "2"],
        &["heap", "--eventlog2html"],
    ];
    for command in commands {
        let output = eventscope(&[command, &[log.path()]].concat());
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        // CSV lines end in CRLF.
        let printed = printed.replace("\r\n", "\n");
        assert!(printed.len() > 50, "{command:?}: {printed}");
        assert!(
            !printed.contains(is_terminal_control),
            "{command:?}: {printed:?}"
        );
    }
    let chart = Temporary::new("nasty.svg", b"");
    eventscope(&["heap", log.path(), "--chart", chart.path()]);
    let picture = fs::read_to_string(chart.path()).expect("a picture");
    assert!(
        picture.contains("<svg") && !picture.contains(is_terminal_control),
        "{picture}"
    );
}

#[test]
fn rows_and_columns_stay_whole() {
    let log = Temporary::new("rows.eventlog", &log_with_control_characters());
    let threads = stdout(&["threads", log.path(), "--header"]);
    let rows: Vec<Vec<&str>> = threads
        .lines()
        .map(|row| row.split('\t').collect())
        .collect();
    assert_eq!(rows.len(), TEXTS.len() + 1);
    assert!(
        rows.iter().all(|row| row.len() == rows[0].len()),
        "{threads}"
    );
    let labels: Vec<String> = rows[1..]
        .iter()
        .map(|row| common::show::unescape(row[1]))
        .collect();
    assert_eq!(labels, TEXTS, "escapes are undone by their rule");
    let events = stdout(&["events", log.path()]);
    assert_eq!(events.lines().count(), 6 * TEXTS.len() + 3);
    assert!(
        events.lines().all(|row| row.split('\t').count() == 4),
        "{events}"
    );
}

#[test]
fn json_is_exact() {
    let log = Temporary::new("json.eventlog", &log_with_control_characters());
    let threads: Json =
        serde_json::from_str(&stdout(&["threads", log.path(), "--json"])).expect("JSON");
    let labels: Vec<&str> = threads
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["label"].as_str().expect("a label"))
        .collect();
    assert_eq!(labels, TEXTS);
    let info: Json = serde_json::from_str(&stdout(&["info", log.path(), "--json"])).expect("JSON");
    assert_eq!(info["rts"], "GHC-9.10.3 \u{1b}[31mrts");
}

/// Parses CSV (RFC 4180) into cells.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

#[test]
fn a_spreadsheet_runs_no_label() {
    let log = Temporary::new("csv.eventlog", &log_with_control_characters());
    let labels = |options: &[&str]| -> Vec<String> {
        let rows = csv(&stdout(
            &[&["threads", log.path(), "--csv"], options].concat(),
        ));
        assert_eq!(rows.len(), TEXTS.len());
        // Numeric cells are not escaped.
        assert!(
            rows.iter().all(|row| row[5].parse() == Ok(3u64)),
            "{rows:?}"
        );
        rows.into_iter().map(|row| row[1].clone()).collect()
    };
    let (safe, raw) = (labels(&[]), labels(&["--raw"]));
    let formula = |text: &String| text.starts_with(['=', '+', '-', '@']);
    assert!(!safe.iter().any(formula), "{safe:?}");
    assert_eq!(
        raw.iter().filter(|text| formula(text)).count(),
        4,
        "{raw:?}"
    );
    for (safe, raw) in safe.iter().zip(&raw) {
        assert_eq!(safe.trim_start_matches('\''), raw);
    }
}

/// Runs `eventscope` with `input` on its standard input.
fn with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("eventscope runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads all");
    output
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let (path, bytes) = (log.path(), log.bytes());
    let commands: [&[&str]; 8] = [
        &["info"],
        &["info", "--json"],
        &["events"],
        &["check"],
        &["spans", "gc"],
        &["summary"],
        &["threads"],
        &["flamegraph"],
    ];
    for command in commands {
        let (name, rest) = command.split_first().expect("a name");
        let from_file = eventscope(&[&[*name, path], rest].concat());
        for place in ["-", "/dev/stdin"] {
            let piped = with_input(&[&[*name, place], rest].concat(), &bytes);
            assert_eq!(piped.status, from_file.status, "{command:?}");
            assert!(piped.stdout == from_file.stdout, "{command:?} {place}");
        }
    }
}

/// Rows of `info` differ in what they say, but not in their columns.
#[test]
fn rows_of_info_have_the_columns_of_the_header() {
    for name in ["dense-N2-l-flush", "heap-N2-hT-l-au"] {
        let log = fixture(&format!("ghc-9.6.6/{name}"));
        let text = stdout(&["info", log.path(), "--header"]);
        let columns: Vec<usize> = text.lines().map(|row| row.split('\t').count()).collect();
        assert!(
            columns.len() > 10 && columns.iter().all(|count| *count == 4),
            "{text}"
        );
        let text = stdout(&["info", log.path(), "--csv", "--header"]);
        // Commas between quotes are a part of a cell.
        let commas = |row: &str| -> usize {
            let unquoted = row.split('"').step_by(2);
            unquoted.map(|part| part.matches(',').count()).sum()
        };
        assert!(text.lines().all(|row| commas(row) == 3), "{text}");
        let plain = stdout(&["info", log.path(), "--csv"]);
        assert_eq!(
            text.split_once('\n').map(|(_, rows)| rows),
            Some(plain.as_str())
        );
    }
}

#[test]
fn little_memory_changes_nothing() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&log.bytes()).expect("memory");
    let packed = Temporary::new("packed.gz", &gzip.finish().expect("memory"));
    for command in ["events", "summary", "threads", "time"] {
        let expected = stdout(&[command, log.path()]);
        for file in [log.path(), packed.path()] {
            assert!(
                stdout(&[command, file, "--memory", "0"]) == expected,
                "{command} {file}"
            );
        }
    }
}

#[test]
fn a_fifo_is_read() {
    let folder = Temporary::new("fifo", b"");
    let fifo = format!("{}.pipe", folder.path());
    let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let (bytes, to) = (log.bytes(), fifo.clone());
    let writer = std::thread::spawn(move || fs::write(to, bytes));
    let read = stdout(&["info", &fifo]);
    writer.join().expect("no panic").expect("it reads all");
    fs::remove_file(&fifo).expect("it is there");
    assert_eq!(read, stdout(&["info", log.path()]));
}

/// Runs `eventscope` with its standard output and standard error redirected.
fn run_redirected(arguments: &[&str], out: Stdio, err: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
    let child = command.args(arguments).stdout(out).stderr(err).spawn();
    child
        .expect("eventscope runs")
        .wait_with_output()
        .expect("it ends")
}

#[test]
fn a_full_disk_is_told() {
    let full = || File::create("/dev/full");
    if full().is_err() {
        return; // not every system has this device
    }
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let path = log.path();
    for command in [
        &["events", path] as &[&str],
        &["spans", path, "gc"],
        &["flamegraph", path, "--out", "/dev/full"],
    ] {
        let out = full().expect("the device").into();
        let output = run_redirected(command, out, Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("No space left on device") && !said.contains("os error"),
            "{said}"
        );
    }
    // If standard error cannot be written either, the exit status alone reports the damage.
    let damaged = Temporary::new("cut.eventlog", &log.bytes()[..log.bytes().len() - 7]);
    let output = run_redirected(
        &["info", damaged.path()],
        Stdio::piped(),
        full().expect("the device").into(),
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(!output.stdout.is_empty());
}

#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let mut child = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(["events", log.path()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("eventscope runs");
    let mut some = [0; 10];
    let mut pipe = child.stdout.take().expect("a pipe");
    pipe.read_exact(&mut some).expect("some output");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(141), "128 + SIGPIPE");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_range_that_ends_before_it_begins_is_refused() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let path = log.path();
    for command in [
        &["events", path] as &[&str],
        &["spans", path, "gc"],
        &["threads", path],
        &["summary", path],
        &["flamegraph", path],
    ] {
        let output = eventscope(&[command, &["--from", "10", "--to", "5"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("ends before it begins"), "{said}");
        assert!(output.stdout.is_empty());
    }
}
