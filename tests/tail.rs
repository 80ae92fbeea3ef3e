//! `eventscope tail` prints the events of the complete log, whatever the source.

use crate::common;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use common::{cases, fixture, stdout};

/// Complete, undamaged logs.
const SOUND: [&str; 4] = [
    "ghc-9.6.6/dense-N2-l-flush",
    "ghc-9.6.6/fib-forkio-N2-l",
    "ghc-9.6.6/gc-heavy-N2-la-nonmoving",
    "ghc-9.6.6/heap-N2-hT-l-au",
];

fn log(name: &str) -> String {
    let case = cases().into_iter().find(|case| case.name == name);
    let path = case.expect("a fixture").log;
    path.to_str().expect("UTF-8").to_owned()
}

/// Runs `eventscope tail` to its end, with `meanwhile` on another thread.
fn tail(arguments: &[&str], meanwhile: impl FnOnce() + Send) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .arg("tail")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("eventscope runs");
    thread::scope(|scope| {
        scope.spawn(meanwhile);
        program.wait_with_output().expect("an end")
    })
}

fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_heap_profile_in_text_is_not_followed() {
    let path = log("ghc-9.6.6/heap-N2-hT-l-au").replace(".eventlog", ".hp");
    let output = tail(&[&path], || ());
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains(&format!("eventscope heap {path}")), "{said}");
}

#[test]
fn a_finished_log_is_printed_as_by_the_other_commands() {
    for name in SOUND {
        let log = log(name);
        // A window longer than the log delays all output to the end, so that it is in order.
        let window = ["--window", "3600"];
        let events = stdout(&["events", &log, "--json"]);
        let came = stdout(&["tail", &log, "--json", window[0], window[1]]);
        assert!(came == events, "{name}");

        let mut spans: Vec<String> = stdout(&["spans", &log, "thread-state"])
            .lines()
            .map(str::to_owned)
            .collect();
        for gc in stdout(&["spans", &log, "gc"]).lines() {
            let cells: Vec<&str> = gc.split('\t').collect();
            spans.push(format!(
                "\tGC\t{}\t\t{}\t{}\t",
                cells[0], cells[1], cells[2]
            ));
        }
        let came = stdout(&["tail", &log, "--what", "spans", window[0], window[1]]);
        let mut came: Vec<String> = came.lines().map(str::to_owned).collect();
        spans.sort();
        came.sort();
        assert!(came == spans, "{name}");

        let numbers = stdout(&["tail", &log, "--what", "numbers", window[0], window[1]]);
        let count = |row: &str| {
            row.split('\t')
                .nth(1)
                .and_then(|cell| cell.parse::<usize>().ok())
        };
        let sum: usize = numbers.lines().filter_map(count).sum();
        assert_eq!(sum, events.lines().count(), "{name}");
    }
}

#[test]
fn a_file_that_grows_is_printed_to_its_end() {
    let log = log(SOUND[0]);
    let bytes = fs::read(&log).expect("a log");
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("grows.eventlog");
    fs::write(&path, &bytes[..70_001]).expect("room");
    let place = path.to_str().expect("UTF-8");
    let output = tail(&[place, "--json", "--window", "3600"], || {
        for piece in bytes[70_001..].chunks(20_011) {
            thread::sleep(Duration::from_millis(50));
            let file = OpenOptions::new().append(true).open(&path);
            file.and_then(|mut file| file.write_all(piece))
                .expect("room");
        }
    });
    let events = stdout(&["events", &log, "--json"]);
    // When no data arrives for a moment, delayed events are printed, so that the order may differ.
    let (mut came, mut all) = (lines(&output), Vec::new());
    all.extend(events.lines().map(str::to_owned));
    came.sort();
    all.sort();
    assert!(came == all, "{}", said(&output));
}

#[test]
fn a_file_that_was_begun_anew_is_printed_from_its_start() {
    let (first, second) = (log(SOUND[0]), log(SOUND[1]));
    let bytes = fs::read(&first).expect("a log");
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("again.eventlog");
    fs::write(&path, &bytes[..150_000]).expect("room");
    let output = tail(
        &[path.to_str().expect("UTF-8"), "--json", "--window", "3600"],
        || {
            thread::sleep(Duration::from_millis(700));
            fs::copy(&second, &path).expect("room");
        },
    );
    assert!(said(&output).contains("truncated"), "{}", said(&output));
    let events = stdout(&["events", &second, "--json"]);
    let came = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(came.ends_with(&events), "{}", said(&output));
    assert!(came.len() > events.len());
}

#[test]
fn a_connection_is_tried_again() {
    let log = log(SOUND[1]);
    let bytes = fs::read(&log).expect("a log");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let place = format!("tcp:{address}");
    let output = tail(&[&place, "--json", "--window", "3600"], || {
        // Nothing listens on the port at first.
        thread::sleep(Duration::from_millis(400));
        let listener = TcpListener::bind(address).expect("the port");
        for len in [9_000, bytes.len()] {
            let (mut stream, _) = listener.accept().expect("a connection");
            for piece in bytes[..len].chunks(1_234) {
                stream.write_all(piece).expect("somebody reads");
                thread::sleep(Duration::from_millis(2));
            }
        }
    });
    let said = said(&output);
    assert!(said.contains("no connection"), "{said}");
    assert!(said.contains("reconnected: a new log begins"), "{said}");
    let events = stdout(&["events", &log, "--json"]);
    let came = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        came.ends_with(&events) && came.len() > events.len(),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn sockets_of_this_computer_are_read() {
    use std::os::unix::net::UnixListener;

    let log = log(SOUND[1]);
    let bytes = fs::read(&log).expect("a log");
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("log.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let place = format!("unix:{}", path.display());
    let output = tail(&[&place, "--json", "--window", "3600"], || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(&bytes).expect("somebody reads");
    });
    let events = stdout(&["events", &log, "--json"]);
    assert!(output.stdout == events.as_bytes(), "{}", said(&output));
    assert!(output.status.success());
}

/// A capability that writes late: events after later ones are printed and reported.
#[test]
fn how_late_events_are_is_said() {
    let log = log(SOUND[0]);
    let output = tail(&[&log, "--json", "--window", "0"], || {});
    let said = said(&output);
    assert!(said.contains("events arrived after later ones"), "{said}");
    let events = stdout(&["events", &log, "--json"]);
    assert_eq!(lines(&output).len(), events.lines().count());
}

#[test]
fn what_is_no_log_says_so() {
    let output = tail(&["Cargo.toml"], || {});
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("not an eventlog"),
        "{}",
        said(&output)
    );
    for no_place in ["tcp:localhost", "tcp:localhost:99999"] {
        let output = tail(&[no_place], || {});
        assert_eq!(output.status.code(), Some(2), "{no_place}");
    }
}

/// Another file may take the name of the one that is read, with any length, or the name may be absent for a while.
#[test]
fn a_file_that_was_replaced_or_deleted_is_noticed() {
    let (first, second) = (log(SOUND[0]), log(SOUND[1]));
    let bytes = fs::read(&first).expect("a log");
    let other = fs::read(&second).expect("a log");
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("replaced.eventlog");
    // No longer than the replacement, so that the length does not reveal it.
    let len = other.len().min(bytes.len()) / 2;
    fs::write(&path, &bytes[..len]).expect("room");
    let output = tail(
        &[path.to_str().expect("UTF-8"), "--json", "--window", "3600"],
        || {
            thread::sleep(Duration::from_millis(700));
            fs::remove_file(&path).expect("the file");
            thread::sleep(Duration::from_millis(700));
            let new = folder.path().join("new");
            fs::write(&new, &other).expect("room");
            fs::rename(new, &path).expect("room");
        },
    );
    let said = said(&output);
    let deleted =
        "the file was deleted; it is still read, and a new file of the same name will be followed";
    assert_eq!(said.matches(deleted).count(), 1, "{said}");
    assert!(
        said.contains("file was replaced: a new log begins"),
        "{said}"
    );
    let events = stdout(&["events", &second, "--json"]);
    let came = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(came.ends_with(&events), "{said}");
}

/// Stale bytes before a log are skipped, as in `eventscope events`.
#[test]
fn a_log_behind_stale_bytes_is_printed() {
    let log = fs::read(log(SOUND[1])).expect("a log");
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("stale.eventlog");
    fs::write(&path, [b"what was there before\n", &log[..]].concat()).expect("room");
    let path = path.to_str().expect("UTF-8");
    let output = tail(&[path, "--json", "--window", "3600"], || {});
    let events = stdout(&["events", path, "--json"]);
    assert!(output.stdout == events.as_bytes(), "{}", said(&output));
}

#[test]
fn a_compressed_log_is_read_to_its_end() {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&log.bytes()).expect("memory");
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("log.gz");
    fs::write(&path, gzip.finish().expect("memory")).expect("a file");
    let path = path.to_str().expect("UTF-8");
    for what in ["events", "spans", "numbers"] {
        let packed = common::eventscope(&["tail", path, "--what", what]);
        assert_eq!(packed.status.code(), Some(0), "{packed:?}");
        let plain = common::stdout(&["tail", log.path(), "--what", what]);
        assert!(!plain.is_empty());
        assert_eq!(String::from_utf8_lossy(&packed.stdout), plain, "{what}");
    }
}
