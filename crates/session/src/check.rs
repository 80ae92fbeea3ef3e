//! Validity check of event sequences. It reads all events of the log again.

use serde::{Deserialize, Serialize};

use super::Session;
use super::event_list::NoRows;
use super::query::{Host, Query};
use analysis::automata::validity::Tolerated;
use analysis::check::Check;
use analysis::diagnostics::Diagnostics;
use eventlog::rows::RowReader;
use eventlog::{Need, Record};

/// Checks the order of all events. The check is a separate query because loading should not pay for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckQuery;

/// Result of the validity check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Events that cannot follow their predecessors.
    pub diagnostics: Diagnostics,
    /// Number of tolerated violations, by reason.
    pub tolerated: Vec<(Tolerated, u64)>,
    /// Number of events in the log.
    pub events: u64,
}

/// Read buffer of each capability.
const WINDOW_BYTES: usize = 1 << 20;
/// Events between two yields.
const EVENTS_PER_STEP: usize = 16_384;
/// Maximum number of ranges passed on for prefetching.
const RANGES_AHEAD: usize = 1024;

impl Query for CheckQuery {
    type Answer = Result<Checked, NoRows>;
    const NAME: &'static str = "check";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let source = log.rows().ok_or(NoRows::NotCounted)?;
        let mut answer = Checked {
            events: source.index.rows(),
            ..Checked::default()
        };
        let Some(mut reader) = RowReader::new(source, 0, WINDOW_BYTES) else {
            return Ok(answer);
        };
        reader.look_ahead();
        let mut check = Check::default();
        loop {
            let mut judge = |record: &Record<'_>| {
                check.event(record, &mut |diagnostic| {
                    answer.diagnostics.push(diagnostic)
                });
            };
            match reader.read(answer.events, EVENTS_PER_STEP, &mut judge) {
                Ok(true) => break,
                Ok(false) => host.yield_if_due().await,
                Err(needs) => {
                    let ahead: Vec<_> = reader.upcoming().take(RANGES_AHEAD).collect();
                    for Need(range) in needs {
                        let at = range.start;
                        let bytes = log.bytes(host, range, &mut ahead.iter().cloned());
                        reader.supply(at, &bytes.await?);
                    }
                }
            }
        }
        check.finish();
        answer.tolerated = check.tolerated.into_iter().collect();
        Ok(answer)
    }
}
