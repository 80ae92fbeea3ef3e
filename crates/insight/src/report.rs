//! All that the rules say of a log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::causes;
use crate::finding::{Axis, Finding, Outcome, Subject};
use crate::ledger::Ledger;
use crate::lost_time::{self, LostTime};
use crate::rules::{Look, RULES};
use crate::scope::{Input, Scope};
use analysis::listen::Listen;
use analysis::recording::Recording;
use eventlog::ids::ThreadId;
use model::format;
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
    /// The labels of the threads that findings are about, of those that have one.
    pub labels: BTreeMap<ThreadId, String>,
}

/// Rules look at each of so many runs. A million takes them up to two seconds of a native program
/// and eight of a browser's worker, in which other answers come late, and some 100 MiB.
const MOST_RUNS: u64 = 2_000_000;

/// Why rules say nothing of a log that several processes have written.
const SEVERAL: &str = "rules look at one program, and this log is of several processes: open the log of each by itself";

impl Report {
    /// Asks all rules about a part of a log.
    pub async fn of(scope: &Scope<'_>, listen: &dyn Listen) -> Self {
        let several = scope.log.info.processes.are_several();
        let causes = match several {
            true => Default::default(),
            false => lost_time::by_cause(scope, listen).await,
        };
        let mut ledger = Ledger::new(causes, scope.caps, scope.stops.len());
        let mut report = Self {
            range: scope.range,
            caps: scope.caps,
            ..Self::default()
        };
        for rule in RULES {
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
                .find(|input| !input.is_in(&scope.log.info));
            if let Some(missing) = missing {
                report.cannot_tell.push(passed(missing.how().to_owned()));
                continue;
            }
            if rule.inputs.contains(&Input::EachRun) && scope.runs() > MOST_RUNS {
                let runs = format::count(scope.runs());
                report.cannot_tell.push(passed(format!(
                    "not run: {runs} thread runs, limit 2 million; select a shorter range"
                )));
                continue;
            }
            let outcome = match rule.look {
                Look::AtOnce(look) => look(scope, &mut ledger),
                Look::InSteps(look) => look(scope, &mut ledger, listen).await,
                Look::AtFindings(look) => look(scope, &report.findings),
            };
            listen.listen().await;
            match outcome {
                Outcome::Found(found) => {
                    let found = found.into_iter().map(|one| scope.suited(one).weighed());
                    report.findings.extend(found);
                }
                Outcome::Clear(why) => report.clear.push(passed(why)),
                Outcome::CannotTell(why) => report.cannot_tell.push(passed(why.into_owned())),
            }
        }
        causes::relate(&mut report.findings);
        report.findings = causes::in_order(std::mem::take(&mut report.findings));
        report.lost_time = lost_time::rows(ledger.all(), ledger.left(), scope.caps);
        let lost = report.lost_time.iter().filter(|row| row.cause.is_lost());
        let left = lost.map(|row| row.unexplained_cap_ns).sum::<u64>();
        report.unexplained_ns = left / scope.caps;
        report.labels = labels(scope.log, &report.findings);
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
