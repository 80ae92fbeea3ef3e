//! Where what happens in a log comes from: of each lane its runs and its turns, of all
//! together threads that become ready, and pauses. Each source is in order.

use super::pauses::Pause;
use super::pieces::Pieces;
use super::runs::{NextRun, RunLane};
use model::lane::Lane;
use model::moments::Moments;
use model::pages::BLOCK;

/// No time is later.
pub(super) const MAX_TIME: u64 = u64::MAX >> 2;
/// A source that is at its end goes on then.
pub(super) const NEVER: u64 = u64::MAX;

/// Times are kept with one bit below them: what happens at one time happens in
/// two steps, so that empty runs come before others.
pub(super) const fn first_step(time: u64) -> u64 {
    let time = if time > MAX_TIME { MAX_TIME } else { time };
    time << 1
}

/// Where something comes from, in order.
pub(super) trait Source {
    /// When the next moment is.
    fn key(&self) -> u64;
    /// On to the moment after it.
    fn step(&mut self);
}

/// The rest of a list, of which some is read ahead.
#[derive(Clone, Debug)]
pub(super) struct Ahead<T> {
    read: Vec<T>,
    /// The place of the first that is read.
    first: usize,
    /// Which of those that are read comes next.
    at: usize,
}

impl<T> Ahead<T> {
    pub(super) const fn from(place: usize) -> Self {
        Self {
            read: Vec::new(),
            first: place,
            at: 0,
        }
    }

    /// Reads on, and forgets what came. The last one, if there was more.
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

/// The begins and ends of a lane's runs.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    pub(super) lane: &'a RunLane,
    pub(super) ahead: Ahead<NextRun>,
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
}

/// When a lane is born and dies, and when it begins and ceases to do what is neither
/// running nor standing by.
#[derive(Clone, Debug)]
pub(super) struct Turns<'a> {
    pieces: Option<&'a Pieces>,
    piece: usize,
    is_inside: bool,
    life: [u64; 2],
    lived: usize,
}

impl<'a> Turns<'a> {
    /// Those after a time, of a lane that lives from one moment to another.
    pub(super) fn after(now: u64, pieces: Option<&'a Pieces>, (born, dead): (u64, u64)) -> Self {
        let life = [born, dead.max(born)];
        let mut turns = Self {
            pieces,
            piece: pieces.map_or(0, |pieces| pieces.first_ending_after(now)),
            is_inside: false,
            life,
            lived: life.partition_point(|&time| time <= now),
        };
        if turns.piece_key() <= first_step(now) {
            turns.step();
        }
        turns
    }

    fn piece(&self) -> Option<(u64, u64)> {
        let pieces = self.pieces.filter(|pieces| self.piece < pieces.len());
        pieces.map(|pieces| pieces.span(self.piece))
    }

    fn piece_key(&self) -> u64 {
        let bound = |(start, end)| if self.is_inside { end } else { start };
        self.piece().map_or(NEVER, |span| first_step(bound(span)))
    }

    fn life_key(&self) -> u64 {
        self.life
            .get(self.lived)
            .map_or(NEVER, |&time| first_step(time))
    }
}

impl Source for Turns<'_> {
    fn key(&self) -> u64 {
        self.piece_key().min(self.life_key())
    }

    fn step(&mut self) {
        if self.life_key() < self.piece_key() {
            self.lived += 1;
            return;
        }
        let Some((_, mut end)) = self.piece() else {
            return;
        };
        self.is_inside = !self.is_inside;
        if !self.is_inside {
            self.piece += 1;
            return;
        }
        // From one piece to another nothing changes.
        while let Some(pieces) = self.pieces
            && self.piece + 1 < pieces.len()
            && pieces.span(self.piece + 1).0 <= end
        {
            self.piece += 1;
            end = pieces.span(self.piece).1;
        }
    }
}

/// When threads become ready.
#[derive(Clone, Debug)]
pub(super) struct Readied<'a> {
    pub(super) moments: &'a Moments,
    pub(super) ahead: Ahead<(u64, Option<u32>)>,
}

impl Source for Readied<'_> {
    fn key(&self) -> u64 {
        self.ahead
            .next()
            .map_or(NEVER, |&(time, _)| first_step(time))
    }
    fn step(&mut self) {
        self.ahead.at += 1;
    }
}

/// When the log ceases to tell of ready threads.
#[derive(Clone, Debug)]
pub(super) struct Lost<'a>(pub(super) &'a [u64]);

impl Source for Lost<'_> {
    fn key(&self) -> u64 {
        self.0.first().map_or(NEVER, |&time| first_step(time))
    }
    fn step(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }
}

/// The begins and ends of pauses.
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
