//! Idle spans of a capability, computed while its busy spans end one by one. The result equals that of
//! [`analysis::capability::idle`], which needs all spans in memory.
//!
//! A span that ends later may begin earlier. The maximum of this reach-back is measured in a first pass; in the
//! second, no span that is still to come begins before the end of the last one minus that maximum.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use eventlog::ids::{CapId, Duration, Nanos};
use model::time::Interval;

/// Measures how far a busy span of a capability begins before the end of one that ended earlier.
#[derive(Debug, Default)]
pub(super) struct ReachBack {
    ends: BTreeMap<CapId, Nanos>,
    most: Duration,
}

impl ReachBack {
    /// Adds a busy span; spans must come in the order of their ends.
    pub(super) fn busy(&mut self, cap: CapId, span: Interval) {
        let end = self.ends.entry(cap).or_default();
        self.most = self.most.max(end.since(span.start()));
        *end = span.end().max(*end);
    }

    /// Returns the maximum over all capabilities.
    pub(super) const fn most(&self) -> Duration {
        self.most
    }
}

/// Finds the idle spans of a capability.
#[derive(Debug)]
pub(super) struct Idle {
    life: Interval,
    reach_back: Duration,
    /// Time up to which idle spans are determined.
    covered: Nanos,
    /// End of the last busy span.
    end: Nanos,
    /// Busy spans that a later one may still precede, as a min-heap by start.
    held: BinaryHeap<Reverse<Interval>>,
}

impl Idle {
    /// Starts without busy spans. `reach_back` is the maximum measured by [`ReachBack`].
    pub(super) const fn new(life: Interval, reach_back: Duration) -> Self {
        Self {
            life,
            reach_back,
            covered: life.start(),
            end: Nanos(0),
            held: BinaryHeap::new(),
        }
    }

    /// Adds the next busy span that ended, and reports idle ones that are certain.
    pub(super) fn busy(&mut self, span: Interval, report: &mut impl FnMut(Interval)) {
        if span.start() < span.end() {
            self.held.push(Reverse(span));
        }
        self.end = self.end.max(span.end());
        // No later span begins before this time.
        let certain_until = self.end - self.reach_back;
        while let Some(Reverse(first)) = self.held.peek().copied() {
            if first.start() > certain_until {
                break;
            }
            self.held.pop();
            self.advance_past(first, report);
        }
    }

    /// Moves on past a busy span, reporting the idle time before it.
    fn advance_past(&mut self, busy: Interval, report: &mut impl FnMut(Interval)) {
        if busy.start() > self.covered && self.covered < self.life.end() {
            report(Interval::new(
                self.covered,
                busy.start().min(self.life.end()),
            ));
        }
        self.covered = self.covered.max(busy.end());
    }

    /// Reports the remaining idle spans, once all busy spans were added.
    pub(super) fn finish(mut self, report: &mut impl FnMut(Interval)) {
        while let Some(Reverse(next)) = self.held.pop() {
            self.advance_past(next, report);
        }
        if self.covered < self.life.end() {
            report(Interval::new(self.covered, self.life.end()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::capability::idle;
    use proptest::prelude::*;

    proptest! {
        /// Incremental results equal those with all spans known, for spans in any order.
        #[test]
        fn idle_spans_are_those_of_all_spans(
            spans in proptest::collection::vec((0_u64..200, 0_u64..40), 0..40),
            life in (0_u64..50, 0_u64..250),
        ) {
            let cap = CapId(0);
            let interval = |from: u64, len: u64| Interval::new(Nanos(from), Nanos(from + len));
            let mut spans: Vec<Interval> =
                spans.iter().map(|&(from, len)| interval(from, len)).collect();
            let life = interval(life.0, life.1);
            for _ in 0..2 {
                let mut reach_back = ReachBack::default();
                for span in &spans {
                    reach_back.busy(cap, *span);
                }
                let mut found = Vec::new();
                let mut one = Idle::new(life, reach_back.most());
                for span in &spans {
                    one.busy(*span, &mut |span| found.push(span));
                }
                one.finish(&mut |span| found.push(span));
                prop_assert_eq!(&found, &idle(life, &spans));
                spans.sort_by_key(|span| span.end());
            }
        }
    }
}
