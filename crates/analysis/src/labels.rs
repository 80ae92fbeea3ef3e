//! Thread labels of one slice.

use serde::{Deserialize, Serialize};

use eventlog::ids::ThreadId;
use eventlog::texts::{TextId, TextInterner};
use eventlog::{Event, Names, Record};
use model::columns::Column;

use crate::timeline::store::Store;

/// Thread labels in the order of their events. Programs give the same label to thousands of threads, so labels are
/// interned.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Labels {
    #[serde(skip)]
    threads: Vec<u32>,
    /// Index of the label of each entry of `threads`.
    #[serde(skip)]
    labels: Vec<u32>,
    /// End offset of each label in `text`.
    #[serde(skip)]
    ends: Vec<u32>,
    /// Labels, concatenated; UTF-8 even if the log's bytes are not.
    #[serde(skip)]
    text: Vec<u8>,
}

impl Labels {
    /// Calls `see` with each column, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see((&mut self.threads).into());
        see((&mut self.labels).into());
        see((&mut self.ends).into());
        see((&mut self.text).into());
    }

    /// Returns the distinct labels by index.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let text = str::from_utf8(&self.text).unwrap_or_default();
        let ends = self.ends.iter().map(|&end| end as usize);
        let begins = std::iter::once(0).chain(ends.clone());
        let texts = begins.zip(ends);
        texts.map(move |(begin, end)| text.get(begin..end).unwrap_or_default())
    }

    /// Adds these labels to the threads of a log.
    pub(crate) fn apply(&self, store: &mut Store, names: &mut Names) {
        let known = |text: &str| (store.text(text), names.label(text));
        let known: Vec<(TextId, Option<TextId>)> = self.texts().map(known).collect();
        for (&thread, &label) in self.threads.iter().zip(&self.labels) {
            if let Some(&(text, label)) = known.get(label as usize) {
                store.label(ThreadId(thread), text);
                names.label_thread(ThreadId(thread), label);
            }
        }
    }
}

/// Labels of a slice, while its events are being read.
#[derive(Debug, Default)]
pub(crate) struct LabelAnalysis {
    found: Labels,
    texts: TextInterner,
}

impl LabelAnalysis {
    /// Processes a `ThreadLabel` event.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        if let Event::ThreadLabel { thread, label } = record.event() {
            let TextId(number) = self.texts.intern(&label.to_str());
            self.found.threads.push(thread.0);
            // Text IDs start at 1.
            self.found.labels.push(number - 1);
        }
    }

    /// Returns the labels of the finished slice.
    pub(crate) fn finish(self) -> Labels {
        let mut found = self.found;
        for (_, text) in self.texts.iter() {
            found.text.extend_from_slice(text.as_bytes());
            // Slices are far smaller than 4 GiB.
            found.ends.push(found.text.len() as u32);
        }
        found
    }
}
