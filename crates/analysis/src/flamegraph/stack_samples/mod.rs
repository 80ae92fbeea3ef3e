//! Stacks sampled by `ghc-stack-profiler`, from its binary messages (`eventlog/conventions/stack_profiler`).
//!
//! A long stack is written in parts; the time of its last part is the time of the sample. Strings, locations and
//! info tables (`IPE` events) may be defined after the stacks that refer to them, so names are resolved at the
//! end. An info table that the log does not describe keeps its address, which the symbols of the executable may
//! name. Whether frames are written outermost or innermost first depends on the version; the order is inferred
//! once per log (`order`).
//!
//! A sample has no duration of its own. It stands for one tick up to its time; the tick is the median gap between
//! samples of one thread. Threads sampled by one capability in the same tick share the tick.

mod anomalies;
mod order;
pub mod problem;
pub mod states;
mod timing;

use std::collections::BTreeMap;

use self::anomalies::Anomalies;
use self::order::OrderEvidence;
use self::problem::StackProblem;
use super::draft::Draft;
use crate::diagnostics::Diagnostics;
use eventlog::conventions::stack_profiler::{FrameOrder, StackFrame, StackFrames, StackMessage};
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use eventlog::info_tables::InfoTables;
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Track, TrackSource};
use model::saturating::saturating_u32;

/// Index of a frame in [`StackSampleCollector::frames`].
type RawFrame = u32;

/// Stack of a thread, sampled by a capability.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Nanos,
    thread: ThreadId,
    stack: StackId,
}

/// A stack whose last part is still missing.
#[derive(Clone, Debug, Default)]
struct PartialStack {
    since: Nanos,
    /// In log order.
    frames: Vec<RawFrame>,
    /// Number of frames in the first part.
    first: u16,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Location {
    line: u32,
    column: u32,
    function: Option<u64>,
    file: u64,
}

/// Collects stack samples and the definitions that name their frames.
#[derive(Clone, Debug, Default)]
pub struct StackSampleCollector {
    texts: SeededMap<u64, Box<str>>,
    locations: SeededMap<u64, Location>,
    /// Distinct frames, each with the time of its first occurrence.
    frames: Vec<(StackFrame, Nanos)>,
    frame_ids: SeededMap<StackFrame, RawFrame>,
    /// Frames in log order, stored as if that were outermost first.
    stacks: Stacks<RawFrame>,
    order: OrderEvidence,
    partial_stacks: BTreeMap<(u32, u64), PartialStack>,
    samples: BTreeMap<CapId, Vec<Sample>>,
    anomalies: Anomalies,
}

impl Sink for StackSampleCollector {
    const CONSUMES: EventSet = EventSet::from_types(&[EventType::USER_BINARY_MSG]);

    fn event(&mut self, record: &Record<'_>) {
        self.stack_event(&record.event(), record.time);
    }
}

impl StackSampleCollector {
    /// Maximum depth of a stack; further frames are cut off.
    const DEEPEST: usize = u16::MAX as usize;

    fn stack_event(&mut self, event: &Event<'_>, at: Nanos) {
        if let Event::UserBinaryMessage { payload } = event
            && let Some(message) = StackMessage::parse_bytes(payload.0)
        {
            self.message(message, at);
        }
    }

    fn message(&mut self, message: StackMessage<'_>, at: Nanos) {
        self.order.message(&message);
        match message {
            StackMessage::Version(_) => {}
            StackMessage::Define { id, text } => {
                self.texts.insert(id, text.to_str().into());
            }
            StackMessage::Location {
                id,
                line,
                column,
                function,
                file,
            } => {
                let location = Location {
                    line,
                    column,
                    function,
                    file,
                };
                self.locations.insert(id, location);
            }
            StackMessage::Stack {
                last,
                cap,
                thread,
                frames,
            } => {
                self.add_part((cap, thread), frames, at);
                if last {
                    self.finish_stack((cap, thread), frames.len(), at);
                }
            }
        }
    }

    fn add_part(&mut self, of: (u32, u64), frames: StackFrames<'_>, at: Nanos) {
        let mut parts = self
            .partial_stacks
            .remove(&of)
            .unwrap_or_else(|| PartialStack {
                since: at,
                first: frames.len(),
                ..PartialStack::default()
            });
        parts.count = parts.count.saturating_add(1);
        let room = Self::DEEPEST.saturating_sub(parts.frames.len());
        for frame in frames.iter().take(room) {
            let next = saturating_u32(self.frames.len());
            let id = *self.frame_ids.entry(frame).or_insert(next);
            if id == next {
                self.frames.push((frame, at));
            }
            parts.frames.push(id);
        }
        self.partial_stacks.insert(of, parts);
    }

    fn finish_stack(&mut self, of: (u32, u64), last: u16, at: Nanos) {
        let Some(parts) = self.partial_stacks.remove(&of) else {
            return;
        };
        let cap = u16::try_from(of.0).map(CapId);
        let thread = u32::try_from(of.1).map(ThreadId);
        let (Ok(cap), Ok(thread)) = (cap, thread) else {
            self.anomalies
                .push(at, StackProblem::NoSuchCapability(of.0));
            return;
        };
        if parts.count > 1 {
            self.order.parts(parts.first, last);
        }
        let stack = self.stacks.intern(parts.frames);
        self.order.sample(thread, stack, &self.stacks);
        let sample = Sample { at, thread, stack };
        self.samples.entry(cap).or_default().push(sample);
    }

    /// Builds the profile of a log whose last event is at `end`, with the diagnostics.
    pub fn finish(mut self, end: Nanos, tables: &InfoTables) -> (Profile, Diagnostics) {
        for ((_, thread), parts) in std::mem::take(&mut self.partial_stacks) {
            let what = StackProblem::LastPartMissing(thread);
            self.anomalies.push(parts.since, what);
        }
        let mut draft = Draft::new();
        if self.samples.is_empty() {
            return (draft.finish(end, None), self.anomalies.found);
        }
        if self.order.order() == FrameOrder::InnermostFirst {
            self.reverse_stacks();
        }
        let names = self.named_frames(&mut draft, tables);
        let none = Frame::with_kind(FrameKind::Haskell, "no frames");
        let none = draft.push(StackId::EMPTY, none);
        let mut new = self.stacks.translate(&mut draft.stacks, |raw| {
            names.get(raw as usize).copied().unwrap_or(FrameId(0))
        });
        if let Some(empty) = new.first_mut() {
            *empty = none;
        }
        let mut caps = std::mem::take(&mut self.samples);
        for samples in caps.values_mut() {
            samples.sort_by_key(|sample| sample.at);
            for sample in samples {
                sample.stack = new.get(sample.stack.index()).copied().unwrap_or(none);
            }
        }
        let tick = tracks(&mut draft, caps);
        (draft.finish(end, Some(tick)), self.anomalies.found)
    }

    /// Reverses all stacks, for a log that has innermost frames first.
    fn reverse_stacks(&mut self) {
        let old = std::mem::take(&mut self.stacks);
        let mut reversed: Vec<Option<StackId>> = vec![None; old.len()];
        for sample in self.samples.values_mut().flatten() {
            if let Some(stack) = reversed.get_mut(sample.stack.index()) {
                let outermost_first = || old.innermost_first(sample.stack);
                sample.stack = *stack.get_or_insert_with(|| self.stacks.intern(outermost_first()));
            }
        }
    }

    fn named_frames(&mut self, draft: &mut Draft, tables: &InfoTables) -> Vec<FrameId> {
        let frames = std::mem::take(&mut self.frames).into_iter();
        let named = frames.map(|(frame, at)| {
            let frame = match frame {
                StackFrame::InfoTable(address) => frame_of(tables, address),
                StackFrame::Annotation { text, location } => {
                    let label = self.text(text, at);
                    self.annotation(&label, location, at)
                }
                StackFrame::Location(id) => {
                    let location = self.locations.get(&id);
                    let function = location.and_then(|location| location.function);
                    let label = function.map(|function| self.text(function, at));
                    let label = label.unwrap_or_else(|| format!("location {id}"));
                    self.annotation(&label, Some(id), at)
                }
            };
            draft.frames.intern(frame)
        });
        named.collect()
    }

    fn annotation(&mut self, label: &str, location: Option<u64>, at: Nanos) -> Frame {
        let place = location.map(|id| (id, self.locations.get(&id).copied()));
        let location = match place {
            None => None,
            Some((_, Some(place))) => {
                let file = self.text(place.file, at);
                Some(format!("{file}:{}:{}", place.line, place.column))
            }
            Some((id, None)) => {
                self.anomalies.push(at, StackProblem::UnknownLocation(id));
                None
            }
        };
        Frame {
            location,
            ..Frame::with_kind(FrameKind::Haskell, label)
        }
    }

    fn text(&mut self, id: u64, at: Nanos) -> String {
        if let Some(text) = self.texts.get(&id) {
            return text.to_string();
        }
        self.anomalies.push(at, StackProblem::UnknownText(id));
        format!("text {id}")
    }
}

/// Returns the frame for the info table at an address.
fn frame_of(tables: &InfoTables, address: u64) -> Frame {
    let Some(table) = tables
        .get(address)
        .filter(|table| !table.short_name().is_empty())
    else {
        let label = format!("{address:#x}");
        return Frame {
            address: Some(address),
            ..Frame::with_kind(FrameKind::Haskell, &label)
        };
    };
    Frame {
        module: table.module.to_owned(),
        location: (!table.location.is_empty()).then(|| table.location.to_string()),
        ..Frame::with_kind(FrameKind::Haskell, table.short_name())
    }
}

/// Adds the tracks of capabilities, then those of threads. Returns the tick.
fn tracks(draft: &mut Draft, caps: BTreeMap<CapId, Vec<Sample>>) -> Duration {
    let mut threads: BTreeMap<ThreadId, Vec<(Nanos, StackId)>> = BTreeMap::new();
    for sample in caps.values().flatten() {
        let of_thread = threads.entry(sample.thread).or_default();
        of_thread.push((sample.at, sample.stack));
    }
    for samples in threads.values_mut() {
        samples.sort_by_key(|(at, _)| *at);
    }
    let tick = timing::tick(threads.values()).unwrap_or(Profile::DEFAULT_TICK);
    let track = |source, samples| Track {
        source,
        samples,
        open: Vec::new(),
        sampled: true,
    };
    for (cap, samples) in caps {
        let samples = timing::capability_samples(&samples, tick);
        let source = TrackSource::Capability(cap);
        draft.tracks.push(track(source, samples));
    }
    for (thread, samples) in threads {
        let samples = timing::thread_samples(&samples, tick);
        let source = TrackSource::Thread(thread);
        draft.tracks.push(track(source, samples));
    }
    tick
}

#[cfg(test)]
mod tests;
