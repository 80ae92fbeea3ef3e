//! The heap profiles of a log, and how a log comes to have some.

use serde::{Deserialize, Serialize};

use super::choice::{HeapChoice, HeapLog};
use analysis::heap::{Breakdown, HeapProfile};
use eventlog::ids::{Duration, Nanos};
use scene::format;

/// One profile of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// By what it is broken down.
    pub breakdown: Breakdown,
    /// How often a census was to be taken; 0 if at each collection (`-i0`).
    pub period_ns: u64,
    /// Whether it was read from a text, which does not always tell how often.
    pub from_text: bool,
    /// What it is limited to, in words, each with what is left out.
    pub filters: Vec<String>,
    /// How many censuses it has.
    pub censuses: u32,
    /// How many bands.
    pub bands: u32,
    /// When the first and the last census were, if that is known.
    pub span: Option<(Nanos, Nanos)>,
    /// How many small bands were put together, as there was no memory for them.
    pub folded: u64,
    /// Whether the log told more bytes than there can be.
    pub capped: bool,
    /// Which part of the bytes is in bands of which only an address is known, of
    /// a log that is read.
    pub unnamed: f64,
}

/// What heap profiles a log has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfilesQuery;

impl ProfilesQuery {
    /// The profiles of a log, which may have been read from a text.
    #[must_use]
    pub fn profiles(&self, log: HeapLog<'_>, from_text: bool) -> Vec<ProfileInfo> {
        let profiles = (0..).zip(log.recording.heap().iter());
        let info = |(number, profile)| ProfileInfo {
            from_text,
            unnamed: unnamed(log, number, profile).unwrap_or_default(),
            ..ProfileInfo::of(profile)
        };
        profiles.map(info).collect()
    }
}

/// Which part of the bytes of a profile by info table has no name.
fn unnamed(log: HeapLog<'_>, number: u32, profile: &HeapProfile) -> Option<f64> {
    if profile.kind.breakdown != Breakdown::InfoTable || !log.recording.is_settled() {
        return None;
    }
    let choice = HeapChoice {
        profile: number,
        ..HeapChoice::default()
    };
    let chosen = log.chosen(&choice, None)?;
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
    fn of(profile: &HeapProfile) -> Self {
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

    /// What it is called: `by closure type (-hT)`.
    #[must_use]
    pub fn title(&self) -> String {
        match self.breakdown {
            Breakdown::Unknown => "by what the log does not name".to_owned(),
            breakdown => format!("by {} ({})", breakdown.what(), breakdown.flag()),
        }
    }

    /// What there is to know of it beside its name: how often, how many.
    #[must_use]
    pub fn facts(&self) -> String {
        let censuses = format::many(self.censuses.into(), "census");
        let bands = format::many(self.bands.into(), "band");
        let period = match self.period_ns {
            0 if self.from_text => String::new(),
            0 => " at each collection".to_owned(),
            period => format!(
                ", at collections, {} of CPU time apart at least",
                format::duration(Duration(period))
            ),
        };
        format!("{censuses}{period}, {bands}")
    }

    /// What is not as one would expect, in sentences.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let folded = (self.folded > 0).then(|| {
            let bands = format::count(self.folded);
            format!("The {bands} smallest bands are put together, as memory did not suffice for each of them.")
        });
        let capped = self.capped.then(|| {
            "The log tells of more bytes than a machine can have: they are left out.".to_owned()
        });
        let filters = self.filters.iter().cloned();
        let unnamed = (self.unnamed >= 0.005).then(|| {
            let share = format::fraction(self.unnamed);
            format!("{share} of the bytes are of info tables that the log does not describe: they are shown with their address. The program that wrote the log names them: drop it on the page, or give it with --symbols.")
        });
        filters.chain(folded).chain(capped).chain(unnamed).collect()
    }
}

/// What a filter lets through.
fn left_out(what: &str, text: &str) -> String {
    format!("Limited to {what} {text}: what is of another {what} is in no band.")
}

/// A way to get a heap profile: the flags of `+RTS`, what it shows, and what the
/// program has to be compiled with.
pub type Way = (&'static str, &'static str, &'static str);

/// How a program that was compiled by a version of GHC writes a heap profile
/// into its log; of an unknown version all ways.
#[must_use]
pub fn ways(ghc: Option<&str>) -> Vec<Way> {
    let version = ghc.and_then(|text| {
        let mut parts = text.split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    let since = |from: (u32, u32)| version.is_none_or(|version| version >= from);
    let all: [((u32, u32), Way); 5] = [
        (
            (8, 6),
            (
                "-l -hT",
                "by closure type",
                "any program, with no further flag",
            ),
        ),
        (
            (9, 2),
            (
                "-l -hi",
                "by info table, with the source place",
                "-finfo-table-map -fdistinct-constructor-tables",
            ),
        ),
        (
            (8, 2),
            (
                "-l -hc",
                "by cost-centre stack",
                "-prof -fprof-auto (or -fprof-late, since GHC 9.4)",
            ),
        ),
        (
            (8, 2),
            (
                "-l -hy, -hd, -hm, -hr, -hb",
                "by type, closure description, module, retainer set, biography",
                "-prof",
            ),
        ),
        ((9, 10), ("-l -he", "by era", "-prof")),
    ];
    let there = all.into_iter().filter(|(from, _)| since(*from));
    there.map(|(_, way)| way).collect()
}

/// Whether a version of GHC writes heap profiles into logs at all.
#[must_use]
pub fn is_too_old(ghc: Option<&str>) -> bool {
    ways(ghc).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_by_version() {
        let flags = |ghc| -> Vec<&str> { ways(ghc).into_iter().map(|way| way.0).collect() };
        assert_eq!(flags(None).len(), 5);
        assert!(is_too_old(Some("7.10.3")));
        assert!(!flags(Some("9.0.2")).contains(&"-l -hi"));
        assert!(flags(Some("9.2.1")).contains(&"-l -hi"));
        assert!(!flags(Some("9.8.4")).contains(&"-l -he"));
        assert!(flags(Some("9.10.3")).contains(&"-l -he"));
    }
}
