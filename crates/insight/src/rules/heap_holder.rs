//! What holds the heap?
//!
//! A heap profile says what live data is made of. Where one band, or a group of bands that are
//! one thing, has half of the largest census or more, its name says where to look. Thunks and
//! byte arrays of profiles by closure type have rules of their own.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Severity, Try, Value};
use analysis::heap::{Breakdown, HeapProfile, Label};
use analysis::yielder::{Steps, Yield};
use model::census::BandId;
use model::format;
use model::time::Interval;

/// Of the largest census.
const LEAST_SHARE: f64 = 0.50;
/// Three kinds of data that are so much of the heap are one structure.
const NEARLY_ALL: f64 = 0.90;
/// Less is not worth a look.
const LEAST_BYTES: u64 = 10_000_000;
/// With fewer censuses nothing is said of growth.
const LEAST_CENSUSES: usize = 4;
/// It grows still if the last quarter of the censuses adds so much of its most.
const GROWS: f64 = 0.10;

const NAME: &str = "heap-holder";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "What holds the heap?",
    inputs: &[Input::Censuses],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

/// Bands that are one thing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Computations that are not done: the rule `unevaluated` has them.
    Thunks,
    /// Threads with their stacks.
    Threads,
    /// The cells of lists, and the letters of strings. Boxed numbers are fields of records too.
    Lists,
    /// Bytes: the rule `pinned-blocks` has them.
    Bytes,
    /// A band by itself.
    One(BandId),
    /// Three bands that are nearly all.
    Together,
}

impl Group {
    /// The group of a band. Profiles by closure type write constructors as
    /// `ghc-prim:GHC.Types.:`, those by description as `:`, those by type write lists as `[]`.
    fn of(breakdown: Breakdown, band: BandId, label: &str) -> Self {
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
            _ => Self::One(band),
        }
    }

    /// What it is called, if its bands alone do not say it.
    const fn title(self) -> Option<&'static str> {
        match self {
            Self::Threads => Some("Threads"),
            Self::Lists => Some("Lists"),
            Self::Thunks => Some("Thunks"),
            Self::Bytes => Some("Byte arrays"),
            Self::One(_) => None,
            Self::Together => Some("Three kinds of data"),
        }
    }

    /// Whether it may be a part of a structure of several kinds of data.
    const fn is_data(self) -> bool {
        matches!(self, Self::Lists | Self::One(_))
    }
}

/// The bands of one thing, and their bytes.
type OfGroup = (Group, Vec<BandId>, u64);

/// What holds most: a group, or three of data where these are nearly all and none is half.
fn largest(mut groups: Vec<OfGroup>, all_bytes: u64) -> Option<OfGroup> {
    const KINDS: usize = 3;
    groups.sort_by_key(|(.., bytes)| std::cmp::Reverse(*bytes));
    let share = |bytes: u64| bytes as f64 / all_bytes.max(1) as f64;
    let first = groups.first()?;
    if let Some(kinds) = groups.get(..KINDS).filter(|_| share(first.2) < LEAST_SHARE) {
        let bytes = kinds.iter().map(|(.., bytes)| *bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        if kinds.iter().all(|(group, ..)| group.is_data()) && share(bytes) >= NEARLY_ALL {
            let bands = kinds.iter().flat_map(|(_, bands, _)| bands.iter().copied());
            return Some((Group::Together, bands.collect(), bytes));
        }
    }
    groups.into_iter().next()
}

/// What holds most of the largest census.
struct Holder<'a> {
    profile: &'a HeapProfile,
    group: Group,
    bands: Vec<BandId>,
    census: u32,
    bytes: u64,
    /// Everything that is alive in that census.
    all_bytes: u64,
}

impl<'a> Holder<'a> {
    async fn in_scope(context: &RuleContext<'a>, yielder: &dyn Yield) -> Option<Self> {
        let is_whole = |profile: &&HeapProfile| {
            // Biographies have no names of data, and small programs have one module.
            let has_names = !matches!(
                profile.kind.breakdown,
                Breakdown::Biography | Breakdown::Module
            );
            profile.kind.filters.is_empty() && has_names
        };
        let profile = context.log.heap().iter().find(is_whole)?;
        let total = |census: &u32| profile.censuses.totals().get(*census as usize).copied();
        let places = profile.places(Some(context.range), context.log.end());
        let (all_bytes, census) = places.filter_map(|at| Some((total(&at)?, at))).max()?;
        let mut groups: Vec<OfGroup> = Vec::new();
        let mut steps = Steps::new(yielder);
        for band in profile.bands() {
            steps.step().await;
            let bytes = profile.censuses.at(band, census);
            let group = match profile.label(band) {
                _ if bytes == 0 => continue,
                Some(Label::Text(text)) => Group::of(profile.kind.breakdown, band, &text),
                Some(Label::Stack(_)) => Group::One(band),
                // Many small bands are not one thing.
                Some(Label::Rest) | None => continue,
            };
            let known = match group {
                Group::One(_) => None,
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
        let (group, bands, bytes) = largest(groups, all_bytes)?;
        Some(Self {
            profile,
            group,
            bands,
            census,
            bytes,
            all_bytes,
        })
    }

    /// Its name; of several bands the largest in brackets.
    fn name(&self, context: &RuleContext<'_>) -> String {
        const MOST: usize = 3;
        let names = context.log.band_names();
        let breakdown = self.profile.kind.breakdown;
        let describe = |band: &BandId| {
            let label = self.profile.label(*band)?;
            Some(names.describe(breakdown, &label))
        };
        let Some(title) = self.group.title() else {
            let band = self.bands.first().and_then(describe);
            return band.map_or_else(String::new, |band| band.long_name());
        };
        let mut bands = self.bands.clone();
        bands.sort_by_key(|band| std::cmp::Reverse(self.profile.censuses.at(*band, self.census)));
        let largest = bands.iter().take(MOST).filter_map(describe);
        let largest: Vec<String> = largest.map(|band| band.name).collect();
        format!("{title} ({})", largest.join(", "))
    }

    /// What it means, and what to try.
    fn words(&self, context: &RuleContext<'_>) -> (String, &'static str) {
        match self.group {
            Group::Threads => (
                "These are threads and their stacks: many threads that wait and never end, or a few that recurse deeply.".to_owned(),
                if Input::Threads.is_in(&context.log.info) {
                    "See the panel Threads for threads that are blocked for long: end them, or bound how many there are."
                } else {
                    "Take a log with events of threads too (+RTS -ls): the panel Threads then shows which are blocked for long. End them, or bound how many there are."
                },
            ),
            Group::Lists => (
                "These are the cells of lists, without their elements: a list is kept that could be consumed as it is made, or text is kept as String, whose cells take three words for each letter.".to_owned(),
                "Keep text as Text and numbers in an unboxed vector, and traverse a list once: a second use keeps all of it.",
            ),
            Group::Together => (
                "Together they are probably one structure, such as a list with its elements that is traversed twice, a top-level value, or a map.".to_owned(),
                "Find what keeps it: a top-level value, a second traversal, a map or a reference that is only added to.",
            ),
            _ => {
                let names = context.log.band_names();
                let label = self.bands.first().and_then(|band| self.profile.label(*band));
                let words = label.and_then(|label| names.explain(self.profile.kind.breakdown, &label));
                let words = words.map(|words| (words.what, words.advice));
                let (what, advice) = words.unwrap_or(("", ""));
                let kind = self.profile.kind.breakdown.what();
                let what = match what {
                    "" => format!("By {kind}, this band has most of the live data."),
                    what => what.to_owned(),
                };
                let advice = match advice {
                    "" => "Find what keeps it, such as a map or a reference that is only added to, and drop what is not needed.",
                    advice => advice,
                };
                (what, advice)
            }
        }
    }

    /// Its bytes in all censuses of a part of the log.
    fn series(&self, context: &RuleContext<'_>) -> Vec<u64> {
        let places = self.profile.places(Some(context.range), context.log.end());
        let mut sums = vec![0_u64; places.len()];
        for band in &self.bands {
            for (sum, bytes) in sums
                .iter_mut()
                .zip(self.profile.censuses.series(*band, places.clone()))
            {
                *sum = sum.saturating_add(bytes);
            }
        }
        sums
    }
}

/// How a holder changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Unknown,
    Grows,
    Stays,
    Falls,
}

impl Course {
    /// By the last quarter of the censuses, of which single ones may be out of line. What ends
    /// below its most does not grow.
    fn of(series: &[u64]) -> Self {
        if series.len() < LEAST_CENSUSES {
            return Self::Unknown;
        }
        let mean = |part: &[u64]| {
            part.iter().map(|bytes| *bytes as f64).sum::<f64>() / part.len().max(1) as f64
        };
        let most = series.iter().copied().max().unwrap_or(0) as f64;
        let quarter = &series[series.len() - series.len() / 4 - 1..];
        let (first, last) = quarter.split_at(quarter.len() / 2);
        // Between the middles of the two halves lies half of the time.
        let change = (mean(last) - mean(first)) * 2.0;
        match change / most.max(1.0) {
            change if change >= GROWS => match series.last() {
                Some(last) if *last as f64 >= most * (1.0 - GROWS) => Self::Grows,
                _ => Self::Unknown,
            },
            change if change <= -GROWS => Self::Falls,
            _ => Self::Stays,
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Grows => " It still grows in the end.",
            Self::Stays => " In the end it stays about as large.",
            Self::Falls => " In the end it becomes smaller.",
        }
    }
}

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    let Some(holder) = Holder::in_scope(context, yielder).await else {
        return Outcome::CannotTell("the log has no census of the whole heap by names of data in this time: run the program with +RTS -hT -l".into());
    };
    let share = holder.bytes as f64 / holder.all_bytes.max(1) as f64;
    let name = holder.name(context);
    let said = format!(
        "{name} held {} of the largest census, {}",
        format::fraction(share),
        format::bytes(holder.bytes)
    );
    if share < LEAST_SHARE || holder.bytes < LEAST_BYTES {
        return Outcome::Clear(format!("{said}; the limits are 50 % and 10 MB"));
    }
    if matches!(holder.group, Group::Thunks | Group::Bytes) {
        return Outcome::Clear(format!("{said}: another rule is about that"));
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
    let course = Course::of(&holder.series(context));
    let mut finding = Finding::of_memory(NAME, title, (holder.bytes, share));
    finding.confidence = Confidence::Certain;
    // Something holds most of every heap: growth makes it a problem.
    finding.severity = match course {
        Course::Grows => Severity::Medium,
        _ => Severity::Low,
    };
    let (what, advice) = holder.words(context);
    finding.meaning = format!("{what}{}", course.sentence()).into();
    finding.tries = vec![Try::code(advice)];
    finding.tries.push(Try::measure(
        "-hi -l",
        "With -finfo-table-map it names the line of the program that made it (GHC 9.2 and later).",
    ));
    finding.distrust =
        "A cache, or data that the program needs as long as it runs, holds the heap on purpose."
            .into();
    finding.numbers = vec![
        ("its bytes".into(), Value::Bytes(holder.bytes)),
        ("all of the census".into(), Value::Bytes(holder.all_bytes)),
    ];
    let time = holder.profile.time(holder.census);
    let time = time.unwrap_or(context.range.start());
    let evidence = Evidence {
        range: Interval::new(time, time),
        subjects: Vec::new(),
        amount: Value::Bytes(holder.bytes),
    };
    Outcome::Found(vec![finding.seen_in([evidence])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_quarter_decides_whether_it_grows() {
        let steady: Vec<u64> = (1..=16).collect();
        assert_eq!(Course::of(&steady), Course::Grows);
        let ended: Vec<u64> = (1..=16).map(|at: u64| at.min(8)).collect();
        assert_eq!(Course::of(&ended), Course::Stays);
        let fell: Vec<u64> = (1..=16).rev().collect();
        assert_eq!(Course::of(&fell), Course::Falls);
        let mut dropped = steady;
        dropped.push(0);
        assert_ne!(Course::of(&dropped), Course::Grows);
        let mut dropped = ended;
        dropped[12..].copy_from_slice(&[2, 4, 8, 5]);
        assert_eq!(Course::of(&dropped), Course::Unknown);
        assert_eq!(Course::of(&[1, 2, 3]), Course::Unknown);
        assert_eq!(Course::of(&[0; 8]), Course::Stays);
    }

    #[test]
    fn what_is_one_thing_is_one_group() {
        let group = |label| Group::of(Breakdown::ClosureType, BandId(7), label);
        assert!(group("STACK") == group("TSO"));
        assert!(group("ghc-prim:GHC.Types.:") == Group::Lists);
        assert!(group("ghc-prim:GHC.Types.C#") == Group::Lists);
        assert!(group("main:Main.:") == Group::One(BandId(7)));
        assert!(group("ghc-prim:GHC.Types.D#") == Group::One(BandId(7)));
        assert!(group("THUNK_1_0") == group("AP"));
        assert!(group("MUT_VAR_CLEAN") == Group::One(BandId(7)));
        assert!(Group::of(Breakdown::Type, BandId(7), "[]") == Group::Lists);
        assert!(Group::of(Breakdown::ClosureDescription, BandId(7), ":") == Group::Lists);
        assert!(Group::of(Breakdown::Module, BandId(7), "TSO") == Group::One(BandId(7)));
    }
}
