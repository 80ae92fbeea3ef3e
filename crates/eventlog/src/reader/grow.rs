//! Incremental reading of a growing log: earlier results are reused once the file is longer.
//!
//! A runtime only appends blocks. The index therefore continues behind the last complete block, and results of
//! slices stay valid, unless a later block reaches back into their time: a capability with few events writes its
//! buffer late. In that case the whole log is read again.

use super::{LogReader, Phase, SliceResults};
use std::collections::BTreeSet;

use crate::blocks::{BlockIndex, Indexer};
use crate::ids::Nanos;
use crate::problem::DamageKind;
use crate::slices::{self, Slice, SlicingRule};

/// Checkpoint: the combined results of a log up to some slice.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    results: SliceResults,
    /// Start of that slice.
    from: Nanos,
    /// Number of complete blocks in the file.
    blocks: usize,
}

impl LogReader {
    /// Creates a reader of the same file, which now has `len` bytes.
    pub fn reopen_grown(&self, len: u64) -> Self {
        let mut reader = Self {
            rows_every: self.rows_every,
            limits: self.limits.clone(),
            ..Self::new(len)
        };
        if self.inflated.is_none()
            && self.index.is_sound()
            && let Some(indexer) = Indexer::resume(&self.index, self.len, len)
        {
            reader.phase = Phase::Index(Box::new(indexer));
        }
        reader
    }

    /// Returns a checkpoint before `next` is [appended](Self::append), from which a reader of the
    /// [grown](Self::reopen_grown) log can continue; `None` if it must read the whole log again.
    pub fn checkpoint(&self, next: &Slice) -> Option<Checkpoint> {
        let Phase::Slices(results) = &self.phase else {
            return None;
        };
        let [section] = &self.index.sections[..] else {
            return None;
        };
        let sound = self.index.is_sound() && results.damage.count() == 0;
        sound.then(|| Checkpoint {
            results: (**results).clone(),
            from: next.from(),
            blocks: section.whole_blocks(self.len),
        })
    }

    /// Returns the [`slices`](Self::slices) behind the checkpoint of an earlier reader; `None` if newer blocks
    /// reach back before it.
    pub fn slices_from(
        &mut self,
        checkpoint: &Checkpoint,
        slicing_rule: &SlicingRule,
    ) -> Option<Vec<Slice>> {
        let Phase::Merge(merger) = &self.phase else {
            return None;
        };
        let ([section], [streams]) = (&self.index.sections[..], &*merger.sections()) else {
            return None;
        };
        let blocks = &section.blocks;
        let known = blocks.range(0..checkpoint.blocks);
        let later = known.filter(|block| block.bounds.from >= checkpoint.from);
        let later: BTreeSet<_> = later.map(|block| block.cap).collect();
        let mut new = blocks.range(checkpoint.blocks..blocks.len());
        // Earlier slices contain the position at which the capability continues.
        let came_later = checkpoint.blocks <= blocks.len()
            && new.all(|block| block.bounds.from >= checkpoint.from && later.contains(&block.cap));
        if !came_later || !self.index.is_sound() || !streams.are_in_order() {
            return None;
        }
        let slices = slices::plan(0, streams, slicing_rule, checkpoint.from, self.rows_every);
        let mut results = checkpoint.results.clone();
        results.sections = merger.sections();
        results.ended = vec![streams.ended];
        self.phase = Phase::Slices(Box::new(results));
        Some(slices)
    }
}

impl BlockIndex {
    /// Whether the index has no damage other than truncation.
    fn is_sound(&self) -> bool {
        let mut kinds = self.damage.kinds();
        kinds.all(|(kind, _)| kind == DamageKind::Truncated)
    }
}

impl Indexer {
    /// Creates an indexer that continues behind the last complete block of a sound index. The file had `had` bytes
    /// and now has `len`. Returns `None` if there is no such block.
    fn resume(index: &BlockIndex, had: u64, len: u64) -> Option<Self> {
        let mut sections = index.sections.clone();
        let section = sections.last_mut()?;
        section.blocks.truncate(section.whole_blocks(had));
        if section.blocks.iter().any(|block| block.is_outside()) {
            return None;
        }
        let at = section.blocks.last()?.end.0;
        section.rewind_to(at);
        Some(Self::at_block(sections, at, len))
    }
}
