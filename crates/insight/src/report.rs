//! Evaluation of all rules on a log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::busiest::{self, BusyThread};
use crate::causes;
use crate::context::RuleContext;
use crate::experiment::try_command;
use crate::finding::{Axis, Finding, Outcome, Severity, Subject, Value};
use crate::input::Input;
use crate::loss_budget::LossBudget;
use crate::lost_time::{self, CauseTimes, LostTime};
use crate::order;
use crate::rules::{Evaluation, RULES};
use analysis::recording::Recording;
use eventlog::ids::{Nanos, ThreadId};
use model::sorting::CompactCollect;
use model::time::{Interval, range_ns};

/// Rule without a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleWithoutFinding {
    /// Name of the rule.
    pub rule: String,
    /// Question that the rule answers.
    pub question: String,
    /// Reason why it found nothing.
    pub why: String,
}

/// Answers of all rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Range of the log that was examined.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// Findings by severity over all axes, each symptom below its cause; then findings on the log itself, then
    /// those that hardly matter.
    pub findings: Vec<Finding>,
    /// For a log with very many runs of threads: the range to which rules that look at each run were limited.
    #[serde(default)]
    pub sample: Option<Sample>,
    /// Rules that found no problem.
    pub clear: Vec<RuleWithoutFinding>,
    /// Rules for which the log is not sufficient.
    pub cannot_tell: Vec<RuleWithoutFinding>,
    /// Lost time on all or some capabilities that no finding claims, in nanoseconds (capability time divided by
    /// capabilities).
    pub unexplained_ns: u64,
    /// Number of capabilities that exist in the range.
    #[serde(default)]
    pub caps: u64,
    /// Time of all capabilities by cause; it sums to capabilities × length. Empty for a log written by several
    /// processes.
    #[serde(default)]
    pub lost_time: Vec<LostTime>,
    /// Threads with most of the program's running time, largest first. Empty for a log with very many runs of threads.
    #[serde(default)]
    pub busiest: Vec<BusyThread>,
    /// Command that measures the advised flags, for the directory of the program.
    #[serde(default)]
    pub try_command: Option<String>,
    /// Labels of the busiest threads and of those in the evidence, for threads that have one.
    pub labels: BTreeMap<ThreadId, String>,
}

/// Part of a log that represents all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Range of the part.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// Number of runs of threads in the whole range.
    pub of_runs: u64,
}

/// Limits on the number of runs that rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Up to this number, rules look at every run.
    pub most: u64,
    /// Above that, rules look at about this many runs in the middle.
    pub sample: u64,
}

impl RunLimits {
    /// A million runs take up to two seconds natively and three in a browser's worker, which delays other answers,
    /// and about 100 MiB.
    pub const DEFAULT: Self = Self {
        most: 2_000_000,
        sample: 500_000,
    };
}

/// Reason why rules cannot examine a log written by several processes.
const SEVERAL: &str = "rules analyze one program, and this log has several processes: open the log of each separately";

/// Returns the range in the middle that contains `runs` runs.
fn middle_sample(context: &RuleContext<'_>, runs: u64) -> Sample {
    let (start, end) = (context.range.start().0, context.range.end().0);
    let of_runs = context.runs();
    // Middle of the runs, not of the time: a program may start slowly.
    let time_of = |runs_before: u64| {
        let (mut low, mut high) = (start, end);
        while low < high {
            let time = low + (high - low) / 2;
            match context.runs_until(Nanos(time)) < runs_before {
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

/// Returns the unclaimed time by cause. With a sample, its unclaimed share of each cause is applied to the
/// unclaimed time of the whole.
fn unclaimed_times(loss_budget: &LossBudget, sampled: Option<&LossBudget>) -> CauseTimes {
    let mut unclaimed = *loss_budget.unclaimed();
    if let Some(sampled) = sampled {
        for (unclaimed, (all, rest)) in unclaimed
            .iter_mut()
            .zip(sampled.all().iter().zip(sampled.unclaimed()))
        {
            if *all > 0 {
                *unclaimed = (*unclaimed as f64 * *rest as f64 / *all as f64) as u64;
            }
        }
    }
    unclaimed
}

/// Progress of the rules on a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Number of rules that have answered.
    pub answered: usize,
    /// Number of all rules.
    pub rules: usize,
    /// Severities and titles of the significant findings so far, in the order of the rules: which one explains
    /// which is known only at the end.
    pub found: Vec<(Severity, String)>,
}

impl Progress {
    fn add(&mut self, found: &[Finding]) {
        let matter = found.iter().filter(|finding| finding.is_significant());
        let titles = matter.map(|finding| (finding.severity, finding.title.clone()));
        self.found.extend(titles);
    }
}

impl Report {
    /// Runs all rules on a range of a log.
    pub async fn evaluate(context: &RuleContext<'_>) -> Self {
        Self::evaluate_with_progress(context, RunLimits::DEFAULT, |_| ()).await
    }

    /// Same as [`evaluate`](Self::evaluate) with other limits, calling `on_progress` before each rule.
    pub async fn evaluate_with_progress(
        context: &RuleContext<'_>,
        limits: RunLimits,
        mut on_progress: impl FnMut(&Progress),
    ) -> Self {
        let several = context.log.info.processes.are_several();
        let causes = match several {
            true => Default::default(),
            false => lost_time::by_cause(context).await,
        };
        let mut loss_budget = LossBudget::new(causes, context.caps, context.collections.len());
        let mut report = Self {
            range: context.range,
            caps: context.caps,
            ..Self::default()
        };
        if !several && context.runs() > limits.most {
            report.sample = Some(middle_sample(context, limits.sample));
        }
        let mut sampled = match report.sample {
            Some(sample) => {
                let context = context.for_rules_in(Some(sample.range));
                let causes = lost_time::by_cause(&context).await;
                let loss_budget = LossBudget::new(causes, context.caps, context.collections.len());
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
            on_progress(&progress);
            let passed = |why: String| RuleWithoutFinding {
                rule: rule.name.to_owned(),
                question: rule.question.to_owned(),
                why,
            };
            if several {
                report.cannot_tell.push(passed(SEVERAL.to_owned()));
                continue;
            }
            if let Some(missing) = Input::missing_in(rule.inputs, &context.log.info) {
                report.cannot_tell.push(passed(missing.to_owned()));
                continue;
            }
            let (context, loss_budget) = match &mut sampled {
                Some((context, loss_budget)) if rule.inputs.contains(&Input::EachRun) => {
                    (&*context, loss_budget)
                }
                _ => (context, &mut loss_budget),
            };
            let outcome = match rule.evaluate {
                Evaluation::Immediate(evaluate) => evaluate(context, loss_budget),
                Evaluation::Yielding(evaluate) => evaluate(context, loss_budget).await,
                Evaluation::OnFindings(evaluate) => {
                    evaluate(context, loss_budget, &report.findings)
                }
            };
            context.yielder.yield_if_due().await;
            match outcome {
                Outcome::Found(found) => {
                    let costs = |one: &Finding| one.axis != Axis::Time || one.cost != Value::Ns(0);
                    let found: Vec<Finding> = found.into_iter().filter(costs).collect();
                    if found.is_empty() {
                        report
                            .clear
                            .push(passed("it is so, but costs no time".into()));
                    }
                    let found = found.into_iter().map(|one| {
                        context
                            .without_unsuitable_advice(one)
                            .with_capped_severity()
                    });
                    let found: Vec<Finding> = found.collect();
                    progress.add(&found);
                    report.findings.extend(found);
                }
                Outcome::Clear(why) => report.clear.push(passed(why)),
                Outcome::CannotTell(why) => report.cannot_tell.push(passed(why.into_owned())),
            }
        }
        causes::link_causes(&mut report.findings);
        context.adapt_advice_on_capabilities(&mut report.findings);
        report.findings = order::sorted(std::mem::take(&mut report.findings));
        if sampled.is_none() {
            report.busiest = busiest::find(context).await;
        }
        let sampled = sampled.as_ref().map(|(_, loss_budget)| loss_budget);
        report.lost_time = lost_time::rows(
            loss_budget.all(),
            &unclaimed_times(&loss_budget, sampled),
            context.caps,
        );
        let lost = report.lost_time.iter().filter(|row| row.cause.is_lost());
        let unclaimed = lost.map(|row| row.unexplained_cap_ns).sum::<u64>();
        report.unexplained_ns = unclaimed / context.caps;
        report.try_command = try_command(&report.findings, &context.log.info.process());
        report.labels = labels(context.log, &report);
        report
    }

    /// Returns the display name of a subject, with the label of a thread if it has one: `Thread 12 (worker)`.
    pub fn subject_name(&self, subject: Subject) -> String {
        match subject {
            Subject::Thread(thread) => match self.labels.get(&thread) {
                Some(label) => format!("Thread {thread} ({label})"),
                None => format!("Thread {thread}"),
            },
            Subject::Capability(cap) => format!("Capability {cap}"),
            Subject::Collection(number) => format!("Collection {number}"),
        }
    }

    /// Returns the number of rules that were evaluated.
    pub fn rule_count(&self) -> usize {
        self.clear.len() + self.cannot_tell.len() + self.rules_with_findings()
    }

    /// Returns the number of rules with findings.
    pub fn rules_with_findings(&self) -> usize {
        let rules = self.findings.iter().map(|finding| &finding.rule);
        rules.collect::<BTreeSet<_>>().len()
    }

    /// Returns the significant findings, in the order of `findings`.
    pub fn significant_findings(&self) -> Vec<&Finding> {
        let all = self.findings.iter();
        all.filter(|finding| finding.is_significant()).collect()
    }

    /// Returns the title of the finding that explains another one.
    pub fn cause_title(&self, finding: &Finding) -> Option<&str> {
        let rule = finding.explained_by.as_ref()?;
        let found = self.findings.iter().find(|one| one.rule == *rule);
        found.map(|found| found.title.as_str())
    }

    /// Returns the findings of an axis.
    pub fn findings_on_axis(&self, axis: Axis) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(move |finding| finding.axis == axis)
    }
}

/// Returns the labels of the busiest threads and of those in the evidence.
fn labels(log: &Recording, report: &Report) -> BTreeMap<ThreadId, String> {
    let evidence = report.findings.iter().flat_map(|finding| &finding.evidence);
    let subjects = evidence.flat_map(|evidence| &evidence.subjects);
    let threads = subjects.filter_map(|subject| match *subject {
        Subject::Thread(thread) => Some(thread),
        _ => None,
    });
    let busiest = report.busiest.iter().map(|busy| busy.thread);
    { threads.chain(busiest) }
        .filter_map(|thread| Some((thread, log.store.label_of(thread)?.to_owned())))
        .collect_small()
}
