//! Do major collections cost too much?
//!
//! Each one traverses all live data and copies most of it. They happen whenever the old generation has grown by
//! the factor of `-F`.

use super::area_estimate;
use super::census::Peak;
use super::prelude::*;
use super::requested_collections::{claim_collections, in_other_findings};
use crate::collection_in_range::CollectionInRange;
use crate::finding::AdviceKind;
use crate::flags::FIRST_USE_NS;
use model::gauge::Samples;

/// Minimum share of the time; less is usual.
const MIN_SHARE: f64 = 0.10;
/// Minimum number of collections. `MIN_LONG` are enough if they take the share `MUCH` of the time and copy
/// `MUCH_BYTES` each.
const MIN_COUNT: usize = 3;
const MIN_LONG: usize = 2;
const MUCH: f64 = 0.20;
const MUCH_BYTES: u64 = 4_000_000;

/// Live data that is not copied, from which on it may be what takes the time: at least half of it, and this long for
/// each word. Walking through arrays took 3 ns for each; objects without pointers take none. Compacting, which takes
/// several passes over all data, took 38 to 96 ns.
const MIN_WALKED_BYTES: u64 = 8_000_000;
const MOST_TIME: f64 = 0.5;
const WALK_NS_PER_WORD: std::ops::Range<f64> = 0.5..15.0;
/// A compacting collection copies only what is young: next to nothing of what is live.
const YOUNG: f64 = 0.10;
/// Bytes copied a second at least; minor collections that copy next to nothing do not show it.
const SLOWEST_COPY: f64 = 400e6;

pub(super) const RULE: Rule = Rule {
    name: "major-gc-heavy",
    question: "Do major collections cost too much?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let all = context.measured_collections(true).count();
    let found = loss_budget.free_pauses(context.measured_collections(true));
    let pause_ns: u64 = found.iter().map(|(_, gc)| gc.pause_ns()).sum();
    let share = context.share(pause_ns);
    let count = found.len() as u64;
    let copied = found.iter().filter_map(|(_, gc)| gc.statistics);
    let copied = copied.map(|statistics| statistics.copied_bytes);
    let copied = copied.fold(0, u64::saturating_add);
    let each = copied / count.max(1);
    let is_much = share >= MUCH && each >= MUCH_BYTES;
    let least = if is_much { MIN_LONG } else { MIN_COUNT };
    if share < MIN_SHARE || found.len() < least {
        let others = in_other_findings(all - found.len());
        return Outcome::Clear(format!(
            "{}{others} took {} of the time; the limits are 3 and 10 %, or 2 of 4 MB and 20 %",
            format::pluralize(count, "major collection"),
            format::fraction(share)
        ));
    }
    let uncopied = Uncopied::of(context, &found);
    let stacks = match uncopied {
        Some(Uncopied::Walked(bytes)) => many_stacks(context, bytes),
        _ => 0,
    };
    let title = format!(
        "{} {} each, {} of the time",
        format::pluralize(count, "major collection"),
        match uncopied {
            Some(Uncopied::Walked(_)) if stacks > 0 =>
                format!("looked at {}", format::pluralize(stacks, "stack")),
            Some(Uncopied::Walked(bytes)) =>
                format!("walked through {} of large objects", format::bytes(bytes)),
            Some(Uncopied::Compacted(bytes)) => format!("compacted {}", format::bytes(bytes)),
            None => format!("copied {}", format::bytes(each)),
        },
        format::fraction(share)
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    finding.confidence = Confidence::Probable;
    finding.meaning = if context.is_nonmoving() {
        "Each stops the program, although the old generation is marked concurrently."
    } else {
        "Whenever the old generation fills up, the collector traverses all live data and copies it, except for large objects."
    }
    .into();
    finding.tries = tries(context, pause_ns);
    finding.distrust =
        "The gain of an option depends on how long data lives: data that is loaded once must be copied until loading ends."
            .into();
    match uncopied {
        Some(Uncopied::Walked(_)) if stacks > 0 || are_stacks(context) => {
            explain_by_stacks(&mut finding);
        }
        Some(Uncopied::Walked(_)) => explain_by_large_objects(&mut finding),
        Some(Uncopied::Compacted(_)) => explain_by_compaction(&mut finding),
        None => {}
    }
    finding.set_numbers([
        ("collections", Value::Count(count)),
        ("copied in each", Value::Bytes(each)),
    ]);
    Outcome::Found(vec![finding])
}

/// What collections do with live data that they do not copy, if that takes most of their time; with its mean size.
#[derive(Clone, Copy)]
enum Uncopied {
    /// They look at each pointer in large objects.
    Walked(u64),
    /// They move it within its memory.
    Compacted(u64),
}

impl Uncopied {
    fn of(context: &RuleContext<'_>, found: &[(usize, &CollectionInRange<'_>)]) -> Option<Self> {
        let (copied, ns) = sums(context.measured_collections(false).map(|(_, gc)| gc));
        let rate = (copied as f64 * 1e9 / ns.max(1) as f64).max(SLOWEST_COPY);
        let (copied, ns) = sums(found.iter().map(|(_, gc)| *gc));
        let other_ns = ns as f64 - copied as f64 * 1e9 / rate;
        let live = found.iter().filter_map(|(_, gc)| gc.statistics?.live_bytes);
        let live = live.fold(0, u64::saturating_add);
        let bytes = live.saturating_sub(copied);
        let each = bytes / found.len().max(1) as u64;
        if each < MIN_WALKED_BYTES || other_ns < MOST_TIME * ns as f64 || context.is_nonmoving() {
            return None;
        }
        let ns_per_word = other_ns / (bytes / size_of::<u64>() as u64) as f64;
        let is_young = copied as f64 <= YOUNG * live as f64;
        match WALK_NS_PER_WORD.contains(&ns_per_word) {
            true => Some(Self::Walked(each)),
            false => {
                { is_young && ns_per_word >= WALK_NS_PER_WORD.end }.then_some(Self::Compacted(each))
            }
        }
    }
}

/// Returns whether major collections compact live data in place, by how little they copy and how long they take.
pub(super) fn is_compacting(context: &RuleContext<'_>) -> bool {
    let majors: Vec<_> = context.measured_collections(true).collect();
    matches!(Uncopied::of(context, &majors), Some(Uncopied::Compacted(_)))
}

/// Returns the bytes that collections copied, and how long they took.
fn sums<'a>(collections: impl Iterator<Item = &'a CollectionInRange<'a>>) -> (u64, u64) {
    let one =
        |gc: &CollectionInRange<'_>| (gc.statistics.map_or(0, |it| it.copied_bytes), gc.pause_ns());
    collections.map(one).fold((0, 0), |(copied, ns), one| {
        (
            u64::saturating_add(copied, one.0),
            u64::saturating_add(ns, one.1),
        )
    })
}

/// Returns whether most live data is stacks of threads, by the largest census. Stacks of 3 KiB and more are large objects.
fn are_stacks(context: &RuleContext<'_>) -> bool {
    let is_stack = |name: &str| matches!(name, "STACK" | "TSO");
    Peak::find(context).is_some_and(|peak| peak.bytes_of(is_stack) > peak.bytes / 2)
}

/// Returns the number of threads that did not end, if their stacks are more than the large objects; otherwise 0.
fn many_stacks(context: &RuleContext<'_>, large_bytes: u64) -> u64 {
    // The initial size of a stack (-ki).
    const MIN_STACK_BYTES: u64 = 1 << 10;
    // At the end of the program, the runtime ends all threads.
    let range = context.range;
    let late = Nanos(range.end().0 - range.duration().0 / 10);
    let lives = context.log.store.lives();
    let living = lives.filter(|life| {
        life.complete_life()
            .is_none_or(|(life, _)| life.end() > late)
    });
    let living = living.count() as u64;
    match living.saturating_mul(MIN_STACK_BYTES) > large_bytes {
        true => living,
        false => 0,
    }
}

/// Changes a finding on collections that hardly copy anything: they look at the stacks of threads.
fn explain_by_stacks(finding: &mut Finding) {
    finding.meaning = "They copied little, and took longer than that needs: most live data is stacks, of many threads or of one in a deep recursion. Large ones are not copied, but each major collection looks at all of them.".into();
    finding.tries = Advice::code_changes([
        "If there are many threads: end each with its task, and let one thread wait for many things.",
        "If one recursion is deep: use a strict fold, or an accumulator.",
    ]);
    finding.distrust = "Weak pointers take time in major collections, too.".into();
}

/// Changes a finding on collections that hardly copy anything: they look at each element of large arrays.
fn explain_by_large_objects(finding: &mut Finding) {
    finding.meaning = "They copied little, and took longer than that needs: most live data is large objects with pointers, such as boxed arrays. These are not copied, but each major collection looks at every element.".into();
    let unboxed = Advice::code(
        "Keep numbers in unboxed arrays (IOUArray, Data.Vector.Unboxed, Data.Vector.Storable): collections do not look into these.",
    );
    finding.tries.retain(|one| one.kind != AdviceKind::Code);
    finding.tries.insert(0, unboxed);
    finding.distrust =
        "Weak pointers, stacks and very many threads take time in major collections, too.".into();
}

/// Changes a finding on collections that hardly copy anything, and take far longer than looking at all data does.
fn explain_by_compaction(finding: &mut Finding) {
    finding.meaning = "They copied next to nothing of the live data, and took far longer than copying it would: they mark and compact it in place (-c). The runtime does so if that is asked for, also by -with-rtsopts when the program is linked, or if live data comes near a limit of the heap (-M).".into();
    finding.tries = vec![Advice::code(
        "Look for -c in the options that the program is linked with (-with-rtsopts), and leave it out. The price is memory: live data exists twice during a collection.",
    )];
    finding.distrust =
        "On a busy machine, or with swapped memory, collections of large objects take as long."
            .into();
}

/// Minimum share of the time for advice to let the old generation grow: of seven judged programs with less, it made
/// none 5 % faster.
const MIN_SHARE_FOR_FACTOR: f64 = 0.30;

/// Minimum live data at the end, relative to the middle, for data that still grows. Where as much stays alive, in place of
/// old data, fewer major collections saved nothing: a window of 100,000 objects took 8 % longer with -F4.
const STILL_GROWS: f64 = 1.3;

/// Returns whether live data grew in the second half of the major collections.
pub(super) fn still_grows(context: &RuleContext<'_>) -> bool {
    let all = live_bytes(context);
    let middle = all.get(all.len() / 2).copied().unwrap_or(0);
    let last = all.last().copied().unwrap_or(0);
    last as f64 >= STILL_GROWS * middle as f64
}

/// Minimum share of steps between major collections that rise, for data that only grows.
const RISING: f64 = 0.9;

/// Returns whether little data is alive at any time: it is replaced before each major collection.
fn is_replaced(context: &RuleContext<'_>) -> bool {
    const FEW_BYTES: u64 = 8_000_000;
    live_bytes(context)
        .into_iter()
        .all(|bytes| bytes < FEW_BYTES)
}

/// Returns live data after each major collection.
fn live_bytes(context: &RuleContext<'_>) -> Vec<u64> {
    let live = context.log.numbers.live();
    let indices = live.first_at(context.range.start().0)..live.first_at(context.range.end().0);
    indices.map(|at| live.value(at)).collect()
}

/// Returns whether live data grew from nearly each major collection to the next.
fn only_grows(context: &RuleContext<'_>) -> bool {
    let all = live_bytes(context);
    let rising = all.windows(2).filter(|two| two[1] > two[0]).count();
    all.len() >= MIN_COUNT && rising as f64 >= (all.len() - 1) as f64 * RISING
}

/// Returns advice. It does not include the nonmoving collector, which shortens pauses but slows programs down. A
/// larger area keeps short-lived data from growing old, and gained more than a larger old generation in all measured
/// programs; if all data stays alive, fewer major collections help (`docs/findings.md`).
fn tries(context: &RuleContext<'_>, pause_ns: u64) -> Vec<Advice> {
    let area = Advice::flag(
        "-A64m",
        "Promote less short-lived data: fewer major collections. Measure it.",
        "memory: 64 MiB for each capability; the processor's cache helps less",
    );
    let factor = Advice::flag(
        "-F4",
        "Let the old generation grow more before it is collected. Measure it.",
        "memory: the old generation may grow to four times live data, or to twice that during a collection",
    );
    let less = Advice::code(match is_replaced(context) {
        true => {
            "Make less of what lives for long: change a large structure in small steps, instead of building all of it anew."
        }
        false => {
            "Keep less data alive, or keep immutable data in a compact region (GHC.Compact): collections do not copy it."
        }
    });
    // It must save half of what first use of its memory costs.
    let pays = context.larger_areas().any(|(flag, bytes)| {
        area.flag.as_deref() == Some(flag)
            && pause_ns > bytes.saturating_mul(FIRST_USE_NS) / 2
            && area_estimate::pays(context, bytes)
    });
    let profile = Advice::measure(
        "-hT -l",
        "A heap profile by closure type names what is alive, without a profiling build.",
    );
    let flag = if pays && !only_grows(context) {
        Some(area)
    } else {
        let is_useful = context.share(pause_ns) >= MIN_SHARE_FOR_FACTOR && still_grows(context);
        Some(factor).filter(|_| is_useful)
    };
    flag.into_iter().chain([less, profile]).collect()
}
