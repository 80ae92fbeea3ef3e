//! Building the site: Trunk compiles and lays out, then the result is sealed.

use std::env;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Result};
use crate::weigh::Weight;
use crate::{seal, tools};

/// Leaves the finished site in `dist/`.
pub(crate) fn build(root: &Path) -> Result<()> {
    let path = tools::for_site(root)?;
    fetch_crates(root)?;
    eprintln!("building the site (about a minute the first time, seconds after that)");
    let mut trunk = Command::new("trunk");
    trunk
        .args(["build", "--release", "--log", "warn"])
        .current_dir(root)
        .env("PATH", path)
        // Trunk takes only "true" for it, where others take anything.
        .env_remove("NO_COLOR")
        .env("RUST_BACKTRACE", "0");
    if let Some(flag) = without_own_paths() {
        trunk.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flag);
    }
    if !std::io::stderr().is_terminal() {
        trunk.env("CARGO_TERM_QUIET", "true");
    }
    process::run(&mut trunk)?;
    let dist = root.join("dist");
    let sealed = seal::seal(&dist)?;
    println!("built dist/ ({sealed}; {})", Weight::of(&dist)?);
    Ok(())
}

/// Keeps the home folder out of the messages of a panic: nobody's name is
/// published, and every machine builds the same files. As a setting of the
/// target it adds to those in a configuration file, where RUSTFLAGS replaces.
fn without_own_paths() -> Option<String> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    let sources = home.join("registry").join("src");
    let sources = sources.to_str()?;
    // Cargo splits the setting at spaces.
    let splits = sources.contains(char::is_whitespace);
    (!splits).then(|| format!("--remap-path-prefix={sources}=crates"))
}

/// Trunk builds offline, so the crates have to be there before.
fn fetch_crates(root: &Path) -> Result<()> {
    process::run(
        process::cargo()
            .args(["fetch", "--quiet", "--target", "wasm32-unknown-unknown"])
            .current_dir(root),
    )
}
