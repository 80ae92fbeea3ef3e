//! Memory held against live data: what the runtime has of the system's memory
//! after each collection, divided into parts that sum exactly to it.
//!
//! After a collection the log tells what is held (`HeapSize`: whole megablocks),
//! how much of it no block uses (`GCStatsGHC`: `frag`), and, after one of the
//! oldest generation, what is live (`HeapLive`), how much the ends of blocks waste
//! (`slop`), and what the runtime believes to need (`MemReturn`, GHC 9.2 and
//! later). `BlocksSize` says the same as `frag`, less a 64th of all memory in
//! which the runtime keeps the books of its blocks. The rules are those of
//! `rts/sm/GC.c` and `rts/Stats.c`.

mod flags;
mod walk;

use serde::{Deserialize, Serialize};

use super::{Breakdown, HeapProfile, Label};
use crate::recording::Recording;
use crate::timeline::nonmoving::Point;
use eventlog::ids::Nanos;
use model::census::BandId;
use model::time::Interval;
use walk::Walk;

pub use flags::{Collector, MemoryFlags};

/// Into how many slices a range is divided for drawing.
const SLICES: u64 = 240;

/// Blocks of 32 KiB, in which the nonmoving collector keeps objects of one size
/// (`rts/sm/NonMoving.h`).
const SEGMENT_BYTES: u64 = 32 << 10;

/// A part of the memory that is held. Together they are all of it; each stands on
/// those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Part {
    /// What the last major collection found to be live.
    Live,
    /// The ends of its blocks, which hold nothing.
    Slop,
    /// Where the capabilities allocate: as much as `-A` asks for, each.
    Nursery,
    /// Other blocks in use after the last major collection: the books of the
    /// blocks, code, what the collector works with, what is kept ready for
    /// pinned objects.
    Runtime,
    /// Blocks in use that have come since the last major collection: nobody
    /// knows how much of them is alive.
    Grown,
    /// In use, and the log does not tell for what.
    Unknown,
    /// Free blocks that the runtime reckons to need for copying.
    Reserve,
    /// Free blocks of which the log does not tell whether they are needed.
    Free,
    /// Free blocks beyond the need: the megablocks that they are in could not be
    /// given back, as other blocks in them are in use.
    Stuck,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Live,
        Self::Slop,
        Self::Nursery,
        Self::Runtime,
        Self::Grown,
        Self::Unknown,
        Self::Reserve,
        Self::Free,
        Self::Stuck,
    ];

    /// Whether blocks of it are in use.
    #[must_use]
    pub const fn is_in_use(self) -> bool {
        !matches!(self, Self::Reserve | Self::Stuck | Self::Free)
    }
}

/// The bytes of each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts([u64; Part::ALL.len()]);

impl Parts {
    /// The bytes of a part.
    #[must_use]
    pub const fn of(&self, part: Part) -> u64 {
        self.0[part as usize]
    }

    /// All parts together: what is held.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().copied().fold(0, u64::saturating_add)
    }

    /// The parts whose blocks are in use.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        let used = Part::ALL.into_iter().filter(|part| part.is_in_use());
        used.map(|part| self.of(part)).fold(0, u64::saturating_add)
    }

    fn put(&mut self, part: Part, bytes: u64) {
        self.0[part as usize] = bytes;
    }
}

/// The memory after a collection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldMoment {
    /// When the collection ended.
    pub at: Nanos,
    /// The collection's number.
    pub collection: u32,
    /// Whether it was of the oldest generation, so that it tells what is live.
    pub major: bool,
    /// What the runtime holds of the system's memory.
    pub held_bytes: u64,
    /// What of it is what.
    pub parts: Parts,
    /// What was live after the last major collection by then.
    pub live_bytes: Option<u64>,
    /// What the runtime reckoned to need at the last major collection
    /// (`MemReturn`).
    pub needed_bytes: Option<u64>,
    /// What a heap with so much live data usually needs, see
    /// [`MemoryFlags::expected_bytes`].
    pub expected_bytes: Option<u64>,
    /// How many capabilities have a nursery then.
    pub capabilities: u64,
}

impl HeldMoment {
    /// How many times the live data is held.
    #[must_use]
    pub fn copying_factor(&self) -> Option<f64> {
        let live = self.live_bytes.filter(|live| *live > 0)?;
        Some(self.held_bytes as f64 / live as f64)
    }
}

/// What the nonmoving collector holds in its segments, as it tells at the end
/// of its cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segments {
    /// When it told.
    pub at: Nanos,
    /// The bytes of all segments with objects.
    pub held_bytes: u64,
    /// The bytes of the live objects in them.
    pub live_bytes: u64,
}

/// Byte arrays (`ARR_WORDS`) in a census: what is pinned or large is mostly that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteArrays {
    /// When the census was.
    pub at: Nanos,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of all that the census found.
    pub total_bytes: u64,
}

/// What was given back to the system at the major collections of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenBack {
    /// How often the runtime held more than it needed.
    pub asked: u64,
    /// What it gave back, summed up.
    pub returned_bytes: u64,
}

/// Memory held and live in a range of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The range, clipped to the log; the slices divide it evenly.
    pub range: Interval,
    /// How the heap is laid out and collected, as far as the log tells.
    pub flags: MemoryFlags,
    /// When most was held: after a collection of the range, or before the first.
    pub peak: Option<HeldMoment>,
    /// After the last major collection of the range.
    pub last_major: Option<HeldMoment>,
    /// After the last major collection of the range that is not the last
    /// collection of the log: with that one the runtime ends, when nearly nothing
    /// is live any more.
    pub last_at_work: Option<HeldMoment>,
    /// At the end of the range.
    pub last: Option<HeldMoment>,
    /// In each slice, when most was held; `None` before the first collection
    /// of the log.
    pub slices: Vec<Option<HeldMoment>>,
    /// How many collections with such numbers the range has.
    pub collections: u64,
    /// How many of them were of the oldest generation.
    pub majors: u64,
    /// What was given back; `None` if the log does not tell (before GHC 9.2).
    pub given_back: Option<GivenBack>,
    /// The nonmoving collector's segments, when it told of them last.
    pub segments: Option<Segments>,
    /// What the last census of the range found of byte arrays, if there is a
    /// profile by closure type.
    pub byte_arrays: Option<ByteArrays>,
}

impl Recording {
    /// Memory held and live in a range, or in the whole log.
    #[must_use]
    pub fn held(&self, range: Option<Interval>) -> Held {
        let end = self.end();
        let (before, inside) = self.numbers.told_around(end, range);
        let mut walk = Walk::after(self, before);
        let mut held = Held {
            range: crate::numbers::Numbers::span(end, range),
            flags: walk.flags().clone(),
            peak: walk.last(),
            last: walk.last(),
            ..Held::default()
        };
        let mut slices = Slices::of(held.range, walk.last());
        let mut given_back = GivenBack::default();
        let final_number = self
            .numbers
            .told_collections()
            .last()
            .map_or(0, |gc| gc.number);
        for gc in inside {
            let Some(moment) = walk.step(gc) else {
                continue;
            };
            held.collections += 1;
            if held
                .peak
                .is_none_or(|peak| peak.held_bytes < moment.held_bytes)
            {
                held.peak = Some(moment);
            }
            if moment.major {
                held.majors += 1;
                held.last_major = Some(moment);
                if gc.number != final_number {
                    held.last_at_work = Some(moment);
                }
                walk.add_given_back(gc, &mut given_back);
            }
            slices.add(gc.start, moment);
            held.last = Some(moment);
        }
        held.slices = slices.finish();
        let told = self.tracks.graphs.has_returned();
        held.given_back = told.then_some(given_back);
        held.segments = self.last_segments(held.range);
        held.byte_arrays = self.last_byte_arrays(range, end);
        held
    }

    /// The byte arrays of the last census of a range by closure type.
    fn last_byte_arrays(&self, range: Option<Interval>, end: Nanos) -> Option<ByteArrays> {
        let of = |profile: &HeapProfile| {
            let census = profile.places(range, end).next_back()?;
            let is_theirs = |band: &BandId| match profile.label(*band) {
                Some(Label::Text(label)) => label == "ARR_WORDS",
                _ => false,
            };
            let band = profile.bands().find(is_theirs);
            Some(ByteArrays {
                at: profile.time(census)?,
                bytes: band.map_or(0, |band| profile.censuses.at(band, census)),
                total_bytes: *profile.censuses.totals().get(census as usize)?,
            })
        };
        let profiles = self.heap().iter();
        let by_type = profiles.filter(|profile| profile.kind.breakdown == Breakdown::ClosureType);
        by_type.filter_map(of).last()
    }

    /// The last complete list of segments in a range.
    fn last_segments(&self, range: Interval) -> Option<Segments> {
        let points = self.tracks.nonmoving.points(range);
        let mut segments: Option<Segments> = None;
        // A list is told in one go; a second block of the size that it began with
        // begins the next one.
        let mut first_size = None;
        for (at, point) in points {
            let Point::Census {
                block_bytes,
                active,
                filled,
                live,
            } = *point
            else {
                first_size = None;
                continue;
            };
            if first_size.is_none() || first_size == Some(block_bytes) {
                first_size = Some(block_bytes);
                segments = Some(Segments {
                    at: Nanos(*at),
                    ..Segments::default()
                });
            }
            if let Some(segments) = &mut segments {
                let count = u64::from(active) + u64::from(filled);
                segments.held_bytes = segments
                    .held_bytes
                    .saturating_add(count.saturating_mul(SEGMENT_BYTES));
                segments.live_bytes = segments
                    .live_bytes
                    .saturating_add(u64::from(live).saturating_mul(block_bytes.into()));
            }
        }
        segments
    }
}

/// The slices of a range, which are filled from its start to its end.
struct Slices {
    range: Interval,
    all: Vec<Option<HeldMoment>>,
    /// The last moment before the next slice.
    last: Option<HeldMoment>,
    count: usize,
}

impl Slices {
    fn of(range: Interval, before: Option<HeldMoment>) -> Self {
        Self {
            range,
            all: Vec::new(),
            last: before,
            count: SLICES.min(range.duration().0) as usize,
        }
    }

    /// A collection began at that time, after which the memory was like that.
    fn add(&mut self, at: Nanos, moment: HeldMoment) {
        let duration = u128::from(self.range.duration().0.max(1));
        let part = u128::from(at.since(self.range.start()).0) * self.count as u128 / duration;
        let place = (part as usize).min(self.count.saturating_sub(1));
        if place >= self.all.len() {
            self.all.resize(place, self.last);
            self.all.push(Some(moment));
        } else if let Some(Some(most)) = self.all.last_mut()
            && most.held_bytes < moment.held_bytes
        {
            *most = moment;
        }
        self.last = Some(moment);
    }

    fn finish(mut self) -> Vec<Option<HeldMoment>> {
        self.all.resize(self.count, self.last);
        self.all
    }
}
