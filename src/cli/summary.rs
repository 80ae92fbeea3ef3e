//! `eventscope summary FILE`: the runtime's own report, out of the log.

use std::io::{self, Write};
use std::path::PathBuf;

use super::{Condition, Failure, Input, Range, report};
use analysis::numbers::report::Report;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds, sizes in bytes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let session = Input::open(&arguments.file)?.read_session()?;
    let summary = session.summary(arguments.range.span());
    if arguments.json {
        let document = serde_json::to_string(&summary).map_err(io::Error::other)?;
        writeln!(out, "{document}")?;
    } else {
        write!(out, "{}", Report(&summary))?;
    }
    Ok(report(session.reader()))
}
