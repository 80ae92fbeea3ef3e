//! Spans of a capability in columns, grouped by the collections of the program.

use eventlog::hash::SeededMap;
use model::class::{Class, ClassTimes};
use model::lane::{Lane, LaneIndex};
use model::place::place32;

/// Spans in order, without overlap, of at most `N` classes: 13 bytes each, and four
/// for each collection.
#[derive(Clone, Debug)]
pub struct Columns<const N: usize> {
    starts: Vec<u64>,
    /// How long each is, as far as 32 bits hold it.
    durations_ns: Vec<u32>,
    /// Longer ones, by place.
    longer_ns: SeededMap<usize, u64>,
    classes: Vec<Class>,
    /// The place of the first span of each collection.
    firsts: Vec<u32>,
    index: LaneIndex<N>,
}

impl<const N: usize> Columns<N> {
    /// No spans; those that come are of these classes.
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

    /// A collection begins with the span of that place.
    pub(super) fn collection_at(&mut self, place: usize) {
        self.firsts.push(place32(place));
    }

    /// How many collections begin before a place.
    fn collections_before(&self, place: usize) -> usize {
        self.firsts
            .partition_point(|&first| (first as usize) < place)
    }

    /// Whether a collection begins with a span.
    pub(super) fn is_first(&self, place: usize) -> bool {
        self.count(place, place + 1) > 0
    }

    /// The places of the spans of the collection that a span belongs to.
    #[must_use]
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

impl<const N: usize> Lane for Columns<N> {
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
    fn before(&self, index: usize) -> ClassTimes {
        let span = |i: usize| (self.classes[i], self.duration_ns(i));
        self.index.before(index, span)
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index.longest(from, to, |i| self.duration_ns(i))
    }

    /// Collections count, where they begin.
    fn count(&self, from: usize, to: usize) -> usize {
        self.collections_before(to) - self.collections_before(from)
    }
}
