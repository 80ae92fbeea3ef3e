//! What threads did together whose labels differ only in a number at the end.

use super::store::{FEW_THREADS, Store};
use super::thread_table::{InRange, ThreadSums};
use crate::listen::Listen;
use eventlog::hash::SeededMap;
use model::time::Interval;

/// Threads that a program calls alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelGroup {
    /// Their label, with `#` in place of the number at its end; `None` of threads without.
    pub label: Option<String>,
    /// How many there are.
    pub count: u64,
    /// What they did together.
    pub sums: ThreadSums,
}

/// A label with `#` in place of the number at its end: `worker-12` and `worker-3` are `worker-#`.
#[must_use]
pub fn without_number(label: &str) -> String {
    let front = label.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if front.len() == label.len() {
        return label.to_owned();
    }
    format!("{front}#")
}

impl Store {
    /// What the threads that lived in a range, or in the log, did there, by label, in the
    /// order of their creation; `None` until the log is read to its end.
    pub async fn label_groups(
        &self,
        range: Option<Interval>,
        listen: &dyn Listen,
    ) -> Option<Vec<LabelGroup>> {
        self.is_settled().then_some(())?;
        let range = InRange::new(self, range);
        let mut groups: Vec<LabelGroup> = Vec::new();
        let mut by_text: SeededMap<u32, usize> = SeededMap::default();
        let mut by_label: SeededMap<Option<String>, usize> = SeededMap::default();
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
            }
            let Some(sums) = range.sums(self, (index, &thread), listen).await else {
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
