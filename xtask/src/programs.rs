//! The two programs of the site: compiled, given their glue, and made smaller.

use std::env;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use wasm_bindgen_cli_support::Bindgen;

use crate::process::{self, During, Failure, Result};
use crate::site::Kind;
use crate::tools::TARGET;

/// One of them.
#[derive(Debug)]
struct Program {
    /// Its package.
    package: &'static str,
    /// Its name in the site.
    name: &'static str,
    /// Its profile in Cargo.toml when it is shipped, and the folder of the site that it goes into.
    profile: &'static str,
}

const PROGRAMS: [Program; 2] = [
    Program {
        package: "page",
        name: "app",
        profile: "page",
    },
    Program {
        package: "worker",
        name: "worker",
        profile: "worker",
    },
];

/// What wasm-opt is told: what it does shows in the size, not in the speed. Functions that are alike
/// stand beside each other, and so are packed well.
const OPTIONS: [&str; 8] = [
    "-Oz",
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
    "--reorder-functions-by-name",
];

/// Builds both programs, at the same time, each into its folder in `site`.
pub(crate) fn build(root: &Path, kind: Kind, site: &Path) -> Result<()> {
    if kind == Kind::Dev {
        // One profile: what they share is compiled once.
        compile(root, &PROGRAMS.each_ref(), "dev")?;
    }
    thread::scope(|scope| {
        let building = PROGRAMS.each_ref().map(|program| {
            scope.spawn(move || program.build(root, kind, &site.join(program.profile)))
        });
        for program in building {
            program
                .join()
                .map_err(|_| Failure::new("a program of the site could not be built"))??;
        }
        Ok(())
    })
}

impl Program {
    fn build(&self, root: &Path, kind: Kind, to: &Path) -> Result<()> {
        let profile = match kind {
            Kind::Shipped => {
                compile(root, &[self], self.profile)?;
                self.profile
            }
            Kind::Dev => "debug",
        };
        let compiled = target_folder(root).join(TARGET).join(profile);
        fs::create_dir_all(to).during(|| format!("create {}", to.display()))?;
        Bindgen::new()
            // It finds its program beside itself.
            .omit_default_module_path(false)
            .input_path(compiled.join(self.name).with_extension("wasm"))
            .web(true)
            .and_then(|bindgen| bindgen.typescript(false).generate(to))
            .map_err(|error| Failure::new(format!("wasm-bindgen failed: {error:#}")))?;
        if kind == Kind::Shipped {
            optimise(root, &to.join(format!("{}_bg.wasm", self.name)))?;
        }
        Ok(())
    }
}

/// Makes a program smaller.
fn optimise(root: &Path, wasm: &Path) -> Result<()> {
    process::run(
        Command::new("node")
            .arg(root.join("node_modules/binaryen/bin/wasm-opt"))
            .args(OPTIONS)
            .arg(wasm)
            .arg("-o")
            .arg(wasm),
    )
}

/// Compiles programs for the browser.
fn compile(root: &Path, programs: &[&Program], profile: &str) -> Result<()> {
    let mut cargo = process::cargo();
    cargo
        .args(["build", "--target", TARGET, "--profile", profile])
        .current_dir(root);
    for program in programs {
        cargo.args(["--package", program.package]);
    }
    if let Some(flag) = without_own_paths() {
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flag);
    }
    if !std::io::stderr().is_terminal() {
        cargo.arg("--quiet");
    }
    process::run(&mut cargo)
}

/// Where cargo puts what it compiles.
fn target_folder(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
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
