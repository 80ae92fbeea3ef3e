//! Memory held by the runtime after each collection, divided into parts that add up to it exactly.
//!
//! After each collection, the log has the memory held (`HeapSize`, in whole megablocks) and how much of it no
//! block uses (`frag` of `GCStatsGHC`). After one of the oldest generation it also has the live data (`HeapLive`),
//! the waste at the ends of blocks (`slop`), and the runtime's estimate of its need (`MemReturn`, GHC 9.2 and
//! later). `BlocksSize` carries the same information as `frag`, without the 64th of all memory that holds block
//! descriptors. The rules are those of `rts/sm/GC.c` and `rts/Stats.c`.

mod cursor;
mod flags;

use serde::{Deserialize, Serialize};

use super::{Breakdown, HeapProfile, Label};
use crate::recording::Recording;
use crate::timeline::nonmoving::Point;
use cursor::MemoryCursor;
use eventlog::ids::Nanos;
use model::census::BandId;
use model::time::Interval;

pub use flags::{Collector, MemoryFlags};

/// Number of slices of a range, for drawing.
const SLICES: u64 = 240;

/// Size of a segment of the nonmoving collector, which holds objects of one size (`rts/sm/NonMoving.h`).
const SEGMENT_BYTES: u64 = 32 << 10;

model::named_enum! {
    /// A part of the memory held. The parts add up to the total, and are stacked in this order.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum MemoryPart {
        /// Live data found by the last major collection.
        Live: "Live data", "Reachable at the last major collection.";
        /// Unused ends of the blocks with live data.
        Slop: "Ends of blocks", "Unused space in blocks of live data: objects do not fill blocks evenly. Includes free slots of the nonmoving collector.";
        /// Allocation areas: the size of `-A` for each capability.
        Nursery: "Nurseries", "Nurseries of the capabilities, each of size -A. Collections empty them, but do not free them.";
        /// Other blocks in use after the last major collection: block descriptors, code, the collector's working
        /// memory, blocks reserved for pinned objects.
        Runtime: "Blocks of the runtime", "Block descriptors (a 64th of the memory), code, working memory of the collector, and, since GHC 9.2, up to 1\u{a0}MiB per capability reserved for pinned objects.";
        /// Blocks in use that were added since the last major collection; how much of them is live is unknown.
        Grown: "Since the last major collection", "Survivors of minor collections since the last major collection. How much is still live is unknown until the next one.";
        /// In use for a purpose that the log does not show.
        Unknown: "In use, purpose unknown", "Blocks in use. Live data is unknown before the first major collection.";
        /// Free blocks that the runtime estimates to need for copying.
        Reserve: "Free, kept for copying", "Empty blocks that the runtime expects to need: a major collection copies the live data, and until then the old generation may grow to F times the live data.";
        /// Free blocks, in a log that does not show whether they are needed.
        Free: "Free", "Empty blocks. The need for copying is not in the log: GHC 9.2 and later log it at major collections.";
        /// Free blocks beyond the need, in megablocks that cannot be returned because other blocks in them are in use.
        Stuck: "Free, could not be given back", "Empty blocks beyond the need. Only whole megablocks (1\u{a0}MiB) are returned, and each of these has a block in use: this is fragmentation.";
    }
    /// Returns the title of the part.
    fn title;
    /// Explains the part in sentences.
    fn meaning;
}

impl MemoryPart {
    /// Returns whether the blocks of the part are in use.
    pub const fn is_in_use(self) -> bool {
        !matches!(self, Self::Reserve | Self::Stuck | Self::Free)
    }
}

/// Bytes of each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryParts([u64; MemoryPart::ALL.len()]);

impl MemoryParts {
    /// Returns the bytes of a part.
    pub const fn get(&self, part: MemoryPart) -> u64 {
        self.0[part as usize]
    }

    /// Returns the sum of all parts: the memory held.
    pub fn total(&self) -> u64 {
        self.0.iter().copied().fold(0, u64::saturating_add)
    }

    /// Returns the sum of the parts in use.
    pub fn in_use(&self) -> u64 {
        let used = MemoryPart::ALL.into_iter().filter(|part| part.is_in_use());
        used.map(|part| self.get(part)).fold(0, u64::saturating_add)
    }

    fn put(&mut self, part: MemoryPart, bytes: u64) {
        self.0[part as usize] = bytes;
    }
}

/// Memory after a collection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryMoment {
    /// End of the collection.
    pub at: Nanos,
    /// Number of the collection.
    pub collection: u32,
    /// Whether it collected the oldest generation, and so measured the live data.
    pub major: bool,
    /// Memory that the runtime holds from the operating system.
    pub held_bytes: u64,
    /// Division of `held_bytes`.
    pub parts: MemoryParts,
    /// Live data at the last major collection up to then.
    pub live_bytes: Option<u64>,
    /// Need estimated by the runtime at the last major collection (`MemReturn`).
    pub needed_bytes: Option<u64>,
    /// Usual need for this amount of live data, see [`MemoryFlags::expected_bytes`].
    pub expected_bytes: Option<u64>,
    /// Number of capabilities with a nursery at that time.
    pub capabilities: u64,
}

impl MemoryMoment {
    /// Returns the memory held as a multiple of the live data.
    pub fn copying_factor(&self) -> Option<f64> {
        let live = self.live_bytes.filter(|live| *live > 0)?;
        Some(self.held_bytes as f64 / live as f64)
    }
}

/// Memory in segments of the nonmoving collector, reported at the end of its cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segments {
    /// Time of the report.
    pub at: Nanos,
    /// Bytes of all segments with objects.
    pub held_bytes: u64,
    /// Bytes of the live objects in them.
    pub live_bytes: u64,
}

/// Byte arrays (`ARR_WORDS`) in a census; most pinned or large objects are byte arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteArrays {
    /// Time of the census.
    pub at: Nanos,
    /// Bytes of all byte arrays.
    pub bytes: u64,
    /// Bytes of everything in the census.
    pub total_bytes: u64,
}

/// Memory returned to the operating system by the major collections of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedMemory {
    /// Number of major collections at which the runtime held more than it needed.
    pub asked: u64,
    /// Total bytes returned.
    pub returned_bytes: u64,
}

/// Memory held and live data in a range of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldMemory {
    /// Range, clipped to the log; slices divide it evenly.
    pub range: Interval,
    /// Layout and collection of the heap, as far as known from the log.
    pub flags: MemoryFlags,
    /// Moment with the most memory held: at the start of the range, or after a collection in it.
    pub peak: Option<MemoryMoment>,
    /// Moment after the last major collection in the range.
    pub last_major: Option<MemoryMoment>,
    /// Moment after the last major collection in the range, except the last collection of the log, which runs at
    /// shutdown, when nearly nothing is live.
    pub last_at_work: Option<MemoryMoment>,
    /// Moment at the end of the range.
    pub last: Option<MemoryMoment>,
    /// Moment with the most memory held in each slice; `None` before the first collection of the log.
    pub slices: Vec<Option<MemoryMoment>>,
    /// Number of collections in the range with memory figures.
    pub collections: u64,
    /// Number of these that collected the oldest generation.
    pub majors: u64,
    /// Memory returned; `None` if the log does not have it (before GHC 9.2).
    pub returned: Option<ReturnedMemory>,
    /// Last report of the nonmoving collector's segments.
    pub segments: Option<Segments>,
    /// Byte arrays in the last census of the range, if there is a profile by closure type.
    pub byte_arrays: Option<ByteArrays>,
}

impl Recording {
    /// Computes the memory held and the live data in a range, or in the whole log.
    pub fn held_memory(&self, range: Option<Interval>) -> HeldMemory {
        let end = self.end();
        let (before, inside) = self.numbers.collections_around(end, range);
        let mut cursor = MemoryCursor::starting_after(self, before);
        let mut held = HeldMemory {
            range: self.numbers.span(end, range),
            flags: cursor.flags().clone(),
            peak: cursor.last(),
            last: cursor.last(),
            ..HeldMemory::default()
        };
        let mut slices = Slices::new(held.range, cursor.last());
        let mut returned = ReturnedMemory::default();
        let final_number = self
            .numbers
            .collections_with_statistics()
            .last()
            .map_or(0, |gc| gc.number);
        for gc in inside {
            let Some(moment) = cursor.step(gc) else {
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
                cursor.add_returned(gc, &mut returned);
            }
            slices.add(gc.start, moment);
            held.last = Some(moment);
        }
        held.slices = slices.finish();
        let told = self.tracks.graphs.has_returned();
        held.returned = told.then_some(returned);
        held.segments = self.last_segments(held.range);
        held.byte_arrays = self.last_byte_arrays(range, end);
        held
    }

    /// Returns the byte arrays of the last census in a range, from the last profile by closure type.
    fn last_byte_arrays(&self, range: Option<Interval>, end: Nanos) -> Option<ByteArrays> {
        let of = |profile: &HeapProfile| {
            let census = profile.censuses_in(range, end).next_back()?;
            let is_theirs = |band: &BandId| match profile.label(*band) {
                Some(Label::Text(label)) => label == "ARR_WORDS",
                _ => false,
            };
            let band = profile.bands().find(is_theirs);
            Some(ByteArrays {
                at: profile.time(census)?,
                bytes: band.map_or(0, |band| profile.censuses.bytes_at(band, census)),
                total_bytes: *profile.censuses.totals().get(census as usize)?,
            })
        };
        let profiles = self.heap().iter();
        let by_type = profiles.filter(|profile| profile.kind.breakdown == Breakdown::ClosureType);
        by_type.filter_map(of).last()
    }

    /// Returns the last report on segments that begins in a range.
    fn last_segments(&self, range: Interval) -> Option<Segments> {
        let points = self.tracks.nonmoving.points(range);
        let mut segments: Option<Segments> = None;
        // A report is one run of events, one per block size. A repeat of its first size begins the next report.
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

/// Slices of a range, filled from start to end.
struct Slices {
    range: Interval,
    all: Vec<Option<MemoryMoment>>,
    /// Latest moment so far, which fills slices without a collection.
    last: Option<MemoryMoment>,
    count: usize,
}

impl Slices {
    fn new(range: Interval, before: Option<MemoryMoment>) -> Self {
        Self {
            range,
            all: Vec::new(),
            last: before,
            count: SLICES.min(range.duration().0) as usize,
        }
    }

    /// Adds the moment after a collection that began at `at`.
    fn add(&mut self, at: Nanos, moment: MemoryMoment) {
        let duration = u128::from(self.range.duration().0.max(1));
        let part = u128::from(at.since(self.range.start()).0) * self.count as u128 / duration;
        let place = (part as usize).min(self.count.saturating_sub(1));
        if place >= self.all.len() {
            self.all.resize(place, self.last);
            // What is held when the slice begins counts, too.
            let before = self.last.filter(|last| last.held_bytes > moment.held_bytes);
            self.all.push(Some(before.unwrap_or(moment)));
        } else if let Some(Some(most)) = self.all.last_mut()
            && most.held_bytes < moment.held_bytes
        {
            *most = moment;
        }
        self.last = Some(moment);
    }

    fn finish(mut self) -> Vec<Option<MemoryMoment>> {
        self.all.resize(self.count, self.last);
        self.all
    }
}
