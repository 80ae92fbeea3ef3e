//! Heap profiles of real logs against the runtime's own text report (`.hp`) of the same run, and their formulas
//! against plain sums over the events.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use analysis::heap::{HeapProfile, Label};
use common::{Case, cases, eventscope, session_of, stdout};
use eventlog::names::Key;
use eventlog::source::read_log;
use eventlog::{Event, Record};
use serde_json::Value as Json;
use session::Session;

/// Bytes of each band, by label, in each census.
type Censuses = Vec<BTreeMap<String, u64>>;

/// Heap profile in text, parsed line by line: program arguments, and censuses with their times.
struct Report {
    job: String,
    times: Vec<f64>,
    censuses: Censuses,
}

impl Report {
    /// Reads the report next to a log, if there is one.
    fn of(case: &Case) -> Option<Self> {
        let text = fs::read(case.log.with_extension("hp")).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(&text)))
    }

    fn parse(text: &str) -> Self {
        let mut report = Self {
            job: String::new(),
            times: Vec::new(),
            censuses: Vec::new(),
        };
        for line in text.lines() {
            if let Some(job) = line.strip_prefix("JOB ") {
                report.job = job.trim_matches('"').to_owned();
            } else if let Some(time) = line.strip_prefix("BEGIN_SAMPLE ") {
                report.times.push(time.parse().expect("a time"));
                report.censuses.push(BTreeMap::new());
            } else if let Some((label, bytes)) = line.rsplit_once('\t') {
                let bytes: u64 = bytes.parse().expect("bytes");
                let census = report.censuses.last_mut().expect("a census");
                *census.entry(label.to_owned()).or_default() += bytes;
            }
        }
        report
    }

    /// Returns the length to which the runtime truncates stacks (`-L`, 25 by default).
    fn most_characters(&self) -> usize {
        let mut flags = self.job.split(' ').rev();
        let length = flags.find_map(|flag| flag.strip_prefix("-L"));
        length.map_or(25, |length| length.parse().expect("a number"))
    }

    fn is_by_stack(&self) -> bool {
        self.job.split(' ').any(|flag| flag == "-hc")
    }
}

/// Removes bands without bytes, and censuses without bands: the text report begins and ends with an empty one.
fn with_bytes(censuses: &Censuses) -> Censuses {
    let held = censuses.iter().map(|census| {
        let held = census.iter().filter(|(_, bytes)| **bytes > 0);
        held.map(|(label, bytes)| (label.clone(), *bytes)).collect()
    });
    held.filter(|census: &BTreeMap<_, _>| !census.is_empty())
        .collect()
}

/// Returns the only heap profile of a log.
fn profile(session: &Session) -> &HeapProfile {
    let mut all = session.recording().heap().iter();
    let profile = all.next().expect("a heap profile");
    assert!(all.next().is_none(), "there is one profile");
    profile
}

/// Returns all censuses of a profile, with bands named by `label`.
fn censuses(profile: &HeapProfile, label: impl Fn(&Label<'_>) -> String) -> Censuses {
    let count = profile.censuses.len() as u32;
    let bands = profile.bands().map(|band| {
        let name = label(&profile.label(band).expect("a label"));
        (name, profile.censuses.series(band, 0..count))
    });
    let mut censuses = vec![BTreeMap::new(); count as usize];
    for (name, series) in bands {
        for (census, &bytes) in censuses
            .iter_mut()
            .zip(&series)
            .filter(|(_, bytes)| **bytes > 0)
        {
            let before = census.insert(name.clone(), bytes);
            assert_eq!(before, None, "{name} is one band");
        }
    }
    censuses
}

fn text(label: &Label<'_>) -> String {
    match label {
        Label::Text(text) => text.to_string(),
        other => panic!("{other:?} is no text"),
    }
}

/// Prints a stack as the runtime does, without its number (`fprint_ccs` in `rts/ProfHeap.c`): labels without
/// modules, truncated with three dots.
fn printed(stack: &[(String, String)], most: usize) -> String {
    let mut out = String::new();
    for (place, (module, label)) in stack.iter().enumerate() {
        if label == "CAF" {
            out += &format!("{module}.CAF");
        } else {
            out += label;
            out += if place + 1 < stack.len() { "/" } else { "" };
        }
        if out.len() > most {
            out.truncate(most - 4);
            return out + "...";
        }
    }
    out
}

/// Returns the bytes of each band in all nonempty censuses, sorted by the name that the runtime prints. The
/// runtime's number of a stack is left out, as logs lack it.
fn series(censuses: &Censuses, name: impl Fn(&str) -> String) -> Vec<(String, Vec<u64>)> {
    let censuses = with_bytes(censuses);
    let labels: BTreeSet<&String> = censuses.iter().flat_map(BTreeMap::keys).collect();
    let bytes = |label: &String| {
        let bytes = censuses.iter().map(|census| census.get(label).copied());
        bytes.map(Option::unwrap_or_default).collect()
    };
    let mut series: Vec<_> = labels
        .into_iter()
        .map(|label| (name(label), bytes(label)))
        .collect();
    series.sort();
    series
}

/// Removes the number of a stack: `(12)f/main` → `f/main`.
fn unnumbered(label: &str) -> String {
    match label
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
    {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => rest.to_owned(),
        _ => label.to_owned(),
    }
}

/// Returns the censuses by stack, and the module and label of each cost centre of the stacks.
fn stacks(
    case: &Case,
    profile: &HeapProfile,
) -> (Censuses, BTreeMap<String, Vec<(String, String)>>) {
    let mut centres = BTreeMap::new();
    read_log(&mut case.bytes().as_slice(), &mut |record: &Record<'_>| {
        if let Event::HeapProfCostCentre {
            id, label, module, ..
        } = record.event()
        {
            let texts = [module.0, label.0].map(|text| text.to_str().into_owned());
            centres.insert(id, texts);
        }
    })
    .expect("a log");
    let mut known = BTreeMap::new();
    for band in profile.bands() {
        let label = profile.label(band).expect("a label");
        let Label::Stack(stack) = &label else {
            panic!("{label:?} is no stack");
        };
        let stack = stack.iter().map(|id| {
            let [module, label] = centres.get(id).expect("it is declared").clone();
            (module, label)
        });
        known.insert(format!("{label:?}"), stack.collect());
    }
    (censuses(profile, |label| format!("{label:?}")), known)
}

/// Joins the names of a stack that was split on reading a text report.
fn joined(session: &Session, label: &Label<'_>) -> String {
    let Label::Stack(stack) = label else {
        panic!("{label:?} is no stack");
    };
    let name = |id| {
        session
            .recording()
            .names
            .get(Key::CostCentre(id))
            .expect("a name")
    };
    let names: Vec<&str> = stack.iter().map(|&id| name(id)).collect();
    if names.is_empty() {
        "MAIN".to_owned()
    } else {
        names.join("/")
    }
}

#[test]
fn every_census_is_that_of_the_report() {
    let (mut compared, mut by_stack) = (0, 0);
    for case in cases() {
        let Some(report) = Report::of(&case) else {
            continue;
        };
        let session = case.session();
        let found = profile(&session);
        let expected = with_bytes(&report.censuses);
        if report.is_by_stack() {
            let (censuses, known) = stacks(&case, found);
            let most = report.most_characters();
            let name = |stack: &str| match &known[stack][..] {
                [] => "MAIN".to_owned(),
                stack => printed(stack, most),
            };
            let of_log = series(&censuses, name);
            assert_eq!(
                of_log,
                series(&report.censuses, unnumbered),
                "{}",
                case.name
            );
            by_stack += 1;
        } else {
            let of_log = with_bytes(&censuses(found, text));
            assert_eq!(of_log, expected, "{}", case.name);
        }
        let totals = expected.iter().map(|census| census.values().sum::<u64>());
        let of_log = found
            .censuses
            .totals()
            .iter()
            .copied()
            .filter(|&total| total > 0);
        assert!(of_log.eq(totals), "{}", case.name);
        compared += 1;
    }
    println!("{compared} logs, {by_stack} of them by cost-centre stack");
    assert!(compared >= 6 && by_stack >= 1, "{compared}, {by_stack}");
}

/// A heap profile in text yields the censuses that it contains.
#[test]
fn the_report_opened_by_itself_has_the_same_censuses() {
    for case in cases() {
        let Some(report) = Report::of(&case) else {
            continue;
        };
        let bytes = fs::read(case.log.with_extension("hp")).expect("it is there");
        let session = session_of(&bytes).expect("it can be read");
        assert_eq!(session.reader().damage().count(), 0, "{}", case.name);
        let (found, of_log) = (profile(&session), case.session());
        assert_eq!(
            found.kind.breakdown,
            profile(&of_log).kind.breakdown,
            "{}",
            case.name
        );
        assert!(found.is_timed());
        let middle = 1..report.times.len() - 1;
        let times = report.times[middle.clone()]
            .iter()
            .map(|time| (time * 1e9).round() as u64);
        let read = found.censuses.times().iter().map(|time| time.0);
        assert!(read.eq(times), "{}", case.name);
        let expected = report.censuses[middle].to_vec();
        if report.is_by_stack() {
            // Labels are compared as separate bands, though some have the same names.
            let of_text = series(&expected, unnumbered);
            let numbers: BTreeMap<_, _> = found
                .bands()
                .map(|band| {
                    let label = found.label(band).expect("a label");
                    (format!("{label:?}"), joined(&session, &label))
                })
                .collect();
            let opened = censuses(found, |label| format!("{label:?}"));
            let opened = series(&opened, |label| numbers[label].clone());
            assert_eq!(opened, of_text, "{}", case.name);
        } else {
            assert_eq!(
                with_bytes(&censuses(found, text)),
                with_bytes(&expected),
                "{}",
                case.name
            );
            let log = with_bytes(&censuses(profile(&of_log), text));
            assert_eq!(log, with_bytes(&expected), "{}", case.name);
        }
    }
}

/// Censuses computed directly from the events of a log.
#[derive(Default)]
struct Plain {
    /// Time (ns) and bands of each census.
    censuses: Vec<(u64, BTreeMap<String, u64>)>,
    names: BTreeMap<u32, String>,
    untimed: bool,
}

impl Plain {
    /// Reads a log; empty if it has no valid header.
    fn of(mut log: &[u8]) -> Self {
        let mut plain = Self::default();
        let mut filtered = false;
        let read = read_log(&mut log, &mut |record: &Record<'_>| match record.event() {
            Event::HeapProfBegin {
                biography_filter, ..
            } => {
                filtered = biography_filter.is_some_and(|filter| !filter.0.0.is_empty());
            }
            Event::HeapProfCostCentre {
                id, label, module, ..
            } => {
                let (module, label) = (module.0.to_str(), label.0.to_str());
                let bare = module.is_empty() || module == label;
                let name = if bare {
                    label.into_owned()
                } else {
                    format!("{module}.{label}")
                };
                plain.names.insert(id.0, name);
            }
            Event::HeapProfSampleBegin { .. } => {
                plain.untimed |= filtered;
                plain.censuses.push((record.time.0, BTreeMap::new()));
            }
            Event::HeapBioProfSampleBegin { time, .. } => {
                plain.censuses.push((time, BTreeMap::new()));
            }
            Event::HeapProfSampleString {
                residency, label, ..
            } => {
                plain.add(label.0.to_str().into_owned(), residency);
            }
            Event::HeapProfSampleCostCentre {
                residency, stack, ..
            } => {
                let names: Vec<&str> = stack.iter().map(|id| plain.names[&id.0].as_str()).collect();
                let label = if names.is_empty() {
                    "MAIN".to_owned()
                } else {
                    names.join(";")
                };
                plain.add(label, residency);
            }
            _ => {}
        });
        read.map_or_else(|_| Self::default(), |_| plain)
    }

    fn add(&mut self, label: String, bytes: u64) {
        let (_, census) = self.censuses.last_mut().expect("a census");
        *census.entry(label).or_default() += bytes;
    }

    /// Returns the censuses of a range. The end is exclusive.
    fn part(&self, from: u64, to: u64) -> &[(u64, BTreeMap<String, u64>)] {
        let is_in = |time: u64| self.untimed || (from <= time && time < to);
        let first = self
            .censuses
            .iter()
            .position(|(time, _)| is_in(*time))
            .unwrap_or(0);
        let count = self
            .censuses
            .iter()
            .filter(|(time, _)| is_in(*time))
            .count();
        &self.censuses[first..first + count]
    }
}

/// Compares two floats to nine digits.
fn close(found: &Json, expected: f64, scale: f64) -> bool {
    let Some(found) = found.as_f64() else {
        return false;
    };
    (found - expected).abs() <= 1e-9 * expected.abs().max(scale)
}

/// Compares the statistics of a band with two-pass sums over its bytes.
fn check(band: &Json, times: &[u64], values: &[u64], untimed: bool) {
    let n = values.len() as f64;
    assert_eq!(band["n"], values.len(), "{band}");
    assert_eq!(band["first"], values[0], "{band}");
    assert_eq!(band["last"], values[values.len() - 1], "{band}");
    let max = *values.iter().max().expect("a census");
    assert_eq!(band["max"], max, "{band}");
    let mean = values.iter().map(|&value| value as f64).sum::<f64>() / n;
    assert!(close(&band["mean"], mean, 0.0), "{band}: {mean}");
    let variance = values
        .iter()
        .map(|&value| (value as f64 - mean).powi(2))
        .sum::<f64>()
        / n;
    assert!(
        close(&band["stddev"], variance.sqrt(), 1e-3),
        "{band}: {}",
        variance.sqrt()
    );
    let pairs = times.windows(2).zip(values.windows(2));
    let integral = pairs.map(|(time, value)| {
        (time[1] - time[0]) as f64 / 1e9 * (value[0] as f64 + value[1] as f64) / 2.0
    });
    let integral = integral.sum::<f64>();
    if untimed {
        assert!(band["integral_byte_seconds"].is_null(), "{band}");
    } else {
        assert!(
            close(&band["integral_byte_seconds"], integral, 1e-9),
            "{band}: {integral}"
        );
    }
    let points: Vec<(f64, f64)> = times
        .iter()
        .zip(values)
        .filter(|(_, value)| **value > 0)
        .map(|(&time, &value)| (time as f64, value as f64))
        .collect();
    let line = line(&points).filter(|_| !untimed);
    let Some((slope, intercept, r2)) = line else {
        for what in ["slope", "intercept", "r2"] {
            assert!(band[what].is_null(), "{what} of {band}");
        }
        return;
    };
    for (what, expected) in [("slope", slope), ("intercept", intercept), ("r2", r2)] {
        assert!(
            close(&band[what], expected, 1.0),
            "{what} of {band}: {expected}"
        );
    }
}

/// Returns slope, intercept and R² of the regression line, with both axes scaled to a maximum of 1.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let (last, max) = points.iter().fold((0.0_f64, 0.0_f64), |(t, v), point| {
        (t.max(point.0), v.max(point.1))
    });
    let n = points.len() as f64;
    let scaled = points.iter().map(|(t, v)| (t / last, v / max));
    let (x, y) = scaled
        .clone()
        .fold((0.0, 0.0), |sum, (t, v)| (sum.0 + t / n, sum.1 + v / n));
    let sum = |of: fn(f64, f64) -> f64| scaled.clone().map(|(t, v)| of(t - x, v - y)).sum::<f64>();
    let varies =
        |of: fn(&(f64, f64)) -> f64| points.iter().any(|point| of(point) != of(&points[0]));
    if points.len() < 2 || !varies(|point| point.0) || !varies(|point| point.1) {
        return None;
    }
    let (tt, tv, vv) = (sum(|t, _| t * t), sum(|t, v| t * v), sum(|_, v| v * v));
    let slope = tv / tt;
    Some((slope, y - slope * x, tv / tt * tv / vv))
}

#[test]
fn formulas_are_those_of_plain_sums() {
    let mut checked = 0;
    for case in cases() {
        let plain = Plain::of(&case.bytes());
        let [Some(first), Some(last)] = [plain.censuses.first(), plain.censuses.last()] else {
            continue;
        };
        let (first, last) = (first.0, last.0);
        let part = |share: u64| first + (last - first) * share / 10;
        for range in [
            None,
            Some((part(2), part(7))),
            Some((part(9), part(9) + 1)),
            Some((part(5), u64::MAX)),
        ] {
            let ends = range.map(|(from, to)| [from, to].map(|end| end.to_string()));
            let mut arguments = vec!["heap", case.path(), "--json"];
            if let Some([from, to]) = &ends {
                arguments.extend(["--from", from, "--to", to]);
            }
            let document: Json = serde_json::from_str(&stdout(&arguments)).expect("JSON");
            let profiles = document["profiles"].as_array().expect("a list");
            assert_eq!(profiles.len(), 1, "{}", case.name);
            let (from, to) = range.unwrap_or((0, u64::MAX));
            let censuses = plain.part(from, to);
            assert_eq!(
                profiles[0]["censuses"],
                censuses.len(),
                "{} {range:?}",
                case.name
            );
            let times: Vec<u64> = censuses.iter().map(|(time, _)| *time).collect();
            let held = censuses.iter().flat_map(|(_, bands)| bands);
            let labels: BTreeSet<&String> = held
                .filter(|(_, bytes)| **bytes > 0)
                .map(|(label, _)| label)
                .collect();
            let bands = profiles[0]["bands"].as_array().expect("a list");
            assert_eq!(bands.len(), labels.len(), "{} {range:?}", case.name);
            for band in bands {
                let label = band["label"].as_str().expect("a label");
                assert!(labels.contains(&label.to_owned()), "{}: {label}", case.name);
                let values = censuses.iter().map(|(_, bands)| bands.get(label).copied());
                let values: Vec<u64> = values.map(Option::unwrap_or_default).collect();
                check(band, &times, &values, plain.untimed);
                checked += 1;
            }
        }
    }
    println!("{checked} bands of ranges");
    assert!(checked > 500, "{checked}");
}

#[test]
fn each_census_is_a_line() {
    for case in cases() {
        let plain = Plain::of(&case.bytes());
        if plain.censuses.is_empty() {
            continue;
        }
        let lines = stdout(&["heap", case.path(), "--censuses", "--json"]);
        let lines: Vec<Json> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(lines.len(), plain.censuses.len(), "{}", case.name);
        for ((number, line), (time, expected)) in lines.iter().enumerate().zip(&plain.censuses) {
            assert_eq!(line["profile"], 0);
            assert_eq!(line["census"], number);
            if plain.untimed {
                assert!(line["time_ns"].is_null(), "{}", case.name);
            } else {
                assert_eq!(line["time_ns"], *time, "{}", case.name);
            }
            let bands = line["bands"].as_array().expect("a list").iter();
            let bands: BTreeMap<String, u64> = bands
                .map(|band| {
                    let label = band[0].as_str().expect("a label").to_owned();
                    (label, band[1].as_u64().expect("bytes"))
                })
                .collect();
            let held = expected.iter().filter(|(_, bytes)| **bytes > 0);
            assert!(bands.iter().eq(held), "{} {number}", case.name);
        }
    }
}

/// JSON in the format of eventlog2html, recomputed according to its source.
#[test]
fn what_scripts_for_eventlog2html_read() {
    const BANDS: usize = 4;
    let case = common::fixture("ghc-9.6.6/heap-N2-hT-l-au");
    let (mut markers, mut sizes, mut last) = (0, 0, (0, 0));
    let bytes = case.bytes();
    read_log(&mut bytes.as_slice(), &mut |record: &Record<'_>| {
        markers += u64::from(record.event().name() == "UserMarker");
        sizes += u64::from(matches!(
            record.event().name(),
            "HeapSize" | "HeapLive" | "BlocksSize"
        ));
        last = last.max((record.offset.0, record.time.0));
    })
    .expect("a log");
    let plain = Plain::of(&bytes);
    let arguments = ["heap", case.path(), "--eventlog2html", "--bands", "4"];
    let document: Json = serde_json::from_str(&stdout(&arguments)).expect("JSON");
    let list = |what: &str| document[what].as_array().expect("a list").clone();
    assert_eq!(list("traces").len() as u64, markers);
    assert_eq!(list("heap").len() as u64, sizes);
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (label, bytes) in plain.censuses.iter().flat_map(|(_, bands)| bands) {
        *sums.entry(label).or_default() += bytes;
    }
    let mut largest: Vec<(&str, u64)> = sums.into_iter().collect();
    largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    largest.truncate(BANDS);
    let mut expected = Vec::new();
    let mut frames = vec![(0, BTreeMap::new())];
    frames.extend(plain.censuses.clone());
    frames.push((last.1, BTreeMap::new()));
    let mut by_name: Vec<(usize, &str)> = largest
        .iter()
        .enumerate()
        .map(|(place, (label, _))| (BANDS - place, *label))
        .collect();
    by_name.sort_by_key(|(_, label)| *label);
    for (k, label) in by_name {
        for (time, bands) in &frames {
            expected.push((*time, bands.get(label).copied().unwrap_or(0), k, label));
        }
    }
    for (time, bands) in &frames {
        let is_other = |label: &str| largest.iter().all(|(known, _)| *known != label);
        let others = bands.iter().filter(|(label, _)| is_other(label));
        expected.push((*time, others.map(|(_, bytes)| bytes).sum(), 0, "OTHER"));
    }
    let samples = list("samples");
    assert_eq!(samples.len(), expected.len());
    for (sample, (time, y, k, c)) in samples.iter().zip(expected) {
        assert!(close(&sample["x"], time as f64 / 1e9, 1e-9), "{sample}");
        assert_eq!(
            (&sample["y"], &sample["k"], &sample["c"]),
            (&y.into(), &k.into(), &c.into())
        );
    }
}

#[test]
fn tables_for_people_and_for_programs_agree() {
    let case = common::fixture("ghc-9.10.3/prof-heap-N1-hc-l-au");
    let all = stdout(&["heap", case.path(), "--tsv", "--header"]);
    let rows: Vec<Vec<&str>> = all.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let csv = stdout(&["heap", case.path(), "--csv"]);
    assert_eq!(csv.lines().count(), rows.len() - 1);
    let document: Json =
        serde_json::from_str(&stdout(&["heap", case.path(), "--json"])).expect("JSON");
    let bands = document["profiles"][0]["bands"].as_array();
    let bands = bands.expect("a list");
    assert_eq!(bands.len(), rows.len() - 1);
    for (band, row) in bands.iter().zip(&rows[1..]) {
        let named = rows[0]
            .iter()
            .zip(row)
            .map(|(name, cell)| (band.get(*name), *cell));
        let mut equal = 0;
        for (value, cell) in named {
            match value {
                None => continue,
                Some(Json::Null) => assert_eq!(cell, ""),
                Some(Json::String(text)) => assert_eq!(cell, text.replace('\\', r"\\")),
                Some(number) => {
                    let cell: f64 = cell.parse().expect("a number");
                    let number = number.as_f64().expect("a number");
                    // JSON is read with an error of its last digit.
                    assert!((cell - number).abs() <= 1e-12 * number.abs(), "{band}");
                }
            }
            equal += 1;
        }
        assert_eq!(equal, 11, "{band}");
    }
    let few = stdout(&["heap", case.path(), "--bands", "3"]);
    let lines: Vec<&str> = few.lines().collect();
    // Lines: title, column heads, three bands, others, total.
    assert_eq!(lines.len(), 7, "{few}");
    assert!(lines[2].ends_with(rows[1][1]), "{few}");
    assert!(
        lines[5].ends_with(&format!("{} others", rows.len() - 1 - 3)),
        "{few}"
    );
    let turned = stdout(&["heap", case.path(), "--bands", "3", "--reverse"]);
    let turned: Vec<&str> = turned.lines().collect();
    assert_eq!(
        [lines[2], lines[3], lines[4]],
        [turned[4], turned[3], turned[2]]
    );
    let filtered = stdout(&["heap", case.path(), "--filter", "MKSHAPE", "--tsv"]);
    assert_eq!(filtered.lines().count(), 1, "{filtered}");
}

#[test]
fn options_of_censuses_without_effect_are_refused() {
    let case = common::fixture("ghc-9.10.3/prof-heap-N1-hc-l-au");
    let status = |words: &[&str]| {
        let output = eventscope(&[&["heap", case.path()], words].concat());
        output.status.code()
    };
    let (one, two) = (["--census", "3"], ["--between", "3", "30"]);
    let range = [["--from", "1ms"], ["--to", "1s"]];
    for option in range {
        assert_eq!(status(&[&one[..], &option].concat()), Some(2), "{option:?}");
        assert_eq!(status(&[&two[..], &option].concat()), Some(2), "{option:?}");
    }
    for option in [
        &["--bands", "3"][..],
        &["--sort", "name"],
        &["--reverse"],
        &["--filter", "MAIN"],
        &["--group", "module"],
    ] {
        let all = [&["--censuses"], option].concat();
        assert_eq!(status(&all), Some(2), "{option:?}");
        let json = [&all[..], &["--json"]].concat();
        assert_eq!(status(&json), Some(0), "{option:?}");
        assert_eq!(status(&[&one[..], option].concat()), Some(0), "{option:?}");
    }
    for order in ["stddev", "growth"] {
        assert_eq!(status(&[&one[..], &["--sort", order]].concat()), Some(2));
    }
    assert_eq!(status(&[&two[..], &["--sort", "stddev"]].concat()), Some(2));
    assert_eq!(status(&[&two[..], &["--sort", "growth"]].concat()), Some(0));
}

#[test]
fn two_censuses_are_told_apart() {
    let case = common::fixture("ghc-9.10.3/prof-heap-N1-hc-l-au");
    let json = |arguments: &[&str]| -> Json {
        let all = [&["heap", case.path(), "--json"], arguments].concat();
        serde_json::from_str(&stdout(&all)).expect("JSON")
    };
    let bytes = |census: &str| -> BTreeMap<String, i64> {
        let census = json(&["--census", census]);
        let bands = census["bands"].as_array().expect("a list").iter();
        bands
            .map(|band| {
                (
                    band[0].as_str().expect("a label").to_owned(),
                    band[1].as_i64().expect("bytes"),
                )
            })
            .collect()
    };
    let (before, after) = (bytes("3"), bytes("30"));
    let difference = json(&["--between", "3", "30"]);
    assert_eq!(difference["before"]["census"], 3);
    let mut last = i64::MAX;
    for band in difference["bands"].as_array().expect("a list") {
        let label = band["label"].as_str().expect("a label");
        let [was, is] = [&before, &after].map(|census| census.get(label).copied().unwrap_or(0));
        assert_eq!((&band["before"], &band["after"]), (&was.into(), &is.into()));
        assert_eq!(band["change"], is - was);
        assert!((is - was).abs() <= last, "the most changed first");
        last = (is - was).abs();
    }
    let gone = eventscope(&["heap", case.path(), "--census", "9999"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("no census 9999"));
    let none = common::fixture("ghc-9.6.6/fib-forkio-N2-l");
    let none = eventscope(&["heap", none.path()]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("+RTS -hT -l"));
}
