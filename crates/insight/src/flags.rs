//! Runtime options: those of the run, and whether advising another one makes sense.
//!
//! The log has the command line and the environment, and so `GHCRTS`. It does not have compiled-in options
//! (`-with-rtsopts`), except for those that other events reveal.

use std::collections::BTreeSet;

use crate::collector::version;
use crate::context::RuleContext;
use crate::finding::{Advice, Finding};
use analysis::heap::Breakdown;
use analysis::process::Change;
use model::format;
use model::lane::Lane;

/// More pieces of advice than this would not be read.
const MAX_ADVICE: usize = 3;
/// An advised allocation area is at least this many times the current one.
const LARGER: f64 = 1.5;
/// Allocation areas to advise, with their bytes: from the default since GHC 9.2 up to where more gained nothing in
/// the programs of `docs/findings.md`.
const AREAS: [(&str, u64); 3] = [("-A4m", 4 << 20), ("-A16m", 16 << 20), ("-A64m", 64 << 20)];
/// Time to use a byte of memory for the first time, in nanoseconds. Two short programs took 1.4 ns for each byte of a
/// 16 MiB area, and 0.7 ns of a 64 MiB area.
pub(crate) const FIRST_USE_NS: u64 = 1;
/// All allocation areas together may take at most `1 / ROOM` of a limited heap.
const ROOM: u64 = 2;
/// First GHC version with `-qn`.
const QN: (u32, u32) = (8, 2);
/// First GHC version with the nonmoving collector, and with `-Iw`.
const NONMOVING: (u32, u32) = (8, 10);
/// First GHC version with heap profiles by info table.
const INFO_TABLES: (u32, u32) = (9, 2);

/// Parses the size of an option, such as `64m` of `-A64m`, into bytes. Without a unit it is in bytes (GHC's
/// `rts/RtsFlags.c`, `decodeSize`).
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
    /// Returns whether the run had exactly this runtime option.
    pub fn has_argument(&self, option: &str) -> bool {
        self.log
            .info
            .runtime_options()
            .iter()
            .any(|word| word == option)
    }

    /// Returns the value of the last option that starts with `prefix` and has a numeric value, such as `256k` of
    /// `-A256k`.
    pub fn option_value(&self, prefix: &str) -> Option<String> {
        let is_number = |value: &&str| value.starts_with(|letter: char| letter.is_ascii_digit());
        let all = self.log.info.runtime_options();
        let values = all.iter().rev();
        let mut values = values.filter_map(|word| word.strip_prefix(prefix).filter(is_number));
        values.next().map(str::to_owned)
    }

    /// Returns the size of a stack chunk (`-kc`).
    pub fn stack_chunk_bytes(&self) -> u64 {
        const DEFAULT: u64 = 32 << 10;
        let option = self.option_value("-kc");
        option.as_deref().and_then(option_bytes).unwrap_or(DEFAULT)
    }

    /// Returns the heap limit (`-M`), if there is one: as logged by the runtime, which includes compiled-in
    /// options, else from the arguments.
    pub fn heap_limit_bytes(&self) -> Option<u64> {
        let logged = self.log.info.process().heap;
        let logged = logged.and_then(|heap| heap.max_heap_bytes);
        let from_arguments = || option_bytes(&self.option_value("-M")?);
        logged.or_else(from_arguments)
    }

    /// Returns the major and minor version of GHC; `None` if the log does not have it.
    pub fn ghc(&self) -> Option<(u32, u32)> {
        self.log.info.process().ghc.as_deref().map(version)
    }

    /// Returns the mean number of capabilities running threads, over the time in which any did; 1 if unknown.
    pub fn parallelism(&self) -> f64 {
        self.times.mean_parallelism().unwrap_or(1.0)
    }

    /// Returns the mean number of capabilities that ran threads or could have, over the time in which any ran: one that
    /// is idle though a thread is ready has no core, or wakes late.
    pub fn wanted_parallelism(&self) -> f64 {
        let all = self.times.all_caps();
        let wanted = all.running_ns.saturating_add(all.idle_work_available_ns);
        self.parallelism() * wanted as f64 / all.running_ns.max(1) as f64
    }

    /// Returns whether advising these options makes sense: the run does not have them or better ones already, its
    /// GHC supports them, and its runtime can apply them.
    pub fn is_suitable(&self, flags: &str) -> bool {
        let mut flags = flags.split([' ', ',']).filter(|flag| !flag.is_empty());
        flags.all(|flag| self.is_suitable_flag(flag))
    }

    fn is_suitable_flag(&self, flag: &str) -> bool {
        let knows = |first| self.ghc().is_none_or(|ghc| ghc >= first);
        let bytes = |prefix: &str| flag.strip_prefix(prefix).and_then(option_bytes);
        if self.has_argument(flag) && flag != "-l" && flag != "-p" {
            return false;
        }
        if let Some(area) = bytes("-A") {
            let now = self.allocation_area_bytes();
            let differs = area as f64 >= now as f64 * LARGER || now as f64 >= area as f64 * LARGER;
            // The runtime refuses to start if the areas exceed the heap limit.
            let all = area.saturating_mul(self.caps).saturating_mul(ROOM);
            return differs && self.heap_limit_bytes().is_none_or(|limit| all <= limit);
        }
        if let Some(chunk) = bytes("-kc") {
            return chunk > self.stack_chunk_bytes();
        }
        if let Some(factor) = flag
            .strip_prefix("-F")
            .and_then(|text| text.parse::<f64>().ok())
        {
            let current = self.old_generation_factor();
            // With a heap limit the runtime lowers the factor itself.
            return factor != current && (factor < current || self.option_value("-M").is_none());
        }
        if let Some(caps) = flag.strip_prefix("-N") {
            // Plain `-N` is no advice to a user who already chose a number of capabilities.
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

    /// Returns whether several threads collect, as far as the options show.
    pub(crate) fn collects_in_parallel(&self) -> bool {
        self.caps > 1 && !self.is_not_threaded() && !self.has_argument("-qg")
    }

    /// Returns whether the nonmoving collector could be used. It needs a copied old generation, and cannot take
    /// heap censuses.
    fn can_be_nonmoving(&self) -> bool {
        let excludes = |word: &String| word == "-G1" || word == "-c" || word.starts_with("-h");
        let excluded = self.log.info.runtime_options().iter().any(excludes);
        // It does not free some garbage at once, which matters with a heap limit.
        let is_limited = self.heap_limit_bytes().is_some();
        !self.is_nonmoving() && !self.is_not_threaded() && !excluded && !is_limited
    }

    /// Returns whether the log has a heap profile with this breakdown.
    pub fn has_profile_by(&self, breakdown: Breakdown) -> bool {
        let mut all = self.log.heap().iter();
        all.any(|profile| profile.kind.breakdown == breakdown)
    }

    /// Returns the larger allocation areas that make sense for the run, smallest first, with their bytes.
    pub(crate) fn larger_areas(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let now = self.allocation_area_bytes();
        AREAS
            .into_iter()
            .filter(move |(flag, bytes)| *bytes > now && self.is_suitable(flag))
    }

    /// Returns whether the program sets the number of capabilities itself (`setNumCapabilities`): one is disabled, or
    /// is created only after a thread has run.
    pub fn sets_capabilities(&self) -> bool {
        let store = &self.log.store;
        let first_runs = store.account().caps().iter().filter_map(|cap| {
            let runs = &store.cap(*cap)?.runs;
            (!runs.is_empty()).then(|| runs.start(0))
        });
        let first_run = first_runs.min().unwrap_or(u64::MAX);
        let mut created = BTreeSet::new();
        let changes = self.log.info.process().capability_changes;
        changes.iter().any(|one| match one.change {
            Change::Enabled | Change::Disabled => true,
            // A log that is begun again has the creations again.
            Change::Created => created.insert(one.cap) && one.at.0 > first_run,
            Change::Deleted => false,
        })
    }

    /// Changes advice on `-N` if the program sets the number of capabilities itself: the option has no effect then.
    pub(crate) fn adapt_advice_on_capabilities(&self, findings: &mut [Finding]) {
        if !self.sets_capabilities() {
            return;
        }
        for finding in findings {
            for advice in &mut finding.tries {
                if let Some(adapted) = for_own_number(advice) {
                    *advice = adapted;
                }
            }
        }
    }

    /// Drops advice that does not make sense for the run, and keeps at most three pieces of it.
    pub(crate) fn without_unsuitable_advice(&self, mut finding: Finding) -> Finding {
        let is_suitable = |flag: &str| self.is_suitable(flag);
        let is_kept = |flags: Option<&str>| flags.is_none_or(is_suitable);
        finding
            .tries
            .retain(|advice| is_kept(advice.flag.as_deref()));
        finding.tries.truncate(MAX_ADVICE);
        let names_area =
            |one: &&mut Advice| one.flag.as_ref().is_some_and(|flag| flag.starts_with("-A"));
        for advice in finding.tries.iter_mut().filter(names_area) {
            let area = format::bytes(self.allocation_area_bytes());
            advice.text = format!("{} The allocation area is {area} now.", advice.text).into();
        }
        finding
    }
}

/// Returns advice on `-N` for a program that calls `setNumCapabilities`; `None` for other advice.
fn for_own_number(advice: &Advice) -> Option<Advice> {
    let number = advice.flag.as_deref()?.strip_prefix("-N")?;
    let number = match number {
        "" => "the result of getNumProcessors",
        number => number,
    };
    let text = format!(
        "Call setNumCapabilities with {number}: the program calls it, so that -N has no effect. {}",
        advice.text
    );
    Some(Advice {
        price: advice.price.clone(),
        ..Advice::code(text)
    })
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
