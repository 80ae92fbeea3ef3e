//! How much each frame weighs, as a table.

use super::weighed;
use crate::flamegraph::frames::FrameId;
use crate::flamegraph::origin::Origin;
use crate::flamegraph::query::{FlameQuery, FlameRow};
use crate::flamegraph::stacks::StackId;
use crate::flamegraph::weights::Weight;

/// The frames of a query and their weights, the greatest own one first; of
/// heap samples, sums, with how many samples they are sums of.
#[must_use]
pub fn totals(origin: &dyn Origin, query: &FlameQuery) -> (Vec<FlameRow>, u32) {
    let weighed = weighed(origin, query);
    let mut sums = vec![(Weight::default(), Weight::default()); weighed.frames.len()];
    // The last stack in which each frame was met: recursion counts once.
    let mut met = vec![StackId::EMPTY; weighed.frames.len()];
    let weighs = |own: &Weight| own.amount > 0 || own.count > 0;
    let stacks = (0..).map(StackId).zip(weighed.own.iter().copied());
    for (stack, own) in stacks.filter(|(_, own)| weighs(own)) {
        for (place, frame) in weighed.stacks.innermost_first(stack).enumerate() {
            let at = frame.0 as usize;
            let (Some(sums), Some(met)) = (sums.get_mut(at), met.get_mut(at)) else {
                continue;
            };
            if place == 0 {
                sums.0.add(own);
            }
            if *met != stack {
                *met = stack;
                sums.1.add(own);
            }
        }
    }
    let row = |(id, (own, total)): (FrameId, (Weight, Weight))| {
        let frame = weighed.frames.get(id).filter(|_| weighs(&total))?;
        Some(FlameRow {
            frame: frame.clone(),
            own: own.amount,
            total: total.amount,
            own_count: own.count,
            count: total.count,
            before: None,
        })
    };
    let mut rows: Vec<FlameRow> = (0..).map(FrameId).zip(sums).filter_map(row).collect();
    rows.sort_by(|a, b| {
        let weights = |row: &FlameRow| (row.own, row.total);
        let names = |row: &FlameRow| (row.frame.name(), row.frame.location.clone());
        weights(b)
            .cmp(&weights(a))
            .then_with(|| names(a).cmp(&names(b)))
    });
    (rows, weighed.heap_samples)
}
