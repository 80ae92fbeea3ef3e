//! Are there too few capabilities?
//!
//! A thread that can run while all capabilities run others stands in a queue. Where that
//! takes long, and is so for most of the time, there is more to do than capabilities.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use crate::threads::Wait;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::Yield;
use eventlog::ids::Duration;
use model::format;

/// Threads in the queue, on average over the time in which all capabilities were busy.
const LEAST_QUEUED: f64 = 1.0;
/// A thread may run for so long before it has to make place (`-C`).
const LONG_NS: u64 = 20_000_000;
/// Of so many waits one is longer than what counts.
const ONE_OF: u64 = 100;
/// All capabilities must have been busy for as much of the time: else it was one crowd.
const LEAST_BUSY: f64 = 0.10;

const NAME: &str = "run-queue";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Are there too few capabilities?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// How many waits there were by their length: eight steps from each power of two to the
/// next, which is as exact as anybody needs.
struct Lengths {
    counts: Vec<u64>,
    all: u64,
}

const STEPS: u64 = 8;

impl Lengths {
    fn step(ns: u64) -> usize {
        let ns = ns.max(STEPS);
        let power = u64::from(ns.ilog2());
        let within = (ns >> (power - 3)) - STEPS;
        (power * STEPS + within) as usize
    }

    fn add(&mut self, ns: u64) {
        let step = Self::step(ns);
        if step >= self.counts.len() {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
        self.all += 1;
    }

    /// The length that one of a hundred exceeds, rounded down to a step.
    fn high_ns(&self) -> u64 {
        let mut above = 0;
        let step = (0..self.counts.len()).rev().find(|step| {
            above += self.counts[*step];
            above * ONE_OF >= self.all
        });
        let step = step.unwrap_or(0) as u64;
        let power = (step / STEPS).max(3);
        (STEPS + step % STEPS) << (power - 3)
    }
}

/// For how long all capabilities ran, in nanoseconds.
fn busy_ns(context: &RuleContext<'_>) -> u64 {
    let caps = usize::try_from(context.caps).unwrap_or(usize::MAX);
    let all = context.times.parallelism_ns.get(caps..);
    all.unwrap_or_default().iter().sum()
}

async fn look(context: &RuleContext<'_>, _: &mut LossBudget, yielder: &dyn Yield) -> Outcome {
    let busy_ns = busy_ns(context);
    let behind_ns = context.threads(yielder).await.times.ready_behind_ns;
    let queued = behind_ns as f64 / busy_ns.max(1) as f64;
    if queued < LEAST_QUEUED || context.share(busy_ns) < LEAST_BUSY {
        if context.share(busy_ns) < LEAST_BUSY {
            return Outcome::Clear(format!(
                "all capabilities were busy for {} of the time; the limit is 10 %",
                format::fraction(context.share(busy_ns))
            ));
        }
        return Outcome::Clear(format!(
            "all capabilities were busy for {} of the time, and {queued:.1} threads stood in queues then; the limits are 10 % and 1",
            format::fraction(context.share(busy_ns))
        ));
    }
    let mut lengths = Lengths {
        counts: Vec::new(),
        all: 0,
    };
    let mut waits: Vec<Wait> = Vec::new();
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        let behind_ns = turn.1.behind_ns();
        if behind_ns > 0 {
            lengths.add(behind_ns);
        }
        if behind_ns >= LONG_NS {
            let wait = context.wait(life, turn, 1);
            waits.extend(wait.map(|wait| Wait {
                ns: wait.ns.min(behind_ns),
                ..wait
            }));
        }
    };
    context.each_turn(yielder, look).await;
    let high_ns = lengths.high_ns();
    if high_ns < LONG_NS {
        return Outcome::Clear(format!(
            "{queued:.1} threads waited in run queues, but 99 of 100 waits were shorter than {}; the limit is 20 ms",
            format::duration(Duration(high_ns))
        ));
    }
    let title = format!(
        "{queued:.1} threads waited in all run queues on average; one wait in 100 took {} or longer",
        format::duration(Duration(high_ns))
    );
    let mut finding = Finding::new(NAME, Axis::Latency, title);
    finding.severity = Severity::of_latency(high_ns);
    finding.cost = Value::Ns(high_ns);
    finding.share = context.share(high_ns);
    finding.meaning =
        "More threads can run than there are capabilities, so that each waits for its turn.".into();
    finding.tries = vec![
        Try::flag(
            "-N",
            "Use as many capabilities as the machine has cores.",
            "collections have more threads to stop",
        ),
        Try::code("Limit how many long computations run at a time."),
        Try::code(
            "If single threads have to answer soon: -C0.005 switches them more often. It cost 13 and 17 % of wall-clock time where it was measured.",
        ),
    ];
    finding.distrust =
        "If only the total time matters, and not that of single threads, queues cost nothing."
            .into();
    finding.numbers = vec![
        ("one of 100 waits".into(), Value::Ns(high_ns)),
        (
            "all capabilities busy".into(),
            Value::Share(context.share(busy_ns)),
        ),
        ("waits".into(), Value::Count(lengths.all)),
    ];
    Outcome::Found(vec![finding.seen_in(waits.iter().map(Wait::evidence))])
}
