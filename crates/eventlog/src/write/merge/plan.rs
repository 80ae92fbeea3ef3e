//! Which logs are of one process, where each begins on the common axis, and what becomes of its numbers.

use std::ops::Range;

use thiserror::Error;

use super::survey::Facts;
use super::types::Types;
use crate::ids::{Duration, Nanos};
use crate::record::DECADE;
use crate::write::renumber::{MOST_CAPS, Numbering};

/// By what logs are put onto one axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// By the wall clock.
    #[default]
    WallClock,
    /// Their first events are at the same time.
    Start,
    /// The first marker or message with this text is at the same time.
    Marker(String),
}

/// Why logs cannot be merged as was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A log does not tell the wall clock.
    #[error(
        "{0} does not tell the wall clock (GHC 7.4 and newer log it): align the logs by start or by a marker"
    )]
    NoWallClock(String),
    /// A log has no such marker.
    #[error("{0} has no marker or message “{1}”")]
    NoMarker(String, String),
    /// The clocks of two logs are more than ten years apart.
    #[error("{0} and {1} are more than ten years apart: align them by start or by a marker")]
    FarApart(String, String),
    /// There are more capabilities, threads or other numbers than a log can have.
    #[error("together the logs have more {0} than one log can have")]
    TooMany(&'static str),
}

/// What is written of which logs.
#[derive(Debug)]
pub struct Plan {
    pub(super) processes: Vec<Planned>,
    pub(super) types: Types,
}

/// A process, and the logs that are parts of its log.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) logs: Vec<usize>,
    pub(super) shift: Duration,
    pub(super) numbering: Numbering,
    pub(super) has_censuses: bool,
    /// What is said of it, if its log does not.
    pub(super) made: Option<Made>,
}

/// The capability set that is made for a process.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) capset: u32,
    /// What the file of its log is called.
    pub(super) name: String,
    /// Its capabilities, with their new numbers.
    pub(super) caps: Range<u16>,
}

impl Plan {
    /// Plans to merge the logs of which these are the facts. Each is moved by its offset, in
    /// nanoseconds, beside what the alignment asks for.
    ///
    /// # Errors
    /// If they cannot be merged so.
    pub fn new(logs: &[Facts], align: &Align, offsets: &[i128]) -> Result<Self, PlanError> {
        let groups = processes(logs);
        let shifts = match &groups[..] {
            [_] => vec![Duration::ZERO],
            _ => shifts(logs, &groups, align, offsets)?,
        };
        let mut numbering = Numbering::default();
        let mut with_censuses = false;
        let mut planned = Vec::new();
        let many = groups.len() > 1;
        for (group, shift) in groups.into_iter().zip(shifts) {
            let of =
                |of: fn(&Facts) -> u64| group.iter().map(|&log| of(&logs[log])).max().unwrap_or(0);
            let made = many && !group.iter().any(|&log| logs[log].has_process);
            let capset = u32::try_from(of(|log| log.capsets)).unwrap_or(0);
            let capset = numbering.capsets.saturating_add(capset);
            let after = numbering.after(&[
                of(|log| u64::from(log.caps)),
                of(|log| log.threads),
                of(|log| log.capsets) + u64::from(made),
                of(|log| log.cost_centres),
                of(|log| log.counters),
                of(|log| log.texts),
            ]);
            let after = after.map_err(PlanError::TooMany)?;
            if u32::from(after.caps) > MOST_CAPS {
                return Err(PlanError::TooMany("capabilities"));
            }
            let censuses = group.iter().any(|&log| logs[log].has_censuses);
            planned.push(Planned {
                shift,
                has_censuses: !with_censuses,
                made: made.then(|| Made {
                    capset,
                    name: logs[group[0]].name.clone(),
                    caps: numbering.caps..after.caps,
                }),
                numbering: std::mem::replace(&mut numbering, after),
                logs: group,
            });
            with_censuses |= censuses;
        }
        let makes = planned.iter().any(|process| process.made.is_some());
        Ok(Self {
            types: Types::of(logs, makes),
            processes: planned,
        })
    }

    /// How many processes the logs are of.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.processes.len()
    }
}

/// The logs by process, in their order.
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

/// How much later the events of each process are on the common axis.
fn shifts(
    logs: &[Facts],
    groups: &[Vec<usize>],
    align: &Align,
    offsets: &[i128],
) -> Result<Vec<Duration>, PlanError> {
    let mut zeros = Vec::new();
    for group in groups {
        let log = &logs[group[0]];
        let at = |time: Nanos| i128::from(time.0);
        // When its clock begins, by a clock that all have.
        let zero = match align {
            Align::WallClock => {
                let clock = log.wall_clock;
                let (time, unix) = clock.ok_or_else(|| PlanError::NoWallClock(log.name.clone()))?;
                i128::try_from(unix).unwrap_or(i128::MAX / 4) - at(time)
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
        };
        let offset = group
            .iter()
            .filter_map(|&log| offsets.get(log))
            .sum::<i128>();
        zeros.push((zero.saturating_add(offset), &log.name));
    }
    let Some(&(first, name)) = zeros.iter().min_by_key(|(zero, _)| *zero) else {
        return Ok(Vec::new());
    };
    let shift = |&(zero, other): &(i128, &String)| {
        let later = u64::try_from(zero.saturating_sub(first)).unwrap_or(u64::MAX);
        if later >= DECADE.0 {
            return Err(PlanError::FarApart(name.clone(), other.clone()));
        }
        Ok(Duration(later))
    };
    zeros.iter().map(shift).collect()
}
