//! Table `capabilities`: one row per capability.

use std::collections::BTreeMap;

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};
use eventlog::ids::CapId;

/// One row per capability.
pub(super) const TABLE: Table = Table {
    name: "capabilities",
    help: "A row for each capability: when it lived, and of which process it is, where a log is of several.",
    columns: &[
        Column::number("cap", "The number of the capability"),
        Column::number("start_ns", "When its life begins"),
        Column::number("end_ns", "When it ends"),
        Column::number(
            "duration_ns",
            "The time between both: what the spans of the capability are shares of",
        ),
        Column::text(
            "process",
            "Of a log of several processes: what `eventscope info` calls its process; else the program",
        ),
        Column::number("pid", "The number of its process"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let overview = log.session.overview();
    let process = log.session.process();
    let mut processes: BTreeMap<CapId, (&str, Option<u32>)> = BTreeMap::new();
    for own in &process.processes {
        let its = (own.name.as_str(), own.process.pid);
        processes.extend(own.caps.iter().map(|cap| (*cap, its)));
    }
    for cap in &overview.caps {
        let own = processes.get(&cap.cap);
        let (name, pid) = match own {
            Some((name, pid)) => (Some(*name), *pid),
            None if process.processes.is_empty() => (overview.program.as_deref(), process.pid),
            None => (None, None),
        };
        rows.row(&[
            u64::from(cap.cap.0).into(),
            cap.life.start().0.into(),
            cap.life.end().0.into(),
            cap.life.end().since(cap.life.start()).0.into(),
            name.into(),
            pid.map(u64::from).into(),
        ])?;
    }
    Ok(())
}
