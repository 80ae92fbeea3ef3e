//! Does one cost centre have much of the time?
//!
//! Samples of a profile (`-p`) say which cost centre was innermost at each tick. That is no
//! loss by itself: it says where to look first.

use super::{Look, Rule};
use crate::context::RuleContext;
use crate::finding::{Axis, Evidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::flamegraph::sources;
use eventlog::hash::SeededMap;
use model::format;
use model::profile::frames::FrameKind;
use model::profile::origin::Choice;

/// Of the samples in the program's own code: no other can have as much then but two.
const LEAST_SHARE: f64 = 0.30;
/// With fewer samples such a share is uncertain by more than a tenth of it.
const LEAST: u64 = 200;

const NAME: &str = "hot-cost-centre";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does one cost centre have much of the time?",
    inputs: &[],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let choice = Choice {
        source: sources::COST_CENTRES,
        range: Some(context.range),
        ..Choice::default()
    };
    let Some(origin) = context.log.origin(choice.source) else {
        return Outcome::CannotTell(
            "the log has no samples of cost centres: build with -prof -fprof-late, run with +RTS -p -l"
                .into(),
        );
    };
    let weighed = origin.weighed(&choice);
    let names: Vec<Option<String>> = weighed
        .frames
        .iter()
        // GC, IDLE and SYSTEM are no code of the program.
        .map(|(_, frame)| (frame.kind != FrameKind::BuiltIn).then(|| frame.name()))
        .collect();
    let (mut samples, mut by_name) = (0, SeededMap::<&str, u64>::default());
    for (stack, weight) in weighed.stacks.ids().zip(&weighed.own) {
        let frame = weighed.stacks.frame(stack).map(|frame| frame.0 as usize);
        if let Some(Some(name)) = frame.and_then(|frame| names.get(frame)) {
            samples += weight.count;
            *by_name.entry(name).or_default() += weight.count;
        }
    }
    let most = by_name
        .into_iter()
        .max_by_key(|(name, count)| (*count, *name));
    let (name, own) = most.unwrap_or_default();
    let share = own as f64 / samples.max(1) as f64;
    if samples < LEAST || share < LEAST_SHARE {
        return Outcome::Clear(format!(
            "of {} in the program's code the most in one cost centre are {}; the limits are 200 and 30 %",
            format::many(samples, "sample"),
            format::fraction(share)
        ));
    }
    let title = format!(
        "{name} has {} of the time in cost centres",
        format::fraction(share)
    );
    let mut finding = Finding::new(NAME, Axis::Time, title);
    finding.subject = Some(name.to_owned());
    // It is where the work is done, which is not lost.
    finding.severity = Severity::Low;
    finding.cost = Value::Count(own);
    finding.meaning = "Its own code, without what it calls, takes most of the time in the program's code: nothing else offers as much to gain.".into();
    finding.tries = vec![
        Try::code(
            "See who calls it, and how often, in the flame graph's sandwich view: calling it less helps as much.",
        ),
        Try::measure(
            "-fprof-late",
            "With cost centres that are added after optimisation, code runs nearly as without them (GHC 9.4 and later).",
        ),
    ];
    finding.distrust = "Cost centres prevent some optimisations: small functions that are called often look slower than they are.".into();
    finding.numbers = vec![
        ("of its samples".into(), Value::Share(share)),
        ("samples".into(), Value::Count(samples)),
    ];
    let evidence = Evidence {
        range: context.range,
        subjects: Vec::new(),
        amount: Value::Count(own),
    };
    Outcome::Found(vec![finding.seen_in([evidence])])
}
