//! Where does one thread work alone?
//!
//! A program whose parts run on several capabilities, but for a stretch in which one
//! thread works and none is ready, cannot become faster than that stretch (Amdahl's law).

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::format;
use model::lane::Lane;
use model::sorting::CompactSort;
use model::time::Interval;

/// Shorter stretches are the beginning and the end of parallel work.
const LONG_NS: u64 = 10_000_000;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.10;
/// The program is looked at in so many steps at the most, of a millisecond at least.
const MOST_STEPS: u64 = 2048;
const LEAST_STEP_NS: u64 = 1_000_000;
/// A step with one at work: one capability ran for so much of it, and several for so little.
const ALONE: f64 = 0.70;
const TOGETHER: f64 = 0.10;
/// So much of what the others had free there was free for want of work.
const NOBODY_READY: f64 = 0.50;
/// A step that is a collection for more than this tells nothing.
const COLLECTING: f64 = 0.80;
/// Elsewhere several must run for so much of the time in which any ran: else it is a
/// program of one thread.
const PARALLEL: f64 = 0.50;
/// And for so much of all time.
const LEAST_PARALLEL: f64 = 0.05;
/// Or several threads must have done so much of the work there each: they take turns, for a lock
/// perhaps, where they were to run at a time.
const WORKER: f64 = 0.15;
/// So many of the parts between stretches are looked at, the longest ones.
const MOST_PARTS: usize = 4;

const NAME: &str = "serial-section";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Where does one thread work alone?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// What a step shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    OneAtWork,
    /// It is a collection, most of it.
    Nothing,
    Else,
}

/// A stretch in which one thread works.
#[derive(Clone, Copy)]
struct Stretch {
    range: Interval,
    /// For how long capabilities stood by in it, with no thread ready.
    idle_ns: u64,
}

/// The stretches, and for how long elsewhere one capability ran, and several.
#[derive(Default)]
struct Found {
    stretches: Vec<Stretch>,
    one_ns: u64,
    several_ns: u64,
}

fn steps(range: Interval) -> impl Iterator<Item = Interval> {
    let (start, end) = (range.start().0, range.end().0);
    let width = (range.duration().0 / MOST_STEPS).max(LEAST_STEP_NS);
    let starts = (0..).map_while(move |step| {
        let from = start.saturating_add(width.saturating_mul(step));
        (from < end).then_some(from)
    });
    starts.map(move |from| Interval::new(Nanos(from), Nanos(from.saturating_add(width).min(end))))
}

async fn find(context: &RuleContext<'_>, yielder: &dyn Yield) -> Found {
    let mut found = Found::default();
    let mut last: Option<Stretch> = None;
    let pauses = context.log.store.account().pauses();
    for step in steps(context.range) {
        yielder.yield_if_due().await;
        let times = context.log.times(Some(step));
        let one_ns = times.parallelism_ns.get(1).copied().unwrap_or(0);
        let several_ns: u64 = times.parallelism_ns.iter().skip(2).sum();
        let still_ns = pauses.still_in(step.start().0, step.end().0);
        let length = step.duration().0 as f64;
        let open = length - still_ns as f64;
        let idle_ns = times.all_caps().idle_ns;
        let free = open * context.caps.saturating_sub(1) as f64;
        let shows = if open < (1.0 - COLLECTING) * length {
            Shows::Nothing
        } else if one_ns as f64 >= ALONE * open
            && several_ns as f64 <= TOGETHER * open
            && idle_ns as f64 >= NOBODY_READY * free
        {
            Shows::OneAtWork
        } else {
            Shows::Else
        };
        match (shows, &mut last) {
            (Shows::OneAtWork | Shows::Nothing, Some(last)) => {
                last.range = last.range.hull(step);
                last.idle_ns += idle_ns;
            }
            (Shows::OneAtWork, None) => {
                last = Some(Stretch {
                    range: step,
                    idle_ns,
                })
            }
            (Shows::Nothing, None) => {}
            (Shows::Else, _) => {
                found.stretches.extend(last.take());
                found.one_ns += one_ns;
                found.several_ns += several_ns;
            }
        }
    }
    found.stretches.extend(last);
    found
        .stretches
        .retain(|stretch| stretch.range.duration().0 >= LONG_NS);
    found
}

/// Who ran most in a stretch.
async fn lone_thread(
    context: &RuleContext<'_>,
    range: Interval,
    yielder: &dyn Yield,
) -> Option<ThreadId> {
    let mut steps = Steps::new(yielder);
    let mut by_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let store = &context.log.store;
    for cap in context.cap_ids() {
        let Some(runs) = store.cap(cap).map(|cap| &cap.runs) else {
            continue;
        };
        for place in runs.first_ending_after(range.start().0)..runs.len() {
            steps.step().await;
            let (start, end) = runs.span(place);
            if start >= range.end().0 {
                break;
            }
            if let Some(thread) = store.thread_of(cap, place) {
                let inside = end.min(range.end().0) - start.max(range.start().0);
                *by_thread.entry(thread).or_default() += inside;
            }
        }
    }
    let most = by_thread.into_iter().max_by_key(|(_, ns)| *ns);
    most.map(|(thread, _)| thread)
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let left_ns = loss_budget.left_ns(Pool::Idle);
    if context.caps < 2 || context.share_of_caps(left_ns) < LEAST_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time, {} without another finding; the limit is 10 %",
            format::fraction(context.share_of_caps(loss_budget.all_ns(Pool::Idle))),
            format::fraction(context.share_of_caps(left_ns))
        ));
    }
    let found = find(context, yielder).await;
    let idle_ns: u64 = found.stretches.iter().map(|stretch| stretch.idle_ns).sum();
    if context.share_of_caps(idle_ns) < LEAST_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle while one thread worked alone, for 10 ms or longer, for {} of their time; the limit is 10 %",
            format::fraction(context.share_of_caps(idle_ns))
        ));
    }
    let ran_ns = found.one_ns + found.several_ns;
    let is_parallel = found.several_ns as f64 >= PARALLEL * ran_ns as f64
        && context.share(found.several_ns) >= LEAST_PARALLEL;
    let is_meant = is_parallel
        || context.share(ran_ns) >= LEAST_PARALLEL && take_turns(context, &found, yielder).await;
    if !is_meant {
        return Outcome::Clear(format!(
            "it is no parallel program: several threads ran at a time for {} of the time",
            format::fraction(context.share(found.several_ns))
        ));
    }
    let mut finding = finding(context, loss_budget, (&found, idle_ns), yielder).await;
    if !is_parallel {
        finding.confidence = Confidence::Probable;
    }
    Outcome::Found(vec![finding])
}

/// Whether several threads share the work between the stretches.
async fn take_turns(context: &RuleContext<'_>, found: &Found, yielder: &dyn Yield) -> bool {
    let starts = found.stretches.iter().map(|stretch| stretch.range.start());
    let ends = found.stretches.iter().map(|stretch| stretch.range.end());
    let starts = starts.chain([context.range.end()]);
    let ends = std::iter::once(context.range.start()).chain(ends);
    let mut parts: Vec<Interval> = { ends.zip(starts) }
        .map(|(end, start)| Interval::new(end, start.max(end)))
        .collect();
    parts.sort_small_by_key(|part| std::cmp::Reverse(part.duration()));
    parts.truncate(MOST_PARTS);
    let mut by_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for part in parts {
        for (thread, ran_ns) in context.log.store.ran_in(part, yielder).await {
            *by_thread.entry(thread).or_default() += ran_ns;
        }
    }
    by_thread.retain(|thread, _| !context.is_of_runtime(*thread));
    let all_ns: u64 = by_thread.values().sum();
    let is_worker = |ran_ns: &&u64| **ran_ns as f64 >= WORKER * all_ns as f64;
    by_thread.values().filter(is_worker).count() > 1
}

async fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (found, idle_ns): (&Found, u64),
    yielder: &dyn Yield,
) -> crate::finding::Finding {
    let alone_ns: u64 = found
        .stretches
        .iter()
        .map(|stretch| stretch.range.duration().0)
        .sum();
    let mut longest = found.stretches.clone();
    longest.sort_small_by_key(|stretch| std::cmp::Reverse(stretch.idle_ns));
    longest.truncate(crate::finding::MOST_EVIDENCE);
    let mut evidence = Vec::new();
    for stretch in longest {
        let lone = lone_thread(context, stretch.range, yielder).await;
        evidence.push(Evidence {
            range: stretch.range,
            subjects: lone.map(Subject::Thread).into_iter().collect(),
            amount: Value::Ns(stretch.range.duration().0),
        });
    }
    let mut threads = evidence.iter().flat_map(|evidence| &evidence.subjects);
    let first = threads.next().copied();
    let who = match first {
        Some(Subject::Thread(thread)) if threads.all(|other| Some(*other) == first) => {
            format!(
                "only {} worked",
                context.thread_name(thread).replacen("Thread", "thread", 1)
            )
        }
        _ => "one thread at a time worked".to_owned(),
    };
    let bound = context.length_ns() as f64 / alone_ns.max(1) as f64;
    let title = format!(
        "For {} of {} {who}: no number of cores makes this more than {bound:.1} times as fast",
        format::duration(Duration(alone_ns)),
        format::duration(Duration(context.length_ns()))
    );
    let stretches = found.stretches.iter();
    let spans = stretches.map(|stretch| (stretch.range.start().0, stretch.range.end().0));
    let mut finding = context
        .of_idle(
            (NAME, title),
            loss_budget,
            (spans.collect(), idle_ns),
            yielder,
        )
        .await;
    finding.meaning = "This part has no parallelism: the other capabilities have nothing to do, and it limits how fast the whole can be.".into();
    finding.tries = vec![
        Try::code("Parallelise this part."),
        Try::code(
            "Overlap it with other work: start what follows, or what comes before, at the same time.",
        ),
        Try::flag(
            "-N2",
            "If it cannot be divided: use fewer capabilities.",
            "the parallel parts take longer",
        ),
    ];
    finding.distrust =
        "In a program that waits for others, such as a server, there may have been no more to do."
            .into();
    let places = found.stretches.len() as u64;
    finding.numbers = vec![
        ("one thread alone".into(), Value::Ns(alone_ns)),
        ("lost capability time".into(), Value::Ns(idle_ns)),
        ("stretches".into(), Value::Count(places)),
    ];
    let mut finding = finding.seen_in(evidence);
    finding.places = places;
    finding
}
