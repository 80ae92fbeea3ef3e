//! What the commands need besides cargo: each is looked for, and installed
//! once if it is not there.

use std::env::{self, consts::OS};
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{self, During, Failure, Result};

/// The newest Trunk that Rust 1.95 compiles.
const TRUNK: &str = "0.21.14";
const TARGET: &str = "wasm32-unknown-unknown";
const NODE_MAJOR: u32 = 20;

/// What `cargo fmt` and `cargo clippy` need, both natively and for the browser.
pub(crate) fn for_checks(root: &Path) -> Result<()> {
    component(root, "rustfmt", "fmt")?;
    component(root, "clippy", "clippy")?;
    target(root)
}

/// What a site build needs. Returns the search path that has it all.
pub(crate) fn for_site(root: &Path) -> Result<OsString> {
    let cache = cache()?;
    let path = search_path(&[cache.join("bin"), root.join("node_modules").join(".bin")])?;
    target(root)?;
    node_packages(root)?;
    // A release build of Trunk optimises for minutes and gains nothing here.
    // Its own lock file holds; that of wasm-bindgen-cli names crates that
    // have left the index.
    cargo_tool(&path, &cache, "trunk", "trunk", TRUNK, true)?;
    let bindgen = locked_version(root, "wasm-bindgen")?;
    cargo_tool(
        &path,
        &cache,
        "wasm-bindgen",
        "wasm-bindgen-cli",
        &bindgen,
        false,
    )?;
    Ok(path)
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

/// A program that cargo can compile, in exactly this version.
fn cargo_tool(
    path: &OsString,
    cache: &Path,
    program: &str,
    package: &str,
    version: &str,
    locked: bool,
) -> Result<()> {
    let found = process::output(Command::new(program).arg("--version").env("PATH", path));
    if found.as_deref() == Some(&format!("{program} {version}")) {
        return Ok(());
    }
    doing(
        &format!("compiling {program} {version} into {}", cache.display()),
        "1 to 4 minutes",
    );
    let mut install = process::cargo();
    install
        .arg("install")
        .arg(format!("{package}@{version}"))
        .arg("--root")
        .arg(cache)
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    if locked {
        install.arg("--locked");
    }
    if !std::io::stderr().is_terminal() {
        install.arg("--quiet");
    }
    process::run(&mut install)
}

/// Where compiled tools are kept, for every clone of this project.
fn cache() -> Result<PathBuf> {
    let folder = |name| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(chosen) = folder("EVENTSCOPE_TOOLS") {
        return std::path::absolute(chosen).during(|| "use EVENTSCOPE_TOOLS".into());
    }
    let caches = match (folder("XDG_CACHE_HOME"), env::home_dir()) {
        (Some(caches), _) => PathBuf::from(caches),
        (None, Some(home)) => home.join(".cache"),
        (None, None) => {
            return Err(Failure::new(
                "there is no home folder: set EVENTSCOPE_TOOLS to a folder for tools",
            ));
        }
    };
    Ok(caches.join("eventscope").join("tools"))
}

/// The version of a crate that Cargo.lock holds.
fn locked_version(root: &Path, package: &str) -> Result<String> {
    let lock = root.join("Cargo.lock");
    let text = fs::read_to_string(&lock).during(|| format!("read {}", lock.display()))?;
    version_in(&text, package)
        .ok_or_else(|| Failure::new(format!("Cargo.lock does not name {package}")))
}

fn version_in(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.strip_suffix('"')?.to_owned())
}

/// PATH, with these folders before the others.
fn search_path(first: &[PathBuf]) -> Result<OsString> {
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(first.iter().cloned().chain(env::split_paths(&others)))
        .map_err(|error| Failure::new(format!("could not extend PATH: {error}")))
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
    fn versions_come_from_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"a\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in(lock, "a").as_deref(), Some("0.2.130"));
        assert_eq!(version_in(lock, "b"), None);
    }

    #[test]
    fn programs_are_found() {
        assert!(on_path(Path::new("no-such-program-anywhere")).is_none());
        assert!(on_path(Path::new("/no/such/program")).is_none());
    }
}
