//! `eventscope cut` keeps exactly the requested events and the definitions that they refer to.

use crate::common;
use eventlog::hash::SeededSet;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::build::{EventTypeDecl, LogBuilder, TYPES};
use common::events::{RawEvent, compare_events, events, expect_sound};
use common::ghc_events::{build_reference_reader, list_events};
use common::{cases, eventscope, expected_coverage, fixture, fixture_cases, for_all, stdout};
use eventlog::cursor::{FieldKind, Value};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Event, EventType, LogError, LogReader, Record};
use eventlog_edit::anonymous::Anonymizer;
use eventlog_edit::cut::{Cut, CutCounts, Selection};
use proptest::prelude::*;
use serde_json::Value as Json;
use tempfile::TempDir;

fn cut(
    mut log: &[u8],
    selection: Selection,
    anonymise: bool,
) -> Result<(Vec<u8>, CutCounts), LogError> {
    let anonymizer = anonymise.then(Anonymizer::default);
    let mut cut = Cut::new(selection, anonymizer, Vec::new());
    let reader = read_log(&mut log, &mut cut)?;
    Ok(cut.finish(&reader).expect("memory takes all"))
}

#[test]
fn a_cut_without_options_has_the_same_events() {
    for_all(expected_coverage([40, 60_000], [130, 600_000]), |case| {
        let log = case.bytes();
        let Ok((before, original)) = events(&log) else {
            return Ok(0);
        };
        let (new, counts) = cut(&log, Selection::default(), false).map_err(|e| e.to_string())?;
        let (after, reader) = events(&new).map_err(|error| error.to_string())?;
        compare_events(&after, &before)?;
        expect_sound(&reader, original.has_end())?;
        if counts.written != before.len() as u64 || counts.bytes != new.len() as u64 {
            return Err(format!("{counts:?}"));
        }
        Ok(before.len())
    });
}

/// Returns the events that a cut has to keep, as its documentation defines them.
fn expected(all: &[RawEvent], wanted: &Selection) -> Vec<RawEvent> {
    let mut latest = 0;
    let mut running: std::collections::BTreeMap<u16, Option<u32>> = Default::default();
    let mut kept = Vec::new();
    for event in all {
        latest = latest.max(event.time);
        let begins_with_thread = matches!(event.id, 0..=6 | 8 | 15 | 44 | 64);
        let first = event
            .payload
            .first_chunk()
            .map(|id| u32::from_be_bytes(*id));
        let own = first.filter(|_| begins_with_thread);
        if let Some(cap) = event.cap {
            match event.id {
                1 => drop(running.insert(cap, own)),
                2 => drop(running.insert(cap, None)),
                _ => {}
            }
        }
        let ran = event
            .cap
            .and_then(|cap| running.get(&cap).copied().flatten());
        let about = own.or(ran);
        let inside = wanted.from.is_none_or(|from| latest >= from.0)
            && (wanted.caps.as_ref())
                .is_none_or(|caps| event.cap.is_some_and(|cap| caps.contains(&CapId(cap))))
            && (wanted.threads.as_ref()).is_none_or(|threads| {
                about.is_some_and(|thread| threads.contains(&ThreadId(thread)))
            })
            && (wanted.types.as_ref()).is_none_or(|types| types.contains(&EventType(event.id)));
        let never = wanted.to.is_some_and(|to| latest >= to.0)
            || wanted.excluded.contains(&EventType(event.id));
        if !never && (inside || event.is_definition) {
            kept.push(event.clone());
        }
    }
    kept
}

fn selections() -> impl Strategy<Value = (Option<f64>, Option<f64>, Selection)> {
    let share = || proptest::option::of(0.0..1.1_f64);
    let some =
        |of: std::ops::Range<u32>| proptest::option::of(proptest::collection::hash_set(of, 1..4));
    let left_out = proptest::collection::hash_set(0..60_u16, 0..2);
    (
        share(),
        share(),
        some(0..4),
        some(1..20),
        some(0..60),
        left_out,
    )
        .prop_map(|(from, to, caps, threads, types, left_out)| {
            let selection = Selection {
                caps: caps.map(|caps| caps.into_iter().map(|cap| CapId(cap as u16)).collect()),
                threads: threads.map(|threads| threads.into_iter().map(ThreadId).collect()),
                types: types.map(|ids| ids.into_iter().map(|id| EventType(id as u16)).collect()),
                excluded: left_out.into_iter().map(EventType).collect(),
                ..Selection::default()
            };
            (from, to, selection)
        })
}

/// Bytes to overwrite (position as a share of the log, value), and the share at which the log is truncated.
fn damage() -> impl Strategy<Value = (Vec<(f64, u8)>, f64)> {
    let wrong = proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6);
    (wrong, prop_oneof![Just(1.0), 0.0..1.0_f64])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn a_damaged_log_is_cut_too(
        (wrong, end) in damage(),
        anonymise in any::<bool>(),
        which in any::<proptest::sample::Index>(),
    ) {
        let cases = fixture_cases();
        let mut log = which.get(&cases).bytes();
        for (at, byte) in wrong {
            let at = (at * log.len() as f64) as usize;
            log[at] = byte;
        }
        log.truncate((end * log.len() as f64) as usize);
        let Ok((before, original)) = events(&log) else { return Ok(()) };
        let (new, counts) = cut(&log, Selection::default(), anonymise).expect("it was read before");
        let (after, reader) = events(&new).expect("what was written is a log");
        prop_assert_eq!(counts.written + counts.unknown, before.len() as u64);
        prop_assert_eq!(counts.written, after.len() as u64);
        prop_assert_eq!(expect_sound(&reader, original.has_end()), Ok(()));
    }
}

/// GHC declares info table provenances one byte longer than they are. If damage follows one, the cut writes
/// another event after it, and the extra byte between them must not be taken for an event.
#[test]
fn damage_behind_an_info_table_provenance_leaves_a_sound_cut() {
    let cases = fixture_cases();
    let case = { cases.iter() }.find(|case| case.name == "ghc-9.10.3/heap-ipe-N1-hi-l-au");
    let sound = case.expect("the log").bytes();
    let types = sound.windows(2).enumerate();
    let provenances: Vec<usize> = types
        .filter(|(_, two)| *two == [0, 169])
        .map(|(at, _)| at)
        .skip(8)
        .step_by(40)
        .collect();
    assert!(provenances.len() > 5);
    for at in provenances {
        let mut log = sound.clone();
        log[at + 1] = 60;
        let (before, _) = events(&log).expect("it can be read");
        let (new, _) = cut(&log, Selection::default(), false).expect("it can be cut");
        let (after, reader) = events(&new).expect("it is a log");
        assert_eq!(
            reader.damage().count(),
            0,
            "byte {at}: {:?}",
            reader.damage()
        );
        assert_eq!(after.len(), before.len(), "byte {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn a_cut_has_what_was_asked_for(
        (from, to, selection) in selections(),
        which in any::<proptest::sample::Index>(),
    ) {
        let cases = fixture_cases();
        let log = which.get(&cases).bytes();
        let Ok((before, original)) = events(&log) else { return Ok(()) };
        let end = before.iter().map(|event| event.time).max().unwrap_or(0);
        let moment = |share: f64| Nanos((share * end as f64) as u64);
        let selection = Selection { from: from.map(moment), to: to.map(moment), ..selection };
        let wanted = expected(&before, &selection);
        let (new, counts) = cut(&log, selection.clone(), false).expect("it was read before");
        let (mut after, reader) = events(&new).expect("what was written is a log");
        prop_assert_eq!(expect_sound(&reader, original.has_end()), Ok(()));
        prop_assert_eq!(counts.written, after.len() as u64);
        let types = |reader: &LogReader| {
            let mut types = reader.header().map(|header| header.types.clone()).unwrap_or_default();
            types.retain(|decl| decl.id != EventType::CUT_RANGE);
            types
        };
        prop_assert_eq!(types(&reader), types(&original));
        after.retain(|event| event.id != EventType::CUT_RANGE.0);
        prop_assert_eq!(is_part(&after, &before), Ok(()));
        let (from, to) = (selection.from.map_or(0, |from| from.0), selection.to);
        let is_outside = |event: &&RawEvent| event.time < from || to.is_some_and(|to| event.time >= to.0);
        let mut rest = after.iter();
        for event in &wanted {
            let extra = rest.by_ref().take_while(|other| *other != event);
            // The end of a collection (type 10) may be dated back into the range.
            let inside = extra.filter(|other| !is_outside(other) && other.id != 10).count();
            prop_assert_eq!(inside, 0, "before {:?}", event);
        }
        prop_assert_eq!(rest.filter(|other| !is_outside(other) && other.id != 10).count(), 0);
        let is_kept = |event: &RawEvent| after.contains(event);
        prop_assert!(wanted.iter().all(is_kept));
    }
}

/// Returns an error unless `part` is a subsequence of `all`.
fn is_part(part: &[RawEvent], all: &[RawEvent]) -> Result<(), String> {
    let mut rest = all.iter();
    let other = part.iter().find(|event| !rest.any(|other| other == *event));
    other.map_or(Ok(()), |event| Err(format!("{event:?} is new")))
}

/// Blocks of one log in all orders: events with equal times keep the order in which they are read.
#[test]
fn events_at_one_time_keep_their_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let mut log = LogBuilder::with_types(TYPES);
        for round in 0..40_u64 {
            for cap in order {
                let at = 10 * round + 1;
                log.block(Some(cap), (at, at + 10), |b| {
                    let thread = u32::from(cap) + 1;
                    b.run(at, thread)
                        .run(at + 5, thread)
                        .run(at + 5, thread + 10)
                });
            }
        }
        let log = log.end().bytes.clone();
        let (before, _) = events(&log).expect("a log");
        let (new, _) = cut(&log, Selection::default(), false).expect("a log");
        let (after, reader) = events(&new).expect("a log");
        assert_eq!(compare_events(&after, &before), Ok(()));
        assert_eq!(reader.damage().count(), 0);
    }
}

/// Returns the texts of an event.
fn texts(event: &Event<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    for (_, value) in event.fields() {
        match value {
            Value::Text(text) => texts.push(text.to_str().into_owned()),
            Value::Texts(list) => texts.extend(list.iter().map(|text| text.to_str().into_owned())),
            Value::Bytes(bytes) => texts.push(String::from_utf8_lossy(bytes).into_owned()),
            _ => {}
        }
    }
    texts
}

/// Words that an anonymous log may contain: those of the runtime, and the prefixes of generated names.
const WORDS: &str = "GHC rts thr debug dyn main thread MAIN SYSTEM IDLE CAF OVERHEAD_of DONT_CARE PINNED built in entire module \
    no location info IOManager on cap TimerManager START STOP END ANN_SCC ANN_CCS ANN_TH ANN_CALL_TO ANN_CALL_RET \
    infer type subTy fvs_c args entCntr nonmoving gc copying RTS message marker span text name value key label \
    INHERENT_USE DRAG VOID program argument runtime counter filter source table closure cost centre ticky constructor \
    begin metric create capture Counter thread-label instrument variable band binary";

/// Returns the words of at least four letters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| word.chars().count() >= 4)
}

#[test]
fn an_anonymous_log_has_no_text_of_the_original() {
    let mut allowed: SeededSet<String> = words(WORDS).map(str::to_lowercase).collect();
    allowed.extend(eventlog::closure_type::ClosureType::all().flat_map(|kind| {
        words(kind.name())
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    }));
    for_all(expected_coverage([40, 500], [130, 1000]), |case| {
        let log = case.bytes();
        let mut secrets: SeededSet<String> = SeededSet::default();
        let mut collect = |record: &Record<'_>| {
            for text in texts(&record.event()) {
                secrets.extend(words(&text).map(str::to_lowercase));
            }
        };
        let Ok(original) = read_log(&mut log.as_slice(), &mut collect) else {
            return Ok(0);
        };
        let (new, counts) = cut(&log, Selection::default(), true).map_err(|e| e.to_string())?;
        let mut left = SeededSet::default();
        let mut check = |record: &Record<'_>| {
            for text in texts(&record.event()) {
                left.extend(words(&text).map(str::to_lowercase));
            }
        };
        let reader = read_log(&mut new.as_slice(), &mut check).map_err(|e| e.to_string())?;
        expect_sound(&reader, original.has_end())?;
        // Search the raw bytes too: a secret may be left in something that is not a text.
        left.extend(
            words(&String::from_utf8_lossy(body(&new)))
                .filter(|word| word.len() > 5)
                .map(str::to_lowercase),
        );
        for secret in secrets
            .iter()
            .filter(|word| !allowed.contains(*word) && !is_code(word))
        {
            if left.contains(secret) {
                return Err(format!("it still says {secret}"));
            }
        }
        if counts.written + counts.unknown != counts.read {
            return Err(format!("{counts:?}"));
        }
        Ok(secrets.len())
    });
}

/// Returns whether a word is part of an address, or names event classes of the flag `-l`.
fn is_code(word: &str) -> bool {
    word.chars().all(|c| "abcdefx".contains(c)) || word.chars().all(|c| "lasgfpunti".contains(c))
}

/// Returns the bytes after the first header.
fn body(log: &[u8]) -> &[u8] {
    let at = log.windows(8).position(|bytes| bytes == b"hdredatb");
    &log[at.map_or(0, |at| at + 8)..]
}

/// Replaces all texts in JSON by null.
fn numbers(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Json::String(_) => Json::Null,
        Json::Array(all) => Json::Array(all.into_iter().map(numbers).collect()),
        Json::Object(all) => Json::Object(
            all.into_iter()
                .map(|(key, value)| (key, numbers(value)))
                .collect(),
        ),
        other => other,
    }
}

#[test]
fn an_anonymous_log_has_the_same_numbers() {
    let folder = TempDir::new().expect("a folder");
    let new = folder.path().join("new.eventlog");
    let new = new.to_str().expect("UTF-8");
    for case in fixture_cases() {
        // SlicingRule repairs a damaged log, so that its numbers may change.
        if !events(&case.bytes()).is_ok_and(|(_, reader)| reader.damage().count() == 0) {
            continue;
        }
        stdout(&["cut", case.path(), "--anonymise", "-o", new]);
        for command in ["summary", "threads"] {
            let json = |path: &str| {
                let text = stdout(&[command, path, "--json"]);
                numbers(serde_json::from_str(&text).expect("JSON"))
            };
            assert_eq!(json(new), json(case.path()), "{command} of {}", case.name);
        }
    }
}

#[test]
fn names_are_stable_and_conventions_stay() {
    let mut log = LogBuilder::with_types(TYPES);
    log.block(Some(0), (1, 100), |b| {
        b.event(0, 2, &[0, 0, 0, 1])
            .event(44, 3, &[&[0, 0, 0, 1][..], b"secret worker"].concat())
            .event(44, 4, &[&[0, 0, 0, 2][..], b"IOManager on cap 3"].concat())
            .event(44, 5, &[&[0, 0, 0, 3][..], b"secret worker"].concat())
            .event(19, 6, b"START parse file")
            .event(19, 7, b"hello world")
            .event(19, 8, b"STOP parse file")
            .event(19, 9, b"START 7 blur")
            .event(19, 10, b"ANN_CALL_TO 0x410061 0x40ff00 71")
            .event(
                19,
                11,
                b"ANN_SCC 7 blur [\"Main.main (M.hs:1:1)\",\"Main.b\\\"ar\"]",
            )
            .event(19, 12, b"ot2 begin span 7 GET /users")
            .event(19, 13, b"hello world")
            .event(19, 14, b"START:parse file")
            .event(19, 15, b"GHC:started: Parser [Secret]")
            .event(19, 16, b"STOP\t1.5  parse file ")
    });
    let (new, _) = cut(&log.end().bytes, Selection::default(), true).expect("a log");
    let mut said = Vec::new();
    read_log(&mut new.as_slice(), &mut |record: &Record<'_>| {
        said.extend(texts(&record.event()))
    })
    .expect("a log");
    assert_eq!(
        said,
        [
            "thread-label-1",
            "IOManager on cap 3",
            "thread-label-1",
            "START span-1",
            "message-1",
            "STOP span-1",
            "START 7 span-2",
            "ANN_CALL_TO 0x410061 0x40ff00 71",
            "ANN_SCC 7 span-2 [\"cost-centre-1\",\"cost-centre-2\"]",
            "ot2 begin span 7 span-3",
            "message-1",
            "START:span-1",
            "GHC:started: span-4 [module-1]",
            "STOP 1.5 span-1",
        ]
    );
}

#[test]
fn the_command_line() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let case = fixture("ghc-9.6.6/fib-forkio-N2-l");
    let new = path("new.eventlog");
    let rows = |file: &str, more: &[&str]| stdout(&[&["events", file][..], more].concat());

    stdout(&["cut", case.path(), "-o", &new]);
    assert_eq!(rows(&new, &[]), rows(case.path(), &[]));
    stdout(&[
        "cut",
        case.path(),
        "--type",
        "RunThread",
        "--thread",
        "TimerManager",
        "-o",
        &new,
    ]);
    let threads = rows(&new, &["--type", "RunThread"]);
    assert!(threads.lines().count() > 0);
    assert!(
        threads.lines().all(|row| row.contains("TimerManager")),
        "{threads}"
    );
    assert_eq!(rows(&new, &["--type", "WallClockTime"]).lines().count(), 1);

    let status = |arguments: &[&str]| {
        let output = eventscope(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let nobody = status(&["cut", case.path(), "--thread", "nobody", "-o", &new]);
    assert_eq!(nobody.0, Some(1));
    assert!(
        nobody.1.contains("no thread has the label nobody"),
        "{}",
        nobody.1
    );
    let no_type = status(&["cut", case.path(), "--type", "Nothing", "-o", &new]);
    assert_eq!(no_type.0, Some(2), "{}", no_type.1);
    fs::copy(case.path(), &new).expect("a copy");
    assert_eq!(status(&["cut", &new, "-o", &new]).0, Some(2));
    assert_eq!(
        fs::read(&new).expect("the log"),
        case.bytes(),
        "it is as it was"
    );

    let no_log = path("text");
    fs::write(&no_log, "no log").expect("a file");
    assert_eq!(status(&["cut", &no_log, "-o", &new]).0, Some(1));
    assert_eq!(
        fs::read(&new).expect("the log"),
        case.bytes(),
        "it is as it was"
    );

    let (code, said) = status(&["cut", fixture("ghc-9.6.6/cut-mid-event").path(), "-o", &new]);
    assert_eq!(
        code,
        Some(1),
        "a damaged log is cut, and that is said: {said}"
    );
    assert!(!said.is_empty() && !said.contains("does not show"));
    let (code, said) = status(&["info", &new]);
    assert_eq!(code, Some(0), "no bytes of the new one are lost: {said}");
    assert!(said.contains("the program was killed"), "{said}");
}

/// The format has no event for lost bytes: the command says that the new log does not show them.
#[test]
fn a_new_log_does_not_show_damage_and_the_command_says_so() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut log = LogBuilder::new();
    log.block(Some(0), (10, 10_000), |log| log.runs(10, 4));
    log.raw(&[0xAB; 64]);
    log.block(Some(0), (20_000, 30_000), |log| log.runs(20_000, 4));
    let damaged = path("damaged.eventlog");
    fs::write(&damaged, &log.end().bytes).expect("a file");
    let status = |arguments: &[&str]| {
        let output = eventscope(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    for command in [&["cut"][..], &["merge", "--by", "start"]] {
        let new = path(command[0]);
        let (code, said) = status(&[command, &[damaged.as_str(), "-o", &new]].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("does not show that the damaged part is missing"),
            "{said}"
        );
        let (code, said) = status(&["info", &new]);
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn ghc_events_lists_the_same_events() {
    let folder = TempDir::new().expect("a folder");
    let Some(reader) = build_reference_reader(folder.path()) else {
        println!("ghc-events is not installed: nothing is compared");
        return;
    };
    let new = folder.path().join("new.eventlog");
    let mut compared = 0;
    for case in cases().iter().filter(|case| case.name.starts_with("ghc-9")) {
        let log = case.bytes();
        let sound = events(&log).is_ok_and(|(_, reader)| !reader.damage().loses_data());
        let before = list_events(&reader, Path::new(case.path()));
        let Some(before) = before.filter(|rows| sound && !rows.is_empty()) else {
            continue;
        };
        let (cut_log, _) = cut(&log, Selection::default(), false).expect("a log");
        fs::write(&new, cut_log).expect("a file");
        let after = list_events(&reader, &new).expect("ghc-events reads what was written");
        assert_eq!(after, before, "{}", case.name);
        compared += 1;
    }
    assert!(compared >= 8, "{compared} logs were compared");
}

/// Returns the number of bytes before the first text of a type; without a text, the bytes of all its fields.
fn bytes_before_text(id: u16) -> usize {
    let mut end = None;
    let mut numbers = 0;
    Event::locate(EventType(id), &[0; 128], |_, range, kind| match kind {
        FieldKind::Text | FieldKind::TextToNul | FieldKind::Texts | FieldKind::Bytes => {
            end.get_or_insert(range.start);
        }
        _ => numbers = range.end,
    });
    end.unwrap_or(numbers)
}

/// Builds a log that contains `secret` wherever a log can hold bytes chosen by a program or a user.
fn with_secrets(secret: &str) -> Vec<u8> {
    let types: Vec<EventTypeDecl> = EventType::ALL
        .iter()
        .map(|id| {
            let is_fixed = id.expected_class() == Some(eventlog::event::SizeClass::Fixed);
            // Declare fixed types longer than known, so that they end in extra bytes.
            let size = id.min_payload_bytes().unwrap_or(0) + secret.len() as u16;
            let size = if id.0 == 18 { 14 } else { size };
            let description = format!("{} {secret}", id.name().unwrap_or(""));
            (id.0, is_fixed.then_some(size), &*description.leak())
        })
        .chain([
            (900, None, &*format!("own {secret}").leak()),
            (901, Some(secret.len() as u16), &*secret.to_owned().leak()),
        ])
        .collect();
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), (1, 1_000_000), |b| {
        let mut time = 1;
        for (id, size, _) in &types {
            time += 1;
            match size {
                _ if *id == 18 => {}
                Some(size) => {
                    let mut payload = vec![0; usize::from(*size) - secret.len()];
                    payload.extend(secret.bytes());
                    b.event(*id, time, &payload);
                }
                None => {
                    let list = format!(
                        "{secret}\0-p{secret}\0+RTS\0-N2\0-A{secret}\0-p{secret}\0-RTS\0{secret}"
                    );
                    let payload = [vec![0; bytes_before_text(*id)], list.into_bytes()].concat();
                    b.event(*id, time, &payload);
                }
            }
        }
        for text in [
            "START",
            "STOP",
            "ot2 begin span 7",
            "ANN_SCC 7",
            "GHC:started:",
        ] {
            time += 1;
            b.event(19, time, format!("{text} of {secret}").as_bytes());
        }
        b
    });
    log.end().bytes.clone()
}

#[test]
fn no_secret_is_left() {
    for secret in ["5550199", "topsecret"] {
        let log = with_secrets(secret);
        let (new, counts) = cut(&log, Selection::default(), true).expect("a log");
        let found = |log: &[u8]| {
            log.windows(secret.len())
                .filter(|bytes| *bytes == secret.as_bytes())
                .count()
        };
        assert!(found(&log) > 300, "{} secrets", found(&log));
        let place = new
            .windows(secret.len())
            .position(|bytes| bytes == secret.as_bytes());
        let around = place.map(|at| String::from_utf8_lossy(&new[at.saturating_sub(60)..at + 20]));
        assert_eq!(found(&new), 0, "{around:?}");
        let (all, reader) = events(&new).expect("a log");
        assert_eq!(reader.damage().count(), 0, "{:?}", reader.damage());
        assert!(
            all.len() > 100 && counts.written == all.len() as u64,
            "{counts:?}"
        );
    }
}

/// The first census of a cut log is of a time before it; commands leave it out, as for a range of the whole log.
#[test]
fn a_heap_profile_of_a_cut_log_is_that_of_the_range() {
    let folder = TempDir::new().expect("a folder");
    let new = folder.path().join("new.eventlog");
    let new = new.to_str().expect("UTF-8");
    let case = fixture("ghc-9.6.6/heap-N2-hT-l-au");
    let range = ["--from", "400ms", "--to", "800ms"];
    stdout(&[&["cut", case.path(), "-o", new][..], &range].concat());
    // The first line counts the censuses of the file.
    let bands = |text: String| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let of_range = stdout(&[&["heap", case.path()][..], &range].concat());
    assert_eq!(bands(stdout(&["heap", new])), bands(of_range));
    let censuses = |text: String| text.lines().count();
    let of_range = stdout(&[&["heap", case.path(), "--censuses"][..], &range].concat());
    assert_eq!(
        censuses(stdout(&["heap", new, "--censuses"])),
        censuses(of_range)
    );
    // Rows without bytes are the frame of eventlog2html.
    let drawn = |log: &str| {
        let document = stdout(&["heap", log, "--eventlog2html", "--bands", "0"]);
        let document: Json = serde_json::from_str(&document).expect("JSON");
        let rows = |list: &str| {
            let rows = document[list].as_array().expect("a list").clone();
            let rows = rows.into_iter().filter(|row| row["y"] != 0);
            let row = |row: Json| {
                (
                    row["x"].to_string(),
                    row["y"].to_string(),
                    row["c"].to_string(),
                )
            };
            rows.map(row).collect::<BTreeSet<_>>()
        };
        [rows("samples"), rows("heap")]
    };
    let in_range = |(x, ..): &(String, String, String)| {
        let x: f64 = x.parse().expect("a number");
        (0.4..0.8).contains(&x)
    };
    let expected = drawn(case.path()).map(|rows| {
        let rows = rows.into_iter().filter(in_range);
        rows.collect::<BTreeSet<_>>()
    });
    assert!(!expected[0].is_empty());
    assert_eq!(drawn(new), expected);
    let numbers = |words: &[&str]| -> Vec<String> {
        let rows = stdout(&[words, &["--censuses", "--tsv"]].concat());
        let number = |row: &str| row.split('\t').nth(1).expect("a number").to_owned();
        rows.lines().map(number).collect()
    };
    // Bands with equal changes have any order.
    let between = |log: &str, numbers: &[String]| {
        let (first, last) = (numbers[0].as_str(), numbers[numbers.len() - 1].as_str());
        let rows = stdout(&["heap", log, "--between", first, last, "--tsv"]);
        let rows = rows.lines().map(str::to_owned);
        rows.collect::<BTreeSet<_>>()
    };
    let of_cut = numbers(&["heap", new]);
    let of_range = numbers(&[&["heap", case.path()][..], &range].concat());
    assert_eq!(between(new, &of_cut), between(case.path(), &of_range));
    assert_ne!(of_cut[0], "0");
    for census in [
        &["--census", "0"][..],
        &["--between", "0", of_cut[0].as_str()],
    ] {
        let before = eventscope(&[&["heap", new], census].concat());
        assert_eq!(before.status.code(), Some(1), "{census:?}");
    }
    let outside = eventscope(&["summary", new, "--from", "900ms"]);
    assert!(!outside.status.success());
}
