//! Sources of the events to be merged: the runs and availability edges of each lane, and for the whole log the threads that
//! become ready, those whose information ends, and the pauses. Each source is sorted.

use super::gc_spans::GcSpans;
use super::pauses::Pause;
use super::runs::{RunLane, SweepRun};
use model::lane::Lane;
use model::moments::Moments;
use model::packed_column::BLOCK;

/// Maximum time; later times are clamped to it.
pub(super) const MAX_TIME: u64 = u64::MAX >> 2;
/// Sentinel key of an exhausted source.
pub(super) const NEVER: u64 = u64::MAX;

/// Converts a time to a key with one additional low bit. Each time is processed in two steps, so that empty runs
/// come before others.
pub(super) const fn first_step(time: u64) -> u64 {
    let time = if time > MAX_TIME { MAX_TIME } else { time };
    time << 1
}

/// Sorted source of events.
pub(super) trait Source {
    /// Returns the key of the next event.
    fn key(&self) -> u64;
    /// Advances to the next event.
    fn step(&mut self);

    /// Passes the keys of all events before `limit` to `each`, and advances behind them. Returns the next key.
    #[inline]
    fn take_before(&mut self, limit: u64, mut each: impl FnMut(u64)) -> u64 {
        loop {
            let key = self.key();
            if key >= limit {
                return key;
            }
            each(key);
            self.step();
        }
    }
}

/// Read-ahead buffer for the remainder of a list.
#[derive(Clone, Debug)]
pub(super) struct ReadAhead<T> {
    read: Vec<T>,
    /// Index in the list of the first buffered item.
    first: usize,
    /// Index in the buffer of the next item.
    at: usize,
}

impl<T> ReadAhead<T> {
    pub(super) const fn from(place: usize) -> Self {
        Self {
            read: Vec::new(),
            first: place,
            at: 0,
        }
    }

    /// Drops the consumed items and reads more. Returns the last item read, if there was one.
    pub(super) fn read_on(&mut self, read: impl FnOnce(usize, &mut Vec<T>)) -> Option<&T> {
        self.read.drain(..self.at);
        self.first += self.at;
        self.at = 0;
        let before = self.read.len();
        read(self.first + before, &mut self.read);
        self.read.get(before..)?.last()
    }

    pub(super) fn has_enough(&self) -> bool {
        self.read.len() - self.at >= 2 * BLOCK
    }

    fn next(&self) -> Option<&T> {
        self.read.get(self.at)
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.read.get(place.wrapping_sub(self.first))
    }
}

/// Starts and ends of the runs of a lane.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    pub(super) lane: &'a RunLane,
    pub(super) ahead: ReadAhead<SweepRun>,
    pub(super) has_begun: bool,
}

impl Source for Runs<'_> {
    #[inline]
    fn key(&self) -> u64 {
        self.ahead.next().map_or(NEVER, |run| {
            if self.has_begun {
                first_step(run.end)
            } else {
                first_step(run.start) | u64::from(run.start < run.end)
            }
        })
    }

    #[inline]
    fn step(&mut self) {
        self.ahead.at += usize::from(self.has_begun);
        self.has_begun = !self.has_begun;
    }

    #[inline]
    fn take_before(&mut self, limit: u64, mut each: impl FnMut(u64)) -> u64 {
        // As the default, with both events of a run in one turn of the loop.
        while let Some(run) = self.ahead.next() {
            if !self.has_begun {
                let start = first_step(run.start) | u64::from(run.start < run.end);
                if start >= limit {
                    return start;
                }
                each(start);
            }
            let end = first_step(run.end);
            self.has_begun = end >= limit;
            if self.has_begun {
                return end;
            }
            each(end);
            self.ahead.at += 1;
        }
        NEVER
    }
}

/// Start and end of a lane's lifetime, and of the stretches in which it is neither running nor idle.
#[derive(Clone, Debug)]
pub(super) struct AvailabilityEdges<'a> {
    gc_spans: Option<&'a GcSpans>,
    gc_span: usize,
    is_inside: bool,
    life: [u64; 2],
    lived: usize,
}

impl<'a> AvailabilityEdges<'a> {
    /// Starts after the time `now`, for a lane with this lifetime.
    pub(super) fn after(now: u64, gc_spans: Option<&'a GcSpans>, (born, dead): (u64, u64)) -> Self {
        let life = [born, dead.max(born)];
        let mut edges = Self {
            gc_spans,
            gc_span: gc_spans.map_or(0, |gc_spans| gc_spans.first_ending_after(now)),
            is_inside: false,
            life,
            lived: life.partition_point(|&time| time <= now),
        };
        if edges.gc_span_key() <= first_step(now) {
            edges.step();
        }
        edges
    }

    fn gc_span(&self) -> Option<(u64, u64)> {
        let gc_spans = self
            .gc_spans
            .filter(|gc_spans| self.gc_span < gc_spans.len());
        gc_spans.map(|gc_spans| gc_spans.span(self.gc_span))
    }

    fn gc_span_key(&self) -> u64 {
        let bound = |(start, end)| if self.is_inside { end } else { start };
        self.gc_span().map_or(NEVER, |span| first_step(bound(span)))
    }

    fn life_key(&self) -> u64 {
        self.life
            .get(self.lived)
            .map_or(NEVER, |&time| first_step(time))
    }
}

impl Source for AvailabilityEdges<'_> {
    fn key(&self) -> u64 {
        self.gc_span_key().min(self.life_key())
    }

    fn step(&mut self) {
        if self.life_key() < self.gc_span_key() {
            self.lived += 1;
            return;
        }
        let Some((_, mut end)) = self.gc_span() else {
            return;
        };
        self.is_inside = !self.is_inside;
        if !self.is_inside {
            self.gc_span += 1;
            return;
        }
        // Adjacent spans form one stretch.
        while let Some(gc_spans) = self.gc_spans
            && self.gc_span + 1 < gc_spans.len()
            && gc_spans.span(self.gc_span + 1).0 <= end
        {
            self.gc_span += 1;
            end = gc_spans.span(self.gc_span).1;
        }
    }
}

/// Times at which threads become ready.
#[derive(Clone, Debug)]
pub(super) struct BecameRunnable<'a> {
    pub(super) moments: &'a Moments,
    pub(super) ahead: ReadAhead<(u64, Option<u32>)>,
}

impl Source for BecameRunnable<'_> {
    fn key(&self) -> u64 {
        self.ahead
            .next()
            .map_or(NEVER, |&(time, _)| first_step(time))
    }
    fn step(&mut self) {
        self.ahead.at += 1;
    }
}

/// Times at which the log's information about a ready thread ends.
#[derive(Clone, Debug)]
pub(super) struct CoverageEnds<'a>(pub(super) &'a [u64]);

impl Source for CoverageEnds<'_> {
    fn key(&self) -> u64 {
        self.0.first().map_or(NEVER, |&time| first_step(time))
    }
    fn step(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }
}

/// Starts and ends of pauses, including the stopping before them.
#[derive(Clone, Debug)]
pub(super) struct PauseBounds<'a> {
    pub(super) pauses: &'a [Pause],
    pub(super) has_begun: bool,
}

impl Source for PauseBounds<'_> {
    fn key(&self) -> u64 {
        self.pauses.first().map_or(NEVER, |pause| {
            let time = if self.has_begun {
                pause.end
            } else {
                pause.requested
            };
            first_step(time.0)
        })
    }
    fn step(&mut self) {
        if self.has_begun {
            self.pauses = self.pauses.get(1..).unwrap_or_default();
        }
        self.has_begun = !self.has_begun;
    }
}
