//! Why is the heap a multiple of live data?
//!
//! A copying collector needs more than what is alive: with `-F2` the old generation may
//! grow to twice that before it is collected, and what is alive in it is there twice
//! meanwhile. Only what goes beyond that, and beyond the allocation areas, is looked at.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Evidence, Finding, Outcome, Try, Value};
use analysis::yielder::{Steps, Yield};
use eventlog::ids::Nanos;
use model::format;
use model::gauge::Samples;
use model::time::Interval;

/// Less is not worth a look.
const LEAST_BYTES: u64 = 200_000_000;
/// Of the heap.
const LEAST_SHARE: f64 = 0.20;

const NAME: &str = "heap-over-live";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Is the heap a multiple of live data?",
    inputs: &[Input::GcStatistics],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

/// The heap at its largest.
struct Peak {
    at: Nanos,
    held_bytes: u64,
    /// What was alive then, the most that the major collections around it tell.
    live_bytes: u64,
}

impl Peak {
    fn in_scope(context: &RuleContext<'_>) -> Option<Self> {
        let numbers = &context.log.numbers;
        let (sizes, live) = (numbers.heap_sizes(), numbers.live());
        let (from, to) = (context.range.start().0, context.range.end().0);
        // The first of equal ones: what was alive there is what made it so large.
        let places = sizes.first_at(from)..sizes.first_after(to);
        let place = places.reduce(|most, next| {
            if sizes.value(next) > sizes.value(most) {
                next
            } else {
                most
            }
        })?;
        let at = sizes.time(place);
        let next = live.first_after(at);
        // The heap may be told after what its own collection left alive: what was alive
        // before that let it grow.
        let around = next.saturating_sub(2)..(next + 1).min(live.len());
        // The collection at the runtime's end finds nothing of the program's alive any more.
        around.clone().find(|one| live.time(*one) <= to)?;
        Some(Self {
            at: Nanos(at),
            held_bytes: sizes.value(place),
            live_bytes: around.map(|one| live.value(one)).max()?,
        })
    }
}

/// The most that a capability was seen to allocate between two collections, for each of
/// them: options may be compiled into the program, so that the arguments do not say it.
async fn areas_seen_bytes(context: &RuleContext<'_>, yielder: &dyn Yield) -> u64 {
    let (mut area, mut steps) = (0, Steps::new(yielder));
    let starts = || {
        let told = context.log.numbers.told_collections().iter();
        told.map(|told| told.start)
    };
    // A collection tells of what was allocated before it once it has begun.
    for (from, to) in starts().zip(starts().skip(1).chain([Nanos(u64::MAX)])) {
        steps.step().await;
        area = area.max(context.log.numbers.most_allocated_bytes(from, to));
    }
    area.saturating_mul(context.caps)
}

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    if context.is_nonmoving() {
        return Outcome::CannotTell(
            "the nonmoving collector does not copy, so what is usual is not known".into(),
        );
    }
    let Some(peak) = Peak::in_scope(context) else {
        return Outcome::CannotTell(
            "no major collection says what was alive when the heap was largest".into(),
        );
    };
    let first = context.log.numbers.told_collections().first();
    let at_first = first.and_then(|first| first.heap_size_bytes);
    if at_first.is_some_and(|bytes| bytes >= peak.held_bytes) {
        return Outcome::Clear(
            "the heap was as large at the first collection: that is what the options ask for"
                .to_owned(),
        );
    }
    let factor = context.old_generation_factor();
    let copying = (peak.live_bytes as f64 * (1.0 + factor)) as u64;
    let beyond = |areas: u64| {
        let usual = peak.live_bytes.saturating_add(copying);
        peak.held_bytes.saturating_sub(usual.saturating_add(areas))
    };
    let mut areas = context.allocation_area_bytes().saturating_mul(context.caps);
    if beyond(areas) >= LEAST_BYTES {
        areas = areas.max(areas_seen_bytes(context, yielder).await);
    }
    let excess = beyond(areas);
    let share = excess as f64 / peak.held_bytes.max(1) as f64;
    let said = format!(
        "{} held for {} live",
        format::bytes(peak.held_bytes),
        format::bytes(peak.live_bytes)
    );
    if excess < LEAST_BYTES || share < LEAST_SHARE {
        return Outcome::Clear(format!(
            "at the peak {said}: normal for a copying collector ({} more than live data, its copies and allocation areas need; the limits are 200 MB and 20 %)",
            format::bytes(excess)
        ));
    }
    let mut finding = Finding::of_memory(NAME, said, (excess, share));
    finding.meaning = format!(
        "With -F{factor} the collector may need {} times what is alive, to copy it and to let garbage wait; {} go beyond that and the allocation areas.",
        2.0 + factor,
        format::bytes(excess)
    )
    .into();
    finding.tries = vec![
        Try::code(
            "Long-lived small pieces among short-lived ones keep whole megablocks: copy what is kept, or make it first.",
        ),
        Try::flag(
            "-F1.5",
            "Collect the old generation earlier.",
            "more time in major collections",
        ),
        Try::flag(
            "-c",
            "Compact the old generation in place of copying it.",
            "longer major collections; large and pinned objects still stay where they are",
        ),
    ];
    finding.distrust = "Memory that an earlier peak needed is given back slowly, and options that are compiled into the program, such as -F4, may ask for more on purpose.".into();
    finding.numbers = vec![
        ("held".into(), Value::Bytes(peak.held_bytes)),
        ("alive".into(), Value::Bytes(peak.live_bytes)),
        ("for copying and garbage".into(), Value::Bytes(copying)),
        ("allocation areas".into(), Value::Bytes(areas)),
        ("beyond that".into(), Value::Bytes(excess)),
    ];
    let evidence = Evidence {
        range: Interval::new(peak.at, peak.at),
        subjects: Vec::new(),
        amount: Value::Bytes(excess),
    };
    Outcome::Found(vec![finding.seen_in([evidence])])
}
