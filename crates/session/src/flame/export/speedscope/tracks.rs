//! One profile per track, in time order.

use std::io::{self, Write};
use std::sync::Arc;

use super::super::export_stacks::without_comparison;
use super::super::incomplete::IncompleteStacks;
use super::super::stack_timeline::StackTimeline;
use super::super::tree::{DEEPEST, Limit};
use super::{ProfileHead, comma, deeper, frames_of, json};
use crate::flame::cache::{StepCache, TransformedStacks};
use crate::flame::query::{FlameQuery, View};
use model::profile::frames::Frames;
use model::profile::stack_source::{FlameSelection, ProfileRef, StackSource};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Measure;
use model::profile::{Profile, Track};
use model::time::Interval;

/// Writer of the profiles of all selected tracks.
#[derive(Debug)]
pub(super) struct Tracks {
    choice: FlameSelection,
    measure: Measure,
    range: Interval,
    /// The profile, if it was created for this file only.
    held: Option<ProfileRef<'static>>,
    transformed: Arc<TransformedStacks>,
    limit: Limit,
    pub(super) incomplete: IncompleteStacks,
    /// Frame that replaces truncated frames.
    deeper: u32,
    tracks: Vec<usize>,
    /// Number of complete tracks.
    written: usize,
    /// Whether a track has samples that the steps leave.
    pub(super) has_samples: bool,
    /// Position in the current track.
    section: OutputSection,
    /// Frames of a stack, reused to save allocations.
    frames: Vec<u32>,
}

/// Stage of writing a track.
#[derive(Debug)]
enum OutputSection {
    Head,
    Stacks(Cursor),
    Weights(Cursor),
    Events(Cursor, OpenFrames),
}

/// Frames that are open in a list of events.
#[derive(Clone, Copy, Debug)]
struct OpenFrames {
    stack: StackId,
    at: u64,
    /// Whether the list is nonempty.
    begun: bool,
}

impl Tracks {
    /// Creates a writer, and the output of `head`, which receives the frames and whether stacks are truncated.
    pub(super) fn new(
        cache: &StepCache,
        stack_source: &dyn StackSource,
        query: &FlameQuery,
        head: impl FnOnce(&Frames, bool) -> Vec<u8>,
    ) -> (Self, Vec<u8>) {
        let choice = without_comparison(query);
        let (profile, tracks) = stack_source.tracks_in_time_order(&choice);
        let transformed = cache.transformed_in_time(&profile, &query.steps, &View::Time);
        let (frames, stacks) = (
            transformed.frames(&profile.frames),
            transformed.stacks(&profile.stacks),
        );
        let limit = Limit::new(stacks);
        let mut incomplete = IncompleteStacks {
            shortened: transformed.shortened(),
            ..IncompleteStacks::default()
        };
        if limit.cuts() {
            let deep = stacks.ids().map(|stack| stacks.depth(stack));
            deep.filter(|depth| *depth > DEEPEST)
                .for_each(|depth| incomplete.count_deep(depth));
        }
        let (deeper, head) = (deeper(frames), head(frames, limit.cuts()));
        let tracks = Self {
            range: choice.range.unwrap_or(profile.span),
            choice,
            measure: query.measure,
            held: profile.into_made(),
            transformed,
            limit,
            incomplete,
            deeper,
            tracks,
            written: 0,
            has_samples: false,
            section: OutputSection::Head,
            frames: Vec::new(),
        };
        (tracks, head)
    }

    /// Writes at most `samples` samples; returns whether all are written.
    pub(super) fn advance(
        &mut self,
        stack_source: &dyn StackSource,
        out: &mut impl Write,
        samples: usize,
    ) -> io::Result<bool> {
        let made = self.held.take();
        let profile = made.unwrap_or_else(|| stack_source.tracks_in_time_order(&self.choice).0);
        let done = self.write(&profile, out, samples);
        self.held = profile.into_made();
        done
    }

    fn write(
        &mut self,
        profile: &Profile,
        out: &mut impl Write,
        samples: usize,
    ) -> io::Result<bool> {
        for _ in 0..samples {
            let Some(&index) = self.tracks.get(self.written) else {
                return Ok(true);
            };
            let Some(track) = profile.tracks.get(index) else {
                self.written += 1;
                continue;
            };
            let transformed = Arc::clone(&self.transformed);
            let timed = TrackContext {
                profile,
                track,
                stacks: transformed.stacks(&profile.stacks),
                transformed: &transformed,
                limit: &self.limit,
                range: self.range,
                measure: self.measure,
            };
            let next = match &mut self.section {
                OutputSection::Head => {
                    comma(out, self.written > 0)?;
                    let (section, has_samples) = timed.head(out)?;
                    self.has_samples |= has_samples;
                    Some(section)
                }
                OutputSection::Stacks(cursor) => match cursor.next(&timed) {
                    Some(piece) => {
                        comma(out, cursor.count > 1)?;
                        frames_of(timed.stacks, piece.stack, self.deeper, &mut self.frames);
                        json(out, &self.frames)?;
                        None
                    }
                    None => {
                        out.write_all(br#"],"weights":["#)?;
                        Some(OutputSection::Weights(Cursor::new(&timed)))
                    }
                },
                OutputSection::Weights(cursor) => match cursor.next(&timed) {
                    Some(piece) => {
                        comma(out, cursor.count > 1)?;
                        json(out, &piece.weight)?;
                        None
                    }
                    None => {
                        self.written += 1;
                        out.write_all(b"]}")?;
                        Some(OutputSection::Head)
                    }
                },
                OutputSection::Events(cursor, open) => match cursor.next(&timed) {
                    Some(piece) => {
                        open.go_to(&timed, piece.stack, self.deeper, out)?;
                        open.at += piece.weight;
                        None
                    }
                    None => {
                        open.go_to(&timed, StackId::EMPTY, self.deeper, out)?;
                        self.written += 1;
                        out.write_all(b"]}")?;
                        Some(OutputSection::Head)
                    }
                },
            };
            if let Some(next) = next {
                self.section = next;
            }
        }
        Ok(self.written >= self.tracks.len())
    }
}

/// Samples of a track. Measured by time, they fill the range: gaps are idle, so all tracks begin and end together.
#[derive(Clone, Copy)]
struct TrackContext<'a> {
    profile: &'a Profile,
    track: &'a Track,
    stacks: &'a Stacks,
    transformed: &'a TransformedStacks,
    limit: &'a Limit,
    range: Interval,
    measure: Measure,
}

#[derive(Clone, Copy)]
struct StackWeight {
    stack: StackId,
    /// Weight in nanoseconds or samples.
    weight: u64,
}

impl TrackContext<'_> {
    /// Writes the start of the profile, and chooses the smaller kind of list: stacks, or enter and leave events,
    /// which are smaller if stacks are deep and similar. Also returns whether there are samples.
    fn head(&self, out: &mut impl Write) -> io::Result<(OutputSection, bool)> {
        /// Size of an event, in frames of a stack, approximately.
        const EVENT_FRAMES: u64 = 8;
        let (mut count, mut frames, mut events) = (0, 0, 0);
        let (mut cursor, mut last) = (Cursor::new(self), StackId::EMPTY);
        while let Some(piece) = cursor.next(self) {
            let depth = |stack| u64::from(self.stacks.depth(stack));
            let common = depth(self.stacks.common(last, piece.stack));
            count += piece.weight;
            frames += depth(piece.stack);
            events += depth(last) + depth(piece.stack) - 2 * common;
            last = piece.stack;
        }
        let (unit, start, end) = match self.measure {
            Measure::Amount => ("nanoseconds", self.range.start().0, self.range.end().0),
            Measure::Count => ("none", 0, count),
        };
        let evented = events.saturating_mul(EVENT_FRAMES) < frames;
        let head = ProfileHead {
            kind: if evented { "evented" } else { "sampled" },
            name: &self.track.source.to_string(),
            unit,
            start_value: start as f64,
            end_value: end as f64,
        };
        head.write(out, if evented { "events" } else { "samples" })?;
        let has_samples = cursor.has_samples;
        let cursor = Cursor::new(self);
        let section = if evented {
            let open = OpenFrames {
                stack: StackId::EMPTY,
                at: start,
                begun: false,
            };
            OutputSection::Events(cursor, open)
        } else {
            OutputSection::Stacks(cursor)
        };
        Ok((section, has_samples))
    }

    /// Returns whether a stack represents truncated ones.
    fn is_cut(&self, stack: StackId) -> bool {
        self.limit.cuts() && self.stacks.depth(stack) > DEEPEST
    }
}

/// Position on a track's timeline.
#[derive(Debug)]
struct Cursor {
    timeline: StackTimeline,
    /// Entry that was read ahead.
    ahead: Option<(StackId, u64)>,
    /// Number of entries so far.
    count: u64,
    /// Whether samples that the steps leave were among them.
    has_samples: bool,
}

impl Cursor {
    fn new(timed: &TrackContext<'_>) -> Self {
        Self {
            timeline: StackTimeline::new(timed.profile, timed.track, timed.range),
            ahead: None,
            count: 0,
            has_samples: false,
        }
    }

    /// Returns the next entry. Intervals that differ only in truncated frames are merged.
    fn next(&mut self, timed: &TrackContext<'_>) -> Option<StackWeight> {
        let ahead = self.ahead.take();
        let (stack, mut weight) = ahead.or_else(|| self.stretch(timed))?;
        while timed.is_cut(stack) {
            match self.stretch(timed) {
                Some((other, more)) if other == stack => weight += more,
                other => {
                    self.ahead = other;
                    break;
                }
            }
        }
        self.count += 1;
        Some(StackWeight { stack, weight })
    }

    fn stretch(&mut self, timed: &TrackContext<'_>) -> Option<(StackId, u64)> {
        loop {
            let stretch = self.timeline.next(timed.profile, timed.track)?;
            let stack = timed.transformed.stack(stretch.stack);
            self.has_samples |= stretch.is_sample && stack.is_some();
            let weight = match timed.measure {
                Measure::Amount => stretch.duration.0,
                Measure::Count if stretch.counts && stack.is_some() => 1,
                Measure::Count => continue,
            };
            // Removed stacks leave time without frames, which means "unknown" in this format.
            let stack = stack.map_or(StackId::EMPTY, |stack| timed.limit.truncate(stack));
            return Some((stack, weight));
        }
    }
}

impl OpenFrames {
    /// Writes events that close the frames not in `stack`, and open the missing ones.
    fn go_to(
        &mut self,
        timed: &TrackContext<'_>,
        stack: StackId,
        deeper: u32,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let stacks = timed.stacks;
        let number = |stack| match stacks.frame(stack) {
            Some(frame) if stacks.depth(stack) <= DEEPEST => frame.0,
            _ => deeper,
        };
        let common = stacks.common(self.stack, stack);
        while self.stack != common {
            self.event(out, 'C', number(self.stack))?;
            self.stack = stacks.parent(self.stack);
        }
        let mut opened = Vec::new();
        let mut inner = stack;
        while inner != common {
            opened.push(inner);
            inner = stacks.parent(inner);
        }
        for &inner in opened.iter().rev() {
            self.event(out, 'O', number(inner))?;
        }
        self.stack = stack;
        Ok(())
    }

    fn event(&mut self, out: &mut impl Write, kind: char, frame: u32) -> io::Result<()> {
        comma(out, std::mem::replace(&mut self.begun, true))?;
        let at = self.at;
        write!(out, r#"{{"type":"{kind}","frame":{frame},"at":{at}}}"#)
    }
}
