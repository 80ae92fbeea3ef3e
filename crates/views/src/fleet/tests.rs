//! The page is well formed, escapes what logs choose, and shows what was found.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use insight::digest::{ComparableFact, FindingSummary, Key, NumberGroup, Row};
use insight::finding::{Axis, Confidence, Severity, Value};
use insight::fleet::{Analysis, Fleet, FleetBuilder, RunDigest};
use insight::metrics::{Direction, Unit, Variability};
use sha2::{Digest as _, Sha256};

use super::document::SCRIPT_HASH;
use super::*;

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=\"alert('2')\">&\u{202e}\u{1b}";

/// Fleet of 500 runs, in which a day, a host and a run differ, with hostile texts wherever a log chooses them.
fn fleet() -> Fleet {
    let mut builder = FleetBuilder::default();
    for run in 0..500_u32 {
        // Noise without a random generator: fractions of multiples of the golden ratio.
        let noise = f64::from(run) * 0.618_033_988_749_895;
        let noise = (noise.fract() - 0.5) * 0.1 + (f64::from(run * run % 97) / 97.0 - 0.5) * 0.1;
        let mut wall = 1e9 * noise.exp();
        if run >= 250 {
            wall *= 1.5;
        }
        if run % 7 == 3 {
            wall *= 1.4;
        }
        if run == 100 {
            wall *= 9.0;
        }
        let row = |name: &str, part: &'static str, unit, value| Row {
            key: Key {
                group: NumberGroup::Program,
                name: name.to_owned(),
                part: part.into(),
            },
            unit,
            direction: Direction::Lower,
            class: Variability::Timed,
            is_total: true,
            value,
        };
        let finding = FindingSummary {
            identity: HOSTILE.to_owned(),
            rule: HOSTILE.to_owned().into(),
            title: HOSTILE.to_owned(),
            axis: Axis::Time,
            severity: Severity::High,
            confidence: Confidence::Certain,
            cost: Value::Ns(5),
            share: 0.3,
        };
        let digest = RunDigest {
            facts: vec![ComparableFact {
                name: "Program".into(),
                value: HOSTILE.to_owned(),
            }],
            rows: vec![
                row("time.wall", "", Unit::Ns, wall),
                row(HOSTILE, "", Unit::Count, f64::from(run % 5)),
            ],
            findings: if run % 3 == 0 {
                vec![finding]
            } else {
                Vec::new()
            },
            started_unix_ns: Some(1_772_323_200_000_000_000 + u64::from(run) * 6_000_000_000_000),
            ..RunDigest::default()
        };
        let labels = [
            ("host", format!("h{}{HOSTILE}", run % 7)),
            (HOSTILE, format!("x{}", run % 2)),
        ];
        let labels: BTreeMap<String, String> =
            labels.map(|(key, value)| (key.to_owned(), value)).into();
        builder.add(
            &format!("logs/{HOSTILE}/run-{run:03}.digest"),
            labels,
            digest,
        );
    }
    builder.finish()
}

fn with_page<T>(link: Option<&str>, use_page: impl FnOnce(&FleetPage<'_>) -> T) -> T {
    let fleet = fleet();
    let analysis = Analysis::of(&fleet);
    let link = link.map(|link| LinkPattern::parse(link).expect("a pattern"));
    let skipped = [SkippedFile {
        path: HOSTILE.to_owned(),
        why: HOSTILE.to_owned(),
    }];
    use_page(&FleetPage {
        fleet: &fleet,
        analysis: &analysis,
        title: None,
        link: link.as_ref(),
        skipped: &skipped,
        notes: &[HOSTILE.to_owned()],
    })
}

/// Returns the names of elements in order, without style and scripts. The rest must be well-formed XML.
fn elements(html: &str) -> Vec<String> {
    let mut rest = html.strip_prefix("<!DOCTYPE html>\n").expect("a document");
    let (mut open, mut all) = (Vec::new(), Vec::new());
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "a stray >: {text:.80}");
        let (tag, after) = after.split_once('>').expect("the end of a tag");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag:.120}");
        all.push(name.clone());
        if tag.ends_with('/') {
            continue;
        }
        if name == "style" || name == "script" {
            let (_, after) = rest.split_once(&format!("</{name}>")).expect("its end");
            rest = after;
            continue;
        }
        open.push(name);
    }
    assert_eq!(open, [""; 0]);
    all
}

#[test]
fn what_logs_choose_is_escaped() {
    for link in [None, Some("https://logs.example/{host}/{run}?{path}")] {
        let html = with_page(link, document);
        let elements = elements(&html);
        assert_eq!(
            elements.iter().filter(|name| *name == "script").count(),
            2,
            "data and script"
        );
        assert!(!elements.iter().any(|name| name == "img"));
        // In the data, the script itself replaces marks that change the direction of text.
        let text = html.split("<script").next().unwrap_or_default();
        assert!(!text.contains('\u{202e}') && !text.contains("onerror=\""));
        assert_eq!(
            html.contains("href=\"https://logs.example/h3%3C%2Fscript"),
            link.is_some()
        );
        // Event handlers and addresses of scripts come from nowhere.
        assert!(!html.contains("javascript:"));
    }
}

#[test]
fn claims_and_charts_are_there_without_scripts() {
    let html = with_page(None, document);
    let text = html
        .split("<script")
        .next()
        .expect("the text before the data");
    for part in [
        "From 2026-03-18 on",
        "unlike all others",
        "run-100",
        "class=\"outer\"",
        "class=\"outlier\"",
        "class=\"strip differs\"",
        "Elapsed time",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let summary = with_page(None, summary);
    assert!(
        summary.contains("Elapsed time: +50")
            || summary.contains("Elapsed time: +51")
            || summary.contains("Elapsed time: +49"),
        "{summary}"
    );
}

#[test]
fn the_policy_allows_this_script_alone() {
    let hash = format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(SCRIPT)));
    assert_eq!(
        SCRIPT_HASH, hash,
        "fleet-view.js has changed: write its hash into document.rs"
    );
    assert!(!SCRIPT.contains("</script"));
}

#[test]
fn the_data_has_all_numbers() {
    let html = with_page(None, document);
    let data = html
        .split("id=\"fleet-data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    let data: serde_json::Value = serde_json::from_str(data.expect("data")).expect("JSON");
    let fleet = fleet();
    assert_eq!(data["files"].as_array().map(Vec::len), Some(500));
    let values = BASE64_STANDARD
        .decode(data["numbers"][0]["values"].as_str().expect("a column"))
        .expect("base64");
    let values: Vec<f32> = values
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    assert!(
        values
            .iter()
            .zip(&fleet.numbers[0].values)
            .all(|(short, long)| *short == *long as f32)
    );
    assert_eq!(data["numbers"][0]["outliers"], serde_json::json!([100]));
    assert!(
        data["labels"]
            .as_array()
            .is_some_and(|labels| labels.iter().any(|label| label["key"] == HOSTILE))
    );
}

#[test]
fn a_single_run_is_a_page() {
    let mut builder = FleetBuilder::default();
    builder.add("a.digest", BTreeMap::new(), RunDigest::default());
    let fleet = builder.finish();
    let analysis = Analysis::of(&fleet);
    let page = FleetPage {
        fleet: &fleet,
        analysis: &analysis,
        title: Some(HOSTILE),
        link: None,
        skipped: &[],
        notes: &[],
    };
    elements(&document(&page));
    assert!(summary(&page).starts_with("1 run,"));
}
