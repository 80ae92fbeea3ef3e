//! Options that take times and event types, and queries without results.
#![cfg(unix)]

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use common::build::LogBuilder;
use common::{eventscope, fixture, stdout};
use tempfile::TempDir;

/// Runs a command. Returns the exit status, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = eventscope(arguments);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn times_may_have_units() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let path = log.path();
    for (from, to) in [
        ("1ms", "2 ms"),
        ("1000us", "0.002s"),
        ("1.0 ms", "2000000ns"),
    ] {
        for command in [
            &["events", path] as &[&str],
            &["spans", path, "mutator"],
            &["threads", path],
        ] {
            let plain = [command, &["--from", "1000000", "--to", "2000000"]].concat();
            let with_units = [command, &["--from", from, "--to", to]].concat();
            assert_eq!(stdout(&with_units), stdout(&plain), "{with_units:?}");
        }
    }
    for time in ["soon", "1.5", "1 parsec", ""] {
        let (status, printed, errors) = run(&["events", path, "--from", time]);
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{time}");
        assert!(errors.contains("ns, us, ms, s, min or h"), "{errors}");
    }
}

#[test]
fn a_range_outside_of_the_log_is_an_error() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let path = log.path();
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    let out = out.to_str().expect("UTF-8");
    let commands: [&[&str]; 12] = [
        &["events", path],
        &["spans", path, "gc"],
        &["threads", path],
        &["collections", path],
        &["summary", path, "--json"],
        &["metrics", path],
        &["findings", path],
        &["time", path],
        &["flamegraph", path],
        &["report", path, "--out", out],
        &["cut", path, "--out", out],
        &["export", path, "--format", "chrome", "--out", out],
    ];
    for command in commands {
        let (status, printed, errors) = run(&[command, &["--from", "1h"]].concat());
        assert_eq!(
            (status, printed.as_str()),
            (Some(1), ""),
            "{command:?}: {errors}"
        );
        assert!(
            errors.contains("the log, which goes from"),
            "{command:?}: {errors}"
        );
    }
    assert!(
        fs::read_dir(folder.path())
            .expect("a folder")
            .next()
            .is_none()
    );
}

/// A cut log goes from the start of its range to the end, for every command.
#[test]
fn a_range_outside_of_a_cut_log_is_an_error() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (part, out) = (path("part"), path("out"));
    let range = ["--from", "2ms", "--to", "4ms"];
    let cut = ["cut", log.path(), "--out", part.as_str()];
    let (status, _, errors) = run(&[&cut[..], &range[..]].concat());
    assert_eq!(status, Some(0), "{errors}");
    let commands: [&[&str]; 4] = [
        &["summary", &part],
        &["spans", &part, "gc"],
        &["cut", &part, "--out", &out],
        &["export", &part, "--format", "chrome", "--out", &out],
    ];
    for command in commands {
        let (status, _, errors) = run(&[command, &["--from", "5ms"]].concat());
        assert_eq!(status, Some(1), "{command:?}: {errors}");
        for end in ["(2000000 ns) to", "(4000000 ns)"] {
            assert!(errors.contains(end), "{command:?}: {errors}");
        }
    }
    assert!(!Path::new(&out).exists());
    let info = |path: &str| -> serde_json::Value {
        serde_json::from_str(&stdout(&["info", path, "--json"])).expect("JSON")
    };
    let (of_part, whole) = (info(&part), info(log.path()));
    assert_eq!(of_part["first"], 2_000_000);
    assert_eq!(of_part["last"], 4_000_000);
    for time in ["first", "last"] {
        assert_eq!(of_part["before_cut"][time], whole[time], "{time}");
    }
    assert!(whole["before_cut"].is_null());
    let text = stdout(&["info", &part]);
    assert!(text.contains("\nbefore the cut\t"), "{text}");
}

/// Of several logs, an error names the one that it is about.
#[test]
fn errors_name_their_log() {
    let logs = ["ghc-9.6.6/dense-N2-l-flush", "ghc-9.6.6/heap-N2-hT-l-au"].map(fixture);
    let [short, long] = [&logs[0], &logs[1]].map(|log| log.path());
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let export = ["export", short, long, "--format", "chrome", "--out", out];
    let (status, _, errors) = run(&[&export[..], &["--from", "500ms"]].concat());
    assert_eq!(status, Some(1), "{errors}");
    let start = format!("eventscope: {short}: the range lies outside");
    assert!(
        errors.contains(&start) && !errors.contains(long),
        "{errors}"
    );
    let (status, _, errors) = run(&["compare", short, "--to", short, "--from-marker", "warmm"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(
        errors.contains(&format!("eventscope: {short}: ")),
        "{errors}"
    );
}

/// Without events of threads and collections, their times are unknown, which is not 0.
#[test]
fn times_that_a_log_does_not_tell_are_unknown() {
    let log = fixture("ghc-9.6.6/heap-N2-hT-l-au");
    let (status, printed, errors) = run(&["time", log.path()]);
    assert_eq!(status, Some(0), "{errors}");
    for reason in ["no events of threads", "no collections"] {
        assert!(errors.contains(reason), "{errors}");
    }
    let mut lines = printed
        .lines()
        .skip_while(|line| !line.starts_with("program "));
    assert!(
        lines.next().is_some_and(|line| line.contains("1100246254")),
        "{printed}"
    );
    assert!(lines.all(|line| line.ends_with(" -")), "{printed}");
    let runs = fixture("ghc-9.6.6/dense-N2-l-flush");
    let (status, printed, errors) = run(&["time", runs.path()]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    assert!(!printed.contains(" -"), "{printed}");
}

#[test]
fn unknown_event_types_are_usage_errors() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let path = log.path();
    for option in ["--type", "--leave-out-type"] {
        let (status, _, errors) = run(&["cut", path, "--out", "/dev/null", option, "RunThreadd"]);
        assert_eq!(status, Some(2), "{errors}");
        assert!(errors.contains("similar names: RunThread"), "{errors}");
    }
    let (status, printed, errors) = run(&["events", path, "--type", "RunThreadd"]);
    assert_eq!((status, printed.as_str()), (Some(2), ""));
    assert!(errors.contains("similar names: RunThread"), "{errors}");
    let by_number = stdout(&["events", path, "--type", "1"]);
    assert_eq!(by_number, stdout(&["events", path, "--type", "RunThread"]));
    assert!(!by_number.is_empty());
}

#[test]
fn empty_answers_have_a_reason() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("log");
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 100), |b| b.event(19, 2, b"message"));
    fs::write(&path, &log.end().bytes).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let runs = fixture("ghc-9.6.6/dense-N2-l-flush");
    let threads: [(&[&str], &str); 9] = [
        (
            &["spans", path, "gc"],
            "no GC spans: the log has no GC events; run the program with +RTS -lg",
        ),
        (
            &["spans", path, "mutator"],
            "no scheduler events; run the program with +RTS -ls",
        ),
        (
            &["spans", runs.path(), "mutator", "--thread", "99999"],
            "no mutator spans match: the log has",
        ),
        (
            &["threads", path],
            "no threads: the log has no scheduler events",
        ),
        (
            &["collections", path],
            "no collections: the log has no GC events",
        ),
        (
            &["events", path, "--type", "RunThread"],
            "the log has none of type RunThread",
        ),
        (
            &["events", path, "--match", "nothing"],
            "no events match: the log has 1",
        ),
        (
            &["events", path, "--cap", "7"],
            "no events match: the log has 1",
        ),
        (
            &["events", path, "--type", "400"],
            "the log has none of type 400",
        ),
    ];
    for (command, reason) in threads {
        let (status, printed, errors) = run(command);
        assert_eq!(
            (status, printed.as_str()),
            (Some(0), ""),
            "{command:?}: {errors}"
        );
        assert!(errors.contains(reason), "{command:?}: {errors}");
    }
}

#[test]
fn profiles_without_results_have_a_reason() {
    let profile = fixture("ghc-9.6.6/prof-time-N1-p-l-au");
    let heap = fixture("ghc-9.6.6/heap-N2-hT-l-au");
    let ticky = fixture("ghc-9.6.6/ticky-la");
    let (profile, heap, ticky) = (profile.path(), heap.path(), ticky.path());
    let of_format = |format| {
        [
            "flamegraph",
            profile,
            "--step",
            "focus:Typo",
            "--format",
            format,
        ]
    };
    let (svg, speedscope) = (of_format("svg"), of_format("speedscope"));
    let commands: [(&[&str], &str); 10] = [
        (&svg, "no stacks match"),
        (&speedscope, "no stacks match"),
        (
            &["flamegraph", profile, "--step", "focus:Typo"],
            "no stacks match",
        ),
        (
            &[
                "flamegraph",
                profile,
                "--step",
                "focus:Typo",
                "--format",
                "folded",
            ],
            "no stacks match",
        ),
        (&["heap", heap, "--filter", "zzz"], "no bands match"),
        (
            &["heap", heap, "--filter", "zzz", "--json"],
            "no bands match",
        ),
        (
            &["heap", heap, "--from", "20ms", "--to", "21ms"],
            "no censuses: none in the range",
        ),
        (
            &["heap", heap, "--from", "20ms", "--to", "21ms", "--censuses"],
            "no censuses: none in the range",
        ),
        (
            &["ticky", ticky, "--filter", "zzz"],
            "no counters match: the log has",
        ),
        (
            &["ticky", ticky, "--filter", "zzz", "--tsv"],
            "no counters match: the log has",
        ),
    ];
    for (command, reason) in commands {
        let (status, _, errors) = run(command);
        assert_eq!(status, Some(0), "{command:?}: {errors}");
        assert!(errors.contains(reason), "{command:?}: {errors}");
        let (_, _, errors) = run(&command[..2]);
        assert!(!errors.contains("eventscope: no "), "{command:?}: {errors}");
    }
}

#[test]
fn a_folder_is_no_log() {
    let (status, _, errors) = run(&["info", "tests/fixtures"]);
    assert_eq!(status, Some(1));
    assert!(
        errors.contains("tests/fixtures is a folder: name"),
        "{errors}"
    );
    let symbols = ["--symbols", "tests/fixtures/README.md"];
    let heap = fixture("ghc-9.6.6/heap-N2-hT-l-au");
    let (_, _, errors) = run(&[&["heap", heap.path()][..], &symbols[..]].concat());
    assert!(
        errors.contains("eventscope: tests/fixtures/README.md: The"),
        "{errors}"
    );
}

#[test]
fn names_of_files_may_be_anything() {
    let folder = TempDir::new().expect("a folder");
    let log = fixture("ghc-9.6.6/dense-N2-l-flush").bytes();
    let names: [&[u8]; 3] = [b"a=b<c", b"no utf-8 \xff", b"-x"];
    for name in names {
        let name = OsStr::from_bytes(name);
        fs::write(folder.path().join(name), &log).expect("a file");
        let path = folder.path().join(name);
        let run = |arguments: &[&OsStr]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
            let output = command.args(arguments).current_dir(&folder).output();
            output.expect("eventscope runs")
        };
        let assertion = OsStr::new("gc.count >= 0");
        let checked = run(&["assert".as_ref(), path.as_os_str(), assertion]);
        assert_eq!(checked.status.code(), Some(0), "{checked:?}");
        let checked = run(&["assert".as_ref(), assertion, "--".as_ref(), name]);
        assert_eq!(checked.status.code(), Some(0), "{checked:?}");
        let compared = run(&[
            "compare".as_ref(),
            path.as_os_str(),
            "--to".as_ref(),
            path.as_os_str(),
        ]);
        assert_eq!(compared.status.code(), Some(0), "{compared:?}");
    }
}

#[test]
fn long_names_stay_in_their_columns() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let digest = stdout(&["digest", log.path()]);
    let mut digest: serde_json::Value = serde_json::from_str(&digest).expect("JSON");
    let long = "x".repeat(70_000);
    for row in digest["rows"].as_array_mut().expect("rows") {
        row["key"]["name"] = long.clone().into();
    }
    fs::write(path("digest"), digest.to_string()).expect("a file");
    let (status, printed, errors) =
        run(&["compare", &path("digest"), "--to", &path("digest"), "--all"]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(printed.contains(&long));
}

/// An assertion with a misspelled reason, and a cut to a thread that the log lacks, are reported.
#[test]
fn unknown_reasons_threads_and_capabilities_are_told() {
    let log = fixture("ghc-9.6.6/dense-N2-l-flush");
    let path = log.path();
    let (status, _, errors) = run(&["assert", path, "thread.blocked{reason=nonsense} < 1 ms"]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(
        errors.contains("the reasons for blocking are MVar, black hole"),
        "{errors}"
    );
    let (status, ..) = run(&["assert", path, "thread.blocked{reason=mvar} < 1 s"]);
    assert_eq!(status, Some(0));
    let cut = |option, value| run(&["cut", path, "--out", "/dev/null", option, value]);
    let (status, _, errors) = cut("--thread", "9999");
    assert_ne!(status, Some(0));
    assert!(errors.contains("the log has no thread 9999"), "{errors}");
    let (status, _, errors) = cut("--cap", "99");
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("the log has no capability 99"), "{errors}");
}
