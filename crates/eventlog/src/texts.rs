//! String interner for short texts such as thread labels, which programs repeat for thousands of threads.

use serde::{Deserialize, Serialize};

/// Handle of an interned text: its index plus one, or 0 for [`TextId::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TextId(pub u32);

impl TextId {
    /// Absence of a text.
    pub const NONE: Self = Self(0);

    fn index(self) -> Option<usize> {
        self.0.checked_sub(1).map(|place| place as usize)
    }

    /// Returns this text's entry of a list that is parallel to all texts.
    pub fn entry_of<T: Copy>(self, list: &[T]) -> Option<T> {
        list.get(self.index()?).copied()
    }

    /// Sets this text's entry of such a list.
    pub fn set_in<T>(self, list: &mut [T], it: T) {
        if let Some(slot) = self.index().and_then(|place| list.get_mut(place)) {
            *slot = it;
        }
    }
}

/// Number of texts per sheet.
const SHEET: usize = 1024;

/// Consecutive texts, concatenated.
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

/// Interned texts.
#[derive(Clone, Debug, Default)]
pub struct TextInterner {
    sheets: Vec<Sheet>,
    bytes: usize,
    /// Hash table with bounded probing, to find known texts.
    by_hash: Vec<TextId>,
}

impl TextInterner {
    /// Maximum number of entries in the hash table: 4 MiB.
    const MAX_FOUND: usize = 1 << 20;

    /// Returns the number of interned texts.
    pub fn len(&self) -> usize {
        let full = self.sheets.len().saturating_sub(1);
        full * SHEET + self.sheets.last().map_or(0, |sheet| sheet.ends.len())
    }

    /// Whether nothing is interned.
    pub const fn is_empty(&self) -> bool {
        self.sheets.is_empty()
    }

    /// Returns the total length of all texts in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the text of a handle.
    pub fn get(&self, id: TextId) -> Option<&str> {
        let at = id.index()?;
        self.sheets.get(at / SHEET)?.get(at % SHEET)
    }

    /// Iterates over all texts, in the order of their first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (TextId, &str)> {
        let sheets = self.sheets.iter();
        let texts = sheets.flat_map(|sheet| (0..SHEET).map_while(|place| sheet.get(place)));
        (1..).map(TextId).zip(texts)
    }

    /// Interns a text. Among millions of texts, one that was evicted from the hash table is added again.
    pub fn intern(&mut self, text: &str) -> TextId {
        if let Some(known) = self.find(text) {
            return known;
        }
        if 2 * self.len() >= self.by_hash.len() {
            self.widen();
        }
        let id = self.push(text);
        self.insert_slot(self.slots(Self::hash(text)), id);
        id
    }

    /// Returns the handle of an interned text. Among millions of texts, one may be missed if it was evicted from
    /// the hash table.
    pub fn find(&self, text: &str) -> Option<TextId> {
        if self.by_hash.is_empty() {
            return None;
        }
        let slots = self.slots(Self::hash(text)).into_iter();
        let mut known = slots.map(|slot| self.by_hash[slot]);
        known.find(|&known| self.get(known) == Some(text))
    }

    fn hash(text: &str) -> usize {
        crate::hash::stable_hash(text) as usize
    }

    /// Returns the slots that may hold a text with this hash.
    fn slots(&self, hash: usize) -> [usize; 8] {
        // The length is a power of two.
        std::array::from_fn(|next| hash.wrapping_add(next) & (self.by_hash.len() - 1))
    }

    fn insert_slot(&mut self, slots: [usize; 8], id: TextId) {
        let free = slots
            .into_iter()
            .find(|&slot| self.by_hash[slot] == TextId::NONE);
        self.by_hash[free.unwrap_or(slots[0])] = id;
    }

    fn push(&mut self, text: &str) -> TextId {
        if self.len().is_multiple_of(SHEET) {
            if let Some(full) = self.sheets.last_mut() {
                full.text.shrink_to_fit();
            }
            self.sheets.push(Sheet::default());
        }
        self.bytes += text.len();
        if let Some(sheet) = self.sheets.last_mut() {
            sheet.text.push_str(text);
            sheet.ends.push(sheet.text.len());
        }
        u32::try_from(self.len()).map_or(TextId::NONE, TextId)
    }

    #[cold]
    fn widen(&mut self) {
        let len = (8 * self.by_hash.len()).clamp(256, Self::MAX_FOUND);
        if len == self.by_hash.len() {
            return;
        }
        self.by_hash = vec![TextId::NONE; len];
        let texts = self.iter();
        let hashes: Vec<_> = texts.map(|(id, text)| (Self::hash(text), id)).collect();
        for (hash, id) in hashes {
            self.insert_slot(self.slots(hash), id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_kept_once() {
        let mut all = TextInterner::default();
        let texts: Vec<String> = (0..5000).map(|i| format!("worker {}", i % 50)).collect();
        let given: Vec<TextId> = texts.iter().map(|text| all.intern(text)).collect();
        assert_eq!(all.len(), 50);
        for (id, text) in given.into_iter().zip(&texts) {
            assert_eq!(all.get(id), Some(text.as_str()));
        }
        assert_eq!(all.get(TextId::NONE), None);
    }

    #[test]
    fn many_texts_have_their_numbers() {
        let mut all = TextInterner::default();
        let texts: Vec<String> = (0..5000)
            .map(|i| "x".repeat(i % 7) + &i.to_string())
            .collect();
        let given: Vec<TextId> = texts.iter().map(|text| all.intern(text)).collect();
        for (&id, text) in given.iter().zip(&texts) {
            assert_eq!(all.get(id), Some(text.as_str()));
        }
        let empty = all.intern("");
        assert_eq!(all.get(empty), Some(""));
        let listed: Vec<(TextId, &str)> = all.iter().collect();
        assert_eq!(listed.len(), 5001);
        assert!(listed.iter().all(|&(id, text)| all.get(id) == Some(text)));
    }
}
