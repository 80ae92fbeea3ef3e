//! Storage of threads.
//!
//! In a log with millions of threads, most are created, run briefly and finish. Only the latest threads, and those
//! that still have events, are stored unpacked; all others are packed and may be spilled.

use super::Thread;
use super::index_map::ThreadIndexMap;
use super::packed::{GROUP, Packed};
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;
use eventlog::texts::{TextId, TextInterner};
use model::packed_column::BLOCK;
use model::saturating::saturating_u32;
use model::spill_store::SpillStore;

/// Threads by index, in order of first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    groups: Vec<Packed>,
    /// Unpacked copies of threads that changed after their groups had been packed.
    unpacked: SeededMap<u32, UnpackedCopy>,
    max_unpacked: usize,
    /// Unpacked threads after the groups.
    tail: Vec<Thread>,
    /// Index of the first run of each block of threads in the list of all runs, once [finished](Self::finish).
    firsts: Vec<u32>,
    by_id: ThreadIndexMap,
    labels: TextInterner,
}

#[derive(Clone, Copy, Debug)]
struct UnpackedCopy {
    thread: Thread,
    /// Whether it changed since the last [`Threads::repack`].
    changed: bool,
}

impl Threads {
    /// Number of trailing groups that are not packed, as many events of their threads are still expected.
    const UNPACKED_GROUPS: usize = 32;
    /// Minimum number of unpacked copies before they are packed again.
    const MIN_UNPACKED: usize = 1 << 16;
    /// One in this many threads may have an unpacked copy.
    const THREADS_PER_UNPACKED: usize = 128;

    /// Creates an empty table with room for `threads` threads that reuses the allocation of an empty map.
    pub(crate) fn with_map(by_id: ThreadIndexMap, threads: usize) -> Self {
        Self {
            tail: Vec::with_capacity(threads),
            by_id,
            ..Self::default()
        }
    }

    /// Returns the unpacked threads, and the emptied map. Only complete if no group has been packed.
    pub(crate) fn into_parts(mut self) -> (Vec<Thread>, ThreadIndexMap) {
        self.by_id.clear();
        (self.tail, self.by_id)
    }

    /// Returns the number of threads.
    pub(crate) const fn len(&self) -> usize {
        self.packed() + self.tail.len()
    }

    const fn packed(&self) -> usize {
        self.groups.len() * GROUP
    }

    /// Returns the index of a thread, which is added if it is new.
    #[inline]
    pub(crate) fn index(&mut self, id: ThreadId) -> u32 {
        let next = saturating_u32(self.len());
        let index = self.by_id.index(id, next);
        if index == next {
            self.tail.push(Thread::new(id));
        }
        index
    }

    /// Returns the index of a thread, if it has appeared.
    pub(crate) fn find(&self, id: ThreadId) -> Option<u32> {
        self.by_id.find(id)
    }

    /// Returns the thread with that index.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<Thread> {
        let at = index as usize;
        let mut thread = match self.groups.get(at / GROUP) {
            None => *self.tail.get(at - self.packed())?,
            Some(group) => match self.unpacked(index) {
                Some(unpacked) => unpacked.thread,
                None => group.get(at % GROUP),
            },
        };
        if !self.firsts.is_empty() {
            let mut firsts = self.runs_in(at - at % BLOCK);
            thread.first_run = firsts.nth(at % BLOCK).map_or(0, |(first, _)| first);
        }
        Some(thread)
    }

    /// Returns the ID of the thread with that index, which is much faster than reading all its fields.
    #[inline]
    pub(crate) fn id(&self, index: u32) -> Option<ThreadId> {
        let at = index as usize;
        match self.groups.get(at / GROUP) {
            None => Some(self.tail.get(at - self.packed())?.id),
            Some(group) => Some(group.id(at % GROUP)),
        }
    }

    #[inline]
    fn unpacked(&self, index: u32) -> Option<&UnpackedCopy> {
        let some = !self.unpacked.is_empty();
        some.then(|| self.unpacked.get(&index)).flatten()
    }

    /// Reads the run counts of a block, none of whose threads may have an unpacked copy. Returns the number of
    /// threads in the block.
    fn runs_of(&self, block: usize, runs: &mut [u32; BLOCK]) -> usize {
        let Some(group) = self.groups.get(block / GROUP) else {
            let tail = self.tail.iter().skip(block - self.packed());
            let all = runs.iter_mut().zip(tail);
            return all.map(|(runs, thread)| *runs = thread.runs).count();
        };
        group.runs(block % GROUP, runs);
        BLOCK
    }

    /// Returns, for each thread of a block, the index of its first run in the list of all runs, once
    /// [finished](Self::finish), and its run count.
    pub(crate) fn runs_in(&self, block: usize) -> impl Iterator<Item = (u32, u32)> {
        let mut runs = [0; BLOCK];
        let threads = self.runs_of(block, &mut runs);
        let first = self.firsts.get(block / BLOCK).copied();
        let firsts = runs.into_iter().take(threads);
        firsts.scan(first.unwrap_or_default(), |first, runs| {
            let begin = *first;
            *first = first.saturating_add(runs);
            Some((begin, runs))
        })
    }

    /// Returns the run counts of all threads by index.
    pub(crate) fn run_counts(&self) -> impl Iterator<Item = (u32, u32)> {
        let blocks = (0..self.len()).step_by(BLOCK);
        let runs = blocks.flat_map(|block| self.runs_in(block));
        (0..).zip(runs.map(|(_, runs)| runs))
    }

    /// Returns the thread with that index for modification.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: u32) -> Option<&mut Thread> {
        let place = (index as usize).wrapping_sub(self.packed());
        if place < self.tail.len() {
            return self.tail.get_mut(place);
        }
        self.unpack(index)
    }

    #[cold]
    fn unpack(&mut self, index: u32) -> Option<&mut Thread> {
        let group = self.groups.get(index as usize / GROUP)?;
        let unpacked = self.unpacked.entry(index).or_insert_with(|| UnpackedCopy {
            thread: group.get(index as usize % GROUP),
            changed: true,
        });
        unpacked.changed = true;
        Some(&mut unpacked.thread)
    }

    /// Returns all threads with their indexes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Thread)> + '_ {
        let mut reader = self.reader();
        let all = 0..saturating_u32(self.len());
        all.map_while(move |index| Some((index, reader.get(index)?)))
    }

    /// Returns all threads with their indexes, without most of the finished ones.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (u32, Thread)> + '_ {
        let mut reader = self.reader();
        let is_passed = |at: usize| self.groups.get(at / GROUP).is_some_and(|of| of.finished);
        let groups = (0..self.len()).step_by(GROUP);
        let groups = groups.filter(move |&at| !is_passed(at));
        let all = groups.flat_map(move |at| at..self.len().min(at + GROUP));
        let all =
            all.filter_map(move |at| Some((saturating_u32(at), reader.get(saturating_u32(at))?)));
        let unpacked = self
            .unpacked
            .iter()
            .map(|(&index, unpacked)| (index, unpacked.thread));
        all.chain(unpacked.filter(move |&(index, _)| is_passed(index as usize)))
    }

    /// Returns a reader, for lookups of many threads in mostly increasing order.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            threads: self,
            at: usize::MAX,
            block: Vec::with_capacity(BLOCK),
        }
    }

    /// Appends a block of threads to `block`.
    fn read(&self, at: usize, block: &mut Vec<Thread>) {
        let Some(group) = self.groups.get(at / GROUP) else {
            let tail = self.tail.iter().skip(at - self.packed());
            block.extend(tail.take(BLOCK));
            return self.set_first_runs(at, block);
        };
        group.read(at % GROUP, block);
        for (index, thread) in (at..).zip(&mut *block) {
            if let Some(unpacked) = u32::try_from(index).ok().and_then(|at| self.unpacked(at)) {
                *thread = unpacked.thread;
            }
        }
        self.set_first_runs(at, block);
    }

    fn set_first_runs(&self, at: usize, block: &mut [Thread]) {
        if let Some(&first) = self.firsts.get(at / BLOCK) {
            let mut first = first;
            for thread in block {
                thread.first_run = first;
                first = first.saturating_add(thread.runs);
            }
        }
    }

    /// Packs all threads but the latest ones and those with recent events, if there are enough to do so.
    pub(crate) fn pack_idle(&mut self, spill_store: &SpillStore) {
        if self.tail.len() >= 2 * Self::UNPACKED_GROUPS * GROUP {
            self.pack_all_but(Self::UNPACKED_GROUPS, spill_store);
        }
        if self.unpacked.len() > self.max_unpacked.max(Self::MIN_UNPACKED) {
            self.repack(false, spill_store);
        }
    }

    /// Packs all complete groups of the tail but the last `unpacked_groups`.
    fn pack_all_but(&mut self, unpacked_groups: usize, spill_store: &SpillStore) {
        let groups = (self.tail.len() / GROUP).saturating_sub(unpacked_groups);
        for group in self.tail[..groups * GROUP].chunks_exact(GROUP) {
            self.groups.push(Packed::pack(group, spill_store));
        }
        self.tail.drain(..groups * GROUP);
        self.by_id.pack_oldest();
    }

    /// Packs unpacked copies back into their groups: all, or those unchanged since the last call.
    fn repack(&mut self, all: bool, spill_store: &SpillStore) {
        let quiet =
            |_: &u32, unpacked: &mut UnpackedCopy| !std::mem::take(&mut unpacked.changed) || all;
        let mut quiet: Vec<(u32, UnpackedCopy)> = self.unpacked.extract_if(quiet).collect();
        quiet.sort_unstable_by_key(|&(index, _)| index);
        let group_of = |&(index, _): &(u32, UnpackedCopy)| index as usize / GROUP;
        let mut threads = Vec::with_capacity(GROUP);
        for of_group in quiet.chunk_by(|a, b| group_of(a) == group_of(b)) {
            let group = &mut self.groups[group_of(&of_group[0])];
            threads.clear();
            for block in 0..GROUP / BLOCK {
                group.read(block * BLOCK, &mut threads);
            }
            for &(index, unpacked) in of_group {
                threads[index as usize % GROUP] = unpacked.thread;
            }
            *group = Packed::pack(&threads, spill_store);
        }
        // Grows with the number of long-lived threads, so that these are not scanned again and again.
        self.max_unpacked = (2 * self.unpacked.len()).max(self.len() / Self::THREADS_PER_UNPACKED);
    }

    /// Packs all copies, and computes the index of each thread's first run, once the log has been read to its end.
    pub(crate) fn finish(&mut self, spill_store: &SpillStore) {
        self.repack(true, spill_store);
        let (mut first, mut firsts) = (0_u32, Vec::new());
        for at in (0..self.len()).step_by(BLOCK) {
            firsts.push(first);
            let mut runs = [0; BLOCK];
            let threads = self.runs_of(at, &mut runs);
            let runs = runs[..threads].iter().copied();
            first = runs.fold(first, u32::saturating_add);
        }
        self.firsts = firsts;
    }

    /// Returns the label of a thread, if it has one.
    pub(crate) fn label(&self, thread: &Thread) -> Option<&str> {
        self.labels.get(thread.label)
    }

    /// Interns a label.
    pub(crate) fn text(&mut self, label: &str) -> TextId {
        self.labels.intern(label)
    }

    /// Labels the thread with that index; the last label wins.
    pub(crate) fn set_label(&mut self, index: u32, label: TextId) {
        if self.get(index).is_some_and(|thread| thread.label != label)
            && let Some(thread) = self.at_mut(index)
        {
            thread.label = label;
        }
    }

    /// Returns the threads whose labels `wanted` maps to a value, with that value.
    pub(crate) fn with_labels<'a, T: Copy + 'a>(
        &'a self,
        wanted: impl Fn(&str) -> Option<T>,
    ) -> impl Iterator<Item = (u32, T)> + 'a {
        let labels = self.labels.iter();
        let by_label: Vec<Option<T>> = labels.map(|(_, label)| wanted(label)).collect();
        let any = by_label.iter().any(Option::is_some);
        let threads = any.then(|| self.iter()).into_iter().flatten();
        threads.filter_map(move |(index, thread)| Some((index, thread.label.entry_of(&by_label)??)))
    }

    /// Returns the rank of each label, by text ID, in sorted order.
    pub(crate) fn label_ranks(&self) -> Vec<u32> {
        let mut labels: Vec<(&str, TextId)> =
            self.labels.iter().map(|(of, text)| (text, of)).collect();
        labels.sort_unstable();
        let mut ranks = vec![0; labels.len()];
        let groups = labels.chunk_by(|a, b| a.0 == b.0);
        for (rank, group) in (0..).zip(groups) {
            group
                .iter()
                .for_each(|(_, label)| label.set_in(&mut ranks, rank));
        }
        ranks
    }

    /// Returns a predicate for threads whose label contains `text`, ignoring case, or whose ID is `text`; all if
    /// it is empty.
    pub(crate) fn matching(&self, text: &str) -> impl Fn(&Thread) -> bool + use<> {
        let text = text.to_lowercase();
        let labels = self.labels.iter();
        // Checked per label, as few of millions of threads have a label of their own.
        let has_it = labels.map(|(_, label)| label.to_lowercase().contains(&text));
        let has_it: Vec<bool> = has_it.collect();
        let number = text.trim_start_matches('#').to_owned();
        let id = number.parse().map(ThreadId).ok();
        let id = id.filter(|id| id.to_string() == number);
        let all = text.is_empty();
        move |thread| all || Some(thread.id) == id || thread.label.entry_of(&has_it) == Some(true)
    }
}

/// Reader of threads that unpacks them block by block.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    threads: &'a Threads,
    /// Index of the first thread of the block.
    at: usize,
    block: Vec<Thread>,
}

impl Reader<'_> {
    /// Returns the thread with that index.
    #[inline]
    pub(crate) fn get(&mut self, index: u32) -> Option<Thread> {
        let (place, at) = (
            index as usize % BLOCK,
            index as usize - index as usize % BLOCK,
        );
        if at != self.at {
            self.at = at;
            self.block.clear();
            self.threads.read(at, &mut self.block);
        }
        self.block.get(place).copied()
    }
}

#[cfg(test)]
mod tests;
