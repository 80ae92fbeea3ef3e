//! Parser of Firefox's processed profile format. Checks that the columns of a table have equal lengths, and that
//! all indexes are valid.

use serde_json::Value;

use super::{Tally, add};

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key]
        .as_array()
        .unwrap_or_else(|| panic!("no list {key}"))
}

/// Returns a list; empty if it is absent.
fn optional<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().map_or(&[], Vec::as_slice)
}

/// Returns a time in nanoseconds; the format has milliseconds.
fn ns(ms: &Value) -> u64 {
    let ms = ms.as_f64().expect("a number");
    assert!(ms >= 0.0);
    (ms * 1e6).round() as u64
}

fn index(value: &Value) -> usize {
    value.as_u64().expect("an index") as usize
}

/// Counts the content of a profile.
pub(crate) fn read(bytes: &[u8]) -> Tally {
    let profile: Value = serde_json::from_slice(bytes).expect("JSON");
    let meta = &profile["meta"];
    assert!(
        meta["preprocessedProfileVersion"]
            .as_u64()
            .is_some_and(|version| version >= 50)
    );
    assert!(meta["startTime"].is_number());
    let schemas = list(meta, "markerSchema");
    assert_eq!(schemas.len(), 1);
    let threads = list(&profile, "threads");
    for visible in optional(meta, "initialVisibleThreads") {
        assert!(index(visible) < threads.len());
    }
    let mut tally = Tally::default();
    for thread in threads {
        markers(&profile, thread, &mut tally);
    }
    for counter in optional(&profile, "counters") {
        samples(counter, &mut tally);
    }
    tally
}

fn markers(profile: &Value, thread: &Value, tally: &mut Tally) {
    let texts = match &profile["shared"]["stringArray"] {
        Value::Array(texts) => texts,
        _ => list(thread, "stringArray"),
    };
    let categories = list(&profile["meta"], "categories");
    let lane = thread["name"].as_str().expect("a name");
    let table = &thread["markers"];
    let columns = ["data", "name", "startTime", "endTime", "phase", "category"];
    let columns = columns.map(|column| list(table, column));
    let length = index(&table["length"]);
    assert!(columns.iter().all(|column| column.len() == length));
    let [data, names, starts, ends, phases, kinds] = columns;
    for place in 0..length {
        assert!(texts[index(&names[place])].is_string());
        assert_eq!(data[place]["type"], "Haskell");
        for field in ["what", "details"] {
            assert!(texts[index(&data[place][field])].is_string());
        }
        let category = categories[index(&kinds[place])]["name"].as_str();
        let key = (lane.to_owned(), category.expect("a name").to_owned());
        match phases[place].as_u64() {
            Some(0) => *tally.instants.entry(key).or_default() += 1,
            Some(1) => {
                if key.1 == "blocked" {
                    let name = texts[index(&data[place]["what"])].as_str();
                    *tally
                        .blocked
                        .entry(name.expect("a name").to_owned())
                        .or_default() += 1;
                }
                let (start, end) = (ns(&starts[place]), ns(&ends[place]));
                add(&mut tally.spans, key, end - start);
            }
            other => panic!("a marker in phase {other:?}"),
        }
    }
}

fn samples(counter: &Value, tally: &mut Tally) {
    let samples = &counter["samples"];
    let counts = list(samples, "count");
    assert_eq!(counts.len(), index(&samples["length"]));
    assert_eq!(
        counts[0].as_f64(),
        Some(0.0),
        "the first one is not looked at"
    );
    let sum: f64 = counts.iter().filter_map(Value::as_f64).sum();
    let name = counter["name"].as_str().expect("a name").to_owned();
    // Two samples for each value, after an initial one.
    let values = (counts.len() as u64 - 1) / 2;
    tally.counters.insert(name, (values, sum as u64));
}
