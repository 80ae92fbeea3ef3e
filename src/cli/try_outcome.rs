//! Results of `eventscope try`: measurements, claims and the recommendation.

use serde::Serialize;

use super::comparison::percent;
use super::out::{in_columns, titled};
use super::try_candidates::{Candidate, combined};
use super::try_child::{OutputDigest, Sample};
use super::try_rounds::{Contestant, Stopped};
use insight::command_line::with_flags;
use insight::compare::{Claim, Difference, Options, Trend, against_baseline};
use insight::metrics::Unit;
use model::format;
use statistics::shift::median;

/// Minimum relative change of processor time or memory for it to be mentioned.
const MIN_REPORTED_CHANGE: f64 = 0.10;

/// Result of a whole trial.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    /// Runs of the program without additional flags.
    pub(super) baseline: Runs,
    /// Candidates, in measuring order.
    pub(super) candidates: Vec<MeasuredCandidate>,
    /// Differences besides time and memory.
    pub(super) notes: Vec<String>,
    /// Recommendation to the user.
    pub(super) recommendation: Recommendation,
}

/// Measurements of the runs with one set of flags.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Runs {
    /// Wall times in nanoseconds.
    wall_ns: Vec<f64>,
    /// Processor times in nanoseconds.
    cpu_ns: Vec<f64>,
    /// Peak resident memory in bytes.
    memory_bytes: Vec<f64>,
}

/// Candidate compared with the baseline.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MeasuredCandidate {
    #[serde(flatten)]
    pub(super) candidate: Candidate,
    runs: Runs,
    wall: Difference,
    cpu: Difference,
    memory: Difference,
    state: State,
    /// Reason why measuring was stopped.
    why: Option<String>,
    /// For a combination: the single candidate that is as fast.
    no_faster_than: Option<String>,
}

/// Measuring state of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// Measured in all rounds.
    Measured,
    /// Stopped early, because it is clearly slower.
    Slower,
    /// A run was killed after several times the baseline's time, or after `--timeout`.
    TimedOut,
    /// A run ended with an unexpected status.
    Failed,
    /// The output differs from that of the baseline.
    OtherOutput,
}

/// Recommendation to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Recommendation {
    /// Recommended flags; `None` if nothing is significantly faster.
    flags: Option<String>,
    /// Reason with numbers.
    sentence: String,
    /// Build command that sets the flags.
    line: Option<String>,
}

impl Runs {
    fn new(samples: &[Sample]) -> Self {
        let all = |number: &dyn Fn(&Sample) -> f64| samples.iter().map(number).collect();
        Self {
            wall_ns: all(&|run| run.wall.as_nanos() as f64),
            cpu_ns: all(&|run| run.cpu.as_nanos() as f64),
            memory_bytes: all(&|run| run.memory_bytes as f64),
        }
    }
}

/// Returns the runs of a contestant that ended as expected.
fn valid_samples(contestant: &Contestant) -> &[Sample] {
    let samples = contestant.samples.as_slice();
    match contestant.stopped {
        Some(Stopped::TimedOut(_) | Stopped::Failed(_)) => {
            samples.split_last().map_or(&[], |(_, before)| before)
        }
        _ => samples,
    }
}

/// Compares the candidates with the baseline, which is the first contestant.
///
/// `rts` are the program's current runtime options, which the recommended build command keeps.
pub(super) fn conclude(contestants: &[Contestant], rts: &[String], options: &Options) -> Outcome {
    let (base, others) = (&contestants[0], &contestants[1..]);
    let baseline = Runs::new(valid_samples(base));
    let runs: Vec<Runs> = others
        .iter()
        .map(|one| Runs::new(valid_samples(one)))
        .collect();
    let compare = |number: (&str, Unit), of: fn(&Runs) -> &Vec<f64>| {
        let all: Vec<Vec<f64>> = runs.iter().map(|runs| of(runs).clone()).collect();
        against_baseline(number, of(&baseline), &all, options)
    };
    let wall = compare(("wall", Unit::Ns), |runs| &runs.wall_ns);
    let cpu = compare(("cpu", Unit::Ns), |runs| &runs.cpu_ns);
    let memory = compare(("memory", Unit::Bytes), |runs| &runs.memory_bytes);
    let mut notes = Vec::new();
    let output = BaselineOutput::new(valid_samples(base));
    notes.extend(output.note());
    let numbers = wall.into_iter().zip(cpu).zip(memory);
    let mut candidates = Vec::new();
    for ((contestant, runs), ((wall, cpu), memory)) in others.iter().zip(&runs).zip(numbers) {
        let Some(candidate) = contestant.candidate.clone() else {
            continue;
        };
        let (mut state, mut why) = state(contestant);
        if let Some(note) = output.differs(contestant) {
            (state, why) = (State::OtherOutput, Some(note));
        }
        notes.extend(why.iter().map(|why| format!("{}: {why}", candidate.name())));
        candidates.push(MeasuredCandidate {
            candidate,
            runs: runs.clone(),
            wall,
            cpu,
            memory,
            state,
            why,
            no_faster_than: contestant.no_faster_than.clone(),
        });
    }
    let recommendation = recommend(&candidates, rts, baseline.wall_ns.len(), options);
    Outcome {
        baseline,
        candidates,
        notes,
        recommendation,
    }
}

/// Returns whether the runs of one contestant are significantly faster than those of another.
pub(super) fn is_faster(one: &Contestant, than: &Contestant, options: &Options) -> bool {
    let [one, than] = [one, than].map(|contestant| Runs::new(valid_samples(contestant)).wall_ns);
    let rows = against_baseline(("wall", Unit::Ns), &than, &[one], options);
    let is_better = |row: &Difference| (row.claim, row.trend) == (Claim::Changed, Trend::Better);
    rows.first().is_some_and(is_better)
}

impl Outcome {
    /// Returns the best candidate, and its combination with the next best one that is compatible; both must be
    /// significantly faster than the baseline.
    pub(super) fn combination(&self) -> Option<(Candidate, Candidate)> {
        let faster = faster(&self.candidates);
        let best = faster.first()?;
        let mut others = faster[1..].iter();
        let both = others.find_map(|other| combined(&best.candidate, &other.candidate))?;
        Some((best.candidate.clone(), both))
    }

    /// Formats the table, the notes and the recommendation.
    pub(super) fn text(&self, own_bytes: Option<u64>) -> String {
        let names = [
            "", "wall", "least", "most", "change", "interval", "p", "CPU", "memory", "claim",
        ];
        let mut rows = titled(&names);
        rows.push(
            self.baseline
                .cells("unchanged".to_owned(), own_bytes)
                .to_vec(),
        );
        for measured in &self.candidates {
            rows.push(measured.cells(own_bytes));
        }
        let mut text = in_columns(&rows);
        text.push('\n');
        for note in &self.notes {
            text += &format!("{note}\n");
        }
        text += &format!("{}\n", self.recommendation.sentence);
        if let Some(line) = &self.recommendation.line {
            text += &format!("{line}\n");
        }
        text
    }
}

impl Runs {
    /// Returns the cells of a row without a comparison: name, wall time with its range, processor time and memory.
    fn cells(&self, name: String, own_bytes: Option<u64>) -> [String; 10] {
        let ns = |ns: f64| format::duration_ns(ns as u64);
        let empty = String::new;
        let (least, most) = ends(&self.wall_ns);
        let memory = median(&self.memory_bytes).map(|bytes| memory(bytes, own_bytes));
        [
            name,
            median(&self.wall_ns).map(ns).unwrap_or_default(),
            least.map(ns).unwrap_or_default(),
            most.map(ns).unwrap_or_default(),
            empty(),
            empty(),
            empty(),
            median(&self.cpu_ns).map(ns).unwrap_or_default(),
            memory.unwrap_or_default(),
            empty(),
        ]
    }
}

fn ends(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let all = || values.iter().copied();
    (all().reduce(f64::min), all().reduce(f64::max))
}

/// Formats the peak memory of a process. The system includes the memory that its parent had before the program was
/// executed.
fn memory(bytes: f64, own_bytes: Option<u64>) -> String {
    match own_bytes {
        Some(own) if bytes <= own as f64 => format!("< {}", format::bytes(own)),
        _ => format::bytes(bytes as u64),
    }
}

impl MeasuredCandidate {
    fn cells(&self, own_bytes: Option<u64>) -> Vec<String> {
        let mut cells = self.runs.cells(self.candidate.name(), own_bytes);
        if !self.runs.wall_ns.is_empty() {
            cells[4] = share(&self.wall).map(percent).unwrap_or_default();
        }
        let interval = self.wall.ratio_interval;
        let interval =
            interval.map(|(low, high)| format!("{} … {}", percent(low - 1.0), percent(high - 1.0)));
        cells[5] = interval.unwrap_or_default();
        let p = self.wall.corrected_p;
        cells[6] = p.map(|p| format!("{p:.3}")).unwrap_or_default();
        cells[9] = self.claim().to_owned();
        cells.to_vec()
    }

    fn claim(&self) -> &'static str {
        match (self.state, self.wall.claim, self.wall.trend) {
            (State::Slower, ..) => "slower, stopped early",
            (State::TimedOut, ..) => "stopped: too slow",
            (State::Failed, ..) => "failed",
            (State::OtherOutput, ..) => "other output",
            (_, Claim::Changed, Trend::Better) if self.no_faster_than.is_some() => {
                "no faster than one"
            }
            (_, Claim::Changed, Trend::Better) => "faster",
            (_, Claim::Changed, _) => "slower",
            (_, Claim::NoDifference, _) => "no difference",
            _ => "too few runs",
        }
    }

    fn is_faster(&self) -> bool {
        self.claim() == "faster"
    }
}

/// Returns the relative change.
fn share(row: &Difference) -> Option<f64> {
    row.ratio.map(|ratio| ratio - 1.0)
}

fn state(contestant: &Contestant) -> (State, Option<String>) {
    match &contestant.stopped {
        None => (State::Measured, None),
        Some(Stopped::Slower) => (State::Slower, None),
        Some(Stopped::TimedOut(after)) => {
            let why = format!("a run was killed after {:.1} s", after.as_secs_f64());
            (State::TimedOut, Some(why))
        }
        Some(Stopped::Failed(how)) => (State::Failed, Some(how.clone())),
    }
}

/// Outputs of the unchanged program.
struct BaselineOutput {
    all: Vec<Option<OutputDigest>>,
}

impl BaselineOutput {
    fn new(samples: &[Sample]) -> Self {
        Self {
            all: samples.iter().map(|sample| sample.printed).collect(),
        }
    }

    /// Returns the output common to all runs; `None` if it is unknown or varies.
    fn same(&self) -> Option<OutputDigest> {
        let first = (*self.all.first()?)?;
        let is_same = self.all.iter().all(|printed| *printed == Some(first));
        is_same.then_some(first)
    }

    fn note(&self) -> Option<String> {
        let cannot_tell = !self.all.is_empty() && self.same().is_none();
        cannot_tell.then(|| {
            "The output differs between runs of the program, so it cannot show whether a flag changes the result.".to_owned()
        })
    }

    /// Describes how the output of a contestant differs.
    fn differs(&self, contestant: &Contestant) -> Option<String> {
        let same = self.same()?;
        let printed = valid_samples(contestant)
            .iter()
            .map(|sample| sample.printed);
        let other = printed.flatten().find(|printed| *printed != same)?;
        Some(if other.bytes == same.bytes {
            format!(
                "prints {} bytes that differ from the output without the flags",
                other.bytes
            )
        } else {
            format!(
                "prints {} bytes, without the flags {}",
                format::count(other.bytes),
                format::count(same.bytes)
            )
        })
    }
}

/// Returns the significantly faster candidates, the fastest first.
fn faster(candidates: &[MeasuredCandidate]) -> Vec<&MeasuredCandidate> {
    let mut faster: Vec<&MeasuredCandidate> =
        candidates.iter().filter(|one| one.is_faster()).collect();
    let ratio = |one: &MeasuredCandidate| one.wall.ratio.unwrap_or(1.0);
    faster.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    faster
}

fn recommend(
    candidates: &[MeasuredCandidate],
    rts: &[String],
    runs: usize,
    options: &Options,
) -> Recommendation {
    if let Some(best) = faster(candidates).first() {
        let flags = with_flags(rts, &best.candidate.flags).join(" ");
        return Recommendation {
            sentence: gain(best),
            line: Some(format!("ghc … \"-with-rtsopts={flags}\"")),
            flags: Some(best.candidate.name()),
        };
    }
    let short = candidates
        .iter()
        .filter(|one| one.claim() == "too few runs");
    let fewest = short.map(|one| runs.min(one.runs.wall_ns.len())).min();
    if candidates.is_empty() {
        return Recommendation::none("No flag is left to try.".to_owned());
    }
    if let Some(runs) = fewest {
        let needed = statistics::rank_test::runs_needed(options.alpha, candidates.len());
        return Recommendation::none(format!(
            "Too few runs for a claim: {runs} of the {needed} required. Increase --budget, or reduce the work of the program."
        ));
    }
    let cheaper = candidates.iter().filter_map(cheaper);
    let mut sentence =
        "No flag makes the program significantly faster: leave its options as they are.".to_owned();
    sentence.extend(cheaper.map(|cheaper| format!(" {cheaper}")));
    Recommendation::none(sentence)
}

impl Recommendation {
    const fn none(sentence: String) -> Self {
        Self {
            flags: None,
            sentence,
            line: None,
        }
    }
}

/// Describes the gain of the best candidate, and its price.
fn gain(best: &MeasuredCandidate) -> String {
    let wall = 1.0 - best.wall.ratio.unwrap_or(1.0);
    let mut text = format!(
        "{} makes the program faster: {} less wall time",
        best.candidate.name(),
        format::fraction(wall)
    );
    if let Some((low, high)) = best.wall.ratio_interval {
        let [least, most] = [1.0 - high, 1.0 - low].map(format::fraction);
        text += &format!(" ({least} to {most})");
    }
    for (row, what) in [(&best.cpu, "CPU time"), (&best.memory, "memory")] {
        let Some(share) = share(row).filter(|share| share.abs() >= MIN_REPORTED_CHANGE) else {
            continue;
        };
        let word = if share > 0.0 { "more" } else { "less" };
        let by = row.amount(row.change.abs());
        text += &format!(", {by} {word} {what}");
    }
    text + "."
}

/// Describes the processor time saved by a candidate that is not slower.
fn cheaper(measured: &MeasuredCandidate) -> Option<String> {
    let row = &measured.cpu;
    let saves = (row.claim, row.trend) == (Claim::Changed, Trend::Better);
    let share = share(row).filter(|share| *share <= -MIN_REPORTED_CHANGE)?;
    let is_as_fast = measured.claim() == "no difference";
    (saves && is_as_fast).then(|| {
        format!(
            "{} takes {} less CPU time in the same wall time.",
            measured.candidate.name(),
            format::fraction(-share)
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns a contestant with six runs of about `ms` milliseconds.
    fn contestant(flag: &str, ms: u64) -> Contestant {
        let candidate = Candidate {
            flags: flag.split_whitespace().map(str::to_owned).collect(),
            rule: None,
        };
        let mut contestant = match flag {
            "" => Contestant::default(),
            _ => Contestant::new(candidate),
        };
        contestant.samples = (0..6)
            .map(|run| Sample::lasting(Duration::from_millis(ms + run)))
            .collect();
        contestant
    }

    fn concluded(contestants: &[Contestant], rts: &[&str]) -> Outcome {
        let rts: Vec<String> = rts.iter().map(|&flag| flag.to_owned()).collect();
        conclude(contestants, &rts, &Options::default())
    }

    #[test]
    fn the_fastest_is_recommended_with_the_options_that_stay() {
        let mut large = contestant("-A64m", 500);
        for sample in &mut large.samples {
            sample.memory_bytes = 110 << 20;
        }
        let all = [contestant("", 1_000), contestant("-qg", 800), large];
        let outcome = concluded(&all, &["-N2", "-A1m"]);
        let found = &outcome.recommendation;
        assert_eq!(found.flags.as_deref(), Some("-A64m"));
        assert_eq!(
            found.line.as_deref(),
            Some("ghc … \"-with-rtsopts=-N2 -A64m\"")
        );
        assert!(
            found.sentence.contains("60.0\u{a0}MiB more memory"),
            "{found:?}"
        );
        let (best, both) = outcome.combination().expect("both are faster");
        assert_eq!(
            (best.name(), both.name()),
            ("-A64m".into(), "-A64m -qg".into())
        );
    }

    #[test]
    fn two_flags_are_recommended_only_if_faster_than_one() {
        let mut all = vec![contestant("", 1_000), contestant("-A64m", 500)];
        all.push(contestant("-A64m -qg", 499));
        assert!(!is_faster(&all[2], &all[1], &Options::default()));
        assert!(is_faster(&all[2], &all[0], &Options::default()));
        all[2].no_faster_than = Some("-A64m".to_owned());
        let outcome = concluded(&all, &[]);
        assert_eq!(outcome.recommendation.flags.as_deref(), Some("-A64m"));
        all[2].no_faster_than = None;
        let outcome = concluded(&all, &[]);
        assert_eq!(outcome.recommendation.flags.as_deref(), Some("-A64m -qg"));
    }

    #[test]
    fn nothing_is_recommended_without_a_significant_gain() {
        let outcome = concluded(&[contestant("", 1_000), contestant("-qg", 1_001)], &[]);
        assert!(outcome.recommendation.sentence.starts_with("No flag"));
        assert_eq!(
            (outcome.recommendation.line, outcome.candidates.len()),
            (None, 1)
        );
        let mut short = [contestant("", 1_000), contestant("-qg", 500)];
        for contestant in &mut short {
            contestant.samples.truncate(3);
        }
        let outcome = concluded(&short, &[]);
        assert!(outcome.recommendation.sentence.starts_with("Too few runs"));
    }

    #[test]
    fn what_prints_otherwise_is_not_recommended() {
        let mut other = contestant("-N2", 100);
        other.samples[3].printed = Some(OutputDigest::of(b"other"));
        let outcome = concluded(&[contestant("", 1_000), other.clone()], &[]);
        assert_eq!(outcome.recommendation.flags, None);
        assert!(
            outcome.notes[0].starts_with("-N2: prints 5 bytes"),
            "{:?}",
            outcome.notes
        );
        // If a program prints its run times, comparing outputs is pointless.
        let mut base = contestant("", 1_000);
        base.samples[0].printed = Some(OutputDigest::of(b"1 s"));
        let outcome = concluded(&[base, other], &[]);
        assert_eq!(outcome.recommendation.flags.as_deref(), Some("-N2"));
        assert_eq!(outcome.notes.len(), 1);
    }

    #[test]
    fn what_failed_counts_no_run_and_is_told() {
        let mut failed = contestant("-N2", 10);
        failed.samples.truncate(1);
        failed.stopped = Some(Stopped::Failed("ended with status 1: no".to_owned()));
        let outcome = concluded(&[contestant("", 1_000), failed], &[]);
        assert_eq!(outcome.notes, ["-N2: ended with status 1: no"]);
        let text = outcome.text(None);
        assert!(
            text.lines()
                .any(|line| line.starts_with("-N2") && line.ends_with("failed"))
        );
    }

    #[test]
    fn less_of_the_processors_is_told() {
        let mut one = contestant("-N1", 1_000);
        for sample in &mut one.samples {
            sample.cpu /= 2;
        }
        let outcome = concluded(&[contestant("", 1_000), one], &[]);
        let sentence = outcome.recommendation.sentence;
        assert!(
            sentence.contains("-N1 takes 50.0\u{a0}% less CPU time"),
            "{sentence}"
        );
    }

    #[test]
    fn memory_below_that_of_this_process_is_not_told() {
        assert_eq!(memory(5e6, Some(10 << 20)), "< 10.0\u{a0}MiB");
        assert_eq!(memory(20.0 * 1048576.0, Some(10 << 20)), "20.0\u{a0}MiB");
    }
}
