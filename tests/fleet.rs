//! `eventscope fleet`: numbers are those of the digests, planted effects are found from files too, bad files are
//! passed over, and labels come from where they are said to.

use crate::common;

#[path = "../examples/fleet_generator/mod.rs"]
mod fleet_generator;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{eventscope, fixture, stdout};
use fleet_generator::{Planted, outliers, write_fleet};
use serde_json::Value as Json;

/// Digest of a sample, from which fleets are generated.
fn base() -> Json {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/www/demo/web-server.eventlog.gz"
    );
    serde_json::from_str(&stdout(&["digest", sample])).expect("a digest")
}

fn json(arguments: &[&str]) -> Json {
    let arguments = [&["fleet", "--json"], arguments].concat();
    serde_json::from_str(&stdout(&arguments)).expect("JSON")
}

fn number<'a>(fleet: &'a Json, name: &str) -> &'a Json {
    let mut numbers = fleet["numbers"].as_array().expect("numbers").iter();
    numbers
        .find(|number| number["name"] == name)
        .expect("the number")
}

/// Quantile by its definition: linear between the points `i / (n - 1)`.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let steps = (values.len() - 1) as f64;
    let pair = (1..values.len())
        .find(|index| share <= *index as f64 / steps)
        .expect("a pair");
    let from = (pair - 1) as f64 / steps;
    values[pair - 1] + (values[pair] - values[pair - 1]) * (share - from) * steps
}

/// Reads a number of all digests below a folder, without the program under test.
fn values(folder: &Path, into: &mut BTreeMap<String, f64>, value: &dyn Fn(&Json) -> f64) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            values(&path, into, value);
        } else {
            let text = fs::read_to_string(&path).expect("a digest");
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            into.insert(name, value(&serde_json::from_str(&text).expect("JSON")));
        }
    }
}

fn row(digest: &Json, name: &str, part: &str) -> f64 {
    let rows = digest["rows"].as_array().expect("rows");
    let is_it = |row: &&Json| {
        row["key"]["group"] == "program" && row["key"]["name"] == name && row["key"]["part"] == part
    };
    rows.iter()
        .find(is_it)
        .and_then(|row| row["value"].as_f64())
        .expect("the number")
}

#[test]
fn planted_effects_are_found_in_files() {
    const RUNS: usize = 700;
    let folder = tempfile::tempdir().expect("a folder");
    write_fleet(folder.path(), &base(), RUNS, Planted::ALL, 3).expect("a fleet");
    let path = folder.path().to_str().expect("a path");
    let fleet = json(&[path]);
    let mut seen: Vec<String> = Vec::new();
    for claim in fleet["claims"].as_array().expect("claims") {
        let subject = &claim["subject"];
        seen.push(match subject["kind"].as_str() {
            Some("change") => {
                let labels = subject["labels"].as_array().expect("labels").iter();
                let labels = labels.map(|label| format!("{}={}", label["key"], label["after"]));
                labels.collect::<Vec<_>>().join(" ").replace('"', "")
            }
            Some("label") => format!("{}={}", subject["key"], subject["value"]).replace('"', ""),
            _ => {
                let run = subject["run"].as_u64().expect("a run") as usize;
                fleet["runs"][run]["name"]
                    .as_str()
                    .expect("a name")
                    .to_owned()
            }
        });
    }
    seen.sort();
    let mut expected = vec!["day=2026-03-23".to_owned(), "host=web-07".to_owned()];
    expected.extend(outliers(RUNS).map(|run| format!("shop-{run:05}")));
    expected.push("version=2.3 day=2026-03-16".to_owned());
    expected.sort();
    assert_eq!(seen.len(), expected.len(), "{seen:?}");
    for (seen, expected) in seen.iter().zip(&expected) {
        let is_version = expected.starts_with("version") && seen.starts_with("version=2.3");
        assert!(seen == expected || is_version, "{seen} {expected}");
    }
    assert_eq!(fleet["order"], "start");

    let mut walls = BTreeMap::new();
    values(folder.path(), &mut walls, &|digest| {
        row(digest, "time.wall", "")
    });
    let by_hand: Vec<f64> = walls.values().copied().collect();
    let all = &number(&fleet, "time.wall")["distribution"];
    for (name, share) in [
        ("p5", 0.05),
        ("p25", 0.25),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p95", 0.95),
        ("p99", 0.99),
        ("max", 1.0),
    ] {
        let (found, expected) = (
            all[name].as_f64().expect("a number"),
            quantile(&by_hand, share),
        );
        assert!(
            (found / expected - 1.0).abs() < 1e-12,
            "{name}: {found} {expected}"
        );
    }
    let mut shares = BTreeMap::new();
    values(folder.path(), &mut shares, &|digest| {
        row(digest, "gc.time", "") / digest["range"]["to_ns"].as_f64().expect("a time")
    });
    let by_hand: Vec<f64> = shares.values().copied().collect();
    let median = number(&fleet, "gc.time.share")["distribution"]["p50"]
        .as_f64()
        .expect("a number");
    assert!((median / quantile(&by_hand, 0.5) - 1.0).abs() < 1e-9);
    let hosts = number(&fleet, "time.wall")["labels"]
        .as_array()
        .expect("labels")
        .iter();
    let hosts = hosts
        .clone()
        .find(|label| label["key"] == "host")
        .expect("hosts");
    let counts = hosts["values"].as_array().expect("values").iter();
    assert_eq!(
        counts
            .map(|host| host["count"].as_u64().expect("a count"))
            .sum::<u64>(),
        RUNS as u64
    );

    let page = folder.path().join("page.html");
    let page = page.to_str().expect("a path");
    stdout(&[
        "fleet",
        path,
        "-o",
        page,
        "--link",
        "https://logs.example/{host}/{run}.eventlog",
    ]);
    let html = fs::read_to_string(page).expect("a page");
    assert!(html.contains("https://logs.example/web-") && html.ends_with("</html>\n"));
    assert!(stdout(&["fleet", path]).contains("Host web-07, unlike all others"));
}

#[test]
fn labels_come_from_names_folders_and_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = base().to_string();
    for (place, name) in [
        ("host=a", "shop-1.2-x"),
        ("host=b", "shop-1.3-y"),
        ("host=b", "other"),
    ] {
        let place = folder.path().join(place);
        fs::create_dir_all(&place).expect("a folder");
        fs::write(place.join(format!("{name}.digest")), &base).expect("a file");
    }
    let path = folder.path().to_str().expect("a path");
    let output = eventscope(&[
        "fleet",
        "--json",
        path,
        "--name-pattern",
        "{app}-{version}-*.digest",
        "--set",
        "team=core",
        "--where",
        "host=b",
    ]);
    let fleet: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("1 name did not match"), "{told}");
    let runs = fleet["runs"].as_array().expect("runs");
    let of = |run: usize, key: &str| runs[run]["labels"][key].as_str().unwrap_or("-");
    assert_eq!(runs.len(), 2);
    // Both started at the same time: the names decide.
    assert_eq!(
        (of(0, "app"), of(0, "version"), of(0, "host"), of(0, "team")),
        ("web-server", "-", "b", "core")
    );
    assert_eq!(
        (of(1, "app"), of(1, "version"), of(1, "host")),
        ("shop", "1.3", "b")
    );
    assert!(of(0, "day").starts_with("20") && of(0, "ghc").contains('.'));
}

#[test]
fn bad_files_are_told_and_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    let base = base().to_string();
    file("a.digest", &base);
    file("half.digest", &base[..base.len() / 2]);
    file("empty.digest", "");
    file("other.json", "{\"a\": 1}");
    file("notes.txt", "no digest, and none that is asked for");
    file(".hidden.digest", "no digest");
    let path = folder.path().to_str().expect("a path");
    let output = eventscope(&["fleet", "--json", path]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.lines().count() == 3,
        "{told}"
    );
    let fleet: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(fleet["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(fleet["skipped"].as_array().map(Vec::len), Some(3));

    let log = fixture("ghc-9.0.2/fib-forkio-N1-l");
    let output = eventscope(&["fleet", log.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`eventscope digest LOG` makes one"));
    for wrong in [
        ["--link", "javascript:{run}"],
        ["--name-pattern", "{app"],
        ["--set", "x"],
        ["--where", "=x"],
    ] {
        let output = eventscope(&["fleet", path, wrong[0], wrong[1]]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_log_next_to_a_digest_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["one.eventlog.digest", "two.digest", "three.digest.json"] {
        fs::write(folder.path().join(name), base().to_string()).expect("a file");
    }
    for name in ["one.eventlog", "two.eventlog.gz"] {
        fs::write(folder.path().join(name), "").expect("a file");
    }
    let fleet = json(&[folder.path().to_str().expect("a path")]);
    let logs = fleet["runs"].as_array().expect("runs").iter();
    let mut logs: Vec<String> = logs
        .map(|run| {
            run["log"].as_str().map_or_else(
                || "-".to_owned(),
                |log| log.rsplit('/').next().unwrap_or_default().to_owned(),
            )
        })
        .collect();
    logs.sort();
    assert_eq!(logs, ["-", "one.eventlog", "two.eventlog.gz"]);
}

#[test]
fn unknown_numbers_are_usage_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("one.digest"), base().to_string()).expect("a file");
    let path = folder.path().to_str().expect("a path");
    let with = |number| eventscope(&["fleet", "--json", path, "--number", number]);
    for known in ["time.wall", "time.*"] {
        assert_eq!(with(known).status.code(), Some(0), "{known}");
    }
    let output = with("time.walll");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(output.stdout.is_empty());
    assert!(
        told.contains("--number time.walll: no run has such a number; similar names: time.wall"),
        "{told}"
    );
}
