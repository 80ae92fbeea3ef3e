//! `eventscope try -- PROGRAM ARGUMENTS`: measures which runtime flags make a program faster.
//!
//! One run with a log determines which flags could help. Then the program runs without a log, unchanged and with
//! each set of flags in turn, until a claim is possible or the budget is spent.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::available_parallelism;
use std::time::Duration;

use serde::Serialize;

use super::duration::parse_seconds;
use super::input::LogFile;
use super::try_candidates::{Candidate, Choice, LogFacts, choose};
use super::try_child::{Launcher, RunEnd, Sample, explain_start};
use super::try_outcome::{Outcome, conclude, is_faster};
use super::try_rounds::{Budget, Contestant, Plan, Rounds, RoundsEnd, Stopped, plan};
use super::{Condition, Failure, Out, print_message};
use insight::command_line::{CommandLine, is_about_log};
use insight::compare::Options;
use session::queries::FindingsQuery;
use statistics::rank_test::runs_needed;

/// Default number of runs: with 6 runs each, a difference can be significant for one of nine sets of flags.
const DEFAULT_RUNS: usize = 6;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Time budget for all runs together
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = parse_budget)]
    budget: Duration,
    /// Runs with each set of flags, if the budget allows; at least as many as a claim requires
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RUNS, value_parser = parse_runs)]
    runs: usize,
    /// Kill a run that takes longer; by default after 5 times the baseline's time
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    timeout: Option<Duration>,
    /// Standard input of each run; by default empty
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Exit status of a successful run
    #[arg(long, value_name = "N", default_value_t = 0)]
    status: i32,
    /// Print JSON: times in nanoseconds, sizes in bytes
    #[arg(long)]
    json: bool,
    /// Print the data of a log as JSON: a separate process reads it, as the system counts this process' memory as that of
    /// the programs that it starts
    #[arg(long, hide = true, value_name = "FILE")]
    read_log: Option<PathBuf>,
    /// Program with its arguments, including runtime options (+RTS … -RTS)
    #[arg(
        trailing_var_arg = true,
        required_unless_present = "read_log",
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,
}

/// JSON document that the command prints.
#[derive(Serialize)]
struct Document<'a> {
    /// Version of the document format; incremented if the meaning of a field changes.
    version: u32,
    command: String,
    budget_ns: u64,
    spent_ns: u64,
    rounds: usize,
    within_budget: bool,
    left_out: Vec<UntestedFlags<'a>>,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

/// Flags that were not measured.
#[derive(Serialize)]
struct UntestedFlags<'a> {
    flags: &'a str,
    why: &'a str,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    if let Some(path) = &arguments.read_log {
        return read_log(path, out);
    }
    let Some((program, own)) = arguments.command.split_first() else {
        return Err(Failure::Usage("name a program".to_owned()));
    };
    Trial::new(arguments, program, CommandLine::parse(own)).run(out)
}

fn parse_budget(text: &str) -> Result<Duration, String> {
    // Most programs write minutes as `m`.
    let minutes = text.strip_suffix('m').map(|number| format!("{number}min"));
    let seconds = parse_seconds(minutes.as_deref().unwrap_or(text))?;
    let duration = Duration::try_from_secs_f64(seconds).ok();
    let positive = duration.filter(|duration| !duration.is_zero());
    positive.ok_or_else(|| "not a duration above 0".to_owned())
}

fn parse_runs(text: &str) -> Result<usize, String> {
    let fewest = runs_needed(Options::default().alpha, 1);
    let runs: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    if (fewest..=1000).contains(&runs) {
        return Ok(runs);
    }
    Err(format!("use {fewest} to 1000 runs: fewer support no claim"))
}

/// Prints the facts of a log as JSON.
fn read_log(path: &Path, out: &mut Out) -> Result<Condition, Failure> {
    let session = LogFile::from_path(path).open()?.read_session()?;
    let info = &session.recording().info;
    out.json(&LogFacts {
        report: session.ask(&FindingsQuery(None)).unwrap_or_default(),
        process: info.process(),
        capabilities: info.lives.caps().count(),
    })?;
    Ok(Condition::Sound)
}

/// A program being tried.
struct Trial<'a> {
    arguments: &'a Arguments,
    launcher: Launcher,
    /// Arguments as given by the user.
    line: CommandLine,
    budget: Budget,
    cores: usize,
    options: Options,
}

impl<'a> Trial<'a> {
    fn new(arguments: &'a Arguments, program: &OsStr, line: CommandLine) -> Self {
        Self {
            arguments,
            launcher: Launcher {
                program: program.to_owned(),
                stdin: arguments.stdin.clone(),
                ghcrts: std::env::var("GHCRTS").ok().map(|text| {
                    let options = text.split_whitespace();
                    let kept = options.filter(|option| !is_about_log(option));
                    kept.collect::<Vec<_>>().join(" ")
                }),
            },
            line,
            budget: Budget::new(arguments.budget),
            cores: available_parallelism().map_or(1, NonZeroUsize::get),
            options: Options::default(),
        }
    }

    fn run(mut self, out: &mut Out) -> Result<Condition, Failure> {
        let (logged, facts) = self.run_with_log()?;
        let line = self.line.clone().without_log();
        let choice = choose(&facts, &self.all_options(&line), self.cores);
        self.print_findings(&facts, &choice);
        let plan = self.plan(&logged, choice.candidates.len());
        let candidates = choice.candidates.iter().take(plan.candidates).cloned();
        let candidates = candidates.map(Contestant::new);
        let mut all = vec![Contestant::default()];
        all.extend(candidates);
        let mut end = RoundsEnd::Done;
        if all.len() > 1 {
            end = self.rounds(&mut all, plan.rounds, &line)?;
        }
        let mut outcome = conclude(&all, &line.options, &self.options);
        if let Some((best, both)) = outcome.combination().filter(|_| end == RoundsEnd::Done) {
            end = self.combine(&mut all, (best, both), plan.rounds, &line)?;
            outcome = conclude(&all, &line.options, &self.options);
        }
        if end == RoundsEnd::OutOfBudget {
            print_message("the budget is used up: set a larger one with --budget");
        }
        if !self.arguments.json {
            out.text(outcome.text(own_peak_bytes()))?;
            return Ok(Condition::Sound);
        }
        let left_out = choice.left_out.iter();
        out.json(&Document {
            version: 1,
            command: line.in_shell(&self.launcher.program),
            budget_ns: self.arguments.budget.as_nanos() as u64,
            spent_ns: self.budget.spent.as_nanos() as u64,
            rounds: plan.rounds,
            within_budget: end == RoundsEnd::Done,
            left_out: left_out
                .map(|(flags, why)| UntestedFlags { flags, why })
                .collect(),
            outcome: &outcome,
        })?;
        Ok(Condition::Sound)
    }

    /// Returns the runtime options in the order in which the runtime applies them: first those in `GHCRTS`.
    fn all_options(&self, line: &CommandLine) -> Vec<String> {
        let of_environment = self.launcher.ghcrts.as_deref().unwrap_or_default();
        let words = of_environment.split_whitespace().map(str::to_owned);
        words.chain(line.options.iter().cloned()).collect()
    }

    /// Runs the program once with a log, and reads that log.
    fn run_with_log(&mut self) -> Result<(Sample, LogFacts), Failure> {
        let folder = tempfile::Builder::new().prefix("eventscope-try").tempdir();
        let folder = folder.map_err(|error| Failure::File(std::env::temp_dir(), error))?;
        let log = folder.path().join("try.eventlog");
        let mut line = self.line.clone();
        line.options.retain(|option| !option.starts_with("-ol"));
        if !line.options.iter().any(|option| option.starts_with("-l")) {
            line.options.push("-l".to_owned());
        }
        line.options.push(format!("-ol{}", log.display()));
        print_message(format_args!(
            "one run with a log: {}",
            line.in_shell(&self.launcher.program)
        ));
        let timeout = self.arguments.timeout.unwrap_or(self.arguments.budget);
        let limit = timeout.min(self.arguments.budget);
        let sample = self.launch(&line, limit)?;
        self.budget.spend(sample.wall);
        if let Some(why) = explain_run(&sample, self.arguments.status, limit) {
            return Err(Failure::Absent(why));
        }
        if !fs::metadata(&log).is_ok_and(|file| file.len() > 0) {
            return Err(Failure::Absent(NO_LOG.to_owned()));
        }
        Ok((sample, facts_of(&log)?))
    }

    fn launch(&self, line: &CommandLine, limit: Duration) -> Result<Sample, Failure> {
        let launcher = &self.launcher;
        launcher.run(&line.arguments(), limit).map_err(|error| {
            let stdin = launcher.stdin.as_deref();
            Failure::Absent(explain_start(&launcher.program, stdin, &error))
        })
    }

    fn print_findings(&self, facts: &LogFacts, choice: &Choice) {
        let found = facts
            .report
            .findings
            .iter()
            .filter(|one| one.is_significant());
        for finding in found {
            print_message(format_args!(
                "found: {} [{}, {}]",
                finding.title,
                finding.severity.name(),
                finding.rule
            ));
        }
        for (flags, why) in &choice.left_out {
            print_message(format_args!("not tried: {flags} {why}"));
        }
    }

    fn plan(&self, logged: &Sample, candidates: usize) -> Plan {
        let wanted = (self.arguments.runs, self.options.alpha);
        let left = self.budget.left();
        let plan = plan(logged.wall, left, candidates, wanted);
        if candidates == 0 {
            return Plan {
                candidates: 0,
                ..plan
            };
        }
        print_message(format_args!(
            "{} of {candidates} flags, {} runs each: about {:.0} s",
            plan.candidates,
            plan.rounds,
            plan.time.as_secs_f64()
        ));
        if plan.time > left {
            print_message(format_args!(
                "that exceeds the budget: use --budget {:.0}s",
                (plan.time + self.budget.spent).as_secs_f64().ceil()
            ));
        }
        plan
    }

    fn rounds(
        &mut self,
        contestants: &mut [Contestant],
        count: usize,
        line: &CommandLine,
    ) -> Result<RoundsEnd, Failure> {
        let mut budget = self.budget;
        let mut launch = |candidate: Option<&Candidate>, limit: Duration| {
            let flags = candidate.map_or(&[][..], |candidate| &candidate.flags);
            self.launch(&line.clone().with(flags), limit)
        };
        let mut rounds = Rounds {
            count,
            timeout: self.arguments.timeout,
            status: self.arguments.status,
            run: &mut launch,
            progress: &mut |line| print_message(line),
        };
        let end = rounds.run(contestants, &mut budget)?;
        self.budget = budget;
        match contestants.first().and_then(|base| base.stopped.as_ref()) {
            None | Some(Stopped::Slower) => Ok(end),
            Some(Stopped::TimedOut(after)) => Err(Failure::Absent(format!(
                "the first run of the program ended, but a later run did not end within {:.1} s",
                after.as_secs_f64()
            ))),
            Some(Stopped::Failed(how)) => Err(Failure::Absent(format!(
                "the program succeeded with a log, but without one it {how}"
            ))),
        }
    }

    /// Runs the two best candidates combined, interleaved with the baseline and the best one alone.
    fn combine(
        &mut self,
        all: &mut Vec<Contestant>,
        (best, both): (Candidate, Candidate),
        count: usize,
        line: &CommandLine,
    ) -> Result<RoundsEnd, Failure> {
        print_message(format_args!("both together: {}", both.name()));
        let best = Contestant::new(best);
        let mut three = [Contestant::default(), best, Contestant::new(both)];
        let end = self.rounds(&mut three, count, line)?;
        let [base, best, mut both] = three;
        if !is_faster(&both, &best, &self.options) {
            both.no_faster_than = Some(best.name());
        }
        for again in [base, best] {
            let is_same = |one: &&mut Contestant| one.candidate == again.candidate;
            if let Some(known) = all.iter_mut().find(is_same) {
                known.samples.extend(again.samples);
                known.stopped = again.stopped;
            }
        }
        all.push(both);
        Ok(end)
    }
}

/// Advice if the program wrote no log.
const NO_LOG: &str = "the program wrote no log. Name a program built by GHC, not a script that starts one (with cabal: \"$(cabal list-bin NAME)\"); link it with -rtsopts, and before GHC 9.4 with -eventlog";

/// Explains a failed run with a log, with advice; `None` if it ended as expected.
fn explain_run(sample: &Sample, status: i32, limit: Duration) -> Option<String> {
    let said = &sample.stderr_tail;
    let own = match sample.end {
        RunEnd::Exited(Some(own)) if own == status => return None,
        RunEnd::TimedOut => {
            return Some(format!(
                "the program did not end within {:.1} s: reduce its work, or give it more time (--timeout, --budget)",
                limit.as_secs_f64()
            ));
        }
        RunEnd::Exited(own) => own,
    };
    let last: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = last[last.len().saturating_sub(3)..].join(" / ");
    Some(if said.contains("RTS options are disabled") {
        "the program accepts no runtime options: link it with -rtsopts (ghc -rtsopts …; in a .cabal file ghc-options: -rtsopts)".to_owned()
    } else if said.contains("to be built with -eventlog") {
        "the program writes no log: before GHC 9.4, link it with -eventlog (ghc -eventlog -rtsopts …)".to_owned()
    } else if said.contains("unknown RTS option: -ol") {
        "the program's runtime does not support -ol, which sets the log file: build it with GHC 8.8 or newer".to_owned()
    } else if let Some(own) = own {
        format!(
            "the program ended with status {own}, not {status}: {last}. If this is expected, add --status {own}"
        )
    } else {
        format!("the program was killed by a signal: {last}")
    })
}

/// Reads a log in a separate process.
fn facts_of(log: &Path) -> Result<LogFacts, Failure> {
    let failed = |error| Failure::File(log.to_owned(), error);
    let own = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(own);
    command.args(["try", "--read-log"]).arg(log);
    let output = command.stderr(Stdio::inherit()).output().map_err(failed)?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| Failure::Absent("could not read the log of the program".to_owned()))
}

/// Returns the peak memory of this process, in bytes. Linux attributes it to each child process until the child
/// executes its program.
fn own_peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
