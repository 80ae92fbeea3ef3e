//! The command line against the reference of every log: dumps by `ghc-events` 0.20 and span analyses by an
//! independent program.

use crate::common;

use std::collections::BTreeMap;

use common::show::{HaskellValue, parse, unescape};
use common::{expected_coverage, for_all, reference_is_wrong, stdout};
use serde_json::Value as Json;

/// Compares two lists of rows. Returns their length, or an error with the first difference.
fn compare(what: &str, ours: &[String], reference: &[String]) -> Result<usize, String> {
    let Some(at) = (0..ours.len().max(reference.len())).find(|&i| ours.get(i) != reference.get(i))
    else {
        return Ok(ours.len());
    };
    Err(format!(
        "{what}: row {at} of {}/{}: ours {:?}, reference {:?}",
        ours.len(),
        reference.len(),
        ours.get(at),
        reference.get(at)
    ))
}

/// Pairs the rows of two texts, which must have the same number of lines.
fn rows<'a>(
    ours: &'a str,
    reference: &'a str,
) -> Result<impl Iterator<Item = (&'a str, &'a str)>, String> {
    let (count, expected) = (ours.lines().count(), reference.lines().count());
    if count != expected {
        return Err(format!("{count} rows, reference {expected}"));
    }
    Ok(ours.lines().zip(reference.lines()))
}

fn columns(row: &str, count: usize) -> String {
    row.split('\t').take(count).collect::<Vec<_>>().join("\t")
}

#[test]
fn events_agree_row_by_row() {
    for_all(expected_coverage([39, 61390], [134, 645083]), |case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(0);
        };
        if reference_is_wrong(case) || reference.is_empty() {
            return Ok(0);
        }
        let reference: Vec<String> = reference.lines().map(|row| columns(row, 3)).collect();
        let ours: Vec<String> = stdout(&["events", case.path()])
            .lines()
            .map(|row| columns(row, 3))
            .collect();
        compare("events", &ours, &reference)
    });
}

/// Fields whose values differ from the reference on purpose, with the reason.
const FIELDS_DIFFER: &[(&str, &str)] = &[
    (
        "tickyCtrInfoTbl",
        "the reference puts 0 where the log has no such field",
    ),
    (
        "itClosureDesc",
        "a number in the reference; in the log it is a text of digits",
    ),
    (
        "status",
        "stop codes 18 and 16 are taken for others by the reference",
    ),
    (
        "payload",
        "hexadecimal in our JSON, characters up to 255 in the reference",
    ),
];

/// Returns whether a JSON value equals a value of the reference.
fn agrees(ours: &Json, theirs: &HaskellValue) -> bool {
    match (ours, theirs) {
        (ours, HaskellValue::Number(number)) => ours.as_u64() == Some(*number),
        (Json::String(ours), HaskellValue::Text(text)) => ours == text,
        (Json::Array(ours), HaskellValue::List(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| agrees(a, b))
        }
        (ours, HaskellValue::Plain(name, arguments)) => match (name.as_str(), &arguments[..]) {
            ("Nothing", []) => ours.is_null(),
            ("Just" | "HeapProfFlags", [inner]) => agrees(ours, inner),
            (name, []) => ours == name,
            (name, [HaskellValue::Number(detail)]) => *ours == format!("{name} {detail}"),
            _ => false,
        },
        // Single-field wrapper, such as `tid = KernelThreadId {kernelThreadId = n}`.
        (ours, HaskellValue::Record(_, fields)) => fields.len() == 1 && agrees(ours, &fields[0].1),
        _ => false,
    }
}

/// Returns whether a field differs from the reference in the way listed in [`FIELDS_DIFFER`].
fn differs_as_listed(name: &str, ours: &Json, theirs: &HaskellValue) -> bool {
    if !FIELDS_DIFFER.iter().any(|(listed, _)| *listed == name) {
        return false;
    }
    match (name, theirs) {
        ("tickyCtrInfoTbl", HaskellValue::Number(0)) => ours.is_null(),
        ("itClosureDesc", HaskellValue::Number(number)) => {
            ours.as_str().and_then(|digits| digits.parse().ok()) == Some(*number)
        }
        ("status", HaskellValue::Plain(status, _)) => {
            let renamed = match status.as_str() {
                "BlockedOnMsgGlobalise" => "BlockedOnMsgThrowTo",
                "BlockedOnMsgThrowTo" => "Status 16",
                "ThreadMigrating" => "Status 17",
                _ => return false,
            };
            ours == renamed
        }
        ("payload", HaskellValue::Text(text)) => {
            let hex: String = text
                .chars()
                .map(|c| format!("{:02x}", u32::from(c)))
                .collect();
            *ours == hex
        }
        _ => false,
    }
}

/// Every field of every event agrees: numbers, texts, lists, constructors.
#[test]
fn fields_of_events_agree() {
    for_all(expected_coverage([39, 86828], [134, 812704]), |case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(0);
        };
        if reference_is_wrong(case) {
            return Ok(0);
        }
        let ours = stdout(&["events", "--json", case.path()]);
        let mut compared = 0;
        for (ours, row) in rows(&ours, &reference)? {
            let event: Json = serde_json::from_str(ours).expect("JSON");
            let show = unescape(row.split('\t').nth(3).unwrap_or_default());
            let shown = parse(&show).ok_or_else(|| format!("cannot parse {show}"))?;
            let HaskellValue::Record(_, fields) = shown else {
                continue;
            };
            for (name, theirs) in fields {
                compared += 1;
                let value = &event[&name];
                if !agrees(value, &theirs) && !differs_as_listed(&name, value, &theirs) {
                    return Err(format!("{name}: ours {ours}, reference {show}"));
                }
            }
        }
        Ok(compared)
    });
}

/// Events whose sentences omit numbers of the reference's text, with the reason.
const NUMBERS_LEFT_OUT: &[(&str, &str)] = &[
    (
        "ProgramEnv",
        "values of environment variables may be secrets: only names are shown",
    ),
    (
        "UserBinaryMessage",
        "the reference shows bytes as characters, with dots for most of them",
    ),
    ("InfoTableProv", "the reference writes addresses without 0x"),
    (
        "TickyCounterDef",
        "the reference writes addresses without 0x",
    ),
    ("HeapProfBegin", "the interval is in its longest unit"),
    ("ProfBegin", "the interval is in its longest unit"),
    ("UnknownEvent", "the reference shows nothing but the number"),
];

/// Events whose sentences may omit a 0: fields that only parallel collections have, and a maximum heap of 0 bytes,
/// which means no limit.
const ZEROS_LEFT_OUT: &[&str] = &["GCStatsGHC", "HeapInfoGHC"];

/// Returns the decimal and hexadecimal numbers in a text.
fn numbers(text: &str) -> Vec<u128> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => word.trim_end_matches(['n', 's']).parse().ok(),
    };
    words.filter_map(number).collect()
}

/// Our sentences contain every number that the reference's text contains.
#[test]
fn sentences_hold_every_number() {
    for_all(expected_coverage([39, 67479], [134, 627259]), |case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(0);
        };
        if reference_is_wrong(case) {
            return Ok(0);
        }
        let ours = stdout(&["events", case.path()]);
        let mut compared = 0;
        for (ours, row) in rows(&ours, &reference)? {
            let columns: Vec<&str> = row.split('\t').collect();
            let [_, _, name, _, text] = columns[..] else {
                return Err(format!("not five columns: {row}"));
            };
            if NUMBERS_LEFT_OUT.iter().any(|(event, _)| *event == name) {
                continue;
            }
            let text = unescape(text);
            let sentence = unescape(ours.split('\t').nth(3).unwrap_or_default());
            let held = numbers(&sentence);
            let zeros = ZEROS_LEFT_OUT.contains(&name);
            let is_missing = |n: &u128| !(held.contains(n) || zeros && *n == 0);
            let expected = numbers(&text);
            compared += expected.len();
            let missing = expected.into_iter().find(is_missing);
            if let Some(missing) = missing {
                return Err(format!(
                    "{missing} is missing: {sentence:?}, reference {text:?}"
                ));
            }
        }
        Ok(compared)
    });
}

#[test]
fn counts_by_type_agree() {
    for_all(expected_coverage([39, 1117], [134, 4022]), |case| {
        let Some(reference) = case.reference("events.tsv.gz") else {
            return Ok(0);
        };
        if reference_is_wrong(case) || reference.is_empty() {
            return Ok(0);
        }
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for row in reference.lines() {
            *counts
                .entry(row.split('\t').nth(2).unwrap_or_default().to_owned())
                .or_default() += 1;
        }
        let mut ours: BTreeMap<String, u64> = BTreeMap::new();
        for row in stdout(&["info", case.path()]).lines() {
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
    for_all(expected_coverage([38, 86261], [131, 884058]), |case| {
        let Some(reference) = case.reference("spans.tsv.gz") else {
            return Ok(0);
        };
        if reference_is_wrong(case) {
            return Ok(0);
        }
        let mut compared = 0;
        for (analysis, command) in commands {
            let prefix = format!("{analysis}\t");
            let mut theirs: Vec<String> = reference
                .lines()
                .filter_map(|row| row.strip_prefix(&prefix))
                .map(str::to_owned)
                .collect();
            let arguments = [&["spans", case.path()], command].concat();
            // The reference does not classify waits by the thread that ended them.
            let count = if analysis == "thread-state" {
                6
            } else {
                usize::MAX
            };
            let ours = stdout(&arguments);
            let mut ours: Vec<String> = ours.lines().map(|row| columns(row, count)).collect();
            theirs.sort();
            ours.sort();
            compared += compare(analysis, &ours, &theirs)?;
        }
        Ok(compared)
    });
}

/// For every capability: idle time plus the union of collections and mutator equals its life.
#[test]
fn usage_covers_every_life_exactly() {
    for_all(expected_coverage([39, 29844], [136, 303809]), |case| {
        let info = stdout(&["info", "--json", case.path()]);
        if info.is_empty() && case.name.ends_with("cut-in-header") {
            return Ok(0);
        }
        let info: Json = serde_json::from_str(&info).map_err(|error| error.to_string())?;
        let caps = info["capabilities"].as_array().ok_or("no list")?;
        let rows = stdout(&["spans", case.path(), "capability-usage"]);
        let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
        let mut of_a_cap = 0;
        for cap in caps {
            let (start, end) = (
                cap["start"].as_u64().expect("start"),
                cap["end"].as_u64().expect("end"),
            );
            let mut idle = 0;
            let mut busy: Vec<(u64, u64)> = Vec::new();
            for row in &rows {
                let [id, category, _thread, from, to] = row[..] else {
                    return Err(format!("{row:?}"));
                };
                if id.parse() != Ok(cap["cap"].as_u64().expect("a number")) {
                    continue;
                }
                of_a_cap += 1;
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
        if of_a_cap != rows.len() {
            return Err("rows of capabilities that the log does not have".to_owned());
        }
        Ok(of_a_cap)
    });
}

/// No damage is reported for an undamaged log.
#[test]
fn sound_logs_have_no_damage() {
    for_all(expected_coverage([33, 33], [123, 123]), |case| {
        let output = common::eventscope(&["info", case.path()]);
        let errors = String::from_utf8_lossy(&output.stderr);
        let may = [
            "cut-",
            "killed",
            "relog",
            "-debug-",
            "testlog-part",
            "T23340",
        ];
        if may.iter().any(|part| case.name.contains(part)) {
            return Ok(0);
        }
        if errors.is_empty() && output.status.success() {
            return Ok(1);
        }
        Err(errors.into_owned())
    });
}
