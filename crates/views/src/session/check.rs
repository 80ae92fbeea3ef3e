//! Whether the events of a log are in order, one by one: the file is read once
//! more, as `eventscope check` reads it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, Query, Unreadable};
use analysis::check::{Check, Finding, Subject};
use eventlog::ids::{CapId, Nanos};
use eventlog::names::Key;
use eventlog::{LogReader, Need, Record, Step};

/// Events between two looks at the clock.
const EVENTS_PER_STEP: usize = 20_000;
/// So many ranges are named to who reads ahead.
const RANGES_AHEAD: usize = 1024;
/// So many findings are kept; all are counted.
const KEPT: usize = 1_000;

/// Whether the events of a log are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckQuery;

/// What [`CheckQuery`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// How many events are out of order.
    pub count: u64,
    /// The first of them.
    pub findings: Vec<OutOfOrder>,
    /// What is unusual but usually harmless, and how often it happened.
    pub tolerated: BTreeMap<String, u64>,
}

/// An event that is out of order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfOrder {
    /// When.
    pub time: Nanos,
    /// The capability in whose block it stands.
    pub cap: Option<CapId>,
    /// What it is about: a thread with its label, a capability, a task.
    pub subject: String,
    /// What is wrong.
    pub problem: String,
}

impl Query for CheckQuery {
    type Answer = Result<Checked, Unreadable>;
    const NAME: &'static str = "check";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let inflated = log.inflated().map(|bytes| bytes.len() as u64);
        let mut reader = LogReader::new(inflated.unwrap_or_else(|| log.reader.len().0));
        let mut check = Check::default();
        let mut checked = Checked::default();
        loop {
            let mut keep = |finding: Finding| {
                if checked.findings.len() < KEPT {
                    checked.findings.push(out_of_order(log, finding));
                }
            };
            let mut sink = |record: &Record<'_>| check.event(record, &mut keep);
            // The log was read before: it has a header.
            let Ok(step) = reader.advance(&mut sink, EVENTS_PER_STEP) else {
                break;
            };
            match step {
                Step::More | Step::Indexed => host.listen().await,
                Step::Done => break,
                Step::Need(needs) => {
                    let mut ahead: Vec<_> = reader.upcoming().take(RANGES_AHEAD).collect();
                    let mut ahead = ahead.drain(..);
                    for Need(range) in needs {
                        let bytes = log.bytes(host, range.clone(), &mut ahead).await?;
                        reader.supply(range.start, &bytes);
                    }
                }
            }
        }
        check.finish();
        checked.count = check.findings;
        let tolerated = check.tolerated.iter();
        checked.tolerated = tolerated
            .map(|(what, count)| (what.plural().to_owned(), *count))
            .collect();
        Ok(checked)
    }
}

fn out_of_order(log: &Session, finding: Finding) -> OutOfOrder {
    let Finding {
        time,
        cap,
        subject,
        problem,
    } = finding;
    let label = match subject {
        Subject::Thread(thread) => log.recording.names.get(Key::Thread(thread)),
        Subject::Capability(_) | Subject::Task(_) => None,
    };
    OutOfOrder {
        time,
        cap,
        subject: label.map_or_else(
            || subject.to_string(),
            |label| format!("{subject} ({label})"),
        ),
        problem: problem.to_string(),
    }
}
