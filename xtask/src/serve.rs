//! Showing the site on localhost.

use std::path::Path;
use std::process::Command;

use crate::process::{self, Result};
use crate::site::Kind;

/// How `cargo xtask serve` was asked to serve.
#[derive(Debug, PartialEq)]
pub(crate) struct Serve {
    /// The first port to try.
    pub(crate) port: u16,
    /// Whether to open a browser.
    pub(crate) open: bool,
    /// What is built before.
    pub(crate) kind: Kind,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            port: 8080,
            open: false,
            kind: Kind::Shipped,
        }
    }
}

/// Serves `dist/` until it is stopped.
pub(crate) fn serve(root: &Path, options: &Serve) -> Result<()> {
    let mut server = Command::new("node");
    server
        .arg(root.join("xtask").join("serve.mjs"))
        .args(["--port", &options.port.to_string()]);
    if options.open {
        server.arg("--open");
    }
    become_or_run(&mut server)
}

/// Takes the server's place, so that stopping us stops it.
#[cfg(unix)]
fn become_or_run(server: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(process::Failure::new(format!(
        "could not start node: {}",
        server.exec()
    )))
}

#[cfg(not(unix))]
fn become_or_run(server: &mut Command) -> Result<()> {
    process::run(server)
}
