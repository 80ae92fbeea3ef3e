//! The block index. Each capability's events stand in blocks, and a block's
//! marker says how long it is: jumping from marker to marker finds them all
//! without reading the events.

use std::sync::Arc;

use super::header::{Header, MAGIC, MAX_HEADER_BYTES, Parsed, converted_as_text, looks_like};
use super::problem::{Damage, DamageKind, DamageList, LogError};
use super::record::{MAX_EVENT_BYTES, Marker, extent};
use super::scan::{Bounds, Landing, landing};
use super::window::{Need, Windows};
use crate::ids::{ByteOffset, CapId, Nanos};

/// A run of events of one capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Whose they are; `None` for those of no capability.
    pub cap: Option<CapId>,
    /// Where the first event begins.
    pub start: ByteOffset,
    /// Where the last one ends.
    pub end: ByteOffset,
    /// When the block was begun; for events outside of blocks, the first one's time.
    pub begin_time: Nanos,
    /// When it was flushed; 0 if that is not known.
    pub end_time: Nanos,
    pub(crate) bounds: Bounds,
    /// Whether the file ends before the block does.
    pub(crate) truncated: bool,
}

/// One log inside the file: usually the only one.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its header.
    pub header: Arc<Header>,
    /// Its blocks in the order of the file.
    pub blocks: Vec<Block>,
    /// Whether the end-of-data marker stands after the blocks (GHC up to 9.0;
    /// newer ones put it inside the last block).
    pub(crate) ended: bool,
    /// Where the section ends.
    pub end: ByteOffset,
}

/// Where all blocks of a file are.
#[derive(Clone, Debug, Default)]
pub struct BlockIndex {
    /// The logs in the file.
    pub sections: Vec<Section>,
    /// What was wrong on the way.
    pub damage: DamageList,
}

/// What the indexer is doing.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Looking for a header at or after this offset.
    Locate,
    /// At a header.
    Header,
    /// Between blocks.
    Body,
    /// After the end-of-data marker.
    After,
    /// Inside or after a block whose size cannot be right: looking for the
    /// next marker from here on.
    Lost {
        from: u64,
    },
    Done,
}

/// Builds a [`BlockIndex`] from the ranges that a driver supplies.
#[derive(Debug)]
pub(crate) struct Indexer {
    pub(crate) file: Windows,
    pub(crate) index: BlockIndex,
    pos: u64,
    state: State,
}

/// Stale bytes before a header are few; anything longer is not an eventlog.
const MAX_STALE_BYTES: u64 = 64 << 10;
/// How much is looked at in one go where a marker is missing.
const LOST_STRIDE: u64 = 256 << 10;

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
        }
    }

    /// How far into the file the index reaches, in bytes.
    pub(crate) fn position(&self) -> u64 {
        self.pos
    }

    /// Goes on as far as the supplied bytes allow, for `steps` blocks at most.
    /// `Ok(true)` if the index is complete.
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
            self.file.pass(match self.state {
                State::Lost { from } => from,
                _ => self.pos,
            });
        }
        Ok(matches!(self.state, State::Done))
    }

    /// One step; it changes nothing if it ends in a need.
    fn step(&mut self) -> Result<State, Stop> {
        match self.state {
            State::Locate => self.locate(),
            State::Header => self.header(),
            State::Body => self.body(),
            State::After => self.after(),
            State::Lost { from } => self.find_marker(from),
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
            blocks: Vec::new(),
            ended: false,
            end: ByteOffset(self.pos),
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

    fn landing(&mut self, at: u64) -> Result<Landing, Stop> {
        let header = Arc::clone(&self.section().header);
        let near = landing(&header, self.file.get(at, Marker::BYTES as u64)?);
        if !matches!(near, Landing::Junk) {
            return Ok(near);
        }
        let far = 3 * MAX_EVENT_BYTES as u64 + Marker::BYTES as u64;
        Ok(landing(&header, self.file.get(at, far)?))
    }

    fn body(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        let landing = self.landing(at)?;
        let len = self.file.len();
        self.section().end = ByteOffset(at);
        match landing {
            Landing::EndOfFile => Ok(State::Done),
            Landing::Header => Ok(State::Header),
            Landing::EndOfData => {
                self.section().ended = true;
                self.section().end = ByteOffset(at + 2);
                self.pos += 2;
                Ok(State::After)
            }
            Landing::Block(marker) => {
                let end = at + u64::from(marker.size);
                self.section().blocks.push(Block {
                    cap: marker.cap,
                    start: ByteOffset(at + Marker::BYTES as u64),
                    end: ByteOffset(end.min(len)),
                    begin_time: marker.begin,
                    end_time: marker.end,
                    bounds: Bounds::of(&marker),
                    truncated: end > len,
                });
                if end > len {
                    return Ok(State::Lost {
                        from: at + Marker::BYTES as u64,
                    });
                }
                self.pos = end;
                Ok(State::Body)
            }
            Landing::Event => self.outside_events(),
            Landing::Junk if len - at < Marker::BYTES as u64 => {
                self.report(at, len - at, DamageKind::Truncated, None);
                self.section().ended = true;
                Ok(State::Done)
            }
            Landing::Junk => {
                let from = self
                    .section()
                    .blocks
                    .last()
                    .map_or(at, |block| block.start.0);
                Ok(State::Lost { from })
            }
        }
    }

    /// Events outside of blocks belong to no capability; a run of them is a
    /// block of its own.
    fn outside_events(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        let header = Arc::clone(&self.section().header);
        let bytes = self.file.get(at, MAX_EVENT_BYTES as u64)?;
        let Ok(event) = extent(&header, bytes) else {
            return Ok(State::Lost { from: at });
        };
        let end = ByteOffset(at + event.end as u64);
        let blocks = &mut self.section().blocks;
        match blocks.last_mut() {
            Some(last) if last.end.0 == at && last.cap.is_none() && last.bounds == Bounds::ANY => {
                last.end = end;
            }
            _ => blocks.push(Block {
                cap: None,
                start: ByteOffset(at),
                end,
                begin_time: event.time,
                end_time: Nanos(0),
                bounds: Bounds::ANY,
                truncated: false,
            }),
        }
        self.pos = end.0;
        Ok(State::Body)
    }

    fn after(&mut self) -> Result<State, Stop> {
        let at = self.pos;
        Ok(match self.landing(at)? {
            Landing::EndOfFile => State::Done,
            Landing::Header => State::Header,
            Landing::Block(_) => State::Body,
            Landing::EndOfData | Landing::Event | Landing::Junk => {
                let lost = self.file.len() - at;
                self.report(at, lost, DamageKind::AfterEnd, None);
                State::Done
            }
        })
    }

    /// Looks for a marker whose block ends where something sensible stands.
    /// The last block is then taken to reach up to it: if its size was wrong
    /// its events are all there, and if bytes between blocks are damaged they
    /// are passed over when the block is read.
    fn find_marker(&mut self, from: u64) -> Result<State, Stop> {
        let len = self.file.len();
        let bytes = self.file.get(from, LOST_STRIDE)?;
        let candidate = bytes
            .windows(Marker::BYTES)
            .take(LOST_STRIDE as usize)
            .enumerate()
            .filter_map(|(i, bytes)| Some((from + i as u64, Marker::parse(bytes)?)))
            .find(|(_, marker)| marker.is_plausible());
        let Some((at, marker)) = candidate else {
            let next = from + LOST_STRIDE;
            return Ok(if next < len {
                State::Lost { from: next }
            } else {
                self.found(len)
            });
        };
        let end = at + u64::from(marker.size);
        if end <= len && !matches!(self.landing(end)?, Landing::Junk | Landing::Event) {
            return Ok(self.found(at));
        }
        Ok(State::Lost { from: at + 1 })
    }

    /// Ends the last block at `at`, where the next one begins or the file ends.
    fn found(&mut self, at: u64) -> State {
        let pos = self.pos;
        let len = self.file.len();
        let blocks = &mut self.section().blocks;
        let last = blocks.pop_if(|block| block.start.0 <= at);
        if let Some(mut block) = last {
            let truncated = at == len && block.truncated;
            if !truncated {
                let marker_at = block.start.0.saturating_sub(Marker::BYTES as u64);
                let claimed = block.end.0 - marker_at;
                let kind = DamageKind::BlockSize(u32::try_from(claimed).unwrap_or(u32::MAX));
                let cap = block.cap;
                block.truncated = false;
                block.end = ByteOffset(at);
                self.section().blocks.push(block);
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
