//! Sets `EVENTSCOPE_VERSION`, the version and commit that the command line prints for `--version`.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The page has its own content-based build id, which must not change with each commit.
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

/// Returns the checked-out commit; `None` outside a repository or without git.
fn commit() -> Option<String> {
    // If the source is unpacked inside another repository, git would report that repository's commit.
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join(".git").exists() {
        return None;
    }
    // The log of HEAD gains a line with every commit and checkout.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        // A `rerun-if-changed` path that does not exist would make Cargo rebuild every time.
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
