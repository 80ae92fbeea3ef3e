//! Numbers of a log compared with the runtime's report of the same run (`+RTS -t --machine-readable`), which has
//! exact bytes and microseconds: `tests/fixtures/reports`, recorded by the `make.sh` there.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::numbers::summary::Summary;
use session::queries::SummaryQuery;
use session::read_session;

/// Rounding error of the report, which prints microseconds.
const ROUNDED_NS: f64 = 1_000.0;
/// Tolerance for the phases of the runtime, which have no events of their own: the nearest event is at most this
/// far away.
const PHASE_NS: f64 = 8_000.0;

/// Parses the names and values of a report.
fn parse(report: &str) -> BTreeMap<&str, f64> {
    let pairs = report.lines().filter_map(|line| {
        let mut texts = line.split('"').skip(1).step_by(2);
        let (name, value) = (texts.next()?, texts.next()?);
        Some((name.trim(), value.parse().ok()?))
    });
    pairs.collect()
}

/// Returns the number of the log that corresponds to a name in the report, and the tolerance.
fn number(summary: &Summary, name: &str) -> Option<(f64, f64)> {
    let exact = |number: Option<u64>| Some((number? as f64, 0.0));
    let ns = |number: Option<u64>, apart: f64| Some((number? as f64 / 1e9, apart / 1e9));
    let share = |share: Option<f64>, apart: f64| Some((share?, apart));
    let sparks = summary.sparks.unwrap_or_default();
    if let Some((generation, name)) = name
        .strip_prefix("gen_")
        .and_then(|rest| rest.split_once('_'))
    {
        let mut rows = summary.generations.iter();
        let row = rows.find(|row| row.generation.to_string() == generation)?;
        return match name {
            "collections" => exact(Some(row.collections)),
            "par_collections" => exact(Some(row.parallel)),
            "wall_seconds" => ns(Some(row.elapsed_ns), ROUNDED_NS),
            "max_pause_seconds" => ns(Some(row.max_pause_ns), ROUNDED_NS),
            "avg_pause_seconds" => ns(Some(row.avg_pause_ns), ROUNDED_NS),
            _ => None,
        };
    }
    match name {
        "bytes allocated" | "allocated_bytes" => exact(summary.bytes_allocated),
        "num_GCs" => exact(summary.collections),
        "average_bytes_used" => exact(summary.average_residency),
        "max_bytes_used" | "max_live_bytes" => exact(summary.max_residency),
        "num_byte_usage_samples" | "major_gcs" => exact(summary.residency_samples),
        "max_slop_bytes" => exact(summary.max_slop),
        "copied_bytes" => exact(summary.bytes_copied),
        "init_wall_seconds" => ns(summary.init_ns, PHASE_NS),
        "mut_wall_seconds" => ns(summary.mutator_ns, PHASE_NS),
        "GC_wall_seconds" => ns(summary.gc_ns, ROUNDED_NS),
        "exit_wall_seconds" => ns(summary.exit_ns, PHASE_NS),
        "total_wall_seconds" => ns(Some(summary.total_ns), PHASE_NS),
        // A share between 0 and 1, despite its name.
        "productivity_wall_percent" => {
            let total_ns = summary.total_ns.max(1) as f64;
            share(summary.productivity, 2.0 * PHASE_NS / total_ns)
        }
        "work_balance" => share(Some(summary.work_balance.unwrap_or(0.0)), 1e-6),
        "sparks_count" => exact(Some(sparks.count)),
        "sparks_converted" => exact(Some(sparks.converted)),
        "sparks_overflowed" => exact(Some(sparks.overflowed)),
        "sparks_dud" => exact(Some(sparks.dud)),
        "sparks_gcd" => exact(Some(sparks.gcd)),
        "sparks_fizzled" => exact(Some(sparks.fizzled)),
        "n_capabilities" => exact(Some(summary.capabilities.len() as u64)),
        _ => None,
    }
}

#[test]
fn numbers_are_those_of_the_reports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reports");
    let (mut reports, mut failures) = (0, Vec::new());
    let mut compared: BTreeMap<String, u32> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).expect("the fixtures are there") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let Some(name) = name.strip_suffix(".report.txt") else {
            continue;
        };
        let report = std::fs::read_to_string(&path).expect("a report");
        let log = std::fs::read(folder.join(format!("{name}.eventlog.gz"))).expect("a log");
        let session = read_session(&mut log.as_slice()).expect("a log");
        let summary = session.ask(&SummaryQuery(None));
        reports += 1;
        for (key, theirs) in parse(&report) {
            if let Some((ours, apart)) = number(&summary, key) {
                *compared.entry(key.to_owned()).or_default() += 1;
                if (ours - theirs).abs() > apart + 1e-9 {
                    failures.push(format!("{name}: {key} {ours} for {theirs}"));
                }
            }
            // The log samples memory only after collections.
            if key == "max_mem_in_use_bytes" {
                let ours = summary.max_heap_size.map_or(0.0, |size| size as f64);
                if ours > theirs {
                    failures.push(format!("{name}: at least {ours} of {theirs} bytes"));
                }
            }
        }
    }
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    // Guard against a test that passes because nothing was compared.
    assert!(reports >= 24, "{reports} reports");
    for key in [
        "init_wall_seconds",
        "mut_wall_seconds",
        "GC_wall_seconds",
        "exit_wall_seconds",
        "productivity_wall_percent",
    ] {
        assert_eq!(compared.get(key), Some(&reports), "{key}");
    }
}
