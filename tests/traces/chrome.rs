//! Parser of Chrome's trace event format. Checks that lanes have names, overlapping slices of a lane are nested,
//! and arrows have two ends.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{FinishedSpans, Tally, add};

/// Returns a time or a duration in nanoseconds; the format has microseconds.
fn ns(value: &Value) -> u64 {
    let us = value.as_f64().expect("a number");
    assert!(us >= 0.0);
    (us * 1000.0).round() as u64
}

fn events(bytes: &[u8]) -> Vec<Value> {
    let trace: Value = serde_json::from_slice(bytes).expect("JSON");
    assert_eq!(trace["displayTimeUnit"], "ns");
    trace["traceEvents"].as_array().expect("a list").clone()
}

type LaneId = (u64, u64);

fn lane_id(event: &Value) -> LaneId {
    let number = |key: &str| event[key].as_u64().expect("a number");
    (number("pid"), number("tid"))
}

/// Counts the content of a trace.
pub(crate) fn read(bytes: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let mut lanes: BTreeMap<LaneId, String> = BTreeMap::new();
    let mut slices: BTreeMap<LaneId, Vec<(u64, u64)>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, u64> = BTreeMap::new();
    let mut ended = BTreeSet::new();
    for event in events(bytes) {
        let of = lane_id(&event);
        let name = event["name"].as_str().expect("a name").to_owned();
        let at = ns(&event["ts"]);
        let category = || event["cat"].as_str().expect("a category").to_owned();
        let lane = |lanes: &BTreeMap<LaneId, String>| lanes.get(&of).expect("a name").clone();
        match event["ph"].as_str().expect("a kind") {
            "M" if name == "thread_name" => {
                let name = event["args"]["name"].as_str().expect("a name");
                assert!(lanes.insert(of, name.to_owned()).is_none());
            }
            "M" => assert!(event["args"].is_object()),
            "X" => {
                let duration = ns(&event["dur"]);
                let key = (lane(&lanes), category());
                if key.1 == "wakeup" {
                    assert_eq!(duration, 0);
                    *tally.instants.entry(key).or_default() += 1;
                    continue;
                }
                if key.1 == "blocked" {
                    *tally.blocked.entry(name).or_default() += 1;
                }
                add(&mut tally.spans, key, duration);
                slices.entry(of).or_default().push((at, at + duration));
            }
            "i" => {
                assert_eq!(event["s"], "t");
                let key = (lane(&lanes), category());
                *tally.instants.entry(key).or_default() += 1;
            }
            "s" => {
                let id = event["id"].as_u64().expect("a number");
                assert!(arrows.insert(id, at).is_none());
            }
            "f" => {
                let id = event["id"].as_u64().expect("a number");
                assert!(arrows.get(&id).is_some_and(|from| *from <= at));
                assert_eq!(event["bp"], "e");
                assert!(ended.insert(id));
            }
            "C" => {
                let values = event["args"].as_object().expect("values");
                let value = values.values().next().and_then(Value::as_u64);
                let counter = tally.counters.entry(name).or_default();
                *counter = (counter.0 + 1, value.expect("a number"));
            }
            other => panic!("an event of the kind {other}"),
        }
    }
    assert_eq!(arrows.len(), ended.len());
    tally.arrows = ended.len() as u64;
    slices.into_values().for_each(assert_nested);
    tally
}

/// Asserts that overlapping slices of a lane are nested.
fn assert_nested(mut slices: Vec<(u64, u64)>) {
    slices.sort_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
    let mut around: Vec<u64> = Vec::new();
    for (start, end) in slices {
        while around.last().is_some_and(|&ends| ends <= start) {
            around.pop();
        }
        assert!(around.last().is_none_or(|&ends| end <= ends));
        around.push(end);
    }
}

/// Returns the finished spans of capabilities and threads.
pub(crate) fn finished_spans(bytes: &[u8]) -> FinishedSpans {
    let mut lives = FinishedSpans::default();
    for event in events(bytes) {
        let is_open = event["args"]["open"] == true;
        if event["ph"] != "X" || is_open {
            continue;
        }
        let (process, lane) = lane_id(&event);
        let duration = ns(&event["dur"]);
        let cap = (lane.saturating_sub(1) / 2) as u16;
        match (process, event["cat"].as_str().expect("a category")) {
            (1, "run") => add(&mut lives.runs_on, cap, duration),
            (1, "garbage collection") if event["name"] == "garbage collection" => {
                add(&mut lives.collections, cap, duration);
            }
            (2, "run") => add(&mut lives.running, lane as u32, duration),
            (2, "ready" | "blocked") => add(&mut lives.waiting, lane as u32, duration),
            _ => {}
        }
    }
    lives
}
