//! The walk through a log that all timeline formats are written from.
//!
//! Capabilities come first, each with its runs and then its collections; then threads with their states; then
//! user spans by name; then messages; then counters. Within a lane, spans are in time order and do not overlap:
//! they come from the time accounting, which clips overlaps in damaged logs.

use std::collections::BTreeMap;
use std::io;

use super::counters::{Counter, counters};
use crate::log::Log;
use analysis::numbers::Collection;
use analysis::recording::Recording;
use analysis::timeline::lives::RunOnCap;
use analysis::timeline::messages::Message;
use analysis::timeline::walk::WaitAndRun;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{Class, StopCode};
use model::lane::Lane;
use model::time::Interval;

/// A run of a thread on a capability.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapRun<'a> {
    pub(crate) cap: CapId,
    pub(crate) thread: Thread<'a>,
    pub(crate) span: Interval,
    /// Reason of the stop; [`StopCode::OPEN`] if the log ended.
    pub(crate) code: StopCode,
}

/// A collection on a capability.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapCollection<'a> {
    pub(crate) cap: CapId,
    pub(crate) span: Interval,
    /// Phases in the log, which together fill the span; empty if the log has none.
    pub(crate) phases: &'a [(Class, Interval)],
    /// Statistics of the collection; only present for the capability that led it.
    pub(crate) stats: Option<&'a Collection>,
}

/// A thread with its label, if it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread<'a> {
    pub(crate) id: ThreadId,
    pub(crate) label: Option<&'a str>,
}

/// A span announced by the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserSpan {
    pub(crate) span: Interval,
    /// Whether the end of the log cut off the span.
    pub(crate) is_open: bool,
}

/// Visitor of a log, lane by lane. Methods that a format does not need have empty defaults.
pub(crate) trait Visitor {
    /// Whether to visit capabilities and threads, which takes most of the time.
    const VISITS_LIVES: bool = true;

    /// Begins a capability; its runs and collections follow.
    fn capability(&mut self, _cap: CapId) -> io::Result<()> {
        Ok(())
    }
    /// Visits a run on the current capability.
    fn cap_run(&mut self, _run: &CapRun<'_>) -> io::Result<()> {
        Ok(())
    }
    /// Visits a collection of the current capability.
    fn collection(&mut self, _collection: &CapCollection<'_>) -> io::Result<()> {
        Ok(())
    }
    /// Begins a thread; its waits and runs follow.
    fn thread(&mut self, _thread: &Thread<'_>) -> io::Result<()> {
        Ok(())
    }
    /// Visits a wait of a thread and the run after it.
    fn wait_and_run(&mut self, _thread: &Thread<'_>, _turn: &WaitAndRun) -> io::Result<()> {
        Ok(())
    }
    /// Begins the user spans of one name; `number` identifies the name.
    fn spans_named(&mut self, _number: u32, _name: &str) -> io::Result<()> {
        Ok(())
    }
    /// Visits a user span of the current name.
    fn user_span(&mut self, _number: u32, _name: &str, _span: &UserSpan) -> io::Result<()> {
        Ok(())
    }
    /// Visits a message or marker of the program.
    fn message(&mut self, _message: &Message) -> io::Result<()> {
        Ok(())
    }
    /// Begins a counter; its samples follow.
    fn counter(&mut self, _counter: &Counter) -> io::Result<()> {
        Ok(())
    }
    /// Visits a sample of the current counter.
    fn sample(&mut self, _counter: &Counter, _at: Nanos, _value: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Walks through the part of a log to export. Spans that overlap it are visited whole.
///
/// # Errors
/// Returns the first error of the visitor.
pub(crate) fn walk<V: Visitor>(log: &Log<'_>, visitor: &mut V) -> io::Result<()> {
    let recording = log.session.recording();
    if V::VISITS_LIVES {
        for (cap, _) in recording.info.lives.caps() {
            visitor.capability(cap)?;
            runs(log, cap, visitor)?;
            collections(log, cap, visitor)?;
        }
        threads(log, visitor)?;
    }
    user_spans(log, visitor)?;
    let messages = &recording.messages;
    let asked = (0..messages.len()).filter_map(|place| messages.get(place));
    for message in asked.filter(|message| log.is_selected(Interval::empty_at(message.time))) {
        visitor.message(&message)?;
    }
    counters(log, visitor)
}

fn thread_of(recording: &Recording, id: ThreadId) -> Thread<'_> {
    let label = recording.store.label_of(id);
    Thread { id, label }
}

fn runs<V: Visitor>(log: &Log<'_>, cap: CapId, visitor: &mut V) -> io::Result<()> {
    let recording = log.session.recording();
    for run in recording.store.cap_runs(cap) {
        let RunOnCap {
            start_ns, end_ns, ..
        } = run;
        let span = Interval::new(Nanos(start_ns), Nanos(end_ns));
        if log.is_selected(span) {
            visitor.cap_run(&CapRun {
                cap,
                thread: thread_of(recording, run.thread),
                span,
                code: run.code,
            })?;
        }
    }
    Ok(())
}

fn collections<V: Visitor>(log: &Log<'_>, cap: CapId, visitor: &mut V) -> io::Result<()> {
    let recording = log.session.recording();
    let Some(lanes) = recording.store.cap(cap) else {
        return Ok(());
    };
    let led = recording.numbers.collections_with_statistics().iter();
    let led = led.filter(|collection| collection.cap == cap);
    let told: BTreeMap<Nanos, &Collection> = led.map(|of| (of.start, of)).collect();
    let phases_of = lanes.phases.lane();
    let (mut place, mut phases) = (0, Vec::new());
    for span in (0..lanes.gc.len()).map(|at| lanes.gc.interval(at)) {
        phases.clear();
        while place < phases_of.len() && phases_of.interval(place).end() <= span.end() {
            let phase = phases_of.interval(place);
            if !phase.is_empty() {
                phases.push((phases_of.class(place), phase));
            }
            place += 1;
        }
        if log.is_selected(span) {
            visitor.collection(&CapCollection {
                cap,
                span,
                phases: &phases,
                stats: told.get(&span.start()).copied(),
            })?;
        }
    }
    Ok(())
}

fn threads<V: Visitor>(log: &Log<'_>, visitor: &mut V) -> io::Result<()> {
    let recording = log.session.recording();
    for life in recording.store.lives() {
        let thread = thread_of(recording, life.id());
        let mut is_told = false;
        for turn in life.waits_and_runs() {
            let asks_for = |span: Option<Interval>| span.is_some_and(|span| log.is_selected(span));
            let turn = WaitAndRun {
                wait: turn.wait.filter(|wait| asks_for(Some(wait.span))),
                run: turn.run.filter(|run| asks_for(Some(run.span))),
                ..turn
            };
            if turn.wait.is_none() && turn.run.is_none() {
                continue;
            }
            if !std::mem::replace(&mut is_told, true) {
                visitor.thread(&thread)?;
            }
            visitor.wait_and_run(&thread, &turn)?;
        }
    }
    Ok(())
}

fn user_spans<V: Visitor>(log: &Log<'_>, visitor: &mut V) -> io::Result<()> {
    let spans = &log.session.recording().tracks.spans;
    for (number, named) in (0..).zip(spans.listed()) {
        let name = &named.info.name;
        let mut is_told = false;
        for span in &named.spans {
            let is_open = span.last.is_none();
            let span = Interval::new(Nanos(span.start), Nanos(span.end));
            if !log.is_selected(span) {
                continue;
            }
            if !std::mem::replace(&mut is_told, true) {
                visitor.spans_named(number, name)?;
            }
            visitor.user_span(number, name, &UserSpan { span, is_open })?;
        }
    }
    Ok(())
}
