//! A log as lanes with slices, instants and arrows, for trace viewers. This module builds them once for all
//! formats; a format only writes them ([`TraceWriter`]).

use std::collections::BTreeSet;
use std::io;

use super::counters::Counter;
use super::names;
use super::walk::{CapCollection, CapRun, Thread, UserSpan, Visitor, walk};
use crate::log::Log;
use analysis::timeline::flow::WakeEvent;
use analysis::timeline::instants::InstantKind;
use analysis::timeline::messages::{Message, MessageKind};
use analysis::timeline::walk::{ThreadRun, WaitAndRun, WaitSpan};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::StopCode;
use model::time::Interval;
use smallvec::SmallVec;

/// A lane of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lane {
    /// Runs of threads on a capability.
    Capability(CapId),
    /// Collections of a capability.
    Collections(CapId),
    /// Activity of the runtime on an unknown capability.
    Runtime,
    /// States of a thread.
    Thread(ThreadId),
    /// User spans of one name, by the number of the name.
    Named(u32),
    /// Messages and markers of the program.
    Messages,
}

/// Value of an argument of a slice or instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    Text(&'a str),
    Number(u64),
    Flag(bool),
}

/// Name and value of an argument.
pub(crate) type Named<'a> = (&'static str, Argument<'a>);

/// A time interval on a lane.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'a> {
    pub(crate) name: &'a str,
    /// One of [`CATEGORIES`].
    pub(crate) category: &'static str,
    pub(crate) span: Interval,
    pub(crate) arguments: &'a [Named<'a>],
    /// Id of the arrow that ends at the start of the slice.
    pub(crate) arrow: Option<u64>,
}

impl<'a> Slice<'a> {
    /// Creates a slice at which no arrow ends.
    const fn new(
        (name, category): (&'a str, &'static str),
        span: Interval,
        arguments: &'a [Named<'a>],
    ) -> Self {
        Self {
            name,
            category,
            span,
            arguments,
            arrow: None,
        }
    }
}

/// A point in time on a lane.
#[derive(Clone, Debug)]
pub(crate) struct Instant<'a> {
    pub(crate) name: &'a str,
    /// One of [`CATEGORIES`].
    pub(crate) category: &'static str,
    pub(crate) at: Nanos,
    pub(crate) arguments: &'a [Named<'a>],
    /// Id of the arrow that begins here.
    pub(crate) arrow: Option<u64>,
}

const RUN: &str = "run";
const GC: &str = "garbage collection";
const READY: &str = "ready";
const BLOCKED: &str = "blocked";
const WAKEUP: &str = "wakeup";
const SPAN: &str = "span";
const MESSAGE: &str = "message";
const MARKER: &str = "marker";

/// Categories of slices and instants, for filters and colors.
pub(crate) const CATEGORIES: [&str; 8] = [RUN, GC, READY, BLOCKED, WAKEUP, SPAN, MESSAGE, MARKER];

/// Writer of a trace format.
pub(crate) trait TraceWriter {
    /// Declares a lane before its first use.
    fn lane(&mut self, lane: Lane, name: &str) -> io::Result<()>;
    /// Writes a slice with the slices nested in it.
    fn slice(&mut self, lane: Lane, slice: &Slice<'_>, inner: &[Slice<'_>]) -> io::Result<()>;
    /// Writes an instant.
    fn instant(&mut self, lane: Lane, instant: &Instant<'_>) -> io::Result<()>;
    /// Declares a counter; its samples follow.
    fn counter(&mut self, counter: &Counter) -> io::Result<()>;
    /// Writes a sample of the counter declared last.
    fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()>;
}

/// Draws the part of a log to export.
pub(crate) fn draw(log: &Log<'_>, writer: &mut impl TraceWriter) -> io::Result<()> {
    let mut drawing = TraceBuilder {
        writer,
        lanes: BTreeSet::new(),
        arrows: 0,
        name: String::new(),
    };
    walk(log, &mut drawing)
}

struct TraceBuilder<'a, D> {
    writer: &'a mut D,
    /// Lanes declared so far, except those of threads and spans, which are declared when the walk reaches them.
    lanes: BTreeSet<Lane>,
    arrows: u64,
    /// Buffer for the name of a slice or instant.
    name: String,
}

impl<D: TraceWriter> TraceBuilder<'_, D> {
    /// Declares a lane unless it was declared before.
    fn begin(&mut self, lane: Lane, name: impl FnOnce() -> String) -> io::Result<Lane> {
        if self.lanes.insert(lane) {
            self.writer.lane(lane, &name())?;
        }
        Ok(lane)
    }

    /// Returns the lane of a capability if it is declared, else that of the runtime.
    fn lane_of(&mut self, cap: Option<CapId>) -> io::Result<Lane> {
        let lane = cap.map(Lane::Capability);
        match lane.filter(|lane| self.lanes.contains(lane)) {
            Some(lane) => Ok(lane),
            None => self.begin(Lane::Runtime, || "Runtime".to_owned()),
        }
    }

    fn wait(&mut self, lane: Lane, wait: &WaitSpan) -> io::Result<()> {
        let name = names::blocked(wait);
        let owner = wait.owner.map(|owner| number("owner", owner.0));
        let open = wait.is_open.then_some(OPEN);
        let mut arguments = Arguments::new();
        arguments.push(("after", Argument::Text(&name)));
        arguments.extend(owner.into_iter().chain(open));
        let blocked = Slice::new((&name, BLOCKED), wait.blocked(), &arguments[1..]);
        self.part(lane, &blocked)?;
        let ready = Slice::new((names::READY, READY), wait.ready(), &arguments);
        self.part(lane, &ready)
    }

    /// Writes a part of a wait as a slice, unless it is empty.
    fn part(&mut self, lane: Lane, part: &Slice<'_>) -> io::Result<()> {
        if part.span.is_empty() {
            return Ok(());
        }
        self.writer.slice(lane, part, &[])
    }

    /// Writes the instant at which a thread was woken, and returns the arrow that begins there.
    fn write_wakeup(&mut self, thread: &Thread<'_>, by: &WakeEvent) -> io::Result<Option<u64>> {
        if by.kind == InstantKind::Migrated {
            return Ok(None);
        }
        let lane = self.lane_of(by.cap)?;
        self.arrows += 1;
        let mut arguments = Arguments::new();
        arguments.push(number("thread", thread.id.0));
        arguments.extend(by.waker.map(|waker| number("by thread", waker.0)));
        self.name.clear();
        self.name.push_str(names::WAKES);
        self.name.push(' ');
        names::push_thread(&mut self.name, thread);
        let instant = Instant {
            name: &self.name,
            category: WAKEUP,
            at: by.at,
            arguments: &arguments,
            arrow: Some(self.arrows),
        };
        self.writer.instant(lane, &instant)?;
        Ok(instant.arrow)
    }

    fn run(&mut self, lane: Lane, run: &ThreadRun, arrow: Option<u64>) -> io::Result<()> {
        let stopped = names::stop(run.code);
        let mut arguments = Arguments::new();
        arguments.extend(run.cap.map(|cap| number("capability", cap.0)));
        arguments.push(("ended", Argument::Text(&stopped)));
        arguments.extend((run.code == StopCode::OPEN).then_some(OPEN));
        let slice = Slice {
            arrow,
            ..Slice::new((names::RUNNING, RUN), run.span, &arguments)
        };
        self.writer.slice(lane, &slice, &[])
    }
}

/// Arguments of a slice or instant, without an allocation.
type Arguments<'a> = SmallVec<[Named<'a>; 4]>;

fn number(name: &'static str, number: impl Into<u64>) -> Named<'static> {
    (name, Argument::Number(number.into()))
}

/// Argument of slices that the end of the log cut off.
const OPEN: Named<'static> = ("open", Argument::Flag(true));

impl<D: TraceWriter> Visitor for TraceBuilder<'_, D> {
    fn capability(&mut self, cap: CapId) -> io::Result<()> {
        let name = || format!("Capability {cap}");
        self.begin(Lane::Capability(cap), name).map(|_| ())
    }

    fn cap_run(&mut self, run: &CapRun<'_>) -> io::Result<()> {
        let stopped = names::stop(run.code);
        let mut arguments = Arguments::new();
        arguments.push(number("thread", run.thread.id.0));
        arguments.push(("ended", Argument::Text(&stopped)));
        arguments.extend((run.code == StopCode::OPEN).then_some(OPEN));
        self.name.clear();
        names::push_thread(&mut self.name, &run.thread);
        let slice = Slice::new((&self.name, RUN), run.span, &arguments);
        self.writer.slice(Lane::Capability(run.cap), &slice, &[])
    }

    fn collection(&mut self, collection: &CapCollection<'_>) -> io::Result<()> {
        let cap = collection.cap;
        let name = || format!("Capability {cap}, collections");
        let lane = self.begin(Lane::Collections(cap), name)?;
        let mut arguments = Arguments::new();
        if let Some(told) = collection.stats {
            let generation = told.generation.map(u64::from);
            let numbers = [
                ("generation", generation),
                ("threads", Some(told.threads.into())),
                ("copied bytes", Some(told.copied_bytes)),
                ("live bytes", told.live_bytes),
            ];
            for (name, number) in numbers {
                arguments.extend(number.map(|number| (name, Argument::Number(number))));
            }
        }
        let phases = collection.phases.iter();
        let inner = phases.map(|&(class, span)| Slice::new((names::phase(class), GC), span, &[]));
        let slice = Slice::new((names::COLLECTION, GC), collection.span, &arguments);
        self.writer.slice(lane, &slice, &inner.collect::<Vec<_>>())
    }

    fn thread(&mut self, thread: &Thread<'_>) -> io::Result<()> {
        self.name.clear();
        names::push_thread(&mut self.name, thread);
        self.writer.lane(Lane::Thread(thread.id), &self.name)
    }

    fn wait_and_run(&mut self, thread: &Thread<'_>, turn: &WaitAndRun) -> io::Result<()> {
        let lane = Lane::Thread(thread.id);
        if let Some(wait) = &turn.wait {
            self.wait(lane, wait)?;
        }
        if let Some(run) = &turn.run {
            let write_wakeup = turn.wake_event.as_ref().filter(|_| turn.wait.is_some());
            let arrow = match write_wakeup {
                Some(by) => self.write_wakeup(thread, by)?,
                None => None,
            };
            self.run(lane, run, arrow)?;
        }
        Ok(())
    }

    fn spans_named(&mut self, number: u32, name: &str) -> io::Result<()> {
        self.writer.lane(Lane::Named(number), name)
    }

    fn user_span(&mut self, number: u32, name: &str, span: &UserSpan) -> io::Result<()> {
        let arguments: &[Named<'_>] = if span.is_open { &[OPEN] } else { &[] };
        let slice = Slice::new((name, SPAN), span.span, arguments);
        self.writer.slice(Lane::Named(number), &slice, &[])
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        let lane = self.begin(Lane::Messages, || "Messages and markers".to_owned())?;
        let cap = message.cap.map(|cap| Argument::Number(cap.0.into()));
        let cap = cap.map(|cap| [("capability", cap)]);
        let instant = Instant {
            name: &message.text,
            category: match message.kind {
                MessageKind::Message => MESSAGE,
                MessageKind::Marker => MARKER,
            },
            at: message.time,
            arguments: cap.as_ref().map_or(&[], |cap| &cap[..]),
            arrow: None,
        };
        self.writer.instant(lane, &instant)
    }

    fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        self.writer.counter(counter)
    }

    fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        self.writer.sample(counter, at, value)
    }
}
