//! Report of a log: its numbers equal those of the other commands, it is well formed for any log, explains empty
//! sections, and escapes all texts of the log.

use crate::common;

use std::collections::BTreeSet;
use std::rc::Rc;

use analysis::yielder::block_on;
use common::build::{LogBuilder, TYPES};
use common::{fixture, fixture_cases, session_of, stdout};
use eventlog::ids::{Duration, Nanos};
use model::format;
use model::time::Interval;
use serde_json::Value as Json;
use session::Session;
use views::report::{ReportSubject, report};

const SECTIONS: [&str; 6] = [
    "Summary",
    "Findings",
    "Timeline",
    "Collections",
    "Heap",
    "Threads",
];

fn report_of(session: &Session, name: &str, range: Option<Interval>) -> String {
    let wanted = ReportSubject {
        name: name.to_owned(),
        range,
    };
    block_on(report(session, Rc::new(session.overview()), &wanted)).expect("a session answers")
}

/// Element of a document.
struct Element {
    name: String,
    attributes: String,
    text: String,
}

/// Returns the elements of a document in order. It must be well-formed XML, so that every HTML parser reads the
/// same.
fn elements(html: &str) -> Result<Vec<Element>, String> {
    let html = html.strip_prefix("<!DOCTYPE html>\n").unwrap_or(html);
    let (mut open, mut found) = (Vec::<usize>::new(), Vec::<Element>::new());
    for piece in html.split('<').skip(1) {
        let no_end = || format!("no end: {piece:.80}");
        let (tag, text) = piece.split_once('>').ok_or_else(no_end)?;
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop().ok_or_else(|| format!("{name} was not open"))?;
            if found[last].name != name {
                return Err(format!("{name} ends {}", found[last].name));
            }
        } else {
            let head = tag.strip_suffix('/');
            let is_single = head.is_some();
            let head = head.unwrap_or(tag);
            let (name, attributes) = head.split_once(' ').unwrap_or((head, ""));
            if name.is_empty() || attributes.matches('"').count() % 2 != 0 {
                return Err(format!("no tag: {tag:.80}"));
            }
            found.push(Element {
                name: name.to_owned(),
                attributes: attributes.to_owned(),
                text: String::new(),
            });
            if !is_single {
                open.push(found.len() - 1);
            }
        }
        if text.contains('>') {
            return Err(format!("a stray >: {text:.80}"));
        }
        for entity in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
            if !known.iter().any(|name| entity.starts_with(name)) {
                return Err(format!("no entity: &{entity:.20}"));
            }
        }
        if let Some(&last) = open.last() {
            found[last].text.push_str(text);
        }
    }
    match open.last() {
        Some(&last) => Err(format!("{} does not end", found[last].name)),
        None => Ok(found),
    }
}

/// Checks the invariants of any report.
fn check(html: &str) -> Result<(), String> {
    let elements = elements(html)?;
    let of = |name: &str| -> Vec<&Element> {
        let of = elements.iter().filter(|element| element.name == name);
        of.collect()
    };
    let titles: Vec<&str> = of("h2").iter().map(|title| title.text.as_str()).collect();
    if titles != SECTIONS {
        return Err(format!("the sections are {titles:?}"));
    }
    for element in &elements {
        let needless = ["script", "link", "img", "iframe", "object"];
        let attributes = element
            .attributes
            .split("\" ")
            .filter_map(|one| one.split_once("=\""));
        let mut leads = attributes.map(|(name, value)| match name {
            "href" => !value.starts_with('#'),
            name => name == "src" || name.starts_with("on") || value.starts_with("url(h"),
        });
        if needless.contains(&element.name.as_str()) || leads.any(|leads| leads) {
            return Err(format!("{} {}", element.name, element.attributes));
        }
    }
    for style in of("style") {
        if ["url(", "@import"]
            .iter()
            .any(|sign| style.text.contains(sign))
        {
            return Err("a style loads something".to_owned());
        }
    }
    for section in html.split("<section ").skip(1) {
        let says = ["<p", "<table", "<figure"];
        if !says.iter().any(|element| section.contains(element)) {
            return Err(format!("an empty section: {section:.120}"));
        }
    }
    let [tables, captions, heads] = ["table", "caption", "thead"].map(|name| of(name).len());
    if (captions, heads) != (tables, tables) {
        return Err("a table has no caption or no head".to_owned());
    }
    let attributes = elements
        .iter()
        .map(|element| format!(" {}", element.attributes));
    let ids: Vec<String> = attributes
        .filter_map(|all| Some(all.split(" id=\"").nth(1)?.split('"').next()?.to_owned()))
        .collect();
    let once: BTreeSet<&String> = ids.iter().collect();
    if once.len() != ids.len() {
        return Err("an id is there twice".to_owned());
    }
    Ok(())
}

/// Returns the whole log and its second quarter.
fn ranges(session: &Session) -> [Option<Interval>; 2] {
    let quarter = session.overview().span.map(|log| {
        let quarter = log.duration().0 / 4;
        let from = log.start().0 + quarter;
        Interval::new(Nanos(from), Nanos(from + quarter))
    });
    [None, quarter]
}

#[test]
fn every_log_has_a_report() {
    let (mut written, mut failures) = (0, Vec::new());
    for case in fixture_cases() {
        let Ok(session) = session_of(&case.bytes()) else {
            continue;
        };
        for range in ranges(&session) {
            let html = report_of(&session, &case.name, range);
            if let Err(why) = check(&html) {
                failures.push(format!("{}: {why}", case.name));
            }
            assert!(
                html.len() < 6_000_000,
                "{}: {} bytes",
                case.name,
                html.len()
            );
            written += 1;
        }
    }
    assert_eq!(failures, Vec::<String>::new());
    assert!(written > 30, "only {written} reports");
}

fn json(arguments: &[&str]) -> Json {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

/// Returns a fact of the report by its name.
fn fact<'a>(html: &'a str, name: &str) -> &'a str {
    let name = format!("<dt>{name}</dt><dd>");
    let at = html.find(&name).unwrap_or_else(|| panic!("no {name}"));
    html[at + name.len()..]
        .split('<')
        .next()
        .unwrap_or_default()
}

#[test]
fn its_numbers_are_those_of_the_other_commands() {
    for name in ["ghc-9.6.6/fib-forkio-N2-l", "ghc-9.10.3/fib-forkio-N2-l"] {
        let Some(case) = fixture_cases().into_iter().find(|case| case.name == name) else {
            continue;
        };
        let html = stdout(&["report", case.path()]);
        check(&html).expect("a report");
        let summary = json(&["summary", "--json", case.path()]);
        let time = |key: &str| format::duration(Duration(summary[key].as_u64().expect(key)));
        assert_eq!(
            fact(&html, "Total, from the start of the clock"),
            time("total_ns")
        );
        let gc = fact(&html, "GC: in collections");
        assert!(gc.starts_with(&time("gc_ns")), "{gc}");
        let allocated = format::count(summary["bytes_allocated"].as_u64().expect("bytes"));
        assert!(fact(&html, "Allocated").contains(&allocated), "{allocated}");
        let collections = format::count(summary["collections"].as_u64().expect("a number"));
        assert_eq!(fact(&html, "Collections"), collections);

        let found = json(&["findings", "--json", case.path()]);
        let found = found["findings"].as_array().expect("a list");
        for finding in found {
            let title = finding["title"].as_str().expect("a title");
            let title = title.replace('&', "&amp;").replace('\'', "&#39;");
            assert!(html.contains(&title), "{title}");
        }
        let threads = json(&["threads", "--json", case.path()]);
        let count = threads.as_array().expect("a list").len() as u64;
        assert!(html.contains(&format!(
            "{}, longest running time first",
            format::pluralize(count, "thread")
        )));
    }
}

#[test]
fn findings_say_what_they_do_not_explain_and_how_to_measure_their_advice() {
    let html = stdout(&["report", fixture("ghc-9.6.6/fib-forkio-N2-l").path()]);
    assert!(html.contains("Largest cause: All idle, until a timer."));
    let log = "tests/fixtures/findings/nursery-too-small-found.eventlog.gz";
    let html = stdout(&["report", log]);
    let command = "eventscope try -- ./KeepTable 20000 500000 +RTS -A256k";
    assert!(html.contains(&format!("To measure the proposed flags: {command}")));
    assert!(!html.contains("Largest cause"));
}

#[test]
fn a_range_is_that_of_the_other_commands() {
    let case = fixture("ghc-9.6.6/fib-forkio-N2-l");
    let [_, Some(range)] = ranges(&case.session()) else {
        panic!("the log has events");
    };
    let (from, to) = (range.start().0.to_string(), range.end().0.to_string());
    let part = ["--from", &from, "--to", &to];
    let html = stdout(&[&["report", case.path()][..], &part].concat());
    let summary = json(&[&["summary", "--json", case.path()][..], &part].concat());
    let mutator = format::duration(Duration(summary["mutator_ns"].as_u64().expect("a time")));
    assert!(fact(&html, "MUT: the program outside of collections").starts_with(&mutator));
    assert!(
        fact(&html, "Time").starts_with("only "),
        "{}",
        fact(&html, "Time")
    );
    // The library renders the same text as the command line.
    let session = case.session();
    let name = case.path().rsplit('/').next().expect("a name");
    let own = report_of(&session, name, Some(range));
    assert_eq!(own, html);
}

#[test]
fn the_timeline_explains_the_marks_that_it_has() {
    let case = fixture("ghc-9.6.6/fib-forkio-N2-l");
    let html = report_of(&case.session(), &case.name, None);
    for there in [
        "A thread runs",
        "Blocked on an MVar",
        "Allocation rate",
        "A marker",
    ] {
        assert!(html.contains(&format!(">{there}</text>")), "{there}");
    }
    for not in ["A foreign call", "Not read yet", "Heap census", "Woken"] {
        assert!(!html.contains(&format!(">{not}</text>")), "{not}");
    }
    // Each color has a variant for dark pages.
    let names = html
        .split("var(--t")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let names: BTreeSet<&str> = names.collect();
    assert!(names.len() > 10, "{} colors", names.len());
    for name in names {
        assert_eq!(html.matches(&format!("--t{name}:#")).count(), 2, "{name}");
    }
}

#[test]
fn collections_are_those_of_the_summary() {
    let case = fixture("ghc-9.0.2/gc-heavy-nt-l");
    let summary = json(&["summary", "--json", case.path()]);
    let rows = json(&["collections", "--json", case.path()]);
    let rows = rows.as_array().expect("a list");
    assert_eq!(summary["collections"], rows.len());
    let longest = rows.iter().filter_map(|row| row["pause_ns"].as_u64()).max();
    let generations = summary["generations"].as_array().expect("a list");
    let told = generations
        .iter()
        .filter_map(|row| row["max_pause_ns"].as_u64());
    assert_eq!(longest, told.max());
    let csv = stdout(&["collections", "--csv", "--header", case.path()]);
    assert_eq!(csv.lines().count(), rows.len() + 1);
}

#[test]
fn it_goes_into_a_file() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("report.html");
    let path = path.to_str().expect("UTF-8");
    let case = fixture("ghc-9.6.6/fib-forkio-N2-l");
    assert_eq!(stdout(&["report", case.path(), "-o", path]), "");
    let written = std::fs::read_to_string(path).expect("a file");
    assert_eq!(written, stdout(&["report", case.path()]));
}

/// Texts that contain markup, or reorder the text around them.
const HOSTILE: [&str; 4] = [
    "</p><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "&lt;b&gt; ' ' &",
    "right \u{202e}tfel\u{202c} \u{1b}[2J \u{ffff}",
];

#[test]
fn no_text_of_a_log_becomes_markup() {
    let mut types = TYPES.to_vec();
    types.extend([
        (29, None, "Identify the RTS version"),
        (30, None, "Program arguments"),
    ]);
    let mut log = LogBuilder::with_types(&types);
    log.block(None, (1, 5), |b| {
        let arguments = [&[0; 4], HOSTILE.join("\0").as_bytes()].concat();
        let ghc = format!("GHC-9.10.3 {} rts", HOSTILE[0]);
        b.event(29, 2, &[&[0; 4], ghc.as_bytes()].concat())
            .event(30, 3, &arguments)
    });
    log.block(Some(0), (10, 10_000_000), |b| {
        for (i, text) in (0u32..).zip(HOSTILE) {
            let (at, id) = (1_000_000 * u64::from(i) + 10, (i + 1).to_be_bytes());
            b.event(0, at, &id)
                .event(44, at + 1, &[&id, text.as_bytes()].concat())
                .run(at + 2, i + 1)
                .event(19, at + 3, format!("START {text}").as_bytes())
                .event(19, at + 900_000, format!("STOP {text}").as_bytes())
                .stop(at + 999_990, i + 1, 5);
        }
        b
    });
    log.end();
    let session = session_of(&log.bytes).expect("a log");
    let html = report_of(&session, "<b>&\"log\"</b>", None);
    check(&html).expect("a report");
    assert!(
        html.contains("&lt;/p&gt;&lt;script&gt;alert(1)"),
        "the label is there"
    );
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"));
    for sign in ['\u{202e}', '\u{1b}', '\u{ffff}'] {
        assert!(!html.contains(sign), "{sign:?}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (10, 9_000), |b| b.runs(20, 4));
    log.end();
    let session = session_of(&log.bytes).expect("a log");
    let html = report_of(&session, "small.eventlog", None);
    check(&html).expect("a report");
    for said in [
        "No collections in this log",
        "The log has no heap profile",
        "The log has no GC events",
        "Undecided",
    ] {
        assert!(html.contains(said), "{said}");
    }
}

#[test]
fn long_tables_are_cut_with_a_word() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (10, 10_000_000), |b| {
        for thread in 1..=150_u32 {
            let at = 1000 * u64::from(thread);
            b.run(at, thread).stop(at + 500, thread, 5);
        }
        b
    });
    log.end();
    let session = session_of(&log.bytes).expect("a log");
    let html = report_of(&session, "many.eventlog", None);
    check(&html).expect("a report");
    assert!(
        html.contains("The first 100 of 150 threads"),
        "the cut is said"
    );
}
