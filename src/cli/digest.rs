//! `eventscope digest FILE`: what is compared of a log, to be kept in its place.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::input::LogFile;
use super::{Condition, Failure, Out, report};
use insight::assertion::Asked;
use insight::metrics::MetricContext;
use insight::window::{Place, Window};
use insight::{Digest, RuleContext};
use model::time::Interval;
use session::Session;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    part: Part,
}

/// A part of each log by what the program says in it.
#[derive(Debug, clap::Args)]
pub(super) struct Part {
    /// Only from a marker or message of the program on: the first of that text, or the n-th
    #[arg(long, value_name = "NAME[#n]")]
    from_marker: Option<String>,
    /// Only up to a marker or message of the program
    #[arg(long, value_name = "NAME[#n]")]
    to_marker: Option<String>,
}

impl Part {
    /// The part of a log; `None` for all of it.
    fn range(&self, session: &Session) -> Result<Option<Interval>, Failure> {
        let place = |text: &Option<String>| text.as_deref().map(Place::parse);
        let (from, to) = (place(&self.from_marker), place(&self.to_marker));
        if from.is_none() && to.is_none() {
            return Ok(None);
        }
        let log = session.recording();
        let range = Window::Between(from, to).range(log, log.whole());
        range.map(Some).map_err(Failure::Absent)
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.from_marker.is_none() && self.to_marker.is_none()
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let session = arguments.log.open()?.read_session()?;
    let range = arguments.part.range(&session)?;
    out.json(&Digest::gather_blocking(session.recording(), range))?;
    Ok(report(session.reader()))
}

/// What is compared of a file, a log or the digest of one, with what is asked of it.
pub(super) fn read(
    file: &Path,
    part: &Part,
    asked: &[&Asked],
) -> Result<(Digest, Condition), Failure> {
    if let Some(mut digest) = kept(file)? {
        if !part.is_whole() {
            return Err(Failure::Usage(format!(
                "{} is the digest of a log: its part is chosen when it is made",
                file.display()
            )));
        }
        digest.ask_again(asked.iter().copied());
        return Ok((digest, Condition::Sound));
    }
    let session = LogFile::of(file).open()?.read_session()?;
    let range = part.range(&session)?;
    let log = session.recording();
    let mut digest = Digest::gather_blocking(log, range);
    let looked = MetricContext::new(RuleContext::new(log, range));
    let asked = digest.ask(asked.iter().copied(), &looked);
    asked.map_err(Failure::Usage)?;
    Ok((digest, report(session.reader())))
}

/// The digest that a file holds, if it is one: logs never begin with a brace.
fn kept(path: &Path) -> Result<Option<Digest>, Failure> {
    if path.as_os_str() == "-" || !path.is_file() {
        return Ok(None);
    }
    let failed = |error| Failure::File(path.to_owned(), error);
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut first = [0];
    if reader.read(&mut first).map_err(failed)? == 0 || first != *b"{" {
        return Ok(None);
    }
    let digest = serde_json::from_reader(first.chain(reader));
    let wrong =
        |error| Failure::Absent(format!("{} is no digest of a log: {error}", path.display()));
    digest.map(Some).map_err(wrong)
}
