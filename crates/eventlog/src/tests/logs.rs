#![allow(unreachable_pub, reason = "shared by the tests of this crate")]
//! The logs for tests: the fixtures of the project and, if the variable is set, those in the folder `logs` of
//! `EVENTSCOPE_CORPUS`.

use std::path::{Path, PathBuf};

/// A log in a file.
#[derive(Debug)]
pub struct Log {
    /// File name with its parent folder.
    pub name: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of logs") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, into);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "eventlog")
        {
            into.push(path);
        }
    }
}

/// Returns all logs, sorted by path.
pub fn all() -> Vec<Log> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut paths = Vec::new();
    collect(&fixtures, &mut paths);
    if let Some(corpus) = std::env::var_os("EVENTSCOPE_CORPUS") {
        collect(&Path::new(&corpus).join("logs"), &mut paths);
    }
    paths.sort();
    let log = |path: PathBuf| {
        let parts: Vec<_> = path.iter().rev().take(2).collect();
        let name = parts.iter().rev().map(|part| part.to_string_lossy());
        Log {
            name: name.collect::<Vec<_>>().join("/"),
            bytes: std::fs::read(&path).expect("a log"),
        }
    };
    paths.into_iter().map(log).collect()
}
