//! Columnar spans of a capability, grouped by the collections of the program.

use eventlog::hash::SeededMap;
use model::class::{Class, ClassTimes};
use model::lane::{Lane, LaneIndex};
use model::saturating::saturating_u32;

/// Ordered, non-overlapping spans of at most `N` classes: 13 bytes per span and 4 per collection.
#[derive(Clone, Debug)]
pub struct SpanColumns<const N: usize> {
    starts: Vec<u64>,
    /// Duration of each span; `u32::MAX` if it is in `longer_ns`.
    durations_ns: Vec<u32>,
    /// Durations that do not fit into 32 bits, by span index.
    longer_ns: SeededMap<usize, u64>,
    classes: Vec<Class>,
    /// Index of the first span of each collection.
    firsts: Vec<u32>,
    index: LaneIndex<N>,
}

impl<const N: usize> SpanColumns<N> {
    /// Creates an empty list for spans of these classes.
    pub(super) fn new(classes: [Class; N]) -> Self {
        Self {
            starts: Vec::new(),
            durations_ns: Vec::new(),
            longer_ns: SeededMap::default(),
            classes: Vec::new(),
            firsts: Vec::new(),
            index: LaneIndex::new(classes),
        }
    }

    /// Appends a span, which may be empty.
    pub(super) fn push(&mut self, class: Class, start: u64, end: u64) {
        let duration_ns = end - start;
        let short = u32::try_from(duration_ns).unwrap_or(u32::MAX);
        if short == u32::MAX {
            self.longer_ns.insert(self.len(), duration_ns);
        }
        self.starts.push(start);
        self.durations_ns.push(short);
        self.classes.push(class);
        self.index.push(class, duration_ns);
    }

    /// Marks the span at `place` as the first one of a collection.
    pub(super) fn mark_collection_start(&mut self, place: usize) {
        self.firsts.push(saturating_u32(place));
    }

    /// Returns the number of collections that begin before a span.
    fn collections_before(&self, place: usize) -> usize {
        self.firsts
            .partition_point(|&first| (first as usize) < place)
    }

    /// Returns whether a span is the first one of a collection.
    pub(super) fn is_first(&self, place: usize) -> bool {
        self.count(place, place + 1) > 0
    }

    /// Returns the indexes of the spans of the collection that a span belongs to.
    pub fn collection_of(&self, place: usize) -> std::ops::Range<usize> {
        let next = self.collections_before(place + 1);
        let first = |number: usize| Some(*self.firsts.get(number)? as usize);
        let start = next.checked_sub(1).and_then(first);
        start.unwrap_or(0)..first(next).unwrap_or(self.len())
    }

    fn duration_ns(&self, place: usize) -> u64 {
        match self.durations_ns[place] {
            u32::MAX => {
                let longer = self.longer_ns.get(&place).copied();
                longer.unwrap_or(u64::from(u32::MAX))
            }
            short => u64::from(short),
        }
    }
}

impl<const N: usize> Lane for SpanColumns<N> {
    fn len(&self) -> usize {
        self.starts.len()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        let start = self.starts[index];
        (start, start.saturating_add(self.duration_ns(index)))
    }
    fn class(&self, index: usize) -> Class {
        self.classes[index]
    }
    fn times_before_index(&self, index: usize) -> ClassTimes {
        let span = |i: usize| (self.classes[i], self.duration_ns(i));
        self.index.times_before_index(index, span)
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index.longest(from, to, |i| self.duration_ns(i))
    }

    /// Counts collections, each at its first span.
    fn count(&self, from: usize, to: usize) -> usize {
        self.collections_before(to) - self.collections_before(from)
    }
}
