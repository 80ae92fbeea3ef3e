//! Runs of a baseline and its candidates, interleaved in rounds, within a time budget.

use std::time::Duration;

use super::try_candidates::Candidate;
use super::try_child::{RunEnd, Sample};
use statistics::rank_test::runs_needed;

/// Number of runs, all clearly slower, after which a candidate is stopped.
const RUNS_BEFORE_STOP: usize = 3;
/// Relative excess over the slowest run of the baseline that counts as clearly slower.
const CLEARLY_SLOWER: f64 = 0.10;
/// Time limit for a run of a candidate, as a multiple of the slowest run of the baseline: a single such run is
/// conclusive.
const MAX_SLOWDOWN: u32 = 5;
/// Minimum of that time limit, because short runs vary more.
const MIN_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Baseline or candidate, with its runs; by default the baseline, without runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Contestant {
    /// `None` for the baseline.
    pub(super) candidate: Option<Candidate>,
    /// Runs in chronological order.
    pub(super) samples: Vec<Sample>,
    /// Reason for taking part in no further rounds.
    pub(super) stopped: Option<Stopped>,
    /// For a combination: the single candidate that is as fast.
    pub(super) no_faster_than: Option<String>,
}

/// Reason why measuring a candidate was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// All its runs are clearly slower.
    Slower,
    /// A run was killed after this time.
    TimedOut(Duration),
    /// A run failed in the described way.
    Failed(String),
}

/// Time budget for all runs together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    total: Duration,
    pub(super) spent: Duration,
}

impl Budget {
    pub(super) const fn new(total: Duration) -> Self {
        Self {
            total,
            spent: Duration::ZERO,
        }
    }

    pub(super) fn left(&self) -> Duration {
        self.total.saturating_sub(self.spent)
    }

    pub(super) fn spend(&mut self, time: Duration) {
        self.spent = self.spent.saturating_add(time);
    }
}

/// Number of candidates and rounds to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Number of candidates, taken from the start of the list.
    pub(super) candidates: usize,
    /// Number of runs of each candidate and of the baseline.
    pub(super) rounds: usize,
    /// Estimated time for all rounds.
    pub(super) time: Duration,
}

/// Plans the rounds: as many candidates as the budget allows, with the number of runs that a claim requires. At
/// least one candidate is kept, regardless of the budget.
pub(super) fn plan(
    run: Duration,
    left: Duration,
    candidates: usize,
    (wanted, alpha): (usize, f64),
) -> Plan {
    // A combination of two flags adds one more test.
    let needed = |candidates: usize| runs_needed(alpha, candidates + 1);
    let time = |candidates: usize, rounds: usize| {
        run.saturating_mul(((candidates + 1) * rounds).try_into().unwrap_or(u32::MAX))
    };
    let fits = |candidates: &usize| time(*candidates, needed(*candidates)) <= left;
    let candidates = (1..=candidates).rev().find(fits).unwrap_or(1);
    let fewest = needed(candidates);
    let fits = |rounds: &usize| time(candidates, *rounds) <= left;
    let rounds = (fewest..=wanted.max(fewest)).rev().find(fits);
    let rounds = rounds.unwrap_or(fewest);
    Plan {
        candidates,
        rounds,
        time: time(candidates, rounds),
    }
}

/// How the rounds ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoundsEnd {
    /// All rounds are complete, or no candidate was left.
    Done,
    /// The budget did not suffice for another run.
    OutOfBudget,
}

/// Function that runs a candidate, or the baseline, with a time limit.
type Launch<'a, E> = dyn FnMut(Option<&Candidate>, Duration) -> Result<Sample, E> + 'a;

/// Configuration of the rounds.
pub(super) struct Rounds<'a, E> {
    /// Maximum number of rounds.
    pub(super) count: usize,
    /// Time limit of a run; `None` if only the budget limits it.
    pub(super) timeout: Option<Duration>,
    /// Expected exit status.
    pub(super) status: i32,
    /// Runs a candidate, or the baseline, with a time limit.
    pub(super) run: &'a mut Launch<'a, E>,
    /// Receives progress messages.
    pub(super) progress: &'a mut dyn FnMut(String),
}

impl<E> Rounds<'_, E> {
    /// Runs the rounds. The first contestant is the baseline.
    ///
    /// # Errors
    ///
    /// Errors of `run`. Failed programs are not errors; they are recorded in [`Contestant::stopped`].
    pub(super) fn run(
        &mut self,
        contestants: &mut [Contestant],
        budget: &mut Budget,
    ) -> Result<RoundsEnd, E> {
        for round in 1..=self.count {
            let mut line = format!("round {round} of {}:", self.count);
            for place in 0..contestants.len() {
                if contestants[place].stopped.is_some() {
                    continue;
                }
                let (base, expected) = expected(contestants, place);
                if expected > budget.left() || budget.left().is_zero() {
                    return Ok(RoundsEnd::OutOfBudget);
                }
                let left = budget.left();
                let limit = self.limit(place, base, left);
                let contestant = &mut contestants[place];
                let sample = (self.run)(contestant.candidate.as_ref(), limit)?;
                budget.spend(sample.wall);
                if sample.end == RunEnd::TimedOut && limit == left {
                    // The budget ended the run, not the program.
                    return Ok(RoundsEnd::OutOfBudget);
                }
                let seconds = sample.wall.as_secs_f64();
                line += &format!(" {} {seconds:.2} s", contestant.name());
                contestant.stopped = failure(&sample, self.status);
                contestant.samples.push(sample);
                if place == 0 && contestant.stopped.is_some() {
                    return Ok(RoundsEnd::Done);
                }
            }
            (self.progress)(line);
            for line in stop_slower(contestants) {
                (self.progress)(line);
            }
            if contestants[1..].iter().all(|one| one.stopped.is_some()) {
                return Ok(RoundsEnd::Done);
            }
        }
        Ok(RoundsEnd::Done)
    }

    fn limit(&self, place: usize, base: Duration, left: Duration) -> Duration {
        let limit = self.timeout.map_or(left, |timeout| timeout.min(left));
        if place == 0 || base.is_zero() {
            return limit;
        }
        limit.min(base.saturating_mul(MAX_SLOWDOWN).max(MIN_TIME_LIMIT))
    }
}

impl Contestant {
    /// Returns a candidate, without runs.
    pub(super) fn new(candidate: Candidate) -> Self {
        Self {
            candidate: Some(candidate),
            ..Self::default()
        }
    }

    /// Returns the flags, or a name for the baseline.
    pub(super) fn name(&self) -> String {
        let name = self.candidate.as_ref().map(Candidate::name);
        name.unwrap_or_else(|| "unchanged".to_owned())
    }

    fn fastest(&self) -> Duration {
        let times = self.samples.iter().map(|sample| sample.wall);
        times.min().unwrap_or_default()
    }

    fn slowest(&self) -> Duration {
        let times = self.samples.iter().map(|sample| sample.wall);
        times.max().unwrap_or_default()
    }
}

/// Returns the slowest run of the baseline, and the estimated time of the next run of a contestant.
fn expected(contestants: &[Contestant], place: usize) -> (Duration, Duration) {
    let base = contestants[0].slowest();
    let own = contestants[place].slowest();
    let is_new = contestants[place].samples.is_empty();
    (base, if is_new { base } else { own })
}

/// Returns why a run excludes a contestant from further rounds; `None` if it ended as expected.
fn failure(sample: &Sample, status: i32) -> Option<Stopped> {
    match sample.end {
        RunEnd::TimedOut => Some(Stopped::TimedOut(sample.wall)),
        RunEnd::Exited(Some(own)) if own == status => None,
        RunEnd::Exited(own) => {
            let how = own.map_or("was killed by a signal".to_owned(), |own| {
                format!("ended with status {own}")
            });
            let mut lines = sample.stderr_tail.lines().map(str::trim);
            let said = lines.rfind(|line| !line.is_empty());
            let said = said.map(|line| format!(": {line}")).unwrap_or_default();
            Some(Stopped::Failed(format!("{how}{said}")))
        }
    }
}

/// Stops candidates that are clearly slower, and returns messages about them.
fn stop_slower(contestants: &mut [Contestant]) -> Vec<String> {
    let slowest = contestants[0].slowest();
    let mut lines = Vec::new();
    for contestant in &mut contestants[1..] {
        if contestant.stopped.is_none() && is_clearly_slower(contestant, slowest) {
            contestant.stopped = Some(Stopped::Slower);
            lines.push(format!("{}: clearly slower, stopped", contestant.name()));
        }
    }
    lines
}

fn is_clearly_slower(contestant: &Contestant, slowest: Duration) -> bool {
    let limit = slowest.mul_f64(1.0 + CLEARLY_SLOWER);
    contestant.samples.len() >= RUNS_BEFORE_STOP && contestant.fastest() > limit
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Runs rounds of programs that take `time(flags)` milliseconds.
    fn run(
        flags: &[&str],
        (count, budget): (usize, Duration),
        time: impl Fn(&str) -> u32,
    ) -> (Vec<Contestant>, RoundsEnd, Vec<String>) {
        let candidates = flags.iter().map(|flag| Candidate::neighbor(flag));
        let mut all = vec![Contestant::default()];
        all.extend(candidates.map(Contestant::new));
        let mut order = Vec::new();
        let mut one = |candidate: Option<&Candidate>, limit: Duration| -> Result<Sample, ()> {
            let name = candidate.map(Candidate::name).unwrap_or_default();
            let mut run = Sample::lasting(MS * time(&name));
            if run.wall > limit {
                run = Sample {
                    end: RunEnd::TimedOut,
                    ..Sample::lasting(limit)
                };
            }
            order.push(name);
            Ok(run)
        };
        let mut rounds = Rounds {
            count,
            timeout: None,
            status: 0,
            run: &mut one,
            progress: &mut |_| {},
        };
        let mut budget = Budget::new(budget);
        let end = rounds.run(&mut all, &mut budget).expect("no errors");
        let spent: Duration = all
            .iter()
            .flat_map(|one| &one.samples)
            .map(|run| run.wall)
            .sum();
        assert_eq!(budget.spent, spent);
        (all, end, order)
    }

    #[test]
    fn runs_are_interleaved() {
        let (all, end, order) = run(&["-a", "-b"], (4, MS * 10_000), |_| 10);
        assert_eq!(order, ["", "-a", "-b"].repeat(4));
        assert!(end == RoundsEnd::Done && all.iter().all(|one| one.samples.len() == 4));
    }

    #[test]
    fn what_is_clearly_slower_ends_after_three_runs() {
        let time = |name: &str| match name {
            "-slow" => 120,
            "-hardly" => 109,
            _ => 100,
        };
        let (all, _, _) = run(&["-slow", "-hardly"], (6, MS * 100_000), time);
        let runs: Vec<usize> = all.iter().map(|one| one.samples.len()).collect();
        assert_eq!(runs, [6, 3, 6]);
        assert_eq!(all[1].stopped, Some(Stopped::Slower));
        assert_eq!(all[2].stopped, None);
        // Without candidates, the baseline does not run any more, either.
        let (all, _, _) = run(&["-slow"], (6, MS * 100_000), time);
        assert_eq!(all[0].samples.len(), 3);
    }

    #[test]
    fn a_run_of_several_times_the_baseline_is_ended() {
        let time = |name: &str| if name == "-hangs" { 1_000_000 } else { 500 };
        let (all, _, _) = run(&["-hangs", "-b"], (4, MS * 100_000), time);
        assert_eq!(all[1].stopped, Some(Stopped::TimedOut(MS * 2_500)));
        assert_eq!((all[1].samples.len(), all[2].samples.len()), (1, 4));
    }

    #[test]
    fn the_budget_is_kept() {
        let (all, end, _) = run(&["-a", "-b"], (9, MS * 1_000), |_| 100);
        assert_eq!(end, RoundsEnd::OutOfBudget);
        let runs: Vec<usize> = all.iter().map(|one| one.samples.len()).collect();
        assert_eq!(runs, [4, 3, 3]);
    }

    #[test]
    fn plans_keep_the_budget_and_take_the_runs_of_a_claim() {
        let plan = |run: u64, left: u64, candidates, wanted| {
            let [run, left] = [run, left].map(Duration::from_millis);
            let plan = super::plan(run, left, candidates, (wanted, 0.05));
            (plan.candidates, plan.rounds)
        };
        // Eight candidates and a combination are nine tests, which require six runs each.
        assert_eq!(plan(100, 120_000, 8, 5), (8, 6));
        assert_eq!(plan(100, 120_000, 8, 10), (8, 10));
        assert_eq!(plan(100, 120_000, 2, 5), (2, 5));
        // 54 runs of 3 s exceed the budget.
        assert_eq!(plan(3_000, 120_000, 8, 6), (5, 6));
        assert_eq!(plan(4_500, 120_000, 8, 9), (4, 5));
        assert_eq!(plan(60_000, 120_000, 8, 6), (1, 5));
    }

    #[test]
    fn failures_are_told() {
        let mut run = Sample::lasting(MS);
        assert_eq!(failure(&run, 0), None);
        run.stderr_tail = "x: oh\nx: no\n\n".to_owned();
        let why = "ended with status 0: x: no".to_owned();
        assert_eq!(failure(&run, 3), Some(Stopped::Failed(why)));
        run.end = RunEnd::Exited(None);
        assert!(matches!(failure(&run, 0), Some(Stopped::Failed(_))));
    }
}
