//! Conversion of textual heap profiles, checked by the sentences of the resulting events.

use proptest::prelude::*;

use super::Converter;
use crate::names::Names;
use crate::sentence::sentence;
use crate::source::read_log;
use crate::{DamageKind, LogReader, Record, Sink};

fn convert(file: &[u8], pieces: usize) -> (Vec<u8>, Vec<String>) {
    let mut converter = Converter::new(u64::MAX);
    for piece in file.chunks(pieces.max(1)) {
        converter.push(piece);
    }
    let (log, damage, _) = converter.finish();
    let told = damage.kept.iter();
    let told =
        told.map(|damage| format!("{} {} {:?}", damage.at.0, damage.lost_bytes, damage.kind));
    (log, told.collect())
}

fn read(mut file: &[u8], sink: &mut impl Sink) -> LogReader {
    read_log(&mut file, sink).expect("it is a heap profile")
}

/// Returns the events of a log except the first and the last, and the damage of the file.
fn lines(file: &str) -> (Vec<String>, Vec<String>) {
    let mut names = Names::default();
    let mut events = Vec::new();
    let mut sink = |record: &Record<'_>| {
        names.offer(record);
        let text = sentence(&record.event(), record.header, &names);
        events.push(format!("{} {text}", record.time.0));
    };
    let reader = read(file.as_bytes(), &mut sink);
    assert_eq!(
        reader.damage().lost_bytes,
        convert(file.as_bytes(), 1 << 20)
            .1
            .iter()
            .map(|told| {
                told.split(' ')
                    .nth(1)
                    .and_then(|lost| lost.parse::<u64>().ok())
                    .unwrap_or(0)
            })
            .sum::<u64>()
    );
    let told = convert(file.as_bytes(), 1 << 20).1;
    let (first, last) = (events.remove(0), events.pop());
    assert!(
        first.starts_with("0 capability set 0 is created"),
        "{first}"
    );
    assert!(last.is_some_and(|last| last.contains("capability set 0 is deleted")));
    (events, told)
}

const HEAD: &str = "JOB \"p\"\nDATE \"Fri Nov 20 09:50 2026\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\nBEGIN_SAMPLE 0.000000\nEND_SAMPLE 0.000000\n";
const END: &str = "BEGIN_SAMPLE 2.5\nEND_SAMPLE 2.5\n";

/// Returns the events of a file's censuses, without the head of the profile.
fn censuses(body: &str) -> (Vec<String>, Vec<String>) {
    let (mut events, told) = lines(&format!("{HEAD}{body}{END}"));
    let begin = events
        .iter()
        .position(|event| event.contains(" heap profile 0 begins"));
    events.drain(..=begin.expect("a begin"));
    let at = HEAD.len() as u64;
    let told = told.iter().map(|told| {
        let (byte, rest) = told.split_once(' ').expect("a place");
        format!("{} {rest}", byte.parse::<u64>().expect("a number") - at)
    });
    (events, told.collect())
}

/// Returns the bands of a census at one second.
fn bands(lines: &str) -> (Vec<String>, Vec<String>) {
    let (mut events, told) = censuses(&format!("BEGIN_SAMPLE 1\n{lines}END_SAMPLE 1\n"));
    assert_eq!(events.remove(0), "1000000000 heap census 1 begins");
    assert_eq!(
        events.pop().as_deref(),
        Some("1000000000 heap census 1 ends")
    );
    let events = events.iter().map(|event| {
        event
            .trim_start_matches("1000000000 heap profile 0: ")
            .to_owned()
    });
    let told = told.iter().map(|told| {
        told.split_once(' ')
            .map_or(told.as_str(), |(_, rest)| rest)
            .to_owned()
    });
    (events.collect(), told.collect())
}

#[test]
fn bands_are_read_whatever_their_labels() {
    for (line, event) in [
        ("Foo\t16\n", "16 bytes of “Foo”"),
        ("Foo\t16\r\n", "16 bytes of “Foo”"),
        (
            "base:GHC.Event.Control.W\t96\n",
            "96 bytes of “base:GHC.Event.Control.W”",
        ),
        ("a b\tc \"d\"\t16\n", "16 bytes of “a b\tc \"d\"”"),
        (" (,)\t16\n", "16 bytes of “ (,)”"),
        ("END_SAMPLE 1.0\t16\n", "16 bytes of “END_SAMPLE 1.0”"),
        ("  SYSTEM 24\n", "24 bytes of “SYSTEM”"),
        ("two words 24\n", "24 bytes of “two words”"),
        ("\t7\n", "7 bytes of “”"),
        ("Foo\t1.6e1\n", "16 bytes of “Foo”"),
        ("Foo\t 16 \n", "16 bytes of “Foo”"),
        (
            "Foo\t18446744073709551615\n",
            "16.0 EiB (18446744073709551615 bytes) of “Foo”",
        ),
    ] {
        let (events, told) = bands(line);
        assert_eq!(
            (events.as_slice(), told.as_slice()),
            (&[event.to_owned()][..], &[][..]),
            "{line:?}"
        );
    }
}

#[test]
fn lines_that_cannot_be_read_are_passed_over() {
    for (line, told) in [
        ("Foo\n", "4 ReportLine(Unknown)"),
        ("Foo\t\n", "5 ReportLine(Number)"),
        ("Foo\tmany\n", "9 ReportLine(Number)"),
        ("Foo\t-3\n", "7 ReportLine(Number)"),
        ("Foo\tinf\n", "8 ReportLine(Number)"),
        ("Foo\t1e30\n", "9 ReportLine(Number)"),
        ("JOB \"again\"\n", "12 ReportLine(Unknown)"),
        ("SAMPLE_UNIT \"fortnights\"\n", "0 ReportUnit"),
    ] {
        let (events, found) = bands(&format!("{line}Foo\t16\n"));
        assert_eq!(events, ["16 bytes of “Foo”"], "{line:?}");
        assert_eq!(found, [told], "{line:?}");
    }
    let long = format!("{}\t3\nFoo\t16\n", "x".repeat(super::MAX_LINE_BYTES));
    let (events, found) = bands(&long);
    assert_eq!(events, ["16 bytes of “Foo”"]);
    assert_eq!(found, ["60003 ReportLine(TooLong)"]);
}

#[test]
fn censuses_keep_their_times() {
    let one = "Foo\t16\nEND_SAMPLE 1\n";
    for (body, events, told) in [
        // Several censuses at the same time; an empty one in the middle counts.
        (
            format!(
                "BEGIN_SAMPLE 1\n{one}BEGIN_SAMPLE 1.000\n{one}BEGIN_SAMPLE 1.5\nEND_SAMPLE 1.5\n"
            ),
            &[
                "1000000000 heap census 1 begins",
                "1000000000 heap profile 0: 16 bytes of “Foo”",
                "1000000000 heap census 1 ends",
                "1000000000 heap census 2 begins",
                "1000000000 heap profile 0: 16 bytes of “Foo”",
                "1000000000 heap census 2 ends",
                "1500000000 heap census 3 begins",
                "1500000000 heap census 3 ends",
            ][..],
            &[][..],
        ),
        (
            format!(
                "MARK 2.5e-1\nBEGIN_SAMPLE 1\n{one}BEGIN_SAMPLE 0.5\n{one}BEGIN_SAMPLE soon\n{one}"
            ),
            &[
                "250000000 marker: MARK",
                "1000000000 heap census 1 begins",
                "1000000000 heap profile 0: 16 bytes of “Foo”",
                "1000000000 heap census 1 ends",
                "1000000000 heap census 2 begins",
                "1000000000 heap profile 0: 16 bytes of “Foo”",
                "1000000000 heap census 2 ends",
                "1000000000 heap census 3 begins",
                "1000000000 heap profile 0: 16 bytes of “Foo”",
                "1000000000 heap census 3 ends",
            ],
            &[
                "47 0 ReportTime(Nanos(500000000))",
                "84 0 ReportLine(Number)",
            ],
        ),
        // One end is missing, another is surplus.
        (
            "BEGIN_SAMPLE 1\nFoo\t16\nBEGIN_SAMPLE 2\nBar\t8\nEND_SAMPLE 2\nEND_SAMPLE 2\nBaz\t3\n"
                .to_owned(),
            &[
                "1000000000 heap census 1 begins",
                "1000000000 heap profile 0: 16 bytes of “Foo”",
                "1000000000 heap census 1 ends",
                "2000000000 heap census 2 begins",
                "2000000000 heap profile 0: 8 bytes of “Bar”",
                "2000000000 heap census 2 ends",
            ],
            &[
                "22 0 ReportLine(Unended)",
                "56 13 ReportLine(Outside)",
                "69 6 ReportLine(Outside)",
            ],
        ),
    ] {
        let found = censuses(&body);
        assert_eq!(found.0, events, "{body:?}");
        assert_eq!(found.1, told, "{body:?}");
    }
}

/// Returns the head of the profile for a command line and a label.
fn head(job: &str, label: &str) -> Vec<String> {
    let body = format!("BEGIN_SAMPLE 1\n{label}\t16\nEND_SAMPLE 1\n");
    let file = format!("{HEAD}{body}{END}").replace("JOB \"p\"", job);
    let (mut events, told) = lines(&file);
    assert!(told.is_empty(), "{job:?}: {told:?}");
    let begin = events
        .iter()
        .position(|event| event.contains(" heap profile 0 begins"));
    events.truncate(begin.expect("a begin") + 1);
    events
}

#[test]
fn flags_and_labels_tell_what_the_profile_is() {
    for (job, label, begins) in [
        (
            "JOB \"p +RTS -hc -i0.01\"",
            "(12)f/main",
            "cost-centre stack, a census every 10 ms",
        ),
        (
            "JOB \"p +RTS -h\"",
            "x",
            "cost-centre stack, a census every 100 ms",
        ),
        (
            "JOB \"p +RTS -hy -hmMain -i2\"",
            "Int",
            "type description, a census every 2 s, only module “Main”",
        ),
        (
            "JOB \"p +RTS -hc -hbdrag,void -hC{f}\"",
            "MAIN",
            "cost-centre stack, a census every 100 ms, only cost-centre stack “f”, only biography “drag,void”",
        ),
        (
            "JOB \"p +RTS -hd -RTS -hm\"",
            "Int",
            "closure description, a census every 100 ms",
        ),
        (
            "JOB \"p -hm\"",
            "THUNK_1_0",
            "closure type, a census every 0 ns",
        ),
        ("JOB \"p\"", "0x40a8c0", "info table, a census every 0 ns"),
        (
            "JOB \"p\"",
            "INHERENT_USE",
            "biography, a census every 0 ns",
        ),
        (
            "JOB \"p\"",
            "(8)CAF,SYSTEM",
            "retainer, a census every 0 ns",
        ),
        (
            "JOB \"p\"",
            "(8)f/main",
            "cost-centre stack, a census every 0 ns",
        ),
        (
            "JOB \"p\"",
            "Foo",
            "the unknown breakdown 0, a census every 0 ns",
        ),
    ] {
        let head = head(job, label);
        assert_eq!(
            head.last(),
            Some(&format!("0 heap profile 0 begins, by {begins}")),
            "{job} {label}"
        );
    }
    let arguments = |job| head(job, "Foo").remove(0);
    assert_eq!(
        arguments("JOB \"p say\"\"hi\"\" +RTS -hy\""),
        "0 capability set 0: the command line is p say\"hi\" +RTS -hy"
    );
    assert_eq!(
        arguments("JOB \"old \"quotes\"\""),
        "0 capability set 0: the command line is old \"quotes\""
    );
}

#[test]
fn stacks_have_centres_by_name() {
    let body =
        "BEGIN_SAMPLE 1\n(3)f/main/Main.CAF\t16\n(4)main/Main.CAF\t8\nMAIN\t2\nEND_SAMPLE 1\n";
    let file = format!("{HEAD}{body}{END}").replace("JOB \"p\"", "JOB \"p +RTS -hc\"");
    let (events, told) = lines(&file);
    assert!(told.is_empty());
    assert_eq!(
        &events[3..],
        [
            "1000000000 cost centre 0 is f",
            "1000000000 cost centre 1 is main",
            "1000000000 cost centre 2 is CAF in Main",
            "1000000000 heap profile 0: 16 bytes held by f ← main ← Main.CAF (cost centres 0, 1, 2)",
            "1000000000 heap profile 0: 8 bytes held by main ← Main.CAF (cost centres 1, 2)",
            "1000000000 heap profile 0: 2 bytes held by MAIN",
            "1000000000 heap census 1 ends",
        ]
    );
}

/// Wherever a file is truncated, the complete censuses are those of the whole file.
#[test]
fn a_file_that_breaks_off_keeps_its_whole_censuses() {
    let census = |at: u32| format!("BEGIN_SAMPLE {at}.0\nFoo\t1600\nEND_SAMPLE {at}.0\n");
    let file = format!("{HEAD}{}{}{END}", census(1), census(2));
    let (whole, told) = lines(&file);
    assert!(told.is_empty(), "{told:?}");
    for cut in 4..file.len() {
        let (events, told) = lines(&file[..cut]);
        let counted = |events: &[String]| {
            events
                .iter()
                .filter(|event| event.ends_with(" ends"))
                .count()
        };
        let ends = file[..cut].matches("\nEND_SAMPLE").count();
        // The first and the last census are omitted.
        assert_eq!(counted(&events), ends.saturating_sub(1).min(2), "{cut}");
        if cut > HEAD.len() {
            assert_eq!(events, whole[..events.len()], "{cut}");
        }
        assert!(
            told.len() == 1 || ends == 4 && told.is_empty(),
            "{cut}: {told:?}"
        );
    }
}

#[test]
fn the_log_ends_with_its_last_census() {
    let file = format!("{HEAD}BEGIN_SAMPLE 1\nFoo\t1\nEND_SAMPLE 1\n{END}");
    let mut last = 0;
    let reader = read(file.as_bytes(), &mut |record: &Record<'_>| {
        last = record.time.0
    });
    assert_eq!(last, 1_000_000_000);
    let report = reader.heap_report().expect("it is one");
    assert_eq!(report.date.as_deref(), Some("Fri Nov 20 09:50 2026"));
    assert_eq!(report.bytes, file.len() as u64);
    let damage = read(file.trim_end_matches(END).as_bytes(), &mut |_: &Record<
        '_,
    >| {})
    .damage();
    assert_eq!(
        damage.kinds().collect::<Vec<_>>(),
        [(DamageKind::NoEndMarker, 1)]
    );
}

/// Generates lines, some of them damaged.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: &[&str] = &[
        "BEGIN_SAMPLE 1.5",
        "BEGIN_SAMPLE 2e9",
        "BEGIN_SAMPLE ",
        "END_SAMPLE 2",
        "MARK 3",
        "JOB \"p +RTS -hc\"",
        "SAMPLE_UNIT \"ms\"",
        "(12)f/g/M.CAF\t80",
        "MAIN\t8",
        "Foo bar\t1e3",
        "0x12\t4",
        "x 3",
        "",
        "\r",
        "\u{feff}JOB \"q\"",
    ];
    prop_oneof![
        6 => prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 0..40),
        1 => (0..70_000_usize).prop_map(|len| vec![b'y'; len]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Any bytes behind `JOB` become a valid eventlog, independent of how they are split into pieces.
    #[test]
    fn any_file_becomes_a_sound_log(lines in prop::collection::vec(any_line(), 0..40), pieces in 1..200_usize, cut in 0..20_usize) {
        let mut file = b"JOB ".to_vec();
        file.extend(lines.join(&b'\n'));
        file.truncate(file.len().saturating_sub(cut).max(4));
        let (log, told) = convert(&file, usize::MAX);
        prop_assert_eq!(&convert(&file, pieces), &(log.clone(), told));
        let (mut events, mut last) = (0_u64, 0);
        let reader = read(&file, &mut |record: &Record<'_>| {
            events += 1;
            assert!(record.time.0 >= last);
            last = record.time.0;
        });
        let of_log = read(&log, &mut |_: &Record<'_>| {});
        prop_assert!(of_log.damage().count() == 0, "{:?}", of_log.damage());
        prop_assert_eq!(reader.accounting(), of_log.accounting());
        prop_assert!(events >= 3);
        // A line costs an event with its bytes and a few more; repeated labels cost less.
        prop_assert!(log.len() <= 2_000 + file.len() * 20);
    }
}
