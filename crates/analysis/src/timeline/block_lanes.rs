//! Blocks in which each capability wrote its events. A block is filled from its begin time on and written at its
//! end time, so its length on the timeline is how long its oldest event was buffered.

use std::collections::BTreeMap;

use eventlog::blocks::{Block, BlockIndex};
use eventlog::ids::{CapId, Nanos};
use model::class::Class;
use model::marks::NONE;
use model::sorting::CompactSort;
use model::span_lane::{SpanLane, TimelineSpan};

/// Timeline rows of blocks by capability.
#[derive(Clone, Debug, Default)]
pub struct BlockLanes {
    lanes: BTreeMap<Option<CapId>, SpanLane>,
}

/// Returns the size of a block's events in bytes.
pub const fn size(block: &Block) -> u64 {
    block.end.0.saturating_sub(block.start.0)
}

/// Number of blocks above which neighboring blocks are joined.
const MAX_BLOCKS: usize = 1 << 18;

/// Returns the blocks of a log with their sizes in bytes, in file order. Above [`MAX_BLOCKS`], each returned
/// block represents several of one capability.
pub(super) fn joined(index: &BlockIndex) -> impl Iterator<Item = (Block, u64)> {
    let sections = index.sections.iter();
    let all = sections.clone().map(|section| section.blocks.len()).sum();
    let every = usize::div_ceil(all, MAX_BLOCKS).max(1);
    let mut waiting: BTreeMap<Option<CapId>, (Block, u64, usize)> = BTreeMap::new();
    let mut blocks = sections.flat_map(|section| section.blocks.iter());
    std::iter::from_fn(move || {
        for block in blocks.by_ref() {
            let bytes = size(&block);
            if every == 1 {
                return Some((block, bytes));
            }
            let cap = block.cap;
            let (first, sum, count) = waiting.entry(cap).or_insert((block.clone(), 0, 0));
            first.begin_time = first.begin_time.min(block.begin_time);
            first.end_time = first.end_time.max(block.end_time);
            *sum = sum.saturating_add(bytes);
            *count += 1;
            if *count == every {
                let joined = waiting.remove(&cap);
                return joined.map(|(block, bytes, _)| (block, bytes));
            }
        }
        waiting
            .pop_first()
            .map(|(_, (block, bytes, _))| (block, bytes))
    })
}

/// Returns the time in which a block was filled, if it is known.
fn span(block: &Block) -> Option<(u64, u64)> {
    let known = block.end_time != Nanos(0) && block.begin_time <= block.end_time;
    known.then_some((block.begin_time.0, block.end_time.0))
}

impl BlockLanes {
    /// Builds the rows from the block index of a log.
    pub fn new(index: &BlockIndex) -> Self {
        let mut lanes = Self::default();
        for (block, bytes) in joined(index) {
            let Some((start, end)) = span(&block) else {
                continue;
            };
            lanes
                .lanes
                .entry(block.cap)
                .or_default()
                .push(TimelineSpan {
                    start,
                    end,
                    detail: u32::try_from(bytes).unwrap_or(NONE - 1),
                    class: Class::Other,
                    code: 0,
                });
        }
        for lane in lanes.lanes.values_mut() {
            lane.sort_and_clip();
        }
        lanes
    }

    /// Returns the writers of blocks: capabilities first, then blocks of no capability.
    pub fn caps(&self) -> Vec<Option<CapId>> {
        let mut caps: Vec<Option<CapId>> = self.lanes.keys().copied().collect();
        caps.sort_small_by_key(|cap| (cap.is_none(), *cap));
        caps
    }

    /// Returns the blocks of a capability, or of none. The detail of each is its size in bytes.
    pub fn lane(&self, cap: Option<CapId>) -> Option<&SpanLane> {
        self.lanes.get(&cap)
    }
}
