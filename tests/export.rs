//! `eventscope export`: each table has the rows of the command that prints the same data.

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{
    Case, ExpectedCoverage, Tally, cases, eventscope, expected_coverage, fixture, fixture_cases,
    stdout,
};
use export::tables::TABLES;
use serde_json::{Map, Value, json};
use session::cells::CellKind;
use tempfile::TempDir;

type Row = Map<String, Value>;

/// Exported tables of one log.
struct Exported {
    folder: TempDir,
    /// Standard error of the command.
    stderr: String,
    status: Option<i32>,
}

impl Exported {
    fn of(log: &str, more: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().to_str().expect("UTF-8");
        let arguments = ["export", "--format", "jsonl", "-o", path, log];
        let output = eventscope(&[&arguments[..], more].concat());
        assert!(output.stdout.is_empty());
        Self {
            folder,
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            status: output.status.code(),
        }
    }

    /// Returns the rows of a table, without the column `run`.
    fn rows(&self, table: &str) -> Vec<Row> {
        let text = text(self.folder.path(), table, "jsonl");
        let rows = text.lines().map(|line| {
            let mut row: Row = serde_json::from_str(line).expect("an object");
            assert!(row.remove("run").is_some());
            row
        });
        rows.collect()
    }
}

/// Reads the only file of a table.
fn text(folder: &Path, table: &str, extension: &str) -> String {
    let runs = std::fs::read_dir(folder.join(table)).expect("a folder for each table");
    let runs: Vec<_> = runs.map(|run| run.expect("an entry").path()).collect();
    assert_eq!(runs.len(), 1);
    let path = runs[0].join(format!("part-0.{extension}"));
    std::fs::read_to_string(path).expect("a file")
}

/// Returns the JSON lines that a command prints.
fn lines(arguments: &[&str]) -> Vec<Value> {
    let text = stdout(arguments);
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Returns the JSON list that a command prints.
fn list(arguments: &[&str]) -> Vec<Value> {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

/// Returns the named cells of a row.
fn cells(row: &Row, names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| row[*name].clone()).collect()
}

/// Compares a table with the output of a command, both sorted. Returns the number of rows.
fn compare_rows(
    what: &str,
    mut table: Vec<Vec<Value>>,
    mut printed: Vec<Vec<Value>>,
) -> Result<usize, String> {
    let key = |row: &Vec<Value>| Value::from(row.clone()).to_string();
    table.sort_by_cached_key(key);
    printed.sort_by_cached_key(key);
    if table == printed {
        return Ok(table.len());
    }
    let differs = table.iter().zip(&printed).find(|(a, b)| a != b);
    Err(format!(
        "{what}: {} rows, {} printed; {differs:?}",
        table.len(),
        printed.len()
    ))
}

/// Returns whether a log can be opened.
fn opens(case: &Case) -> bool {
    common::session_of(&case.bytes()).is_ok()
}

/// Comparison of a table with the output of a command; returns the number of compared items.
type Comparison = fn(&str, &Exported) -> Result<usize, String>;

#[test]
fn tables_are_what_the_command_line_prints() {
    let comparisons: [(ExpectedCoverage, Comparison); 9] = [
        (
            expected_coverage([40, 61_000], [139, 650_000]),
            events_are_those_of_the_list,
        ),
        (
            expected_coverage([29, 1_900], [106, 11_900]),
            threads_and_collections_are_those_of_the_command_line,
        ),
        (
            expected_coverage([41, 1_400], [140, 5_000]),
            numbers_are_those_of_the_command_line,
        ),
        (
            expected_coverage([30, 41], [112, 180]),
            findings_are_those_of_the_command_line,
        ),
        (
            expected_coverage([6, 300], [10, 2_000]),
            bands_of_the_heap_are_those_of_the_command_line,
        ),
        (
            expected_coverage([5, 300], [8, 1_000]),
            samples_weigh_what_flame_graphs_do,
        ),
        (
            expected_coverage([41, 41], [140, 140]),
            runs_say_what_info_says,
        ),
        (
            expected_coverage([39, 72_000], [136, 740_000]),
            spans_are_the_same,
        ),
        (
            expected_coverage([39, 60], [130, 250]),
            capabilities_are_the_same,
        ),
    ];
    let mut tallies = comparisons.each_ref().map(|_| Tally::default());
    let mut failures = Vec::new();
    for case in cases().iter().filter(|case| opens(case)) {
        let exported = Exported::of(case.path(), &[]);
        for ((_, compare), tally) in comparisons.iter().zip(&mut tallies) {
            match compare(case.path(), &exported) {
                Ok(things) => tally.add(case, things),
                Err(why) => failures.push(format!("{}: {why}", case.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    for ((known, _), tally) in comparisons.into_iter().zip(tallies) {
        tally.finish(known);
    }
}

fn events_are_those_of_the_list(log: &str, exported: &Exported) -> Result<usize, String> {
    let rows = exported.rows("events");
    let printed = lines(&["events", "--json", log]);
    let table = rows
        .iter()
        .map(|row| cells(row, &["time_ns", "cap", "type"]));
    let printed: Vec<Vec<Value>> = printed
        .iter()
        .map(|row| vec![row["time"].clone(), row["cap"].clone(), row["name"].clone()])
        .collect();
    let table: Vec<Vec<Value>> = table.collect();
    if table.len() != printed.len() {
        return Err(format!("{} events, {} printed", table.len(), printed.len()));
    }
    // The JSON of some events has its own field `cap`, so that the second column may differ.
    let differs = table
        .iter()
        .zip(&printed)
        .find(|(a, b)| (&a[0], &a[2]) != (&b[0], &b[2]));
    match differs {
        Some(differs) => Err(format!("{differs:?}")),
        None => Ok(table.len()),
    }
}

#[test]
fn events_say_what_the_list_says() {
    for case in fixture_cases().iter().filter(|case| opens(case)) {
        let exported = Exported::of(case.path(), &[]);
        let printed = stdout(&["events", case.path()]);
        let printed: Vec<&str> = printed.lines().collect();
        let rows = exported.rows("events");
        assert_eq!(rows.len(), printed.len(), "{}", case.name);
        for (row, line) in rows.iter().zip(printed) {
            let text = row["text"].as_str().expect("a text");
            let is_plain = !text.contains(|c: char| c.is_control() || c == '\\');
            if is_plain {
                let cap = row["cap"]
                    .as_u64()
                    .map_or("-".to_owned(), |cap| cap.to_string());
                let kind = row["type"].as_str().expect("a name");
                let expected = format!("{}\t{cap}\t{kind}\t{text}", row["time_ns"]);
                if !line.contains("\\u") {
                    assert_eq!(line, expected, "{}", case.name);
                }
            }
        }
    }
}

/// Returns the spans of these kinds, with the cells that the command prints.
fn spans_of(rows: &[Row], kinds: &[&str], names: &[&str]) -> Vec<Vec<Value>> {
    let of_kind = |row: &&Row| kinds.contains(&row["kind"].as_str().expect("a kind"));
    rows.iter()
        .filter(of_kind)
        .map(|row| cells(row, names))
        .collect()
}

fn printed_spans(analysis: &str, log: &str, more: &[&str], names: &[&str]) -> Vec<Vec<Value>> {
    let arguments = [&["spans", log, analysis, "--json"], more].concat();
    let printed = list(&arguments);
    let rows = printed.iter().map(|row| {
        let row = row.as_object().expect("an object");
        cells(row, names)
    });
    rows.collect()
}

fn spans_are_the_same(log: &str, exported: &Exported) -> Result<usize, String> {
    spans_of_range_are_the_same(log, exported, &[])
}

fn spans_of_range_are_the_same(
    log: &str,
    exported: &Exported,
    more: &[&str],
) -> Result<usize, String> {
    let rows = exported.rows("spans");
    let mut count = 0;
    for (analysis, kinds, table, printed) in [
        (
            "gc",
            &["gc"][..],
            &["cap", "start_ns", "end_ns"][..],
            &["cap", "start", "end"][..],
        ),
        (
            "mutator",
            &["running"],
            &["cap", "thread", "start_ns", "end_ns"],
            &["cap", "thread", "start", "end"],
        ),
        (
            "thread-state",
            &["running", "blocked"],
            &[
                "thread",
                "cap",
                "reason",
                "start_ns",
                "end_ns",
                "wait_reason",
            ],
            &["thread", "cap", "reason", "start", "end", "wait_reason"],
        ),
    ] {
        let table = spans_of(&rows, kinds, table);
        count += compare_rows(analysis, table, printed_spans(analysis, log, more, printed))?;
    }
    let mut usage = spans_of(
        &rows,
        &["gc", "running", "idle"],
        &["kind", "cap", "thread", "start_ns", "end_ns"],
    );
    usage.retain(|row| !row[1].is_null());
    for row in &mut usage {
        row[0] = match row[0].as_str() {
            Some("gc") => "GC".into(),
            Some("running") => "Mutator".into(),
            _ => "Idle".into(),
        };
    }
    let names = ["category", "cap", "thread", "start", "end"];
    let printed = printed_spans("capability-usage", log, more, &names);
    count += compare_rows("capability-usage", usage, printed)?;
    for row in &rows {
        let [from, to, length] =
            ["start_ns", "end_ns", "duration_ns"].map(|name| row[name].as_u64());
        if to.zip(from).map(|(to, from)| to.saturating_sub(from)) != length {
            return Err(format!("{row:?}"));
        }
    }
    Ok(count)
}

fn threads_and_collections_are_those_of_the_command_line(
    log: &str,
    exported: &Exported,
) -> Result<usize, String> {
    let mut count = 0;
    for table in ["threads", "collections"] {
        let rows: Vec<Value> = exported.rows(table).into_iter().map(Value::from).collect();
        let printed = list(&[table, log, "--json"]);
        if rows != printed {
            let differs = rows.iter().zip(&printed).find(|(a, b)| a != b);
            return Err(format!("{table}: {differs:?}"));
        }
        count += rows.len();
    }
    Ok(count)
}

fn numbers_are_those_of_the_command_line(log: &str, exported: &Exported) -> Result<usize, String> {
    let rows = exported.rows("numbers");
    let mut expected = Vec::new();
    for metric in list(&["metrics", log, "--json"]) {
        let mut row = |statistic: Value, value: Value, unit: Value, range: [Value; 2]| {
            let [from, to] = range;
            let why = metric["no_data"].clone();
            expected.push(vec![
                metric["name"].clone(),
                statistic,
                value,
                unit,
                from,
                to,
                why,
            ]);
        };
        let none = || [Value::Null, Value::Null];
        let unit = || metric["unit"].clone();
        match metric["values"].as_array() {
            None => row(Value::Null, metric["value"].clone(), unit(), none()),
            Some(values) => {
                row(
                    "count".into(),
                    json!(values.len() as f64),
                    "count".into(),
                    none(),
                );
                for rank in ["p50", "p99", "max"] {
                    let seen = &metric["ranks"][rank];
                    if !seen.is_null() {
                        let range = [seen["range"]["start"].clone(), seen["range"]["end"].clone()];
                        row(rank.into(), seen["value"].clone(), unit(), range);
                    }
                }
            }
        }
    }
    let names = [
        "name",
        "statistic",
        "value",
        "unit",
        "from_ns",
        "to_ns",
        "why_not",
    ];
    let rows = rows.iter().map(|row| cells(row, &names)).collect();
    compare_rows("numbers", rows, expected)
}

fn findings_are_those_of_the_command_line(log: &str, exported: &Exported) -> Result<usize, String> {
    let rows = exported.rows("findings");
    let report: Value = serde_json::from_str(&stdout(&["findings", log, "--json"])).expect("JSON");
    let printed = report["findings"].as_array().expect("a list");
    let same_as = [
        "rule",
        "subject",
        "axis",
        "severity",
        "confidence",
        "share",
        "title",
        "meaning",
        "places",
        "claimed_ns",
    ];
    let expected = printed.iter().map(|finding| {
        let mut row = cells(finding.as_object().expect("an object"), &same_as);
        row.push(finding["cost"]["unit"].clone());
        row.push(json!(finding["cost"]["value"].as_f64()));
        row
    });
    let names = [&same_as[..], &["cost_unit", "cost"]].concat();
    let rows = rows.iter().map(|row| cells(row, &names)).collect();
    compare_rows("findings", rows, expected.collect())
}

fn bands_of_the_heap_are_those_of_the_command_line(
    log: &str,
    exported: &Exported,
) -> Result<usize, String> {
    let rows = exported.rows("heap");
    if rows.is_empty() {
        let output = eventscope(&["heap", log, "--censuses", "--json"]);
        return match output.stdout.is_empty() {
            true => Ok(0),
            false => only_empty(&String::from_utf8_lossy(&output.stdout)),
        };
    }
    let mut expected = Vec::new();
    for census in lines(&["heap", log, "--censuses", "--json"]) {
        for band in census["bands"].as_array().expect("a list") {
            let mut row: Vec<Value> = ["profile", "census", "time_ns", "era"]
                .map(|name| census[name].clone())
                .into();
            row.extend([band[0].clone(), band[1].clone()]);
            expected.push(row);
        }
    }
    let names = ["profile", "census", "time_ns", "era", "band", "bytes"];
    compare_rows(
        "heap",
        rows.iter().map(|row| cells(row, &names)).collect(),
        expected,
    )
}

/// Returns an error unless all censuses in `lines` are empty.
fn only_empty(lines: &str) -> Result<usize, String> {
    for line in lines.lines() {
        let census: Value = serde_json::from_str(line).expect("JSON");
        if census["bands"] != json!([]) {
            return Err(format!("no row has {line}"));
        }
    }
    Ok(0)
}

fn samples_weigh_what_flame_graphs_do(log: &str, exported: &Exported) -> Result<usize, String> {
    let (samples, stacks) = (exported.rows("samples"), exported.rows("stacks"));
    for source in ["cost-centres", "stack-samples"] {
        let of_source = |row: &&Row| row["source"] == source;
        let functions: BTreeMap<u64, &Value> = stacks
            .iter()
            .filter(of_source)
            .map(|row| (row["stack"].as_u64().expect("a number"), &row["function"]))
            .collect();
        let mut own: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        for sample in samples.iter().filter(of_source) {
            let stack = sample["stack"].as_u64().expect("a number");
            if sample["function"] != **functions.get(&stack).unwrap_or(&&Value::Null) {
                return Err(format!("{sample:?}"));
            }
            let Some(function) = sample["function"].as_str() else {
                continue;
            };
            let sums = own.entry(function.to_owned()).or_default();
            sums[0] += sample["duration_ns"].as_u64().expect("a number");
            sums[1] += u64::from(sample["counts"] == true);
        }
        let arguments = ["flamegraph", log, "--source", source, "--json"];
        if own.is_empty() {
            continue;
        }
        let mut expected: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        for row in list(&arguments) {
            let function = row["frame"].as_str().expect("a name").to_owned();
            let sums = expected.entry(function).or_default();
            sums[0] += row["self"].as_u64().expect("a number");
            sums[1] += row["self_samples"].as_u64().expect("a number");
        }
        expected.retain(|_, sums| *sums != [0, 0]);
        own.retain(|_, sums| *sums != [0, 0]);
        if own != expected {
            return Err(format!("{source}: {own:?} {expected:?}"));
        }
    }
    Ok(samples.len())
}

fn runs_say_what_info_says(log: &str, exported: &Exported) -> Result<usize, String> {
    let rows = exported.rows("runs");
    let info: Value = serde_json::from_str(&stdout(&["info", log, "--json"])).expect("JSON");
    let row = &rows[0];
    let caps = info["capabilities"].as_array().map(Vec::len);
    let program = info["program"].clone();
    let same = rows.len() == 1
        && row["program"] == program
        && row["events"] == info["events"]
        && row["bytes"] == info["bytes"]
        && row["ghc"] == info["ghc"]
        && row["pid"] == info["pid"]
        && row["started"] == info["started"]
        && row["lost_bytes"] == info["lost_bytes"]
        && row["capabilities"].as_u64() == caps.map(|caps| caps as u64)
        && row["first_ns"] == info["first"]
        && row["last_ns"] == info["last"];
    if same {
        Ok(1)
    } else {
        Err(format!("{row:?} {info}"))
    }
}

/// Compares the table of capabilities and their processes with the output of `info`.
fn capabilities_are_the_same(log: &str, exported: &Exported) -> Result<usize, String> {
    let rows = exported.rows("capabilities");
    let info: Value = serde_json::from_str(&stdout(&["info", log, "--json"])).expect("JSON");
    let caps = info["capabilities"].as_array().expect("a list");
    let none = Vec::new();
    let processes = info["processes"].as_array().unwrap_or(&none);
    let expected = caps.iter().map(|cap| {
        let is_its = |own: &&Value| {
            let caps = own["capabilities"].as_array().expect("a list");
            caps.contains(&cap["cap"])
        };
        let [process, pid] = match processes.iter().find(is_its) {
            Some(own) => [own["name"].clone(), own["pid"].clone()],
            None if processes.is_empty() => [info["program"].clone(), info["pid"].clone()],
            None => [Value::Null, Value::Null],
        };
        vec![
            cap["cap"].clone(),
            cap["start"].clone(),
            cap["end"].clone(),
            process,
            pid,
        ]
    });
    let names = ["cap", "start_ns", "end_ns", "process", "pid"];
    let rows = rows.iter().map(|row| cells(row, &names)).collect();
    compare_rows("capabilities", rows, expected.collect())
}

#[test]
fn capabilities_of_merged_logs_are_of_their_processes() {
    let folder = TempDir::new().expect("a folder");
    let merged = folder.path().join("merged.eventlog");
    let merged = merged.to_str().expect("UTF-8");
    let [one, other] = ["ghc-9.6.6/fib-forkio-N2-l", "ghc-9.6.6/sparks-N2-ls"].map(fixture);
    let output = eventscope(&[
        "merge",
        "--by",
        "start",
        one.path(),
        other.path(),
        "-o",
        merged,
    ]);
    assert!(output.status.success(), "{output:?}");
    let exported = Exported::of(merged, &[]);
    assert_eq!(capabilities_are_the_same(merged, &exported), Ok(4));
    let rows = exported.rows("capabilities");
    let processes: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["process"].as_str())
        .collect();
    assert_eq!(processes, ["fib-forkio", "fib-forkio", "sparks", "sparks"]);
    // The other tables agree with the commands for a merged log too.
    assert!(spans_are_the_same(merged, &exported).expect("the same spans") > 100);
}

#[test]
fn parts_of_a_log_are_the_log() {
    let log = fixture("ghc-9.6.6/fib-forkio-N2-l");
    let whole = Exported::of(log.path(), &[]);
    let middle = "15000000";
    let parts = [
        Exported::of(log.path(), &["--to", middle]),
        Exported::of(log.path(), &["--from", middle]),
    ];
    let [before, after] = parts.each_ref().map(|part| part.rows("events"));
    assert!(!before.is_empty() && !after.is_empty());
    assert_eq!([before, after].concat(), whole.rows("events"));
    assert_eq!(parts[0].rows("runs")[0]["to_ns"], 15_000_000);
    for (part, more) in parts.iter().zip([["--to", middle], ["--from", middle]]) {
        let count = spans_of_range_are_the_same(log.path(), part, &more);
        assert!(count.expect("the same spans") > 20);
    }
}

#[test]
fn a_broken_log_is_exported_as_far_as_it_goes() {
    let log = fixture("ghc-9.6.6/fib-forkio-N2-l").bytes();
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("part.eventlog");
    let path_text = path.to_str().expect("UTF-8");
    let (mut opened, mut damaged) = (0, 0);
    for len in (0..log.len()).step_by(997) {
        std::fs::write(&path, &log[..len]).expect("a file");
        let Ok(session) = common::session_of(&log[..len]) else {
            let exported = Exported::of(path_text, &[]);
            assert_eq!(exported.status, Some(1), "{len}: {}", exported.stderr);
            assert!(!exported.folder.path().join("runs").exists());
            continue;
        };
        opened += 1;
        let exported = Exported::of(path_text, &[]);
        assert_eq!(
            exported.rows("events").len() as u64,
            session.events(),
            "{len}"
        );
        let run = &exported.rows("runs")[0];
        assert_eq!(run["damaged"], session.overview().damaged, "{len}");
        damaged += usize::from(exported.status == Some(1));
    }
    assert!(opened >= 5 && damaged >= 1, "{opened} {damaged}");
}

#[test]
fn logs_of_several_runs_stand_beside_each_other() {
    let logs = fixture_cases();
    let logs: Vec<&Case> = logs.iter().filter(|case| opens(case)).take(5).collect();
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("tables");
    let arguments = [
        "export",
        "--verbose",
        "--format",
        "csv",
        "-o",
        out.to_str().expect("UTF-8"),
    ];
    let paths: Vec<&str> = logs.iter().map(|log| log.path()).collect();
    let output = eventscope(&[&arguments[..], &paths].concat());
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(said.matches(" MB/s").count(), 5, "{said}");
    for table in TABLES {
        let runs = std::fs::read_dir(out.join(table.name)).expect("a folder");
        let runs: Vec<_> = runs.map(|run| run.expect("an entry").path()).collect();
        assert_eq!(runs.len(), 5, "{}", table.name);
        for run in runs {
            let files: Vec<_> = std::fs::read_dir(run).expect("a folder").collect();
            assert_eq!(files.len(), 1, "{files:?}");
        }
    }
}

#[test]
fn what_is_no_log_does_not_keep_others_from_being_written() {
    let folder = TempDir::new().expect("a folder");
    let [out, no_log, copy] = ["tables", "text.eventlog", "copy.eventlog"].map(|name| {
        let path = folder.path().join(name);
        path.to_str().expect("UTF-8").to_owned()
    });
    let log = fixture("ghc-9.6.6/fib-forkio-N2-l");
    std::fs::write(&no_log, "no log").expect("a file");
    std::fs::write(&copy, log.bytes()).expect("a file");
    let arguments = ["export", "--format", "csv", "-o", &out];
    let output = eventscope(&[&arguments[..], &[&no_log, log.path(), &copy]].concat());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].contains("text.eventlog: "), "{said}");
    assert!(lines[1].contains("is the same log as"), "{said}");
    let runs = text(Path::new(&out), "runs", "csv");
    assert_eq!(runs.lines().count(), 2, "{runs}");
    assert!(runs.contains("fib-forkio-N2-l.eventlog"), "{runs}");
}

#[test]
fn what_cannot_be_is_said() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").expect("a file");
    let log = fixture("ghc-9.6.6/fib-forkio-N2-l");
    let file = file.to_str().expect("UTF-8");
    let output = eventscope(&["export", "--format", "parquet", "-o", file, log.path()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("file"), "{said}");
    let output = eventscope(&["export", "--format", "xml", "-o", file, log.path()]);
    assert_eq!(output.status.code(), Some(2));
}

/// Renders the list of tables in `docs/export.md`.
fn columns() -> String {
    let mut text = String::new();
    for table in TABLES {
        let name = table.name;
        text += &format!(
            "### `{name}`\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n",
            table.help
        );
        text += "| `run` | text | Identifier of the log |\n";
        for column in table.columns {
            let kind = match column.kind {
                CellKind::Text => "text",
                CellKind::Number => "whole number",
                CellKind::Ratio => "number",
                CellKind::Flag => "true or false",
            };
            text += &format!("| `{}` | {kind} | {} |\n", column.name, column.help);
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_tables_are_documented() {
    const MARKS: [&str; 2] = [
        "<!-- tables, written by the tables themselves: UPDATE_DOCS=1 cargo test export -->\n\n",
        "<!-- end of tables -->",
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/export.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let (head, rest) = text.split_once(MARKS[0]).expect("where the tables begin");
    let (_, foot) = rest.split_once(MARKS[1]).expect("where they end");
    let wanted = [head, MARKS[0], &columns(), MARKS[1], foot].concat();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).expect("the page");
    } else {
        assert_eq!(
            text, wanted,
            "UPDATE_DOCS=1 cargo test export writes docs/export.md anew"
        );
    }
}

/// Files of two logs with one name do not replace each other, whatever the format.
#[test]
fn logs_with_one_name_get_files_of_their_own() {
    let folder = TempDir::new().expect("a folder");
    let copies = ["fib-forkio-N2-l", "sparks-N2-ls"].map(|name| {
        let of = folder.path().join(name);
        std::fs::create_dir(&of).expect("a folder");
        let copy = of.join("run.eventlog");
        std::fs::copy(fixture(&format!("ghc-9.6.6/{name}")).path(), &copy).expect("a copy");
        copy.to_str().expect("UTF-8").to_owned()
    });
    for (format, files) in [("otlp-json", 6), ("chrome", 2)] {
        let out = folder.path().join(format);
        let out = out.to_str().expect("UTF-8");
        let [one, other] = &copies;
        stdout(&[
            "export",
            "--format",
            format,
            "--wall-clock",
            "1",
            "-o",
            out,
            one,
            other,
        ]);
        assert_eq!(
            std::fs::read_dir(out).expect("a folder").count(),
            files,
            "{format}"
        );
    }
}
