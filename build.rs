//! Tells the command line which commit it is built from, for `--version`.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The page has a build id of its own, made of what is in it: a commit must not change it.
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        return;
    }
    let version = env!("CARGO_PKG_VERSION");
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=EVENTSCOPE_VERSION={version}");
}

/// The commit that is checked out; `None` outside of a repository, or without git.
fn commit() -> Option<String> {
    // Unpacked inside of another repository, git would tell of that one.
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join(".git").exists() {
        return None;
    }
    // The log of HEAD gets a line with every commit and checkout.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        // Cargo would build anew each time if it were told of a file that is not there.
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
