//! Lists the tools that the commands need, with their versions.

use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::process;
use crate::project::Project;
use crate::tools::{self, GET_NODE, NODE_MAJOR, TARGET};

/// Minimum minor version of Rust 1 that compiles the project.
const RUST_MINOR: u32 = 95;

/// Tool that the commands need, and its state.
#[derive(Debug)]
struct Tool {
    name: String,
    /// Version or path; `None` if it is missing or too old.
    found: Option<String>,
    needed_for: &'static str,
    how_to_get: String,
    /// Whether `serve` or `test` fails without it.
    is_required: bool,
}

/// Prints a line for each tool. The exit code is 1 if a required one is missing.
pub(crate) fn report(project: &Project) -> ExitCode {
    let root = &project.root;
    let tools = [rust(root), node(root), browsers(), optional()];
    let mut missing = 0;
    for tool in tools.iter().flatten() {
        println!("{tool}");
        missing += u32::from(tool.is_required && tool.found.is_none());
    }
    match missing {
        0 => println!("\neverything required is there"),
        _ => println!("\nrequired tools that are missing: {missing}"),
    }
    ExitCode::from(u8::from(missing > 0))
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match (&self.found, self.is_required) {
            (Some(_), _) => "ok",
            (None, true) => "MISSING",
            (None, false) => "optional",
        };
        let found_or_remedy = self.found.as_ref().unwrap_or(&self.how_to_get);
        write!(
            f,
            "{state:<9} {:<23} {:<33} {found_or_remedy}",
            self.name, self.needed_for
        )
    }
}

fn rust(root: &Path) -> Vec<Tool> {
    let rustup = |kind: &str, name: &str| format!("rustup {kind} add {name}");
    let component = |name: &str, command: &str| Tool {
        name: name.to_owned(),
        found: process::output(process::cargo().args([command, "--version"])),
        needed_for: "test",
        how_to_get: rustup("component", name),
        is_required: true,
    };
    let version = process::output(process::cargo().arg("--version").current_dir(root));
    vec![
        Tool {
            name: format!("cargo 1.{RUST_MINOR} or newer"),
            found: version.filter(|version| is_new_enough(version)),
            needed_for: "everything",
            how_to_get: "rustup update stable (https://rustup.rs)".to_owned(),
            is_required: true,
        },
        Tool {
            name: "rustup".to_owned(),
            found: program_version("rustup"),
            needed_for: "installing targets and components",
            how_to_get: "https://rustup.rs".to_owned(),
            is_required: false,
        },
        Tool {
            name: TARGET.to_owned(),
            found: tools::has_wasm_target(root).then(|| "installed".to_owned()),
            needed_for: "serve, build, test",
            how_to_get: rustup("target", TARGET),
            is_required: true,
        },
        component("rustfmt", "fmt"),
        component("clippy", "clippy"),
    ]
}

/// Returns whether `cargo 1.95.0 (…)` is at least 1.[`RUST_MINOR`].
fn is_new_enough(cargo: &str) -> bool {
    let version = cargo.split(' ').nth(1).unwrap_or_default();
    let mut numbers = version
        .split('.')
        .map(|number| number.parse::<u32>().unwrap_or(0));
    let (major, minor) = (numbers.next(), numbers.next());
    (major, minor) >= (Some(1), Some(RUST_MINOR))
}

fn node(root: &Path) -> Vec<Tool> {
    vec![
        Tool {
            name: format!("node {NODE_MAJOR} or newer"),
            found: tools::node_version().filter(|version| tools::is_new_enough(version)),
            needed_for: "serve, build, test",
            how_to_get: GET_NODE.to_owned(),
            is_required: true,
        },
        Tool {
            name: "npm".to_owned(),
            found: program_version("npm"),
            needed_for: "installing npm packages",
            how_to_get: GET_NODE.to_owned(),
            is_required: true,
        },
        Tool {
            name: "npm packages".to_owned(),
            found: tools::has_npm_packages(root).then(|| "up to date".to_owned()),
            needed_for: "serve, build, test",
            how_to_get: "installed by those commands, or cargo xtask tools".to_owned(),
            is_required: false,
        },
    ]
}

fn browsers() -> Vec<Tool> {
    let chromium = tools::find_chromium().ok().flatten();
    let optional = |name: &str, how: &str| Tool {
        name: name.to_owned(),
        found: path(name),
        needed_for: "browsers.spec.js",
        how_to_get: how.to_owned(),
        is_required: false,
    };
    vec![
        Tool {
            name: "Chromium".to_owned(),
            found: chromium.map(|path| path.display().to_string()),
            needed_for: "test",
            how_to_get: "install Chromium or Chrome, or set CHROMIUM to its program".to_owned(),
            is_required: true,
        },
        optional("firefox-esr", "apt-get install firefox-esr"),
        optional("WebKitWebDriver", "apt-get install webkit2gtk-driver xvfb"),
    ]
}

fn optional() -> Vec<Tool> {
    vec![
        Tool {
            name: "cargo-deny".to_owned(),
            found: program_version("cargo-deny"),
            needed_for: "the check of licences",
            how_to_get: "cargo install cargo-deny --locked".to_owned(),
            is_required: false,
        },
        Tool {
            name: "ghc".to_owned(),
            found: program_version("ghc"),
            needed_for: "recording fixtures and samples again",
            how_to_get: "https://www.haskell.org/ghcup/".to_owned(),
            is_required: false,
        },
    ]
}

/// Returns the first line of the output of `name --version`.
fn program_version(name: &str) -> Option<String> {
    let text = process::output(Command::new(tools::on_path(Path::new(name))?).arg("--version"))?;
    text.lines().next().map(str::to_owned)
}

fn path(name: &str) -> Option<String> {
    tools::on_path(Path::new(name)).map(|path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_of_cargo_are_refused() {
        for (version, expected) in [
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", true),
            ("cargo 1.101.0-nightly", true),
            ("cargo 2.0.0", true),
            ("cargo 1.94.1 (29ea6fb6a 2026-03-24)", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }

    #[test]
    fn a_missing_tool_comes_with_its_remedy() {
        let tool = Tool {
            name: "ghc".to_owned(),
            found: None,
            needed_for: "samples",
            how_to_get: "ghcup".to_owned(),
            is_required: true,
        };
        let line = tool.to_string();
        assert!(
            line.starts_with("MISSING") && line.contains("samples") && line.ends_with(" ghcup")
        );
    }
}
