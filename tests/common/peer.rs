//! What Debian's ghc-events reads of a log, where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What Debian's ghc-events lists of a log, sorted; `None` where it is not installed or cannot
/// read the log.
pub fn listed(peer: &Path, log: &Path) -> Option<Vec<String>> {
    let output = Command::new(peer).arg("list").arg(log).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    rows.sort();
    output.status.success().then_some(rows)
}

/// Builds the program that lists events with ghc-events, where that is installed.
pub fn peer(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ghc-events/Peer.hs");
    let program = folder.join("peer");
    let mut ghc = Command::new("ghc");
    ghc.args(["-v0", "-O0", "-outputdir"])
        .arg(folder)
        .arg(source)
        .arg("-o")
        .arg(&program);
    let built = ghc.output().is_ok_and(|output| output.status.success());
    built.then_some(program)
}
