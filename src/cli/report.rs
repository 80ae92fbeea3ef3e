//! `eventscope report FILE`: all that matters of a log in one HTML file.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

use super::out::Style;
use super::{Condition, Failure, LogFile, Out, Range, report};
use analysis::listen::at_once;
use views::report::{Wanted, report as html};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let wanted = Wanted {
        name: arguments.log.name(),
        range: arguments.range.span()?,
    };
    let session = arguments.log.open()?.read_session()?;
    let overview = Rc::new(session.overview());
    let text = at_once(html(&session, overview, &wanted)).unwrap_or_default();
    match &arguments.out {
        None => out.file(Style::Xml)?.write_all(text.as_bytes())?,
        Some(path) => {
            let failed = |error| Failure::File(path.clone(), error);
            let mut file = File::create(path).map_err(failed)?;
            file.write_all(text.as_bytes()).map_err(failed)?;
        }
    }
    Ok(report(session.reader()))
}
