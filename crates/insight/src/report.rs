//! All that the rules say of a log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::causes;
use crate::context::{Input, RuleContext};
use crate::experiment::try_command;
use crate::finding::{Axis, Finding, Outcome, Severity, Subject, Value};
use crate::loss_budget::LossBudget;
use crate::lost_time::{self, CauseTimes, LostTime};
use crate::rules::{Look, RULES};
use analysis::recording::Recording;
use analysis::yielder::Yield;
use eventlog::ids::{Nanos, ThreadId};
use model::time::{Interval, range_ns};

/// A rule that found nothing, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Its name.
    pub rule: String,
    /// What it asks.
    pub question: String,
    /// Why it found nothing.
    pub why: String,
}

/// What the rules say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The part of the log that was looked at.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// What was found, the gravest first, whatever it costs, each symptom below its cause; what is
    /// about the log itself comes after that, and what hardly matters last.
    pub findings: Vec<Finding>,
    /// Of a log with very many runs of threads: the part of which the rules that look at each run
    /// looked at all.
    #[serde(default)]
    pub sample: Option<Sample>,
    /// Rules that found nothing.
    pub clear: Vec<Passed>,
    /// Rules that could not tell.
    pub cannot_tell: Vec<Passed>,
    /// Time in which the program did not run, or not on all capabilities, and that no
    /// finding claims, in nanoseconds of the program.
    pub unexplained_ns: u64,
    /// How many capabilities lived in the range.
    #[serde(default)]
    pub caps: u64,
    /// Where the time of all capabilities went: it sums to capabilities × length. None of a log
    /// that several processes have written.
    #[serde(default)]
    pub lost_time: Vec<LostTime>,
    /// The command that measures the flags that findings advise, to be run where the program is.
    #[serde(default)]
    pub try_command: Option<String>,
    /// The labels of the threads that findings are about, of those that have one.
    pub labels: BTreeMap<ThreadId, String>,
}

/// A part of a log that stands for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// How many runs of threads the whole range has.
    pub of_runs: u64,
}

/// How many runs rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// At each of so many.
    pub most: u64,
    /// Of more, at about so many in the middle.
    pub sample: u64,
}

impl RunLimits {
    /// A million takes rules up to two seconds of a native program and three of a browser's worker, in
    /// which other answers come late, and some 100 MiB.
    pub const USUAL: Self = Self {
        most: 2_000_000,
        sample: 500_000,
    };
}

/// Why rules say nothing of a log that several processes have written.
const SEVERAL: &str = "rules look at one program, and this log is of several processes: open the log of each by itself";

/// The part in the middle that has so many runs as a sample has.
fn middle(context: &RuleContext<'_>, runs: u64) -> Sample {
    let (start, end) = (context.range.start().0, context.range.end().0);
    let of_runs = context.runs();
    // The middle of all runs, not of the time: a program may start slowly.
    let time_of = |place: u64| {
        let (mut low, mut high) = (start, end);
        while low < high {
            let time = low + (high - low) / 2;
            match context.runs_until(Nanos(time)) < place {
                true => low = time + 1,
                false => high = time,
            }
        }
        Nanos(low)
    };
    let first = of_runs.saturating_sub(runs) / 2;
    Sample {
        range: Interval::new(time_of(first), time_of(first + runs)),
        of_runs,
    }
}

/// What no finding claims, by cause: of what is left, findings in the sample claim the same share
/// as there.
fn left(loss_budget: &LossBudget, sampled: Option<&LossBudget>) -> CauseTimes {
    let mut left = *loss_budget.left();
    if let Some(sampled) = sampled {
        for (left, (all, rest)) in left
            .iter_mut()
            .zip(sampled.all().iter().zip(sampled.left()))
        {
            if *all > 0 {
                *left = (*left as f64 * *rest as f64 / *all as f64) as u64;
            }
        }
    }
    left
}

/// How far the rules are with a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How many rules have answered.
    pub answered: usize,
    /// How many there are.
    pub rules: usize,
    /// What they have found that matters: how grave, and the title. What explains what is known at
    /// the end only, so that these are in the order of the rules.
    pub found: Vec<(Severity, String)>,
}

impl Progress {
    fn add(&mut self, found: &[Finding]) {
        let matter = found.iter().filter(|finding| finding.matters());
        let titles = matter.map(|finding| (finding.severity, finding.title.clone()));
        self.found.extend(titles);
    }
}

impl Report {
    /// Asks all rules about a part of a log.
    pub async fn of(context: &RuleContext<'_>, yielder: &dyn Yield) -> Self {
        Self::of_runs(context, RunLimits::USUAL, yielder).await
    }

    /// The same, with other limits.
    pub async fn of_runs(
        context: &RuleContext<'_>,
        limits: RunLimits,
        yielder: &dyn Yield,
    ) -> Self {
        Self::watched(context, limits, yielder, |_| ()).await
    }

    /// The same; `tell` learns of each rule that has answered.
    pub async fn watched(
        context: &RuleContext<'_>,
        limits: RunLimits,
        yielder: &dyn Yield,
        mut tell: impl FnMut(&Progress),
    ) -> Self {
        let several = context.log.info.processes.are_several();
        let causes = match several {
            true => Default::default(),
            false => lost_time::by_cause(context, yielder).await,
        };
        let mut loss_budget = LossBudget::new(causes, context.caps, context.stops.len());
        let mut report = Self {
            range: context.range,
            caps: context.caps,
            ..Self::default()
        };
        if !several && context.runs() > limits.most {
            report.sample = Some(middle(context, limits.sample));
        }
        let mut sampled = match report.sample {
            Some(sample) => {
                let context = RuleContext::for_rules(context.log, Some(sample.range));
                let causes = lost_time::by_cause(&context, yielder).await;
                let loss_budget = LossBudget::new(causes, context.caps, context.stops.len());
                Some((context, loss_budget))
            }
            None => None,
        };
        let mut progress = Progress {
            rules: RULES.len(),
            ..Progress::default()
        };
        for (answered, rule) in RULES.iter().enumerate() {
            progress.answered = answered;
            tell(&progress);
            let passed = |why: String| Passed {
                rule: rule.name.to_owned(),
                question: rule.question.to_owned(),
                why,
            };
            if several {
                report.cannot_tell.push(passed(SEVERAL.to_owned()));
                continue;
            }
            let missing = rule
                .inputs
                .iter()
                .find(|input| !input.is_in(&context.log.info));
            if let Some(missing) = missing {
                report.cannot_tell.push(passed(missing.how().to_owned()));
                continue;
            }
            let (context, loss_budget) = match &mut sampled {
                Some((context, loss_budget)) if rule.inputs.contains(&Input::EachRun) => {
                    (&*context, loss_budget)
                }
                _ => (context, &mut loss_budget),
            };
            let outcome = match rule.look {
                Look::AtOnce(look) => look(context, loss_budget),
                Look::InSteps(look) => look(context, loss_budget, yielder).await,
                Look::AtFindings(look) => look(context, loss_budget, &report.findings),
            };
            yielder.yield_if_due().await;
            match outcome {
                Outcome::Found(found) => {
                    let costs = |one: &Finding| one.axis != Axis::Time || one.cost != Value::Ns(0);
                    let found: Vec<Finding> = found.into_iter().filter(costs).collect();
                    if found.is_empty() {
                        report
                            .clear
                            .push(passed("it is so, but costs no time".into()));
                    }
                    let found = found.into_iter().map(|one| context.suited(one).weighed());
                    let found: Vec<Finding> = found.collect();
                    progress.add(&found);
                    report.findings.extend(found);
                }
                Outcome::Clear(why) => report.clear.push(passed(why)),
                Outcome::CannotTell(why) => report.cannot_tell.push(passed(why.into_owned())),
            }
        }
        causes::relate(&mut report.findings);
        report.findings = causes::in_order(std::mem::take(&mut report.findings));
        let sampled = sampled.as_ref().map(|(_, loss_budget)| loss_budget);
        report.lost_time = lost_time::rows(
            loss_budget.all(),
            &left(&loss_budget, sampled),
            context.caps,
        );
        let lost = report.lost_time.iter().filter(|row| row.cause.is_lost());
        let left = lost.map(|row| row.unexplained_cap_ns).sum::<u64>();
        report.unexplained_ns = left / context.caps;
        report.try_command = try_command(&report.findings, &context.log.info.process());
        report.labels = labels(context.log, &report.findings);
        report
    }

    /// What a finding is about, by its label if it has one: `Thread 12 (worker)`.
    #[must_use]
    pub fn name(&self, subject: Subject) -> String {
        match subject {
            Subject::Thread(thread) => match self.labels.get(&thread) {
                Some(label) => format!("Thread {thread} ({label})"),
                None => format!("Thread {thread}"),
            },
            Subject::Capability(cap) => format!("Capability {cap}"),
            Subject::Collection(number) => format!("Collection {number}"),
        }
    }

    /// How many rules were asked.
    #[must_use]
    pub fn rules(&self) -> usize {
        self.clear.len() + self.cannot_tell.len() + self.rules_that_found()
    }

    /// How many rules found something.
    #[must_use]
    pub fn rules_that_found(&self) -> usize {
        let rules = self.findings.iter().map(|finding| &finding.rule);
        rules.collect::<BTreeSet<_>>().len()
    }

    /// What matters, in the order of all.
    #[must_use]
    pub fn gravest(&self) -> Vec<&Finding> {
        let all = self.findings.iter();
        all.filter(|finding| finding.matters()).collect()
    }

    /// The title of the finding that explains another one.
    #[must_use]
    pub fn cause(&self, finding: &Finding) -> Option<&str> {
        let rule = finding.explained_by.as_ref()?;
        let found = self.findings.iter().find(|one| one.rule == *rule);
        found.map(|found| found.title.as_str())
    }

    /// What was found of an axis.
    pub fn of_axis(&self, axis: Axis) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(move |finding| finding.axis == axis)
    }
}

/// The labels of the threads that findings are about.
fn labels(log: &Recording, findings: &[Finding]) -> BTreeMap<ThreadId, String> {
    let places = findings.iter().flat_map(|finding| &finding.evidence);
    let subjects = places.flat_map(|place| &place.subjects);
    let label = |subject: &Subject| match *subject {
        Subject::Thread(thread) => Some((thread, log.store.label_of(thread)?.to_owned())),
        _ => None,
    };
    subjects.filter_map(label).collect()
}
