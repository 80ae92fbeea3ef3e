//! Parser of the OpenMetrics text format for counters and gauges. Checks that families are contiguous, with type,
//! unit and help before their values; that the times of a series increase; and that `# EOF` ends the text.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the last value of each series.
pub(crate) fn read(bytes: &[u8]) -> BTreeMap<String, u64> {
    let text = str::from_utf8(bytes).expect("UTF-8");
    let text = text.strip_suffix("# EOF\n").expect("an end");
    let (mut families, mut series) = (BTreeSet::new(), BTreeMap::new());
    let mut times: BTreeMap<String, f64> = BTreeMap::new();
    let (mut family, mut kind) = (String::new(), String::new());
    for line in text.lines() {
        if let Some(about) = line.strip_prefix("# ") {
            let (what, about) = about.split_once(' ').expect("what it is");
            let (name, is) = about.split_once(' ').expect("a name");
            match what {
                "TYPE" => {
                    assert!(["gauge", "counter"].contains(&is), "{is}");
                    assert!(
                        families.insert(name.to_owned()),
                        "a family stands in one place"
                    );
                    (family, kind) = (name.to_owned(), is.to_owned());
                }
                "UNIT" => assert!(name == family && name.ends_with(&format!("_{is}"))),
                "HELP" => assert!(name == family && !is.is_empty()),
                other => panic!("a line of {other}"),
            }
            continue;
        }
        let (name, rest) = line.split_once('{').expect("labels");
        let total = if kind == "counter" { "_total" } else { "" };
        assert_eq!(name, format!("{family}{total}"));
        let (labels, values) = rest.rsplit_once("} ").expect("the end of labels");
        assert!(labels.starts_with("program=\"") && labels.ends_with('"'));
        let (value, time) = values.split_once(' ').expect("a time");
        let (time, value): (f64, u64) = (
            time.parse().expect("a time"),
            value.parse().expect("a value"),
        );
        let of = format!("{name}{{{labels}}}");
        let before = times.insert(of.clone(), time);
        assert!(before.is_none_or(|before| before < time), "{line}");
        series.insert(of, value);
    }
    series
}
