use proptest::prelude::*;

use super::*;
use crate::metrics::is_like;

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        (
            "gc.pause.p99",
            "a comparison is expected here: < <= > >= == != (at character 13)",
        ),
        (
            "gc.puase.p99 < 10 ms",
            "“gc.puase.p99” is no metric: eventscope metrics lists all of them (at character 1)",
        ),
        (
            "1 < gc.pause.p98",
            "“gc.pause.p98” is no metric: eventscope metrics lists all of them (at character 5)",
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
            "“and” or the end is expected here (at character 14)",
        ),
        ("1.2.3 < gc.count", "“1.2.3” is no number (at character 6)"),
    ];
    for (text, said) in cases {
        let wrong = Assertion::parse(text).expect_err(text);
        assert_eq!(wrong.to_string(), said, "{text}");
    }
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
    ] {
        let read = Assertion::parse(text);
        if text.contains("1e0") {
            assert!(read.is_err(), "{text}");
        } else {
            assert!(read.is_ok(), "{text}: {read:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9.<>=!{}\"*(), :%/µé-]{0,40}") {
        let _ = Assertion::parse(&text);
    }

    #[test]
    fn stars_stand_for_anything(parts in prop::collection::vec("[a-c]{0,3}", 1..4), between in "[a-c]{0,4}") {
        let pattern = parts.join("*");
        prop_assert!(is_like(&pattern, &parts.join(&between)));
        prop_assert!(!is_like(&(pattern + "x"), &parts.join(&between)));
    }
}
