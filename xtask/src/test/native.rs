//! Checks and tests that need no browser.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::{self, During, Result};
use crate::programs::{COMMAND_LINE, WHOLE_TESTS};
use crate::project::Project;
use crate::test::counts::{Counts, libtest_counts};
use crate::test::tally::Tally;
use crate::tools;

/// Environment variable with a folder of more logs.
const CORPUS: &str = "EVENTSCOPE_CORPUS";

/// Number of inputs per property test in quick tests; the default is 256.
const FEW_INPUTS: (&str, &str) = ("PROPTEST_CASES", "32");

/// Checks formatting and runs Clippy.
pub(super) fn lints(project: &Project, tally: &mut Tally<'_>) {
    let root = &project.root;
    tally.check("rustfmt and Clippy", || tools::checks(root));
    tally.check("cargo fmt", || cargo(root, &["fmt", "--all", "--check"]));
    // Includes page and worker, compiled for the native target, so that their dependencies are checked once.
    tally.check("cargo clippy", || {
        let mut clippy = process::cargo();
        clippy
            .args(["clippy", "--quiet", "--workspace", "--all-targets"])
            .args(["--", "-D", "warnings"])
            // Fuzz targets are not linked, so that they need no C++ compiler.
            .env("CUSTOM_LIBFUZZER_PATH", "none/libfuzzer.a");
        process::run(clippy.current_dir(root))
    });
}

/// Builds the documentation and checks licenses.
pub(super) fn other_checks(project: &Project, tally: &mut Tally<'_>) {
    let root = &project.root;
    tally.check("cargo doc", || {
        let mut doc = process::cargo();
        // All packages, with the same features as for Clippy, so that what it has compiled is used.
        doc.args(["doc", "--quiet", "--workspace", "--no-deps"])
            .envs(clippy_environment())
            .env("RUSTDOCFLAGS", "-D warnings");
        process::run(doc.current_dir(root))
    });
    tally.check("licences", || licences(root));
}

/// Returns the environment in which `cargo clippy -- -D warnings` runs cargo. With another one, packages of the
/// workspace are compiled again. Empty if the toolchain has no Clippy.
fn clippy_environment() -> Vec<(&'static str, String)> {
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]));
    let name = format!("clippy-driver{}", env::consts::EXE_SUFFIX);
    let driver = sysroot.map(|folder| Path::new(&folder).join("bin").join(name));
    let Some(driver) = driver.filter(|driver| driver.exists()) else {
        return Vec::new();
    };
    vec![
        ("RUSTC_WORKSPACE_WRAPPER", driver.display().to_string()),
        // As Clippy joins its arguments.
        (
            "CLIPPY_ARGS",
            "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__".into(),
        ),
    ]
}

/// Runs every benchmark once, unoptimized.
pub(super) fn benches(project: &Project, tally: &mut Tally<'_>) {
    tally.check("benchmarks", || {
        // The same packages as for all tests, with the same features, so that nothing else is recompiled.
        cargo(&project.root, &["test", "--quiet", "--bench", "*"])
    });
}

/// Runs cargo-deny if it is installed; checks advisories only if their database can be fetched.
fn licences(root: &Path) -> Result<()> {
    let Some(deny) = tools::on_path(Path::new("cargo-deny")) else {
        println!("skipped: cargo-deny is not installed (cargo install cargo-deny --locked)");
        return Ok(());
    };
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&deny);
        command
            .args(["--log-level", "error"])
            .args(arguments)
            .current_dir(root);
        command
    };
    process::run(&mut deny(&["check", "licenses", "bans", "sources"]))?;
    if process::output(&mut deny(&["fetch", "db"])).is_none() {
        println!("advisories skipped: their database cannot be fetched");
        return Ok(());
    }
    process::run(&mut deny(&["check", "--disable-fetch", "advisories"]))
}

/// Runs all native tests.
pub(super) fn tests(root: &Path) -> Result<(Counts, bool)> {
    run_and_count(root, &mut cargo_test())
}

/// Runs all native tests except doctests, on the project's own logs only.
pub(super) fn quick_tests(root: &Path) -> Result<(Counts, bool)> {
    run_and_count(
        root,
        cargo_test()
            .args(["--lib", "--bins", "--tests"])
            .env(FEW_INPUTS.0, FEW_INPUTS.1)
            .env_remove(CORPUS),
    )
}

/// Runs the tests of some packages.
pub(super) fn package_tests(root: &Path, names: &[&str]) -> Result<(Counts, bool)> {
    run_and_count(root, cargo_test().args(packages(names)))
}

/// Runs the end-to-end tests whose names contain one of `filters`.
pub(super) fn filtered_tests(root: &Path, filters: &[&str]) -> Result<(Counts, bool)> {
    run_and_count(
        root,
        cargo_test()
            .args(["--package", COMMAND_LINE])
            .args(WHOLE_TESTS)
            .arg("--")
            .args(filters),
    )
}

/// Returns whether the workspace has a package of that name.
pub(super) fn is_package(root: &Path, name: &str) -> bool {
    process::output(process::cargo().args(["pkgid", name]).current_dir(root))
        .is_some_and(|id| id.starts_with("path+file:"))
}

fn packages<'n>(names: &[&'n str]) -> Vec<&'n str> {
    names.iter().flat_map(|name| ["--package", name]).collect()
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    process::run(process::cargo().args(arguments).current_dir(root))
}

fn cargo_test() -> Command {
    let mut cargo = process::cargo();
    cargo.args(["test", "--quiet", "--no-fail-fast"]);
    cargo
}

/// Prints the output of native tests while they run, and counts them.
fn run_and_count(root: &Path, command: &mut Command) -> Result<(Counts, bool)> {
    let starting = || "run cargo test".into();
    let mut tests = command
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .during(starting)?;
    let mut counts = Counts::default();
    for line in BufReader::new(tests.stdout.take().expect("it is piped")).split(b'\n') {
        let line = line.during(starting)?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts += libtest_counts(&line).unwrap_or_default();
    }
    let status = tests.wait().during(starting)?;
    Ok((counts, status.success()))
}
