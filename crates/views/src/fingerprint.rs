//! Fingerprints that identify the log of a link.

use std::fmt;
use std::ops::Range;

/// Identifies a log without revealing its contents: the size and 48 bits of a hash of some bytes. Formatted as the
/// size in base 36, a dot, and the hash in 12 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    pub(crate) len: u64,
    pub(crate) hash: u64,
}

impl Fingerprint {
    const HASH_BITS: u32 = 48;
    const HASH_DIGITS: usize = 12;

    /// Returns the size of the log in bytes.
    pub const fn len(self) -> u64 {
        self.len
    }

    /// Returns whether the log has no bytes.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let (len, hash) = text.split_once('.')?;
        let digits = |part: &str, radix| part.chars().all(|c| char::is_digit(c, radix));
        if !digits(len, 36) || !digits(hash, 16) || hash.len() != Self::HASH_DIGITS {
            return None;
        }
        Some(Self {
            len: u64::from_str_radix(len, 36).ok()?,
            hash: u64::from_str_radix(hash, 16).ok()?,
        })
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = Vec::new();
        let mut rest = self.len;
        while rest > 0 || digits.is_empty() {
            digits.extend(char::from_digit((rest % 36) as u32, 36));
            rest /= 36;
        }
        let len: String = digits.iter().rev().collect();
        write!(f, "{len}.{:0width$x}", self.hash, width = Self::HASH_DIGITS)
    }
}

/// Returns the byte ranges that the fingerprint of a log of `len` bytes depends on: at its start, in its middle
/// and at its end.
pub fn sampled(len: u64) -> [Range<u64>; 3] {
    const SAMPLE: u64 = 65_536;
    let last = len.saturating_sub(SAMPLE);
    [0, last / 2, last].map(|start| start..len.min(start + SAMPLE))
}

/// Returns the fingerprint of a log of `len` bytes with these `samples`: 64-bit FNV-1a over the length and, for
/// each sample, its length and bytes (numbers as 8 bytes, little-endian), folded to 48 bits by exclusive or.
pub fn fingerprint(len: u64, samples: &[&[u8]]) -> Fingerprint {
    let hash = samples.iter().fold(
        fnv1a(0xcbf2_9ce4_8422_2325, &len.to_le_bytes()),
        |hash, sample| {
            let hash = fnv1a(hash, &(sample.len() as u64).to_le_bytes());
            fnv1a(hash, sample)
        },
    );
    let mask = (1 << Fingerprint::HASH_BITS) - 1;
    Fingerprint {
        len,
        hash: (hash >> Fingerprint::HASH_BITS) ^ (hash & mask),
    }
}

fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
