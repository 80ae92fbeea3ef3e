//! From events to a profile.
//!
//! For each tick the runtime looks twice where the program is, once for its
//! own report (`+RTS -p`) and once for the event (`handleProfTick` in
//! `rts/Proftimer.c`). All samples together are exactly the report's ticks;
//! those of functions that call each other all the time differ a little.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::foreign::{Call, CallOddity, CallProblem, Calls, Oddities};
use super::frames::{Frame, FrameId, Frames};
use super::nesting::{PlacedCall, lanes, nest};
use super::profile::{Profile, Samples, Track, TrackSource};
use super::stacks::{StackId, Stacks};
use crate::automata::Span;
use crate::eventlog::{Event, Record};
use crate::ids::{CapId, CostCentreId, Nanos, OsThreadId};

/// Collects the cost centres, their samples and the announced foreign calls
/// of a log. Cost centres may be declared after the samples that name them, so
/// names are looked up at the end.
#[derive(Clone, Debug, Default)]
pub struct ProfileCollector {
    centres: FxHashMap<CostCentreId, Frame>,
    stacks: Stacks<CostCentreId>,
    /// When each capability was sampled, and where it was.
    ticks: BTreeMap<CapId, Vec<(Nanos, StackId)>>,
    tick_interval: Option<Nanos>,
    calls: Calls,
}

impl ProfileCollector {
    /// Takes the next event in analysis order.
    #[inline]
    pub fn event(&mut self, record: &Record<'_>) {
        // Most events are none of these: they need not be decoded.
        if matches!(record.id.0, 19 | 58 | 161 | 167 | 168) {
            self.profile_event(record);
        }
    }

    fn profile_event(&mut self, record: &Record<'_>) {
        match record.event() {
            Event::HeapProfCostCentre {
                id,
                label,
                module,
                src_loc,
                ..
            } => {
                self.centres.entry(id).or_insert_with(|| {
                    Frame::cost_centre(&module.0.to_str(), &label.0.to_str(), &src_loc.0.to_str())
                });
            }
            // Each event counts once: `ticks` is a running number. The
            // capability is a u32 here, a u16 everywhere else.
            Event::ProfSampleCostCentre { cap, stack, .. } => {
                if let Ok(cap) = u16::try_from(cap) {
                    let stack = self.stacks.intern(stack.iter().rev());
                    self.ticks
                        .entry(CapId(cap))
                        .or_default()
                        .push((record.time, stack));
                }
            }
            Event::ProfBegin { tick_interval } if tick_interval > 0 => {
                self.tick_interval = Some(Nanos(tick_interval));
            }
            Event::UserMessage { msg } => self.calls.message(&msg.to_str(), record.time),
            Event::UserMarker { markername } => {
                self.calls.message(&markername.to_str(), record.time);
            }
            _ => {}
        }
    }

    /// The profile of a log whose last event is at `end`, and what was odd
    /// about its foreign calls, by time.
    #[must_use]
    pub fn finish(mut self, end: Nanos) -> (Profile, Vec<CallOddity>) {
        self.calls.finish(end);
        let mut frames = Frames::default();
        let mut stacks = Stacks::default();
        let idle = frames.intern(Frame::built_in("IDLE", "IDLE"));
        let idle_stack = stacks.push(StackId::EMPTY, idle);
        let mut tracks = self.capability_tracks(&mut frames, &mut stacks);
        let mut oddities = std::mem::take(&mut self.calls.oddities);
        tracks.extend(self.thread_tracks(&mut frames, &mut stacks, &mut oddities));
        let spans = || tracks.iter().filter_map(|track| track.samples.span());
        let start = spans().map(|span| span.start).min().unwrap_or(end);
        let end = spans()
            .map(|span| span.end)
            .max()
            .map_or(end, |last| end.max(last));
        let profile = Profile {
            frames,
            stacks,
            idle,
            idle_stack,
            tracks,
            tick_interval: self.tick_interval,
            span: Span::new(start, end),
        };
        (profile, oddities.finish(end))
    }

    fn capability_tracks(&mut self, frames: &mut Frames, stacks: &mut Stacks) -> Vec<Track> {
        let main = stacks.push(
            StackId::EMPTY,
            frames.intern(Frame::built_in("MAIN", "MAIN")),
        );
        let translated = self.stacks.translate(stacks, |id| {
            let centre = self.centres.get(&id).cloned();
            frames.intern(centre.unwrap_or_else(|| Frame::unknown(id)))
        });
        let interval = self.tick_interval.unwrap_or(Profile::DEFAULT_TICK);
        let tracks = std::mem::take(&mut self.ticks).into_iter();
        let track = |(cap, mut ticks): (CapId, Vec<(Nanos, StackId)>)| {
            ticks.sort_by_key(|(at, _)| *at);
            let mut samples = Samples::default();
            for (at, stack) in ticks {
                let span = Span::new(at.since(interval), at);
                // `MAIN` is never written: nothing at all is `MAIN` itself.
                let found = translated
                    .get(stack.index())
                    .copied()
                    .unwrap_or(StackId::EMPTY);
                let stack = if found == StackId::EMPTY { main } else { found };
                samples.push(span, stack);
            }
            Track {
                source: TrackSource::Capability(cap),
                samples,
                open: Vec::new(),
            }
        };
        tracks.map(track).collect()
    }

    fn thread_tracks(
        &mut self,
        frames: &mut Frames,
        stacks: &mut Stacks,
        oddities: &mut Oddities,
    ) -> Vec<Track> {
        let names = self.announced_frames(frames, oddities);
        let mut threads: BTreeMap<OsThreadId, Vec<PlacedCall>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for call in std::mem::take(&mut self.calls.over) {
            let thread = call.thread;
            let placed = place(call, &self.calls.stacks, &names, frames);
            match thread {
                Some(thread) => threads.entry(thread).or_default().push(placed),
                None => unknown.push(placed),
            }
        }
        let known = threads
            .into_iter()
            .map(|(id, calls)| (TrackSource::OsThread(id), calls));
        let unknown = (0..)
            .map(|lane| TrackSource::UnknownThread { lane })
            .zip(lanes(unknown, oddities));
        let track = |(source, calls)| {
            let nested = nest(calls, stacks, oddities);
            Track {
                source,
                samples: nested.samples,
                open: nested.open,
            }
        };
        known.chain(unknown).map(track).collect()
    }

    /// The frames of the cost centres that stacks were announced with. One
    /// that is not declared is made up; that is odd only in a log that
    /// declares cost centres.
    fn announced_frames(&self, frames: &mut Frames, oddities: &mut Oddities) -> Vec<FrameId> {
        let declared: BTreeMap<String, &Frame> = self
            .centres
            .values()
            .map(|frame| (frame.printed(), frame))
            .collect();
        let mut frame = |(name, at): &(String, Nanos)| {
            if let Some(&frame) = declared.get(name) {
                return frames.intern(frame.clone());
            }
            if !declared.is_empty() {
                let what = CallProblem::UnknownCostCentre(name.clone());
                oddities.push(*at, what);
            }
            frames.intern(Frame::from_printed(name))
        };
        self.calls.names.iter().map(&mut frame).collect()
    }
}

fn place(call: Call, stacks: &Stacks<u32>, names: &[FrameId], frames: &mut Frames) -> PlacedCall {
    let stack = call.stack.map(|stack| stacks.outermost_first(stack));
    let haskell = stack.unwrap_or_default().into_iter();
    PlacedCall {
        haskell: haskell
            .filter_map(|name| names.get(name as usize).copied())
            .collect(),
        frame: frames.intern(Frame::foreign_call(&call.key.name)),
        key: call.key,
        span: call.span,
        open: call.open,
    }
}
