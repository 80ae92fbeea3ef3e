//! Selection of the flags that `eventscope try` measures: those that findings suggest, and their neighbors.

use serde::{Deserialize, Serialize};

use analysis::process::{Process, Way};
use insight::command_line::{is_about_log, normalized, setting, with_flags};
use insight::experiment::{advised_flags, alternatives};
use insight::{Report, option_bytes};

/// Maximum number of candidates. Each candidate costs runs, and more candidates require more runs of each for a
/// significant result.
pub(super) const MAX_CANDIDATES: usize = 8;

/// Allocation areas to try: about the size of the second-level cache, of the last-level cache, and larger than
/// both. The fastest one depends on the machine's caches, which no log records.
const AREAS: [&str; 3] = ["-A16m", "-A64m", "-A4m"];

/// Facts about a program from one run with a log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LogFacts {
    /// Findings of the rules.
    pub(super) report: Report,
    /// How the process was started and linked.
    pub(super) process: Process,
    /// Number of capabilities.
    pub(super) capabilities: usize,
}

/// Set of flags to measure together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Candidate {
    /// Flags in the syntax of the runtime.
    pub(super) flags: Vec<String>,
    /// Rule that suggests the flags; `None` for a neighbor, or a combination of two.
    pub(super) rule: Option<String>,
}

impl Candidate {
    pub(super) fn neighbor(flag: &str) -> Self {
        Self {
            flags: vec![flag.to_owned()],
            rule: None,
        }
    }

    /// Returns the flags separated by spaces.
    pub(super) fn name(&self) -> String {
        self.flags.join(" ")
    }
}

/// Selected candidates and rejected flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Candidates, the most promising first.
    pub(super) candidates: Vec<Candidate>,
    /// Suggested flags that cannot be tried, with the reason.
    pub(super) left_out: Vec<(String, &'static str)>,
}

/// Selects candidates for a program that was run with these runtime options.
pub(super) fn choose(facts: &LogFacts, options: &[String], cores: usize) -> Choice {
    let run = Run::new(facts, options, cores);
    let mut choice = Choice::default();
    for (finding, text) in advised_flags(&facts.report.findings) {
        for flags in alternatives(text) {
            match run.fitting(&flags) {
                Ok(flags) => choice.add(Candidate {
                    flags,
                    rule: Some(finding.rule.to_string()),
                }),
                Err(why) => choice.leave_out(flags.join(" "), why),
            }
        }
    }
    for flag in neighbors(facts, cores) {
        if run.fitting(std::slice::from_ref(&flag)).is_ok() {
            choice.add(Candidate::neighbor(&flag));
        }
    }
    choice.candidates.truncate(MAX_CANDIDATES);
    choice
}

impl Choice {
    fn add(&mut self, candidate: Candidate) {
        let is_known = |known: &Candidate| known.flags == candidate.flags;
        if !self.candidates.iter().any(is_known) {
            self.candidates.push(candidate);
        }
    }

    fn leave_out(&mut self, flags: String, why: &'static str) {
        if !self.left_out.iter().any(|(known, _)| *known == flags) {
            self.left_out.push((flags, why));
        }
    }
}

/// Returns neighboring flags, which are measured regardless of the findings: allocation areas, then `-N` with one
/// capability, one per core, half as many, and so on. With several capabilities, `-qg` comes first.
fn neighbors(facts: &LogFacts, cores: usize) -> Vec<String> {
    let collects_in_parallel = facts.capabilities > 1;
    let mut flags: Vec<String> = Vec::new();
    flags.extend(collects_in_parallel.then(|| "-qg".to_owned()));
    flags.extend(AREAS.map(str::to_owned));
    let halves = std::iter::successors(Some(cores), |count| Some(count / 2));
    let counts = std::iter::once(1).chain(halves.take_while(|count| *count > 1));
    flags.extend(counts.map(|count| format!("-N{count}")));
    flags
}

/// Run that candidates are compared with.
struct Run<'a> {
    options: &'a [String],
    /// Effective settings according to the log, as flags, wherever they were set.
    in_force: Vec<String>,
    is_threaded: bool,
    cores: usize,
}

impl<'a> Run<'a> {
    fn new(facts: &LogFacts, options: &'a [String], cores: usize) -> Self {
        let mut in_force = vec![format!("-N{}", facts.capabilities)];
        let area = facts.process.heap.map(|heap| heap.allocation_area_bytes);
        in_force.extend(area.map(|bytes| format!("-A{bytes}")));
        Self {
            options,
            in_force,
            is_threaded: !facts.process.ways.contains(&Way::NotThreaded),
            cores,
        }
    }

    /// Returns the flags in normalized form.
    ///
    /// # Errors
    /// The reason why they are not measured.
    fn fitting(&self, flags: &[String]) -> Result<Vec<String>, &'static str> {
        let flags = flags.iter().map(|flag| normalized(flag, self.cores));
        let flags: Vec<String> = flags.collect();
        let settings: Option<Vec<&str>> = flags.iter().map(|flag| setting(flag)).collect();
        let Some(settings) = settings else {
            let is_profile = |flag: &String| flag.starts_with("-h") || flag.starts_with("-i");
            let is_log = flags
                .iter()
                .any(|flag| is_about_log(flag) || is_profile(flag));
            return Err(if is_log {
                "changes the log, not the program"
            } else {
                "requires another build"
            });
        };
        let is_of_threads = |setting: &&str| {
            const OF_THREADS: [&str; 3] = ["capabilities", "parallel collection", "migration"];
            OF_THREADS.contains(setting)
        };
        if !self.is_threaded && settings.iter().any(is_of_threads) {
            return Err("requires a program linked with -threaded");
        }
        let count = |flag: &String| flag.strip_prefix("-N")?.parse::<usize>().ok();
        if flags
            .iter()
            .filter_map(count)
            .any(|count| count > self.cores)
        {
            return Err("requires more cores than this machine has");
        }
        if flags.iter().all(|flag| self.has(flag)) {
            return Err("is already in effect");
        }
        Ok(flags)
    }

    /// Returns whether a flag is already in effect.
    fn has(&self, flag: &str) -> bool {
        let area = |flag: &str| flag.strip_prefix("-A").and_then(option_bytes);
        let same = |known: &String| {
            let known = normalized(known, self.cores);
            known == flag || area(&known).is_some_and(|bytes| area(flag) == Some(bytes))
        };
        let current = with_flags(self.options, &self.in_force);
        current.iter().any(same)
    }
}

/// Combines two candidates; `None` if both set the same setting, or the combination is pointless.
pub(super) fn combined(one: &Candidate, other: &Candidate) -> Option<Candidate> {
    let settings = |candidate: &Candidate| -> Vec<Option<&'static str>> {
        candidate.flags.iter().map(|flag| setting(flag)).collect()
    };
    let (ours, theirs) = (settings(one), settings(other));
    let has = |flag: &str| {
        one.flags
            .iter()
            .chain(&other.flags)
            .any(|known| known == flag)
    };
    // With one capability, there is no parallel collection or migration to disable.
    let is_pointless = has("-N1") && (has("-qg") || has("-qm"));
    if is_pointless || ours.iter().any(|setting| theirs.contains(setting)) {
        return None;
    }
    Some(Candidate {
        flags: one.flags.iter().chain(&other.flags).cloned().collect(),
        rule: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::process::HeapSettings;
    use insight::finding::{Advice, Axis, Finding, Severity};

    fn finding(severity: Severity, flags: &[&'static str]) -> Finding {
        let mut finding = Finding::new("rule", Axis::Time, "A title".to_owned());
        finding.severity = severity;
        let tries = flags.iter().map(|flag| Advice::flag(*flag, "", ""));
        finding.tries = tries.collect();
        finding
    }

    fn facts(capabilities: usize, ways: &[Way], findings: Vec<Finding>) -> LogFacts {
        let heap = HeapSettings {
            generations: 2,
            max_heap_bytes: None,
            allocation_area_bytes: 4 << 20,
            megablock_bytes: 1 << 20,
            block_bytes: 4096,
        };
        LogFacts {
            report: Report {
                findings,
                ..Report::default()
            },
            process: Process {
                ways: ways.to_vec(),
                heap: Some(heap),
                ..Process::default()
            },
            capabilities,
        }
    }

    fn names(facts: &LogFacts, options: &[&str], cores: usize) -> Vec<String> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let choice = choose(facts, &options, cores);
        choice.candidates.iter().map(Candidate::name).collect()
    }

    #[test]
    fn flags_of_findings_come_first_and_neighbors_follow() {
        let found = vec![
            finding(Severity::Low, &["-F4"]),
            finding(Severity::High, &["-A64M -n4m", "-qg"]),
            finding(Severity::Minor, &["-c"]),
        ];
        let facts = facts(2, &[Way::Threaded], found);
        assert_eq!(
            names(&facts, &["-N2"], 2),
            ["-A64m -n4m", "-qg", "-F4", "-A16m", "-A64m", "-N1"]
        );
    }

    #[test]
    fn what_the_run_has_is_not_tried() {
        let facts = facts(
            2,
            &[Way::Threaded],
            vec![finding(Severity::High, &["-N2, -A16m"])],
        );
        // The log records an area of 4 MiB, wherever it was set.
        assert_eq!(names(&facts, &[], 2), ["-A16m", "-qg", "-A64m", "-N1"]);
        assert_eq!(names(&facts, &["-qg"], 1), ["-A16m", "-A64m", "-N1"]);
    }

    #[test]
    fn a_program_without_threads_has_one_capability() {
        let facts = facts(
            1,
            &[Way::NotThreaded],
            vec![finding(Severity::High, &["-threaded", "-N"])],
        );
        let choice = choose(&facts, &[], 4);
        let names: Vec<String> = choice.candidates.iter().map(Candidate::name).collect();
        assert_eq!(names, ["-A16m", "-A64m"]);
        assert_eq!(
            choice.left_out,
            [
                ("-threaded".to_owned(), "requires another build"),
                ("-N".to_owned(), "requires a program linked with -threaded")
            ]
        );
    }

    #[test]
    fn of_many_cores_half_and_a_quarter_are_tried() {
        let facts = facts(1, &[Way::Threaded], Vec::new());
        assert_eq!(
            names(&facts, &[], 24),
            ["-A16m", "-A64m", "-N24", "-N12", "-N6", "-N3"]
        );
        let many = finding(
            Severity::High,
            &["-F2", "-F3", "-F4", "-F5", "-F6", "-F7", "-F8", "-F9"],
        );
        let facts = self::facts(1, &[Way::Threaded], vec![many]);
        assert_eq!(names(&facts, &[], 24).len(), MAX_CANDIDATES);
    }

    #[test]
    fn two_flags_go_together_unless_they_set_the_same() {
        let one = Candidate::neighbor;
        let both = |a: &str, b: &str| combined(&one(a), &one(b)).map(|both| both.name());
        assert_eq!(both("-A16m", "-qg").as_deref(), Some("-A16m -qg"));
        assert_eq!(both("-A16m", "-A64m"), None);
        assert_eq!(both("-N1", "-qg"), None);
    }
}
