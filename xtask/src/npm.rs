//! npm package: the content of `npm/`, with the worker's program from the built site.

use std::fs;
use std::path::Path;

use crate::process::{During, Failure, Result};
use crate::site::copy_folder;

/// Files of the program: name in the site, name in the package.
const PROGRAM: [[&str; 2]; 2] = [
    ["worker.js", "program.js"],
    ["worker_bg.wasm", "program_bg.wasm"],
];

/// Assembles the package in `target/npm/`, ready for `npm pack` or `npm publish`.
pub(crate) fn assemble(root: &Path) -> Result<()> {
    let to = root.join("target").join("npm");
    if to.exists() {
        fs::remove_dir_all(&to).during(|| format!("remove {}", to.display()))?;
    }
    copy_folder(&root.join("npm"), &to)?;
    let copy = |from: &Path, name: &str| {
        let to = to.join(name);
        fs::copy(from, &to).during(|| format!("write {}", to.display()))
    };
    copy(&root.join("LICENSE"), "LICENSE")?;
    let dist = root.join("dist");
    let folders = fs::read_dir(&dist).during(|| format!("list {}", dist.display()))?;
    let worker = folders
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("worker-"))
        .ok_or_else(|| Failure::new("the site in dist/ has no worker: run cargo xtask build"))?;
    for [from, name] in PROGRAM {
        copy(&worker.path().join(from), name)?;
    }
    println!("put together {}", to.display());
    Ok(())
}
