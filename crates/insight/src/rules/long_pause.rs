//! How long are the pauses?
//!
//! Where the heap is counted for a profile, that takes most of the collection: without
//! the profile the program has no such pause, so another rule tells of it. What the longest
//! stop was busy with decides what may help: to wait for all, to copy, or neither.

use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Axis, Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use eventlog::ids::Duration;
use model::format;

/// Who waits for an answer feels it: three frames of a picture.
const LONG_NS: u64 = 50_000_000;

/// A collector copies twenty times as much in that time, even where it has to look at each object:
/// in bytes a microsecond.
const LEAST_COPIED: u64 = 20;

const NAME: &str = "long-pause";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "How long are the pauses?",
    inputs: &[Input::Collections],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let counts = |stop: &GcPause<'_>| stop.all_ns() >= LONG_NS && context.has_census(stop);
    let stops = context.stops.iter().filter(|stop| !counts(stop));
    let mut all: Vec<u64> = stops.map(GcPause::all_ns).collect();
    all.sort_unstable();
    let longest_ns = all.last().copied().unwrap_or(0);
    let longest = format::duration(Duration(longest_ns));
    if longest_ns < LONG_NS {
        return Outcome::Clear(format!(
            "the longest stop was {longest}; the limit is 50 ms"
        ));
    }
    let is_long = |stop: &GcPause<'_>| stop.all_ns() >= LONG_NS && !context.has_census(stop);
    let found: Vec<_> = context.stops_where(is_long).collect();
    let title = match found.len() as u64 {
        1 => format!("A pause of {longest}"),
        count => format!(
            "{} pauses of 50 ms or more, the longest {longest}",
            format::count(count)
        ),
    };
    let mut finding = Finding::new(NAME, Axis::Latency, title);
    finding.severity = Severity::of_latency(longest_ns);
    finding.cost = Value::Ns(longest_ns);
    finding.share = context.share(longest_ns);
    let worst = found.iter().max_by_key(|(_, stop)| stop.all_ns());
    if let Some((place, worst)) = worst {
        advise(context, (*place, worst), &mut finding);
    }
    finding.distrust =
        "It does not matter in a program that nobody waits for, such as a batch job.".into();
    // Of a hundred stops, 99 are not longer.
    let p99 = all.get((all.len() * 99).div_ceil(100).saturating_sub(1));
    finding.numbers = vec![
        ("longest".into(), Value::Ns(longest_ns)),
        (
            "99 % are not longer than".into(),
            Value::Ns(p99.copied().unwrap_or(0)),
        ),
        ("stops".into(), Value::Count(all.len() as u64)),
    ];
    let evidence = RuleContext::evidence_of(found.iter().map(|(_, stop)| *stop), |stop| {
        Value::Ns(stop.all_ns())
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}

/// What the longest stop was busy with, and what may help.
fn advise(context: &RuleContext<'_>, (place, stop): (usize, &GcPause<'_>), finding: &mut Finding) {
    let copied = stop.told.map(|told| told.copied_bytes);
    let is_too_long = |bytes: &u64| {
        let takes_less = *bytes < stop.pause_ns() / 1_000 * LEAST_COPIED;
        takes_less && !stop.is_major || context.is_disturbed(place)
    };
    let hardly_copied = copied.filter(is_too_long);
    if stop.sync_ns() * 2 >= stop.all_ns() {
        finding.meaning = "Nothing is answered meanwhile. Most of the longest pause was the wait until all capabilities had stopped.".into();
        finding.tries.push(Try::code(
            "Let loops allocate, or compile them with -fno-omit-yields, and import long foreign calls as safe: else they cannot be stopped.",
        ));
    } else if let Some(bytes) = hardly_copied {
        finding.confidence = Confidence::Hint;
        finding.meaning = format!(
            "Nothing is answered and nothing is computed meanwhile. The longest collection copied {}, which takes no such time: its threads waited for cores of the machine, or for memory.",
            format::bytes(bytes)
        )
        .into();
        finding.tries.push(Try::flag(
            "-qg",
            "Collect with one thread, which waits for no other.",
            "large collections take longer",
        ));
        finding.tries.push(Try::code(
            "Run it where nothing else needs the cores, with no more capabilities than these.",
        ));
    } else {
        finding.meaning = "Nothing is answered and nothing is computed meanwhile.".into();
        if stop.is_major {
            finding.tries.push(Try::flag(
                "--nonmoving-gc",
                "Collect the old generation while the program runs (GHC 8.10 and later), if answers in time count for more than throughput.",
                "time: the program runs slower; memory; not with -G1, -c or heap profiles",
            ));
        }
        finding.tries.push(Try::code(
            "Keep less data alive, or keep what does not change in a compact region: collections copy what is alive.",
        ));
    }
}
