//! Sets of event types, made when the program is compiled: which events a part
//! of the program takes, and which have something in common.

use serde::{Deserialize, Serialize};

use super::event::{Event, EventType, Subject};

/// A set of event types, as bits. Types from 255 on are one: no runtime writes
/// such, and a set that has one of them has all.
///
/// ```
/// use eventlog::{EventSet, EventType, Subject};
///
/// const RUNS: EventSet = EventSet::of(&[EventType::RUN_THREAD, EventType::STOP_THREAD]);
/// assert!(RUNS.contains(EventType::RUN_THREAD));
/// assert!(!RUNS.meets(&EventSet::about(Subject::Task)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSet([u64; 4]);

impl EventSet {
    /// No type.
    pub const NONE: Self = Self([0; 4]);
    /// Every type, also those that the table does not have.
    pub const ALL: Self = Self([u64::MAX; 4]);
    /// The types whose events name a thread in their first field.
    pub const OF_A_THREAD: Self = {
        let (mut set, mut i) = (Self::NONE, 0);
        while i < EventType::ALL.len() {
            if Event::begins_with_a_thread(EventType::ALL[i]) {
                set = set.with(EventType::ALL[i]);
            }
            i += 1;
        }
        set
    };

    /// These types.
    #[must_use]
    pub const fn of(types: &[EventType]) -> Self {
        let (mut set, mut i) = (Self::NONE, 0);
        while i < types.len() {
            set = set.with(types[i]);
            i += 1;
        }
        set
    }

    /// The types whose events are about `subject`.
    #[must_use]
    pub const fn about(subject: Subject) -> Self {
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

    /// These types and one more.
    #[must_use]
    pub const fn with(mut self, id: EventType) -> Self {
        self.insert(id);
        self
    }

    /// The types of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a | e, b | f, c | g, d | h])
    }

    /// The types of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a & !e, b & !f, c & !g, d & !h])
    }

    /// Adds a type.
    #[inline]
    pub const fn insert(&mut self, id: EventType) {
        // In place: this is done for each event of a log.
        let (word, bit) = Self::place(id);
        self.0[word] |= bit;
    }

    /// Whether it has that type.
    #[inline]
    #[must_use]
    pub const fn contains(&self, id: EventType) -> bool {
        let (word, bit) = Self::place(id);
        self.0[word] & bit != 0
    }

    /// Whether some type is in both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    #[inline]
    const fn place(id: EventType) -> (usize, u64) {
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

    /// By hand, from `EventLogFormat.h`.
    #[test]
    fn sets_that_the_table_makes() {
        let threads = [0, 1, 2, 3, 4, 5, 6, 8, 15, 44, 64];
        assert_eq!(types(EventSet::OF_A_THREAD), threads);
        assert_eq!(types(EventSet::about(Subject::Task)), [55, 56, 57]);
        let eden: Vec<_> = (60..=69).collect();
        assert_eq!(types(EventSet::about(Subject::Eden)), eden);
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
        let set = EventSet::of(&[EventType(300)]);
        assert!(set.contains(EventType(255)) && set.contains(EventType(65_535)));
        assert!(!set.contains(EventType(254)));
        assert_eq!(types(EventSet::ALL).len(), 256);
        assert_eq!(EventSet::ALL.without(EventSet::ALL), EventSet::NONE);
    }
}
