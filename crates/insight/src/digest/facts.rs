//! What should be equal in logs whose numbers are compared.

use super::Fact;
use crate::scope::{Input, Scope};
use analysis::heap::HeapProfile;
use eventlog::{EventSet, EventType};
use model::format;

/// The classes of events, by the flags that turn them on.
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

/// What is to be compared first: other runtimes and flags make other numbers, and what is
/// logged costs time.
pub(super) fn facts(scope: &Scope<'_>) -> Vec<Fact> {
    let info = &scope.log.info;
    let process = info.process();
    // Where the log goes is another place for each run.
    let arguments = process.arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = arguments.filter(|word| !word.starts_with("-ol")).collect();
    let fact = |name: &'static str, value: String| Fact {
        name: name.into(),
        value,
    };
    let has = |types: &[EventType]| info.has(EventSet::of(types));
    let classes = CLASSES.iter().filter(|(_, types)| has(types));
    let classes: Vec<&str> = classes.map(|(name, _)| *name).collect();
    let profiles = scope.log.heap().iter();
    let profiles: Vec<&str> = profiles.map(profiled_by).collect();
    let collector = if Input::Nonmoving.is_in(info) {
        "concurrent"
    } else {
        "copying"
    };
    vec![
        fact("Program", info.program().unwrap_or_default().to_owned()),
        fact("Arguments", arguments.join(" ")),
        fact("GHC", process.ghc.clone().unwrap_or_default()),
        fact("Runtime", way(process.rts.as_deref())),
        fact("Capabilities", scope.caps.to_string()),
        fact(
            "Allocation area",
            format::bytes(scope.allocation_area_bytes()),
        ),
        fact("Oldest generation", collector.to_owned()),
        fact("Events", classes.join(", ")),
        fact("Heap profile", profiles.join(", ")),
    ]
}

/// The kind of runtime, without the version: `rts_thr` of `GHC-9.6.6 rts_thr`.
fn way(rts: Option<&str>) -> String {
    let way = rts.and_then(|rts| rts.split_once(' '));
    way.map(|(_, way)| way.trim().to_owned())
        .unwrap_or_default()
}

fn profiled_by(profile: &HeapProfile) -> &'static str {
    profile.kind.breakdown.flag()
}
