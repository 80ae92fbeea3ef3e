//! A generated fleet with and without planted effects: all are found, and nothing else is claimed.

use std::collections::BTreeMap;

use super::*;
use crate::digest::{ComparableFact, Key, Row};
use crate::finding::{Axis, Confidence, Severity, Value};
use crate::metrics::Variability;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Planted effects.
#[derive(Clone, Copy, Default)]
struct Planted {
    /// Versions from the third on take longer.
    version: bool,
    /// A host is slow.
    host: bool,
    /// From the 22nd of 30 days on, pauses are longer.
    day: bool,
    /// Three runs hang.
    runs: bool,
}

/// Returns a value with a normal distribution, by Box and Muller.
pub(super) fn noise(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

fn row(
    name: &'static str,
    part: &'static str,
    unit: Unit,
    direction: Direction,
    value: f64,
) -> Row {
    Row {
        key: Key::new(NumberGroup::Program, name, part),
        unit,
        direction,
        class: Variability::Timed,
        is_total: true,
        value,
    }
}

/// Digest of a run with plausible numbers.
fn digest(random: &mut fastrand::Rng, wall: f64, pause: f64) -> RunDigest {
    use Direction::{Higher, Lower, Neutral};
    let mut vary = |spread: f64| (noise(random) * spread).exp();
    let wall = wall * 1e9 * vary(0.06);
    let gc_share = 0.12 * vary(0.1);
    let (p99, longest) = (pause * 4e6 * vary(0.15), pause * 9e6 * vary(0.25));
    let rows = vec![
        row("time.wall", "", Unit::Ns, Lower, wall),
        row("gc.time", "", Unit::Ns, Lower, wall * gc_share),
        row("gc.pause", "p99", Unit::Ns, Lower, p99),
        row("gc.pause", "max", Unit::Ns, Lower, p99.max(longest)),
        row("alloc.bytes", "", Unit::Bytes, Lower, 3e9 * vary(0.01)),
        row("heap.live", "max", Unit::Bytes, Lower, 5e7 * vary(0.05)),
        row("heap.size", "max", Unit::Bytes, Lower, 2e8 * vary(0.03)),
        row("time.productivity", "", Unit::Share, Higher, 1.0 - gc_share),
        row("cap.busy", "", Unit::Share, Higher, 0.7 * vary(0.03)),
        row("cap.idle", "", Unit::Share, Lower, 0.1 * vary(0.2)),
        row(
            "thread.count",
            "",
            Unit::Count,
            Neutral,
            (40.0 * vary(0.1)).floor(),
        ),
        row("spark.overflowed", "", Unit::Count, Lower, 0.0),
        row(
            "finding.count",
            "",
            Unit::Count,
            Lower,
            (3.0 * vary(0.4)).floor(),
        ),
    ];
    let finding = FindingSummary {
        identity: "gc".to_owned(),
        rule: "long-pause".into(),
        title: "A long pause".to_owned(),
        axis: Axis::Latency,
        severity: Severity::Low,
        confidence: Confidence::Certain,
        cost: Value::Ns(longest as u64),
        share: 0.0,
    };
    RunDigest {
        range: Interval::new(Nanos(0), Nanos(wall as u64)),
        facts: vec![ComparableFact {
            name: "Program".into(),
            value: "shop".to_owned(),
        }],
        started_unix_ns: None,
        findings: if longest > 12e6 {
            vec![finding]
        } else {
            Vec::new()
        },
        rows,
    }
}

/// Fleet of 30 days, 5 versions and 12 hosts.
fn fleet(runs: usize, planted: Planted, seed: u64) -> Fleet {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut builder = FleetBuilder::default();
    let hosts: Vec<f64> = (0..12).map(|_| (noise(&mut random) * 0.01).exp()).collect();
    for run in 0..runs {
        let (day, version) = (run * 30 / runs, run * 5 / runs);
        let host = random.usize(0..12);
        let mut wall = 10.0 * hosts[host];
        let mut pause = hosts[host];
        if planted.version && version >= 3 {
            wall *= 1.25;
        }
        if planted.host && host == 7 {
            wall *= 1.4;
        }
        if planted.day && day >= 22 {
            pause *= 1.8;
        }
        if planted.runs && [runs / 7, runs / 2, runs - 9].contains(&run) {
            wall *= 6.0;
        }
        let labels = [
            ("version", format!("1.{}", version + 8)),
            ("host", format!("h{host}")),
            ("day", format!("2026-03-{:02}", day + 1)),
        ];
        let labels: BTreeMap<String, String> =
            labels.map(|(key, value)| (key.to_owned(), value)).into();
        let mut digest = digest(&mut random, wall, pause);
        digest.started_unix_ns =
            Some((1_772_323_200 + run as u64 * 30 * 86_400 / runs as u64) * 1_000_000_000);
        builder.add(
            &format!("logs/run-{run}.digest"),
            labels,
            digest.reduced(&[]),
        );
    }
    builder.finish()
}

fn names(analysis: &Analysis, claim: &Claim) -> Vec<String> {
    claim
        .numbers
        .iter()
        .map(|claimed| analysis.numbers[claimed.number].name.clone())
        .collect()
}

#[test]
fn planted_effects_are_found_and_nothing_else() {
    for (runs, seed) in [(10_000, 1), (10_000, 2), (1500, 3), (600, 4)] {
        let all = Planted {
            version: true,
            host: true,
            day: true,
            runs: true,
        };
        let fleet = fleet(runs, all, seed);
        let analysis = Analysis::of(&fleet);
        let mut seen = Vec::new();
        for claim in &analysis.claims {
            let names = names(&analysis, claim);
            match &claim.subject {
                ClaimSubject::Change {
                    labels, after_run, ..
                } if labels.iter().any(|label| label.key == "version") => {
                    let version = labels
                        .iter()
                        .find(|label| label.key == "version")
                        .expect("a version");
                    assert_eq!(
                        (version.before.as_str(), version.after.as_str()),
                        ("1.10", "1.11")
                    );
                    assert!(
                        after_run.abs_diff(runs as u32 * 3 / 5) <= runs as u32 / 50,
                        "{after_run}"
                    );
                    let wall = names
                        .iter()
                        .position(|name| name == "time.wall")
                        .expect("the number");
                    let ratio = claim.numbers[wall].effect.ratio.expect("a ratio");
                    assert!((1.20..1.30).contains(&ratio), "{ratio}");
                    seen.push("version");
                }
                ClaimSubject::Change { labels, .. } => {
                    assert!(
                        names.iter().all(|name| name.starts_with("gc.pause")),
                        "{names:?} {labels:?}"
                    );
                    assert_eq!(
                        (labels[0].key.as_str(), labels[0].after.as_str()),
                        ("day", "2026-03-23"),
                        "{runs}"
                    );
                    seen.push("day");
                }
                ClaimSubject::Label { key, value, .. } => {
                    assert_eq!((key.as_str(), value.as_str()), ("host", "h7"), "{names:?}");
                    seen.push("host");
                }
                ClaimSubject::Run { run } => {
                    let name = &fleet.runs[*run as usize].name;
                    let planted = [runs / 7, runs / 2, runs - 9].map(|run| format!("run-{run}"));
                    assert!(planted.contains(name), "{name} {names:?} {claim:?}");
                    seen.push("run");
                }
            }
        }
        assert_eq!(
            seen,
            ["day", "version", "host", "run", "run", "run"],
            "{runs} runs, seed {seed}: {:#?}",
            analysis.claims
        );
    }
}

#[test]
fn a_fleet_without_effects_has_no_claims() {
    let mut claims = Vec::new();
    let mut fleets = 0;
    for (runs, seeds) in [(10_000, 0..2), (300, 10..25), (40, 30..50), (12, 50..80)] {
        for seed in seeds {
            fleets += 1;
            let analysis = Analysis::of(&fleet(runs, Planted::default(), seed));
            let found = analysis.claims.iter();
            claims.extend(found.map(|claim| {
                format!(
                    "{runs} {seed} {:?} {:?}",
                    claim.subject,
                    names(&analysis, claim)
                )
            }));
        }
    }
    assert!(
        claims.len() * 20 <= fleets,
        "{} of {fleets}: {claims:#?}",
        claims.len()
    );
}

#[test]
fn findings_are_counted() {
    let fleet = fleet(300, Planted::default(), 5);
    let analysis = Analysis::of(&fleet);
    let finding = &analysis.findings[0];
    assert_eq!(finding.rule, "long-pause");
    let longest = fleet
        .numbers
        .iter()
        .find(|number| number.name == "gc.pause.max")
        .expect("the number");
    let by_hand = longest.values.iter().filter(|value| **value > 12e6).count();
    assert!(
        by_hand.abs_diff(finding.runs) <= 3,
        "{by_hand} {}",
        finding.runs
    );
    assert_eq!(finding.runs, finding.by_severity.iter().sum::<usize>());
    let hosts = finding
        .labels
        .iter()
        .find(|label| label.key == "host")
        .expect("hosts");
    assert_eq!(
        hosts
            .values
            .iter()
            .map(|(_, found, _)| found)
            .sum::<usize>(),
        finding.runs
    );
    assert_eq!(hosts.values.iter().map(|(.., all)| all).sum::<usize>(), 300);
    assert!(finding.worst.len() == FindingFrequency::MAX_WORST);
}

#[test]
fn programs_are_analyzed_on_their_own() {
    let mut builder = FleetBuilder::default();
    let mut random = fastrand::Rng::with_seed(9);
    for run in 0..400 {
        // Two programs with very different times; the slow one runs more often later.
        let is_slow = random.usize(0..400) < run;
        let app = if is_slow { "slow" } else { "fast" };
        let labels = [
            ("app", app.to_owned()),
            ("day", format!("2026-05-{:02}", run / 20 + 1)),
        ];
        let labels = labels.map(|(key, value)| (key.to_owned(), value)).into();
        let digest = digest(&mut random, if is_slow { 100.0 } else { 1.0 }, 1.0);
        builder.add(&format!("{app}-{run}"), labels, digest.reduced(&[]));
    }
    let analysis = Analysis::of(&builder.finish());
    assert_eq!(analysis.claims, []);
}
