//! Finds and installs the tools that the commands need besides cargo.

use std::env::{self, consts::OS};
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::process::{self, During, Failure, Result};

/// Target triple of the site's programs.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
pub(crate) const NODE_MAJOR: u32 = 20;
pub(crate) const GET_NODE: &str = "get it from https://nodejs.org or your package manager";

/// Installs rustfmt and Clippy if they are missing.
pub(crate) fn checks(root: &Path) -> Result<()> {
    component(root, "rustfmt", "fmt")?;
    component(root, "clippy", "clippy")
}

/// Chromium without its user interface, which takes a fifth less work for a test; the engine is the same.
const HEADLESS_SHELL: &str = "chromium-headless-shell";

/// Returns the Chromium in the environment variable `CHROMIUM`, or else one in a usual place.
pub(crate) fn find_chromium() -> Result<Option<PathBuf>> {
    let Some(chosen) = env::var_os("CHROMIUM").map(PathBuf::from) else {
        return Ok(chromium_in_usual_place());
    };
    match on_path(&chosen) {
        Some(found) => Ok(Some(found)),
        None => Err(Failure::new(format!(
            "CHROMIUM is {}, which is not a program",
            chosen.display()
        ))),
    }
}

const NO_CHROMIUM: &str = "Chromium is missing, which runs the browser tests: \
    install Chromium or Chrome, or set CHROMIUM to its program";

fn chromium_in_usual_place() -> Option<PathBuf> {
    [
        HEADLESS_SHELL,
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

/// Returns whether installing Chromium's headless shell is worth it: nobody works at this machine, and the Chromium
/// found is a whole one that nobody chose.
pub(crate) fn wants_headless_shell(found: &Path) -> bool {
    env::var_os("CI").is_some()
        && env::var_os("CHROMIUM").is_none()
        && !found.ends_with(HEADLESS_SHELL)
}

/// Installs Chromium with apt, if that can be done.
pub(crate) fn install_chromium() -> Result<PathBuf> {
    // Not all relatives of Debian have the headless shell.
    apt_install(&[HEADLESS_SHELL], NO_CHROMIUM)
        .or_else(|_| apt_install(&["chromium"], NO_CHROMIUM))?;
    chromium_in_usual_place().ok_or_else(|| Failure::new(NO_CHROMIUM))
}

/// Installs packages with apt, if apt is available, and root or sudo without a password; otherwise fails with
/// `missing`.
pub(crate) fn apt_install(packages: &[&str], missing: &str) -> Result<()> {
    // Two of them at a time would wait for, or fail at, the lock of apt.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let apt = on_path(Path::new("apt-get")).ok_or_else(|| Failure::new(missing))?;
    let mut prefix = Vec::new();
    if process::output(Command::new("id").arg("-u")).as_deref() != Some("0") {
        let sudo = on_path(Path::new("sudo")).ok_or_else(|| Failure::new(missing))?;
        // Without a terminal, sudo cannot ask for a password.
        if !std::io::stdin().is_terminal()
            && process::output(Command::new(&sudo).args(["-n", "true"])).is_none()
        {
            return Err(Failure::new(missing));
        }
        prefix = vec![sudo.into_os_string()];
    }
    // Fresh machines often upgrade themselves for a while, which locks the packages.
    let install = ["install", "-y", "-qq", "-o", "DPkg::Lock::Timeout=300"];
    let install = [&install, packages].concat();
    for arguments in [&["update", "-qq"][..], &install] {
        let mut words = prefix.clone();
        words.extend(["env", "DEBIAN_FRONTEND=noninteractive"].map(OsString::from));
        words.push(apt.clone().into_os_string());
        words.extend(arguments.iter().map(OsString::from));
        let status = Command::new(&words[0])
            .args(&words[1..])
            .stdout(Stdio::null())
            .status()
            .during(|| "start apt-get".into())?;
        // Where the lists cannot be updated, those at hand may do.
        if !status.success() && arguments[0] == "install" {
            return Err(Failure::new(format!("apt-get install failed; {missing}")));
        }
    }
    Ok(())
}

/// Returns whether the toolchain has the standard library for WebAssembly.
pub(crate) fn has_wasm_target(root: &Path) -> bool {
    process::output(
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
    })
}

fn component(root: &Path, component: &str, subcommand: &str) -> Result<()> {
    if process::output(process::cargo().args([subcommand, "--version"])).is_some() {
        return Ok(());
    }
    rustup_add(root, "component", component)
}

/// Adds a component or target to the toolchain of this project; never updates rustup itself.
pub(crate) fn rustup_add(root: &Path, kind: &str, name: &str) -> Result<()> {
    let rustup = on_path(Path::new("rustup")).ok_or_else(|| {
        Failure::new(format!(
            "the Rust {kind} {name} is missing, and rustup, which installs it: \
             get it from https://rustup.rs"
        ))
    })?;
    process::run(
        Command::new(rustup)
            .args([kind, "add", name])
            .current_dir(root),
    )
}

/// Returns the version of Node.js, such as `v22.1.0`; `None` if it is missing.
pub(crate) fn node_version() -> Option<String> {
    process::output(Command::new("node").arg("--version"))
}

/// Returns whether a version such as `v22.1.0` is at least [`NODE_MAJOR`].
pub(crate) fn is_new_enough(node: &str) -> bool {
    let major = node.trim_start_matches('v').split('.').next();
    major
        .and_then(|major| major.parse().ok())
        .is_some_and(|major: u32| major >= NODE_MAJOR)
}

/// Fails unless a sufficiently new Node.js is installed.
pub(crate) fn check_node() -> Result<()> {
    match node_version() {
        Some(node) if is_new_enough(&node) => Ok(()),
        Some(node) => Err(Failure::new(format!(
            "Node.js {NODE_MAJOR} or newer is needed, not {node}: {GET_NODE}"
        ))),
        None => Err(Failure::new(format!(
            "Node.js (node) is missing: {GET_NODE}"
        ))),
    }
}

/// Returns whether `node_modules/` was installed from the current package-lock.json.
pub(crate) fn has_npm_packages(root: &Path) -> bool {
    let [lock, installed] = npm_locks(root).map(fs::read);
    lock.is_ok_and(|lock| installed.is_ok_and(|installed| installed == lock))
}

/// Returns package-lock.json, and its copy next to the packages that were installed from it.
fn npm_locks(root: &Path) -> [PathBuf; 2] {
    ["package-lock.json", "node_modules/.installed-lock.json"].map(|name| root.join(name))
}

/// Installs the npm packages of package-lock.json: wasm-opt, the server, Playwright.
pub(crate) fn install_npm_packages(root: &Path) -> Result<()> {
    let npm = on_path(Path::new("npm")).ok_or_else(|| {
        Failure::new(format!(
            "npm, which comes with Node.js, is missing: {GET_NODE}"
        ))
    })?;
    process::run(
        Command::new(npm)
            .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .stdout(Stdio::null())
            .current_dir(root),
    )?;
    let [lock, installed] = npm_locks(root);
    fs::copy(&lock, &installed).during(|| format!("write {}", installed.display()))?;
    Ok(())
}

/// Returns the executable file of a program name or path.
pub(crate) fn on_path(program: &Path) -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_of_node_are_refused() {
        assert!(is_new_enough("v20.0.0") && is_new_enough("v101.2.3"));
        assert!(!is_new_enough("v19.9.0") && !is_new_enough("unknown"));
    }

    #[test]
    fn missing_programs_are_not_found() {
        assert!(on_path(Path::new("no-such-program-anywhere")).is_none());
        assert!(on_path(Path::new("/no/such/program")).is_none());
    }
}
