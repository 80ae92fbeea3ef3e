//! `eventscope report FILE`: writes the main results for a log to one HTML file.

use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;
use std::rc::Rc;

use super::out::EscapeStyle;
use super::output_file::create_output;
use super::{Condition, Failure, LogFile, Out, Range, report};
use analysis::yielder::block_on;
use views::report::{ReportSubject, report as html};

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
    arguments.range.span()?;
    if arguments.out.is_none() && stdout().is_terminal() {
        let what = "the report is HTML: write it to a file with --out report.html";
        return Err(Failure::Usage(what.to_owned()));
    }
    let output = arguments.out.as_deref();
    let output = output.map(|path| create_output(path, [arguments.log.path()]));
    let output = output.transpose()?;
    let (session, range) = arguments.log.read(arguments.range)?;
    let wanted = ReportSubject {
        name: arguments.log.name(),
        range,
    };
    let overview = Rc::new(session.overview());
    let text = block_on(html(&session, overview, &wanted)).unwrap_or_default();
    match output {
        None => out.file(EscapeStyle::Xml)?.write_all(text.as_bytes())?,
        Some(mut file) => {
            let written = file.write_all(text.as_bytes()).and_then(|()| file.finish());
            let path = arguments.out.clone().unwrap_or_default();
            written.map_err(|error| Failure::File(path, error))?;
        }
    }
    Ok(report(session.reader()))
}
