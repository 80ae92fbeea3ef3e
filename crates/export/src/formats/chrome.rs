//! Chrome's trace event format: JSON with one event per line, for chrome://tracing and many other programs.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::format::{Error, Format, OutputKind};
use crate::log::Log;
use crate::trace::Counter;
use crate::trace::draw::{Argument, Instant, Lane, Named, Slice, TraceWriter, draw};
use crate::trace::names;
use eventlog::ids::Nanos;

/// Chrome's trace event format.
pub(super) const FORMAT: Format = Format {
    name: "chrome",
    help: "Trace events in JSON, for chrome://tracing and many other programs",
    is_trace: true,
    output: OutputKind::File {
        extension: "json",
        write,
    },
};

fn write(log: &Log<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let mut chrome = Chrome {
        out,
        is_first: true,
    };
    write!(chrome.out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    chrome.processes(names::program(log))?;
    draw(log, &mut chrome)?;
    writeln!(chrome.out, "\n]}}")?;
    Ok(())
}

/// Groups of lanes, which the format calls processes.
const CAPABILITIES: u32 = 1;
const THREADS: u32 = 2;
const PROGRAM: u32 = 3;

/// Maps a lane to process and thread of the format.
fn place(lane: Lane) -> (u32, u64) {
    match lane {
        Lane::Runtime => (CAPABILITIES, 0),
        Lane::Capability(cap) => (CAPABILITIES, 2 * u64::from(cap.0) + 1),
        Lane::Collections(cap) => (CAPABILITIES, 2 * u64::from(cap.0) + 2),
        Lane::Thread(thread) => (THREADS, thread.0.into()),
        Lane::Messages => (PROGRAM, 0),
        Lane::Named(number) => (PROGRAM, u64::from(number) + 1),
    }
}

/// Converts to microseconds with decimals: exact for logs of up to 100 days.
fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

/// One event; the fields are those of the format.
#[derive(serde::Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    ph: &'static str,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// Binding point: an arrow ends at the enclosing slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    /// Scope of an instant: its lane only.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Arguments::is_empty")]
    args: Arguments<'a>,
}

#[derive(Clone, Copy)]
struct Arguments<'a>(&'a [Named<'a>]);

impl Arguments<'_> {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, argument) in self.0 {
            match argument {
                Argument::Text(text) => map.serialize_entry(name, text)?,
                Argument::Number(number) => map.serialize_entry(name, number)?,
                Argument::Flag(flag) => map.serialize_entry(name, flag)?,
            }
        }
        map.end()
    }
}

struct Chrome<'a> {
    out: &'a mut dyn Write,
    is_first: bool,
}

impl Chrome<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) {
            "\n"
        } else {
            ",\n"
        };
        self.out.write_all(comma.as_bytes())?;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    /// Writes metadata of a process or thread of the format, such as its name.
    fn write_metadata(
        &mut self,
        what: &str,
        of: (u32, u64),
        argument: Named<'_>,
    ) -> io::Result<()> {
        self.event(&Event {
            args: Arguments(&[argument]),
            ..event(what, "M", of, 0)
        })
    }

    fn processes(&mut self, program: &str) -> io::Result<()> {
        let groups = [
            (CAPABILITIES, "capabilities"),
            (THREADS, "threads"),
            (PROGRAM, "spans and messages"),
        ];
        for (process, group) in groups {
            let name = format!("{program}: {group}");
            let of = (process, 0);
            self.write_metadata("process_name", of, ("name", Argument::Text(&name)))?;
            let place = Argument::Number(process.into());
            self.write_metadata("process_sort_index", of, ("sort_index", place))?;
        }
        Ok(())
    }

    fn complete(&mut self, lane: Lane, slice: &Slice<'_>) -> io::Result<()> {
        let span = slice.span;
        self.event(&Event {
            cat: Some(slice.category),
            dur: Some(microseconds(span.duration().0)),
            args: Arguments(slice.arguments),
            ..event(slice.name, "X", place(lane), span.start().0)
        })
    }

    /// Writes one end of an arrow: `s` (start) or `f` (finish).
    fn arrow(&mut self, end: &'static str, id: u64, of: (u32, u64), at: u64) -> io::Result<()> {
        self.event(&Event {
            cat: Some("wakeup"),
            id: Some(id),
            bp: (end == "f").then_some("e"),
            ..event("wakeup", end, of, at)
        })
    }
}

/// Creates an event without optional fields.
fn event<'a>(name: &'a str, ph: &'static str, (pid, tid): (u32, u64), at: u64) -> Event<'a> {
    Event {
        name,
        cat: None,
        ph,
        ts: microseconds(at),
        dur: None,
        pid,
        tid,
        id: None,
        bp: None,
        s: None,
        args: Arguments(&[]),
    }
}

impl TraceWriter for Chrome<'_> {
    fn lane(&mut self, lane: Lane, name: &str) -> io::Result<()> {
        let of = place(lane);
        self.write_metadata("thread_name", of, ("name", Argument::Text(name)))?;
        let rank = Argument::Number(of.1);
        self.write_metadata("thread_sort_index", of, ("sort_index", rank))
    }

    fn slice(&mut self, lane: Lane, slice: &Slice<'_>, inner: &[Slice<'_>]) -> io::Result<()> {
        self.complete(lane, slice)?;
        for inner in inner {
            self.complete(lane, inner)?;
        }
        match slice.arrow {
            Some(arrow) => self.arrow("f", arrow, place(lane), slice.span.start().0),
            None => Ok(()),
        }
    }

    fn instant(&mut self, lane: Lane, instant: &Instant<'_>) -> io::Result<()> {
        let (of, at) = (place(lane), instant.at.0);
        let is_end = instant.arrow.is_some();
        // An arrow must begin at a slice, so the instant becomes a slice of zero length.
        self.event(&Event {
            cat: Some(instant.category),
            dur: is_end.then_some(0.0),
            s: (!is_end).then_some("t"),
            args: Arguments(instant.arguments),
            ..event(instant.name, if is_end { "X" } else { "i" }, of, at)
        })?;
        match instant.arrow {
            Some(arrow) => self.arrow("s", arrow, of, at),
            None => Ok(()),
        }
    }

    fn counter(&mut self, _: &Counter) -> io::Result<()> {
        Ok(())
    }

    fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        let unit = counter.kind.unit().name();
        self.event(&Event {
            args: Arguments(&[(unit, Argument::Number(value))]),
            ..event(&counter.title(), "C", (CAPABILITIES, 0), at.0)
        })
    }
}
