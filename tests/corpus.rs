//! The command line against the references beside every log: the dumps of
//! `ghc-events` 0.20 and the span analyses of an independent program.

mod common;

use std::collections::BTreeMap;

use common::{Case, for_all, reference_is_wrong, stdout};

fn path(case: &Case) -> &str {
    case.log.to_str().expect("UTF-8")
}

/// Compares two lists of rows and shows where they part.
fn compare(what: &str, ours: &[String], reference: &[String]) -> Result<(), String> {
    let Some(at) = (0..ours.len().max(reference.len())).find(|&i| ours.get(i) != reference.get(i))
    else {
        return Ok(());
    };
    Err(format!(
        "{what}: row {at} of {}/{}: ours {:?}, reference {:?}",
        ours.len(),
        reference.len(),
        ours.get(at),
        reference.get(at)
    ))
}

fn columns(row: &str, count: usize) -> String {
    row.split('\t').take(count).collect::<Vec<_>>().join("\t")
}

#[test]
fn events_agree_row_by_row() {
    for_all(|case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(());
        };
        if reference_is_wrong(case) || reference.is_empty() {
            return Ok(());
        }
        let reference: Vec<String> = reference.lines().map(|row| columns(row, 3)).collect();
        let ours: Vec<String> = stdout(&["events", path(case)])
            .lines()
            .map(|row| columns(row, 3))
            .collect();
        compare("events", &ours, &reference)
    });
}

/// The numbers among the fields of an event as Haskell's `show` writes it, as
/// far as no text stands before them.
fn shown_numbers(show: &str) -> Vec<(&str, &str)> {
    let plain = show.split('"').next().unwrap_or_default();
    let fields = plain
        .split(['{', ','])
        .filter_map(|part| part.trim().split_once(" = "));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    fields
        .map(|(name, value)| (name, value.trim_end_matches('}')))
        .filter(|(_, value)| is_number(value))
        .collect()
}

/// Where the reference puts 0 for a field that the log does not have.
const REFERENCE_INVENTS: &str = "tickyCtrInfoTbl";

#[test]
fn fields_of_events_agree() {
    for_all(|case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(());
        };
        if reference_is_wrong(case) {
            return Ok(());
        }
        let ours = stdout(&["events", "--json", path(case)]);
        for (ours, row) in ours.lines().zip(reference.lines()) {
            let event: serde_json::Value = serde_json::from_str(ours).expect("JSON");
            let show = row.split('\t').nth(3).unwrap_or_default();
            for (name, value) in shown_numbers(show) {
                // The one wrapped number: `tid = KernelThreadId {kernelThreadId = n}`.
                let name = if name == "kernelThreadId" {
                    "tid"
                } else {
                    name
                };
                let agrees = event[name].as_u64() == value.parse().ok();
                let invented = name == REFERENCE_INVENTS && value == "0";
                if !(agrees || invented) {
                    return Err(format!("{name}: ours {ours}, reference {show}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn counts_by_type_agree() {
    for_all(|case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(());
        };
        if reference_is_wrong(case) || reference.is_empty() {
            return Ok(());
        }
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for row in reference.lines() {
            *counts
                .entry(row.split('\t').nth(2).unwrap_or_default().to_owned())
                .or_default() += 1;
        }
        let mut ours: BTreeMap<String, u64> = BTreeMap::new();
        for row in stdout(&["info", path(case)]).lines() {
            if let ["type", name, count, _bytes] = row.split('\t').collect::<Vec<_>>()[..] {
                *ours.entry(name.to_owned()).or_default() += count.parse::<u64>().expect("a count");
            }
        }
        let rows = |counts: BTreeMap<String, u64>| {
            counts
                .into_iter()
                .map(|(name, n)| format!("{name} {n}"))
                .collect::<Vec<_>>()
        };
        compare("info", &rows(ours), &rows(counts))
    });
}

#[test]
fn spans_agree_exactly() {
    let commands: [(&str, &[&str]); 5] = [
        ("gc", &["gc"]),
        ("mutator-by-cap", &["mutator", "--by", "cap"]),
        ("mutator-by-thread", &["mutator"]),
        ("thread-state", &["thread-state"]),
        ("capability-usage", &["capability-usage"]),
    ];
    for_all(|case| {
        let Some(reference) = case.reference("spans.tsv.gz") else {
            return Ok(());
        };
        if reference_is_wrong(case) {
            return Ok(());
        }
        for (analysis, command) in commands {
            let prefix = format!("{analysis}\t");
            let mut theirs: Vec<String> = reference
                .lines()
                .filter_map(|row| row.strip_prefix(&prefix))
                .map(str::to_owned)
                .collect();
            let arguments = [&["spans", path(case)], command].concat();
            let mut ours: Vec<String> = stdout(&arguments).lines().map(str::to_owned).collect();
            theirs.sort();
            ours.sort();
            compare(analysis, &ours, &theirs)?;
        }
        Ok(())
    });
}

/// For every capability: idle + |union of GC and mutator| = life.
#[test]
fn usage_covers_every_life_exactly() {
    for_all(|case| {
        let info: serde_json::Value =
            serde_json::from_str(&stdout(&["info", "--json", path(case)])).unwrap_or_default();
        let caps = info["capabilities"].as_array().cloned().unwrap_or_default();
        let rows = stdout(&["spans", path(case), "capability-usage"]);
        for cap in caps {
            let (start, end) = (
                cap["start"].as_u64().expect("start"),
                cap["end"].as_u64().expect("end"),
            );
            let mut idle = 0;
            let mut busy: Vec<(u64, u64)> = Vec::new();
            for row in rows.lines().map(|row| row.split('\t').collect::<Vec<_>>()) {
                let [id, category, _thread, from, to] = row[..] else {
                    return Err(format!("{row:?}"));
                };
                if id.parse() != Ok(cap["cap"].as_u64().unwrap_or_default()) {
                    continue;
                }
                let (from, to): (u64, u64) = (from.parse().expect("ns"), to.parse().expect("ns"));
                if category == "Idle" {
                    idle += to - from;
                } else {
                    busy.push((from.max(start), to.min(end)));
                }
            }
            busy.sort_unstable();
            let mut union = 0;
            let mut covered = start;
            for (from, to) in busy {
                let from = from.max(covered);
                union += to.saturating_sub(from);
                covered = covered.max(to);
            }
            if idle + union != end - start {
                return Err(format!(
                    "capability {}: {idle} + {union} ≠ {}",
                    cap["cap"],
                    end - start
                ));
            }
        }
        Ok(())
    });
}

/// A sound log is read without a word of damage.
#[test]
fn sound_logs_have_no_damage() {
    for_all(|case| {
        let output = common::eventscope(&["info", path(case)]);
        let errors = String::from_utf8_lossy(&output.stderr);
        let may = [
            "cut-",
            "killed",
            "relog",
            "-debug-",
            "testlog-part",
            "T23340",
        ];
        if may.iter().any(|part| case.name.contains(part)) || errors.is_empty() {
            return Ok(());
        }
        Err(errors.into_owned())
    });
}
