//! The project's own commands: see [`command::HELP`].
//!
//! In the order of a build:
//!
//! - [`mod@command`] parses the command line,
//! - [`project`] holds the shared state of a command; its [`steps`] are timed,
//! - [`tools`] finds or installs what the commands need, [`doctor`] lists it,
//! - [`site`] builds the static site,
//! - [`wasm`] compiles its [`programs`],
//! - [`seal`] finishes it: build id, names of folders, list of files for offline use,
//! - [`npm`] assembles the npm package of the worker,
//! - [`weigh`] limits the size of downloads,
//! - [`serve`] serves the site on localhost,
//! - [`mod@test`] runs and counts the tests,
//! - [`process`] starts other programs.

mod command;
mod doctor;
mod npm;
mod process;
mod programs;
mod project;
mod seal;
mod serve;
mod site;
mod spark;
mod steps;
mod test;
mod tools;
mod wasm;
mod weigh;

use std::path::Path;
use std::process::ExitCode;

use command::{Command, HELP};
use process::Result;
use programs::COMMAND_LINE;
use project::Project;
use site::Kind;
use steps::Steps;

fn main() -> ExitCode {
    match command::parse(std::env::args_os().skip(1)).and_then(run) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    let steps = match command {
        Command::Rebuild { .. } => Steps::silent(),
        _ => Steps::printing(),
    };
    let project = &Project::new(steps);
    match command {
        Command::Serve(options) => serve::serve(project, &options)?,
        Command::Build(kind) => {
            let built = site::build(project, kind);
            print!("\n{}", project.steps.table());
            built?;
        }
        Command::Rebuild { is_static } => {
            if is_static {
                site::build_static(project)?;
            } else {
                site::build(project, Kind::Quick)?;
            }
            println!("rebuilt in {}", project.steps.line());
        }
        Command::Trunk => site::build_for_trunk(project)?,
        Command::Install => {
            site::build(project, Kind::Shipped)?;
            install(&project.root)?;
        }
        Command::Npm => {
            site::build(project, Kind::Shipped)?;
            npm::assemble(&project.root)?;
        }
        Command::Test(selection) => return Ok(test::test(project, &selection)),
        Command::Doctor => return Ok(doctor::report(project)),
        Command::Tools => {
            tools::checks(&project.root)?;
            project.wasm_target()?;
            project.npm_packages()?;
            project.chromium()?;
            println!("everything needed is installed");
        }
        Command::Help => print!("{HELP}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs the command line, with the site of `dist/` embedded, into cargo's folder for binaries.
fn install(root: &Path) -> Result<()> {
    process::run(
        process::cargo()
            .args(["install", "--locked", "--features", "site", "--bin"])
            .args([COMMAND_LINE, "--path", "."])
            .current_dir(root),
    )
}
