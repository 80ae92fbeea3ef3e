//! The process: startup, capabilities and capability sets.

use std::fmt::{self, Write};

use super::{Quoted, join};
use crate::cursor::{CapsetType, Text, TextList};
use crate::event::Event;
use crate::quantity::Utc;

pub(super) fn write(out: &mut String, event: &Event<'_>) -> fmt::Result {
    use Event as E;
    match *event {
        E::Shutdown {} => out.write_str("shuts down"),
        E::Startup { n_caps: 1 } => out.write_str("starts up with 1 capability"),
        E::Startup { n_caps } => write!(out, "starts up with {n_caps} capabilities"),
        E::CapCreate { cap } => write!(out, "capability {cap} is created"),
        E::CapDelete { cap } => write!(out, "capability {cap} is deleted"),
        E::CapDisable { cap } => write!(out, "capability {cap} is disabled"),
        E::CapEnable { cap } => write!(out, "capability {cap} is enabled"),
        E::CapsetCreate {
            capset,
            capset_type,
        } => {
            write!(out, "capability set {capset} is created: ")?;
            write_kind(out, capset_type)
        }
        E::CapsetDelete { capset } => write!(out, "capability set {capset} is deleted"),
        E::CapsetAssignCap { capset, cap } => {
            write!(out, "capability {cap} joins capability set {capset}")
        }
        E::CapsetRemoveCap { capset, cap } => {
            write!(out, "capability {cap} leaves capability set {capset}")
        }
        _ => write_origin(out, event),
    }
}

fn write_kind(out: &mut String, kind: CapsetType) -> fmt::Result {
    match kind.0 {
        1 => out.write_str("a custom group"),
        2 => out.write_str("an OS process"),
        3 => out.write_str("a clock domain"),
        other => write!(out, "of the unknown type {other}"),
    }
}

fn write_origin(out: &mut String, event: &Event<'_>) -> fmt::Result {
    use Event as E;
    match *event {
        E::Version { version } => write!(out, "written by GHC {}", version.to_str()),
        E::ProgramInvocation { commandline } => {
            write!(out, "command line: {}", commandline.to_str())
        }
        E::RtsIdentifier { capset, rtsident } => write!(
            out,
            "capability set {capset}: the runtime is {}",
            Quoted(Text(rtsident.0.strip_suffix(&[0]).unwrap_or(rtsident.0)))
        ),
        E::ProgramArgs { capset, args } => {
            write!(out, "capability set {capset}: the command line is ")?;
            join(out, " ", args.iter().map(|arg| arg.to_str()))
        }
        E::ProgramEnv { capset, env } => {
            write!(out, "capability set {capset}: ")?;
            write_variables(out, env)
        }
        E::OsProcessPid { capset, pid } => {
            write!(out, "capability set {capset}: the process id is {pid}")
        }
        E::OsProcessParentPid { capset, ppid } => write!(
            out,
            "capability set {capset}: the process id of the parent is {ppid}"
        ),
        E::WallClockTime { capset, sec, nsec } => {
            let utc = Utc {
                seconds: sec,
                nanoseconds: nsec,
            };
            write!(
                out,
                "capability set {capset}: the wall clock says {utc} ({sec} s and {nsec} ns since 1970)"
            )
        }
        E::CutRange {
            from, to: u64::MAX, ..
        } => write!(out, "the log was cut to the range from {from} ns on"),
        E::CutRange { from, to, .. } => {
            write!(out, "the log was cut to the range from {from} to {to} ns")
        }
        _ => Ok(()),
    }
}

/// Writes only the names of the variables: their values may be secrets, and an event list may be seen by others.
fn write_variables(out: &mut String, env: TextList<'_>) -> fmt::Result {
    let name = |variable: Text<'_>| {
        let text = variable.to_str();
        text.split_once('=')
            .map_or_else(|| text.to_string(), |(name, _)| name.to_owned())
    };
    write!(
        out,
        "{} environment variables (values not shown): ",
        env.iter().count()
    )?;
    join(out, ", ", env.iter().map(name))
}
