//! Do young collections walk through old mutable objects?
//!
//! An old array of boxed values, or a reference that changed, may point to young data:
//! minor collections look through it, and the runtime counts its entry as copied. Where
//! they "copy" more than was allocated, take much longer for a byte than collections of
//! everything do, or copy the same to the byte each time, that is what they are busy with.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use model::format;

/// Of what was allocated, a minor collection copies less if it looks at young data alone.
const LEAST_COPIED: f64 = 0.5;
/// Young data alone cannot be more than was allocated.
const CANNOT_BE_YOUNG: f64 = 1.2;
/// What young data is alive differs from one collection to the next by some objects at least; the
/// list of old ones is looked through as a whole. In three quarters of the collections.
const STEADY_BYTES: u64 = 128;
/// A byte takes so much longer than in major collections, where few are entries of lists.
const SLOWER: f64 = 1.4;
/// A byte takes so many times as long, and a collection so long, only if something is looked
/// through that is not copied: the parts of a large array that changed.
const MUCH_SLOWER: f64 = 4.0;
const LONG_NS: f64 = 1_000_000.0;
/// Less of the time is not worth a change.
const LEAST_SHARE: f64 = 0.05;
/// To look through fewer takes some hundredths of a millisecond: then something else, such as
/// data that lives for long, takes the time.
const LEAST_OBJECTS: u64 = 10_000;
/// Fewer collections tell nothing.
const LEAST: usize = 20;
/// The runtime counts as much for each mutable object that it looks through.
const ENTRY_BYTES: u64 = 8;

const NAME: &str = "remembered-set";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do young collections walk through old mutable objects?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let of_kind = |is_major: bool| {
        let stops =
            context.stops_where(move |stop| stop.told.is_some() && stop.is_major == is_major);
        let free =
            stops.filter(|(place, _)| loss_budget.is_free(*place) && !context.is_disturbed(*place));
        free.collect::<Vec<_>>()
    };
    let (found, majors) = (of_kind(false), of_kind(true));
    let sums = |stops: &[(usize, &crate::context::GcPause<'_>)]| {
        stops
            .iter()
            .fold((0.0, 0.0, 0.0), |(ns, copied, allocated), (_, stop)| {
                let told = stop.told.copied().unwrap_or_default();
                (
                    ns + stop.pause_ns() as f64,
                    copied + told.copied_bytes as f64,
                    allocated + told.allocated_bytes as f64,
                )
            })
    };
    let (pause_ns, copied, allocated) = sums(&found);
    let (major_ns, major_copied, _) = sums(&majors);
    let ratio = copied / allocated.max(1.0);
    let slower = (pause_ns / copied.max(1.0)) / (major_ns / major_copied.max(1.0)).max(0.01);
    let share = context.share(pause_ns as u64);
    // Several threads wake each other and share the work: how long a byte takes tells nothing.
    let is_parallel =
        |stop: &crate::context::GcPause<'_>| stop.told.is_some_and(|told| told.is_parallel());
    let parallel = found.iter().filter(|(_, stop)| is_parallel(stop)).count();
    let is_slower = major_copied > 0.0 && slower >= SLOWER && parallel * 2 < found.len();
    let mut copied_in_each: Vec<u64> = found
        .iter()
        .filter_map(|(_, stop)| stop.told)
        .map(|told| told.copied_bytes)
        .collect();
    copied_in_each.sort_unstable();
    // Where hardly any young data was alive, the entries are what is left.
    let copied_in = |part: f64| {
        let place = (copied_in_each.len() as f64 * part) as usize;
        copied_in_each.get(place).copied().unwrap_or(0)
    };
    let fewest = copied_in(0.05);
    let is_steady = copied_in(0.75) - fewest <= STEADY_BYTES;
    let objects = fewest / ENTRY_BYTES;
    let is_more = ratio >= LEAST_COPIED && (ratio > CANNOT_BE_YOUNG || is_slower);
    let each_ns = pause_ns / found.len().max(1) as f64;
    let scans = is_slower && slower >= MUCH_SLOWER && each_ns >= LONG_NS;
    let has_list = objects >= LEAST_OBJECTS && (is_steady || is_more);
    if found.len() < LEAST || share < LEAST_SHARE || !(has_list || scans) {
        return Outcome::Clear(format!(
            "minor collections copied {ratio:.2} times what was allocated, most of them {} to {}, in {} of the time; if the least were old mutable objects, they would be {}; the limits are 0.5, or the same to the byte, 5 % and 10,000, or a byte that takes 4 times as long as in major collections (here {slower:.1}) and 1 ms for each",
            format::bytes(fewest),
            format::bytes(copied_in(0.75)),
            format::fraction(share),
            format::count(objects)
        ));
    }
    // Where the same is copied each time, it is nothing but entries.
    let is_list = is_steady && has_list;
    let what = match is_list {
        true => format!(
            "some {} old mutable objects, or parts of large arrays",
            format::count(objects)
        ),
        false => "old mutable data, such as a large array of boxed values".to_owned(),
    };
    let title = format!(
        "{} took {} of the time: each looks through {what}",
        format::many(found.len() as u64, "minor collection"),
        format::fraction(share),
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    finding.confidence = Confidence::Probable;
    finding.meaning = "Arrays of boxed values and references that changed are looked through in every collection, however old they are, as they may point to young data.".into();
    finding.tries = vec![Try::code(
        "Use unboxed arrays for numbers: they cannot point anywhere.",
    )];
    if is_list {
        finding.tries.push(Try::code(
            "Use one large array for many small ones: of it only the parts that changed are looked through.",
        ));
    }
    finding.tries.push(Try::flag(
        "-A16m",
        "Collect less often. Measure it.",
        "memory: 16 MiB for each capability; the processor's cache helps less",
    ));
    finding.distrust =
        "Young data of which most lives for a while looks similar, if the machine was busy.".into();
    finding.numbers = vec![
        ("copied of what was allocated".into(), Value::Times(ratio)),
        (
            "as long for a byte as major collections".into(),
            Value::Times(slower),
        ),
        ("objects, about".into(), Value::Count(objects)),
    ];
    Outcome::Found(vec![finding])
}
