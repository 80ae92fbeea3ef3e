//! Would a larger allocation area save collections?
//!
//! A minor collection copies what is alive of the most recent allocation. The more is allocated in between, the
//! more of it has died by then. A larger area saves time if collections copy much of what was allocated. If they
//! copy little, the data already dies in time, and a larger area costs cache misses; `docs/findings.md` has
//! programs of both kinds. Data that is never dropped is copied with any area: into the old generation, by two
//! collections.
//!
//! `area_estimate` computes how much an area saves.

use super::area_estimate::{COPIED, LARGE_BYTES, MinorTotals, UNCACHED_NS, default_area_advice};
use super::census::Peak;
use super::major_gc_heavy::still_grows;
use super::prelude::*;
use super::requested_collections::{claim_collections, in_other_findings};
use crate::collector::{AREA_BYTES, OLD_AREA_BYTES};

/// Minimum share of the time; less is usual for Haskell programs.
const MIN_SHARE: f64 = 0.10;
/// Minimum number of collections; fewer cannot be reduced much.
const MIN_COUNT: usize = 50;
/// Minimum share of the time for a hint without an estimate. Of 13 programs of `nofib` with a hint, six took at least
/// this: five of them became faster. Of the other seven, three did, and two became slower.
const MIN_SHARE_FOR_HINT: f64 = 0.15;
/// Share of the time from which copying matters, although no larger area certainly saves it.
const MUCH_COPYING: f64 = 0.25;
/// Share of the largest predicted saving from which a smaller area saves enough.
const MOST_SAVED: f64 = 0.75;
/// Minimum predicted saving, as a share of the time.
const MIN_SAVED: f64 = 0.06;

pub(crate) const RULE: Rule = Rule {
    name: "nursery-too-small",
    question: "Would a larger allocation area save collections?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let all = context.measured_collections(false).count();
    let found = loss_budget.free_pauses(context.measured_collections(false));
    let minors = MinorTotals::new(context, &found);
    let share = context.share(minors.pause_ns);
    let is_small = minors.median_bytes <= LARGE_BYTES.saturating_mul(context.caps);
    // If a small area was requested, the rule on costly flags advises to drop it.
    let is_area_requested = small_area_option(context).is_some() && minors.copied() < COPIED;
    if share < MIN_SHARE || found.len() < MIN_COUNT || !is_small || is_area_requested {
        let others = in_other_findings(all - found.len());
        return Outcome::Clear(format!(
            "{}{others} took {} of the time, with {} allocated before each, of which {} was copied; the limits are 10 % and {} for each capability",
            format::pluralize(minors.count, "minor collection"),
            format::fraction(share),
            format::bytes(minors.median_bytes),
            format::fraction(minors.copied()),
            format::bytes(LARGE_BYTES)
        ));
    }
    let title = format!(
        "{} took {} of the time",
        format::pluralize(minors.count, "minor collection"),
        format::fraction(share)
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    let lists = list_cells(context);
    explain(context, &minors, &mut finding);
    if let Some(share) = lists {
        let text = format!(
            "List cells are {} of the largest census: if most of them are Strings, use Text or ByteString; if they are numbers, an unboxed array or a loop without a list.",
            format::fraction(share)
        );
        finding.tries.insert(0, Advice::code(text));
    }
    finding.set_numbers([
        ("collections", Value::Count(minors.count)),
        ("allocated before each", Value::Bytes(minors.median_bytes)),
        (
            "copied of what was allocated",
            Value::Share(minors.copied()),
        ),
        ("copied that stays", Value::Bytes(minors.lasting_bytes)),
        (
            "allocated while it lives, on average",
            Value::Bytes(minors.lifetime_bytes() as u64),
        ),
    ]);
    Outcome::Found(vec![finding])
}

/// Returns the share of list cells in the largest census, if that is most of it.
fn list_cells(context: &RuleContext<'_>) -> Option<f64> {
    const MOST: f64 = 0.50;
    let peak = Peak::find(context)?;
    let bytes = peak.bytes_of(|name| matches!(name.rsplit('.').next(), Some(":" | "(:)")));
    let share = peak.share(bytes);
    (share >= MOST).then_some(share)
}

/// Returns the option that sets an area below any default.
pub(super) fn small_area_option(context: &RuleContext<'_>) -> Option<String> {
    let value = context.option_value("-A")?;
    (context.allocation_area_bytes() < OLD_AREA_BYTES).then(|| format!("-A{value}"))
}

/// Area to advise, with what it saves.
struct AdvisedArea {
    flag: &'static str,
    /// Share of the copying that it saves.
    saved: f64,
    /// Share of the time that it saves.
    gain: f64,
}

impl AdvisedArea {
    /// Finds the smallest area that saves most of what can be saved; `None` if that is little.
    fn find(context: &RuleContext<'_>, minors: &MinorTotals) -> Option<Self> {
        let most_bytes = if minors.copied() < COPIED {
            AREA_BYTES
        } else if minors.copy_ns() < UNCACHED_NS {
            LARGE_BYTES
        } else {
            u64::MAX
        };
        let areas = context.larger_areas();
        let areas = areas.filter(|(_, bytes)| *bytes <= most_bytes && !minors.is_lasting());
        let areas = areas.map(|(flag, bytes)| Self {
            flag,
            saved: minors.saved_by(minors.bytes_before_each(bytes)),
            gain: minors.gain_ns(bytes) / context.length_ns() as f64,
        });
        let useful: Vec<Self> = areas.filter(|area| area.gain >= MIN_SAVED).collect();
        let best = useful.iter().map(|area| area.gain).fold(0.0, f64::max);
        { useful.into_iter() }.find(|area| area.gain >= MOST_SAVED * best)
    }
}

/// Says what was copied, and how much of that a larger area would save.
fn explain(context: &RuleContext<'_>, minors: &MinorTotals, finding: &mut Finding) {
    let area = AdvisedArea::find(context, minors);
    let gain = area.as_ref().map_or(0.0, |area| area.gain);
    finding.confidence = area
        .as_ref()
        .map_or(Confidence::Hint, |_| Confidence::Probable);
    let is_unsure = area.is_none() && !minors.is_lasting() && minors.copied() >= COPIED;
    let least = match is_unsure && finding.share >= MUCH_COPYING {
        true => Severity::Medium,
        false => Severity::Low,
    };
    finding.severity = Severity::of_share(gain).max(least).min(finding.severity);
    finding.meaning = meaning(minors, area.as_ref()).into();
    finding.distrust = match minors.is_lasting() {
        true => "Data that stays alive to the end may still be dropped later in a longer run.",
        false => {
            "How long data lives is an estimate: data that is alive all the time makes it too long."
        }
    }
    .into();
    if let Some(area) = area {
        finding.distrust = "The estimate assumes that old and new data die alike.".into();
        finding.tries.push(Advice::flag(
            area.flag,
            format!(
                "Collect less often: an estimated {} of what is copied would be garbage by then. With rarer major collections and more cache misses, that saves an estimated {} of the time; in measured programs it was between none and several times as much.",
                format::fraction(area.saved),
                format::fraction(area.gain)
            ),
            "memory: as much for each capability; an area larger than the processor's cache slows some programs down",
        ));
    } else if !minors.is_lasting() && minors.copied() < COPIED {
        finding.distrust =
            "If the area fits the processor's cache, a larger one slows the program itself down."
                .into();
        if minors.gain_ns(AREA_BYTES) > 0.0 && finding.share >= MIN_SHARE_FOR_HINT {
            finding.tries.extend(default_area_advice(context));
        }
    }
    if is_unsure && still_grows(context) {
        finding.tries.push(Advice::code("Measure larger areas (eventscope try): the lifetime of data is an average, and the gain depends on how much of it lives shorter."));
    }
    if let Some(flag) = small_area_option(context) {
        finding.tries.push(Advice::code(format!(
            "Drop {flag}: the default is 1 MiB before GHC 9.2, and 4 MiB since."
        )));
    }
    finding.tries.push(Advice::code(match minors.copied() < COPIED {
        true => "Allocate less: for example Text or ByteString in place of String (and of read and show), or loops without lists and boxed numbers. A profile by cost centres (-p) or ticky counters name the code that allocates.",
        false => "Allocate less: a profile by cost centres (-p) or ticky counters name the code that allocates.",
    }));
}

/// Returns whether nearly all that is allocated is garbage at the next collection.
fn is_short_lived(minors: &MinorTotals) -> bool {
    minors.copied() < COPIED && minors.copy_little()
}

fn meaning(minors: &MinorTotals, area: Option<&AdvisedArea>) -> String {
    let copied = format::fraction(minors.copied());
    if minors.is_lasting() {
        return format!(
            "Most of the {} that they copied is live at the end, and copied up to twice: a larger allocation area does not avoid that.",
            format::bytes(minors.lasting_bytes)
        );
    }
    let copied = format!(
        "Collections copied {copied} of the allocated bytes, not counting what stays to the end."
    );
    if area.is_none() && is_short_lived(minors) {
        return format!(
            "{copied} What the program allocates is garbage soon, and there is much of it: {} in each second that a thread runs. Each collection takes some 10 microseconds even if it copies nothing: fewer of them may save time (eventscope try), unless larger areas do not fit the processor's caches.",
            format::bytes(minors.allocated_per_running_second())
        );
    }
    let then = match area {
        Some(_) => "",
        None => {
            " If that estimate is right, larger areas save little copying; how many cache misses they cost depends on the processor."
        }
    };
    let lifetime = format::bytes(minors.lifetime_bytes() as u64);
    format!(
        "{copied} That data stays alive while the program allocates {lifetime} more, on average.{then}"
    )
}
