//! `eventscope digest FILE`: extracts the data that `compare` needs, to be kept instead of the log.

use std::path::Path;

use super::input::{Input, LogFile};
use super::{Condition, Failure, Out, report, report_in_log};
use insight::assertion::ValueRequest;
use insight::metrics::MetricContext;
use insight::window::{Occurrence, Window};
use insight::{Digest, RuleContext};
use model::time::Interval;
use session::Session;
use session::queries::{DigestQuery, FindingsQuery};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    part: MarkerRange,
}

/// A part of each log by what the program says in it.
#[derive(Debug, clap::Args)]
pub(super) struct MarkerRange {
    /// Only from this marker or message of the program on: the first with that text, or the n-th
    #[arg(long, value_name = "NAME[#n]")]
    from_marker: Option<String>,
    /// Only up to this marker or message of the program
    #[arg(long, value_name = "NAME[#n]")]
    to_marker: Option<String>,
}

impl MarkerRange {
    /// Returns the time range of the part; `None` for the whole log.
    fn range(&self, session: &Session) -> Result<Option<Interval>, Failure> {
        let place = |text: &Option<String>| text.as_deref().map(Occurrence::parse);
        let (from, to) = (place(&self.from_marker), place(&self.to_marker));
        if from.is_none() && to.is_none() {
            return Ok(None);
        }
        let log = session.recording();
        let range = Window::Between(from, to).range(log, log.whole_range());
        range.map(Some).map_err(Failure::Absent)
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.from_marker.is_none() && self.to_marker.is_none()
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let session = arguments.log.open()?.read_session()?;
    let range = arguments.part.range(&session)?;
    out.json(&session.ask(&DigestQuery(range)).unwrap_or_default())?;
    Ok(report(session.reader()))
}

/// Returns the digest of an opened file, which is a log or a digest, with the `requests` numbers added.
pub(super) fn read(
    file: &Path,
    input: &Input,
    part: &MarkerRange,
    requests: &[&ValueRequest],
) -> Result<(Digest, Condition), Failure> {
    if let Some(mut digest) = read_digest(file, input)? {
        if !part.is_whole() {
            return Err(Failure::Usage(format!(
                "{} is a digest: choose the range when you create it, with `eventscope digest`",
                file.display()
            )));
        }
        digest.add_requested_from_digest(requests.iter().copied());
        return Ok((digest, Condition::Sound));
    }
    let session = input
        .read_session()
        .map_err(|failure| failure.in_log(file))?;
    let range = part
        .range(&session)
        .map_err(|failure| failure.in_log(file))?;
    let findings = session.ask(&FindingsQuery(range));
    let mut digest = session.ask(&DigestQuery(range)).unwrap_or_default();
    let context = MetricContext::new(RuleContext::new(session.recording(), range));
    let context = context.with_report(findings);
    let added = digest.add_requested(requests.iter().copied(), &context);
    added.map_err(Failure::Usage)?;
    Ok((digest, report_in_log(file, session.reader())))
}

/// Reads a file as a digest; `None` if it is not one.
fn read_digest(file: &Path, input: &Input) -> Result<Option<Digest>, Failure> {
    let Some(bytes) = input.read_object(file)? else {
        return Ok(None);
    };
    let digest = serde_json::from_slice(&bytes);
    let wrong = |error| Failure::Absent(format!("{} is not a digest: {error}", file.display()));
    digest.map(Some).map_err(wrong)
}
