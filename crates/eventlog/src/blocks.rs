//! Block index. Each capability's events are in blocks, and a block's marker contains its size, so all blocks are
//! found by jumping from marker to marker, without reading the events.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block_list::BlockList;
use super::header::{
    BLOCK_MARKER, Header, MAGIC, MAX_HEADER_BYTES, Parsed, converted_as_text, looks_like,
};
use super::problem::{Damage, DamageKind, DamageList, LogError};
use super::record::{MAX_EVENT_BYTES, Marker, extent};
use super::scan::{
    BlockBoundary, Bounds, Run, check_run, classify_boundary, damaged_marker, leads_to_events,
    next_marker, outside_times,
};
use super::window::{Need, Windows};
use crate::ids::{ByteOffset, CapId, Nanos};

/// A run of events of one capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The capability of the events; `None` for events without one.
    pub cap: Option<CapId>,
    /// Start of the first event.
    pub start: ByteOffset,
    /// End of the last event.
    pub end: ByteOffset,
    /// Time at which the block was begun; for events outside blocks, the time of the first one.
    pub begin_time: Nanos,
    /// Time at which the block was flushed; 0 if unknown.
    pub end_time: Nanos,
    /// Range of times that the marker allows.
    pub(crate) bounds: Bounds,
    /// Range of times that the neighboring blocks allow, in case the marker is wrong.
    pub(crate) neighbor_bounds: Bounds,
    /// Whether the file ends before the block does.
    pub(crate) truncated: bool,
}

impl Block {
    /// Whether this is a run of events outside blocks.
    pub(crate) fn is_outside(&self) -> bool {
        self.cap.is_none() && self.bounds == Bounds::ANY
    }

    fn is_dated_around(&self, time: Nanos) -> bool {
        self.end_time != Nanos(0) && self.begin_time <= time && time <= self.end_time
    }
}

/// One log inside the file, usually the only one.
#[derive(Clone, Debug)]
pub struct Section {
    /// The header of this log.
    pub header: Arc<Header>,
    /// The blocks in file order.
    pub blocks: BlockList,
    /// Whether the end-of-data marker follows the blocks (GHC up to 9.0; newer ones put it inside the last block).
    pub(crate) ended: bool,
    /// End of the section.
    pub end: ByteOffset,
    /// Size of the header in bytes.
    pub(crate) header_bytes: u64,
    /// Total size of the block markers in bytes.
    pub(crate) marker_bytes: u64,
    /// Offsets of end-of-data markers outside blocks.
    pub(crate) end_markers: Vec<u64>,
}

impl Section {
    /// Returns the number of leading blocks that were complete when the file had `len` bytes.
    pub(crate) fn whole_blocks(&self, len: u64) -> usize {
        let whole = |block: &Block| !block.truncated && block.end.0 <= len;
        self.blocks.iter().take_while(whole).count()
    }

    /// Drops everything behind the blocks, which end at `at`.
    pub(crate) fn rewind_to(&mut self, at: u64) {
        self.ended = false;
        self.end = ByteOffset(at);
        self.end_markers.retain(|&marker| marker < at);
        self.marker_bytes = (self.blocks.len() * Marker::BYTES) as u64;
    }
}

/// Positions of all blocks of a file.
#[derive(Clone, Debug, Default)]
pub struct BlockIndex {
    /// The logs in the file.
    pub sections: Vec<Section>,
    /// Damage found while indexing.
    pub damage: DamageList,
}

impl BlockIndex {
    /// Returns the approximate memory consumption while the log is read: readers also hold the blocks by
    /// capability, in the order in which they are needed, and by slice.
    pub fn memory_bytes(&self) -> u64 {
        const LISTS: u64 = 4;
        let sections = self.sections.iter();
        LISTS
            * sections
                .map(|section| section.blocks.memory_bytes())
                .sum::<u64>()
    }
}

/// State of the indexer.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Searches for a header at or after this offset.
    Locate,
    /// Reads a header.
    Header,
    /// Between blocks.
    Body,
    /// After the end-of-data marker.
    After,
    /// Inside or after a block whose size cannot be right: searches for the next marker from here on.
    Lost {
        from: u64,
        fallback: FallbackIfNoMarker,
    },
    /// Between blocks, where no good marker is found, though the last block's size is right.
    Suspect,
    Done,
}

/// Conclusion if no marker is found.
#[derive(Clone, Copy, Debug)]
enum FallbackIfNoMarker {
    /// The last block reaches to the end of the file.
    LastBlock,
    /// The data ended here, with an end-of-data marker before it.
    Ended(u64),
    /// Like `Ended`, but the last block's events lead to that marker, so its size is right.
    EndedSoundly(u64),
    /// The last block's size is right; the bytes behind it must be examined.
    Suspect(u64),
}

/// Builds a [`BlockIndex`] from the ranges that a driver supplies.
#[derive(Debug)]
pub(crate) struct Indexer {
    pub(crate) file: Windows,
    pub(crate) index: BlockIndex,
    pos: u64,
    state: State,
    /// Number of pages read out of sequence.
    jumps: u64,
}

/// Limit for stale bytes before a header; a file with more of them is not an eventlog.
pub(crate) const MAX_STALE_BYTES: u64 = 64 << 10;
/// Size limit for walking through a block, which requires it in memory. The runtime's buffers have 2 MiB.
const LONGEST_WALK: u64 = 16 << 20;
/// Size of an end-of-data marker in bytes.
const END_MARKER: u64 = 2;
/// Number of bytes examined per step where a marker is missing.
const LOST_STRIDE: u64 = 16 << 10;

/// Size of a marker and the longest three events.
const MARKER_AND_RUN: u64 = (3 * MAX_EVENT_BYTES + Marker::BYTES) as u64;
/// Number of pages that may be read out of sequence in any file.
const FREE_JUMPS: u64 = 1000;

fn lost_state(from: u64) -> State {
    State::Lost {
        from,
        fallback: FallbackIfNoMarker::LastBlock,
    }
}

enum Stop {
    Need(Need),
    Error(LogError),
}

impl From<Need> for Stop {
    fn from(need: Need) -> Self {
        Self::Need(need)
    }
}

impl Indexer {
    pub(crate) fn new(len: u64) -> Self {
        Self {
            file: Windows::new(len),
            index: BlockIndex::default(),
            pos: 0,
            state: State::Locate,
            jumps: 0,
        }
    }

    /// Continues at `at`, behind a block of the last of these sections.
    pub(crate) fn at_block(sections: Vec<Section>, at: u64, len: u64) -> Self {
        let mut indexer = Self::new(len);
        indexer.index.sections = sections;
        indexer.pos = at;
        indexer.state = State::Body;
        indexer
    }

    /// Returns the end of the indexed part, in bytes.
    pub(crate) fn position(&self) -> u64 {
        self.pos
    }

    /// Advances as far as the supplied bytes allow, by at most `steps` blocks. Returns `Ok(true)` if the index is
    /// complete.
    pub(crate) fn advance(&mut self, steps: usize) -> Result<bool, Result<Need, LogError>> {
        for _ in 0..steps {
            if matches!(self.state, State::Done) {
                return Ok(true);
            }
            match self.step() {
                Ok(state) => self.state = state,
                Err(Stop::Need(need)) => return Err(Ok(need)),
                Err(Stop::Error(error)) => return Err(Err(error)),
            }
            self.file.discard_before(match self.state {
                State::Lost { from, .. } => from,
                _ => self.pos,
            });
        }
        Ok(matches!(self.state, State::Done))
    }

    /// Performs one step. If it fails for lack of bytes, the state is unchanged.
    fn step(&mut self) -> Result<State, Stop> {
        match self.state {
            State::Locate => self.locate(),
            State::Header => self.header(),
            State::Body => self.body(),
            State::After => self.after(),
            State::Lost { from, fallback } => self.find_marker(from, fallback),
            State::Suspect => self.suspect(),
            State::Done => Ok(State::Done),
        }
    }

    fn locate(&mut self) -> Result<State, Stop> {
        if self.file.len() == 0 {
            return Err(Stop::Error(LogError::Empty));
        }
        let bytes = self.file.get(0, MAX_STALE_BYTES)?;
        let magic = [MAGIC.as_slice(), b"hetb"].concat();
        let found = bytes.windows(magic.len()).position(|w| w == magic);
        let cut = MAGIC.starts_with(&bytes[..bytes.len().min(4)]) || bytes.starts_with(MAGIC);
        let stale = match found {
            Some(stale) => stale as u64,
            None if cut => 0,
            None => {
                let found = looks_like(bytes);
                return Err(Stop::Error(LogError::NotAnEventlog { found }));
            }
        };
        if stale > 0 {
            self.report(0, stale, DamageKind::BeforeHeader, None);
        }
        self.pos = stale;
        Ok(State::Header)
    }

    fn header(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        let mut want = 16 << 10;
        let (header, len) = loop {
            let whole = want >= self.file.len() - at;
            let bytes = self.file.get(at, want)?;
            match Header::parse(bytes, at) {
                Ok(Parsed::Header(header, len)) => break (header, len),
                Ok(Parsed::NeedMore) if !whole => want *= 2,
                Ok(Parsed::NeedMore) => {
                    let converted = converted_as_text(bytes, at);
                    let cut = LogError::HeaderCut(self.file.len());
                    return self.no_header(converted.unwrap_or(cut));
                }
                Err(error) => return self.no_header(error),
            }
            if want > 2 * MAX_HEADER_BYTES as u64 {
                return self.no_header(LogError::HeaderCut(self.file.len()));
            }
        };
        self.pos = at + len as u64;
        self.index.sections.push(Section {
            header: Arc::new(*header),
            blocks: BlockList::default(),
            ended: false,
            end: ByteOffset(self.pos),
            header_bytes: len as u64,
            marker_bytes: 0,
            end_markers: Vec::new(),
        });
        Ok(State::Body)
    }

    /// A broken header is fatal if it is the first one.
    fn no_header(&mut self, error: LogError) -> Result<State, Stop> {
        if self.index.sections.is_empty() {
            return Err(Stop::Error(error));
        }
        let lost = self.file.len() - self.pos;
        self.report(self.pos, lost, DamageKind::SectionHeader, None);
        Ok(State::Done)
    }

    fn section(&mut self) -> &mut Section {
        self.index
            .sections
            .last_mut()
            .expect("a section is pushed before the body is read")
    }

    fn landing(&mut self, at: u64) -> Result<BlockBoundary, Stop> {
        let header = Arc::clone(&self.section().header);
        let near = classify_boundary(&header, self.file.get(at, Marker::BYTES as u64)?);
        if !matches!(near, BlockBoundary::Junk) {
            return Ok(near);
        }
        Ok(classify_boundary(&header, self.events_at(at, 0)?))
    }

    /// Returns the bytes at `at`, where events may start `skip` bytes on: one page, or the maximum size
    /// of three events if the page ends inside them.
    fn events_at(&mut self, at: u64, skip: usize) -> Result<&[u8], Stop> {
        let header = Arc::clone(&self.section().header);
        let left = self.file.len() - at;
        let page = self.file.get(at, Windows::MIN_REQUEST_BYTES)?;
        let events = page.get(skip..).unwrap_or_default();
        let cut =
            (page.len() as u64) < left && check_run(&header, events, Bounds::ANY) == Run::CutShort;
        if !cut || !self.may_jump() {
            return Ok(self.file.get(at, Windows::MIN_REQUEST_BYTES)?);
        }
        self.file.get(at, MARKER_AND_RUN)?;
        self.jumps += MARKER_AND_RUN / Windows::MIN_REQUEST_BYTES;
        Ok(self.file.get(at, MARKER_AND_RUN)?)
    }

    /// Whether more pages may be read out of sequence. The limit ensures that a file full of false markers takes
    /// no longer than reading it once.
    fn may_jump(&self) -> bool {
        self.jumps <= FREE_JUMPS + self.file.len() / Windows::MIN_REQUEST_BYTES
    }

    fn body(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        let landing = self.landing(at)?;
        let next = match landing {
            BlockBoundary::EndOfFile => State::Done,
            BlockBoundary::Header => State::Header,
            BlockBoundary::EndOfData => {
                self.section().ended = true;
                self.section().end = ByteOffset(at + 2);
                self.section().end_markers.push(at);
                self.pos += 2;
                return Ok(State::After);
            }
            BlockBoundary::Block(marker) => self.block(at, &marker),
            BlockBoundary::Event | BlockBoundary::Junk if self.ends_in_last_block(at)? => {
                State::Lost {
                    from: at,
                    fallback: FallbackIfNoMarker::EndedSoundly(at),
                }
            }
            BlockBoundary::Event | BlockBoundary::Junk => match self.section().blocks.last() {
                // If the last block's size is wrong, the block contains a marker.
                Some(last) if !last.is_outside() => {
                    self.lost_in_last_block(FallbackIfNoMarker::Suspect(at))
                }
                _ => State::Suspect,
            },
        };
        self.section().end = ByteOffset(at);
        Ok(next)
    }

    fn block(&mut self, at: u64, marker: &Marker) -> State {
        let len = self.file.len();
        let start = at + Marker::BYTES as u64;
        let end = start.max(at + u64::from(marker.size));
        self.section().marker_bytes += Marker::BYTES as u64;
        self.section().blocks.push(Block {
            cap: marker.cap,
            start: ByteOffset(start),
            end: ByteOffset(end.min(len)),
            begin_time: marker.begin,
            end_time: marker.end,
            bounds: Bounds::from_marker(marker),
            neighbor_bounds: Bounds::ANY,
            truncated: end > len && marker.size_is_plausible(),
        });
        if end > len || !marker.size_is_plausible() {
            return lost_state(start);
        }
        self.pos = end;
        State::Body
    }

    /// Returns the marker at `at`, where one must be, if at most one field is damaged and it leads to something
    /// valid.
    fn damaged_marker(&mut self, at: u64) -> Result<Option<Marker>, Stop> {
        let marker = damaged_marker(self.file.get(at, Marker::BYTES as u64)?);
        Ok(match marker {
            Some(marker) if self.leads_on(at, &marker)? => Some(marker),
            _ => None,
        })
    }

    /// Whether events follow the marker at `at`, or something valid follows its block.
    fn leads_on(&mut self, at: u64, marker: &Marker) -> Result<bool, Stop> {
        let header = Arc::clone(&self.section().header);
        let events = leads_to_events(&header, self.events_at(at, Marker::BYTES)?, marker);
        Ok(events || marker.size_is_plausible() && self.ends_well(at, marker)?)
    }

    /// Adds a block with a damaged marker, using the plausible fields.
    fn damaged_block(&mut self, at: u64, mut marker: Marker) -> State {
        if !marker.cap_is_plausible() {
            marker.cap = None;
        }
        if !marker.times_are_plausible() {
            marker.begin = Nanos(0);
            if !marker.times_are_plausible() {
                marker.end = Nanos(0);
            }
        }
        // An impossible size is reported when the block's end is found.
        if marker.size_is_plausible() {
            self.report(at, 0, DamageKind::BlockMarker, marker.cap);
        }
        self.block(at, &marker)
    }

    fn suspect(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        if matches!(self.landing(at)?, BlockBoundary::Event) {
            return self.outside_event();
        }
        if let Some(marker) = self.damaged_marker(at)? {
            return Ok(self.damaged_block(at, marker));
        }
        let left = self.file.len() - at;
        if left < Marker::BYTES as u64 {
            self.report(at, left, DamageKind::Truncated, None);
            self.section().ended = true;
            return Ok(State::Done);
        }
        Ok(self.lost_in_last_block(FallbackIfNoMarker::LastBlock))
    }

    /// Where nothing valid is found, the last block's size may be wrong.
    fn lost_in_last_block(&mut self, fallback: FallbackIfNoMarker) -> State {
        let at = self.pos;
        if !self.may_jump() {
            return State::Lost { from: at, fallback };
        }
        self.jumps += 1;
        let last = self.section().blocks.last();
        let from = last.map_or(at, |block| block.start.0);
        State::Lost { from, fallback }
    }

    /// Whether something valid follows the block at `at`, whose end may be far away.
    fn ends_well(&mut self, at: u64, marker: &Marker) -> Result<bool, Stop> {
        let end = at + u64::from(marker.size);
        let len = self.file.len();
        if end > len || !self.may_jump() {
            return Ok(false);
        }
        let header = Arc::clone(&self.section().header);
        let bytes = self.file.get(end, Marker::BYTES as u64)?;
        let landing = classify_boundary(&header, bytes);
        self.jumps += 1;
        Ok(!matches!(
            landing,
            BlockBoundary::Junk | BlockBoundary::Event
        ))
    }

    /// Adds an event outside blocks. Such events belong to no capability; a run of them forms a block of its own.
    fn outside_event(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        let header = Arc::clone(&self.section().header);
        let bytes = self.events_at(at, 0)?;
        let times = outside_times(&header, bytes).unwrap_or_default();
        let Ok(event) = extent(&header, bytes) else {
            return Ok(lost_state(at));
        };
        let end = ByteOffset(at + event.end as u64);
        // If dated inside the previous block, they are that block's events: GHC writes hardly any outside blocks.
        let last = self.section().blocks.last();
        if last.is_some_and(|last| times.iter().any(|&time| last.is_dated_around(time))) {
            return Ok(self.lost_in_last_block(FallbackIfNoMarker::LastBlock));
        }
        let blocks = &mut self.section().blocks;
        match blocks.last_mut() {
            Some(last) if last.end.0 == at && last.is_outside() => {
                last.end = end;
            }
            _ => blocks.push(Block {
                cap: None,
                start: ByteOffset(at),
                end,
                begin_time: event.time,
                end_time: Nanos(0),
                bounds: Bounds::ANY,
                neighbor_bounds: Bounds::ANY,
                truncated: false,
            }),
        }
        self.pos = end.0;
        Ok(State::Body)
    }

    fn after(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        Ok(match self.landing(at)? {
            BlockBoundary::EndOfFile => State::Done,
            BlockBoundary::Header => State::Header,
            BlockBoundary::Block(_) => State::Body,
            BlockBoundary::EndOfData | BlockBoundary::Event | BlockBoundary::Junk
                if self.last_block_leads_to(at - END_MARKER)? =>
            {
                State::Lost {
                    from: at,
                    fallback: FallbackIfNoMarker::EndedSoundly(at),
                }
            }
            // Unless more blocks follow, these bytes are not read.
            BlockBoundary::EndOfData | BlockBoundary::Event | BlockBoundary::Junk => {
                self.lost_in_last_block(FallbackIfNoMarker::Ended(at))
            }
        })
    }

    /// Whether the data end in the last block, which ends at `at`: its last two bytes are an end-of-data marker.
    fn ends_in_last_block(&mut self, at: u64) -> Result<bool, Stop> {
        let Some(marker) = at.checked_sub(END_MARKER) else {
            return Ok(false);
        };
        let bytes = self.file.get(marker, END_MARKER)?;
        Ok(bytes.starts_with(&[0xFF, 0xFF]) && self.last_block_leads_to(marker)?)
    }

    /// Whether the events of the last block are contiguous from its first byte to `end`. Each block is walked at
    /// most once, and only if it is not followed by a block.
    fn last_block_leads_to(&mut self, end: u64) -> Result<bool, Stop> {
        let header = Arc::clone(&self.section().header);
        let start = self.section().blocks.last().map(|block| block.start.0);
        let Some(start) = start.filter(|&start| start <= end && end - start <= LONGEST_WALK) else {
            return Ok(false);
        };
        let len = end - start;
        let mut rest = self.file.get(start, len)?.get(..len as usize);
        while let Some(events) = rest.filter(|events| !events.is_empty()) {
            let event = extent(&header, events).ok();
            let event = event.filter(|event| event.id != BLOCK_MARKER);
            rest = event.and_then(|event| events.get(event.end..));
        }
        Ok(rest.is_some())
    }

    /// Searches for a marker that leads to events, or whose block is followed by something valid. The last block
    /// is then extended up to it: if its size was wrong, all its events are included, and if bytes between blocks
    /// are damaged, they are skipped when the block is read.
    fn find_marker(&mut self, from: u64, fallback: FallbackIfNoMarker) -> Result<State, Stop> {
        let len = self.file.len();
        let end = match fallback {
            FallbackIfNoMarker::Suspect(end) => end,
            FallbackIfNoMarker::LastBlock
            | FallbackIfNoMarker::Ended(_)
            | FallbackIfNoMarker::EndedSoundly(_) => len,
        };
        let stride = LOST_STRIDE.min(end.saturating_sub(from));
        let bytes = self.file.get(from, stride + Marker::BYTES as u64)?;
        let bytes = &bytes[..bytes.len().min(stride as usize + Marker::BYTES - 1)];
        let marker = next_marker(bytes);
        let before = marker.map_or(bytes, |(at, _)| &bytes[..at]);
        let header = memchr::memmem::find(before, b"hdrbhetb").map(|at| (at, None));
        let candidate = header.or(marker.map(|(at, marker)| (at, Some(marker))));
        let at = candidate.map_or(from + stride, |(i, _)| from + i as u64);
        if at >= end {
            return Ok(match fallback {
                FallbackIfNoMarker::Suspect(_) => State::Suspect,
                FallbackIfNoMarker::LastBlock => self.end_block_at(len, fallback),
                FallbackIfNoMarker::Ended(at) | FallbackIfNoMarker::EndedSoundly(at) => {
                    self.report(at, len - at, DamageKind::AfterEnd, None);
                    State::Done
                }
            });
        }
        let from = match candidate {
            None => at,
            Some((_, None)) => return Ok(self.end_block_at(at, fallback)),
            Some((_, Some(marker))) if self.leads_on(at, &marker)? => {
                return Ok(self.end_block_at(at, fallback));
            }
            Some((_, Some(_))) => at + 1,
        };
        Ok(State::Lost { from, fallback })
    }

    /// Continues at `at`, where the next block begins or the file ends. The last block is made to end there,
    /// unless its size is known to be right.
    fn end_block_at(&mut self, at: u64, fallback: FallbackIfNoMarker) -> State {
        let pos = self.pos;
        if let FallbackIfNoMarker::EndedSoundly(end) = fallback {
            self.report(end, at - end, DamageKind::AfterEnd, None);
            self.pos = at;
            return State::Body;
        }
        let len = self.file.len();
        let blocks = &mut self.section().blocks;
        let is_begun = blocks.last().is_some_and(|block| block.start.0 <= at);
        if let Some(mut block) = is_begun.then(|| blocks.pop()).flatten() {
            let truncated = at == len && block.truncated;
            if !truncated {
                let marker_at = block.start.0.saturating_sub(Marker::BYTES as u64);
                let claimed = block.end.0 - marker_at;
                let kind = DamageKind::BlockSize(u32::try_from(claimed).unwrap_or(u32::MAX));
                let cap = block.cap;
                block.truncated = false;
                block.end = ByteOffset(at);
                let start = block.start.0;
                self.section().blocks.push(block);
                // The block's stream classifies what is inside it; what follows it is read again.
                self.section().end_markers.retain(|&marker| marker < start);
                self.report(marker_at, 0, kind, cap);
            } else {
                self.section().blocks.push(block);
            }
        } else {
            self.report(pos, at - pos, DamageKind::BetweenBlocks, None);
        }
        self.pos = at;
        State::Body
    }

    fn report(&mut self, at: u64, lost_bytes: u64, kind: DamageKind, cap: Option<CapId>) {
        self.index.damage.push(Damage {
            at: ByteOffset(at),
            lost_bytes,
            kind,
            after: None,
            cap,
        });
    }
}
