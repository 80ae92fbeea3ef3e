//! Logs that grow: what was found of one is gone on from, once its file is longer.
//!
//! A runtime only ever appends blocks. So the index goes on behind the last block that
//! was whole, and what slices were worth stays right, unless a block comes later that
//! reaches back into their time: a capability that has little to say writes its buffer
//! late. Then all of the log is read again.

use super::{LogReader, Parts, Phase};
use std::collections::BTreeSet;

use crate::blocks::{BlockIndex, Indexer};
use crate::ids::Nanos;
use crate::problem::DamageKind;
use crate::slices::{self, Cutting, Slice};

/// What was put together of a log up to some slice.
#[derive(Clone, Debug)]
pub struct Stand {
    parts: Parts,
    /// Where that slice begins.
    from: Nanos,
    /// How many blocks of the file were whole.
    blocks: usize,
}

impl LogReader {
    /// A reader of the same file, now that it has `len` bytes.
    #[must_use]
    pub fn grown(&self, len: u64) -> Self {
        let mut reader = Self {
            rows_every: self.rows_every,
            room: self.room.clone(),
            ..Self::new(len)
        };
        if self.inflated.is_none()
            && self.index.is_sound()
            && let Some(indexer) = Indexer::going_on(&self.index, self.len, len)
        {
            reader.phase = Phase::Index(Box::new(indexer));
        }
        reader
    }

    /// Where it stands before `next` is [appended](Self::append), for a reader of the
    /// [grown](Self::grown) log to go on from; `None` if it must read all of it again.
    #[must_use]
    pub fn stand(&self, next: &Slice) -> Option<Stand> {
        let Phase::Slices(parts) = &self.phase else {
            return None;
        };
        let [section] = &self.index.sections[..] else {
            return None;
        };
        let sound = self.index.is_sound() && parts.damage.count() == 0;
        sound.then(|| Stand {
            parts: (**parts).clone(),
            from: next.from(),
            blocks: section.whole_blocks(self.len),
        })
    }

    /// As [`slices`](Self::slices), of what comes after the stand of an earlier reader;
    /// `None` if blocks came that reach back before it.
    pub fn slices_from(&mut self, stand: &Stand, cutting: &Cutting) -> Option<Vec<Slice>> {
        let Phase::Merge(merger) = &self.phase else {
            return None;
        };
        let ([section], [streams]) = (&self.index.sections[..], &*merger.sections()) else {
            return None;
        };
        let blocks = &section.blocks;
        let known = blocks.range(0..stand.blocks);
        let later = known.filter(|block| block.bounds.from >= stand.from);
        let later: BTreeSet<_> = later.map(|block| block.cap).collect();
        let mut new = blocks.range(stand.blocks..blocks.len());
        // Earlier slices say where the capability goes on behind them.
        let came_later = stand.blocks <= blocks.len()
            && new.all(|block| block.bounds.from >= stand.from && later.contains(&block.cap));
        if !came_later || !self.index.is_sound() || !streams.are_in_order() {
            return None;
        }
        let slices = slices::plan(0, streams, cutting, stand.from, self.rows_every);
        let mut parts = stand.parts.clone();
        parts.sections = merger.sections();
        parts.ended = vec![streams.ended];
        self.phase = Phase::Slices(Box::new(parts));
        Some(slices)
    }
}

impl BlockIndex {
    /// Whether nothing is wrong with it but that the file breaks off.
    fn is_sound(&self) -> bool {
        let mut kinds = self.damage.kinds();
        kinds.all(|(kind, _)| kind == DamageKind::Truncated)
    }
}

impl Indexer {
    /// An indexer that goes on behind the last whole block of a sound index, of a file
    /// that had so many bytes and now has `len`; `None` if there is no such block.
    fn going_on(index: &BlockIndex, had: u64, len: u64) -> Option<Self> {
        let mut sections = index.sections.clone();
        let section = sections.last_mut()?;
        section.blocks.truncate(section.whole_blocks(had));
        if section.blocks.iter().any(|block| block.is_outside()) {
            return None;
        }
        let at = section.blocks.last()?.end.0;
        section.go_back(at);
        Some(Self::at_block(sections, at, len))
    }
}
