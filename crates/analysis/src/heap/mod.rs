//! Heap profiles (`+RTS -hT`, `-hi`, `-hc`, …) of a log.
//!
//! A [`HeapProfile`] is a series of censuses, each with the bytes per band. A band is what the runtime gives a
//! label: a type, an info table, a cost centre stack. The [`collect`] module builds profiles from events.

pub mod closures;
pub mod collect;
pub mod cost;
pub mod groups;
pub mod growth;
mod label_explanations;
pub mod memory;
pub mod names;
pub mod ranking;
pub(crate) mod values;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::diagnostics::{Diagnostic, Fact};
use eventlog::hash::SeededState;
use eventlog::ids::{CostCentreId, Nanos};
use model::census::{BandId, Censuses};
use model::time::Interval;

/// Criterion by which a heap profile is broken down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Breakdown {
    /// `-hc`: allocating cost centre stack.
    CostCentreStack,
    /// `-hm`: allocating module.
    Module,
    /// `-hd`: closure description.
    ClosureDescription,
    /// `-hy`: type of the value.
    Type,
    /// `-hr`: retainer set.
    Retainer,
    /// `-hb`: phase of life (lag, use, drag or void).
    Biography,
    /// `-hT`: closure type.
    ClosureType,
    /// `-hi`: info table.
    InfoTable,
    /// `-he`: era of the allocation.
    Era,
    /// Not in the log, or an unknown number.
    #[default]
    Unknown,
}

/// Runtime flag and display name of each breakdown.
const WORDS: [(Breakdown, &str, &str); 10] = [
    (Breakdown::CostCentreStack, "-hc", "cost-centre stack"),
    (Breakdown::Module, "-hm", "module"),
    (Breakdown::ClosureDescription, "-hd", "closure description"),
    (Breakdown::Type, "-hy", "type"),
    (Breakdown::Retainer, "-hr", "retainer set"),
    (Breakdown::Biography, "-hb", "biography"),
    (Breakdown::ClosureType, "-hT", "closure type"),
    (Breakdown::InfoTable, "-hi", "info table"),
    (Breakdown::Era, "-he", "era"),
    (Breakdown::Unknown, "unknown", "label"),
];

impl Breakdown {
    /// Returns the breakdown for its number in `HEAP_PROF_BEGIN` (`HeapProfBreakdown` in GHC).
    pub const fn of_number(number: u32) -> Self {
        match number {
            1 => Self::CostCentreStack,
            2 => Self::Module,
            3 => Self::ClosureDescription,
            4 => Self::Type,
            5 => Self::Retainer,
            6 => Self::Biography,
            7 => Self::ClosureType,
            8 => Self::InfoTable,
            9 => Self::Era,
            _ => Self::Unknown,
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        let found = WORDS.iter().find(|(breakdown, ..)| *breakdown == self);
        found.map_or(("unknown", "label"), |&(_, flag, words)| (flag, words))
    }

    /// Returns the runtime flag, such as `-hT`; `unknown` for an unknown breakdown.
    pub fn flag(self) -> &'static str {
        self.words().0
    }

    /// Returns the display name of a band's kind, such as `closure type`.
    pub fn what(self) -> &'static str {
        self.words().1
    }
}

/// Contents of `HEAP_PROF_BEGIN`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileKind {
    /// Criterion by which bands are formed.
    pub breakdown: Breakdown,
    /// Census interval in ns (`-i`); 0 for a census at each collection (`-i0`).
    pub period_ns: u64,
    /// Filters that restrict the profile: name, and what passes. Data that does not pass is in no band.
    pub filters: Vec<(Cow<'static, str>, String)>,
}

/// Label of a band in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// Text; in a profile by info table, its address, as `0x4012f8`.
    Text(Cow<'a, str>),
    /// Cost centre stack, innermost first; the empty stack is `MAIN`.
    Stack(Vec<CostCentreId>),
    /// No label of the log: the sum of many small bands, merged for lack of memory.
    Rest,
}

/// Bytes, inline up to 24: enough for addresses, of which a census by info table may have 50,000.
type ShortBytes = SmallVec<[u8; 24]>;

/// One heap profile of a log.
#[derive(Clone, Debug, Default)]
pub struct HeapProfile {
    /// Breakdown, interval and filters.
    pub kind: ProfileKind,
    /// Censuses, shared by everything that shows them.
    pub censuses: Arc<Censuses>,
    /// Number that the runtime gives each census; an era in profiles by biography.
    eras: Vec<u64>,
    /// Whether bands are cost centre stacks.
    stacks: bool,
    /// Whether censuses lack times. Profiles that are restricted to a phase of life, but broken down by anything
    /// else (`-hc -hbdrag`), are written at the end of the run, without the times of their censuses.
    untimed: bool,
    /// Encoded labels: text, or cost centre numbers.
    labels: IndexSet<ShortBytes, SeededState>,
    /// Band of the merged small bands, and their number.
    rest: Option<(BandId, u64)>,
    /// Largest number of values in one census beyond the limit of bands.
    over_limit: u64,
}

impl HeapProfile {
    /// Returns the censuses for writing.
    fn censuses_mut(&mut self) -> &mut Censuses {
        Arc::make_mut(&mut self.censuses)
    }

    /// Returns whether censuses have times, and can be shown on a time axis.
    ///
    /// Otherwise only their numbers are known.
    pub const fn is_timed(&self) -> bool {
        !self.untimed
    }

    /// Returns whether bands are cost centre stacks.
    pub const fn has_stacks(&self) -> bool {
        self.stacks
    }

    /// Returns the number that the runtime gives a census.
    pub fn era(&self, census: u32) -> Option<u64> {
        self.eras.get(census as usize).copied()
    }

    /// Returns the label of a band; `None` if there is no such band.
    pub fn label(&self, band: BandId) -> Option<Label<'_>> {
        if self.rest.is_some_and(|(rest, _)| rest == band) {
            return Some(Label::Rest);
        }
        // The merged band has no entry in `labels`.
        let before = usize::from(self.rest.is_some_and(|(rest, _)| rest < band));
        let bytes = self.labels.get_index(band.index().checked_sub(before)?)?;
        Some(if self.stacks {
            let (ids, _) = bytes.as_chunks::<4>();
            let ids = ids.iter().map(|id| CostCentreId(u32::from_be_bytes(*id)));
            Label::Stack(ids.collect())
        } else {
            Label::Text(String::from_utf8_lossy(bytes))
        })
    }

    /// Returns the bands that are not merged into another, in log order.
    pub fn bands(&self) -> impl Iterator<Item = BandId> + '_ {
        let all = (0..self.censuses.bands() as u32).map(BandId);
        all.filter(|&band| self.censuses.folded_into(band).is_none())
    }

    /// Returns the number of small bands merged for lack of memory.
    pub fn folded(&self) -> u64 {
        self.over_limit + self.rest.map_or(0, |(_, bands)| bands)
    }

    /// Returns the indices of the censuses in a range, or of all; without times, all censuses are in every range.
    pub fn censuses_in(&self, range: Option<Interval>, log_end: Nanos) -> Range<u32> {
        self.censuses
            .census_range(range.filter(|_| self.is_timed()), log_end)
    }

    /// Returns the time of a census, if known.
    pub fn time(&self, census: u32) -> Option<Nanos> {
        let time = self.censuses.times().get(census as usize);
        time.copied().filter(|_| self.is_timed())
    }
}

/// Heap profiles of a log, in the order of their first event.
#[derive(Clone, Debug, Default)]
pub struct HeapProfiles {
    profiles: Vec<HeapProfile>,
}

impl HeapProfiles {
    /// Returns the profiles with at least one census.
    pub fn iter(&self) -> impl Iterator<Item = &HeapProfile> {
        self.profiles
            .iter()
            .filter(|profile| !profile.censuses.is_empty())
    }

    /// Returns a profile by its index in [`iter`](Self::iter).
    pub fn get(&self, number: usize) -> Option<&HeapProfile> {
        self.iter().nth(number)
    }

    /// Returns the profile that a link selects by its index: the first one if there is none with that index.
    pub fn selected(&self, number: u32) -> Option<&HeapProfile> {
        self.get(number as usize).or_else(|| self.iter().next())
    }

    /// Returns whether no profile has a census.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns diagnostics about merged bands and capped sizes.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let folded = self.iter().map(HeapProfile::folded).sum();
        let folded = (folded > 0).then_some(Fact::HeapBandsFolded(folded));
        let capped = self.iter().any(|profile| profile.censuses.is_capped());
        let capped = capped.then_some(Fact::HeapBytesCapped);
        folded.into_iter().chain(capped).map(Diagnostic::new)
    }
}
