//! What holds the heap?
//!
//! A heap profile shows what live data consists of. If one band, or a group of related bands, has at least half of
//! the largest census, its name shows where to look. Thunks and byte arrays in profiles by closure type have rules
//! of their own.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::census::Peak;
use super::prelude::*;
use crate::collection_in_range::CollectionInRange;
use crate::threads::median;
use analysis::heap::{Breakdown, HeapProfile, Label};
use model::census::BandId;
use model::sorting::CompactSort;

/// Minimum share of the largest census.
const MIN_SHARE: f64 = 0.50;
/// Share of the heap from which a few kinds of data together count as one structure, and their number.
const NEARLY_ALL: f64 = 0.90;
const KINDS: RangeInclusive<usize> = 3..=5;
/// Minimum share of `MVar`s in the heap for messages that nobody has read.
const MVARS: f64 = 0.05;
/// Minimum share of list cells for Strings, or a long list: their elements, if they are not shared, are a third or more.
const MOSTLY_LISTS: f64 = 0.75;
/// Minimum size; less is not worth a look.
const MIN_BYTES: u64 = 10_000_000;
/// Minimum number of censuses for a statement about growth.
const MIN_CENSUSES: usize = 4;
/// Growth over the last quarter of the censuses, as a share of the maximum, from which the data still grows.
const GROWS: f64 = 0.10;
/// Share of the maximum above which data that no longer changes is kept.
const STAYS: f64 = 0.75;

/// Change from which data is not constant, as a share of its maximum.
const CHANGES: f64 = 0.02;
/// Minimum share of the largest census and size of constant data that should not be copied, and minimum number and median
/// pause of the collections that do.
const MOST: f64 = 0.60;
const MUCH_BYTES: u64 = 30_000_000;
const MIN_COPIES: usize = 3;
const LONG_NS: u64 = 30_000_000;

pub(super) const RULE: Rule = Rule {
    name: "heap-holder",
    question: "What holds the heap?",
    inputs: &[Input::Censuses],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

/// Related bands that are reported together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Unevaluated computations, covered by the rule `unevaluated`.
    Thunks,
    /// Threads with their stacks.
    Threads,
    /// List cells and the characters of strings. Boxed numbers are not included, as they are also fields of
    /// records.
    Lists,
    /// Byte arrays, covered by the rule `pinned-blocks`.
    Bytes,
    /// A single band.
    Band(BandId),
    /// Three to five bands that together are nearly all of the heap.
    Structure(usize),
}

impl Group {
    /// Returns the group of a band. The list constructor is `ghc-prim:GHC.Types.:` in profiles by closure type and
    /// `:` in those by description; profiles by type name lists `[]`.
    fn from_label(breakdown: Breakdown, band: BandId, label: &str) -> Self {
        const CELLS: [&str; 2] = [":", "C#"];
        let is_cell = |name: &str| CELLS.contains(&name);
        let cell = label.rsplit_once("GHC.Types.").map(|(_, name)| name);
        match (breakdown, label) {
            (Breakdown::ClosureType, "STACK" | "TSO") => Self::Threads,
            (Breakdown::ClosureType, "ARR_WORDS") => Self::Bytes,
            (Breakdown::ClosureType, "AP" | "AP_STACK" | "BLACKHOLE") => Self::Thunks,
            (Breakdown::ClosureType, _) if label.starts_with("THUNK") => Self::Thunks,
            (Breakdown::ClosureType, _) if cell.is_some_and(is_cell) => Self::Lists,
            (Breakdown::ClosureDescription, _) if is_cell(label) => Self::Lists,
            (Breakdown::Type, "[]") => Self::Lists,
            _ => Self::Band(band),
        }
    }

    /// Returns the title of a group that needs one in addition to its bands.
    const fn title(self) -> Option<&'static str> {
        match self {
            Self::Threads => Some("Threads"),
            Self::Lists => Some("Lists"),
            Self::Thunks => Some("Thunks"),
            Self::Bytes => Some("Byte arrays"),
            Self::Band(_) => None,
            Self::Structure(3) => Some("Three kinds of data"),
            Self::Structure(4) => Some("Four kinds of data"),
            Self::Structure(_) => Some("Five kinds of data"),
        }
    }

    /// Returns whether the group may be part of a structure of several kinds of data.
    const fn is_data(self) -> bool {
        matches!(self, Self::Lists | Self::Band(_))
    }
}

/// Group with its bands and their bytes.
type GroupBands = (Group, Vec<BandId>, u64);

/// Returns the largest group; or a few kinds of data together, if they are nearly all and none is half.
fn largest(mut groups: Vec<GroupBands>, all_bytes: u64) -> Option<GroupBands> {
    groups.sort_small_by_key(|(.., bytes)| std::cmp::Reverse(*bytes));
    let share = |bytes: u64| bytes as f64 / all_bytes.max(1) as f64;
    let first = groups.first()?;
    for count in KINDS.filter(|_| share(first.2) < MIN_SHARE) {
        let Some(kinds) = groups.get(..count) else {
            break;
        };
        let bytes = kinds.iter().map(|(.., bytes)| *bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        if kinds.iter().all(|(group, ..)| group.is_data()) && share(bytes) >= NEARLY_ALL {
            let bands = kinds.iter().flat_map(|(_, bands, _)| bands.iter().copied());
            return Some((Group::Structure(count), bands.collect(), bytes));
        }
    }
    groups.into_iter().next()
}

/// Largest group of bands in the largest census.
struct Holder<'a> {
    peak: Peak<'a>,
    group: Group,
    bands: Vec<BandId>,
    bytes: u64,
}

impl<'a> Holder<'a> {
    async fn find(context: &RuleContext<'a>) -> Option<Self> {
        let is_whole = |profile: &&HeapProfile| {
            // Biographies do not name data, and small programs have only one module.
            let has_names = !matches!(
                profile.kind.breakdown,
                Breakdown::Biography | Breakdown::Module
            );
            profile.kind.filters.is_empty() && has_names
        };
        let profile = context.log.heap().iter().find(is_whole)?;
        let peak = Peak::in_profile(profile, context)?;
        let mut groups: Vec<GroupBands> = Vec::new();
        let mut steps = context.steps();
        for band in profile.bands() {
            steps.step().await;
            let bytes = profile.censuses.bytes_at(band, peak.census);
            let group = match profile.label(band) {
                _ if bytes == 0 => continue,
                Some(Label::Text(text)) => Group::from_label(profile.kind.breakdown, band, &text),
                Some(Label::Stack(_)) => Group::Band(band),
                // The rest consists of many small, unrelated bands.
                Some(Label::Rest) | None => continue,
            };
            let known = match group {
                Group::Band(_) => None,
                _ => groups.iter_mut().find(|(known, ..)| *known == group),
            };
            match known {
                Some((_, bands, sum)) => {
                    bands.push(band);
                    *sum = sum.saturating_add(bytes);
                }
                None => groups.push((group, vec![band], bytes)),
            }
        }
        let (group, bands, bytes) = largest(groups, peak.bytes)?;
        Some(Self {
            peak,
            group,
            bands,
            bytes,
        })
    }

    /// Returns the name of the band, or the title of the group with its largest bands in parentheses.
    fn name(&self, context: &RuleContext<'_>) -> String {
        const MAX_BANDS: usize = 3;
        let names = context.log.band_names();
        let Peak {
            profile, census, ..
        } = self.peak;
        let breakdown = profile.kind.breakdown;
        let describe = |band: &BandId| {
            let label = profile.label(*band)?;
            Some(names.describe(breakdown, &label))
        };
        let Some(title) = self.group.title() else {
            let band = self.bands.first().and_then(describe);
            return band.map_or_else(String::new, |band| band.long_name());
        };
        let mut bands = self.bands.clone();
        bands.sort_small_by_key(|band| std::cmp::Reverse(profile.censuses.bytes_at(*band, census)));
        let largest = bands.iter().take(MAX_BANDS).filter_map(describe);
        let mut largest: Vec<String> = largest.map(|band| band.name).collect();
        if bands.len() > MAX_BANDS {
            largest.push("…".to_owned());
        }
        format!("{title} ({})", largest.join(", "))
    }

    /// Returns an explanation and advice.
    fn explanation(&self, context: &RuleContext<'_>) -> (String, &'static str) {
        match self.group {
            Group::Threads => (
                "These are threads and their stacks: many threads that never end, or a few that recurse deeply.".to_owned(),
                if Input::Threads.is_in(&context.log.info) {
                    "Find threads that are blocked for long in the panel Threads: end them, or limit their number."
                } else {
                    "Record a log with thread events too (+RTS -ls): the panel Threads then shows threads that are blocked for long. End them, or limit their number."
                },
            ),
            Group::Lists => (
                "These are list cells, without their elements: a list is retained that could be consumed while it is produced, or text is kept as String, whose cells take three words per character.".to_owned(),
                "Keep text as Text and numbers in an unboxed vector, and traverse a list only once: a second use retains all of it.",
            ),
            Group::Structure(_) => (
                "Together they are probably one structure, such as a list with its elements that is traversed twice, a top-level value, or a map.".to_owned(),
                "Find what retains it: a top-level value, a second traversal, or a map or reference that only grows.",
            ),
            _ => {
                let names = context.log.band_names();
                let profile = self.peak.profile;
                let label = self.bands.first().and_then(|band| profile.label(*band));
                let words = label.and_then(|label| names.explain(profile.kind.breakdown, &label));
                let words = words.map(|words| (words.what, words.advice));
                let (what, advice) = words.unwrap_or(("", ""));
                let kind = profile.kind.breakdown.what();
                let what = match what {
                    "" => format!("By {kind}, this band has most of the live data."),
                    what => what.to_owned(),
                };
                let advice = match advice {
                    "" => "Find what retains it, such as a map or reference that only grows, and drop what is not needed.",
                    advice => advice,
                };
                (what, advice)
            }
        }
    }

    /// Returns the label of a band in a profile by closures.
    fn closure_label(&self, band: BandId) -> Option<Cow<'_, str>> {
        let profile = self.peak.profile;
        let by_closure = matches!(
            profile.kind.breakdown,
            Breakdown::ClosureType | Breakdown::ClosureDescription | Breakdown::Type
        );
        match profile.label(band)? {
            Label::Text(text) if by_closure => Some(text),
            _ => None,
        }
    }

    fn is_compact(&self) -> bool {
        let first = self
            .bands
            .first()
            .and_then(|band| self.closure_label(*band));
        first.as_deref() == Some("COMPACT_NFDATA")
    }

    /// Returns whether it is data that the program cannot change, so that a compact region may contain it.
    fn is_immutable(&self) -> bool {
        let is_mutable = |label: &str| label.starts_with("MUT_") || label.contains("ARR");
        let labels = self.bands.iter().map(|band| self.closure_label(*band));
        let mut known = labels.map(|label| label.is_some_and(|label| !is_mutable(&label)));
        self.group != Group::Threads && known.all(|is_immutable| is_immutable)
    }

    /// Returns the bytes of the group in each census of the range.
    fn series(&self, context: &RuleContext<'_>) -> Vec<u64> {
        let profile = self.peak.profile;
        let places = profile.censuses_in(Some(context.range), context.log.end());
        let mut sums = vec![0_u64; places.len()];
        for band in &self.bands {
            let series = profile.censuses.series(*band, places.clone());
            for (sum, bytes) in sums.iter_mut().zip(series) {
                *sum = sum.saturating_add(bytes);
            }
        }
        sums
    }
}

/// Trend of the group's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeTrend {
    Unknown,
    Grows,
    /// Near its maximum to the end.
    Stays,
    /// Smaller in the end, or for some time before it.
    Falls,
}

impl SizeTrend {
    /// Estimates the trend from the last quarter of the censuses, averaged against outliers. Data that ends below
    /// its maximum does not grow, and data that ends far below it does not stay.
    fn from_series(series: &[u64]) -> Self {
        if series.len() < MIN_CENSUSES {
            return Self::Unknown;
        }
        let mean = |part: &[u64]| {
            part.iter().map(|bytes| *bytes as f64).sum::<f64>() / part.len().max(1) as f64
        };
        let most = series.iter().copied().max().unwrap_or(0) as f64;
        let quarter = &series[series.len() - series.len() / 4 - 1..];
        let (first, last) = quarter.split_at(quarter.len() / 2);
        // The midpoints of the two halves are half of the time apart.
        let change = (mean(last) - mean(first)) * 2.0;
        match change / most.max(1.0) {
            change if change >= GROWS => match series.last() {
                Some(last) if *last as f64 >= most * (1.0 - GROWS) => Self::Grows,
                _ => Self::Unknown,
            },
            change if change <= -GROWS => Self::Falls,
            _ if mean(last) < most * STAYS => Self::Falls,
            _ => Self::Stays,
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Grows => " It still grows at the end.",
            Self::Stays => {
                " It is live until the end: if the rest of the program does not need it, something still refers to it, such as a top-level value (CAF), a map, or an evaluation that has not come to its end."
            }
            Self::Falls => " At the end it is smaller.",
        }
    }
}

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    let Some(holder) = Holder::find(context).await else {
        return Outcome::CannotTell("the log has no census of the whole heap by closure names in this range: run the program with +RTS -hT -l".into());
    };
    let share = holder.peak.share(holder.bytes);
    let name = holder.name(context);
    let said = format!(
        "{name} held {} of the largest census, {}",
        format::fraction(share),
        format::bytes(holder.bytes)
    );
    if share < MIN_SHARE || holder.bytes < MIN_BYTES {
        return Outcome::Clear(format!("{said}; the limits are 50 % and 10 MB"));
    }
    if matches!(holder.group, Group::Thunks | Group::Bytes) {
        return Outcome::Clear(format!("{said}: covered by another rule"));
    }
    let title = format!(
        "{name} hold{} {} of the heap at its peak, {}",
        if holder.group.title().is_some() {
            ""
        } else {
            "s"
        },
        format::fraction(share),
        format::bytes(holder.bytes)
    );
    if holder.is_compact() {
        return Outcome::Clear(format!(
            "{said}: it is in compact regions, which collections do not copy"
        ));
    }
    let series = holder.series(context);
    let trend = SizeTrend::from_series(&series);
    let mut finding = Finding::of_memory(RULE.name, title, (holder.bytes, share));
    finding.confidence = Confidence::Certain;
    // Every heap has a largest holder; only growth makes it a problem.
    // Threads, however, seldom hold most of a heap on purpose.
    finding.severity = match (trend, holder.group) {
        (SizeTrend::Grows, _) | (_, Group::Threads) => Severity::Medium,
        // Hardly any program is made of lists alone, other than by String, or by a list that is traversed twice.
        (_, Group::Lists) if share >= MOSTLY_LISTS => Severity::Medium,
        _ => Severity::Low,
    };
    let (what, advice) = holder.explanation(context);
    finding.meaning = format!("{what}{}", trend.sentence()).into();
    finding.tries = vec![Advice::code(advice)];
    add_unread_messages(context, &mut finding);
    if trend == SizeTrend::Stays && !advice.starts_with("Find") {
        let find = "Find what retains it, and let it be made and consumed piece by piece, or drop it earlier.";
        finding.tries.insert(0, Advice::code(find));
    }
    if trend == SizeTrend::Stays && share >= MOST && is_constant(&series) {
        advise_compact_region(context, &holder, &mut finding);
    }
    finding.tries.push(Advice::measure(
        "-hi -l",
        "With -finfo-table-map the profile names the source line that allocates it (GHC 9.2 and later).",
    ));
    finding.distrust =
        "A cache, or data that the program needs for its whole run, holds the heap on purpose."
            .into();
    finding.set_numbers([
        ("its bytes", Value::Bytes(holder.bytes)),
        ("all of the census", Value::Bytes(holder.peak.bytes)),
    ]);
    let evidence = holder.peak.evidence(holder.bytes);
    Outcome::Found(vec![finding.with_evidence([evidence])])
}

/// Returns whether the size does not change in most of the censuses, from the first on that has nearly all of it.
fn is_constant(series: &[u64]) -> bool {
    let most = series.iter().copied().max().unwrap_or(0);
    let is_most = |bytes: &u64| *bytes as f64 >= most as f64 * (1.0 - CHANGES);
    let first = series.iter().position(is_most).unwrap_or(series.len());
    let rest = &series[first..];
    rest.len() >= MIN_CENSUSES && rest.len() * 2 >= series.len() && rest.iter().all(is_most)
}

/// Changes severity, meaning and advice of data that does not change, if copying it stops the program for long.
fn advise_compact_region(context: &RuleContext<'_>, holder: &Holder<'_>, finding: &mut Finding) {
    let copies_it = |gc: &CollectionInRange<'_>| {
        let copied = gc
            .statistics
            .map_or(0, |statistics| statistics.copied_bytes);
        gc.is_major && copied >= holder.bytes / 2
    };
    let copies = context.collections_where(copies_it);
    let mut pauses: Vec<u64> = copies.map(|(_, gc)| gc.pause_ns()).collect();
    let (count, pause_ns) = (pauses.len(), median(&mut pauses));
    let is_costly = count >= MIN_COPIES && pause_ns >= LONG_NS && holder.bytes >= MUCH_BYTES;
    if !is_costly || !holder.is_immutable() {
        return;
    }
    finding.severity = Severity::Medium;
    finding.meaning = format!(
        "{} Its size stays the same, but {} copied it: {} in the median.",
        finding.meaning,
        format::pluralize(count as u64, "major collection"),
        format::duration_ns(pause_ns)
    )
    .into();
    finding.tries.insert(0, Advice::code(
        "If its content stays the same too, and the program needs it: put it in a compact region (GHC.Compact) when it is complete. Collections do not copy these.",
    ));
    finding.tries.truncate(2);
}

/// Adds what many `MVar`s in a heap mean: a `Chan` has one for each message.
fn add_unread_messages(context: &RuleContext<'_>, finding: &mut Finding) {
    let Some(peak) = Peak::find(context) else {
        return;
    };
    let bytes = peak.bytes_of(|name| matches!(name, "MVAR_CLEAN" | "MVAR_DIRTY"));
    let share = peak.share(bytes);
    if share < MVARS {
        return;
    }
    finding.meaning = format!(
        "{} MVars are {} of the heap: a Chan has one for each message, so messages wait in one that is read too slowly, or not at all.",
        finding.meaning,
        format::fraction(share)
    )
    .into();
    let advice = Advice::code(
        "Read all copies of a Chan: the one that dupChan was called on keeps all messages until it is read. A broadcast TChan has no such reader. Bound the queue (TBQueue) if readers are slower.",
    );
    finding.tries.insert(0, advice);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_quarter_decides_whether_it_grows() {
        let steady: Vec<u64> = (1..=16).collect();
        assert_eq!(SizeTrend::from_series(&steady), SizeTrend::Grows);
        let ended: Vec<u64> = (1..=16).map(|at: u64| at.min(8)).collect();
        assert_eq!(SizeTrend::from_series(&ended), SizeTrend::Stays);
        let fell: Vec<u64> = (1..=16).rev().collect();
        assert_eq!(SizeTrend::from_series(&fell), SizeTrend::Falls);
        let fell_early: Vec<u64> = (0..16).map(|at| if at < 8 { 100 } else { 5 }).collect();
        assert_eq!(SizeTrend::from_series(&fell_early), SizeTrend::Falls);
        let mut dropped = steady;
        dropped.push(0);
        assert_ne!(SizeTrend::from_series(&dropped), SizeTrend::Grows);
        let mut dropped = ended;
        dropped[12..].copy_from_slice(&[2, 4, 8, 5]);
        assert_eq!(SizeTrend::from_series(&dropped), SizeTrend::Unknown);
        assert_eq!(SizeTrend::from_series(&[1, 2, 3]), SizeTrend::Unknown);
        assert_eq!(SizeTrend::from_series(&[0; 8]), SizeTrend::Stays);
    }

    #[test]
    fn data_that_stays_as_it_is_is_constant() {
        assert!(is_constant(&[3, 50, 100, 100, 99, 100]));
        assert!(!is_constant(&[3, 50, 100, 100, 90, 100]), "it changes");
        assert!(!is_constant(&[100, 100, 100]), "too few censuses");
        assert!(
            !is_constant(&[10, 20, 30, 40, 50, 60, 70, 100, 100, 100, 100]),
            "it grew for long"
        );
        assert!(!is_constant(&[]));
    }

    #[test]
    fn what_is_one_thing_is_one_group() {
        let group = |label| Group::from_label(Breakdown::ClosureType, BandId(7), label);
        assert!(group("STACK") == group("TSO"));
        assert!(group("ghc-prim:GHC.Types.:") == Group::Lists);
        assert!(group("ghc-prim:GHC.Types.C#") == Group::Lists);
        assert!(group("main:Main.:") == Group::Band(BandId(7)));
        assert!(group("ghc-prim:GHC.Types.D#") == Group::Band(BandId(7)));
        assert!(group("THUNK_1_0") == group("AP"));
        assert!(group("MUT_VAR_CLEAN") == Group::Band(BandId(7)));
        assert!(Group::from_label(Breakdown::Type, BandId(7), "[]") == Group::Lists);
        assert!(Group::from_label(Breakdown::ClosureDescription, BandId(7), ":") == Group::Lists);
        assert!(Group::from_label(Breakdown::Module, BandId(7), "TSO") == Group::Band(BandId(7)));
    }
}
