//! What rules about threads ask for: lives without those of the runtime's own threads,
//! sums over all, and for how long threads waited while capabilities stood by.

use std::collections::BTreeMap;

use crate::context::RuleContext;
use crate::finding::{Evidence, Subject, Value};
use analysis::account::pauses::Pause;
use analysis::process::Change;
use analysis::timeline::RunCursor;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::timeline::user_spans::UserSpan;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{ManagerThread, WaitReason};
use model::lane::Lane;
use model::sorting::CompactSort;
use model::time::Interval;

/// A stretch of time in which a thread could not go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub thread: ThreadId,
    /// The capability on which it ran afterwards, if it did.
    pub cap: Option<CapId>,
    pub range: Interval,
    /// How much of it counts, in nanoseconds.
    pub ns: u64,
}

impl Wait {
    pub(crate) fn evidence(&self) -> Evidence {
        let cap = self.cap.map(Subject::Capability);
        Evidence {
            range: self.range,
            subjects: std::iter::once(Subject::Thread(self.thread))
                .chain(cap)
                .collect(),
            amount: Value::Ns(self.ns),
        }
    }

    pub(crate) const fn span(&self) -> (u64, u64) {
        (self.range.start().0, self.range.end().0)
    }
}

/// Each pair of a thread that waits and the other one that it has to do with, with all of their waits.
pub(crate) fn of_pairs<'a>(waits: impl Iterator<Item = (ThreadId, &'a Wait)>) -> Vec<Evidence> {
    let mut pairs: BTreeMap<(ThreadId, ThreadId), (Interval, u64)> = BTreeMap::new();
    for (other, wait) in waits {
        let pair = pairs.entry((wait.thread, other));
        let of = pair.or_insert((wait.range, 0));
        *of = (of.0.hull(wait.range), of.1 + wait.ns);
    }
    let evidence = |((waits, other), (range, ns))| Evidence {
        range,
        subjects: vec![Subject::Thread(waits), Subject::Thread(other)],
        amount: Value::Ns(ns),
    };
    pairs.into_iter().map(evidence).collect()
}

/// A thread of the program woke another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wakeup {
    /// The thread that can run again.
    pub thread: ThreadId,
    pub at: Nanos,
    /// Where the giver ran.
    pub cap: CapId,
    pub giver: ThreadId,
}

/// Whether a thread of that label is one of the runtime's own, which wait for files and time, or of
/// ghc-stack-profiler, which waits for its next sample: that they do is normal.
#[must_use]
pub fn is_of_runtime(label: &str) -> bool {
    let is_sampler = ["Sample Profiler Thread ", "Stack Sampler "]
        .into_iter()
        .any(|begin| label.starts_with(begin));
    is_sampler || ManagerThread::from_label(label).is_some()
}

/// A thread of the program that was created and finished in the range.
pub(crate) struct Finished {
    pub thread: ThreadId,
    pub life: Interval,
    pub ran_ns: u64,
}

/// How long a thread ran each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Half of the runs took at most so long.
    pub median_ns: u64,
    pub all_ns: u64,
}

impl<'a> RuleContext<'a> {
    /// The runs of a thread in a part of the range.
    pub(crate) fn runs_of(&self, thread: ThreadId, range: Interval) -> Runs {
        let life = self.log.store.thread_lane(thread);
        let turns = life.iter().flat_map(|life| life.turns_over(range));
        let mut runs: Vec<u64> = turns.map(|(_, turn)| turn.duration(2)).collect();
        let (middle, all_ns) = (runs.len() / 2, runs.iter().sum());
        match runs.is_empty() {
            true => Runs::default(),
            false => Runs {
                median_ns: *runs.select_nth_unstable(middle).1,
                all_ns,
            },
        }
    }

    /// The threads that came and went in the range.
    pub(crate) async fn finished_threads(&self, yielder: &dyn Yield) -> Vec<Finished> {
        let (mut all, mut steps) = (Vec::new(), Steps::new(yielder));
        for life in self.log.store.lives() {
            steps.step().await;
            let Some((range, ran_ns)) = life.whole() else {
                continue;
            };
            let is_outside = range.start() < self.range.start() || self.range.end() < range.end();
            if is_outside || self.is_of_runtime(life.id()) {
                continue;
            }
            all.push(Finished {
                thread: life.id(),
                life: range,
                ran_ns,
            });
        }
        all
    }

    /// For how long threads ran, without the runtime's own.
    pub(crate) fn program_ran_ns(&self) -> u64 {
        let own = self.runtime_threads().iter();
        let own_ns: u64 = own.map(|one| self.runs_of(*one, self.range).all_ns).sum();
        self.times.all_caps().running_ns.saturating_sub(own_ns)
    }

    /// Looks at each turn in the range of the lives of threads, without the runtime's own.
    pub(crate) async fn each_turn(
        &self,
        yielder: &dyn Yield,
        look: impl FnMut(&ThreadLane<'_>, (usize, &WaitRunCycle)),
    ) {
        self.each_turn_of(self.log.store.lives(), yielder, look)
            .await;
    }

    /// The same, of the threads that were blocked for any of some reasons and ran so many times
    /// at least.
    pub(crate) async fn each_turn_blocked(
        &self,
        (is_wanted, least_runs): (impl Fn(WaitReason) -> bool, u64),
        yielder: &dyn Yield,
        look: impl FnMut(&ThreadLane<'_>, (usize, &WaitRunCycle)),
    ) {
        let all = self.threads(yielder).await;
        let reasons = WaitReason::ALL
            .into_iter()
            .filter(|reason| is_wanted(*reason));
        let lives = self.log.store.lives_blocked(all, reasons);
        let lives = lives.filter(|life| life.runs() as u64 >= least_runs);
        self.each_turn_of(lives, yielder, look).await;
    }

    /// The same, of some lives: most threads of a program with a hundred thousand of them ran a
    /// few times only, and are passed over by their number of runs.
    pub(crate) async fn each_turn_of<'b>(
        &self,
        lives: impl Iterator<Item = ThreadLane<'b>>,
        yielder: &dyn Yield,
        mut look: impl FnMut(&ThreadLane<'_>, (usize, &WaitRunCycle)),
    ) {
        let mut steps = Steps::new(yielder);
        for life in lives {
            steps.step().await;
            if self.is_of_runtime(life.id()) {
                continue;
            }
            for (number, turn) in life.turns_over(self.range) {
                look(&life, (number, &turn));
                steps.step().await;
            }
        }
    }

    /// The runs of a capability that lie in the range, with their places.
    pub(crate) fn runs_on(
        &self,
        cap: CapId,
    ) -> impl Iterator<Item = (usize, (u64, u64))> + use<'a> {
        let end = self.range.end().0;
        let lane = self.log.store.cap(cap).map(|cap| &cap.runs);
        let first = lane.map_or(0, |runs| runs.first_ending_after(self.range.start().0));
        let all = lane
            .into_iter()
            .flat_map(move |runs| (first..runs.len()).map(move |place| (place, runs.span(place))));
        all.take_while(move |(_, (start, _))| *start < end)
    }

    /// The thread that said both that a span begins and that it ends.
    pub(crate) fn thread_of(&self, span: &UserSpan) -> Option<ThreadId> {
        let ran = |message: usize| {
            let message = self.log.messages.get(message)?;
            let runs = &self.log.store.cap(message.cap?)?.runs;
            let mut place = runs.first_ending_after(message.time.0);
            (self.log.store).running(message.cap?, message.time, &mut place)
        };
        let first = ran(span.first)?;
        (span.last.and_then(ran) == Some(first)).then_some(first)
    }

    /// Looks at each wakeup in the range by a thread of the program.
    pub(crate) async fn each_wakeup(&self, yielder: &dyn Yield, mut look: impl FnMut(Wakeup)) {
        let mut steps = Steps::new(yielder);
        let store = &self.log.store;
        for cap in self.cap_ids() {
            let mut runs = store.run_cursor(cap);
            for (at, thread) in store.wakeups_on(cap, self.range) {
                steps.step().await;
                let giver = runs.thread_at(at);
                let giver = giver.filter(|giver| *giver != thread && !self.is_of_runtime(*giver));
                if let Some(giver) = giver {
                    look(Wakeup {
                        thread,
                        at,
                        cap,
                        giver,
                    });
                }
            }
        }
    }

    /// Whether a thread is one that the runtime makes to evaluate sparks, by its label.
    pub(crate) fn evaluates_sparks(&self, thread: ThreadId) -> bool {
        self.log.store.label_of(thread) == Some("spark evaluator")
    }

    /// The bound threads: those that the runtime made where no thread ran, for `main`, `forkOS` or a
    /// call from foreign code. What it makes for itself has labels, or is made in collections
    /// (`rts_evalStableIO` in RtsAPI.c; finalizers in Weak.c).
    pub(crate) async fn bound_threads(&self, yielder: &dyn Yield) -> SeededSet<ThreadId> {
        let mut steps = Steps::new(yielder);
        let store = &self.log.store;
        let pauses = store.account().pauses();
        let mut bound = SeededSet::default();
        for cap in self.cap_ids() {
            let mut runs = store.run_cursor(cap);
            for (at, thread) in store.creations_on(cap, store.account().log()) {
                steps.step().await;
                let is_made_by_thread = runs.thread_at(at).is_some();
                let is_in_pause = pauses.still_in(at.0, at.0 + 1) > 0;
                if !is_made_by_thread
                    && !is_in_pause
                    && !self.is_of_runtime(thread)
                    && !self.evaluates_sparks(thread)
                {
                    bound.insert(thread);
                }
            }
        }
        bound
    }

    /// The time of all capabilities together, in nanoseconds.
    pub(crate) fn caps_ns(&self) -> u64 {
        self.length_ns().saturating_mul(self.caps)
    }

    /// The share of the time of all capabilities.
    pub(crate) fn share_of_caps(&self, cap_ns: u64) -> f64 {
        cap_ns as f64 / self.caps_ns() as f64
    }

    /// A part of a turn, as far as it lies in the scope, outside of collections; `None` if
    /// nothing of it does.
    pub(crate) fn wait(
        &self,
        life: &ThreadLane<'_>,
        (number, turn): (usize, &WaitRunCycle),
        part: usize,
    ) -> Option<Wait> {
        let (from, to) = turn.part(part);
        let range = Interval::new(Nanos(from), Nanos(to)).intersection(self.range)?;
        let (from, to) = (range.start().0, range.end().0);
        let still_ns = self.log.store.account().pauses().still_in(from, to);
        let ns = (to - from).saturating_sub(still_ns);
        (ns > 0).then(|| Wait {
            thread: life.id(),
            cap: life.cap(analysis::timeline::turns::PARTS * number + 2),
            range,
            ns,
        })
    }

    /// For how long capabilities stood by while threads waited, each thread beside one
    /// capability at most: in nanoseconds of capabilities, outside of collections.
    pub(crate) async fn beside_idle_ns(
        &self,
        waits: impl IntoIterator<Item = (u64, u64)>,
        yielder: &dyn Yield,
    ) -> u64 {
        let waits = waits.into_iter().filter(|(from, to)| from < to);
        let mut bounds: Vec<(u64, i64)> =
            waits.flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
        sort(&mut bounds, yielder).await;
        let (mut caps, mut steps) = (Caps::of(self), Steps::new(yielder));
        let (mut waiting, mut since, mut sum_ns) = (0_i64, 0, 0_u64);
        for (time, change) in bounds {
            steps.step().await;
            let most = u64::try_from(waiting).unwrap_or(0);
            if most > 0 {
                caps.pass((since, time), |idle, ns| sum_ns += idle.min(most) * ns);
            }
            waiting += change;
            since = time;
        }
        // The account knows what the log does not tell of: that is not idle.
        let all = self.times.all_caps();
        sum_ns.min(all.idle_ns.saturating_add(all.idle_ready_ns))
    }
}

/// The runs of all capabilities side by side, and the collections.
struct Caps<'a> {
    lanes: Vec<RunCursor<'a>>,
    pauses: &'a [Pause],
    /// When capabilities come and go, the next one last, and how many there are.
    changes: Vec<(u64, bool)>,
    open: u64,
}

impl<'a> Caps<'a> {
    fn of(context: &RuleContext<'a>) -> Self {
        let store = &context.log.store;
        let account = store.account();
        let lives = context.cap_ids().map(|cap| account.life_of(cap));
        let lives = lives.flat_map(|life| [(life.start().0, true), (life.end().0, false)]);
        let settings = context.log.info.process().capability_changes;
        let settings = settings.iter().filter_map(|change| {
            let opens = match change.change {
                Change::Enabled => true,
                Change::Disabled => false,
                Change::Created | Change::Deleted => return None,
            };
            Some((change.at.0, opens))
        });
        let mut changes: Vec<(u64, bool)> = lives.chain(settings).collect();
        changes.sort_small_by(|a, b| b.cmp(a));
        Self {
            lanes: context.cap_ids().map(|cap| store.run_cursor(cap)).collect(),
            pauses: account.pauses().all(),
            changes,
            open: 0,
        }
    }

    /// Goes through a stretch of time, which comes after those before: how many
    /// capabilities stood by for how long, outside of collections.
    fn pass(&mut self, (from, to): (u64, u64), mut tell: impl FnMut(u64, u64)) {
        let mut now = from;
        while now < to {
            let over = self.pauses.partition_point(|pause| pause.end.0 <= now);
            self.pauses = self.pauses.get(over..).unwrap_or_default();
            let pause = self.pauses.first();
            let still = pause.is_some_and(|pause| pause.requested.0 <= now);
            let bound = |pause: &Pause| if still { pause.end } else { pause.requested };
            let mut next = pause.map_or(to, |pause| bound(pause).0.min(to));
            while let Some((_, opens)) = self.changes.pop_if(|change| change.0 <= now) {
                self.open = if opens {
                    self.open + 1
                } else {
                    self.open.saturating_sub(1)
                };
            }
            next = self
                .changes
                .last()
                .map_or(next, |change| change.0.min(next));
            let mut running = 0;
            for runs in &mut self.lanes {
                let Some((start, end)) = runs.span_after(now) else {
                    continue;
                };
                let is_running = start <= now;
                next = next.min(if is_running { end } else { start });
                running += u64::from(is_running);
            }
            if !still {
                tell(self.open.saturating_sub(running), next - now);
            }
            now = next;
        }
    }
}
