use proptest::prelude::*;

use super::*;
use crate::metrics::matches_pattern;

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        (
            "gc.pause.p99",
            "a comparison is expected here: < <= > >= == != (at character 13)",
        ),
        (
            "gc.puase.p99 < 10 ms",
            "“gc.puase.p99” is not a metric: eventscope metrics lists all of them (at character 1)",
        ),
        (
            "1 < gc.pause.p98",
            "“gc.pause.p98” is not a metric: eventscope metrics lists all of them (at character 5)",
        ),
        (
            "gc.count{gen=1 > 2",
            "“}” is expected here (at character 19)",
        ),
        (
            "finding(*, huge) == 0",
            "minor, low, medium or high is expected here (at character 16)",
        ),
        (
            "gc.count > 2 or 1 > 0",
            "“or” is neither a unit nor “and”: the units are ns, us, µs, ms, s, KiB, MiB, GiB, kB, MB, GB, B, %, and /s after another one or alone (at character 14)",
        ),
        (
            "gc.count > 2 % /s",
            "“and” or the end is expected here (at character 16)",
        ),
        (
            "finding(gc-sync-stragler) == 0",
            "“gc-sync-stragler” is not a rule: eventscope findings --json lists all of them (at character 9)",
        ),
        (
            "finding() == 0",
            "“” is not a rule: eventscope findings --json lists all of them (at character 9)",
        ),
        (
            "1.2.3 < gc.count",
            "“1.2.3” is not a number (at character 6)",
        ),
        (
            "gc.count@warm > 2",
            "“..” is expected here: marker..marker, or span:NAME (at character 14)",
        ),
        (
            "gc.count@span: > 2",
            "the name of a span is expected here (at character 15)",
        ),
        (
            "gc.count@a#0..b > 2",
            "a number of at least 1 is expected here (at character 13)",
        ),
        (
            "regress(gc.count < 2",
            "“)” is expected here (at character 18)",
        ),
        (
            "same(gc.count) < 2",
            "“and” or the end is expected here (at character 16)",
        ),
    ];
    for (text, said) in cases {
        let wrong = Assertion::parse(text).expect_err(text);
        assert_eq!(wrong.to_string(), said, "{text}");
    }
}

#[test]
fn what_is_asked_for_is_known_by_its_words() {
    let text = "warn: 2 * gc.pause.p99@a..b > 5 ms and finding(gc-*, high) == 0 and delta( gc.time ) < 1 %";
    let read = Assertion::parse(text).expect("it is one");
    let requests: Vec<&str> = read
        .requests()
        .map(|request| request.text.as_str())
        .collect();
    assert_eq!(
        requests,
        ["gc.pause.p99@a..b", "finding(gc-*, high)", "gc.time"]
    );
}

#[test]
fn all_forms_are_read() {
    for text in [
        "gc.pause.p99 < 10 ms",
        "warn: gc.time.share<20%",
        "error: heap.live.max <= 512 MiB and gc.count{gen=1} != 0",
        "finding(*, high) == 0",
        "finding(gc-*) == 0",
        "span.time{name=\"handle request\"}.mean > 1_000us",
        "2 * gc.sync.sum >= gc.time",
        "alloc.bytes.rate < 1e0 /s",
        "alloc.bytes.rate < 2 GB/s and gc.count.rate < 3/s and gc.count < 5 and gc.time.rate < 100 ms /s",
        "gc.pause.p99@warm..done < 10 ms",
        "gc.pause{gen=1}.p99@warm#2.. < 10 ms and heap.live.max@.. > 0",
        "heap.live.max@span:load.all#3<512 MiB",
        "gc.count @ warm..done > 0",
        "gc.count@\"the begin\"..\"the end\"#2 > 0",
        "delta(alloc.bytes) < 1 % and same(gc.count)",
        "warn: regress( span.time{name=req}.p99@warm..done ) < 5 %",
    ] {
        let read = Assertion::parse(text);
        if text.contains("1e0") || text.contains(" @") {
            assert!(read.is_err(), "{text}");
        } else {
            assert!(read.is_ok(), "{text}: {read:?}");
        }
    }
}

const WORDS: &[&str] = &[
    "warn:", "delta(", "regress(", "same(", "finding(", "*", ", high", ")", "gc.pause", ".p99",
    "{gen=", "1", "}", "@", "span:", "warm", "é", "..", "#", "2", "\"", " ", " < ", "==", " and ",
    "10 ms", "%",
];

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9.<>=!{}\"*(), :%/µé@#-]{0,40}") {
        let _ = Assertion::parse(&text);
    }

    /// Words of the grammar in any order reach more of it than random characters.
    #[test]
    fn any_words_are_read_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..16)) {
        if let Err(wrong) = Assertion::parse(&words.concat()) {
            prop_assert!(wrong.position <= words.concat().chars().count());
        }
    }

    #[test]
    fn stars_stand_for_anything(parts in prop::collection::vec("[a-c]{0,3}", 1..4), between in "[a-c]{0,4}") {
        let pattern = parts.join("*");
        prop_assert!(matches_pattern(&pattern, &parts.join(&between)));
        prop_assert!(!matches_pattern(&(pattern + "x"), &parts.join(&between)));
    }

    #[test]
    fn patterns_match_as_their_definition_has_it(pattern in "[ab*]{0,6}", text in "[ab]{0,6}") {
        fn matches(pattern: &[u8], text: &[u8]) -> bool {
            match (pattern.split_first(), text.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), None) => matches(rest, text),
                (Some((b'*', rest)), Some((_, after))) => matches(rest, text) || matches(pattern, after),
                (Some((wanted, rest)), Some((byte, after))) => wanted == byte && matches(rest, after),
                _ => false,
            }
        }
        prop_assert_eq!(matches_pattern(&pattern, &text), matches(pattern.as_bytes(), text.as_bytes()));
    }
}

/// A rate is a number of the unit before it per second.
#[test]
fn a_rate_has_the_unit_of_its_number() {
    let number = |text: &str| {
        let read = Assertion::parse(&format!("gc.count > {text}")).expect("it is one");
        match &read.conditions[..] {
            [Condition::Compared(TermComparison { right, .. }), ..] => match right {
                Term::Number(number, unit) => (*number, *unit),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    for unit in [
        "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "kB", "MB", "GB",
    ] {
        let (value, _) = number(&format!("7 {unit}"));
        assert_eq!(
            number(&format!("7 {unit}/s")),
            (value, Some(Unit::PerSecond)),
            "{unit}"
        );
    }
    assert_eq!(number("7 /s"), (7.0, Some(Unit::PerSecond)));
    assert_eq!(number("7 and 7 > 6").1, None);
}

/// A backtracking matcher would not terminate in practice.
#[test]
fn many_stars_take_linear_time() {
    let text = "a".repeat(20_000);
    assert!(!matches_pattern(&("*a".repeat(20) + "b"), &text));
    assert!(!matches_pattern(&("*a".repeat(20) + "*ab*"), &text));
    assert!(matches_pattern(&"*a".repeat(20), &text));
}
