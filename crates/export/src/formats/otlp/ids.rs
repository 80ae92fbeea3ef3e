//! Numbers of traces and spans. They follow from the log's fingerprint and from the span, so that
//! a log that is exported twice has the same ones.

use model::time::Interval;

/// Makes the numbers of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    seed: u64,
}

/// What a trace is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of<'a> {
    Capability(u16),
    Thread(u32),
    /// Spans of the program of this name.
    Named(&'a str),
}

impl Ids {
    /// Those of a log, by what tells it from others.
    pub(super) fn new(run: &str) -> Self {
        Self {
            seed: of_text(0, run),
        }
    }

    fn of(self, of: Of<'_>) -> u64 {
        let (kind, number) = match of {
            Of::Capability(cap) => (1, cap.into()),
            Of::Thread(thread) => (2, thread.into()),
            Of::Named(name) => (3, of_text(0, name)),
        };
        mix(mix(self.seed, kind), number)
    }

    /// The number of a trace.
    pub(super) fn trace(self, of: Of<'_>) -> Vec<u8> {
        let high = self.of(of);
        let low = mix(high, 0).max(1);
        [high.to_be_bytes(), low.to_be_bytes()].concat()
    }

    /// The number of a span of a trace, of the spans with the same time and kind the one that is
    /// told after so many others.
    pub(super) fn span(self, of: Of<'_>, kind: u64, span: Interval, again: u64) -> Vec<u8> {
        let parts = [kind, span.start().0, span.end().0, again];
        let number = parts.into_iter().fold(self.of(of), mix);
        number.max(1).to_be_bytes().to_vec()
    }
}

/// A number made of two, in which each bit counts (the end of SplitMix64).
const fn mix(before: u64, next: u64) -> u64 {
    let mut bits = before
        .wrapping_add(next)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn of_text(before: u64, text: &str) -> u64 {
    text.bytes()
        .fold(before, |bits, byte| mix(bits, byte.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_are_the_same_again_and_differ_from_each_other() {
        let span = |start, end| Interval::new(Nanos(start), Nanos(end));
        let of = |run| {
            let ids = Ids::new(run);
            let mut all = Vec::new();
            for of in [Of::Capability(1), Of::Thread(1), Of::Named("1")] {
                assert_eq!(ids.trace(of).len(), 16);
                for kind in 0..2 {
                    for start in 0..20 {
                        for again in 0..3 {
                            all.push(ids.span(of, kind, span(start, 20), again));
                        }
                    }
                }
            }
            all
        };
        assert_eq!(of("9-abc"), of("9-abc"));
        let all: BTreeSet<Vec<u8>> = of("9-abc").into_iter().chain(of("9-abd")).collect();
        assert_eq!(all.len(), 2 * 3 * 2 * 20 * 3);
    }
}
