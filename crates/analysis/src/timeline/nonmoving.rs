//! The concurrent nonmoving collector: its phases, and the events it logs at points in time.

use crate::automata::nonmoving::{Input, State, step};
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, Record, Sink, Subject};
use model::class::Class;
use model::span_lane::{SpanLane, TimelineSpan};
use model::time::Interval;

model::named_enum! {
    /// Phase of a nonmoving collection.
    #[repr(u8)]
    pub enum Phase {
        /// The program is stopped while the remaining objects are marked.
        Sync: "sync", "stopped the program", "stops of the program";
        /// Marks live objects concurrently with the program.
        Mark: "mark", "marked", "rounds of marking";
        /// Frees unreachable objects.
        Sweep: "sweep", "swept", "sweeps";
    }
    /// Returns the name shown in the user interface.
    fn name;
    /// Returns a past-tense phrase for the user interface.
    fn past_tense;
    /// Returns a plural phrase for the user interface.
    fn plural;
}

impl Phase {
    /// Returns the class of the phase's spans.
    pub const fn class(self) -> Class {
        match self {
            Self::Sync => Class::GcSync,
            Self::Mark | Self::Sweep => Class::Gc,
        }
    }
}

/// Code of a phase that was open when the log ended.
pub const OPEN: u8 = 1;

/// Event that the collector logs at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// `ConcUpdRemSetFlush`: a capability flushed its update remembered set.
    Flush(CapId),
    /// `NonmovingHeapCensus`: census of the segments of one block size.
    Census {
        /// Block size in bytes.
        block_bytes: u32,
        /// Number of segments used for allocation.
        active: u32,
        /// Number of full segments.
        filled: u32,
        /// Number of live blocks.
        live: u32,
    },
    /// `NonmovingPrunedSegments`: free segments were returned.
    Pruned {
        /// Number of free segments returned.
        pruned: u32,
        /// Number of free segments left.
        free: u32,
    },
}

#[derive(Clone, Debug, Default)]
struct Machine {
    state: State,
    marked: u32,
    lane: SpanLane,
}

impl Machine {
    fn push(&mut self, phase: Phase, span: Interval, open: bool) {
        let open = if open { OPEN } else { 0 };
        self.lane.push(TimelineSpan {
            start: span.start().0,
            end: span.end().0,
            detail: self.marked,
            class: phase.class(),
            code: open,
        });
        self.marked = 0;
    }

    fn step(&mut self, phase: Phase, input: Input, at: Nanos) -> bool {
        let step = step(self.state, input, at);
        self.state = step.next;
        if let Some(span) = step.yields {
            self.push(phase, span, false);
        }
        step.odd
    }

    fn finish(&mut self, phase: Phase, end: Nanos) {
        match std::mem::take(&mut self.state) {
            State::Off => {}
            State::Ended(span) => self.push(phase, span, false),
            State::Running(since) => self.push(phase, Interval::new(since, end.max(since)), true),
        }
        self.lane.sort_and_clip();
    }
}

/// Timeline row of the nonmoving collector.
#[derive(Clone, Debug, Default)]
pub struct Nonmoving {
    phases: [Machine; 3],
    points: Vec<(u64, Point)>,
    /// Number of phase ends without a begin.
    pub unmatched_ends: u64,
}

impl Sink for Nonmoving {
    const CONSUMES: EventSet = EventSet::for_subject(Subject::Nonmoving);

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        let (phase, input) = match record.event() {
            Event::ConcSyncBegin {} => (Phase::Sync, Input::Begin),
            Event::ConcSyncEnd {} => (Phase::Sync, Input::End),
            Event::ConcMarkBegin {} => (Phase::Mark, Input::Begin),
            Event::ConcMarkEnd {
                marked_object_count,
            } => {
                self.step(Phase::Mark, Input::End, at);
                self.phases[Phase::Mark as usize].marked = marked_object_count;
                return;
            }
            Event::ConcSweepBegin {} => (Phase::Sweep, Input::Begin),
            Event::ConcSweepEnd {} => (Phase::Sweep, Input::End),
            event => return self.point(&event, at),
        };
        self.step(phase, input, at);
    }
}

impl Nonmoving {
    fn step(&mut self, phase: Phase, input: Input, at: Nanos) {
        let odd = self.phases[phase as usize].step(phase, input, at);
        self.unmatched_ends += u64::from(odd);
    }

    fn point(&mut self, event: &Event<'_>, at: Nanos) {
        let point = match *event {
            Event::ConcUpdRemSetFlush { cap } => Point::Flush(cap),
            Event::NonmovingHeapCensus {
                block_bytes,
                active_segments,
                filled_segments,
                live_blocks,
            } => Point::Census {
                block_bytes: u32::try_from(block_bytes.0).unwrap_or(u32::MAX),
                active: active_segments,
                filled: filled_segments,
                live: live_blocks,
            },
            Event::NonmovingPrunedSegments { pruned, free } => Point::Pruned { pruned, free },
            _ => return,
        };
        let at = self.points.last().map_or(at.0, |&(last, _)| last.max(at.0));
        self.points.push((at, point));
    }

    /// Completes the row once the log has been read to its end.
    pub(super) fn finish(&mut self, end: Nanos) {
        for (machine, phase) in self.phases.iter_mut().zip(Phase::ALL) {
            machine.finish(phase, end);
        }
    }

    /// Returns whether the nonmoving collector logged nothing.
    pub fn is_empty(&self) -> bool {
        let quiet =
            |machine: &Machine| machine.lane.spans().is_empty() && machine.state == State::Off;
        self.points.is_empty() && self.phases.iter().all(quiet)
    }

    /// Returns all point events with their times, in order.
    pub fn all_points(&self) -> &[(u64, Point)] {
        &self.points
    }

    /// Returns the spans of a phase. The code of each is 0 or [`OPEN`], the detail the number of marked objects.
    pub const fn lane(&self, phase: Phase) -> &SpanLane {
        &self.phases[phase as usize].lane
    }

    /// Returns the point events in a range, its end inclusive.
    pub fn points(&self, span: Interval) -> &[(u64, Point)] {
        let from = self.points.partition_point(|&(at, _)| at < span.start().0);
        let to = self.points.partition_point(|&(at, _)| at <= span.end().0);
        self.points.get(from..to).unwrap_or_default()
    }
}
