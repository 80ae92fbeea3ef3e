//! Notes: names that a reader gives to instants and ranges of a log. They are stored in links and in separate
//! files, never in the log.

pub mod file;

use eventlog::ids::Nanos;
use model::time::Interval;

/// Maximum number of notes.
pub const MAX_NOTES: usize = 200;
/// Maximum length of a note's name, in bytes.
pub(crate) const MAX_NAME: usize = 120;

/// Instant or range with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    span: Interval,
    name: String,
}

impl Note {
    /// Creates a note. A span that ends before it begins becomes an instant; the name is reduced to one line and
    /// truncated to `MAX_NAME` bytes.
    pub fn new(span: Interval, name: &str) -> Self {
        Self {
            span: Interval::new(span.start(), span.end().max(span.start())),
            name: one_line(name),
        }
    }

    /// Returns the time; empty for an instant.
    pub const fn span(&self) -> Interval {
        self.span
    }

    /// Returns the name, which may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the note marks an instant rather than a range.
    pub fn is_moment(&self) -> bool {
        self.span.start() == self.span.end()
    }
}

/// Replaces control characters by spaces, trims, and truncates to `MAX_NAME` bytes.
fn one_line(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let trimmed = plain.trim();
    trimmed[..trimmed.floor_char_boundary(MAX_NAME)]
        .trim_end()
        .to_owned()
}

/// Counts of a merge of notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Number of new notes.
    pub added: usize,
    /// Number of notes that existed already.
    pub known: usize,
    /// Number of notes dropped because of [`MAX_NOTES`].
    pub dropped: usize,
}

/// Notes sorted by time, at most [`MAX_NOTES`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Returns the notes sorted by time.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Note> {
        self.0.iter()
    }

    /// Returns the number of notes.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no notes.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the note at a zero-based index.
    pub fn get(&self, number: usize) -> Option<&Note> {
        self.0.get(number)
    }

    /// Inserts a note in order, after those of the same time; returns its index, or `None` if the limit is
    /// reached.
    pub fn insert(&mut self, note: Note) -> Option<usize> {
        if self.0.len() >= MAX_NOTES {
            return None;
        }
        let at = self.0.partition_point(|other| other.span <= note.span);
        self.0.insert(at, note);
        Some(at)
    }

    /// Inserts notes, skipping duplicates.
    pub fn merge(&mut self, notes: impl IntoIterator<Item = Note>) -> MergeCounts {
        let mut merged = MergeCounts::default();
        for note in notes {
            if self.0.contains(&note) {
                merged.known += 1;
            } else if self.insert(note).is_some() {
                merged.added += 1;
            } else {
                merged.dropped += 1;
            }
        }
        merged
    }

    /// Renames a note.
    pub fn rename(&mut self, number: usize, name: &str) {
        if let Some(note) = self.0.get_mut(number) {
            note.name = one_line(name);
        }
    }

    /// Removes a note.
    pub fn remove(&mut self, number: usize) -> Option<Note> {
        (number < self.0.len()).then(|| self.0.remove(number))
    }

    /// Keeps only notes that begin within a span.
    pub(crate) fn keep_in(&mut self, span: Interval) {
        self.0
            .retain(|note| (span.start()..=span.end()).contains(&note.span.start()));
    }

    /// Returns the first note that begins after a time, or the first of all for `None`.
    pub fn next_after(&self, time: Option<Nanos>) -> Option<&Note> {
        let mut notes = self.0.iter();
        notes.find(|note| time.is_none_or(|time| note.span.start() > time))
    }

    /// Returns the last note that begins before a time, or the last of all for `None`.
    pub fn last_before(&self, time: Option<Nanos>) -> Option<&Note> {
        let mut notes = self.0.iter();
        notes.rfind(|note| time.is_none_or(|time| note.span.start() < time))
    }
}

impl FromIterator<Note> for Notes {
    /// Collects the first [`MAX_NOTES`] notes.
    fn from_iter<I: IntoIterator<Item = Note>>(notes: I) -> Self {
        let mut kept = Self::default();
        for note in notes.into_iter().take(MAX_NOTES) {
            kept.insert(note);
        }
        kept
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn note(start: u64, end: u64, name: &str) -> Note {
        Note::new(Interval::new(Nanos(start), Nanos(end)), name)
    }

    prop_compose! {
        pub(crate) fn any_note()(
            start in prop_oneof![0..100_u64, any::<u64>()],
            length in prop_oneof![Just(0), 0..100_u64, any::<u64>()],
            name in any::<String>(),
        ) -> Note {
            note(start, start.saturating_add(length), &name)
        }
    }

    /// Generates notes, including numbers around and above the limit.
    pub(crate) fn any_notes() -> impl Strategy<Value = Notes> {
        prop_oneof![vec(any_note(), 0..6), vec(any_note(), 195..205)]
            .prop_map(|notes| notes.into_iter().collect())
    }

    #[test]
    fn names_are_one_line() {
        let name = |name: &str| note(0, 0, name).name;
        assert_eq!(name("  first\npeak\t"), "first peak");
        assert_eq!(name("\u{7}"), "");
        assert_eq!(name(&"é".repeat(100)), "é".repeat(60));
        assert_eq!(
            name(&format!("{} {}", "x".repeat(119), "y")),
            "x".repeat(119)
        );
    }

    #[test]
    fn what_ends_before_it_begins_is_a_moment() {
        assert_eq!(note(5, 3, "").span(), Interval::new(Nanos(5), Nanos(5)));
        assert!(note(5, 3, "").is_moment());
        assert!(!note(3, 5, "").is_moment());
    }

    #[test]
    fn in_the_order_of_time() {
        let mut notes = Notes::default();
        for (start, end, name, number) in [
            (10, 10, "a", 0),
            (5, 5, "b", 0),
            (10, 20, "c", 2),
            (10, 10, "d", 2),
            (30, 30, "e", 4),
        ] {
            assert_eq!(notes.insert(note(start, end, name)), Some(number));
        }
        let names: String = notes.iter().map(Note::name).collect();
        assert_eq!(names, "badce");
        let at = |found: Option<&Note>| found.map(|note| note.name.clone()).unwrap_or_default();
        assert_eq!(at(notes.next_after(None)), "b");
        assert_eq!(at(notes.next_after(Some(Nanos(5)))), "a");
        assert_eq!(at(notes.next_after(Some(Nanos(10)))), "e");
        assert_eq!(at(notes.next_after(Some(Nanos(30)))), "");
        assert_eq!(at(notes.last_before(None)), "e");
        assert_eq!(at(notes.last_before(Some(Nanos(10)))), "b");
        assert_eq!(at(notes.last_before(Some(Nanos(5)))), "");
        notes.rename(1, " A ");
        assert_eq!(notes.get(1).map(Note::name), Some("A"));
        assert_eq!(notes.remove(0), Some(note(5, 5, "b")));
        assert_eq!(notes.remove(9), None);
        notes.rename(9, "x");
        notes.keep_in(Interval::new(Nanos(0), Nanos(10)));
        assert_eq!(notes.len(), 3);
    }

    #[test]
    fn merging() {
        let mut notes: Notes = [note(1, 1, "a"), note(2, 2, "b")].into_iter().collect();
        let merged = notes.merge([note(2, 2, "b"), note(2, 2, "c")]);
        assert_eq!((merged.added, merged.known, merged.dropped), (1, 1, 0));
        let many = (0..300).map(|at| note(at, at, "x"));
        let merged = notes.merge(many);
        assert_eq!((merged.added, merged.dropped), (197, 103));
        assert_eq!(notes.len(), MAX_NOTES);
        assert_eq!(notes.insert(note(0, 0, "")), None);
    }

    proptest! {
        #[test]
        fn a_note_made_again_is_the_same(note in any_note()) {
            prop_assert!(note.name.len() <= MAX_NAME);
            prop_assert_eq!(Note::new(note.span, &note.name), note);
        }

        #[test]
        fn always_sorted(notes in any_notes()) {
            prop_assert!(notes.0.is_sorted_by_key(|note| note.span));
            prop_assert!(notes.len() <= MAX_NOTES);
        }
    }
}
