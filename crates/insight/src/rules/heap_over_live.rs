//! Is the heap a multiple of live data?
//!
//! A copying collector needs more memory than live data: with `-F2` the old generation may grow to twice that
//! before it is collected, and during the collection its live data exists twice. Only memory beyond that and the
//! allocation areas counts.

use super::prelude::*;
use model::gauge::Samples;

/// Minimum excess; less is not worth a look.
const MIN_BYTES: u64 = 200_000_000;
/// Minimum excess as a share of the heap.
const MIN_SHARE: f64 = 0.20;

/// Allocation areas matter by themselves if they are this share of the heap, and live data less than this part of them.
const MAX_AREAS: f64 = 0.50;
const LITTLE_LIVE: u64 = 16;

pub(super) const RULE: Rule = Rule {
    name: "heap-over-live",
    question: "Is the heap a multiple of live data?",
    inputs: &[Input::GcStatistics],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

/// The heap at its maximum.
struct Peak {
    at: Nanos,
    held_bytes: u64,
    /// Live data at that time: the maximum of the major collections around it.
    live_bytes: u64,
}

impl Peak {
    fn find(context: &RuleContext<'_>) -> Option<Self> {
        let numbers = &context.log.numbers;
        let (sizes, live) = (numbers.heap_sizes(), numbers.live());
        let (from, to) = (context.range.start().0, context.range.end().0);
        // Among equal sizes take the first: the live data at that time caused the growth.
        let indices = sizes.first_at(from)..sizes.first_after(to);
        let index = indices.reduce(|most, next| {
            if sizes.value(next) > sizes.value(most) {
                next
            } else {
                most
            }
        })?;
        let at = sizes.time(index);
        let next = live.first_after(at);
        // The size may be logged after its own collection's live data, but earlier live data caused the growth.
        let around = next.saturating_sub(2)..(next + 1).min(live.len());
        // The final collection of the runtime finds none of the program's data alive.
        around.clone().find(|one| live.time(*one) <= to)?;
        Some(Self {
            at: Nanos(at),
            held_bytes: sizes.value(index),
            live_bytes: around.map(|one| live.value(one)).max()?,
        })
    }
}

/// Returns the maximum observed allocation of a capability between collections, times capabilities. The arguments
/// do not show areas set by compiled-in options.
async fn areas_seen_bytes(context: &RuleContext<'_>) -> u64 {
    let (mut area, mut steps) = (0, context.steps());
    let starts = || {
        let statistics = context.log.numbers.collections_with_statistics().iter();
        statistics.map(|statistics| statistics.start)
    };
    // A collection logs the allocation before it after its own start.
    for (from, to) in starts().zip(starts().skip(1).chain([Nanos(u64::MAX)])) {
        steps.step().await;
        area = area.max(context.log.numbers.most_allocated_bytes(from, to));
    }
    area.saturating_mul(context.caps)
}

/// Creates the finding on allocation areas that are nearly all of the heap.
fn of_areas(context: &RuleContext<'_>, peak: &Peak) -> Option<Finding> {
    let area = context.allocation_area_bytes();
    let areas = area.saturating_mul(context.caps).min(peak.held_bytes);
    let share = areas as f64 / peak.held_bytes.max(1) as f64;
    let is_little = peak.live_bytes < areas / LITTLE_LIVE;
    if areas < MIN_BYTES || share < MAX_AREAS || !is_little {
        return None;
    }
    let title = format!(
        "Allocation areas take {} of {} of memory; {} is live",
        format::bytes(areas),
        format::bytes(peak.held_bytes),
        format::bytes(peak.live_bytes)
    );
    let mut finding = Finding::of_memory(RULE.name, title, (areas, share));
    finding.severity = finding.severity.min(Severity::Medium);
    finding.confidence = Confidence::Certain;
    finding.meaning = format!(
        "Each capability fills an allocation area of {} (-A) before it collects. With so little live data, collections stay cheap with a smaller area, which may fit the processor's cache.",
        format::bytes(area)
    )
    .into();
    finding.tries = vec![Advice::flag(
        "-A16m",
        "Use a smaller area. Measure the time too.",
        "more minor collections",
    )];
    finding.distrust =
        "A program that must not pause may want no collection at all in this time.".into();
    finding.set_numbers([
        ("held", Value::Bytes(peak.held_bytes)),
        ("alive", Value::Bytes(peak.live_bytes)),
        ("allocation areas", Value::Bytes(areas)),
    ]);
    let evidence = Evidence::new(Interval::empty_at(peak.at), Value::Bytes(areas));
    Some(finding.with_evidence([evidence]))
}

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    if context.is_nonmoving() {
        return Outcome::CannotTell(
            "the nonmoving collector does not copy, so the usual ratio is unknown".into(),
        );
    }
    let Some(peak) = Peak::find(context) else {
        return Outcome::CannotTell(
            "no major collection shows the live data at the heap's peak".into(),
        );
    };
    if let Some(finding) = of_areas(context, &peak) {
        return Outcome::Found(vec![finding]);
    }
    let first = context.log.numbers.collections_with_statistics().first();
    let at_first = first.and_then(|first| first.heap_size_bytes);
    if at_first.is_some_and(|bytes| bytes >= peak.held_bytes) {
        return Outcome::Clear(
            "the heap was as large at the first collection, as the options require".to_owned(),
        );
    }
    let factor = context.old_generation_factor();
    let copying = (peak.live_bytes as f64 * (1.0 + factor)) as u64;
    let beyond = |areas: u64| {
        let usual = peak.live_bytes.saturating_add(copying);
        peak.held_bytes.saturating_sub(usual.saturating_add(areas))
    };
    let mut areas = context.allocation_area_bytes().saturating_mul(context.caps);
    if beyond(areas) >= MIN_BYTES {
        areas = areas.max(areas_seen_bytes(context).await);
    }
    let excess = beyond(areas);
    let share = excess as f64 / peak.held_bytes.max(1) as f64;
    let said = format!(
        "{} held for {} live",
        format::bytes(peak.held_bytes),
        format::bytes(peak.live_bytes)
    );
    if excess < MIN_BYTES || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "at the peak {said}: normal for a copying collector ({} more than live data, its copies and allocation areas need; the limits are 200 MB and 20 %)",
            format::bytes(excess)
        ));
    }
    let mut finding = Finding::of_memory(RULE.name, said, (excess, share));
    finding.meaning = format!(
        "With -F{factor}, the copying collector may need {} times the live data. The program holds {} more than that and the allocation areas.",
        2.0 + factor,
        format::bytes(excess)
    )
    .into();
    finding.tries = vec![
        Advice::code(
            "Large and pinned objects do not move, and a few that live long can retain whole megablocks: copy those that are kept, or allocate them first.",
        ),
        Advice::flag(
            "-F1.5",
            "Collect the old generation earlier.",
            "more time in major collections",
        ),
        Advice::flag(
            "-c",
            "Compact the old generation instead of copying it.",
            "longer major collections; large and pinned objects still stay where they are",
        ),
    ];
    finding.distrust = "The runtime returns memory of an earlier peak slowly, and options compiled into the program, such as -F4, may use more on purpose.".into();
    finding.set_numbers([
        ("held", Value::Bytes(peak.held_bytes)),
        ("alive", Value::Bytes(peak.live_bytes)),
        ("for copying and garbage", Value::Bytes(copying)),
        ("allocation areas", Value::Bytes(areas)),
        ("beyond that", Value::Bytes(excess)),
    ]);
    let evidence = Evidence::new(Interval::empty_at(peak.at), Value::Bytes(excess));
    Outcome::Found(vec![finding.with_evidence([evidence])])
}
