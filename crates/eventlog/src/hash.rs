//! Hash tables for keys that a file chooses.
//!
//! With an unseeded hash function, a small file could choose keys that all fall into one bucket, so that each
//! lookup visits all of them. The tables of this module use seeds drawn once per process, so the iteration order
//! differs between runs: sort data before it leaves a table.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use foldhash::SharedSeed;
use foldhash::fast::{FixedState, FoldHasher, SeedableRandomState};

/// Hash map whose keys may come from a log or another file.
pub type SeededMap<K, V> = HashMap<K, V, SeededState>;
/// Hash set whose members may come from a log or another file.
pub type SeededSet<K> = HashSet<K, SeededState>;

static SEEDS: OnceLock<(u64, SharedSeed)> = OnceLock::new();

/// Sets the seeds of all tables of this process. Only the first call before the first table has an effect.
///
/// Programs for WebAssembly must call it, because the standard library has no random numbers there.
pub fn set_seeds(per_hasher: u64, shared: u64) {
    SEEDS.get_or_init(|| (per_hasher, SharedSeed::from_u64(shared)));
}

/// Hasher factory with the seeds of the process.
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

/// Unseeded hash, the same in every process: only for tables that probe a bounded number of slots.
pub(crate) fn stable_hash(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses multiples of the inverse of the `rustc-hash` multiplier: all fall into one of its buckets.
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
