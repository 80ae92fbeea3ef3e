//! Does main pay for being a bound thread?
//!
//! In the threaded runtime `main` is bound: it runs on one thread of the operating
//! system only. Whenever a capability goes on from main to another thread, or back, the
//! kernel has to switch as well, which takes microseconds instead of a tenth of one.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::timeline::lives::RunOn;
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use model::format;
use model::lane::Lane;
use model::time::Interval;

/// Fewer switches a second cost less than a hundredth of the time.
const LEAST_RATE: f64 = 1000.0;
/// Where main is not bound, a switch takes less.
const SLOW_NS: u64 = 2_000;
/// What a switch between threads that are not bound takes at the most.
const QUICK_NS: u64 = 500;
/// A longer gap has another cause.
const LONGEST_NS: u64 = 1_000_000;
/// Fewer switches are no habit, in however short a time they come.
const LEAST: u64 = 500;
/// The thread is created at once after its task.
const AT_ONCE_NS: u64 = 100_000;

const NAME: &str = "bound-main";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does main pay for being a bound thread?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// The thread of `main`: the runtime makes a task of the process's first thread for each
/// Haskell function that it calls, and the thread right after it. There are three such:
/// start, main and end; main lives longest.
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
        // Where one span follows another at once, the task only changed its capability.
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

/// A switch between main and another thread that was ready.
#[derive(Clone, Copy)]
struct Switch {
    cap: CapId,
    from: u64,
    to: u64,
}

async fn switches(context: &RuleContext<'_>, main: ThreadId, yielder: &dyn Yield) -> Vec<Switch> {
    let store = &context.log.store;
    let pauses = store.account().pauses();
    let (mut switches, mut steps) = (Vec::new(), Steps::new(yielder));
    for cap in context.cap_ids() {
        let mut before: Option<RunOn> = None;
        for (place, _) in context.runs_on(cap) {
            steps.step().await;
            let Some(run) = store.run_on(cap, place) else {
                break;
            };
            let last = before.replace(run);
            let Some(last) = last.filter(|last| (last.thread == main) != (run.thread == main))
            else {
                continue;
            };
            // It must have been ready before the other stopped: else the gap is a wait.
            let gap_ns = run.start_ns.saturating_sub(last.end_ns);
            let was_ready = run.ready_ns.is_some_and(|ready| ready >= gap_ns);
            if was_ready && gap_ns < LONGEST_NS && pauses.still_in(last.end_ns, run.start_ns) == 0 {
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

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let Some(main) = main_thread(context) else {
        return Outcome::CannotTell(
            "the log does not tell which thread is main: it has no tasks, or not the number of the process".into(),
        );
    };
    let switches = switches(context, main, yielder).await;
    let mut gaps: Vec<u64> = switches
        .iter()
        .map(|switch| switch.to - switch.from)
        .collect();
    let middle = gaps.len() / 2;
    let median_ns = match gaps.is_empty() {
        true => 0,
        false => *gaps.select_nth_unstable(middle).1,
    };
    let rate = switches.len() as f64 * 1e9 / context.length_ns() as f64;
    let count = switches.len() as u64;
    if count < LEAST || rate < LEAST_RATE || median_ns < SLOW_NS {
        return Outcome::Clear(format!(
            "{} to or from main, {} a second, half of them in {} or less; the limits are 500, 1,000 a second and 2 µs",
            format::many(count, "direct change"),
            format::count(rate as u64),
            format::duration(Duration(median_ns))
        ));
    }
    let all_ns: u64 = gaps.iter().map(|gap| gap.saturating_sub(QUICK_NS)).sum();
    let title = format!(
        "{} between main and other threads took {}",
        format::many(count, "change"),
        format::duration(Duration(all_ns))
    );
    let mut finding = context.of_time(
        NAME,
        title,
        loss_budget,
        (Pool::CapIdleWorkAvailable, all_ns),
    );
    finding.subject = Some(context.thread_name(main));
    finding.meaning = "Main is bound to an OS thread of its own: each switch to or from it goes through the kernel.".into();
    finding.tries = vec![
        Try::code("Have main only start the work with forkIO, and wait for it."),
        Try::code("Run main's body with runInUnboundThread."),
    ];
    finding.distrust =
        "Libraries that need main's own OS thread (GUI toolkits, OpenGL) cannot run elsewhere."
            .into();
    finding.numbers = vec![
        ("changes".into(), Value::Count(count)),
        ("half of them take at least".into(), Value::Ns(median_ns)),
        ("a second".into(), Value::PerSecond(rate)),
    ];
    let evidence = switches.iter().map(|switch| Evidence {
        range: Interval::new(Nanos(switch.from), Nanos(switch.to)),
        subjects: vec![Subject::Thread(main), Subject::Capability(switch.cap)],
        amount: Value::Ns(switch.to - switch.from),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
