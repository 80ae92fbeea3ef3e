//! Serves the site on localhost.

use std::path::Path;
use std::process::Command;
use std::thread;

use crate::process::{self, During, Result};
use crate::project::Project;
use crate::site::{self, Kind};

/// Options of `cargo xtask serve`.
#[derive(Debug, PartialEq)]
pub(crate) struct Serve {
    /// First port to try.
    pub(crate) port: u16,
    /// Whether to open a browser.
    pub(crate) open: bool,
    /// Kind of site: the quick site is rebuilt after each change, the shipped one is built once.
    pub(crate) kind: Kind,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            port: 8080,
            open: false,
            kind: Kind::Quick,
        }
    }
}

/// Builds the site and serves it until the command is stopped.
pub(crate) fn serve(project: &Project, options: &Serve) -> Result<()> {
    let built = thread::scope(|scope| {
        // The server needs the npm packages.
        scope.spawn(|| project.npm_packages());
        site::build(project, options.kind)
    });
    project.npm_packages()?;
    let mut server = Command::new("node");
    server
        .arg(project.root.join("xtask").join("serve.mjs"))
        .args(["--port", &options.port.to_string()])
        .env("EVENTSCOPE_DIST", project.root.join(options.kind.folder()));
    if options.open {
        server.arg("--open");
    }
    match options.kind {
        Kind::Shipped => built?,
        Kind::Quick => {
            let xtask = std::env::current_exe().during(|| "find xtask's own program".into())?;
            server.arg("--watch").env("EVENTSCOPE_XTASK", xtask);
            if built.is_err() {
                // The server builds again, and shows the error in the page.
                server.arg("--build");
            }
        }
    }
    become_or_run(&mut server, &project.root)
}

/// Replaces this process by the server, so that stopping one stops the other.
#[cfg(unix)]
fn become_or_run(server: &mut Command, root: &Path) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(process::Failure::new(format!(
        "could not start node: {}",
        server.current_dir(root).exec()
    )))
}

#[cfg(not(unix))]
fn become_or_run(server: &mut Command, root: &Path) -> Result<()> {
    process::run(server.current_dir(root))
}
