//! `eventscope tail PLACE`: what a log says, as it comes.
//!
//! Blocks come late, as each capability writes its buffer when it is full. So events are held
//! back for a while and put in the order of time; what comes later still is printed where it
//! came, and how late it was is said.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::duration::parse_seconds;
use super::stream::{Came, Place};
use super::tail_numbers::Numbers;
use super::tail_rows::{EventRows, SpanRows};
use super::{Condition, Failure, LogFile, Out, Output, report, say};
use eventlog::display::DisplayOrder;
use eventlog::ids;
use eventlog::inflate::Compression;
use eventlog::live::{Late, LiveReader};
use eventlog::{Record, Sink};

/// How often it is said how late events came.
const SAY_EVERY: Duration = Duration::from_secs(5);
/// How much is held back at most, whatever the window.
const MOST_HELD_BYTES: usize = 64 << 20;
/// How long nothing has to come until that is printed which is held back.
pub(super) const QUIET: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A file that grows, `-` for standard input, unix:PATH or tcp:HOST:PORT
    place: Place,
    /// What to print
    #[arg(long, default_value = "events")]
    what: What,
    /// For how many seconds of the log's clock (or with a unit, such as 250ms) events wait for others before them
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    window: f64,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Every event: time, cap, name, text
    Events,
    /// Spans of threads and of collections, as they end: thread, category, cap, reason, start, end
    Spans,
    /// A row for each second: what was logged in it
    Numbers,
}

/// Prints what comes, in the order of time.
enum Printer<'a> {
    Events(EventRows<'a>),
    Spans(Box<SpanRows<'a>>),
    Numbers(Numbers<'a>),
}

/// A printer, and what did not work.
struct Prints<'a> {
    printer: Printer<'a>,
    late: Late,
    written: io::Result<()>,
}

impl Sink for Prints<'_> {
    fn event(&mut self, record: &Record<'_>) {
        let late = self.late.observe(record.time).is_some();
        if self.written.is_ok() {
            self.written = match &mut self.printer {
                Printer::Events(rows) => rows.event(record),
                Printer::Spans(rows) => rows.event(record),
                Printer::Numbers(rows) => rows.event(record, late),
            };
        }
    }
}

impl Prints<'_> {
    /// Hands on what was printed.
    fn flush(&mut self) -> Result<(), Failure> {
        std::mem::replace(&mut self.written, Ok(()))?;
        Ok(match &mut self.printer {
            Printer::Events(rows) => rows.flush(),
            Printer::Spans(rows) => rows.flush(),
            Printer::Numbers(rows) => rows.flush(),
        }?)
    }

    /// The log is over: what of it was not printed is, and nothing is known any more.
    fn end(&mut self) -> Result<(), Failure> {
        match &mut self.printer {
            Printer::Events(rows) => rows.end(),
            Printer::Spans(rows) => rows.end(),
            Printer::Numbers(rows) => rows.end()?,
        }
        self.late = Late::default();
        self.flush()
    }
}

/// A log that comes.
struct Tail<'a> {
    reader: LiveReader,
    order: DisplayOrder<Prints<'a>>,
    said: Instant,
    said_late: Late,
    said_early: u64,
    condition: Condition,
}

impl Tail<'_> {
    /// Prints all that is held back.
    fn flush(&mut self) -> Result<(), Failure> {
        self.order.flush();
        self.order.sink_mut().flush()
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.reader.feed(bytes, &mut self.order)?;
        self.order.sink_mut().flush()?;
        if self.said.elapsed() >= SAY_EVERY {
            self.say_late();
        }
        Ok(())
    }

    /// The log is over, or breaks off.
    fn end(&mut self) -> Result<(), Failure> {
        let read = self.reader.finish(&mut self.order);
        self.flush()?;
        self.say_late();
        let lost_bytes = self.reader.lost_bytes();
        if lost_bytes > 0 {
            self.condition = Condition::Damaged;
            say(format_args!("{lost_bytes} bytes could not be read"));
        }
        self.reader = LiveReader::new();
        self.said_late = Late::default();
        self.order.begin_anew();
        self.order.sink_mut().end()?;
        Ok(read?)
    }

    /// Another log will come: whatever became of the one before is said.
    fn breaks_off(&mut self) -> Result<(), Failure> {
        if !self.reader.has_begun() {
            return Ok(());
        }
        match self.end() {
            Err(Failure::Log(error)) => {
                self.condition = Condition::Damaged;
                say(error);
                Ok(())
            }
            other => other,
        }
    }

    fn say_late(&mut self) {
        self.said = Instant::now();
        let early = self.order.delivered_early();
        if early > self.said_early {
            self.said_early = early;
            say(format_args!(
                "{early} events were printed before the time of --window had passed: more than {} MiB would have been held back",
                MOST_HELD_BYTES >> 20
            ));
        }
        let late = self.order.sink_mut().late;
        if late == self.said_late || late.events == self.said_late.events {
            return;
        }
        self.said_late = late;
        say(format_args!(
            "{} events came behind later ones, by {:.3} s at most: they stand where they came (--window holds events back for longer)",
            late.events,
            late.most_ns as f64 / 1e9
        ));
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    if !(0.0..=3600.0).contains(&arguments.window) {
        let what = "--window takes seconds, from 0 to 3600";
        return Err(Failure::Usage(what.to_owned()));
    }
    let printer = match arguments.what {
        What::Events => Printer::Events(EventRows::new(out, arguments.output)?),
        What::Spans => Printer::Spans(Box::new(SpanRows::new(out, arguments.output)?)),
        What::Numbers => Printer::Numbers(Numbers::new(out, arguments.output)?),
    };
    let prints = Prints {
        printer,
        late: Late::default(),
        written: Ok(()),
    };
    let window = ids::Duration((arguments.window * 1e9) as u64);
    let mut tail = Tail {
        reader: LiveReader::new(),
        order: DisplayOrder::new(prints, window).holding_at_most(MOST_HELD_BYTES),
        said: Instant::now(),
        said_late: Late::default(),
        said_early: 0,
        condition: Condition::Sound,
    };
    if let Place::File(path) = &arguments.place
        && is_compressed(path)
    {
        return read_compressed(path, &mut tail);
    }
    follow(&arguments.place, &mut tail)?;
    Ok(tail.condition)
}

/// Whether a file is compressed: nobody adds to it.
fn is_compressed(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| {
        file.take(Compression::MAGIC_BYTES as u64)
            .read_to_end(&mut first)
    });
    read.is_ok() && Compression::detect(&first).is_some()
}

/// Prints a compressed log, which is complete.
fn read_compressed(path: &Path, tail: &mut Tail<'_>) -> Result<Condition, Failure> {
    let reader = LogFile::of(path).open()?.read(&mut tail.order)?;
    tail.flush()?;
    tail.order.sink_mut().end()?;
    Ok(report(&reader))
}

/// Prints what comes until that ends.
fn follow(place: &Place, tail: &mut Tail<'_>) -> Result<(), Failure> {
    let from = place.clone().read();
    loop {
        match from.recv_timeout(QUIET) {
            Ok(Came::Begins(again)) => {
                tail.breaks_off()?;
                if let Some(again) = again {
                    say(format_args!("{again}: a log begins"));
                }
            }
            Ok(Came::Bytes(bytes)) => {
                tail.take(&bytes)?;
                // Of a file or a socket nothing follows then; a pipe is read to its end.
                if tail.reader.has_ended() && *place != Place::Input {
                    return tail.end();
                }
            }
            Ok(Came::Notice(what)) => say(what),
            Ok(Came::Waits(why)) => {
                tail.breaks_off()?;
                say(why);
            }
            Ok(Came::Ends(Some(error))) => {
                tail.breaks_off()?;
                return Err(Failure::File(place.path(), error));
            }
            Ok(Came::Ends(None)) => return tail.end(),
            Err(RecvTimeoutError::Timeout) => {
                tail.reader.pause()?;
                tail.flush()?;
            }

            Err(RecvTimeoutError::Disconnected) => return tail.end(),
        }
    }
}
