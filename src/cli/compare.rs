//! `eventscope compare BEFORE... --to AFTER...`: compares two sets of runs.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use super::comparison::{markdown, text};
use super::digest::{MarkerRange, read};
use super::similar_names::similar_names;
use super::verdicts::{AssertionResult, assertions, check, conclude, print};
use super::{Condition, Failure, LogFile, Out, print_message, verdicts};
use insight::assertion::{Assertion, ValueRequest};
use insight::compare::{Options, Verdict};
use insight::digest::NumberGroup;
use insight::{Comparison, Digest};
use views::fingerprint::Fingerprint;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Runs before the change: logs, or digests of logs
    #[arg(required = true, value_name = "BEFORE")]
    before: Vec<PathBuf>,
    /// Runs after the change. For claims about times, 5 runs per side are needed, better 10
    #[arg(long, required = true, num_args = 1.., value_name = "AFTER")]
    to: Vec<PathBuf>,
    #[command(flatten)]
    part: MarkerRange,
    /// Divide numbers that grow with the work by the number of spans of this name
    #[arg(long, value_name = "span:NAME")]
    per: Option<String>,
    /// Assertions: `regress(time.wall) < 5 %`, `delta(alloc.bytes) < 1 %`, `same(gc.count)`
    #[arg(long, num_args = 1.., value_name = "ASSERTION")]
    fail_on: Vec<String>,
    /// File with more assertions, one per line; lines that begin with # are comments
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Significance level: probability of claiming a difference that does not exist
    #[arg(long, default_value_t = Options::default().alpha)]
    alpha: f64,
    /// How to treat assertions without enough data or runs
    #[arg(long, value_enum, default_value_t = Inconclusive::Fail)]
    inconclusive: Inconclusive,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show all numbers, not only those of the program and those that differ
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Inconclusive {
    /// Exit with status 4
    Fail,
    /// Skip them
    Pass,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Plain text
    Text,
    /// JSON
    Json,
    /// Markdown, for the summary of a workflow or a comment
    Markdown,
    /// JUnit XML report of the assertions, for build servers
    Junit,
    /// Annotations of the assertions, for GitHub workflows
    Github,
}

/// JSON document that the command prints.
#[derive(Serialize)]
struct Document<'a> {
    /// Version of the document format; incremented if the meaning of a field changes.
    version: u32,
    verdict: Verdict,
    #[serde(flatten)]
    comparison: &'a Comparison,
    assertions: &'a [AssertionResult],
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let options = options(arguments)?;
    let words = arguments.fail_on.iter().map(String::as_str);
    let words: Vec<&str> = words.collect();
    let assertions = assertions(&words, arguments.config.as_deref())?;
    let asked = assertions.iter().flat_map(Assertion::requests);
    let asked: BTreeMap<&str, &ValueRequest> = asked.map(|one| (one.text.as_str(), one)).collect();
    let asked: Vec<&ValueRequest> = asked.into_values().collect();
    let mut condition = Condition::Sound;
    let mut known: HashMap<Fingerprint, PathBuf> = HashMap::new();
    let mut side = |files: &[PathBuf]| -> Result<Vec<Digest>, Failure> {
        let mut digests = Vec::new();
        for file in files {
            let input = LogFile::from_path(file).open()?;
            match known.entry(input.fingerprint(file)?) {
                Entry::Occupied(before) => print_message(format_args!(
                    "{} is the same run as {}: it counts twice",
                    file.display(),
                    before.get().display()
                )),
                Entry::Vacant(place) => {
                    place.insert(file.clone());
                }
            }
            let (digest, of_file) = read(file, &input, &arguments.part, &asked)?;
            condition = condition.max(of_file);
            digests.push(digest);
        }
        Ok(digests)
    };
    let (before, after) = (side(&arguments.before)?, side(&arguments.to)?);
    if let Some(span) = &options.per_span {
        let files = arguments.before.iter().chain(&arguments.to);
        let runs = files.zip(before.iter().chain(&after));
        check_spans(span, &runs.collect::<Vec<_>>())?;
    }
    let comparison = Comparison::compare(&before, &after, &options);
    let of = format!("{} → {} runs", before.len(), after.len());
    let checked = assertions
        .iter()
        .map(|assertion| check(&of, assertion, &comparison));
    let checked: Vec<AssertionResult> = checked.collect::<Result<_, _>>()?;
    let passes = arguments.inconclusive == Inconclusive::Pass;
    match arguments.format {
        Format::Text => out.text(text(&comparison, &checked, arguments.all))?,
        Format::Markdown => out.text(markdown(&comparison, &checked, arguments.all))?,
        Format::Json => out.json(&Document {
            version: 1,
            verdict: comparison.verdict(),
            comparison: &comparison,
            assertions: &checked,
        })?,
        Format::Junit => print(&checked, verdicts::Format::Junit, passes, out)?,
        Format::Github => print(&checked, verdicts::Format::Github, passes, out)?,
    }
    conclude(&checked, passes, condition)
}

/// Reports the runs without spans that divide their numbers; fails if all runs lack them.
fn check_spans(name: &str, runs: &[(&PathBuf, &Digest)]) -> Result<(), Failure> {
    let has_none = |digest: &Digest| {
        let count = digest.value(NumberGroup::Spans, name, "count");
        count.is_none_or(|count| count <= 0.0)
    };
    let lacking = runs.iter().filter(|(_, digest)| has_none(digest));
    let lacking: Vec<&Path> = lacking.map(|(file, _)| file.as_path()).collect();
    if lacking.len() == runs.len() {
        let rows = runs.iter().flat_map(|(_, digest)| &digest.rows);
        let of_spans = rows.filter(|row| row.key.group == NumberGroup::Spans);
        let known: BTreeSet<&str> = of_spans.map(|row| row.key.name.as_str()).collect();
        let similar = similar_names(name, known);
        return Err(Failure::Absent(format!(
            "--per span:{name}: no run has numbers of such spans{similar}"
        )));
    }
    for file in lacking {
        print_message(format_args!(
            "{}: no numbers of spans {name}: its times, bytes and counts are left out",
            file.display()
        ));
    }
    Ok(())
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    if !(arguments.alpha > 0.0 && arguments.alpha < 1.0) {
        let what = "--alpha is a probability between 0 and 1, such as 0.05";
        return Err(Failure::Usage(what.to_owned()));
    }
    let span = arguments.per.as_deref().map(|per| {
        let wrong = || Failure::Usage(format!("--per {per}: write span:NAME"));
        per.strip_prefix("span:")
            .map(str::to_owned)
            .ok_or_else(wrong)
    });
    Ok(Options {
        alpha: arguments.alpha,
        per_span: span.transpose()?,
        ..Options::default()
    })
}
