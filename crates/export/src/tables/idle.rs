//! When a capability is idle, found while spans of it end one after the other: what
//! [`analysis::capability::idle`] finds once all are known, with few of them in memory.
//!
//! A span that ends later may begin earlier. How far they reach back is measured first; a
//! span that lies further back than that is followed by none that begins before it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use eventlog::ids::{CapId, Duration, Nanos};
use model::time::Interval;

/// Measures how far a busy span of a capability begins before the end of those that ended before it.
#[derive(Debug, Default)]
pub(super) struct ReachBack {
    ends: BTreeMap<CapId, Nanos>,
    most: Duration,
}

impl ReachBack {
    /// Takes the next span that ended.
    pub(super) fn busy(&mut self, cap: CapId, span: Interval) {
        let end = self.ends.entry(cap).or_default();
        self.most = self.most.max(end.since(span.start()));
        *end = span.end().max(*end);
    }

    /// The furthest of all.
    pub(super) const fn most(&self) -> Duration {
        self.most
    }
}

/// Finds the idle spans of a capability.
#[derive(Debug)]
pub(super) struct Idle {
    life: Interval,
    reach_back: Duration,
    /// How far its life is known.
    covered: Nanos,
    /// When the last busy span ended.
    end: Nanos,
    /// Busy spans before which another one may begin.
    held: BinaryHeap<Reverse<Interval>>,
}

impl Idle {
    /// None is known yet. `reach_back` is what [`ReachBack`] measured.
    pub(super) const fn new(life: Interval, reach_back: Duration) -> Self {
        Self {
            life,
            reach_back,
            covered: life.start(),
            end: Nanos(0),
            held: BinaryHeap::new(),
        }
    }

    /// Takes the next busy span that ended, and tells idle ones.
    pub(super) fn busy(&mut self, span: Interval, tell: &mut impl FnMut(Interval)) {
        if span.start() < span.end() {
            self.held.push(Reverse(span));
        }
        self.end = self.end.max(span.end());
        // Whatever ends after this begins at or after it.
        let settled = self.end - self.reach_back;
        while let Some(Reverse(first)) = self.held.peek().copied() {
            if first.start() > settled {
                break;
            }
            self.held.pop();
            self.pass(first, tell);
        }
    }

    /// Goes on behind a busy span.
    fn pass(&mut self, busy: Interval, tell: &mut impl FnMut(Interval)) {
        if busy.start() > self.covered && self.covered < self.life.end() {
            tell(Interval::new(
                self.covered,
                busy.start().min(self.life.end()),
            ));
        }
        self.covered = self.covered.max(busy.end());
    }

    /// All busy spans are known: tells the rest.
    pub(super) fn finish(mut self, tell: &mut impl FnMut(Interval)) {
        while let Some(Reverse(next)) = self.held.pop() {
            self.pass(next, tell);
        }
        if self.covered < self.life.end() {
            tell(Interval::new(self.covered, self.life.end()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::capability::idle;
    use proptest::prelude::*;

    proptest! {
        /// Spans in any order: what is told as they come is what is found once all are known.
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
