//! The project's own commands: `cargo xtask serve`, `build`, `install`, `npm`, `test`, `tools`.
//!
//! In the order a build runs through it:
//!
//! - [`tools`] finds or installs what the commands need,
//! - [`site`] turns the package into a static site in `dist/`,
//! - [`programs`] compiles the two programs of it,
//! - [`seal`] finishes that site: build id, worker folder, policy, offline list,
//! - [`npm`] makes a package for scripts of one of them,
//! - [`weigh`] says what of it a visitor has to load,
//! - [`serve`] shows it on localhost,
//! - [`mod@test`] runs every test and counts,
//! - [`process`] starts other programs on behalf of all of these.

mod npm;
mod process;
mod programs;
mod seal;
mod serve;
mod site;
mod test;
mod tools;
mod weigh;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use process::{Failure, Result};
use serve::Serve;
use site::Kind;
use test::Parts;

const HELP: &str = "\
Eventscope's own commands. Each installs what it lacks, once.

    cargo xtask serve [--port N] [--open]   build the site and show it on localhost
    cargo xtask build                       build the site into dist/
        --dev (also of serve)               sooner, but large and slow: for trying changes
    cargo xtask install                     build the site, and install the command line with it
    cargo xtask npm                         build the site, and the package for npm into target/npm/
    cargo xtask test [--native|--browser]   run the checks and every test, or one half
    cargo xtask tools                       only install what the others need
    cargo xtask trunk                       what Trunk calls: see Trunk.toml
    cargo xtask help                        this text
";

/// One command line, understood.
#[derive(Debug, PartialEq)]
enum Command {
    Serve(Serve),
    Build(Kind),
    Trunk,
    Install,
    Npm,
    Test(Parts),
    Tools,
    Help,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments).and_then(|command| run(&command)) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<ExitCode> {
    let root = &project_root();
    match command {
        Command::Serve(options) => {
            site::build(root, options.kind)?;
            serve::serve(root, options)?;
        }
        Command::Build(kind) => site::build(root, *kind)?,
        Command::Trunk => site::build_for_trunk(root)?,
        Command::Install => {
            site::build(root, Kind::Shipped)?;
            install(root)?;
        }
        Command::Npm => {
            site::build(root, Kind::Shipped)?;
            npm::assemble(root)?;
        }
        Command::Test(parts) => return Ok(test::test(root, *parts)),
        Command::Tools => {
            tools::for_checks(root)?;
            tools::for_site(root)?;
            tools::chromium()?;
            println!("everything needed is installed");
        }
        Command::Help => print!("{HELP}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the command line, which has the site of `dist/` inside, where cargo puts programs.
fn install(root: &Path) -> Result<()> {
    process::run(
        process::cargo()
            .args(["install", "--locked", "--features", "site", "--bin"])
            .args(["eventscope", "--path", "."])
            .current_dir(root),
    )
}

fn parse(arguments: &[String]) -> Result<Command> {
    let mut words = arguments.iter().map(String::as_str);
    let command = match words.next() {
        None | Some("help" | "--help" | "-h") => return Ok(Command::Help),
        Some("build") => Command::Build(match words.next() {
            None => Kind::Shipped,
            Some("--dev") => Kind::Dev,
            Some(other) => return Err(unknown(other)),
        }),
        Some("trunk") => Command::Trunk,
        Some("install") => Command::Install,
        Some("npm") => Command::Npm,
        Some("tools") => Command::Tools,
        Some("test") => Command::Test(match words.next() {
            None => Parts::All,
            Some("--native") => Parts::Native,
            Some("--browser") => Parts::Browser,
            Some(other) => return Err(unknown(other)),
        }),
        Some("serve") => {
            let mut options = Serve::default();
            while let Some(word) = words.next() {
                match word {
                    "--open" => options.open = true,
                    "--dev" => options.kind = Kind::Dev,
                    "--port" => {
                        options.port = words
                            .next()
                            .and_then(|port| port.parse().ok())
                            .ok_or_else(|| Failure::new("--port wants a number up to 65535"))?;
                    }
                    other => return Err(unknown(other)),
                }
            }
            Command::Serve(options)
        }
        Some(other) => return Err(unknown(other)),
    };
    match words.next() {
        None => Ok(command),
        Some(other) => Err(unknown(other)),
    }
}

fn unknown(word: &str) -> Failure {
    Failure::new(format!("'{word}' is not known here; see cargo xtask help"))
}

/// The folder above `xtask/`, wherever the clone is now.
fn project_root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package)
        .parent()
        .expect("xtask lies in the project's folder")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn commands_are_understood() {
        assert_eq!(parsed("").unwrap(), Command::Help);
        assert_eq!(parsed("build").unwrap(), Command::Build(Kind::Shipped));
        assert_eq!(parsed("build --dev").unwrap(), Command::Build(Kind::Dev));
        assert_eq!(parsed("install").unwrap(), Command::Install);
        assert_eq!(parsed("npm").unwrap(), Command::Npm);
        assert_eq!(parsed("trunk").unwrap(), Command::Trunk);
        assert_eq!(parsed("test").unwrap(), Command::Test(Parts::All));
        assert_eq!(
            parsed("test --browser").unwrap(),
            Command::Test(Parts::Browser)
        );
        assert_eq!(
            parsed("serve --port 9000 --open --dev").unwrap(),
            Command::Serve(Serve {
                port: 9000,
                open: true,
                kind: Kind::Dev,
            })
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (line, named) in [
            ("bild", "'bild'"),
            ("build --fast", "'--fast'"),
            ("test --native --browser", "'--browser'"),
            ("serve --port many", "--port"),
        ] {
            let failure = parsed(line).unwrap_err().to_string();
            assert!(failure.contains(named), "{line}: {failure}");
        }
    }
}
