//! What the corpus tests share: finding logs and running the command.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A log with the reference results beside it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `ghc-9.6.6/fib-forkio-N2-l`.
    pub name: String,
    /// The log.
    pub log: PathBuf,
    reference: PathBuf,
}

impl Case {
    /// A reference file, uncompressed; `None` if there is none.
    pub fn reference(&self, suffix: &str) -> Option<String> {
        let path = PathBuf::from(format!("{}.{suffix}", self.reference.display()));
        let bytes = fs::read(path).ok()?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .expect("gzip of UTF-8");
        Some(text)
    }

    /// The bytes of the log.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.log).expect("the log can be read")
    }
}

/// The logs in `tests/fixtures`, and those of the folder `EVENTSCOPE_CORPUS`
/// if that is set.
pub fn cases() -> Vec<Case> {
    let mut roots = vec![fixtures()];
    roots.extend(std::env::var_os("EVENTSCOPE_CORPUS").map(PathBuf::from));
    let mut cases: Vec<Case> = roots.iter().flat_map(|root| cases_in(root)).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases.dedup_by(|a, b| a.name == b.name);
    assert!(cases.len() > 20, "the fixtures are there");
    cases
}

/// The logs in `tests/fixtures` alone.
pub fn fixture_cases() -> Vec<Case> {
    cases_in(&fixtures())
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn cases_in(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for set in entries(&root.join("logs"))
        .into_iter()
        .filter(|path| path.is_dir())
    {
        let set_name = set
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        for log in entries(&set) {
            if log
                .extension()
                .is_some_and(|extension| extension == "eventlog")
            {
                let stem = log
                    .file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned();
                cases.push(Case {
                    reference: root.join("reference").join(&set_name).join(&stem),
                    name: format!("{set_name}/{stem}"),
                    log,
                });
            }
        }
    }
    cases
}

/// Runs `eventscope` with these arguments.
pub fn eventscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(arguments)
        .output()
        .expect("eventscope runs")
}

/// What `eventscope` prints; it may exit with 1, but not crash.
pub fn stdout(arguments: &[&str]) -> String {
    let output = eventscope(arguments);
    let code = output.status.code();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        matches!(code, Some(0 | 1)),
        "{arguments:?}: {code:?} {errors}"
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}
