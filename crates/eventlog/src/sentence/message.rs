//! Messages of the runtime and of the program, and unknown events.

use std::fmt::{self, Write};

use super::{Quoted, Thread, join};
use crate::conventions::Convention;
use crate::conventions::opentelemetry::Telemetry;
use crate::conventions::stack_profiler::{StackFrame, StackFrames, StackMessage};
use crate::cursor::Text;
use crate::event::{Event, EventType};
use crate::header::Header;
use crate::ids::ThreadId;
use crate::names::{Key, Names};

pub(super) fn write(
    out: &mut String,
    event: &Event<'_>,
    header: &Header,
    names: &Names,
) -> fmt::Result {
    use Event as E;
    match *event {
        E::Message { msg } => write!(out, "runtime: {}", msg.to_str()),
        E::UserMessage { msg } => match Convention::parse_text(msg.0) {
            Some(found) => write_convention(out, &found, names),
            None => out.write_str(&msg.to_str()),
        },
        E::UserMarker { markername } => write!(out, "marker: {}", markername.to_str()),
        E::UserBinaryMessage { payload } => match Convention::parse_bytes(payload.0) {
            Some(found) => write_convention(out, &found, names),
            None => write_binary(out, payload.0),
        },
        E::PerfName { perf_num, name } => {
            write!(out, "perf counter {perf_num} is {}", Quoted(name))
        }
        E::PerfCounter {
            perf_num,
            tid,
            period,
        } => write!(
            out,
            "perf counter {} on OS thread {tid}, after {period} times",
            names.with_name(perf_num, Key::PerfCounter(perf_num))
        ),
        E::PerfTracepoint { perf_num, tid } => write!(
            out,
            "perf tracepoint {} on OS thread {tid}",
            names.with_name(perf_num, Key::PerfCounter(perf_num))
        ),
        E::UnknownEvent { id, payload } => {
            let decl = header.decl(EventType(id));
            let description = decl.map_or("undeclared", |decl| decl.description.as_str());
            write!(out, "unknown event {id} ({description}): ")?;
            write_hex(out, payload)
        }
        _ => Ok(()),
    }
}

/// Writes a binary message as text if it is printable, else in hexadecimal.
fn write_binary(out: &mut String, payload: &[u8]) -> fmt::Result {
    let plural = if payload.len() == 1 { "" } else { "s" };
    write!(out, "binary message of {} byte{plural}", payload.len())?;
    if payload.is_empty() {
        return Ok(());
    }
    out.write_str(": ")?;
    match std::str::from_utf8(payload) {
        Ok(text) if !text.chars().any(char::is_control) => {
            write!(out, "{}", Quoted(Text(payload)))
        }
        _ => write_hex(out, payload),
    }
}

/// Writes the first 64 bytes in hexadecimal.
fn write_hex(out: &mut String, bytes: &[u8]) -> fmt::Result {
    const SHOWN: usize = 64;
    for byte in bytes.iter().take(SHOWN) {
        write!(out, "{byte:02x}")?;
    }
    if bytes.len() > SHOWN {
        out.push('…');
    }
    Ok(())
}

fn write_convention(out: &mut String, found: &Convention<'_>, names: &Names) -> fmt::Result {
    match found {
        Convention::Telemetry(message) => {
            out.write_str("opentelemetry: ")?;
            write_telemetry(out, message, names)
        }
        Convention::Stack(message) => write_stack_message(out, message, names),
    }
}

/// Describes a message, for the tests of the conventions.
#[cfg(test)]
pub(crate) fn in_words(found: &Convention<'_>) -> String {
    let mut out = String::new();
    write_convention(&mut out, found, &Names::default()).expect("a string can be written to");
    out
}

fn write_telemetry(out: &mut String, message: &Telemetry<'_>, names: &Names) -> fmt::Result {
    use Telemetry as T;
    match *message {
        T::BeginSpan { span, name } => write!(out, "begins span {span} {}", Quoted(name)),
        T::EndSpan { span } => write!(out, "ends span {span}"),
        T::SetTag { span, key, value } => {
            write!(
                out,
                "tags span {span}: {} is {}",
                Quoted(key),
                Quoted(value)
            )
        }
        T::AddEvent { span, name, value } => {
            write!(
                out,
                "event in span {span}: {} {}",
                Quoted(name),
                Quoted(value)
            )
        }
        T::SetParent {
            span,
            trace,
            parent,
        } => write!(
            out,
            "the parent of span {span} is {parent:#018x} in trace {trace:#018x}"
        ),
        T::SetTrace { span, trace } => write!(out, "span {span} is in trace {trace:#018x}"),
        T::SetSpanId { span, id } => write!(out, "the id of span {span} is {id:#018x}"),
        T::DeclareInstrument { ref kind, id, name } => write!(
            out,
            "instrument {id:#x} is {} {}",
            kind.name(),
            Quoted(name)
        ),
        T::Measure { instrument, value } => {
            write!(out, "instrument {instrument:#x}")?;
            if let Some(name) = names.get(Key::Instrument(instrument)) {
                write!(out, " ({name})")?;
            }
            write!(out, " measures {value}")
        }
        T::MeasureByName {
            ref kind,
            name,
            value,
        } => write!(out, "{} {} measures {value}", kind.name(), Quoted(name)),
    }
}

fn write_stack_message(out: &mut String, message: &StackMessage<'_>, names: &Names) -> fmt::Result {
    match *message {
        StackMessage::Version(version) => write!(out, "stack profiler: version {version}"),
        StackMessage::Define { id, text } => {
            write!(out, "stack profiler: text {id} is {}", Quoted(text))
        }
        StackMessage::Location {
            id,
            line,
            column,
            function,
            file,
        } => {
            write!(
                out,
                "stack profiler: location {id} is line {line}, column {column} of file {}",
                names.with_name(file, Key::StackText(file))
            )?;
            match function {
                Some(function) => {
                    let function = names.with_name(function, Key::StackText(function));
                    write!(out, ", in function {function}")
                }
                None => Ok(()),
            }
        }
        StackMessage::Stack {
            last,
            cap,
            thread,
            frames,
        } => {
            out.write_str(if last {
                "stack of "
            } else {
                "part of the stack of "
            })?;
            match u32::try_from(thread) {
                Ok(thread) => write!(out, "{}", Thread(ThreadId(thread), names))?,
                Err(_) => write!(out, "thread {thread}")?,
            }
            write!(out, " on capability {cap}: ")?;
            write_frames(out, frames, names)
        }
    }
}

/// Writes the number of frames and the first of them, in the order of the message.
fn write_frames(out: &mut String, frames: StackFrames<'_>, names: &Names) -> fmt::Result {
    const SHOWN: usize = 64;
    match frames.len() {
        0 => return out.write_str("no frames"),
        1 => out.write_str("1 frame: ")?,
        many => write!(out, "{many} frames: ")?,
    }
    let shown = frames.iter().take(SHOWN).map(|frame| Frame(frame, names));
    join(out, ", ", shown)?;
    if usize::from(frames.len()) > SHOWN {
        out.push_str(", …");
    }
    Ok(())
}

fn write_location(f: &mut fmt::Formatter<'_>, location: u64, names: &Names) -> fmt::Result {
    match names.get(Key::StackLocation(location)) {
        Some(name) => f.write_str(name),
        None => write!(f, "location {location}"),
    }
}

struct Frame<'a>(StackFrame, &'a Names);

impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(frame, names) = self;
        match *frame {
            StackFrame::InfoTable(address) => match names.info_table(address) {
                Some(name) => f.write_str(&name),
                None => write!(f, "{address:#x}"),
            },
            StackFrame::Annotation { text, location } => {
                match names.get(Key::StackText(text)) {
                    Some(text) => write!(f, "“{text}”")?,
                    None => write!(f, "text {text}")?,
                }
                let Some(location) = location else {
                    return Ok(());
                };
                f.write_str(" at ")?;
                write_location(f, location, names)
            }
            StackFrame::Location(location) => write_location(f, location, names),
        }
    }
}
