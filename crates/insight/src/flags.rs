//! Options of the runtime: those of the run, and whether another one makes sense for it.
//!
//! The log has the command line and the environment, thus `GHCRTS`. It does not have options
//! that are compiled in (`-with-rtsopts`), except for those that other events reveal.

use crate::context::{RuleContext, version};
use crate::finding::{Finding, Try};
use analysis::heap::Breakdown;
use model::format;

/// More advice than this is not read.
const MOST_TRIES: usize = 3;
/// A larger allocation area is at least so many times the current one.
const LARGER: f64 = 1.5;
/// The allocation areas that advice names: from the size of a processor's cache to where
/// more gained nothing in the programs of `docs/findings.md`.
const AREAS: [&str; 3] = ["-A4m", "-A16m", "-A64m"];
/// All areas together take no more than this part of a limited heap.
const ROOM: u64 = 2;
/// The first GHC with `-qn`.
const QN: (u32, u32) = (8, 2);
/// The first GHC with the nonmoving collector, and with `-Iw`.
const NONMOVING: (u32, u32) = (8, 10);
/// The first GHC with heap profiles by info table.
const INFO_TABLES: (u32, u32) = (9, 2);

/// The bytes that an option names: `64m` of `-A64m`. Without a unit they are bytes
/// (GHC's `rts/RtsFlags.c`, `decodeSize`).
#[must_use]
pub fn option_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: f64 = digits.parse().ok()?;
    let unit: u64 = match text.get(digits.len()..)? {
        "" => 1,
        "w" | "W" => 8,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1 << 40,
        _ => return None,
    };
    Some((number * unit as f64) as u64)
}

impl RuleContext<'_> {
    /// Whether the run was started with an option of the runtime.
    #[must_use]
    pub fn has_argument(&self, option: &str) -> bool {
        self.log
            .info
            .runtime_options()
            .iter()
            .any(|word| word == option)
    }

    /// The value of the last option that begins with `prefix`, such as `256k` of `-A256k`.
    #[must_use]
    pub fn option_value(&self, prefix: &str) -> Option<String> {
        let is_number = |value: &&str| value.starts_with(|letter: char| letter.is_ascii_digit());
        let all = self.log.info.runtime_options();
        let values = all.iter().rev();
        let mut values = values.filter_map(|word| word.strip_prefix(prefix).filter(is_number));
        values.next().map(str::to_owned)
    }

    /// The most that the heap may have (`-M`), if there is a limit: as the runtime says, which
    /// knows options that are compiled into the program too, else as the arguments say.
    #[must_use]
    pub fn heap_limit_bytes(&self) -> Option<u64> {
        let told = self.log.info.process().heap;
        let told = told.and_then(|heap| heap.max_heap_bytes);
        let said = || option_bytes(&self.option_value("-M")?);
        told.or_else(said)
    }

    /// The GHC as major and minor version; `None` if the log does not name it.
    #[must_use]
    pub fn ghc(&self) -> Option<(u32, u32)> {
        self.log.info.process().ghc.as_deref().map(version)
    }

    /// How many capabilities ran threads at a time, on average over the time in which any did:
    /// 1 if the log does not tell.
    #[must_use]
    pub fn parallelism(&self) -> f64 {
        self.times.mean_parallelism().unwrap_or(1.0)
    }

    /// Whether advice that names these options makes sense for the run: it does not have them
    /// or better ones already, its GHC knows them, and its runtime can do what they ask for.
    #[must_use]
    pub fn suits(&self, flags: &str) -> bool {
        let mut flags = flags.split([' ', ',']).filter(|flag| !flag.is_empty());
        flags.all(|flag| self.suits_one(flag))
    }

    fn suits_one(&self, flag: &str) -> bool {
        let knows = |first| self.ghc().is_none_or(|ghc| ghc >= first);
        let bytes = |prefix: &str| flag.strip_prefix(prefix).and_then(option_bytes);
        if self.has_argument(flag) && flag != "-l" && flag != "-p" {
            return false;
        }
        if let Some(area) = bytes("-A") {
            let is_larger = area as f64 >= self.allocation_area_bytes() as f64 * LARGER;
            // The runtime refuses to start with areas that are more than the heap may be.
            let all = area.saturating_mul(self.caps).saturating_mul(ROOM);
            return is_larger && self.heap_limit_bytes().is_none_or(|limit| all <= limit);
        }
        if let Some(factor) = flag
            .strip_prefix("-F")
            .and_then(|text| text.parse::<f64>().ok())
        {
            let current = self.old_generation_factor();
            // A limit of the heap makes the runtime lower the factor itself.
            return factor != current && (factor < current || self.option_value("-M").is_none());
        }
        if let Some(caps) = flag.strip_prefix("-N") {
            // Who has chosen a number knows how many cores there are.
            let same = match caps {
                "" => self.caps > 1,
                caps => caps.parse() == Ok(self.caps),
            };
            return !self.is_not_threaded() && !same;
        }
        match flag {
            "-qg" | "-qg1" => self.collects_in_parallel(),
            "--nonmoving-gc" => self.can_be_nonmoving() && knows(NONMOVING),
            "--copying-gc" => self.is_nonmoving(),
            "-I0" | "-I10" => !self.is_not_threaded(),
            "-hT" => !self.has_profile_by(Breakdown::ClosureType),
            "-hi" => knows(INFO_TABLES) && !self.has_profile_by(Breakdown::InfoTable),
            _ if flag.starts_with("-Iw") => !self.is_not_threaded() && knows(NONMOVING),
            _ if flag.starts_with("-qn") => self.collects_in_parallel() && knows(QN),
            _ => true,
        }
    }

    /// Whether several threads collect, as far as the options tell.
    fn collects_in_parallel(&self) -> bool {
        self.caps > 1 && !self.is_not_threaded() && !self.has_argument("-qg")
    }

    /// Whether the nonmoving collector can run: it needs an old generation that is copied, and
    /// takes no censuses.
    fn can_be_nonmoving(&self) -> bool {
        let excludes = |word: &String| word == "-G1" || word == "-c" || word.starts_with("-h");
        let excluded = self.log.info.runtime_options().iter().any(excludes);
        // What it leaves in place counts, where the heap has a limit.
        let is_limited = self.heap_limit_bytes().is_some();
        !self.is_nonmoving() && !self.is_not_threaded() && !excluded && !is_limited
    }

    /// Whether the log has a heap profile of that kind.
    #[must_use]
    pub fn has_profile_by(&self, breakdown: Breakdown) -> bool {
        let mut all = self.log.heap().iter();
        all.any(|profile| profile.kind.breakdown == breakdown)
    }

    /// The larger allocation areas that are worth a trial, smallest first.
    #[must_use]
    pub fn larger_areas(&self) -> Vec<&'static str> {
        let suits = |flag: &&'static str| self.suits(flag);
        AREAS.into_iter().filter(suits).collect()
    }

    /// The finding with the advice that makes sense for the run, at most three pieces of it.
    pub(crate) fn suited(&self, mut finding: Finding) -> Finding {
        let suits = |flag: &str| self.suits(flag);
        let is_kept = |flags: Option<&str>| flags.is_none_or(suits);
        finding
            .tries
            .retain(|attempt| is_kept(attempt.flag.as_deref()));
        finding.tries.truncate(MOST_TRIES);
        let names_area =
            |one: &&mut Try| one.flag.as_ref().is_some_and(|flag| flag.starts_with("-A"));
        for attempt in finding.tries.iter_mut().filter(names_area) {
            let area = format::bytes(self.allocation_area_bytes());
            attempt.text = format!("{} The allocation area is {area} now.", attempt.text).into();
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_runtime_does() {
        for (text, bytes) in [
            ("1000000", Some(1_000_000)),
            ("512w", Some(4096)),
            ("256K", Some(256 << 10)),
            ("1.5m", Some(3 << 19)),
            ("2g", Some(2 << 30)),
            ("4x", None),
            ("", None),
        ] {
            assert_eq!(option_bytes(text), bytes, "{text}");
        }
    }
}
