//! Do minor collections traverse old mutable objects?
//!
//! An old array of boxed values, or a changed reference, may point to young data. Minor collections traverse it,
//! and the runtime counts its entry in the remembered set as copied. These objects are what takes the time if
//! minor collections "copy" more than was allocated, take much longer per byte than major ones, or copy the same
//! number of bytes each time.

use super::area_estimate::{MinorTotals, promoted_bytes};
use super::prelude::*;
use super::requested_collections::claim_collections;
use crate::collection_in_range::CollectionInRange;
use crate::threads::median;

/// Minimum copied share of allocation; a minor collection of only young data copies less.
const MIN_COPIED: f64 = 0.5;
/// Copied share of allocation that young data alone cannot reach, if none of it becomes old. What becomes old is copied
/// twice, so that all data together reaches `ALL_TWICE`, with a margin.
const CANNOT_BE_YOUNG: f64 = 1.2;
const ALL_TWICE: f64 = 2.05;
/// Maximum spread of copied bytes from the 5th to the 75th percentile. Live young data varies by at least some
/// objects between collections, while the remembered set is always traversed as a whole.
const STEADY_BYTES: u64 = 128;
/// Minimum time per byte relative to major collections, which traverse few remembered objects.
const SLOWER: f64 = 1.4;
/// Time per byte relative to major collections, and minimum duration, that only data that is traversed but not
/// copied explains: the changed parts of a large array.
const MUCH_SLOWER: f64 = 4.0;
const LONG_NS: f64 = 1_000_000.0;
/// Collections that take longer than this for each byte copied, and longer than `EMPTY_NS`, traverse something else:
/// copying takes about a nanosecond. Clearing a block of the allocation area takes a few nanoseconds.
const SLOW_BYTE_NS: f64 = 10.0;
const EMPTY_NS: f64 = 300_000.0;
const BLOCK_NS: f64 = 10.0;
/// Minimum share of the time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Minimum number of objects. Traversing fewer takes tens of microseconds, so something else takes the time, such
/// as long-lived data.
const MIN_OBJECTS: u64 = 10_000;
/// Minimum number of collections.
const MIN_COUNT: usize = 20;
/// Bytes that the runtime counts per mutable object that it traverses.
const ENTRY_BYTES: u64 = 8;

pub(super) const RULE: Rule = Rule {
    name: "remembered-set",
    question: "Do minor collections traverse old mutable objects?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Returns whether a number is within a few hundredths of 1 or 2.
fn is_once_or_twice(number: f64) -> bool {
    [1.0, 2.0].iter().any(|times| (number - times).abs() < 0.03)
}

/// Returns the number at a part of a sorted list; 0 if there is none.
fn quantile(sorted: &[u64], part: f64) -> u64 {
    let index = (sorted.len() as f64 * part) as usize;
    sorted.get(index).copied().unwrap_or(0)
}

/// Returns the copied bytes of a parallel collection that no thread can have copied: the remembered set. `None` for
/// other collections, which do not log how much the busiest thread copied.
fn entry_bytes(gc: &CollectionInRange<'_>) -> Option<u64> {
    let statistics = gc
        .statistics
        .filter(|statistics| statistics.is_parallel())?;
    let by_threads = u64::from(statistics.threads).saturating_mul(statistics.max_copied_bytes);
    Some(statistics.copied_bytes.saturating_sub(by_threads))
}

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let of_kind = |is_major: bool| {
        let mut free = loss_budget.free_pauses(context.measured_collections(is_major));
        free.retain(|(index, _)| !context.is_disturbed(*index));
        free
    };
    let (found, majors) = (of_kind(false), of_kind(true));
    let sums = |collections: &[(usize, &CollectionInRange<'_>)]| {
        collections
            .iter()
            .fold((0.0, 0.0, 0.0), |(ns, copied, allocated), (_, gc)| {
                let statistics = gc.statistics.copied().unwrap_or_default();
                (
                    ns + gc.pause_ns() as f64,
                    copied + statistics.copied_bytes as f64,
                    allocated + statistics.allocated_bytes as f64,
                )
            })
    };
    let (pause_ns, copied, allocated) = sums(&found);
    let (major_ns, major_copied, _) = sums(&majors);
    let ratio = copied / allocated.max(1.0);
    let young = (CANNOT_BE_YOUNG + promoted_bytes(context) / allocated.max(1.0)).min(ALL_TWICE);
    let slower = (pause_ns / copied.max(1.0)) / (major_ns / major_copied.max(1.0)).max(0.01);
    let share = context.share(pause_ns as u64);
    // Parallel collections wake each other's threads and share the work, so their time per byte is meaningless.
    let parallel = found.iter().filter(|(_, gc)| gc.is_parallel()).count();
    let is_slower = major_copied > 0.0 && slower >= SLOWER && parallel * 2 < found.len();
    let mut copied_in_each: Vec<u64> = found
        .iter()
        .filter_map(|(_, gc)| gc.statistics)
        .map(|statistics| statistics.copied_bytes)
        .collect();
    copied_in_each.sort_unstable();
    // With hardly any live young data, only the entries remain.
    let copied_in = |part: f64| quantile(&copied_in_each, part);
    let fewest = copied_in(0.05);
    // If all young data lives, each collection copies the whole area once or twice.
    let is_steady = copied_in(0.75) - fewest <= STEADY_BYTES && !is_once_or_twice(ratio);
    // What no thread copied is entries, which the runtime adds to the copied bytes.
    let mut entries: Vec<u64> = found.iter().filter_map(|(_, gc)| entry_bytes(gc)).collect();
    entries.sort_unstable();
    // Collections while the objects are made have fewer.
    let fewest_entries = quantile(&entries, 0.25);
    let are_entries = parallel * 2 >= found.len()
        && fewest_entries * 2 >= copied_in(0.5)
        && fewest_entries / ENTRY_BYTES >= MIN_OBJECTS;
    let fewest = if are_entries { fewest_entries } else { fewest };
    let objects = fewest / ENTRY_BYTES;
    let is_more = ratio >= MIN_COPIED && (ratio > young || is_slower);
    // The median: on a busy machine some collections take many times as long, whatever they look through.
    let mut each: Vec<u64> = found.iter().map(|(_, gc)| gc.pause_ns()).collect();
    let each_ns = median(&mut each) as f64;
    let clearing_ns = (context.allocation_area_bytes() >> 12) as f64 * BLOCK_NS;
    let is_serial = parallel * 2 < found.len();
    let copying_ns = copied_in(0.75) as f64 * SLOW_BYTE_NS;
    let scans_only = is_serial && each_ns >= copying_ns.max(EMPTY_NS + clearing_ns);
    let scans = scans_only || is_slower && slower >= MUCH_SLOWER && each_ns >= LONG_NS;
    // A loop that retains what it makes copies the same number of bytes each time, too.
    let is_retained = MinorTotals::new(context, &found).is_lasting();
    let has_list = objects >= MIN_OBJECTS && (is_steady && !is_retained || is_more || are_entries);
    if found.len() < MIN_COUNT || share < MIN_SHARE || !(has_list || scans) {
        return Outcome::Clear(format!(
            "minor collections copied {ratio:.2} times what was allocated, most of them {} to {}, in {} of the time; the smallest would be {} old mutable objects; the limits are 0.5, or the same to the byte, 5 % and 10,000, or a byte that takes 4 times as long as in major collections (here {slower:.1}) and 1 ms for each, or 0.3 ms for each and 10 ns for a byte",
            format::bytes(fewest),
            format::bytes(copied_in(0.75)),
            format::fraction(share),
            format::count(objects)
        ));
    }
    // If the same amount is copied each time, it consists of entries only.
    let is_list = (is_steady || are_entries) && has_list;
    let what = match is_list {
        true => format!(
            "some {} old mutable objects, or parts of large arrays",
            format::count(objects)
        ),
        false => "old data, perhaps a large array of boxed values, many stacks or stable pointers"
            .to_owned(),
    };
    let title = format!(
        "{} took {} of the time: each looks through {what}",
        format::pluralize(found.len() as u64, "minor collection"),
        format::fraction(share),
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    // Data of threads that could not run is copied again and again, too, if there are more capabilities than cores.
    finding.confidence = match is_list || is_serial {
        true => Confidence::Probable,
        false => Confidence::Hint,
    };
    finding.meaning = "Every collection scans changed references and arrays of boxed values, however old, because they may point to young data. It also scans the stacks of threads that ran, and all stable pointers (newStablePtr).".into();
    finding.tries = vec![Advice::code(
        "Use unboxed arrays for numbers: they contain no pointers.",
    )];
    if is_list {
        finding.tries.push(Advice::code(
            "Replace many small arrays by one large array: only its changed parts are scanned.",
        ));
    }
    if !is_list {
        finding.tries.push(Advice::code(
            "Without such arrays: free stable pointers (freeStablePtr), and let fewer threads live at a time.",
        ));
    }
    if context.larger_areas().any(|(flag, _)| flag == "-A16m") {
        finding.tries.push(Advice::flag(
            "-A16m",
            "Collect less often. Measure it.",
            "memory: 16 MiB for each capability; the processor's cache helps less",
        ));
    }
    finding.distrust =
        "Young data that mostly survives for a while looks similar, if the machine was busy."
            .into();
    finding.set_numbers([
        ("copied of what was allocated", Value::Share(ratio)),
        (
            "time for a byte, of that of major collections",
            Value::Times(slower),
        ),
        ("objects, about", Value::Count(objects)),
    ]);
    Outcome::Found(vec![finding])
}
