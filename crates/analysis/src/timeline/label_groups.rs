//! Sums over threads whose labels differ only in a trailing number.

use super::store::{FEW_THREADS, Store};
use super::thread_table::{PreparedRange, ThreadSums};
use crate::yielder::Yield;
use eventlog::hash::SeededMap;
use model::time::Interval;

/// Threads with equal labels, ignoring trailing numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelGroup {
    /// Common label, with `#` for the trailing number; `None` for threads without a label.
    pub label: Option<String>,
    /// Number of threads.
    pub count: u64,
    /// Sums over these threads.
    pub sums: ThreadSums,
}

/// Replaces the trailing number of a label by `#`: `worker-12` and `worker-3` become `worker-#`.
pub fn without_number(label: &str) -> String {
    let front = label.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if front.len() == label.len() {
        return label.to_owned();
    }
    format!("{front}#")
}

impl Store {
    /// Returns the sums by label over the threads that lived in a range, or in the whole log, in the order of the
    /// first thread of each label. `None` until the log has been read to its end.
    pub async fn label_groups(
        &self,
        range: Option<Interval>,
        yielder: &dyn Yield,
    ) -> Option<Vec<LabelGroup>> {
        self.is_finished().then_some(())?;
        let range = PreparedRange::new(self, range);
        let mut groups: Vec<LabelGroup> = Vec::new();
        let mut by_text: SeededMap<u32, usize> = SeededMap::default();
        let mut by_label: SeededMap<Option<String>, usize> = SeededMap::default();
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            let Some(sums) = range.sums(self, (index, &thread), yielder).await else {
                continue;
            };
            let place = *by_text.entry(thread.label.0).or_insert_with(|| {
                let label = self.threads.label(&thread).map(without_number);
                let new = groups.len();
                let place = *by_label.entry(label.clone()).or_insert(new);
                if place == new {
                    groups.push(LabelGroup {
                        label,
                        count: 0,
                        sums: ThreadSums::default(),
                    });
                }
                place
            });
            if let Some(group) = groups.get_mut(place) {
                group.count += 1;
                group.sums.add(&sums);
            }
        }
        Some(groups)
    }
}
