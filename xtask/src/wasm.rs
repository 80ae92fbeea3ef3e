//! Compiles the WebAssembly programs of the site, and generates their JavaScript.

use std::env;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use sha2::{Digest, Sha256};

use crate::process::{self, During, Failure, Result};
use crate::programs::{BINDGEN, PROGRAMS, Program, QUICK_PROFILE, SHIPPED_PROFILE, TOOL_PROFILE};
use crate::project::Project;
use crate::site::{Kind, copy_folder, remove_folder};
use crate::tools::TARGET;

/// Options of wasm-opt that reduce the size without changing the speed. `-O2`, `-O3`, `-Os` and `-Oz` take up to
/// three times as long for a program that is larger when compressed, and not faster. Sorting functions by name
/// places similar ones next to each other, so that they compress well.
const OPTIONS: [&str; 8] = [
    "-O1",
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
    "--reorder-functions-by-name",
];

/// Builds both programs into their folders in `site`.
pub(crate) fn build(project: &Project, kind: Kind, site: &Path) -> Result<()> {
    let profile = match kind {
        Kind::Shipped => SHIPPED_PROFILE,
        Kind::Quick => QUICK_PROFILE,
    };
    thread::scope(|scope| {
        // Cargo locks a folder per profile, and these profiles differ.
        scope.spawn(|| project.bindgen());
        if kind == Kind::Shipped {
            // wasm-opt is one of them.
            scope.spawn(|| project.npm_packages());
        }
        project.steps.run("cargo", || compile(project, profile))
    })?;
    project.bindgen()?;
    match kind {
        Kind::Shipped => for_each_program(|program| finish_shipped(project, program, site)),
        Kind::Quick => {
            project.steps.run("wasm-bindgen", || {
                for_each_program(|program| generate_changed(&project.root, program))
            })?;
            copy_quick(&project.root, site)
        }
    }
}

/// Copies the quick programs of the last build.
pub(crate) fn copy_quick(root: &Path, site: &Path) -> Result<()> {
    for program in &PROGRAMS {
        copy_folder(&generated(root, program), &site.join(program.folder))?;
    }
    Ok(())
}

fn for_each_program(build: impl Fn(&Program) -> Result<()> + Sync) -> Result<()> {
    let build = &build;
    thread::scope(|scope| {
        let builds = PROGRAMS
            .each_ref()
            .map(|program| scope.spawn(move || build(program)));
        for build in builds {
            build
                .join()
                .map_err(|_| Failure::new("building a program of the site panicked"))??;
        }
        Ok(())
    })
}

/// Generates the JavaScript of a shipped program, and optimizes the program.
fn finish_shipped(project: &Project, program: &Program, site: &Path) -> Result<()> {
    let Program { binary, folder, .. } = program;
    let folder = site.join(folder);
    let step = |what: &str| format!("{binary}: {what}");
    project.steps.run(&step("wasm-bindgen"), || {
        let wasm = compiled(&project.root, program, SHIPPED_PROFILE);
        generate(&project.root, &wasm, &folder)
    })?;
    project.npm_packages()?;
    project.steps.run(&step("wasm-opt"), || {
        optimize(&project.root, &folder.join(format!("{binary}_bg.wasm")))
    })
}

/// Runs wasm-bindgen, unless the program has not changed since the last run.
fn generate_changed(root: &Path, program: &Program) -> Result<()> {
    let wasm = compiled(root, program, QUICK_PROFILE);
    let bytes = fs::read(&wasm).during(|| format!("read {}", wasm.display()))?;
    let digest = Sha256::digest(bytes);
    let folder = generated(root, program);
    let stamp = folder.with_extension("sha256");
    if fs::read(&stamp).is_ok_and(|last| last == digest[..]) {
        return Ok(());
    }
    remove_folder(&folder)?;
    generate(root, &wasm, &folder)?;
    fs::write(&stamp, digest).during(|| format!("write {}", stamp.display()))
}

/// Compiles the program that [`generate`] runs, if it is out of date.
pub(crate) fn compile_bindgen(root: &Path) -> Result<()> {
    let mut cargo = process::cargo();
    cargo
        .args([
            "build",
            "--quiet",
            "--profile",
            TOOL_PROFILE,
            "--package",
            BINDGEN,
        ])
        .current_dir(root);
    process::run(&mut cargo)
}

fn generate(root: &Path, wasm: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).during(|| format!("create {}", folder.display()))?;
    let bindgen = target_folder(root).join(TOOL_PROFILE).join(BINDGEN);
    process::run(Command::new(bindgen).arg(wasm).arg(folder))
}

fn optimize(root: &Path, wasm: &Path) -> Result<()> {
    process::run(
        Command::new("node")
            .arg(root.join("node_modules/binaryen/bin/wasm-opt"))
            .args(OPTIONS)
            .arg(wasm)
            .arg("-o")
            .arg(wasm),
    )
}

/// Compiles both programs.
fn compile(project: &Project, profile: &str) -> Result<()> {
    let mut cargo = process::cargo();
    cargo
        .args(["build", "--target", TARGET, "--profile", profile])
        .current_dir(&project.root);
    for program in &PROGRAMS {
        cargo.args(["--package", program.package, "--bin", program.binary]);
    }
    // Quick programs are not distributed.
    if profile != QUICK_PROFILE
        && let Some(flag) = without_own_paths()
    {
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flag);
    }
    if !std::io::stderr().is_terminal() {
        cargo.arg("--quiet");
    }
    process::run(&mut cargo)
}

/// Returns the path of the program that cargo compiles.
fn compiled(root: &Path, program: &Program, profile: &str) -> PathBuf {
    target_folder(root)
        .join(TARGET)
        .join(profile)
        .join(program.binary)
        .with_extension("wasm")
}

/// Returns the folder of wasm-bindgen's output for a quick program.
fn generated(root: &Path, program: &Program) -> PathBuf {
    root.join("target/quick-programs").join(program.folder)
}

/// Returns cargo's target folder.
fn target_folder(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Returns a compiler flag that removes the home folder from panic messages, so that no user name is published and
/// every machine builds the same files. A target-specific setting adds to those in configuration files, whereas
/// RUSTFLAGS replaces them.
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
