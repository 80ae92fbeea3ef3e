//! Reference reader: Debian's ghc-events, where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Lists the events of a log with ghc-events, sorted; `None` if it is not installed or cannot read the log.
pub fn list_events(reader: &Path, log: &Path) -> Option<Vec<String>> {
    let output = Command::new(reader).arg("list").arg(log).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    rows.sort();
    output.status.success().then_some(rows)
}

/// Builds the program that lists events with ghc-events; `None` if GHC or ghc-events is not installed.
pub fn build_reference_reader(folder: &Path) -> Option<PathBuf> {
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
