//! Are there too few capabilities?
//!
//! A runnable thread waits in a queue while all capabilities run others. If such waits are long, and happen most
//! of the time, there is more work than capabilities.

use super::finalizers;
use super::prelude::*;
use crate::threads::{ClippedWait, ThreadTurn};

/// Minimum mean number of queued threads, over the time in which all capabilities were busy.
const MIN_QUEUED: f64 = 1.0;
/// Minimum of the 99th percentile of waits: a time slice (`-C`).
const LONG_NS: u64 = 20_000_000;
/// One in this many waits is longer than the percentile.
const ONE_OF: u64 = 100;
/// Minimum share of the time in which all capabilities are busy; less is a single crowd.
const MIN_BUSY: f64 = 0.10;

pub(super) const RULE: Rule = Rule {
    name: "run-queue",
    question: "Are there too few capabilities?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// A thread that waits this many times as long as it runs, so often, and for this share of the time, is kept from
/// answering.
const KEPT_WAITING: u64 = 20;
const MIN_WAITS: u64 = 10;
const MUCH_WAITING: f64 = 0.10;

/// Share of the time from which the waits of a thread that a timer woke matter, too: it is late nearly always.
const MOSTLY_LATE: f64 = 0.50;

/// Run time of a thread, and its waits for a capability behind other threads after one woke it.
#[derive(Clone, Copy, Debug, Default)]
struct Queued {
    thread: ThreadId,
    ran_ns: u64,
    behind_ns: u64,
    waits: u64,
    /// The same after a timer woke it.
    late_ns: u64,
    late_waits: u64,
}

impl Queued {
    /// Returns the one that waited longer, of those that hardly ran, in a range of this length.
    fn worse(mut self, worst: Option<Self>, length_ns: u64) -> Option<Self> {
        if self.late_ns as f64 >= MOSTLY_LATE * length_ns as f64 {
            self.behind_ns = self.behind_ns.saturating_add(self.late_ns);
            self.waits += self.late_waits;
        }
        let hardly_ran = self.behind_ns >= self.ran_ns.saturating_mul(KEPT_WAITING);
        let is_worse = worst.is_none_or(|worst| self.behind_ns > worst.behind_ns);
        if hardly_ran && is_worse && self.waits >= MIN_WAITS {
            Some(self)
        } else {
            worst
        }
    }
}

/// Histogram of wait lengths with eight buckets from each power of two to the next, which is precise enough.
#[derive(Default)]
struct WaitHistogram {
    counts: Vec<u64>,
    all: u64,
}

const STEPS: u64 = 8;

impl WaitHistogram {
    fn bucket(ns: u64) -> usize {
        let ns = ns.max(STEPS);
        let power = u64::from(ns.ilog2());
        let within = (ns >> (power - 3)) - STEPS;
        (power * STEPS + within) as usize
    }

    fn add(&mut self, ns: u64) {
        let step = Self::bucket(ns);
        if step >= self.counts.len() {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
        self.all += 1;
    }

    /// Returns the 99th percentile, rounded down to a bucket.
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

/// Returns the time in which all capabilities ran, in nanoseconds.
fn busy_ns(context: &RuleContext<'_>) -> u64 {
    let caps = usize::try_from(context.caps).unwrap_or(usize::MAX);
    let all = context.times.parallelism_ns.get(caps..);
    all.unwrap_or_default().iter().sum()
}

async fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let busy_ns = busy_ns(context);
    if context.share(busy_ns) < MIN_BUSY {
        return Outcome::Clear(format!(
            "all capabilities were busy for {} of the time; the limit is 10 %",
            format::fraction(context.share(busy_ns))
        ));
    }
    let behind_ns = context.threads().await.times.runnable_behind_ns;
    let behind_ns = behind_ns.saturating_sub(finalizers::runnable_behind_ns(context).await);
    let queued = behind_ns as f64 / busy_ns.max(1) as f64;
    if queued < MIN_QUEUED {
        return Outcome::Clear(format!(
            "all capabilities were busy for {} of the time, with {queued:.1} threads in run queues; the limits are 10 % and 1",
            format::fraction(context.share(busy_ns))
        ));
    }
    let mut lengths = WaitHistogram::default();
    let mut waits: Vec<ClippedWait> = Vec::new();
    let (mut last, mut worst) = (Queued::default(), None);
    let mut visit = |turn: ThreadTurn<'_>| {
        let behind_ns = turn.behind_ns();
        if turn.thread() != last.thread {
            worst = last.worse(worst, context.length_ns());
            last = Queued {
                thread: turn.thread(),
                ..Queued::default()
            };
        }
        last.ran_ns = last.ran_ns.saturating_add(turn.run_ns());
        let reason = turn.wait_reason().filter(|_| behind_ns > 0);
        if reason.is_some_and(WaitReason::is_for_value) {
            last.behind_ns = last.behind_ns.saturating_add(behind_ns);
            last.waits += 1;
        } else if reason == Some(WaitReason::Delay) {
            // Nobody waits for what a timer wakes now and then.
            last.late_ns = last.late_ns.saturating_add(behind_ns);
            last.late_waits += 1;
        }
        if behind_ns > 0 {
            lengths.add(behind_ns);
        }
        if behind_ns >= LONG_NS {
            let wait = context.wait(turn, 1);
            waits.extend(wait.map(|wait| ClippedWait {
                ns: wait.ns.min(behind_ns),
                ..wait
            }));
        }
    };
    context.each_turn(&mut visit).await;
    let worst = last.worse(worst, context.length_ns());
    let high_ns = lengths.high_ns();
    if high_ns < LONG_NS {
        return Outcome::Clear(format!(
            "{queued:.1} threads waited in run queues, but 99 of 100 waits were shorter than {}; the limit is 20 ms",
            format::duration_ns(high_ns)
        ));
    }
    let title = format!(
        "{queued:.1} threads waited in all run queues on average; one wait in 100 took {} or longer",
        format::duration_ns(high_ns)
    );
    let mut finding = Finding::new(RULE.name, Axis::Latency, title);
    finding.severity = Severity::of_latency(high_ns);
    let is_batch = {
        let blocked_ns = context.threads().await.times.blocked_ns;
        let outside = [WaitReason::Io, WaitReason::Delay];
        let outside_ns = outside.iter().map(|reason| blocked_ns[*reason as usize]);
        outside_ns.fold(0, u64::saturating_add) < context.length_ns() / 100
    };
    let is_kept = |worst: &Queued| !is_batch && context.share(worst.behind_ns) >= MUCH_WAITING;
    let worst = worst.filter(is_kept);
    if is_batch {
        finding.severity = finding.severity.min(Severity::Low);
    } else if worst.is_some() {
        finding.severity = finding.severity.max(Severity::Medium);
    }
    finding.cost = Value::Ns(high_ns);
    finding.share = context.share(high_ns);
    finding.meaning = match is_batch {
        true => "More threads are ready than there are capabilities, so each waits for its turn. No thread waited for input or slept: if nobody waits for a single thread, this costs nothing.".into(),
        false => "More threads are ready than there are capabilities, so each waits for its turn.".into(),
    };
    if let Some(worst) = worst {
        finding.meaning = format!(
            "{} {} ran for {} in all, and waited {} for its turns behind threads that compute: others that wait for it wait as long.",
            finding.meaning,
            context.thread_name(worst.thread),
            format::duration_ns(worst.ran_ns),
            format::duration_ns(worst.behind_ns)
        )
        .into();
    }
    finding.tries = vec![
        Advice::flag(
            "-N",
            "Use as many capabilities as the machine has cores.",
            "collections have more threads to stop",
        ),
        Advice::code("Limit the number of concurrent long computations."),
        Advice::code(
            "For low latency of single threads: -C0.005 switches threads more often. Measure it: each switch takes time, and two programs took 13 and 17 % longer.",
        ),
    ];
    finding.distrust =
        "If only total time matters, queues cost nothing, unless the threads wait in unsafe foreign calls: these keep their capabilities."
            .into();
    finding.set_numbers([
        ("one of 100 waits", Value::Ns(high_ns)),
        (
            "all capabilities busy",
            Value::Share(context.share(busy_ns)),
        ),
        ("waits", Value::Count(lengths.all)),
    ]);
    Outcome::Found(vec![
        finding.with_evidence(waits.iter().map(ClippedWait::evidence)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_woken_by_timers_is_kept_waiting_if_it_is_mostly_late() {
        let late = Queued {
            late_ns: 600,
            late_waits: MIN_WAITS,
            ..Queued::default()
        };
        let behind_ns = |length_ns| Some(late.worse(None, length_ns)?.behind_ns);
        assert_eq!(behind_ns(1000), Some(600));
        assert_eq!(behind_ns(2000), None);
        let woken = Queued {
            behind_ns: 700,
            waits: MIN_WAITS,
            ..Queued::default()
        };
        let worst = late.worse(woken.worse(None, 1000), 1000);
        assert_eq!(worst.map(|worst| worst.behind_ns), Some(700));
    }
}
