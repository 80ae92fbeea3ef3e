//! The labels of threads. Programs give the same ones to thousands of threads, and
//! each is kept once.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

/// The label of a thread, by its number among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Label(pub(super) u32);

impl Label {
    pub(crate) const NONE: Self = Self(0);

    fn place(self) -> Option<usize> {
        self.0.checked_sub(1).map(|place| place as usize)
    }

    /// What a list has of it that has something of each label, in the order of all.
    pub(crate) fn of<T: Copy>(self, list: &[T]) -> Option<T> {
        list.get(self.place()?).copied()
    }

    pub(super) fn set_in<T>(self, list: &mut [T], it: T) {
        if let Some(slot) = self.place().and_then(|place| list.get_mut(place)) {
            *slot = it;
        }
    }
}

/// So many labels stand together.
const SHEET: usize = 1024;

/// Some labels: their texts, one after the other.
#[derive(Clone, Debug, Default)]
struct Sheet {
    text: String,
    ends: Vec<usize>,
}

impl Sheet {
    fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)?;
        let before = place.checked_sub(1);
        let begin = before.map_or(Some(&0), |before| self.ends.get(before))?;
        self.text.get(*begin..end)
    }
}

/// The labels of all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    sheets: Vec<Sheet>,
    /// Labels by their hashes, so that one that comes again is found.
    by_hash: Vec<Label>,
}

impl Labels {
    /// By hash no more labels than this are found: 4 MiB.
    const MOST_FOUND: usize = 1 << 20;

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        let full = self.sheets.len().saturating_sub(1);
        full * SHEET + self.sheets.last().map_or(0, |sheet| sheet.ends.len())
    }

    /// The text of a label.
    pub(super) fn get(&self, label: Label) -> Option<&str> {
        let at = label.place()?;
        self.sheets.get(at / SHEET)?.get(at % SHEET)
    }

    /// All labels, each with its text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Label, &str)> {
        let sheets = self.sheets.iter();
        let texts = sheets.flat_map(|sheet| (0..SHEET).map_while(|place| sheet.get(place)));
        (1..).map(Label).zip(texts)
    }

    /// The label of that text, which is made if it is new; of millions of labels also if
    /// it was not met for long.
    pub(super) fn of(&mut self, text: &str) -> Label {
        if 2 * self.len() >= self.by_hash.len() {
            self.widen();
        }
        let slots = self.slots(Self::hash(text));
        let known = |&slot: &usize| self.get(self.by_hash[slot]) == Some(text);
        if let Some(slot) = slots.into_iter().find(known) {
            return self.by_hash[slot];
        }
        let label = self.push(text);
        self.enter(slots, label);
        label
    }

    fn hash(text: &str) -> usize {
        BuildHasherDefault::<FxHasher>::default().hash_one(text) as usize
    }

    /// Where a label of that hash may stand.
    fn slots(&self, hash: usize) -> [usize; 8] {
        // There are a power of two of them.
        std::array::from_fn(|next| hash.wrapping_add(next) & (self.by_hash.len() - 1))
    }

    fn enter(&mut self, slots: [usize; 8], label: Label) {
        let free = slots
            .into_iter()
            .find(|&slot| self.by_hash[slot] == Label::NONE);
        self.by_hash[free.unwrap_or(slots[0])] = label;
    }

    fn push(&mut self, text: &str) -> Label {
        if self.len().is_multiple_of(SHEET) {
            if let Some(full) = self.sheets.last_mut() {
                full.text.shrink_to_fit();
            }
            self.sheets.push(Sheet::default());
        }
        if let Some(sheet) = self.sheets.last_mut() {
            sheet.text.push_str(text);
            sheet.ends.push(sheet.text.len());
        }
        u32::try_from(self.len()).map_or(Label::NONE, Label)
    }

    #[cold]
    fn widen(&mut self) {
        let len = (8 * self.by_hash.len()).clamp(256, Self::MOST_FOUND);
        if len == self.by_hash.len() {
            return;
        }
        self.by_hash = vec![Label::NONE; len];
        let texts = self.iter();
        let hashes: Vec<_> = texts
            .map(|(label, text)| (Self::hash(text), label))
            .collect();
        for (hash, label) in hashes {
            self.enter(self.slots(hash), label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_is_kept_once() {
        let mut labels = Labels::default();
        let texts: Vec<String> = (0..5000).map(|i| format!("worker {}", i % 50)).collect();
        let given: Vec<Label> = texts.iter().map(|text| labels.of(text)).collect();
        assert_eq!(labels.len(), 50);
        for (label, text) in given.into_iter().zip(&texts) {
            assert_eq!(labels.get(label), Some(text.as_str()));
        }
        assert_eq!(labels.get(Label::NONE), None);
    }

    #[test]
    fn many_labels_have_their_texts() {
        let mut labels = Labels::default();
        let texts: Vec<String> = (0..5000)
            .map(|i| "x".repeat(i % 7) + &i.to_string())
            .collect();
        let given: Vec<Label> = texts.iter().map(|text| labels.of(text)).collect();
        for (&label, text) in given.iter().zip(&texts) {
            assert_eq!(labels.get(label), Some(text.as_str()));
        }
        let empty = labels.of("");
        assert_eq!(labels.get(empty), Some(""));
        let all: Vec<(Label, &str)> = labels.iter().collect();
        assert_eq!(all.len(), 5001);
        assert!(
            all.iter()
                .all(|&(label, text)| labels.get(label) == Some(text))
        );
    }
}
