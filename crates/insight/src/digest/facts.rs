//! Facts that should be equal in logs whose numbers are compared.

use super::ComparableFact;
use crate::context::RuleContext;
use crate::input::Input;
use analysis::heap::HeapProfile;
use eventlog::{EventSet, EventType};
use model::format;

/// Event classes with the event types that show them.
const CLASSES: [(&str, &[EventType]); 7] = [
    ("threads", &[EventType::RUN_THREAD]),
    ("collections", &[EventType::GC_START]),
    ("statistics of collections", &[EventType::GC_STATS_GHC]),
    ("sums of sparks", &[EventType::SPARK_COUNTERS]),
    (
        "each spark",
        &[EventType::SPARK_RUN, EventType::SPARK_CREATE],
    ),
    ("messages", &[EventType::USER_MSG, EventType::USER_MARKER]),
    ("cost-centre samples", &[EventType::PROF_SAMPLE_COST_CENTRE]),
];

/// Collects the facts. They are compared before the numbers: another runtime or other flags change the numbers,
/// and logging itself costs time.
pub(super) fn facts(context: &RuleContext<'_>) -> Vec<ComparableFact> {
    let info = &context.log.info;
    let process = info.process();
    // The file names of logs and reports differ in each run.
    let (arguments, reports) = without_files(&process.arguments);
    let fact = |name: &'static str, value: String| ComparableFact {
        name: name.into(),
        value,
    };
    let has = |types: &[EventType]| info.has(EventSet::from_types(types));
    let classes = CLASSES.iter().filter(|(_, types)| has(types));
    let classes: Vec<&str> = classes.map(|(name, _)| *name).collect();
    let profiles = context.log.heap().iter();
    let profiles: Vec<&str> = profiles.map(profiled_by).collect();
    let collector = if Input::Nonmoving.is_in(info) {
        "concurrent"
    } else if process.ghc.is_some() || Input::Collections.is_in(info) {
        "copying"
    } else {
        ""
    };
    // Analyses assume at least one.
    let caps = match context.times.caps.is_empty() {
        true => String::new(),
        false => context.caps.to_string(),
    };
    let area = context.known_area_bytes();
    vec![
        fact("Program", info.program().unwrap_or_default().to_owned()),
        fact("Arguments", arguments.join(" ")),
        fact("GHC", process.ghc.clone().unwrap_or_default()),
        fact("Runtime", way(process.rts.as_deref())),
        fact("Capabilities", caps),
        fact(
            "Allocation area",
            area.map(format::bytes).unwrap_or_default(),
        ),
        fact("Oldest generation", collector.to_owned()),
        fact("Events", classes.join(", ")),
        fact("Heap profile", profiles.join(", ")),
        fact(REPORTS, reports.join(" ")),
    ]
}

/// Name of the fact that lists the reports that the runtime wrote in addition to the log. A difference is worth a
/// note, but changes no compared number.
pub(crate) const REPORTS: &str = "Reports of the runtime";

/// Runtime options whose file names differ in each run: `LOG` is dropped entirely, `FILES` are kept without the
/// name.
const LOG: &str = "-ol";
const FILES: [&str; 5] = ["-po", "-hp", "-s", "-S", "-t"];

/// Returns the arguments without options that name files, and the report options without their file names.
fn without_files(arguments: &[String]) -> (Vec<&str>, Vec<&'static str>) {
    let (mut kept, mut files) = (Vec::new(), Vec::new());
    let mut is_of_runtime = false;
    for word in arguments {
        match word.as_str() {
            "+RTS" => is_of_runtime = true,
            "-RTS" | "--RTS" => is_of_runtime = false,
            _ => {}
        }
        let names = |option: &&&str| is_of_runtime && word.starts_with(**option);
        match FILES.iter().find(names) {
            Some(option) => files.push(*option),
            None if names(&&LOG) => {}
            None => kept.push(word.as_str()),
        }
    }
    files.sort_unstable();
    files.dedup();
    (kept, files)
}

/// Returns the way of the runtime without the version: `rts_thr` of `GHC-9.6.6 rts_thr`.
fn way(rts: Option<&str>) -> String {
    let way = rts.and_then(|rts| rts.split_once(' '));
    way.map(|(_, way)| way.trim().to_owned())
        .unwrap_or_default()
}

fn profiled_by(profile: &HeapProfile) -> &'static str {
    profile.kind.breakdown.flag()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_no_flags() {
        let of = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let (kept, files) = without_files(&words);
            (kept.join(" "), files.join(" "))
        };
        let (kept, files) =
            of("-stack +RTS -N2 -la -olone.eventlog -sone.txt -Sone.txt -poone -RTS -short");
        assert_eq!(kept, "-stack +RTS -N2 -la -RTS -short");
        assert_eq!(files, "-S -po -s");
        // A different file name or none counts as equal; a missing report does not.
        assert_eq!(of("+RTS -sA.txt"), of("+RTS -s"));
        assert_ne!(of("+RTS -sA.txt").1, of("+RTS -N1").1);
    }
}
