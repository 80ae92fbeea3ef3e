//! Does main pay for being a bound thread?
//!
//! In the threaded runtime `main` is bound to one OS thread. Whenever a capability switches between main and
//! another thread, the kernel must switch as well, which takes microseconds instead of about 0.1 µs.

use super::prelude::*;
use crate::threads::median;
use analysis::timeline::lives::RunOnCap;
use eventlog::ids::CapId;
use model::lane::Lane;

/// Minimum switches per second; fewer cost less than 1 % of the time.
const MIN_RATE: f64 = 1000.0;
/// Minimum median duration of a switch; unbound threads switch faster.
const SLOW_NS: u64 = 2_000;
/// Maximum duration of a switch between unbound threads; only the excess counts as cost.
const QUICK_NS: u64 = 500;
/// Maximum duration of a switch; a longer gap has another cause.
const LONGEST_NS: u64 = 1_000_000;
/// Minimum number of switches, however short the log; fewer are no pattern.
const MIN_COUNT: u64 = 500;
/// Maximum delay between the creation of a task and that of its thread.
const AT_ONCE_NS: u64 = 100_000;

pub(super) const RULE: Rule = Rule {
    name: "bound-main",
    question: "Does main pay for being a bound thread?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Finds the thread of `main`. For each Haskell function that it calls, the runtime creates a task on the
/// process's first OS thread, and the Haskell thread right after it. There are three such calls (start, main and
/// end), of which main lives longest.
fn main_thread(context: &RuleContext<'_>) -> Option<ThreadId> {
    let store = &context.log.store;
    let pid = u64::from(context.log.info.process().pid?);
    let tasks = &context.log.tracks.tasks;
    let own = tasks
        .all()
        .filter(|(_, os_thread)| os_thread.is_some_and(|thread| thread.0 == pid));
    let starts = own.flat_map(|(task, _)| {
        let lane = tasks.lane(task);
        let spans = lane
            .into_iter()
            .flat_map(|lane| (0..lane.len()).map(|at| lane.span(at)));
        // Adjacent spans belong to one task that changed its capability.
        let mut last_end = None;
        spans
            .filter_map(move |(start, end)| (last_end.replace(end) != Some(start)).then_some(start))
    });
    let created = starts.filter_map(|start| {
        let soon = Interval::new(Nanos(start), Nanos(start.saturating_add(AT_ONCE_NS)));
        let first = context
            .cap_ids()
            .filter_map(|cap| store.creations_on(cap, soon).next());
        first.min().map(|(_, thread)| thread)
    });
    created.max_by_key(|thread| {
        store
            .thread_lane(*thread)
            .map(|life| life.life().duration())
    })
}

/// Switch between main and another thread that was ready.
#[derive(Clone, Copy)]
struct Switch {
    cap: CapId,
    from: u64,
    to: u64,
}

async fn switches(context: &RuleContext<'_>, main: ThreadId) -> Vec<Switch> {
    let store = &context.log.store;
    let pauses = store.account().pauses();
    let (mut switches, mut steps) = (Vec::new(), context.steps());
    for cap in context.cap_ids() {
        let mut before: Option<RunOnCap> = None;
        for (_, run) in store.runs_overlapping(cap, context.range) {
            steps.step().await;
            let last = before.replace(run);
            let Some(last) = last.filter(|last| (last.thread == main) != (run.thread == main))
            else {
                continue;
            };
            // If the thread became ready only after the other stopped, the gap is a wait.
            let gap_ns = run.start_ns.saturating_sub(last.end_ns);
            let was_ready = run.ready_ns.is_some_and(|ready| ready >= gap_ns);
            if was_ready
                && gap_ns < LONGEST_NS
                && pauses.paused_in_ns(last.end_ns, run.start_ns) == 0
            {
                switches.push(Switch {
                    cap,
                    from: last.end_ns,
                    to: run.start_ns,
                });
            }
        }
    }
    switches
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let Some(main) = main_thread(context) else {
        return Outcome::CannotTell(
            "the thread of main is unknown: the log has no tasks, or no process ID".into(),
        );
    };
    let switches = switches(context, main).await;
    let mut gaps: Vec<u64> = switches
        .iter()
        .map(|switch| switch.to - switch.from)
        .collect();
    let median_ns = median(&mut gaps);
    let rate = context.per_second(switches.len() as u64);
    let count = switches.len() as u64;
    if count < MIN_COUNT || rate < MIN_RATE || median_ns < SLOW_NS {
        return Outcome::Clear(format!(
            "{} to or from main, {} a second, half of them in {} or less; the limits are 500, 1,000 a second and 2 µs",
            format::pluralize(count, "direct change"),
            format::count(rate as u64),
            format::duration_ns(median_ns)
        ));
    }
    let all_ns: u64 = gaps.iter().map(|gap| gap.saturating_sub(QUICK_NS)).sum();
    let title = format!(
        "{} between main and other threads took {}",
        format::pluralize(count, "change"),
        format::duration_ns(all_ns)
    );
    let mut finding = context.time_finding(
        RULE.name,
        title,
        loss_budget,
        (Pool::CapIdleWorkAvailable, all_ns),
    );
    finding.subject = Some(context.thread_name(main));
    finding.meaning = "Main is bound to an OS thread of its own: each switch to or from it goes through the kernel.".into();
    finding.tries = Advice::code_changes([
        "Let main only start the work with forkIO, and wait for it.",
        "Run main's body with runInUnboundThread.",
    ]);
    finding.distrust =
        "Libraries that need main's OS thread (GUI toolkits, OpenGL) cannot run elsewhere.".into();
    finding.set_numbers([
        ("changes", Value::Count(count)),
        ("half of them take at least", Value::Ns(median_ns)),
        ("a second", Value::PerSecond(rate)),
    ]);
    let evidence = switches.iter().map(|switch| Evidence {
        range: Interval::new(Nanos(switch.from), Nanos(switch.to)),
        subjects: vec![Subject::Thread(main), Subject::Capability(switch.cap)],
        amount: Value::Ns(switch.to - switch.from),
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
