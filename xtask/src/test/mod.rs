//! Running every check and test, and counting.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::num::NonZero;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use crate::process::{self, During, Failure, Result};
use crate::site::Kind;
use crate::weigh::Weight;
use crate::{npm, site, tools};

/// Which tests to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Parts {
    /// Everything.
    All,
    /// The checks, and what runs without a browser.
    Native,
    /// What runs in a browser, against the site as it is shipped.
    Browser,
}

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    passed: u32,
    failed: u32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// What has been run so far.
#[derive(Debug, Default)]
struct Tally {
    counts: Counts,
    /// One line for each step that did not succeed.
    problems: Vec<String>,
}

impl Tally {
    /// Runs a step that is no test itself: only its failure counts.
    fn check(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> bool {
        println!("\n== {name}");
        let outcome = step();
        if let Err(failure) = &outcome {
            eprintln!("error: {failure}");
            self.counts.failed += 1;
            self.problems.push(name.to_owned());
        }
        outcome.is_ok()
    }

    /// Runs a step that counts tests. A step that fails without a failed test
    /// (it did not compile, or crashed) counts as one.
    fn tests(&mut self, name: &str, step: impl FnOnce() -> Result<(Counts, bool)>) {
        println!("\n== {name}");
        let (mut counts, succeeded) = step().unwrap_or_else(|failure| {
            eprintln!("error: {failure}");
            (Counts::default(), false)
        });
        if !succeeded {
            counts.failed = counts.failed.max(1);
            self.problems.push(name.to_owned());
        }
        self.counts += counts;
    }
}

/// From so many cores on the site is built beside the native tests: what compiles it has most of
/// its work on one core for each of the two programs.
const CORES_FOR_BOTH: usize = 4;

/// Where tests are that are scripts of Node.js.
const NODE_TESTS: [&str; 2] = ["tests/npm", "tests/sql"];

/// Runs the tests. The last line printed is `N passed, N failed`.
pub(crate) fn test(root: &Path, parts: Parts) -> ExitCode {
    let mut tally = Tally::default();
    let build = || site::build(root, Kind::Shipped);
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        if parts != Parts::Browser {
            tally.check("tools", || tools::for_checks(root));
        }
        let beside = (parts == Parts::All && cores >= CORES_FOR_BOTH).then(|| scope.spawn(build));
        if parts != Parts::Browser {
            native(root, &mut tally);
        }
        if parts != Parts::Native {
            browser(root, &mut tally, || match beside {
                Some(building) => building
                    .join()
                    .unwrap_or_else(|_| Err(Failure::new("building the site panicked"))),
                None => build(),
            });
        }
    });
    println!();
    for problem in &tally.problems {
        println!("not as it should be: {problem}");
    }
    let Counts { passed, failed } = tally.counts;
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn native(root: &Path, tally: &mut Tally) {
    for line in [
        "fmt --all --check",
        "clippy --quiet --all-targets -- -D warnings",
        "clippy --quiet --target wasm32-unknown-unknown --package page --package protocol --package worker -- -D warnings",
    ] {
        tally.check(&format!("cargo {line}"), || {
            process::run(
                process::cargo()
                    .args(line.split_whitespace())
                    .current_dir(root),
            )
        });
    }
    tally.check("cargo doc", || {
        process::run(
            process::cargo()
                .args(["doc", "--quiet", "--no-deps"])
                .env("RUSTDOCFLAGS", "-D warnings")
                .current_dir(root),
        )
    });
    tally.check("cargo check of the fuzz targets", || {
        process::run(
            process::cargo()
                .args(["check", "--quiet", "--bins", "--package=eventscope-fuzz"])
                // Nothing is linked, so that no compiler of C++ is needed for it.
                .env("CUSTOM_LIBFUZZER_PATH", "none/libfuzzer.a")
                .current_dir(root),
        )
    });
    tally.tests("cargo test --workspace", || cargo_test(root));
}

/// Runs the native tests, passing on and counting what they print.
fn cargo_test(root: &Path) -> Result<(Counts, bool)> {
    let starting = || "start cargo test".into();
    let mut tests = process::cargo()
        .args(["test", "--quiet", "--no-fail-fast"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .during(starting)?;
    let mut counts = Counts::default();
    for line in BufReader::new(tests.stdout.take().expect("it is piped")).split(b'\n') {
        let line = line.during(|| "read what cargo test prints".into())?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts += libtest_counts(&line).unwrap_or_default();
    }
    let status = tests.wait().during(starting)?;
    Ok((counts, status.success()))
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn libtest_counts(line: &str) -> Option<Counts> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word| {
        let part = counts.split("; ").find(|part| part.ends_with(word))?;
        part.split(' ').next()?.parse().ok()
    };
    Some(Counts {
        passed: count(" passed")?,
        failed: count(" failed")?,
    })
}

/// Runs the browser tests, against the site that `build` leaves in `dist/`.
fn browser(root: &Path, tally: &mut Tally, build: impl FnOnce() -> Result<()>) {
    // It shows the site too.
    let program = tally.check("cargo build of the command line", || {
        process::run(
            process::cargo()
                .args(["build", "--quiet", "--bin", "eventscope"])
                .current_dir(root),
        )
    });
    let built = tally.check("cargo xtask build", build);
    if built {
        tally.check("weight of the site", || {
            Weight::of(&root.join("dist"))?.check()
        });
    }
    let package = built && tally.check("cargo xtask npm", || npm::assemble(root));
    if package && program {
        tally.tests("node --test", || node_test(root));
    }
    if built && program {
        tally.tests("playwright test", || playwright(root));
    }
}

/// Runs the tests that are scripts of Node.js.
fn node_test(root: &Path) -> Result<(Counts, bool)> {
    let starting = || "start node --test".into();
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=tap"]);
    for folder in NODE_TESTS {
        command.args(scripts(&root.join(folder))?);
    }
    let ran = command
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .during(starting)?;
    let report = String::from_utf8_lossy(&ran.stdout);
    println!("{report}");
    let counts = tap_counts(&report)
        .ok_or_else(|| Failure::new("node --test has printed no counts".to_owned()))?;
    Ok((counts, ran.status.success()))
}

/// The tests in a folder.
fn scripts(folder: &Path) -> Result<Vec<PathBuf>> {
    let reading = || format!("list {}", folder.display());
    let entries = fs::read_dir(folder).during(reading)?;
    let mut scripts: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    scripts.sort();
    Ok(scripts)
}

/// Reads the lines `# pass 3` and `# fail 1` at the end of a report in TAP.
fn tap_counts(report: &str) -> Option<Counts> {
    let count = |word: &str| {
        let mut lines = report.lines().rev();
        let line = lines.find_map(|line| line.strip_prefix("# ")?.strip_prefix(word))?;
        line.trim().parse().ok()
    };
    Some(Counts {
        passed: count("pass ")?,
        failed: count("fail ")? + count("cancelled ")?,
    })
}

/// Runs the browser tests against `dist/`.
fn playwright(root: &Path) -> Result<(Counts, bool)> {
    let report = root.join("tests/e2e/results/report.json");
    if report.exists() {
        fs::remove_file(&report).during(|| format!("remove {}", report.display()))?;
    }
    let status = process::status(
        Command::new("node")
            .arg(root.join("node_modules/@playwright/test/cli.js"))
            .arg("test")
            .current_dir(root)
            .env("EVENTSCOPE_CHROMIUM", tools::chromium()?)
            .env("EVENTSCOPE_PORT", free_port()?.to_string()),
    )?;
    let text = fs::read_to_string(&report)
        .during(|| format!("read {}; Playwright writes it", report.display()))?;
    let counts = playwright_counts(&text)
        .ok_or_else(|| Failure::new(format!("{} has no counts", report.display())))?;
    Ok((counts, status.success()))
}

/// Reads the `stats` at the end of Playwright's report. A test that passed
/// when tried again has passed.
fn playwright_counts(report: &str) -> Option<Counts> {
    let stats = &report[report.rfind("\"stats\":")?..];
    let count = |name: &str| -> Option<u32> {
        let (_, rest) = stats.split_once(&format!("\"{name}\":"))?;
        let digits = rest.trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit())?;
        digits[..end].parse().ok()
    };
    Some(Counts {
        passed: count("expected")? + count("flaky")?,
        failed: count("unexpected")?,
    })
}

/// A port that nobody listens on.
fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .during(|| "find a free port".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_native_tests_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let counts = Counts {
            passed: 12,
            failed: 3,
        };
        assert_eq!(libtest_counts(line), Some(counts));
        assert_eq!(libtest_counts("test tests::a ... ok"), None);
    }

    #[test]
    fn results_of_browser_tests_are_counted() {
        let report = r#"{ "suites": [{ "title": "\"stats\":" }], "stats": { "duration": 1.5,
            "expected": 4, "skipped": 1, "unexpected": 2, "flaky": 1 } }"#;
        let counts = Counts {
            passed: 5,
            failed: 2,
        };
        assert_eq!(playwright_counts(report), Some(counts));
        assert_eq!(playwright_counts("{}"), None);
    }

    #[test]
    fn results_of_scripts_are_counted() {
        let report = "# pass 99\nok 1\n1..3\n# tests 3\n# pass 1\n# fail 1\n# cancelled 1\n";
        let counts = Counts {
            passed: 1,
            failed: 2,
        };
        assert_eq!(tap_counts(report), Some(counts));
        assert_eq!(tap_counts("ok 1"), None);
    }

    #[test]
    fn a_step_that_breaks_counts_as_one_failure() {
        let mut tally = Tally::default();
        assert!(!tally.check("fmt", || Err(Failure::new("untidy"))));
        assert!(tally.check("clippy", || Ok(())));
        tally.tests("native", || Ok((Counts::default(), false)));
        let counts = Counts {
            passed: 2,
            failed: 0,
        };
        tally.tests("browser", || Ok((counts, true)));
        assert_eq!(tally.counts.passed, 2);
        assert_eq!(tally.counts.failed, 2);
        assert_eq!(tally.problems, ["fmt", "native"]);
    }
}
