//! List of the heap profiles in a log, and instructions for producing some.

use serde::{Deserialize, Serialize};

use super::choice::{HeapChoice, HeapLog};
use analysis::heap::{Breakdown, HeapProfile};
use eventlog::ids::Nanos;
use scene::format;

/// Properties of one heap profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// Property by which the heap is broken down.
    pub breakdown: Breakdown,
    /// Minimum time between censuses; 0 for a census at each collection (`-i0`).
    pub period_ns: u64,
    /// Whether the profile is from a textual `.hp` file, which may lack the interval.
    pub from_text: bool,
    /// Sentences on the filters of the profile.
    pub filters: Vec<String>,
    /// Number of censuses read so far.
    pub censuses: u32,
    /// Number of bands, without grouping.
    pub bands: u32,
    /// Times of the first and the last census; `None` if the censuses have no times.
    pub span: Option<(Nanos, Nanos)>,
    /// Number of small bands that were merged for lack of memory.
    pub folded: u64,
    /// Whether the log had impossibly large sizes, which are omitted.
    pub capped: bool,
    /// Fraction of the bytes in bands known only by address; 0 until the log is fully read.
    pub unnamed: f64,
}

/// Query for the heap profiles of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfilesQuery;

impl ProfilesQuery {
    /// Returns the profiles of a log; `from_text` marks a textual `.hp` file.
    pub fn profiles(&self, log: HeapLog<'_>, from_text: bool) -> Vec<ProfileInfo> {
        let profiles = (0..).zip(log.recording.heap().iter());
        let info = |(number, profile)| ProfileInfo {
            from_text,
            unnamed: unnamed(log, number, profile).unwrap_or_default(),
            ..ProfileInfo::from_profile(profile)
        };
        profiles.map(info).collect()
    }
}

/// Returns the unnamed fraction of the bytes in a profile by info table.
fn unnamed(log: HeapLog<'_>, number: u32, profile: &HeapProfile) -> Option<f64> {
    if profile.kind.breakdown != Breakdown::InfoTable || !log.recording.is_finished() {
        return None;
    }
    let choice = HeapChoice {
        profile: number,
        ..HeapChoice::default()
    };
    let chosen = log.select_bands(&choice, None)?;
    let bands = chosen.ranking.bands().iter();
    let (mut all, mut unnamed) = (0_u128, 0_u128);
    for (band, sums) in bands {
        all += sums.bytes;
        if chosen.bands.name(*band) == chosen.bands.key(*band) {
            unnamed += sums.bytes;
        }
    }
    (all > 0).then(|| unnamed as f64 / all as f64)
}

impl ProfileInfo {
    fn from_profile(profile: &HeapProfile) -> Self {
        let last = profile.censuses.len().saturating_sub(1) as u32;
        let filters = profile.kind.filters.iter();
        Self {
            breakdown: profile.kind.breakdown,
            period_ns: profile.kind.period_ns,
            from_text: false,
            filters: filters.map(|(what, text)| left_out(what, text)).collect(),
            censuses: profile.censuses.len() as u32,
            bands: profile.censuses.bands() as u32,
            span: profile.time(0).zip(profile.time(last)),
            folded: profile.folded(),
            capped: profile.censuses.is_capped(),
            unnamed: 0.0,
        }
    }

    /// Returns the title, such as `by closure type (-hT)`.
    pub fn title(&self) -> String {
        match self.breakdown {
            Breakdown::Unknown => "by an unknown breakdown".to_owned(),
            breakdown => format!("by {} ({})", breakdown.what(), breakdown.flag()),
        }
    }

    /// Returns the number and interval of the censuses, and the number of bands.
    pub fn facts(&self) -> String {
        let censuses = format::pluralize(self.censuses.into(), "census");
        let bands = format::pluralize(self.bands.into(), "band");
        let period = match self.period_ns {
            0 if self.from_text => String::new(),
            0 => " at each collection".to_owned(),
            period => format!(
                ", at collections at least {} of CPU time apart",
                format::duration_ns(period)
            ),
        };
        format!("{censuses}{period}, {bands}")
    }

    /// Returns sentences on anything unexpected.
    pub fn remarks(&self) -> Vec<String> {
        let folded = (self.folded > 0).then(|| {
            let bands = format::count(self.folded);
            format!("The {bands} smallest bands are combined to save memory.")
        });
        let capped = self.capped.then(|| {
            "The log contains implausibly large byte counts: they are left out.".to_owned()
        });
        let filters = self.filters.iter().cloned();
        let unnamed = (self.unnamed >= 0.005).then(|| {
            let share = format::fraction(self.unnamed);
            format!("{share} of the bytes belong to info tables that the log does not describe, shown as addresses. For their names, drop the executable of the log on the page, or use --symbols.")
        });
        filters.chain(folded).chain(capped).chain(unnamed).collect()
    }
}

/// Returns a sentence on a filter.
fn left_out(what: &str, text: &str) -> String {
    format!("Limited to {what} {text}: bands exclude data of any other {what}.")
}

/// Recipe for a heap profile: `+RTS` flags, result, and required compiler flags.
pub type ProfilingHint = (&'static str, &'static str, &'static str);

/// Returns the recipes that a GHC version supports; all of them for an unknown version.
pub fn profiling_hints(ghc: Option<&str>) -> Vec<ProfilingHint> {
    let version = ghc.and_then(|text| {
        let mut parts = text.split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    let since = |from: (u32, u32)| version.is_none_or(|version| version >= from);
    let all: [((u32, u32), &str, &str, &str); 6] = [
        (
            (8, 6),
            "-l -hT",
            "by closure type",
            "any program, with no further flag",
        ),
        (
            (9, 2),
            "-l -hi",
            "by info table, with the source place",
            "-finfo-table-map -fdistinct-constructor-tables",
        ),
        (
            (8, 2),
            "-l -hc",
            "by cost-centre stack",
            "-prof -fprof-auto (or -fprof-late, since GHC 9.4)",
        ),
        (
            (8, 2),
            "-l -hy, -hd, -hm",
            "by type, closure description, module",
            "-prof",
        ),
        (
            (8, 10),
            "-l -hr, -hb",
            "by retainer set, biography",
            "-prof",
        ),
        ((9, 10), "-l -he", "by era", "-prof"),
    ];
    let there = all.into_iter().filter(|(from, ..)| since(*from));
    there
        .map(|(_, flags, bands, build)| (flags, bands, build))
        .collect()
}

/// Returns whether a GHC version cannot write heap profiles to an eventlog.
pub fn is_too_old(ghc: Option<&str>) -> bool {
    profiling_hints(ghc).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_by_version() {
        let flags =
            |ghc| -> Vec<&str> { profiling_hints(ghc).into_iter().map(|way| way.0).collect() };
        assert_eq!(flags(None).len(), 6);
        assert!(is_too_old(Some("7.10.3")));
        let retains = |ghc| flags(ghc).iter().any(|flags| flags.contains("-hr"));
        assert!(!retains(Some("8.8.4")) && retains(Some("8.10.7")));
        assert!(!flags(Some("9.0.2")).contains(&"-l -hi"));
        assert!(flags(Some("9.2.1")).contains(&"-l -hi"));
        assert!(!flags(Some("9.8.4")).contains(&"-l -he"));
        assert!(flags(Some("9.10.3")).contains(&"-l -he"));
    }
}
