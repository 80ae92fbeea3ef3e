//! Who asks for full collections?
//!
//! A collection of all generations before which hardly anything was allocated, without
//! idling, was asked for: by `performGC`, or by the runtime for another reason than allocation.

use super::asked_for::{LEAST, asked_for, claim};
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::yielder::Yield;
use model::format;

const NAME: &str = "forced-gc";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Who asks for full collections?",
    inputs: &[Input::Threads, Input::GcStatistics],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let censuses = |stop: &crate::context::GcPause<'_>| context.has_census(stop);
    let found = asked_for(context, loss_budget, false, yielder).await;
    let found: Vec<_> = found
        .into_iter()
        .filter(|(_, stop)| !censuses(stop))
        .collect();
    let count = found.len() as u64;
    if found.len() < LEAST {
        let count = format::many(count, "collection");
        return Outcome::Clear(format!(
            "{count} came without much allocation; the limit is 3"
        ));
    }
    let all = context.stops_where(|stop| stop.is_major).count() as u64;
    let title = format!(
        "{} of {} were asked for: allocation required none of them",
        format::count(count),
        format::many(all, "major collection")
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    finding.meaning = "Something, the program or a library, asks for full collections; each copies all live data.".into();
    finding.tries = vec![Try::code(
        "Drop calls of performGC, performMajorGC and their like, or make fewer of them.",
    )];
    finding.distrust = "Large objects (-AL), a limit of the heap (-M) and setNumCapabilities bring collections about early too.".into();
    finding.numbers = vec![
        ("asked for".into(), Value::Count(count)),
        ("major collections".into(), Value::Count(all)),
    ];
    Outcome::Found(vec![finding])
}
