//! Hash tables for keys that a file chooses.
//!
//! A hash function without a secret lets a small file choose keys that all fall into one bucket, so that each
//! lookup visits all of them. The tables of this module hash with numbers that are drawn once per process, so
//! the order of iteration differs between runs: sort what leaves a table.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use foldhash::SharedSeed;
use foldhash::fast::{FixedState, FoldHasher, SeedableRandomState};

/// A hash map whose keys may come from a log or from another file.
pub type SeededMap<K, V> = HashMap<K, V, SeededState>;
/// A hash set whose members may come from a log or from another file.
pub type SeededSet<K> = HashSet<K, SeededState>;

static SEEDS: OnceLock<(u64, SharedSeed)> = OnceLock::new();

/// Sets the seeds of all tables of this process. The first call that comes before the first table counts.
///
/// Programs for WebAssembly must call it: the standard library has no random numbers there.
pub fn set_seeds(per_hasher: u64, shared: u64) {
    SEEDS.get_or_init(|| (per_hasher, SharedSeed::from_u64(shared)));
}

/// Builds hashers with the seeds of the process.
#[derive(Clone, Debug)]
pub struct SeededState(SeedableRandomState);

impl Default for SeededState {
    fn default() -> Self {
        let random = || RandomState::new().build_hasher().finish();
        let (per_hasher, shared) = SEEDS.get_or_init(|| (random(), SharedSeed::from_u64(random())));
        Self(SeedableRandomState::with_seed(*per_hasher, shared))
    }
}

impl BuildHasher for SeededState {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}

/// The same in each process: only for tables that look at a limited number of places.
pub(crate) fn stable_hash(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of the inverse of the multiplier of `rustc-hash`: all fall into one of its buckets.
    #[test]
    fn ids_that_collide_without_a_seed_are_spread() {
        const INVERSE: u64 = 0x7814_94a5_5daa_ed0d;
        let state = SeededState::default();
        let ids = (1..=4096_u64).map(|id| id.wrapping_mul(INVERSE));
        let mut buckets = vec![0_u32; 4096];
        for id in ids {
            buckets[(state.hash_one(id) % 4096) as usize] += 1;
        }
        assert!(buckets.iter().all(|&members| members < 16));
    }

    #[test]
    fn tables_of_one_process_agree() {
        let [one, other] = [SeededState::default(), SeededState::default()];
        assert_eq!(one.hash_one("text"), other.hash_one("text"));
        assert_ne!(one.hash_one("text"), one.hash_one("texts"));
    }
}
