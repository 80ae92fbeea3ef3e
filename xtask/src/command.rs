//! The command line of `cargo xtask`.

use std::ffi::OsString;

use lexopt::prelude::*;

use crate::process::{Failure, Result};
use crate::serve::Serve;
use crate::site::Kind;
use crate::test::Selection;

pub(crate) const HELP: &str = "\
Eventscope's own commands. Each installs what is missing, once.

    cargo xtask serve          build the quick site, show it on localhost, and build it
                               again after each change of a source
        --port N  --open       the port (8080, or the next free one); open a browser
        --shipped              show the site as it is shipped, without watching
    cargo xtask build          build the site into dist/, as it is shipped
        --quick                build the quick site into target/quick-site/
    cargo xtask install        build the site, and install the command line with it
    cargo xtask npm            build the site, and the package for npm into target/npm/
    cargo xtask test           run the checks and every test
        --quick                checks, tests with a small corpus, and one browser file
        --native  --browser    one half
        NAME...                a package, a browser file (link.spec.js), or else a part of the
                               names of tests of the whole program
    cargo xtask doctor         list the tools that are there or missing, and how to get them
    cargo xtask tools          install the tools that the other commands need
    cargo xtask trunk          the hook of Trunk: see Trunk.toml
    cargo xtask help           this text
";

/// A parsed command line.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Serve(Serve),
    Build(Kind),
    /// One build of the quick site while it is served; prints only errors and one line of times.
    Rebuild {
        /// Whether only `www/` and `index.html` have changed.
        is_static: bool,
    },
    Trunk,
    Install,
    Npm,
    Test(Selection),
    Doctor,
    Tools,
    Help,
}

/// Parses the arguments after `cargo xtask`.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let name = match parser.next()? {
        None | Some(Short('h') | Long("help")) => return Ok(Command::Help),
        Some(Value(name)) => name.string()?,
        Some(other) => return Err(other.unexpected().into()),
    };
    let command = match name.as_str() {
        "serve" => Command::Serve(serve(&mut parser)?),
        "build" => Command::Build(if flag(&mut parser, "quick")? {
            Kind::Quick
        } else {
            Kind::Shipped
        }),
        "rebuild" => Command::Rebuild {
            is_static: flag(&mut parser, "static")?,
        },
        "test" => Command::Test(selection(&mut parser)?),
        "trunk" => Command::Trunk,
        "install" => Command::Install,
        "npm" => Command::Npm,
        "doctor" => Command::Doctor,
        "tools" => Command::Tools,
        "help" => Command::Help,
        other => {
            return Err(Failure::new(format!(
                "unknown command '{other}'; see cargo xtask help"
            )));
        }
    };
    match parser.next()? {
        None => Ok(command),
        Some(argument) => Err(argument.unexpected().into()),
    }
}

/// Returns whether the only permitted option `--name` is given.
fn flag(parser: &mut lexopt::Parser, name: &str) -> Result<bool> {
    match parser.next()? {
        None => Ok(false),
        Some(Long(option)) if option == name => Ok(true),
        Some(argument) => Err(argument.unexpected().into()),
    }
}

fn serve(parser: &mut lexopt::Parser) -> Result<Serve> {
    let mut options = Serve::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("open") => options.open = true,
            Long("shipped") => options.kind = Kind::Shipped,
            Long("port") => options.port = parser.value()?.parse()?,
            _ => return Err(argument.unexpected().into()),
        }
    }
    Ok(options)
}

fn selection(parser: &mut lexopt::Parser) -> Result<Selection> {
    let mut names = Vec::new();
    while let Some(argument) = parser.next()? {
        let part = match argument {
            Long("quick") => Selection::Quick,
            Long("native") => Selection::Native,
            Long("browser") => Selection::Browser,
            Value(name) => {
                names.push(name.string()?);
                continue;
            }
            _ => return Err(argument.unexpected().into()),
        };
        // Options exclude each other and names.
        return match parser.next()? {
            Some(next) => Err(next.unexpected().into()),
            None if names.is_empty() => Ok(part),
            None => Err(Failure::new("names of tests exclude the other options")),
        };
    }
    Ok(if names.is_empty() {
        Selection::All
    } else {
        Selection::Named(names)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn commands_are_parsed() {
        let named = ["analysis", "link.spec.js"].map(str::to_owned).to_vec();
        for (line, command) in [
            ("", Command::Help),
            ("build", Command::Build(Kind::Shipped)),
            ("build --quick", Command::Build(Kind::Quick)),
            ("rebuild --static", Command::Rebuild { is_static: true }),
            ("test", Command::Test(Selection::All)),
            ("test --browser", Command::Test(Selection::Browser)),
            (
                "test analysis link.spec.js",
                Command::Test(Selection::Named(named)),
            ),
            ("serve", Command::Serve(Serve::default())),
            (
                "serve --port 9000 --open --shipped",
                Command::Serve(Serve {
                    port: 9000,
                    open: true,
                    kind: Kind::Shipped,
                }),
            ),
        ] {
            assert_eq!(parsed(line).unwrap(), command, "{line}");
        }
    }

    #[test]
    fn errors_name_the_argument() {
        for (line, name) in [
            ("bild", "'bild'"),
            ("build --fast", "'--fast'"),
            ("build twice", "\"twice\""),
            ("test --native --browser", "'--browser'"),
            ("test link --quick", "names"),
            ("serve --port many", "many"),
            ("tools --all", "'--all'"),
        ] {
            let failure = parsed(line).unwrap_err().to_string();
            assert!(failure.contains(name), "{line}: {failure}");
        }
    }
}
