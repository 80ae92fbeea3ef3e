//! Time ranges of a log: `--from` and `--to`.

use super::Failure;
use super::duration::parse_time;
use eventlog::ids::Nanos;
use model::format;
use model::time::Interval;

/// A part of the log.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Range {
    /// Only from this time on, in nanoseconds or with a unit, such as 1.5s, 10ms or 5us
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(super) from: Option<u64>,
    /// Only before this time, in nanoseconds or with a unit
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(super) to: Option<u64>,
}

impl Range {
    /// Returns the range; `None` for the whole log.
    pub(super) fn span(self) -> Result<Option<Interval>, Failure> {
        let (from, to) = match (self.from, self.to) {
            (None, None) => return Ok(None),
            (from, to) => (from.unwrap_or(0), to.unwrap_or(u64::MAX)),
        };
        if to < from {
            let what = format!("the range ends before it begins: --from {from} --to {to}");
            return Err(Failure::Usage(what));
        }
        Ok(Some(Interval::new(Nanos(from), Nanos(to))))
    }

    /// Checks that the range overlaps the log, which spans from its first to its last event.
    pub(super) fn check(self, log: Option<Interval>) -> Result<(), Failure> {
        let Some((first, last)) = log.map(|log| (log.start(), log.end())) else {
            return Ok(());
        };
        let is_after = self.from.is_some_and(|from| from > last.0);
        let is_before = self.to.is_some_and(|to| to < first.0);
        if !is_after && !is_before {
            return Ok(());
        }
        Err(Failure::Absent(format!(
            "the range lies outside of the log, which goes from {} ({first} ns) to {} ({last} ns)",
            format::time(first),
            format::time(last),
            first = first.0,
            last = last.0,
        )))
    }
}
