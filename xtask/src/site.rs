//! Building the site: Trunk compiles and lays out, then the result is sealed.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use crate::process::{self, Result};
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
    if !std::io::stderr().is_terminal() {
        trunk.env("CARGO_TERM_QUIET", "true");
    }
    process::run(&mut trunk)?;
    let dist = root.join("dist");
    let sealed = seal::seal(&dist)?;
    println!("built dist/ ({sealed})");
    Ok(())
}

/// Trunk builds offline, so the crates have to be there before.
fn fetch_crates(root: &Path) -> Result<()> {
    process::run(
        process::cargo()
            .args(["fetch", "--quiet", "--target", "wasm32-unknown-unknown"])
            .current_dir(root),
    )
}
