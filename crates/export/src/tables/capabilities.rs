//! Table `capabilities`: one row per capability.

use std::collections::BTreeMap;

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use eventlog::ids::CapId;
use session::cells::Column;

/// One row per capability.
pub(super) const TABLE: Table = Table {
    name: "capabilities",
    help: "One row per capability: its lifetime and its process.",
    columns: &[
        Column::number("cap", "Number of the capability"),
        Column::number("start_ns", "Start of its life"),
        Column::number("end_ns", "End of its life"),
        Column::number(
            "duration_ns",
            "Length of its life, the whole for shares of its spans",
        ),
        Column::text(
            "process",
            "Name of its process as in `eventscope info` if the log is of several processes, else the program",
        ),
        Column::number("pid", "Identifier of its process"),
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
            cap.cap.into(),
            cap.life.start().into(),
            cap.life.end().into(),
            cap.life.duration().into(),
            name.into(),
            pid.into(),
        ])?;
    }
    Ok(())
}
