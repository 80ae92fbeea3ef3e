//! `eventscope tail PLACE`: prints a log while it is being written.
//!
//! Blocks arrive late, because each capability flushes its buffer only when it is full. Therefore, events are held
//! back for some time and sorted; events that arrive even later are printed out of order, and their delay is
//! reported.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::duration::parse_seconds;
use super::stream::{LogSource, StreamEvent};
use super::tail_numbers::Numbers;
use super::tail_rows::{EventRows, SpanRows};
use super::{Condition, Failure, LogFile, Out, Output, print_message, report};
use analysis::spans::{Analyses, SpanSink, Spans};
use eventlog::display::DisplayOrder;
use eventlog::ids;
use eventlog::inflate::Compression;
use eventlog::live::{LateStats, LiveReader};
use eventlog::{Record, Sink};

/// Interval between reports on late events.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of bytes held back, regardless of the time window.
const MAX_HELD_BYTES: usize = 64 << 20;
/// Time without input after which everything held back is printed.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A file that grows, `-` for standard input, unix:PATH or tcp:HOST:PORT
    place: LogSource,
    /// What to print
    #[arg(long, default_value = "events")]
    what: What,
    /// Delay for sorting: how long events wait for earlier ones, in seconds of the log's clock or with a unit, such as 250ms
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    window: f64,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Every event: time, cap, name, text
    Events,
    /// Spans of threads and collections, in order of their ends: thread, category, cap, reason, start, end
    Spans,
    /// One row of counts per second
    Numbers,
}

/// Returns the automata of collections and threads, which report to a new sink.
pub(super) fn span_automata<S: SpanSink + Default>() -> Spans<S> {
    let analyses = Analyses {
        lifecycle: false,
        mutator_by_cap: false,
    };
    Spans::new(analyses, S::default())
}

/// Printer for the selected kind of output.
enum Printer<'a> {
    Events(EventRows<'a>),
    Spans(Box<SpanRows<'a>>),
    Numbers(Numbers<'a>),
}

/// Sink that prints events and records the first error.
struct PrinterSink<'a> {
    printer: Printer<'a>,
    late: LateStats,
    written: io::Result<()>,
}

impl Sink for PrinterSink<'_> {
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

impl PrinterSink<'_> {
    /// Flushes the output.
    fn flush(&mut self) -> Result<(), Failure> {
        std::mem::replace(&mut self.written, Ok(()))?;
        Ok(match &mut self.printer {
            Printer::Events(rows) => rows.flush(),
            Printer::Spans(rows) => rows.flush(),
            Printer::Numbers(rows) => rows.flush(),
        }?)
    }

    /// Ends the current log: prints what is pending and resets the state.
    fn end(&mut self) -> Result<(), Failure> {
        match &mut self.printer {
            Printer::Events(rows) => rows.end(),
            Printer::Spans(rows) => rows.end(),
            Printer::Numbers(rows) => rows.end()?,
        }
        self.late = LateStats::default();
        self.flush()
    }
}

/// State of following a log.
struct Tail<'a> {
    reader: LiveReader,
    order: DisplayOrder<PrinterSink<'a>>,
    last_report: Instant,
    reported_late: LateStats,
    reported_early: u64,
    condition: Condition,
}

impl Tail<'_> {
    /// Prints everything held back.
    fn flush(&mut self) -> Result<(), Failure> {
        self.order.flush();
        self.order.sink_mut().flush()
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.reader.feed(bytes, &mut self.order)?;
        self.order.sink_mut().flush()?;
        if self.last_report.elapsed() >= REPORT_INTERVAL {
            self.report_late();
        }
        Ok(())
    }

    /// Ends the current log, whether complete or not.
    fn end(&mut self) -> Result<(), Failure> {
        let read = self.reader.finish(&mut self.order);
        self.flush()?;
        self.report_late();
        let lost_bytes = self.reader.lost_bytes();
        if lost_bytes > 0 {
            self.condition = Condition::Damaged;
            print_message(format_args!("{lost_bytes} bytes could not be read"));
        }
        self.reader = LiveReader::new();
        self.reported_late = LateStats::default();
        self.order.reset();
        self.order.sink_mut().end()?;
        Ok(read?)
    }

    /// Ends the current log before another one begins; reading errors are reported and do not end the program.
    fn end_interrupted(&mut self) -> Result<(), Failure> {
        if !self.reader.has_begun() {
            return Ok(());
        }
        match self.end() {
            Err(Failure::Log(error)) => {
                self.condition = Condition::Damaged;
                print_message(error);
                Ok(())
            }
            other => other,
        }
    }

    fn report_late(&mut self) {
        self.last_report = Instant::now();
        let early = self.order.delivered_early();
        if early > self.reported_early {
            self.reported_early = early;
            print_message(format_args!(
                "{early} events were printed before their --window had passed, because more than {} MiB would have been held back",
                MAX_HELD_BYTES >> 20
            ));
        }
        let late = self.order.sink_mut().late;
        if late == self.reported_late || late.events == self.reported_late.events {
            return;
        }
        self.reported_late = late;
        print_message(format_args!(
            "{} events arrived after later ones, by at most {:.3} s, and are printed out of order; a longer --window sorts them",
            late.events,
            late.most_ns as f64 / 1e9
        ));
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    if !(0.0..=3600.0).contains(&arguments.window) {
        let what = "--window must be from 0 to 3600 seconds";
        return Err(Failure::Usage(what.to_owned()));
    }
    let printer = match arguments.what {
        What::Events => Printer::Events(EventRows::new(out, arguments.output)?),
        What::Spans => Printer::Spans(Box::new(SpanRows::new(out, arguments.output)?)),
        What::Numbers => Printer::Numbers(Numbers::new(out, arguments.output)?),
    };
    let sink = PrinterSink {
        printer,
        late: LateStats::default(),
        written: Ok(()),
    };
    let window = ids::Duration((arguments.window * 1e9) as u64);
    let mut tail = Tail {
        reader: LiveReader::new(),
        order: DisplayOrder::new(sink, window).with_buffer_limit(MAX_HELD_BYTES),
        last_report: Instant::now(),
        reported_late: LateStats::default(),
        reported_early: 0,
        condition: Condition::Sound,
    };
    if let LogSource::File(path) = &arguments.place {
        let first = first_bytes(path);
        if Compression::detect(&first).is_some() {
            // It does not grow.
            return read_compressed(path, &mut tail);
        }
        if first.starts_with(b"JOB \"") {
            return Err(Failure::Absent(format!(
                "{path} is a heap profile in text, which tail does not follow: eventscope heap {path} prints it",
                path = path.display()
            )));
        }
    }
    follow(&arguments.place, &mut tail)?;
    Ok(tail.condition)
}

/// Returns the first bytes of a regular file, which tell what it is; none of others, and if they cannot be read.
fn first_bytes(path: &Path) -> Vec<u8> {
    const BYTES: u64 = 8;
    let mut first = Vec::new();
    if path.is_file() {
        // If this fails, following the file does too, and says why.
        let _ = File::open(path).and_then(|file| file.take(BYTES).read_to_end(&mut first));
    }
    first
}

/// Prints a compressed log, which is complete.
fn read_compressed(path: &Path, tail: &mut Tail<'_>) -> Result<Condition, Failure> {
    let reader = LogFile::from_path(path).open()?.read(&mut tail.order)?;
    tail.flush()?;
    tail.order.sink_mut().end()?;
    Ok(report(&reader))
}

/// Prints the log until its source ends.
fn follow(place: &LogSource, tail: &mut Tail<'_>) -> Result<(), Failure> {
    let from = place.clone().read();
    loop {
        match from.recv_timeout(IDLE_TIMEOUT) {
            Ok(StreamEvent::Began(again)) => {
                tail.end_interrupted()?;
                if let Some(again) = again {
                    print_message(format_args!("{again}: a new log begins"));
                }
            }
            Ok(StreamEvent::Bytes(bytes)) => {
                tail.feed(&bytes)?;
                // Nothing follows the end of a log in a file or a socket; a pipe is read to its end.
                if tail.reader.has_ended() && *place != LogSource::Input {
                    return tail.end();
                }
            }
            Ok(StreamEvent::Notice(what)) => print_message(what),
            Ok(StreamEvent::Retrying(why)) => {
                tail.end_interrupted()?;
                print_message(why);
            }
            Ok(StreamEvent::Ended(Some(error))) => {
                tail.end_interrupted()?;
                return Err(Failure::File(place.path(), error));
            }
            Ok(StreamEvent::Ended(None)) => return tail.end(),
            Err(RecvTimeoutError::Timeout) => {
                tail.reader.pause()?;
                tail.flush()?;
            }

            Err(RecvTimeoutError::Disconnected) => return tail.end(),
        }
    }
}
