//! Compressed lists of integers.
//!
//! Numbers are grouped into sheets of 16,384. Within a sheet, each block of 128 numbers is stored as offsets from
//! its minimum, with as many bits as the largest offset needs (frame-of-reference bit packing).
//!
//! Neighboring entries of a log are similar: consecutive times, threads that run in turn, stop reasons. A moment
//! takes about three bytes instead of eight, with O(1) random access. Full sheets never change, and are stored in
//! a [`SpillStore`].

use std::ops::Range;
use std::sync::Arc;

use crate::spill_store::{SpillStore, StoredWords};

/// Numbers per block; a block has one minimum and one bit width.
pub const BLOCK: usize = 128;
/// Numbers per sheet, the unit of packing and storage.
pub const SHEET: usize = 128 * BLOCK;

/// An unsigned integer that can be packed.
pub trait Word: Copy + Default + Ord {
    /// Widens the number to 64 bits.
    fn to_word(self) -> u64;
    /// Restores the number from [`to_word`](Self::to_word).
    fn from_word(word: u64) -> Self;
}

macro_rules! words {
    ($($number:ident),*) => {$(
        impl Word for $number {
            #[inline]
            fn to_word(self) -> u64 {
                u64::from(self)
            }
            #[inline]
            fn from_word(word: u64) -> Self {
                word as Self
            }
        }
    )*};
}

words!(u8, u16, u32, u64);

/// Cursor of a reader with nearly sequential access: caches the last spilled sheet that was read, and the numbers of
/// the last block from which several were read. A cursor is for one list, which only grows.
#[derive(Debug, Default)]
pub struct ReadCursor {
    sheet: Option<(usize, Arc<[u64]>)>,
    /// The block that was read last, and how many numbers were read from it in a row.
    last: (usize, u32),
    /// The numbers of a block, if that many were read from it.
    decoded: Option<(usize, Box<[u64; BLOCK]>)>,
}

impl ReadCursor {
    /// Reads of single numbers from a block before it is decoded as a whole.
    const DECODE_AT: u32 = 8;

    /// Returns whether a whole block is to be decoded, as numbers are read from it again and again.
    #[inline]
    const fn is_worth_decoding(&mut self, block: usize) -> bool {
        let reads = if self.last.0 == block { self.last.1 } else { 0 };
        self.last = (block, reads + 1);
        reads >= Self::DECODE_AT
    }

    /// Calls `read` with the words of a sheet, which are read back once if they are spilled.
    fn with<R>(&mut self, number: usize, sheet: &StoredWords, read: impl FnOnce(&[u64]) -> R) -> R {
        let StoredWords::Spilled(away) = sheet else {
            return sheet.with(read);
        };
        if self.sheet.as_ref().is_none_or(|(at, _)| *at != number) {
            self.sheet = Some((number, away.fetch()));
        }
        read(self.sheet.as_ref().map_or(&[], |(_, words)| words))
    }
}

/// An append-only list of numbers, packed except for its tail.
#[derive(Clone, Debug, Default)]
pub struct PackedColumn<T> {
    sheets: Vec<StoredWords>,
    /// The last number of each sheet, for binary search of sorted lists.
    lasts: Vec<T>,
    /// Numbers that are not packed yet.
    tail: Vec<T>,
}

impl<T: Word> PackedColumn<T> {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self {
            sheets: Vec::new(),
            lasts: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// Returns the number of entries, packed or not.
    pub fn len(&self) -> usize {
        self.packed() + self.tail.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn packed(&self) -> usize {
        self.sheets.len() * SHEET
    }

    /// Appends a number without packing. Packing follows with the next [`push_packing`](Self::push_packing) or
    /// [`extend`](Self::extend).
    #[inline]
    pub fn push(&mut self, number: T) {
        self.tail.push(number);
    }

    /// Appends a number, and packs the tail once it fills a sheet.
    #[inline]
    pub fn push_packing(&mut self, number: T, spill_store: &SpillStore) {
        self.tail.push(number);
        if self.tail.len() >= SHEET {
            self.pack(spill_store);
        }
    }

    /// Appends numbers, packing each full sheet.
    pub fn extend(&mut self, numbers: impl IntoIterator<Item = T>, spill_store: &SpillStore) {
        let mut numbers = numbers.into_iter();
        loop {
            let room = SHEET.saturating_sub(self.tail.len());
            self.tail.extend(numbers.by_ref().take(room));
            if self.tail.len() < SHEET {
                return;
            }
            self.pack(spill_store);
        }
    }

    /// Appends numbers from a slice, packing each full sheet.
    pub fn extend_from_slice(&mut self, mut numbers: &[T], spill_store: &SpillStore) {
        while !numbers.is_empty() {
            let room = SHEET.saturating_sub(self.tail.len());
            let (next, rest) = numbers.split_at(room.min(numbers.len()));
            self.tail.extend_from_slice(next);
            numbers = rest;
            if self.tail.len() >= SHEET {
                self.pack(spill_store);
            }
        }
    }

    /// Packs all full sheets of the tail.
    fn pack(&mut self, spill_store: &SpillStore) {
        let mut words = Vec::new();
        let mut sheets = self.tail.chunks_exact(SHEET);
        for sheet in &mut sheets {
            pack(sheet, &mut words);
            self.sheets.push(spill_store.store(&words));
            self.lasts.extend(sheet.last());
        }
        let rest = sheets.remainder().len();
        self.tail.drain(..self.tail.len() - rest);
    }

    /// Returns the unpacked tail: the whole list if numbers were only [pushed](Self::push).
    pub fn unpacked(&self) -> &[T] {
        &self.tail
    }

    /// Returns the unpacked tail as in [`unpacked`](Self::unpacked), mutable.
    pub const fn unpacked_mut(&mut self) -> &mut Vec<T> {
        &mut self.tail
    }

    /// Returns the number at `index`, or `None` beyond the end. Reads a spilled sheet back if necessary.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        match self.sheets.get(index / SHEET) {
            Some(sheet) => Some(sheet.with(|words| T::from_word(unpack(words, index % SHEET)))),
            None => self.tail.get(index - self.packed()).copied(),
        }
    }

    /// [`get`](Self::get) for nearly sequential access to many numbers, with the cursor of this reader.
    #[inline]
    pub fn get_with_cursor(&self, index: usize, cursor: &mut ReadCursor) -> Option<T> {
        let block = index / BLOCK;
        match &cursor.decoded {
            Some((at, numbers)) if *at == block => Some(T::from_word(numbers[index % BLOCK])),
            _ => self.get_and_decode(index, cursor),
        }
    }

    fn get_and_decode(&self, index: usize, cursor: &mut ReadCursor) -> Option<T> {
        let (number, place) = (index / SHEET, index % SHEET);
        let Some(sheet) = self.sheets.get(number) else {
            return self.get(index);
        };
        let block = index / BLOCK;
        if !cursor.is_worth_decoding(block) {
            return Some(cursor.with(number, sheet, |words| T::from_word(unpack(words, place))));
        }
        let decoded = cursor.decoded.take();
        let mut numbers = decoded.map_or_else(|| Box::new([0; BLOCK]), |(_, numbers)| numbers);
        let first = place - place % BLOCK;
        cursor.with(number, sheet, |words| {
            read_block(words, first, &mut numbers[..])
        });
        let (_, numbers) = cursor.decoded.insert((block, numbers));
        Some(T::from_word(numbers[place % BLOCK]))
    }

    /// Returns the last number, without reading a sheet back.
    pub fn last(&self) -> Option<T> {
        self.tail.last().or(self.lasts.last()).copied()
    }

    /// Reads numbers from index `from` on into `into`, until it is full or the list ends. Returns how many were
    /// read.
    pub fn read(&self, from: usize, into: &mut [T]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let index = from + done;
            let rest = &mut into[done..];
            let read = match self.sheets.get(index / SHEET) {
                Some(sheet) => sheet.with(|words| read_block(words, index % SHEET, rest)),
                None => {
                    let tail = self.tail.get(index - self.packed()..).unwrap_or_default();
                    let read = tail.len().min(rest.len());
                    rest[..read].copy_from_slice(&tail[..read]);
                    if read == 0 {
                        return done;
                    }
                    read
                }
            };
            done += read;
        }
        done
    }

    /// Iterates over the numbers at the indices `indices`, block by block.
    pub fn range(&self, indices: Range<usize>) -> impl Iterator<Item = T> + '_ {
        let end = indices.end.min(self.len());
        let mut block = [T::default(); BLOCK];
        let (mut next, mut read) = (0, 0);
        let mut at = indices.start;
        std::iter::from_fn(move || {
            if next == read {
                let room = end.saturating_sub(at).min(BLOCK);
                (next, read) = (0, self.read(at, &mut block[..room]));
                at += read;
                if read == 0 {
                    return None;
                }
            }
            next += 1;
            block.get(next - 1).copied()
        })
    }

    /// Iterates over all numbers.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.range(0..self.len())
    }

    /// Returns the first index for which `before` does not hold, by binary search; `before` must partition the list.
    pub fn partition_point(&self, before: impl Fn(T) -> bool) -> usize {
        self.partition_in(0..self.len(), before)
    }

    /// Binary search as in [`partition_point`](Self::partition_point), within the indices `indices`.
    pub fn partition_in(&self, indices: Range<usize>, before: impl Fn(T) -> bool) -> usize {
        let sheets = self.lasts.len();
        let (first, last) = (indices.start / SHEET, indices.end / SHEET);
        let lasts = self.lasts.get(first.min(sheets)..last.min(sheets));
        let sheet = first
            + lasts
                .unwrap_or_default()
                .partition_point(|&last| before(last));
        let low = indices.start.max(sheet * SHEET);
        let Some(words) = self.sheets.get(sheet) else {
            let packed = self.packed();
            let tail = self.tail.get(low - packed..indices.end.max(low) - packed);
            return low
                + tail
                    .unwrap_or_default()
                    .partition_point(|&number| before(number));
        };
        let high = indices.end.min((sheet + 1) * SHEET);
        words.with(|words| {
            let holds = |place: usize| before(T::from_word(unpack(words, place % SHEET)));
            low + crate::lane::partition(high.saturating_sub(low), |i| holds(low + i))
        })
    }
}

/// Packs a sheet into `words`.
///
/// The header has two words per block: the minimum, and the word offset of the data shifted by 8 with the bit
/// width in the low 8 bits. The data of all blocks follows.
pub fn pack<T: Word>(sheet: &[T], words: &mut Vec<u64>) {
    words.clear();
    words.resize(2 * sheet.len().div_ceil(BLOCK), 0);
    let mut data = [0; BLOCK];
    for (i, block) in sheet.chunks(BLOCK).enumerate() {
        let first = block.first().copied().unwrap_or_default();
        let bounds = |(least, most): (T, T), &number: &T| (least.min(number), most.max(number));
        let (least, most) = block.iter().fold((first, first), bounds);
        let (least, most) = (least.to_word(), most.to_word());
        let bits = u64::BITS - (most - least).leading_zeros();
        words[2 * i] = least;
        words[2 * i + 1] = (words.len() as u64) << 8 | u64::from(bits);
        if bits > 0 {
            let used = pack_block(block, least, bits, &mut data);
            words.extend_from_slice(&data[..used]);
        }
    }
}

/// Packs the offsets of a block from its minimum, which have `bits` bits, at least one. Returns the number of words.
#[inline]
fn pack_block<T: Word>(block: &[T], least: u64, bits: u32, data: &mut [u64; BLOCK]) -> usize {
    let (mut word, mut filled, mut used) = (0, 0, 0);
    for number in block {
        let above = number.to_word() - least;
        word |= above << filled;
        filled += bits;
        if filled >= u64::BITS {
            data[used] = word;
            used += 1;
            filled -= u64::BITS;
            // The high bits of this number that did not fit, of which there may be none: `filled < bits`.
            word = above >> 1 >> (bits - filled - 1);
        }
    }
    if filled > 0 {
        data[used] = word;
        used += 1;
    }
    used
}

/// Header of a packed block.
#[derive(Clone, Copy)]
struct BlockHeader {
    least: u64,
    bits: u32,
    first: usize,
}

impl BlockHeader {
    #[inline]
    fn read_header(words: &[u64], block: usize) -> Self {
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let how = word(2 * block + 1);
        Self {
            least: word(2 * block),
            bits: (how & 0xff) as u32,
            first: (how >> 8) as usize,
        }
    }

    #[inline]
    fn number(self, words: &[u64], place: usize) -> u64 {
        let bit = place * self.bits as usize;
        let (at, shift) = (self.first + bit / 64, (bit % 64) as u32);
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let mut number = word(at) >> shift;
        if shift + self.bits > u64::BITS {
            number |= word(at + 1) << (u64::BITS - shift);
        }
        let mask = u64::MAX.checked_shr(u64::BITS - self.bits);
        self.least.wrapping_add(number & mask.unwrap_or_default())
    }
}

/// Returns the number at `index` of a packed sheet.
#[inline]
pub fn unpack(words: &[u64], index: usize) -> u64 {
    BlockHeader::read_header(words, index / BLOCK).number(words, index % BLOCK)
}

/// Unpacks numbers from index `from` to the end of its block, or until `into` is full. Returns how many.
pub fn read_block<T: Word>(words: &[u64], from: usize, into: &mut [T]) -> usize {
    let BlockHeader { least, bits, first } = BlockHeader::read_header(words, from / BLOCK);
    let read = into.len().min(BLOCK - from % BLOCK);
    let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or_default();
    let bit = from % BLOCK * bits as usize;
    let words = words.get(first + bit / 64..).unwrap_or_default();
    let mut words = words.iter().copied();
    let (mut word, mut shift) = (words.next().unwrap_or_default(), (bit % 64) as u32);
    for number in &mut into[..read] {
        let mut above = word >> shift;
        shift += bits;
        if shift >= u64::BITS {
            shift -= u64::BITS;
            // The rest of this number is in the next word.
            word = words.next().unwrap_or_default();
            above |= word.checked_shl(bits - shift).unwrap_or_default();
        }
        *number = T::from_word(least.wrapping_add(above & mask));
    }
    read
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spill_store::tests::List;

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let part = prop_oneof![
            (any::<u64>(), 0u32..=64, 1usize..40_000).prop_map(|(seed, bits, len)| {
                let mut state = seed | 1;
                let mask = u64::MAX.checked_shr(64 - bits).unwrap_or_default();
                let next = std::iter::repeat_with(move || {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state & mask
                });
                next.take(len).collect::<Vec<_>>()
            }),
            prop::collection::vec(any::<u64>(), 0..300),
        ];
        prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn is_a_list(list in numbers(), first in 0usize..9_000, budget in 0u64..200_000) {
            let spill_store = SpillStore::new(budget, Some(Box::<List>::default()));
            let mut pages = PackedColumn::new();
            let first = first.min(list.len());
            list[..first].iter().for_each(|&number| pages.push(number));
            prop_assert_eq!(pages.unpacked(), &list[..first]);
            let (some, rest) = list[first..].split_at((list.len() - first) / 2);
            pages.extend(some.iter().copied(), &spill_store);
            pages.extend_from_slice(rest, &spill_store);
            prop_assert_eq!(pages.len(), list.len());
            prop_assert_eq!(pages.last(), list.last().copied());
            prop_assert!(pages.iter().eq(list.iter().copied()));
            let mut cursor = ReadCursor::default();
            for index in (0..list.len() + 2).step_by(331) {
                prop_assert_eq!(pages.get(index), list.get(index).copied());
                prop_assert_eq!(pages.get_with_cursor(index, &mut cursor), list.get(index).copied());
                let mut some = [0; 300];
                let read = pages.read(index, &mut some);
                let end = list.len().min(index + 300);
                prop_assert_eq!(&some[..read], list.get(index..end).unwrap_or_default());
            }
        }

        #[test]
        fn one_cursor_reads_a_list_that_grows(list in numbers(), step in 1usize..40, budget in 0u64..200_000) {
            let spill_store = SpillStore::new(budget, Some(Box::<List>::default()));
            let (mut column, mut cursor) = (PackedColumn::new(), ReadCursor::default());
            for half in list.chunks(list.len().div_ceil(2).max(1)) {
                column.extend_from_slice(half, &spill_store);
                let known = &list[..column.len()];
                for index in (0..known.len() + 2).step_by(step) {
                    prop_assert_eq!(column.get_with_cursor(index, &mut cursor), known.get(index).copied());
                }
            }
        }

        #[test]
        fn finds_what_a_list_finds(mut list in numbers(), at in any::<prop::sample::Index>(), a in 0usize..90_000, b in 0usize..90_000) {
            list.sort_unstable();
            let spill_store = SpillStore::default();
            let mut pages = PackedColumn::new();
            pages.extend(list.iter().copied(), &spill_store);
            if !list.is_empty() {
                let number = list[at.index(list.len())];
                let place = list.partition_point(|&one| one < number);
                prop_assert_eq!(pages.partition_point(|one| one < number), place);
                let place = list.partition_point(|&one| one <= number);
                prop_assert_eq!(pages.partition_point(|one| one <= number), place);
                let (from, to) = (a.min(b).min(list.len()), a.max(b).min(list.len()));
                let place = from + list[from..to].partition_point(|&one| one < number);
                prop_assert_eq!(pages.partition_in(from..to, |one| one < number), place);
            }
            prop_assert_eq!(pages.partition_point(|_| true), list.len());
            prop_assert_eq!(pages.partition_point(|_| false), 0);
        }
    }

    #[test]
    fn numbers_that_are_near_take_little() {
        let spill_store = SpillStore::default();
        let mut pages = PackedColumn::new();
        pages.extend(
            (0..SHEET as u64).map(|i| (1 << 60) + i * 1000),
            &spill_store,
        );
        assert_eq!(pages.unpacked().len(), 0);
        let bits = spill_store.used_bytes() as usize * 8 / SHEET;
        assert!(bits <= 18, "{bits}");
    }
}
