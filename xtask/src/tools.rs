//! What the commands need besides cargo: each is looked for, and installed
//! once if it is not there.

use std::env::{self, consts::OS};
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{self, During, Failure, Result};

/// What the site's programs are compiled for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
const NODE_MAJOR: u32 = 20;

/// What `cargo fmt` and `cargo clippy` need, both natively and for the browser.
pub(crate) fn for_checks(root: &Path) -> Result<()> {
    component(root, "rustfmt", "fmt")?;
    component(root, "clippy", "clippy")?;
    target(root)
}

/// What a site build needs.
pub(crate) fn for_site(root: &Path) -> Result<()> {
    target(root)?;
    node_packages(root)
}

/// The Chromium that runs the browser tests.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os("CHROMIUM") {
        let chosen = PathBuf::from(chosen);
        return on_path(&chosen).ok_or_else(|| {
            Failure::new(format!(
                "CHROMIUM is {}, which is no program",
                chosen.display()
            ))
        });
    }
    if let Some(found) = find_chromium() {
        return Ok(found);
    }
    install_chromium()?;
    find_chromium().ok_or_else(|| Failure::new(NO_CHROMIUM))
}

const NO_CHROMIUM: &str = "Chromium is missing, which runs the browser tests: \
    install Chromium or Chrome, or set CHROMIUM to its program";

fn find_chromium() -> Option<PathBuf> {
    [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ]
    .into_iter()
    .find_map(|name| on_path(Path::new(name)))
}

fn install_chromium() -> Result<()> {
    let missing = || Failure::new(NO_CHROMIUM);
    let apt = on_path(Path::new("apt-get")).ok_or_else(missing)?;
    let mut prefix = Vec::new();
    if process::output(Command::new("id").arg("-u")).as_deref() != Some("0") {
        let sudo = on_path(Path::new("sudo")).ok_or_else(missing)?;
        // Without a terminal nobody could answer a question for a password.
        if !std::io::stdin().is_terminal()
            && process::output(Command::new(&sudo).args(["-n", "true"])).is_none()
        {
            return Err(missing());
        }
        prefix = vec![sudo.into_os_string()];
    }
    doing("installing Chromium with apt-get", "about a minute");
    for arguments in [
        &["update", "-qq"][..],
        &["install", "-y", "-qq", "chromium"][..],
    ] {
        let mut words = prefix.clone();
        words.extend(["env", "DEBIAN_FRONTEND=noninteractive"].map(OsString::from));
        words.push(apt.clone().into_os_string());
        words.extend(arguments.iter().map(OsString::from));
        let status = Command::new(&words[0])
            .args(&words[1..])
            .stdout(Stdio::null())
            .status()
            .during(|| "start apt-get".into())?;
        if !status.success() {
            return Err(Failure::new(format!(
                "apt-get {} failed; {NO_CHROMIUM}",
                arguments[0]
            )));
        }
    }
    Ok(())
}

/// The standard library for the browser.
fn target(root: &Path) -> Result<()> {
    let there = process::output(
        Command::new("rustc")
            .args(["--print", "sysroot"])
            .current_dir(root),
    )
    .is_some_and(|sysroot| {
        Path::new(&sysroot)
            .join("lib/rustlib")
            .join(TARGET)
            .join("lib")
            .is_dir()
    });
    if there {
        return Ok(());
    }
    rustup(root, "target", TARGET)
}

fn component(root: &Path, component: &str, subcommand: &str) -> Result<()> {
    if process::output(process::cargo().args([subcommand, "--version"])).is_some() {
        return Ok(());
    }
    rustup(root, "component", component)
}

/// Adds to the toolchain that compiles this project; never changes rustup itself.
fn rustup(root: &Path, kind: &str, name: &str) -> Result<()> {
    let rustup = on_path(Path::new("rustup")).ok_or_else(|| {
        Failure::new(format!(
            "the Rust {kind} {name} is missing, and rustup, which installs it: \
             get it from https://rustup.rs"
        ))
    })?;
    doing(&format!("adding the Rust {kind} {name}"), "some seconds");
    process::run(
        Command::new(rustup)
            .args([kind, "add", name])
            .current_dir(root),
    )
}

/// The npm packages of package-lock.json: wasm-opt, the server, Playwright.
fn node_packages(root: &Path) -> Result<()> {
    const GET: &str = "get it from https://nodejs.org or your package manager";
    let node = process::output(Command::new("node").arg("--version"))
        .ok_or_else(|| Failure::new(format!("Node.js (node) is missing: {GET}")))?;
    let major = node.trim_start_matches('v').split('.').next();
    if major
        .and_then(|major| major.parse().ok())
        .is_none_or(|major: u32| major < NODE_MAJOR)
    {
        return Err(Failure::new(format!(
            "Node.js {NODE_MAJOR} or newer is needed, not {node}: {GET}"
        )));
    }
    let lock = root.join("package-lock.json");
    let wanted = fs::read(&lock).during(|| format!("read {}", lock.display()))?;
    let installed = root.join("node_modules").join(".installed-lock.json");
    if fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let npm = on_path(Path::new("npm"))
        .ok_or_else(|| Failure::new(format!("npm, which comes with Node.js, is missing: {GET}")))?;
    doing("installing npm packages in node_modules", "some seconds");
    process::run(
        Command::new(npm)
            .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .stdout(Stdio::null())
            .current_dir(root),
    )?;
    fs::write(&installed, wanted).during(|| format!("write {}", installed.display()))
}

/// The file that a program's name stands for.
fn on_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let folders = env::var_os("PATH")?;
    let mut names = vec![program.to_owned()];
    if OS == "windows" {
        names.extend(["exe", "cmd"].map(|extension| program.with_extension(extension)));
    }
    env::split_paths(&folders)
        .flat_map(|folder| {
            names
                .iter()
                .map(move |name| folder.join(name))
                .collect::<Vec<_>>()
        })
        .find(|file| file.is_file())
}

fn doing(what: &str, time: &str) {
    eprintln!("{what} ({time}, once)");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found() {
        assert!(on_path(Path::new("no-such-program-anywhere")).is_none());
        assert!(on_path(Path::new("/no/such/program")).is_none());
    }
}
