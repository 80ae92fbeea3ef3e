//! Heap profiles (`+RTS -hT`, `-hi`, `-hc`, …): what a log says of them.
//!
//! A [`HeapProfile`] has censuses, each with the bytes of its bands; a band is
//! what the runtime gives a label: a type, an info table, a cost-centre stack.
//! The [`collect`] module reads them from the events.

pub mod closures;
pub mod collect;
pub mod cost;
pub mod groups;
pub mod growth;
pub mod held;
pub mod names;
pub mod ranking;
mod sentences;
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

/// By what a heap profile is broken down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Breakdown {
    /// `-hc`: the cost-centre stack that allocated it.
    CostCentreStack,
    /// `-hm`: the module that allocated it.
    Module,
    /// `-hd`: the description of the closure.
    ClosureDescription,
    /// `-hy`: its type.
    Type,
    /// `-hr`: its retainer set.
    Retainer,
    /// `-hb`: what it lives for: lag, use, drag, void.
    Biography,
    /// `-hT`: the type of closure.
    ClosureType,
    /// `-hi`: its info table.
    InfoTable,
    /// `-he`: the era in which it was allocated.
    Era,
    /// The log does not say, or says what is not known.
    #[default]
    Unknown,
}

/// What a breakdown is called on the command line and by people.
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
    /// By the number of `HEAP_PROF_BEGIN` (`HeapProfBreakdown` of the runtime).
    #[must_use]
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

    /// The flag of the runtime that asks for it, such as `-hT`; `unknown` if
    /// that is not known.
    #[must_use]
    pub fn flag(self) -> &'static str {
        self.words().0
    }

    /// What a band is, in words, such as `closure type`.
    #[must_use]
    pub fn what(self) -> &'static str {
        self.words().1
    }
}

/// What `HEAP_PROF_BEGIN` says of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileKind {
    /// By what it is broken down.
    pub breakdown: Breakdown,
    /// How often a census is taken (`-i`), in nanoseconds; 0 if at each
    /// collection (`-i0`).
    pub period_ns: u64,
    /// What it is limited to: the name of each filter with what it lets through.
    /// What it does not let through is in no band.
    pub filters: Vec<(Cow<'static, str>, String)>,
}

/// What a band is called in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// A text; of a profile by info table its address, as `0x4012f8`.
    Text(Cow<'a, str>),
    /// A cost-centre stack, innermost first; an empty one is `MAIN`.
    Stack(Vec<CostCentreId>),
    /// Not a label of the log: the sum of many small bands, for which there was
    /// no memory.
    Rest,
}

/// Bytes that stand in the table itself if they are few, as those of an address
/// do: a profile by info table looks at 50,000 of them for each census.
type ShortBytes = SmallVec<[u8; 24]>;

/// One heap profile of a log.
#[derive(Clone, Debug, Default)]
pub struct HeapProfile {
    /// What it is about.
    pub kind: ProfileKind,
    /// Its censuses, once for all that shows them.
    pub censuses: Arc<Censuses>,
    /// The number that the runtime gives to each census: an era, in profiles by
    /// biography.
    eras: Vec<u64>,
    /// Whether bands are cost-centre stacks.
    stacks: bool,
    /// Whether all censuses have a time of their own. Profiles by anything but
    /// biography that are limited to a part of lives (`-hc -hbdrag`) are written at
    /// the end of the run, and do not say when their censuses were.
    untimed: bool,
    /// The bytes of the labels, or of the numbers of the cost centres.
    labels: IndexSet<ShortBytes, SeededState>,
    /// The band of the rest, and how many bands it is made of.
    rest: Option<(BandId, u64)>,
    /// How many bands beyond the most there may be were in one census.
    over: u64,
}

impl HeapProfile {
    /// Its censuses, to write more of them.
    fn censuses_mut(&mut self) -> &mut Censuses {
        Arc::make_mut(&mut self.censuses)
    }

    /// Whether its censuses have a time, so that they can be shown on an axis of
    /// time. Otherwise there are only their numbers.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        !self.untimed
    }

    /// Whether its bands are cost-centre stacks.
    #[must_use]
    pub const fn has_stacks(&self) -> bool {
        self.stacks
    }

    /// The number that the runtime gives to a census.
    #[must_use]
    pub fn era(&self, census: u32) -> Option<u64> {
        self.eras.get(census as usize).copied()
    }

    /// What a band is called in the log; `None` for a band that there is not.
    #[must_use]
    pub fn label(&self, band: BandId) -> Option<Label<'_>> {
        if self.rest.is_some_and(|(rest, _)| rest == band) {
            return Some(Label::Rest);
        }
        // The band of the rest has no label.
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

    /// All bands that hold something of their own, in the order in which the log
    /// names them.
    pub fn bands(&self) -> impl Iterator<Item = BandId> + '_ {
        let all = (0..self.censuses.bands() as u32).map(BandId);
        all.filter(|&band| self.censuses.folded_into(band).is_none())
    }

    /// How many small bands were put together, as there was no memory for them.
    #[must_use]
    pub fn folded(&self) -> u64 {
        self.over + self.rest.map_or(0, |(_, bands)| bands)
    }

    /// The censuses of a range of the log, or all. Those of a profile without
    /// times are all in every range.
    #[must_use]
    pub fn places(&self, range: Option<Interval>, log_end: Nanos) -> Range<u32> {
        self.censuses
            .places(range.filter(|_| self.is_timed()), log_end)
    }

    /// When a census was, if that is known.
    #[must_use]
    pub fn time(&self, census: u32) -> Option<Nanos> {
        let time = self.censuses.times().get(census as usize);
        time.copied().filter(|_| self.is_timed())
    }
}

/// The heap profiles of a log, in the order in which they begin.
#[derive(Clone, Debug, Default)]
pub struct HeapProfiles {
    profiles: Vec<HeapProfile>,
}

impl HeapProfiles {
    /// All of them that have a census.
    pub fn iter(&self) -> impl Iterator<Item = &HeapProfile> {
        self.profiles
            .iter()
            .filter(|profile| !profile.censuses.is_empty())
    }

    /// One of them, by its place among those that have a census.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&HeapProfile> {
        self.iter().nth(number)
    }

    /// Whether there is no census.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// What is wrong or odd about them.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let folded = self.iter().map(HeapProfile::folded).sum();
        let folded = (folded > 0).then_some(Fact::HeapBandsFolded(folded));
        let capped = self.iter().any(|profile| profile.censuses.is_capped());
        let capped = capped.then_some(Fact::HeapBytesCapped);
        folded.into_iter().chain(capped).map(Diagnostic::new)
    }
}
