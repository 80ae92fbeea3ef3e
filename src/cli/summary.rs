//! `eventscope summary FILE`: the runtime's own report, out of the log.

use std::io::{self, Write};
use std::path::PathBuf;

use super::{Condition, Failure, Input, report};
use crate::analysis::numbers::report::Report;
use crate::automata::Span;
use crate::ids::Nanos;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    /// Only from this time on, in nanoseconds
    #[arg(long)]
    from: Option<u64>,
    /// Only before this time, in nanoseconds
    #[arg(long)]
    to: Option<u64>,
    /// Print JSON: times in nanoseconds, sizes in bytes
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn range(&self) -> Option<Span> {
        if self.from.is_none() && self.to.is_none() {
            return None;
        }
        let from = self.from.unwrap_or(0);
        let to = self.to.unwrap_or(u64::MAX);
        Some(Span::new(Nanos(from), Nanos(to)))
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let session = Input::open(&arguments.file)?.read_session()?;
    let summary = session.summary(arguments.range());
    if arguments.json {
        let document = serde_json::to_string(&summary).map_err(io::Error::other)?;
        writeln!(out, "{document}")?;
    } else {
        write!(out, "{}", Report(&summary))?;
    }
    Ok(report(session.reader()))
}
