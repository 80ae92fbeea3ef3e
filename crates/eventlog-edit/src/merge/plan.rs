//! Planning of a merge: groups logs by process, and determines time shifts and number ranges.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::pairs::{Aligned, Span, clock_offsets as zeros_of_pairs, clock_start};
use super::survey::Facts;
use super::types::Types;
use crate::renumber::{MAX_CAPS, Numbering};
use eventlog::ids::{Duration, Nanos};
use eventlog::record::DECADE;

/// Method of aligning logs on a common time axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Align {
    /// By the wall clock.
    #[default]
    WallClock,
    /// By their first events.
    Start,
    /// By the first marker or message with this text.
    Marker(String),
    /// By messages between the processes, which do not arrive before they are sent. The two words begin the texts
    /// that mark a message as sent and as received; its id follows.
    Messages(String, String),
}

impl Align {
    /// Default words for messages.
    pub const WORDS: (&'static str, &'static str) = ("SEND", "RECV");
}

/// Reason why logs cannot be merged as requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A log has no wall clock.
    #[error(
        "{0} has no wall-clock time (GHC 7.4 and newer log it): align the logs by start or by a marker"
    )]
    NoWallClock(String),
    /// A log lacks the marker.
    #[error("{0} has no marker or message “{1}”")]
    NoMarker(String, String),
    /// The clocks of two logs are more than ten years apart.
    #[error("{0} and {1} are more than ten years apart: align them by start or by a marker")]
    FarApart(String, String),
    /// A log has no messages with the others.
    #[error(
        "{0} has no messages with the others: markers or messages such as “SEND 42” in one log and “RECV 42” in the other are required, in both directions"
    )]
    NoMessages(String),
    /// There are only messages in one direction, which bound the shift but do not determine it.
    #[error(
        "messages between {one} and {other} go in one direction only, so they give only one limit: aligned by {clock}, {other} must be shifted by {limit}. Align them so, with an offset within that limit"
    )]
    OneWay {
        /// Name of the first log.
        one: String,
        /// Name of the second log.
        other: String,
        /// Bound of the second log's shift.
        limit: String,
        /// The alignment to which the bound is relative.
        clock: &'static str,
    },
    /// Some messages would arrive before they were sent, whatever the shift.
    #[error(
        "the messages between {0} and {1} contradict each other by {2}: some would arrive before they were sent, however the clocks are shifted. An id may be used for two messages, or one clock may run faster than the other"
    )]
    Contradiction(String, String, Span),
    /// There are more capabilities, threads or other numbers than a log can have.
    #[error("together the logs have more {0} than one log can have")]
    TooMany(&'static str),
}

/// Plan of a merge.
#[derive(Debug)]
pub struct Plan {
    pub(super) processes: Vec<PlannedProcess>,
    pub(super) types: Types,
    /// The range of the new log, if all logs were cut to ranges.
    pub(super) cut_range: Option<(Nanos, Nanos)>,
    aligned: Vec<Aligned>,
}

/// A process, and the logs that are parts of its log.
#[derive(Debug)]
pub(super) struct PlannedProcess {
    pub(super) logs: Vec<usize>,
    pub(super) shift: Duration,
    pub(super) numbering: Numbering,
    pub(super) has_censuses: bool,
    /// Definitions to generate, if its log has none.
    pub(super) capset: Option<ProcessCapset>,
}

/// A generated capability set of a process.
#[derive(Debug)]
pub(super) struct ProcessCapset {
    pub(super) capset: u32,
    /// Name of the log's file.
    pub(super) name: String,
    /// Its capabilities, with their new numbers.
    pub(super) caps: Range<u16>,
}

impl Plan {
    /// Plans to merge the logs with these facts. Each is shifted by its offset, in nanoseconds, in addition to the
    /// alignment.
    ///
    /// # Errors
    /// If they cannot be merged as requested.
    pub fn new(logs: &[Facts], align: &Align, offsets: &[i128]) -> Result<Self, PlanError> {
        let groups = processes(logs);
        let (shifts, aligned) = match &groups[..] {
            [_] => (vec![Duration::ZERO], Vec::new()),
            _ => shifts(logs, &groups, align, offsets)?,
        };
        let mut numbering = Numbering::default();
        let mut with_censuses = false;
        let mut planned = Vec::new();
        let many = groups.len() > 1;
        for (group, shift) in groups.into_iter().zip(shifts) {
            let of =
                |of: fn(&Facts) -> u64| group.iter().map(|&log| of(&logs[log])).max().unwrap_or(0);
            let is_missing = many && !group.iter().any(|&log| logs[log].has_process);
            let capset = u32::try_from(of(|log| log.capsets)).unwrap_or(0);
            let capset = numbering.capsets.saturating_add(capset);
            let after = numbering.next_process(&[
                of(|log| u64::from(log.caps)),
                of(|log| log.threads),
                of(|log| log.capsets) + u64::from(is_missing),
                of(|log| log.cost_centres),
                of(|log| log.counters),
                of(|log| log.texts),
            ]);
            let after = after.map_err(PlanError::TooMany)?;
            if u32::from(after.caps) > MAX_CAPS {
                return Err(PlanError::TooMany("capabilities"));
            }
            let censuses = group.iter().any(|&log| logs[log].has_censuses);
            numbering.has_calls = group.iter().any(|&log| logs[log].has_calls);
            planned.push(PlannedProcess {
                shift,
                has_censuses: !with_censuses,
                capset: is_missing.then(|| ProcessCapset {
                    capset,
                    name: logs[group[0]].name.clone(),
                    caps: numbering.caps..after.caps,
                }),
                numbering: std::mem::replace(&mut numbering, after),
                logs: group,
            });
            with_censuses |= censuses;
        }
        let cut_range = cut_range(logs, &planned);
        let makes = planned.iter().any(|process| process.capset.is_some());
        Ok(Self {
            types: Types::for_logs(logs, makes, cut_range.is_some()),
            cut_range,
            processes: planned,
            aligned,
        })
    }

    /// Returns how logs were aligned by messages, if they were.
    pub fn aligned(&self) -> &[Aligned] {
        &self.aligned
    }

    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.processes.len()
    }
}

/// Returns the range from the first start to the last end of the ranges that the logs were cut to; `None` if it
/// covers everything.
fn cut_range(logs: &[Facts], processes: &[PlannedProcess]) -> Option<(Nanos, Nanos)> {
    const WHOLE: (Nanos, Nanos) = (Nanos(0), Nanos(u64::MAX));
    let ranges = processes.iter().flat_map(|process| {
        process.logs.iter().map(|&log| {
            let (from, to) = logs[log].cut_range.unwrap_or(WHOLE);
            let from = if from == WHOLE.0 {
                from
            } else {
                from + process.shift
            };
            (from, to + process.shift)
        })
    });
    let range = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    range.filter(|&range| range != WHOLE)
}

/// Groups the logs by process, in their order.
fn processes(logs: &[Facts]) -> Vec<Vec<usize>> {
    let same = |a: &Facts, b: &Facts| {
        let told = a.wall_clock.is_some();
        told && a.wall_clock == b.wall_clock && a.pid == b.pid && a.types == b.types
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, log) in logs.iter().enumerate() {
        match groups.iter_mut().find(|group| same(&logs[group[0]], log)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// Returns the shift of each process on the common axis, and the alignments by messages.
fn shifts(
    logs: &[Facts],
    groups: &[Vec<usize>],
    align: &Align,
    offsets: &[i128],
) -> Result<(Vec<Duration>, Vec<Aligned>), PlanError> {
    let (of_messages, aligned) = match align {
        Align::Messages(..) => zeros_of_pairs(logs, groups)?,
        _ => (vec![0; groups.len()], Vec::new()),
    };
    let mut zeros = Vec::new();
    for (group, of_messages) in groups.iter().zip(of_messages) {
        let log = &logs[group[0]];
        let at = |time: Nanos| i128::from(time.0);
        // Start of its clock, on an axis that all logs share.
        let zero = match align {
            Align::WallClock => {
                clock_start(log).ok_or_else(|| PlanError::NoWallClock(log.name.clone()))?
            }
            Align::Start => {
                let first = group.iter().filter_map(|&log| logs[log].first).min();
                -at(first.unwrap_or_default())
            }
            Align::Marker(text) => {
                let marker = group.iter().filter_map(|&log| logs[log].marker).min();
                let none = || PlanError::NoMarker(log.name.clone(), text.clone());
                -at(marker.ok_or_else(none)?)
            }
            Align::Messages(..) => of_messages,
        };
        let offset = group
            .iter()
            .filter_map(|&log| offsets.get(log))
            .sum::<i128>();
        zeros.push((zero.saturating_add(offset), &log.name));
    }
    let Some(&(first, name)) = zeros.iter().min_by_key(|(zero, _)| *zero) else {
        return Ok((Vec::new(), aligned));
    };
    let shift = |&(zero, other): &(i128, &String)| {
        let later = u64::try_from(zero.saturating_sub(first)).unwrap_or(u64::MAX);
        if later >= DECADE.0 {
            return Err(PlanError::FarApart(name.clone(), other.clone()));
        }
        Ok(Duration(later))
    };
    let shifts: Result<Vec<Duration>, PlanError> = zeros.iter().map(shift).collect();
    Ok((shifts?, aligned))
}
