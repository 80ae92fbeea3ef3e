//! Did threads wait beside idle capabilities?
//!
//! Each capability has a queue of its own. A thread that can run waits in one of them,
//! even if another capability has nothing to do: until the runtime moves it, which it
//! never does with threads of `forkOn`, and with none under `-qm`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Outcome, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::threads::Wait;
use analysis::timeline::lives::RunOn;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::Yield;
use eventlog::ids::{CapId, Duration};
use model::class::Class;
use model::format;
use model::lane::Lane;
use model::time::Interval;

/// Shorter waits end by themselves: the runtime moves threads now and then.
pub(super) const LONG_NS: u64 = 1_000_000;
/// Programs with sparks reach a tenth of the capabilities' time without any fault.
const LEAST_SHARE: f64 = 0.15;
/// A capability that ran for so much of a wait was the reason for it.
const BUSY: f64 = 0.50;
/// A thread that may be interrupted runs for a time slice, 20 ms, and until it next allocates.
const NO_BREAK_NS: u64 = 50_000_000;
/// Less is what threads take until they have found their places when the program starts.
const LEAST_NS: u64 = 10_000_000;

pub(super) const NAME: &str = "ready-while-idle";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Did threads wait beside idle capabilities?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// The parts of a wait, each with the capability in whose queue the thread stood: until it was
/// moved, that is the one that it was moved from.
pub(super) fn queues(
    context: &RuleContext<'_>,
    wait: &Wait,
    turn: &WaitRunCycle,
) -> Vec<(Option<CapId>, Interval)> {
    let (from, to) = (wait.range.start(), wait.range.end());
    match context.log.store.moved(wait.thread, turn) {
        Some((at, before)) if from < at && at <= to => vec![
            (before, Interval::new(from, at)),
            (wait.cap, Interval::new(at, to)),
        ],
        _ => vec![(wait.cap, wait.range)],
    }
}

/// The capability in whose queue a thread stood for most of its wait, if it was busy for most of
/// that: else the thread did not wait for it, but both for a core of the machine.
fn busy_queue(context: &RuleContext<'_>, wait: &Wait, turn: &WaitRunCycle) -> Option<CapId> {
    let queues = queues(context, wait, turn);
    let ran_ns = |(cap, range): &(Option<CapId>, Interval)| {
        let lane = cap.and_then(|cap| context.log.store.cap(cap));
        let ran = lane.map(|cap| cap.runs.time_in(*range));
        ran.map_or(0, |times| {
            times[Class::Running as usize] + times[Class::Open as usize]
        })
    };
    let all_ns: u64 = queues.iter().map(ran_ns).sum();
    let longest = queues.into_iter().max_by_key(|(_, range)| range.duration());
    let cap = longest.and_then(|(cap, _)| cap)?;
    (all_ns as f64 >= BUSY * wait.ns as f64).then_some(cap)
}

/// The longest run of another thread in a wait, on the capability of its queue.
fn longest_run(context: &RuleContext<'_>, wait: &Wait) -> Option<RunOn> {
    let runs = wait
        .cap
        .into_iter()
        .flat_map(|cap| context.log.store.runs_over(cap, wait.range));
    let others = runs
        .map(|(_, run)| run)
        .filter(|run| run.thread != wait.thread);
    others.max_by_key(|run| run.end_ns - run.start_ns)
}

/// Long waits for a busy capability, which they name, during which another one stood by.
async fn long_waits(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<Wait> {
    let mut waits = Vec::new();
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        if turn.1.ready_parts().idle_ns > 0 && turn.1.duration(1) > LONG_NS {
            let wait = context.wait(life, turn, 1);
            let wait = wait.filter(|wait| wait.ns > LONG_NS);
            waits.extend(wait.and_then(|wait| {
                let cap = Some(busy_queue(context, &wait, turn.1)?);
                Some(Wait { cap, ..wait })
            }));
        }
    };
    context.each_turn(yielder, look).await;
    waits
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let clear = |cap_ns| {
        let share = format::fraction(context.share_of_caps(cap_ns));
        Outcome::Clear(format!(
            "capabilities were idle beside threads that were ready for > 1 ms, behind a busy capability, for {share} of their time; the limits are 15 % and 10 ms"
        ))
    };
    // Shorter waits are hand-overs.
    let any_ns = loss_budget.all_ns(Pool::ReadyLong);
    if context.caps < 2 || context.share_of_caps(any_ns) < LEAST_SHARE {
        return clear(any_ns);
    }
    let waits = long_waits(context, yielder).await;
    let cap_ns = context
        .beside_idle_ns(waits.iter().map(Wait::span), yielder)
        .await
        .min(any_ns);
    if context.share_of_caps(cap_ns) < LEAST_SHARE || cap_ns < LEAST_NS {
        return clear(cap_ns);
    }
    let threads: BTreeSet<_> = waits.iter().map(|wait| wait.thread).collect();
    let all_ns: u64 = waits.iter().map(|wait| wait.ns).sum();
    let mut by_cap: BTreeMap<CapId, u64> = BTreeMap::new();
    for wait in &waits {
        if let Some(cap) = wait.cap {
            *by_cap.entry(cap).or_default() += wait.ns;
        }
    }
    let worst = by_cap.into_iter().max_by_key(|(_, ns)| *ns);
    let whose = match worst {
        Some((cap, ns)) if ns * 2 > all_ns => format!("capability {cap}"),
        _ => "a capability".to_owned(),
    };
    let longest = waits.iter().max_by_key(|wait| wait.ns);
    let loops = longest.and_then(|wait| longest_run(context, wait));
    let loops = loops.filter(|run| run.end_ns - run.start_ns >= NO_BREAK_NS);
    let title = format!(
        "{} waited for {whose}, {} in all, while others were idle",
        format::many(threads.len() as u64, "thread"),
        format::duration(Duration(all_ns))
    );
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::ReadyLong, cap_ns));
    finding.meaning =
        "There was work and a free capability, but the work stood in the queue of another one."
            .into();
    if let Some(run) = loops {
        finding.meaning = format!(
            "There was work and a free capability, but the work stood in the queue of another one, where {} ran for {} without a break: a loop that does not allocate is not interrupted.",
            context.thread_name(run.thread).replacen("Thread", "thread", 1),
            format::duration(Duration(run.end_ns - run.start_ns))
        )
        .into();
        finding.tries.push(Try::code(
            "Compile with -fno-omit-yields, so that loops that do not allocate can be interrupted (price: some percent of their speed).",
        ));
    }
    finding.tries.extend([
        Try::code(
            "Make threads with forkIO instead of forkOn: those of forkOn never move to another capability.",
        ),
        Try::code(
            "Let long computations allocate, or split them: a capability gives threads away only between runs.",
        ),
        Try::flag(
            "-qm",
            "If the program is run with this, run it without: it keeps every thread where it was made.",
            "threads change their capability",
        ),
    ]);
    finding.distrust =
        "On a machine with other work a capability that seems to be idle may wait for a core."
            .into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("threads".into(), Value::Count(threads.len() as u64)),
        ("long waits".into(), Value::Count(waits.len() as u64)),
    ];
    Outcome::Found(vec![finding.seen_in(waits.iter().map(Wait::evidence))])
}
