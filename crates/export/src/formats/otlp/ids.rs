//! Trace and span ids. They are derived from the fingerprint of the log and the span, so that repeated exports
//! have the same ids.

use model::time::Interval;

/// Generates the ids of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    seed: u64,
}

/// Subject of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceSubject<'a> {
    Capability(u16),
    Thread(u32),
    /// User spans of this name.
    Named(&'a str),
}

impl Ids {
    /// Creates a generator for a log, from its run id.
    pub(super) fn new(run: &str) -> Self {
        Self {
            seed: hash_text(0, run),
        }
    }

    fn hash_subject(self, of: TraceSubject<'_>) -> u64 {
        let (kind, number) = match of {
            TraceSubject::Capability(cap) => (1, cap.into()),
            TraceSubject::Thread(thread) => (2, thread.into()),
            TraceSubject::Named(name) => (3, hash_text(0, name)),
        };
        mix(mix(self.seed, kind), number)
    }

    /// Returns the id of a trace, 16 bytes.
    pub(super) fn trace(self, of: TraceSubject<'_>) -> Vec<u8> {
        let high = self.hash_subject(of);
        let low = mix(high, 0).max(1);
        [high.to_be_bytes(), low.to_be_bytes()].concat()
    }

    /// Returns the id of a span in a trace, 8 bytes. `ordinal` numbers spans with the same time and kind.
    pub(super) fn span(
        self,
        of: TraceSubject<'_>,
        kind: u64,
        span: Interval,
        ordinal: u64,
    ) -> Vec<u8> {
        let parts = [kind, span.start().0, span.end().0, ordinal];
        let number = parts.into_iter().fold(self.hash_subject(of), mix);
        number.max(1).to_be_bytes().to_vec()
    }
}

/// Mixes two numbers into one in which every bit depends on both (the SplitMix64 finalizer).
const fn mix(before: u64, next: u64) -> u64 {
    let mut bits = before
        .wrapping_add(next)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn hash_text(before: u64, text: &str) -> u64 {
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
            for of in [
                TraceSubject::Capability(1),
                TraceSubject::Thread(1),
                TraceSubject::Named("1"),
            ] {
                assert_eq!(ids.trace(of).len(), 16);
                for kind in 0..2 {
                    for start in 0..20 {
                        for ordinal in 0..3 {
                            all.push(ids.span(of, kind, span(start, 20), ordinal));
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
