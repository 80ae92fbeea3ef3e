//! `eventscope check`: real logs are in order with few exceptions, and each disorder in a synthetic log is
//! reported once.

use crate::common;

use std::io::Write;
use std::process::{Command, Stdio};

use analysis::diagnostics::Fact;
use common::build::{EventTypeDecl, LogBuilder, TYPES};
use common::{MemoryHost, Tally, cases, eventscope, expected_coverage, session_of};
use eventlog::FileSource;
use session::check::CheckQuery;
use session::read_session;
use views::words::diagnostics::{problem_text, sentence, subject_or_none};

/// Real logs with events out of order: the diagnostics, and the reason.
const OUT_OF_ORDER: &[(&str, &[&str], &str)] = &[(
    "ghc-events/testlog-part",
    &["14057000\t2\tthread 15\tis woken, but was never created"],
    "the log is cut: what the other capability wrote is missing",
)];

/// Part of the diagnostic for a capability whose events were never written.
const MISSING: &str = "are missing: the log ends before";

/// Parts of the names of damaged logs, for which `check` reports damage and exits with 1.
const DAMAGED: &[&str] = &["cut-", "killed", "-debug-", "testlog-part", "T23340"];

#[test]
fn real_logs_are_in_order() {
    let mut failures = Vec::new();
    let mut tally = Tally::default();
    for case in cases() {
        let listed = OUT_OF_ORDER.iter().find(|(name, ..)| *name == case.name);
        let expected = listed.map_or(&[][..], |(_, diagnostics, _)| diagnostics);
        let output = eventscope(&["check", case.path()]);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let all: Vec<&str> = stdout.lines().collect();
        let is_missing = |line: &&&str| line.contains(MISSING);
        let found: Vec<&str> = all
            .iter()
            .filter(|line| !is_missing(line))
            .copied()
            .collect();
        let damaged = DAMAGED.iter().any(|part| case.name.contains(part));
        let sound = expected.is_empty() && !damaged;
        let asked = query_diagnostics(case.path());
        if asked != all {
            failures.push(format!("{}: the page says {asked:?}", case.name));
        }
        if (found.len() < all.len() && !damaged)
            || found != expected
            || (sound && !output.status.success())
        {
            failures.push(format!("{}: {found:?}, {}", case.name, output.status));
        }
        tally.add(&case, usize::from(sound));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    tally.finish(expected_coverage([36, 36], [126, 126]));
}

/// Returns the answer to the page's question, formatted as the lines of the command.
fn query_diagnostics(path: &str) -> Vec<String> {
    let mut source = FileSource::open(path.as_ref()).expect("the log is there");
    // A file that is not an eventlog has no diagnostics.
    let Ok(log) = read_session(&mut source) else {
        return Vec::new();
    };
    let file = std::fs::read(path).expect("the log can be read");
    let checked = log
        .ask_with(&CheckQuery, &MemoryHost(&file))
        .expect("the file is there");
    let diagnostics = checked.diagnostics.kept().iter();
    let order = diagnostics.filter_map(|one| match &one.fact {
        Fact::Order { subject, problem } => Some((one, subject.as_ref(), *problem)),
        _ => None,
    });
    let missing = log.diagnostics();
    let missing = missing.kept().iter().filter_map(|one| match one.fact {
        Fact::BufferMissing(cap) => Some((one.start()?.0, cap, sentence(one))),
        _ => None,
    });
    let missing = missing.map(|(at, cap, text)| format!("{at}\t-\tcapability {cap}\t{text}"));
    let line = order.map(|(one, subject, problem)| {
        let cap = one.cap.map_or("-".to_owned(), |cap| cap.to_string());
        let at = one.start().expect("a time").0;
        let subject = subject_or_none(subject);
        format!("{at}\t{cap}\t{subject}\t{}", problem_text(problem))
    });
    line.chain(missing).collect()
}

const CAP_0: Option<u16> = Some(0);
const FINISHED: u16 = 5;
const MVAR: u16 = 7;
const YIELDING: u16 = 3;

fn types() -> Vec<EventTypeDecl> {
    let more = [
        (15, Some(4), "Create spark thread"),
        (38, Some(0), "Spark run"),
        (39, Some(2), "Spark steal"),
        (55, Some(18), "Task create"),
        (56, Some(12), "Task migrate"),
        (57, Some(8), "Task delete"),
    ];
    [TYPES, &more].concat()
}

/// Runs `check` on a log; returns standard output, standard error and the exit status.
fn check_with(arguments: &[&str], log: &LogBuilder) -> (String, String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(["check", "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("eventscope runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(&log.bytes).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code(),
    )
}

fn check(log: &LogBuilder) -> (String, String, Option<i32>) {
    check_with(&[], log)
}

fn on_cap_0(events: impl FnOnce(&mut Events<'_>)) -> LogBuilder {
    let mut log = LogBuilder::with_types(&types());
    log.block(CAP_0, (0, 1000), |log| {
        let mut list = Events { log, time: 0 };
        events(&mut list);
        list.log
    })
    .end();
    log
}

/// Appends events that are one nanosecond apart.
struct Events<'a> {
    log: &'a mut LogBuilder,
    time: u64,
}

impl Events<'_> {
    fn event(&mut self, id: u16, payload: &[&[u8]]) -> &mut Self {
        self.time += 1;
        self.log.event(id, self.time, &payload.concat());
        self
    }
    fn create(&mut self, thread: u32) -> &mut Self {
        self.event(0, &[&thread.to_be_bytes()])
    }
    fn run(&mut self, thread: u32) -> &mut Self {
        self.event(1, &[&thread.to_be_bytes()])
    }
    fn stop(&mut self, thread: u32, status: u16) -> &mut Self {
        self.event(2, &[&thread.to_be_bytes(), &status.to_be_bytes(), &[0; 4]])
    }
    fn migrate(&mut self, thread: u32) -> &mut Self {
        self.event(4, &[&thread.to_be_bytes(), &[0, 1]])
    }
    fn wake(&mut self, thread: u32) -> &mut Self {
        self.event(8, &[&thread.to_be_bytes(), &[0, 1]])
    }
    fn spark_thread(&mut self, thread: u32) -> &mut Self {
        self.event(15, &[&thread.to_be_bytes()])
    }
    fn spark(&mut self) -> &mut Self {
        self.event(38, &[])
    }
    fn task(&mut self, task: u64) -> &mut Self {
        self.event(55, &[&task.to_be_bytes(), &[0, 0], &[0; 8]])
    }
    fn move_task(&mut self, task: u64, from: u16, to: u16) -> &mut Self {
        self.event(
            56,
            &[&task.to_be_bytes(), &from.to_be_bytes(), &to.to_be_bytes()],
        )
    }
    fn end_task(&mut self, task: u64) -> &mut Self {
        self.event(57, &[&task.to_be_bytes()])
    }
}

/// Returns the diagnostics of a log, without time and capability.
fn diagnostics(events: impl FnOnce(&mut Events<'_>)) -> Vec<String> {
    let (out, _, code) = check(&on_cap_0(events));
    assert_eq!(code, Some(i32::from(!out.is_empty())), "{out}");
    let diagnostic = |row: &str| {
        row.splitn(3, '\t')
            .nth(2)
            .expect("columns")
            .replace('\t', " ")
    };
    out.lines().map(diagnostic).collect()
}

#[test]
fn a_log_in_order() {
    let log = on_cap_0(|log| {
        log.create(1).run(1).stop(1, MVAR).wake(1).migrate(1).run(1);
        log.stop(1, YIELDING).run(1).stop(1, FINISHED);
        log.create(2).spark_thread(2).run(2).spark().spark();
        log.stop(2, FINISHED);
        log.task(9).move_task(9, 0, 1).end_task(9);
    });
    let (out, err, code) = check(&log);
    assert_eq!((out.as_str(), code), ("", Some(0)));
    assert_eq!(err, "eventscope: nothing is out of order\n");
}

/// A buffer that a killed program did not write is reported, and the exit status is not 0.
#[test]
fn a_missing_buffer_is_told() {
    let types = [TYPES, &[(17, Some(2), "Startup")]].concat();
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), (0, 99), |log| {
        log.event(17, 1, &[0, 2]).run(2, 7).stop(9, 7, FINISHED)
    });
    let (out, _, code) = check(&log);
    let told = "the events of capability 1 from 1 ns on are missing: the log ends before they were written";
    assert_eq!(out.replace('\u{a0}', " ").matches(told).count(), 1, "{out}");
    assert_eq!(code, Some(1));
    log.end();
    let (out, ..) = check(&log);
    assert!(!out.contains("missing"), "{out}");
}

#[test]
fn what_is_tolerated_is_counted() {
    let log = on_cap_0(|log| {
        log.run(3).stop(3, MVAR).create(4).run(4).wake(4);
        log.stop(4, FINISHED).wake(4).run(4).stop(4, FINISHED);
        log.spark_thread(6).run(6).stop(6, FINISHED);
        log.move_task(8, 0, 1).task(8).task(9);
    });
    let (out, err, code) = check(&log);
    assert_eq!((out.as_str(), code), ("", Some(0)));
    let counts = [
        "threads older than the log: 1",
        "runs of finished threads: 2",
        "wakeups of finished threads: 1",
        "wakeups of threads that did not wait: 1",
        "threads for sparks without a creation: 1",
        "tasks older than the log: 1",
        "tasks replaced without an end: 1",
        "tasks without an end: 2",
    ];
    let expected = format!(
        "eventscope: nothing is out of order; tolerated: {}\n",
        counts.join(", ")
    );
    assert_eq!(err, expected);
}

/// Expected diagnostics, and the events that cause them.
type Case = (&'static [&'static str], fn(&mut Events<'_>));

#[test]
fn threads_out_of_order() {
    let cases: [Case; 8] = [
        (&["thread 2 runs, but was never created"], |log| {
            log.create(1).run(2).stop(2, MVAR).wake(2);
        }),
        (&["thread 1 is created, but was created before"], |log| {
            log.create(1).create(1).run(1).stop(1, FINISHED);
        }),
        (&["thread 1 is created, but was created before"], |log| {
            log.create(1).run(1).stop(1, FINISHED).create(1);
        }),
        (
            &["thread 1 runs, but is running already on capability 0"],
            |log| {
                log.create(1).run(1).run(1).stop(1, FINISHED);
            },
        ),
        (&["thread 1 stops, but was not running"], |log| {
            log.create(1).stop(1, FINISHED);
        }),
        (&["thread 1 stops, but has ended before"], |log| {
            log.create(1).run(1).stop(1, FINISHED).stop(1, FINISHED);
        }),
        (
            &["thread 1 moves to another capability while it runs"],
            |log| {
                log.create(1).run(1).migrate(1).stop(1, FINISHED);
            },
        ),
        (
            &["capability 0 runs thread 2 while it runs thread 1"],
            |log| {
                log.create(1).create(2).run(1).run(2).stop(2, MVAR).run(1);
            },
        ),
    ];
    for (expected, events) in cases {
        assert_eq!(diagnostics(events), expected);
    }
}

#[test]
fn one_thread_on_two_capabilities() {
    let mut log = LogBuilder::with_types(&types());
    let run = |log: &mut LogBuilder, time| {
        log.event(1, time, &[0, 0, 0, 1]);
    };
    log.block(CAP_0, (0, 9), |log| {
        log.event(0, 1, &[0, 0, 0, 1]);
        run(log, 2);
        log
    });
    log.block(Some(1), (0, 9), |log| {
        run(log, 3);
        log.event(2, 4, &[0, 0, 0, 1, 0, 5, 0, 0, 0, 0])
    })
    .end();
    let (out, err, code) = check(&log);
    assert_eq!(
        out,
        "3\t1\tthread 1\truns, but is running already on capability 0\n"
    );
    assert_eq!(err, "eventscope: 1 event is out of order\n");
    assert_eq!(code, Some(1));
}

#[test]
fn sparks_and_tasks_out_of_order() {
    let cases: [Case; 6] = [
        (&["capability 0 runs a spark, but no thread"], |log| {
            log.create(1).spark();
        }),
        (
            &["capability 0 runs a spark in thread 1, which is not a spark thread"],
            |log| {
                log.create(1).run(1).spark();
            },
        ),
        (&["thread 1 is created, but was created before"], |log| {
            log.create(1).spark_thread(1).spark_thread(1);
        }),
        (
            &["task 0x9 moves from capability 2, but was on capability 0"],
            |log| {
                log.task(9).move_task(9, 2, 1).end_task(9);
            },
        ),
        (&["task 0x9 ends, but has ended before"], |log| {
            log.task(9).end_task(9).end_task(9);
        }),
        (&["task 0x9 moves, but has ended before"], |log| {
            log.task(9).end_task(9).move_task(9, 0, 1);
        }),
    ];
    for (expected, events) in cases {
        assert_eq!(diagnostics(events), expected);
    }
}

#[test]
fn it_goes_on_after_a_diagnostic() {
    let found = diagnostics(|log| {
        log.create(1).stop(1, MVAR).stop(1, MVAR).run(1).run(1);
        log.stop(1, FINISHED).stop(1, FINISHED);
    });
    assert_eq!(
        found,
        [
            "thread 1 stops, but was not running",
            "thread 1 stops, but was not running",
            "thread 1 runs, but is running already on capability 0",
            "thread 1 stops, but has ended before",
        ]
    );
}

/// A second section of the same file starts with fresh state.
#[test]
fn a_second_section_begins_anew() {
    let mut log = on_cap_0(|log| {
        log.create(1).run(1);
    });
    log.header();
    log.block(CAP_0, (0, 1000), |log| {
        Events { log, time: 0 }.create(1).run(1).stop(1, FINISHED);
        log
    })
    .end();
    let (out, _, code) = check(&log);
    assert_eq!((out.as_str(), code), ("", Some(0)));
}

#[test]
fn rows_with_labels_headers_and_json() {
    let log = on_cap_0(|log| {
        log.create(1).event(44, &[&[0, 0, 0, 1], b"a\tb"]);
        log.stop(1, MVAR);
    });
    let (rows, _, _) = check_with(&["--header"], &log);
    assert_eq!(
        rows,
        "time\tcap\tsubject\tproblem\n3\t0\tthread 1 (a\\tb)\tstops, but was not running\n"
    );
    let (json, _, _) = check_with(&["--json"], &log);
    let row: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        row,
        serde_json::json!({
            "rule": "order-stops-unrun", "severity": "warning",
            "start": 3, "end": 3, "offset": null,
            "subjects": [{"kind": "thread", "id": 1}, {"kind": "capability", "id": 0}],
            "numbers": [], "name": "a\tb",
            "sentence": "thread 1 stops, but was not running",
        })
    );
}

/// The start of a collection that made the runtime write a full buffer is dated before the block that contains it.
#[test]
fn a_collection_before_its_block_is_no_damage() {
    const MS: u64 = 1_000_000;
    let mut log = LogBuilder::with_types(&types());
    log.block(CAP_0, (MS, 20 * MS), |log| {
        log.event(0, MS, &7u32.to_be_bytes())
            .run(2 * MS, 7)
            .stop(19 * MS, 7, YIELDING)
    });
    log.block(CAP_0, (25 * MS, 100 * MS), |log| {
        log.event(9, 20 * MS, &[])
            .event(10, 30 * MS, &[])
            .run(31 * MS, 7)
            .stop(40 * MS, 7, FINISHED)
    })
    .end();
    let (found, about, status) = check(&log);
    assert_eq!(status, Some(0), "{found}{about}");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &log.bytes).expect("written");
    let summary = eventscope(&["summary", &file.path().to_string_lossy()]);
    assert_eq!(summary.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&summary.stderr), "");
    let session = session_of(&log.bytes).expect("a log");
    let times = session.recording().times(None);
    let collecting: u64 = times.caps.iter().map(|(_, cap)| cap.collecting_ns).sum();
    assert_eq!(collecting, 10 * MS, "{times:?}");
}
