//! Does one cost centre have much of the time?
//!
//! Profile samples (`-p`) show the innermost cost centre at each tick. That is no loss by itself; it shows where
//! to look first.

use super::prelude::*;
use analysis::flamegraph::sources;
use eventlog::hash::SeededMap;
use model::profile::frames::FrameKind;
use model::profile::stack_source::FlameSelection;

/// Minimum share of the samples in the program's own code; at most two others can have as much.
const MIN_SHARE: f64 = 0.30;
/// Minimum number of samples; with fewer the relative error of such a share exceeds a tenth.
const MIN_COUNT: u64 = 200;

pub(super) const RULE: Rule = Rule {
    name: "hot-cost-centre",
    question: "Does one cost centre take much of the time?",
    inputs: &[],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let choice = FlameSelection {
        source: sources::COST_CENTRES,
        range: Some(context.range),
        ..FlameSelection::default()
    };
    let Some(origin) = context.log.stack_source(choice.source) else {
        return Outcome::CannotTell(
            "the log has no samples of cost centres: build with -prof -fprof-late, run with +RTS -p -l"
                .into(),
        );
    };
    let weighed = origin.weighted_stacks(&choice);
    let names: Vec<Option<String>> = weighed
        .frames
        .iter()
        // GC, IDLE and SYSTEM are not code of the program.
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
    if samples < MIN_COUNT || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "of {} in the program's code, at most {} are in one cost centre; the limits are 200 and 30 %",
            format::pluralize(samples, "sample"),
            format::fraction(share)
        ));
    }
    let title = format!(
        "{name} has {} of the time in cost centres",
        format::fraction(share)
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.subject = Some(name.to_owned());
    // The program does its work there; the time is not lost.
    finding.severity = Severity::Low;
    finding.cost = Value::Count(own);
    finding.meaning = "Its own code, excluding callees, takes the most time in the program's code: optimize it first.".into();
    finding.tries = vec![
        Advice::code(
            "Find its callers in the flame graph's sandwich view: calling it less often helps as much.",
        ),
        Advice::measure(
            "-fprof-late",
            "Cost centres that are added after optimization hardly slow the code down (GHC 9.4 and later).",
        ),
    ];
    finding.distrust = "Cost centres prevent some optimizations: small functions that are called often look slower than they are.".into();
    finding.set_numbers([
        ("of its samples", Value::Share(share)),
        ("samples", Value::Count(samples)),
    ]);
    finding.counted = "sample".into();
    let evidence = Evidence::new(context.range, Value::Count(own));
    Outcome::Found(vec![finding.with_evidence([evidence])])
}
