//! List of blocks, packed into some twelve bytes per block: a log may have a block for each fifty bytes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::blocks::Block;
use crate::ids::{ByteOffset, CapId, Nanos};
use crate::record::Marker;
use crate::scan::Bounds;

/// Number of blocks packed together; access to one unpacks those before it in the chunk.
const CHUNK: usize = 8;

/// Packed, ordered list of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockList {
    packed: Vec<u8>,
    /// Start of each chunk in `packed`.
    chunks: Vec<u64>,
    /// The unpacked blocks behind the chunks; not empty unless the list is.
    last: Vec<Block>,
}

impl BlockList {
    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.chunks.len() * CHUNK + self.last.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Returns the approximate memory consumption in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.packed.capacity() + 8 * self.chunks.capacity()) as u64
    }

    /// Appends a block.
    pub fn push(&mut self, block: Block) {
        if self.last.len() == CHUNK {
            self.chunks.push(self.packed.len() as u64);
            let mut before = Block::NONE;
            for block in self.last.drain(..) {
                pack(&block, &before, &mut self.packed);
                before = block;
            }
        }
        self.last.push(block);
    }

    /// Removes the last block and returns it.
    pub fn pop(&mut self) -> Option<Block> {
        let block = self.last.pop();
        if self.last.is_empty()
            && let Some(start) = self.chunks.pop()
        {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let unpacked = Unpacker::new(self.packed.get(start..).unwrap_or_default());
            self.last = unpacked.take(CHUNK).collect();
            self.packed.truncate(start);
        }
        block
    }

    /// Keeps the first `len` blocks.
    pub fn truncate(&mut self, len: usize) {
        while self.len() > len {
            self.pop();
        }
    }

    /// Returns the block with this index.
    pub fn get(&self, number: usize) -> Option<Block> {
        match number.checked_sub(self.chunks.len() * CHUNK) {
            Some(place) => self.last.get(place).cloned(),
            None => self.chunk(number / CHUNK).nth(number % CHUNK),
        }
    }

    /// Returns the first block.
    pub fn first(&self) -> Option<Block> {
        self.get(0)
    }

    /// Returns the last block.
    pub fn last(&self) -> Option<&Block> {
        self.last.last()
    }

    /// Returns the last block for modification.
    pub fn last_mut(&mut self) -> Option<&mut Block> {
        self.last.last_mut()
    }

    /// Iterates over all blocks.
    pub fn iter(&self) -> impl Iterator<Item = Block> + Clone + '_ {
        self.range(0..self.len())
    }

    /// Iterates over the blocks in a range of indices, which may exceed the list.
    pub fn range(&self, numbers: Range<usize>) -> impl Iterator<Item = Block> + Clone + '_ {
        let first = (numbers.start / CHUNK).min(self.chunks.len());
        let chunks = first..self.chunks.len();
        let packed = chunks.flat_map(|chunk| self.chunk(chunk));
        let all = packed.chain(self.last.iter().cloned());
        all.skip(numbers.start - first * CHUNK).take(numbers.len())
    }

    /// Returns the number of leading blocks for which `is_before` is true. The list must be partitioned by it.
    pub fn partition_point(&self, is_before: impl Fn(&Block) -> bool) -> usize {
        let first_of = |chunk: &u64| {
            let bytes = usize::try_from(*chunk)
                .ok()
                .and_then(|at| self.packed.get(at..));
            Unpacker::new(bytes.unwrap_or_default()).next()
        };
        let begins_before = |chunk: &u64| first_of(chunk).is_some_and(|block| is_before(&block));
        let chunks = self.chunks.partition_point(begins_before);
        let from = chunks.saturating_sub(1) * CHUNK;
        let rest = self.range(from..self.len());
        from + rest.take_while(|block| is_before(block)).count()
    }

    fn chunk(&self, number: usize) -> impl Iterator<Item = Block> + Clone + '_ {
        let start = self.chunks.get(number).map_or(0, |start| *start as usize);
        Unpacker::new(self.packed.get(start..).unwrap_or_default()).take(CHUNK)
    }
}

impl FromIterator<Block> for BlockList {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        let mut list = Self::default();
        blocks.into_iter().for_each(|block| list.push(block));
        list
    }
}

impl Block {
    /// Creates a block of which only range and begin time are known.
    pub(crate) const fn unmarked(begin_time: Nanos, place: Range<ByteOffset>) -> Self {
        Self {
            begin_time,
            start: place.start,
            end: place.end,
            ..Self::NONE
        }
    }

    /// Reference for packing the first block of a chunk.
    const NONE: Self = Self {
        cap: None,
        start: ByteOffset(0),
        end: ByteOffset(0),
        begin_time: Nanos(0),
        end_time: Nanos(0),
        bounds: Bounds::ANY,
        neighbor_bounds: Bounds::ANY,
        truncated: false,
    };
}

// Flags for the unusual fields of a packed block.
const OTHER_CAP: u8 = 1;
const TRUNCATED: u8 = 2;
const OTHER_BOUNDS: u8 = 4;
const OTHER_NEIGHBOR_BOUNDS: u8 = 8;

/// Appends a block as its difference from the previous one.
fn pack(block: &Block, before: &Block, out: &mut Vec<u8>) {
    let has_other_bounds = block.bounds != Bounds::from_times(block.begin_time, block.end_time);
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(
        flag(block.cap != before.cap, OTHER_CAP)
            | flag(block.truncated, TRUNCATED)
            | flag(has_other_bounds, OTHER_BOUNDS)
            | flag(block.neighbor_bounds != Bounds::ANY, OTHER_NEIGHBOR_BOUNDS),
    );
    let expected = before.end.0.wrapping_add(Marker::BYTES as u64);
    push_number(block.start.0, expected, out);
    push_number(block.end.0, block.start.0, out);
    push_number(block.begin_time.0, before.begin_time.0, out);
    push_number(block.end_time.0, block.begin_time.0, out);
    if block.cap != before.cap {
        push_number(block.cap.map_or(0, |cap| u64::from(cap.0) + 1), 0, out);
    }
    let mut put_bounds = |bounds: Bounds| {
        push_number(bounds.from.0, block.begin_time.0, out);
        push_number(bounds.to.0, block.end_time.0, out);
    };
    if has_other_bounds {
        put_bounds(block.bounds);
    }
    if block.neighbor_bounds != Bounds::ANY {
        put_bounds(block.neighbor_bounds);
    }
}

/// Appends the zigzag-encoded distance from an expected number, in seven bits per byte.
fn push_number(number: u64, expected: u64, out: &mut Vec<u8>) {
    let distance = number.wrapping_sub(expected).cast_signed();
    let mut left = ((distance << 1) ^ (distance >> 63)).cast_unsigned();
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

/// Iterator over the blocks of a chunk.
#[derive(Clone, Debug)]
struct Unpacker<'a> {
    bytes: &'a [u8],
    before: Block,
}

impl<'a> Unpacker<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            before: Block::NONE,
        }
    }

    fn number(&mut self, expected: u64) -> Option<u64> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let distance = (number >> 1) ^ (number & 1).wrapping_neg();
        Some(expected.wrapping_add(distance))
    }
}

impl Iterator for Unpacker<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let (&flags, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let expected = self.before.end.0.wrapping_add(Marker::BYTES as u64);
        let start = self.number(expected)?;
        let end = self.number(start)?;
        let begin = self.number(self.before.begin_time.0)?;
        let end_time = self.number(begin)?;
        if flags & OTHER_CAP != 0 {
            let cap = self.number(0)?.checked_sub(1);
            self.before.cap = cap.map(|cap| CapId(cap as u16));
        }
        let mut bounds = Bounds::from_times(Nanos(begin), Nanos(end_time));
        let mut neighbor_bounds = Bounds::ANY;
        for (flag, bounds) in [
            (OTHER_BOUNDS, &mut bounds),
            (OTHER_NEIGHBOR_BOUNDS, &mut neighbor_bounds),
        ] {
            if flags & flag != 0 {
                *bounds = Bounds {
                    from: Nanos(self.number(begin)?),
                    to: Nanos(self.number(end_time)?),
                };
            }
        }
        self.before = Block {
            cap: self.before.cap,
            start: ByteOffset(start),
            end: ByteOffset(end),
            begin_time: Nanos(begin),
            end_time: Nanos(end_time),
            bounds,
            neighbor_bounds,
            truncated: flags & TRUNCATED != 0,
        };
        Some(self.before.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block() -> impl Strategy<Value = Block> {
        let number = || prop_oneof![0..40_u64, any::<u64>(), Just(Bounds::ANY.to.0)];
        let bounds = || (number(), number());
        let times = (number(), number(), bounds(), bounds(), any::<[bool; 2]>());
        (any::<Option<u16>>(), number(), number(), times).prop_map(
            |(cap, start, end, (begin, end_time, bounds, neighbor_bounds, [usual, truncated]))| {
                let of = |(from, to)| Bounds {
                    from: Nanos(from),
                    to: Nanos(to),
                };
                let (begin_time, end_time) = (Nanos(begin), Nanos(end_time));
                Block {
                    cap: cap.map(CapId),
                    start: ByteOffset(start),
                    end: ByteOffset(end),
                    begin_time,
                    end_time,
                    bounds: match usual {
                        true => Bounds::from_times(begin_time, end_time),
                        false => of(bounds),
                    },
                    neighbor_bounds: if usual {
                        Bounds::ANY
                    } else {
                        of(neighbor_bounds)
                    },
                    truncated,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn a_list_has_the_blocks_that_were_put_in(
            mut blocks in prop::collection::vec(block(), 0..200),
            from in 0..200_usize,
            count in 0..200_usize,
            left in 0..200_usize,
        ) {
            let mut list: BlockList = blocks.iter().cloned().collect();
            prop_assert!(list.iter().eq(blocks.iter().cloned()));
            let range = list.range(from..from + count);
            prop_assert!(range.eq(blocks.iter().skip(from).take(count).cloned()));
            for (number, block) in blocks.iter().enumerate() {
                let found = list.get(number);
                prop_assert_eq!(found.as_ref(), Some(block));
            }
            list.truncate(left);
            blocks.truncate(left);
            prop_assert_eq!((list.len(), list.last()), (blocks.len(), blocks.last()));
            prop_assert_eq!(list.is_empty(), blocks.is_empty());
            prop_assert!(list.iter().eq(blocks.iter().cloned()));
            blocks.sort_by_key(|block| block.start);
            let list: BlockList = blocks.iter().cloned().collect();
            let limit = ByteOffset(20);
            let before = blocks.partition_point(|block| block.start < limit);
            prop_assert_eq!(list.partition_point(|block| block.start < limit), before);
        }
    }

    #[test]
    fn small_blocks_take_little_memory() {
        let block = |number: u64| {
            let (begin, end) = (Nanos(number * 1000), Nanos(number * 1000 + 900));
            Block {
                cap: Some(CapId((number % 4) as u16)),
                start: ByteOffset(number * 52 + 24),
                end: ByteOffset(number * 52 + 52),
                begin_time: begin,
                end_time: end,
                bounds: Bounds::from_times(begin, end),
                ..Block::NONE
            }
        };
        let list: BlockList = (0..100_000).map(block).collect();
        assert!(list.memory_bytes() < 2_800_000, "{}", list.memory_bytes());
    }
}
