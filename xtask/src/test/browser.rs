//! Browser tests, and tests of the npm package.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{self, During, Failure, Result};
use crate::programs::{COMMAND_LINE, WHOLE_TESTS};
use crate::project::Project;
use crate::site::Kind;
use crate::spark;
use crate::test::counts::{Counts, playwright_counts, tap_counts};

/// Folder of the browser tests.
const FOLDER: &str = "tests/e2e";
const ENDING: &str = ".spec.js";

/// Browser test of the quick selection.
pub(super) const SMOKE: &str = "smoke.spec.js";

/// Browser tests that open `dist/` themselves, or the npm package built from it: they cannot use the quick site.
pub(super) const SHIPPED: [&str; 4] = [
    "anywhere.spec.js",
    "installed.spec.js",
    "npm.spec.js",
    "view.spec.js",
];

/// Folder of Node.js tests that need the command line alone.
pub(super) const SQL: &str = "tests/sql";

/// Folder of Node.js tests of data sets in Spark.
const SPARK: &str = "tests/spark";

/// Folder of Node.js tests of the package, which is made from the site.
pub(super) const NPM: &str = "tests/npm";

/// Runs one benchmark of each kind in a browser, on a small log.
const BENCHES: &str = "benches/smoke.mjs";

/// Returns the browser test of that name, with or without its ending.
pub(super) fn find_spec(root: &Path, name: &str) -> Option<String> {
    let file = format!("{}{ENDING}", name.strip_suffix(ENDING).unwrap_or(name));
    root.join(FOLDER).join(&file).is_file().then_some(file)
}

/// Returns all browser tests, sorted.
pub(super) fn specs(root: &Path) -> Result<Vec<String>> {
    files(&root.join(FOLDER), ENDING)
}

/// Returns the names of the files in a folder that end in `ending`, sorted.
fn files(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).during(|| format!("list {}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    Ok(names)
}

/// Compiles the command line, which some tests start. The end-to-end tests are compiled with it: their
/// dependencies then have the same features as in native tests, and nothing is compiled twice.
pub(super) fn command_line(root: &Path) -> Result<()> {
    process::run(
        process::cargo()
            .args(["build", "--quiet", "--bin", COMMAND_LINE])
            .args(WHOLE_TESTS)
            .current_dir(root),
    )
}

/// Runs the tests in Spark. Where it cannot be installed, they are skipped.
pub(super) fn spark_tests(project: &Project) -> Result<(Counts, bool)> {
    let mut command = Command::new("node");
    match project.spark_python() {
        Ok(python) => {
            command.env(spark::PYTHON, python);
        }
        Err(failure) => println!("tests in Spark are skipped: {failure}"),
    }
    run_node_tests(&project.root, SPARK, command)
}

/// Runs the tests in a folder that are Node.js scripts.
pub(super) fn node_tests(root: &Path, folder: &str) -> Result<(Counts, bool)> {
    run_node_tests(root, folder, Command::new("node"))
}

fn run_node_tests(root: &Path, folder: &str, mut command: Command) -> Result<(Counts, bool)> {
    let starting = || "start node --test".into();
    command.args(["--test", "--test-reporter=tap"]);
    let folder = root.join(folder);
    command.args(
        files(&folder, ".test.mjs")?
            .iter()
            .map(|name| folder.join(name)),
    );
    let ran = command
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .during(starting)?;
    let report = String::from_utf8_lossy(&ran.stdout);
    println!("{report}");
    let counts =
        tap_counts(&report).ok_or_else(|| Failure::new("node --test has printed no counts"))?;
    Ok((counts, ran.status.success()))
}

/// Runs some browser tests against a built site.
pub(super) fn playwright<S: AsRef<str>>(
    project: &Project,
    kind: Kind,
    specs: &[S],
) -> Result<(Counts, bool)> {
    let root = &project.root;
    let report = root.join(FOLDER).join("results/report.json");
    if report.exists() {
        fs::remove_file(&report).during(|| format!("remove {}", report.display()))?;
    }
    project.npm_packages()?;
    let status = process::status(
        Command::new("node")
            .arg(root.join("node_modules/@playwright/test/cli.js"))
            .arg("test")
            // Patterns match anywhere in a path.
            .args(specs.iter().map(|spec| format!("/{}", spec.as_ref())))
            .current_dir(root)
            .envs(browser_environment(project, kind)?)
            .env("EVENTSCOPE_PORT", free_port()?.to_string()),
    )?;
    let text = fs::read_to_string(&report)
        .during(|| format!("read {}; Playwright writes it", report.display()))?;
    let counts = playwright_counts(&text)
        .ok_or_else(|| Failure::new(format!("{} has no counts", report.display())))?;
    Ok((counts, status.success()))
}

/// Runs the benchmarks of the page once.
pub(super) fn benches(project: &Project, kind: Kind) -> Result<()> {
    project.npm_packages()?;
    process::run(
        Command::new("node")
            .arg(BENCHES)
            .arg(kind.folder())
            .current_dir(&project.root)
            .envs(browser_environment(project, kind)?),
    )
}

/// Returns whether the page has benchmarks.
pub(super) fn has_benches(root: &Path) -> bool {
    root.join(BENCHES).is_file()
}

/// Returns environment variables: the path of Chromium, and the folder that `serve.mjs` serves.
fn browser_environment(project: &Project, kind: Kind) -> Result<[(&'static str, PathBuf); 2]> {
    Ok([
        ("EVENTSCOPE_CHROMIUM", project.chromium()?),
        ("EVENTSCOPE_DIST", project.root.join(kind.folder())),
    ])
}

/// Returns a port of localhost that is not in use.
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
    fn every_listed_browser_test_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for spec in SHIPPED.iter().chain([&SMOKE]) {
            assert_eq!(find_spec(&root, spec).as_deref(), Some(*spec));
        }
        assert_eq!(find_spec(&root, "smoke").as_deref(), Some(SMOKE));
        assert_eq!(find_spec(&root, "no-such-test"), None);
        assert!(specs(&root).unwrap().contains(&SMOKE.to_owned()));
    }
}
