//! OpenMetrics text format: the counters of a log as time series, as accepted by `promtool tsdb
//! create-blocks-from openmetrics`. Times need a wall clock; without one, only the last value of each counter is
//! written, without a time.

use std::io::{self, Write};

use crate::format::{Error, Format, OutputKind};
use crate::log::Log;
use crate::trace::counters::{Counter, Kind};
use crate::trace::{Visitor, names, walk};
use eventlog::ids::Nanos;

/// OpenMetrics text format.
pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    help: "Counters as time series in the text format of Prometheus",
    is_trace: false,
    output: OutputKind::File {
        extension: "openmetrics.txt",
        write,
    },
};

fn write(log: &Log<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let mut text = Text {
        job: escaped(names::program(log)),
        clock_origin_ns: log.clock_origin_ns,
        family: None,
        pending: None,
        out,
    };
    walk(log, &mut text)?;
    text.flush()?;
    writeln!(text.out, "# EOF")?;
    Ok(())
}

/// A pending value. Prometheus has a time resolution of one millisecond, so the last value of each is written.
#[derive(Clone, Copy)]
struct PendingSample {
    counter: Counter,
    at: Option<u64>,
    value: u64,
}

struct Text<'a> {
    out: &'a mut dyn Write,
    job: String,
    clock_origin_ns: Option<u64>,
    /// Current metric family; the series of a family must be contiguous.
    family: Option<Kind>,
    pending: Option<PendingSample>,
}

/// Returns the name of a metric family; the format requires the unit as its suffix.
fn family(kind: Kind) -> String {
    format!("ghc_eventlog_{}_{}", kind.name(), kind.unit().name())
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

impl Text<'_> {
    /// Writes the pending value.
    fn flush(&mut self) -> io::Result<()> {
        let Some(pending) = self.pending.take() else {
            return Ok(());
        };
        let PendingSample { counter, at, value } = pending;
        let total = if counter.kind.only_grows() {
            "_total"
        } else {
            ""
        };
        let name = family(counter.kind);
        write!(self.out, "{name}{total}{{program=\"{}\"", self.job)?;
        if let Some(cap) = counter.cap {
            write!(self.out, ",evCap=\"{cap}\"")?;
        }
        write!(self.out, "}} {value}")?;
        if let Some(ms) = at {
            write!(self.out, " {}.{:03}", ms / 1000, ms % 1000)?;
        }
        writeln!(self.out)
    }
}

impl Visitor for Text<'_> {
    const VISITS_LIVES: bool = false;

    fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        self.flush()?;
        let kind = counter.kind;
        if self.family.replace(kind) == Some(kind) {
            return Ok(());
        }
        let (name, unit) = (family(kind), kind.unit().name());
        let what = if kind.only_grows() {
            "counter"
        } else {
            "gauge"
        };
        writeln!(self.out, "# TYPE {name} {what}")?;
        writeln!(self.out, "# UNIT {name} {unit}")?;
        writeln!(self.out, "# HELP {name} {}", kind.help())
    }

    fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        let at = self
            .clock_origin_ns
            .map(|origin| origin.saturating_add(at.0) / 1_000_000);
        if self.pending.is_some_and(|pending| pending.at != at) {
            self.flush()?;
        }
        self.pending = Some(PendingSample {
            counter: *counter,
            at,
            value,
        });
        Ok(())
    }
}
