//! Compile-time sets of event types: the events that a part of the program consumes, or that share a property.

use serde::{Deserialize, Serialize};

use super::event::{Event, EventType, Subject};

/// Set of event types, as a bitmap. All types from 255 on share one bit, because no runtime writes them.
///
/// ```
/// use eventlog::{EventSet, EventType, Subject};
///
/// const RUNS: EventSet = EventSet::from_types(&[EventType::RUN_THREAD, EventType::STOP_THREAD]);
/// assert!(RUNS.contains(EventType::RUN_THREAD));
/// assert!(!RUNS.intersects(&EventSet::for_subject(Subject::Task)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSet([u64; 4]);

impl EventSet {
    /// The empty set.
    pub const NONE: Self = Self([0; 4]);
    /// All types, including those that are not in the table.
    pub const ALL: Self = Self([u64::MAX; 4]);
    /// The types whose first field is a thread.
    pub const THREAD_EVENTS: Self = {
        let (mut set, mut i) = (Self::NONE, 0);
        while i < EventType::ALL.len() {
            if Event::has_leading_thread(EventType::ALL[i]) {
                set = set.with(EventType::ALL[i]);
            }
            i += 1;
        }
        set
    };

    /// Returns the set of these types.
    pub const fn from_types(types: &[EventType]) -> Self {
        let (mut set, mut i) = (Self::NONE, 0);
        while i < types.len() {
            set = set.with(types[i]);
            i += 1;
        }
        set
    }

    /// Returns the types whose events are about `subject`.
    pub const fn for_subject(subject: Subject) -> Self {
        let (mut set, mut i) = (Self::NONE, 0);
        while i < EventType::ALL.len() {
            let id = EventType::ALL[i];
            if matches!(id.subject(), Some(other) if other as u8 == subject as u8) {
                set = set.with(id);
            }
            i += 1;
        }
        set
    }

    /// Returns the set extended by one type.
    #[must_use]
    pub const fn with(mut self, id: EventType) -> Self {
        self.insert(id);
        self
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a | e, b | f, c | g, d | h])
    }

    /// Returns the types of this set that are not in the other.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a & !e, b & !f, c & !g, d & !h])
    }

    /// Adds a type.
    #[inline]
    pub const fn insert(&mut self, id: EventType) {
        // In place, because this runs for each event of a log.
        let (word, bit) = Self::word_and_bit(id);
        self.0[word] |= bit;
    }

    /// Whether the set contains a type.
    #[inline]
    pub const fn contains(&self, id: EventType) -> bool {
        let (word, bit) = Self::word_and_bit(id);
        self.0[word] & bit != 0
    }

    /// Whether the intersection is not empty.
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    #[inline]
    const fn word_and_bit(id: EventType) -> (usize, u64) {
        let id = if id.0 < 255 { id.0 } else { 255 };
        ((id >> 6) as usize, 1 << (id & 63))
    }
}

impl FromIterator<EventType> for EventSet {
    fn from_iter<T: IntoIterator<Item = EventType>>(types: T) -> Self {
        types.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(set: EventSet) -> Vec<u16> {
        let in_set = (0..=255).filter(|&id| set.contains(EventType(id)));
        in_set.collect()
    }

    /// The expected sets are written by hand from `EventLogFormat.h`.
    #[test]
    fn sets_that_the_table_makes() {
        let threads = [0, 1, 2, 3, 4, 5, 6, 8, 15, 44, 64];
        assert_eq!(types(EventSet::THREAD_EVENTS), threads);
        assert_eq!(types(EventSet::for_subject(Subject::Task)), [55, 56, 57]);
        let eden: Vec<_> = (60..=69).collect();
        assert_eq!(types(EventSet::for_subject(Subject::Eden)), eden);
    }

    #[test]
    fn every_type_is_about_something() {
        let of_nothing = (0..=255).filter(|&id| EventType(id).name().is_some());
        let known: Vec<_> = of_nothing.collect();
        assert!(known.iter().all(|&id| EventType(id).subject().is_some()));
        assert_eq!(types(EventType::ALL.iter().copied().collect()), known);
    }

    #[test]
    fn large_numbers_are_one() {
        let set = EventSet::from_types(&[EventType(300)]);
        assert!(set.contains(EventType(255)) && set.contains(EventType(65_535)));
        assert!(!set.contains(EventType(254)));
        assert_eq!(types(EventSet::ALL).len(), 256);
        assert_eq!(EventSet::ALL.difference(EventSet::ALL), EventSet::NONE);
    }
}
