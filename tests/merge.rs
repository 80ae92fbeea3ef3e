//! `eventscope merge`: the parts of one log give the log again; logs of several processes are combined with
//! shifted times and renumbered capabilities and threads.

use crate::common;

use std::collections::BTreeMap;
use std::fs;

use analysis::flamegraph::foreign::Calls;
use common::build::{LogBuilder, TYPES};
use common::events::{RawEvent, compare_events, expect_sound};
use common::ghc_events::{build_reference_reader, list_events};
use common::merging::{facts, merge_logs};
use common::{cases, eventscope, expected_coverage, fixture, for_all, stdout};
use eventlog::ids::Nanos;
use eventlog::source::read_log;
use eventlog::{Event, LogReader, Record};
use eventlog_edit::cut::{Cut, Selection};
use eventlog_edit::merge::{Align, Facts, PlanError};
use proptest::prelude::*;
use tempfile::TempDir;

fn events(log: &[u8]) -> (Vec<RawEvent>, LogReader) {
    common::events::events(log).expect("a log")
}

fn part(mut log: &[u8], from: Option<u64>, to: Option<u64>) -> Vec<u8> {
    let selection = Selection {
        from: from.map(Nanos),
        to: to.map(Nanos),
        ..Selection::default()
    };
    let mut cut = Cut::new(selection, None, Vec::new());
    let reader = read_log(&mut log, &mut cut).expect("a log");
    cut.finish(&reader).expect("memory takes all").0
}

/// Cuts a log at shares of its length in time, and merges the parts.
fn cut_and_merged(log: &[u8], shares: &[f64], order: bool) -> Result<usize, String> {
    let mut whole = log;
    let Ok(reader) = read_log(&mut whole, &mut |_: &Record<'_>| {}) else {
        return Ok(0);
    };
    drop(reader);
    let told = facts("log", log, &Align::WallClock);
    let Some((told_at, _)) = told.wall_clock else {
        return Ok(0);
    };
    let (all, original) = events(log);
    let end = all.iter().map(|event| event.time).max().unwrap_or(0);
    // Cut only after the wall-clock event, by which parts are recognized as one log.
    let moment = |share: f64| (share * end as f64) as u64;
    let mut at: Vec<u64> = shares
        .iter()
        .map(|&share| moment(share).max(told_at.0 + 100_000))
        .collect();
    at.sort_unstable();
    let from = std::iter::once(None).chain(at.iter().copied().map(Some));
    let to = at.iter().copied().map(Some).chain([None]);
    let mut parts: Vec<Vec<u8>> = from.zip(to).map(|(from, to)| part(log, from, to)).collect();
    if order {
        parts.reverse();
    }
    let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let (new, counts, _) =
        merge_logs(&slices, &Align::WallClock, &[]).map_err(|e| e.to_string())?;
    let (again, reader) = events(&new);
    compare_events(&again, &all)?;
    expect_sound(&reader, original.has_end())?;
    if counts.events != all.len() as u64 {
        return Err(format!("{counts:?}"));
    }
    Ok(all.len())
}

#[test]
fn the_parts_of_a_log_give_the_log_again() {
    for_all(expected_coverage([35, 50_000], [100, 500_000]), |case| {
        cut_and_merged(&case.bytes(), &[0.3, 0.6], false)
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn parts_may_begin_anywhere(
        shares in proptest::collection::vec(0.0..1.0_f64, 0..4),
        order in any::<bool>(),
        which in any::<proptest::sample::Index>(),
    ) {
        let cases = common::fixture_cases();
        let result = cut_and_merged(&which.get(&cases).bytes(), &shares, order);
        prop_assert!(result.is_ok(), "{}: {result:?}", which.get(&cases).name);
    }
}

#[test]
fn what_parts_share_is_there_once() {
    let log = fixture("ghc-9.10.3/caps-N2-la").bytes();
    let (all, _) = events(&log);
    let end = all.iter().map(|event| event.time).max().unwrap_or(0);
    let overlapping = [
        part(&log, None, Some(end / 2)),
        part(&log, Some(end / 4), None),
    ];
    let (new, ..) =
        merge_logs(&[&overlapping[0], &overlapping[1]], &Align::WallClock, &[]).expect("a plan");
    assert_eq!(compare_events(&events(&new).0, &all), Ok(()));
    let (new, ..) = merge_logs(&[&log, &log, &log], &Align::WallClock, &[]).expect("a plan");
    assert_eq!(compare_events(&events(&new).0, &all), Ok(()));
}

/// Returns type, time and payload length of the events of each capability.
fn by_cap(events: &[RawEvent]) -> BTreeMap<u16, Vec<(u16, u64, usize)>> {
    let mut caps: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    for event in events {
        if let Some(cap) = event.cap {
            let row = (event.id, event.time, event.payload.len());
            caps.entry(cap).or_default().push(row);
        }
    }
    caps
}

/// Returns the thread ids of the events that begin with one.
fn threads(events: &[RawEvent]) -> Vec<u32> {
    let of_thread = events
        .iter()
        .filter(|event| matches!(event.id, 0..=4 | 8 | 44));
    let first = |event: &RawEvent| {
        event
            .payload
            .first_chunk()
            .map(|id| u32::from_be_bytes(*id))
    };
    of_thread.filter_map(first).collect()
}

/// Returns an error unless `new` has every event of both logs, in the order of each capability.
fn has_both(
    new: &[RawEvent],
    logs: [&[RawEvent]; 2],
    facts: &[Facts],
    shifts: [u64; 2],
) -> Result<(), String> {
    let shifted = |log: usize| {
        let moved = |event: &RawEvent| RawEvent {
            time: event.time + shifts[log],
            ..event.clone()
        };
        logs[log].iter().map(moved).collect::<Vec<RawEvent>>()
    };
    let (first, second) = (shifted(0), shifted(1));
    let caps = facts[0].caps as u16;
    let new_caps = by_cap(new);
    let mut expected = by_cap(&first);
    expected.extend(
        by_cap(&second)
            .into_iter()
            .map(|(cap, rows)| (cap + caps, rows)),
    );
    if new_caps != expected {
        return Err("the capabilities have other events".to_owned());
    }
    let outside = |events: &[RawEvent]| -> Vec<(u16, u64)> {
        let mut rows: Vec<_> = (events.iter().filter(|event| event.cap.is_none()))
            .map(|event| (event.id, event.time))
            .collect();
        rows.sort_unstable();
        rows
    };
    let both = [first.as_slice(), &second].concat();
    if outside(new) != outside(&both) {
        return Err("events of no capability differ".to_owned());
    }
    let mut ours = threads(new);
    let more = facts[0].threads as u32;
    let theirs = threads(&second).into_iter().map(|thread| thread + more);
    let mut expected: Vec<u32> = threads(&first).into_iter().chain(theirs).collect();
    ours.sort_unstable();
    expected.sort_unstable();
    if ours != expected {
        return Err("the threads are others".to_owned());
    }
    Ok(())
}

/// Events of two processes with equal times need no order, and must not start new blocks.
#[test]
fn processes_with_the_same_times_have_few_blocks() {
    let log = |pid: u32| {
        let types = [TYPES, &[(32, Some(8), "Process ID")]].concat();
        let mut log = LogBuilder::with_types(&types);
        log.block(None, (1, 5), |log| {
            log.event(32, 2, &[[0; 4], pid.to_be_bytes()].concat())
        });
        // Capabilities of one process do not have equal times.
        for (cap, step) in [(0, 700), (1, 1100), (2, 1300)] {
            log.block(Some(cap), (10, 10_000_000), |log| {
                for at in (0..2_000).map(|number| 101 + u64::from(cap) + 20 * step * number / 10) {
                    log.run(at, 7).stop(at + step, 7, 3);
                }
                log
            });
        }
        log.end().bytes.clone()
    };
    let logs = [log(1), log(2)];
    let (new, ..) = merge_logs(&[&logs[0], &logs[1]], &Align::Start, &[]).expect("a plan");
    let (all, reader) = events(&new);
    assert_eq!(reader.damage().count(), 0);
    assert!(all.len() > 24_000);
    let most = logs[0].len() + logs[1].len() + logs[0].len() / 10;
    assert!(new.len() < most, "{} bytes of {}", new.len(), logs[0].len());
}

#[test]
fn of_two_processes_each_has_its_events() {
    let names = [
        "ghc-9.6.6/fib-forkio-N2-l",
        "ghc-9.6.6/sparks-N2-ls",
        "ghc-9.6.6/dense-N2-l-flush",
    ];
    let logs = names.map(|name| fixture(name).bytes());
    for (a, b) in [(0, 1), (1, 0), (1, 2), (2, 0)] {
        let (new, counts, facts) =
            merge_logs(&[&logs[a], &logs[b]], &Align::WallClock, &[]).expect("a plan");
        let (all, reader) = events(&new);
        assert_eq!(reader.damage().count(), 0, "{:?}", reader.damage());
        assert_eq!((counts.censuses, counts.misfits.len()), (0, 0));
        let zero = |facts: &Facts| {
            let (time, unix) = facts.wall_clock.expect("they tell it");
            unix - u128::from(time.0)
        };
        let first = zero(&facts[0]).min(zero(&facts[1]));
        let shifts = [0, 1].map(|log| (zero(&facts[log]) - first) as u64);
        let own = [&events(&logs[a]).0[..], &events(&logs[b]).0[..]];
        assert_eq!(has_both(&all, own, &facts, shifts), Ok(()));
        // All clocks of the merged log agree.
        let mut zeros = Vec::new();
        let mut pids = Vec::new();
        let mut collect = |record: &Record<'_>| match record.event() {
            Event::WallClockTime { sec, nsec, .. } => {
                let unix = u128::from(sec) * 1_000_000_000 + u128::from(nsec);
                zeros.push(unix - u128::from(record.time.0));
            }
            Event::OsProcessPid { pid, capset } => pids.push((capset.0, pid)),
            _ => {}
        };
        read_log(&mut new.as_slice(), &mut collect).expect("a log");
        assert_eq!(zeros, [first, first]);
        assert_eq!(pids.len(), 2);
        assert_ne!(pids[0].0, pids[1].0, "each process has its set");
    }
}

#[test]
fn logs_are_aligned_by_their_starts_markers_and_by_hand() {
    let log = |start: u64, marker: u64| {
        let mut log = LogBuilder::with_types(TYPES);
        log.block(Some(0), (start, marker + 10), |b| {
            b.run(start, 1)
                .event(19, marker, b"ready")
                .run(marker + 10, 2)
        });
        log.end().bytes.clone()
    };
    let (first, second) = (log(100, 5_000), log(300, 900));
    let logs: [&[u8]; 2] = [&first, &second];
    let own = logs.map(|log| events(log).0);
    let check = |align: &Align, offsets: &[i128], shifts: [u64; 2]| {
        let (new, _, facts) = merge_logs(&logs, align, offsets).expect("a plan");
        let (all, reader) = events(&new);
        assert_eq!(reader.damage().count(), 0, "{:?}", reader.damage());
        // Skip the events that `merge` generates for processes without a capability set.
        let all: Vec<RawEvent> = all
            .into_iter()
            .filter(|event| !matches!(event.id, 25 | 27 | 30))
            .collect();
        assert_eq!(has_both(&all, [&own[0], &own[1]], &facts, shifts), Ok(()));
        let info = facts.iter().map(|facts| facts.threads).collect::<Vec<_>>();
        assert_eq!(info, [3, 3]);
    };
    check(&Align::Start, &[], [200, 0]);
    check(&Align::Start, &[0, 1000], [0, 800]);
    let marker = Align::Marker("ready".to_owned());
    check(&marker, &[], [0, 4_100]);
    check(&marker, &[0, -5_000], [900, 0]);
    let error = |align: &Align| merge_logs(&logs, align, &[]).err();
    assert_eq!(
        error(&Align::WallClock),
        Some(PlanError::NoWallClock("log-0".to_owned()))
    );
    let none = Align::Marker("none".to_owned());
    assert_eq!(
        error(&none),
        Some(PlanError::NoMarker("log-0".to_owned(), "none".to_owned()))
    );
}

/// Builds a log with these messages.
fn log_with_messages(texts: &[(u64, String)]) -> Vec<u8> {
    let mut texts = texts.to_vec();
    texts.sort();
    let (first, last) = (texts[0].0, texts[texts.len() - 1].0);
    let mut log = LogBuilder::with_types(TYPES);
    log.block(Some(0), (first, last), |b| {
        for (at, text) in &texts {
            b.event(19, *at, text.as_bytes());
        }
        b
    });
    log.end().bytes.clone()
}

/// Returns the time of each message of a merged log.
fn message_times(log: &[u8]) -> BTreeMap<String, u64> {
    let mut said = BTreeMap::new();
    let mut log = log;
    read_log(&mut log, &mut |record: &Record<'_>| {
        if let Event::UserMessage { msg } = record.event() {
            said.insert(msg.to_str().into_owned(), record.time.0);
        }
    })
    .expect("a log");
    said
}

/// Builds the logs of processes whose clocks start at `zeros`, and which exchange `messages`: sender, receiver,
/// time of sending, duration of transfer.
fn messaging_logs(zeros: &[u64], messages: &[(usize, usize, u64, u64)]) -> Vec<Vec<u8>> {
    let mut texts = vec![Vec::new(); zeros.len()];
    for (place, zero) in zeros.iter().enumerate() {
        // Message that all processes log at the same true time, to measure the error of the alignment.
        texts[place].push((BASE - zero, format!("process {place}")));
    }
    for (id, &(from, to, at, takes)) in messages.iter().enumerate() {
        texts[from].push((BASE + at - zeros[from], format!("SEND {id} with more")));
        texts[to].push((BASE + at + takes - zeros[to], format!("RECV {id}")));
    }
    texts.iter().map(|texts| log_with_messages(texts)).collect()
}

/// Later than the start of any clock.
const BASE: u64 = 2_000_000;

fn by_pairs() -> Align {
    let (send, receive) = Align::WORDS;
    Align::Messages(send.to_owned(), receive.to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// For any clocks and transfer times, no message arrives before it is sent, and clocks are wrong by at most
    /// half of the shortest round trip.
    #[test]
    fn messages_align_clocks(
        zeros in proptest::collection::vec(0..BASE, 2..4),
        messages in proptest::collection::vec((0..1_000_000_u64, 1..100_000_u64), 4..40),
    ) {
        // Neighboring processes send each other messages in turn.
        let count = zeros.len();
        let messages: Vec<_> = (messages.iter().enumerate())
            .map(|(id, &(at, takes))| {
                let one = (id / 2) % (count - 1);
                let (from, to) = if id % 2 == 0 { (one, one + 1) } else { (one + 1, one) };
                (from, to, at, takes)
            })
            .collect();
        let shortest = |from: usize, to: usize| {
            let own = messages.iter().filter(|message| (message.0, message.1) == (from, to));
            own.map(|message| message.3).min()
        };
        let ways: Option<Vec<u64>> = (0..count - 1)
            .map(|one| Some(shortest(one, one + 1)? + shortest(one + 1, one)?))
            .collect();
        let logs = messaging_logs(&zeros, &messages);
        let slices: Vec<&[u8]> = logs.iter().map(Vec::as_slice).collect();
        let result = merge_logs(&slices, &by_pairs(), &[]);
        let Some(ways) = ways else {
            prop_assert!(result.is_err());
            return Ok(());
        };
        let (new, ..) = result.expect("both directions");
        let said = message_times(&new);
        for (id, _) in messages.iter().enumerate() {
            let (sent, received) = (said[&format!("SEND {id} with more")], said[&format!("RECV {id}")]);
            // The midpoint may lie between two nanoseconds.
            prop_assert!(sent <= received + 1, "message {id}: {sent} {received}");
        }
        for one in 0..count - 1 {
            let wrong = said[&format!("process {}", one + 1)].abs_diff(said[&format!("process {one}")]);
            prop_assert!(2 * wrong <= ways[one] + 2, "{wrong} of {ways:?}");
        }
    }
}

#[test]
fn messages_that_do_not_tell_are_refused() {
    let merge_of = |messages: &[(usize, usize, u64, u64)]| {
        let logs = messaging_logs(&[0, 500_000], messages);
        merge_logs(&[&logs[0], &logs[1]], &by_pairs(), &[]).map(|(new, ..)| message_times(&new))
    };
    let both = merge_of(&[(0, 1, 10, 1_000), (1, 0, 9_000, 3_000)]).expect("both directions");
    assert_eq!(both["process 1"].abs_diff(both["process 0"]), 1_000);
    let one_way = merge_of(&[(0, 1, 10, 1_000), (0, 1, 20, 400)]).expect_err("one direction");
    // Relative to an alignment by their starts, the second log may begin at most 400 ns earlier.
    let words = one_way.to_string();
    assert!(
        words.contains("one direction only") && words.contains("at least -400 ns"),
        "{words}"
    );
    let back = merge_of(&[(1, 0, 10, 700)]).expect_err("one direction");
    assert!(back.to_string().contains("at most 700 ns"), "{back}");
    let none = merge_of(&[]).expect_err("no messages");
    assert_eq!(none, PlanError::NoMessages("log-1".to_owned()));
    // A clock that jumps: both transfer times are negative.
    let logs = [
        log_with_messages(&[(100, "SEND a".to_owned()), (150, "RECV b".to_owned())]),
        log_with_messages(&[(100, "RECV a".to_owned()), (200, "SEND b".to_owned())]),
    ];
    let wrong = merge_logs(&[&logs[0], &logs[1]], &by_pairs(), &[]).expect_err("a contradiction");
    assert!(matches!(wrong, PlanError::Contradiction(..)), "{wrong}");
    // An id used for two messages is ambiguous and ignored.
    let logs = [
        log_with_messages(&[
            (100, "SEND a".to_owned()),
            (150, "SEND a".to_owned()),
            (200, "RECV b".to_owned()),
        ]),
        log_with_messages(&[(120, "RECV a".to_owned()), (130, "SEND b".to_owned())]),
    ];
    let twice = merge_logs(&[&logs[0], &logs[1]], &by_pairs(), &[]).expect_err("one direction");
    assert!(matches!(twice, PlanError::OneWay { .. }), "{twice}");
}

/// Calls of two processes with equal numbers and names remain apart.
#[test]
fn foreign_calls_of_each_process_keep_their_times() {
    let messages = |texts: &[(u64, &str)]| {
        let texts: Vec<_> = (texts.iter())
            .map(|&(at, text)| (at, text.to_owned()))
            .collect();
        log_with_messages(&texts)
    };
    let logs = [
        messages(&[
            (10, "go"),
            (20, "START 0 f"),
            (25, "ANN_TH 0 f 7"),
            (50, "STOP 0 f"),
        ]),
        messages(&[
            (10, "go"),
            (30, "START 0 f"),
            (35, "ANN_TH 0 f 8"),
            (90, "STOP 0 f"),
        ]),
    ];
    let (new, ..) = merge_logs(&[&logs[0], &logs[1]], &Align::Start, &[]).expect("a plan");
    let mut calls = Calls::default();
    read_log(&mut new.as_slice(), &mut |record: &Record<'_>| {
        if let Event::UserMessage { msg } = record.event() {
            calls.message(&msg.to_str(), record.time);
        }
    })
    .expect("a log");
    let found: Vec<_> = (calls.finished.iter())
        .map(|call| {
            let thread = call.thread.map(|thread| thread.0);
            (call.span.start().0, call.span.end().0, thread)
        })
        .collect();
    assert_eq!(found, [(20, 50, Some(7)), (30, 90, Some(8))]);
    assert!(calls.anomalies.kept().is_empty());
}

/// A log has no place for the sampling interval of each process.
#[test]
fn differing_sampling_intervals_are_told() {
    let log = |interval: u64| {
        let types = [TYPES, &[(168, Some(8), "Start of time profile")]].concat();
        let mut log = LogBuilder::with_types(&types);
        log.block(None, (10, 20), |log| {
            log.event(168, 10, &interval.to_be_bytes())
        });
        log.end().bytes.clone()
    };
    let told = |intervals: [u64; 2]| {
        let logs = intervals.map(log);
        let merged = merge_logs(&[&logs[0], &logs[1]], &Align::Start, &[]);
        merged.expect("a plan").1.note_on_intervals()
    };
    let note = told([1_000_000, 10_000_000]).expect("a note");
    assert!(note.contains("(1 ms, 10 ms)"), "{note}");
    assert_eq!(told([1_000_000, 1_000_000]), None);
}

#[test]
fn any_two_logs_merge() {
    let all: Vec<_> = cases()
        .into_iter()
        .filter(|case| {
            let bytes = case.bytes();
            bytes.len() < 2 << 20
                && read_log(&mut bytes.as_slice(), &mut |_: &Record<'_>| {}).is_ok()
        })
        .collect();
    let mut checked = 0;
    for pair in all.windows(2).step_by(3) {
        let logs = [pair[0].bytes(), pair[1].bytes()];
        let (new, counts, _) =
            merge_logs(&[&logs[0], &logs[1]], &Align::Start, &[]).expect("a plan");
        let (after, reader) = events(&new);
        let name = format!("{} and {}", pair[0].name, pair[1].name);
        let has_end = logs.iter().all(|log| events(log).1.has_end());
        assert_eq!(expect_sound(&reader, has_end), Ok(()), "{name}");
        assert_eq!(counts.events, after.len() as u64, "{name}");
        let before: usize = logs.iter().map(|log| events(log).0.len()).sum();
        let left_out = counts.censuses + counts.misfits.values().sum::<u64>();
        let made = counts.events + left_out - before as u64;
        assert!(made <= 2 * (2 + 64), "{name}: {counts:?} of {before}");
        checked += 1;
    }
    assert!(checked >= 10, "{checked} pairs");
}

#[test]
fn ghc_events_reads_what_was_merged() {
    let folder = TempDir::new().expect("a folder");
    let Some(reader) = build_reference_reader(folder.path()) else {
        println!("ghc-events is not installed: nothing is compared");
        return;
    };
    let new = folder.path().join("new.eventlog");
    let cases = ["ghc-9.6.6/fib-forkio-N2-l", "ghc-9.6.6/sparks-N2-ls"].map(fixture);
    let logs = [cases[0].bytes(), cases[1].bytes()];
    let (both, ..) = merge_logs(&[&logs[0], &logs[1]], &Align::Start, &[]).expect("a plan");
    fs::write(&new, &both).expect("a file");
    let rows = |log: &std::path::Path| list_events(&reader, log).expect("ghc-events reads it");
    let before: usize = cases.iter().map(|case| rows(&case.log).len()).sum();
    assert_eq!(rows(&new).len(), before);
    let end = events(&logs[0])
        .0
        .iter()
        .map(|event| event.time)
        .max()
        .unwrap_or(0);
    let parts = [
        part(&logs[0], None, Some(end / 2)),
        part(&logs[0], Some(end / 2), None),
    ];
    let (whole, ..) = merge_logs(&[&parts[0], &parts[1]], &Align::WallClock, &[]).expect("a plan");
    fs::write(&new, &whole).expect("a file");
    assert_eq!(rows(&new), rows(&cases[0].log));
}

#[test]
fn the_command_line() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let case = fixture("ghc-9.6.6/fib-forkio-N2-l");
    let (a, b, new) = (path("a.eventlog"), path("b.eventlog"), path("new.eventlog"));
    stdout(&["cut", case.path(), "--to", "2000000", "-o", &a]);
    stdout(&["cut", case.path(), "--from", "2000000", "-o", &b]);
    stdout(&["merge", &b, &a, "-o", &new]);
    assert_eq!(stdout(&["events", &new]), stdout(&["events", case.path()]));

    let other = fixture("ghc-9.6.6/sparks-N2-ls");
    let status = |arguments: &[&str]| {
        let output = eventscope(arguments);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, said) = status(&[
        "merge",
        case.path(),
        other.path(),
        "-o",
        &new,
        "--verbose",
        "--offset",
        "sparks-N2-ls.eventlog=-1.5ms",
    ]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 processes"), "{said}");
    let caps = stdout(&["events", &new, "--type", "CapCreate"]);
    assert_eq!(caps.lines().count(), 4, "{caps}");
    let wrong = ["merge", case.path(), "-o", &new, "--offset", "nothing=1ms"];
    assert_eq!(status(&wrong).0, Some(2));
    let same_name = ["one", "two"].map(|folder| path(&format!("{folder}/same.eventlog")));
    for (path, log) in same_name.iter().zip([case.path(), other.path()]) {
        let folder = std::path::Path::new(path).parent().expect("a folder");
        fs::create_dir(folder).expect("a folder");
        fs::copy(log, path).expect("a copy");
    }
    let offset = |log: &str| {
        let [one, two] = &same_name;
        status(&["merge", one, two, "-o", &new, "--offset", log])
    };
    let (code, said) = offset("same.eventlog=1ms");
    let advice = format!(
        "2 logs are named same.eventlog: write the path, such as {}",
        same_name[0]
    );
    assert!(code == Some(2) && said.contains(&advice), "{code:?} {said}");
    assert_eq!(offset(&format!("{}=1ms", same_name[1])).0, Some(0));
    let wrong = ["merge", case.path(), "-o", &new, "--by", "marker"];
    assert_eq!(status(&wrong).0, Some(2));
    let marker = [
        "merge",
        case.path(),
        other.path(),
        "-o",
        &new,
        "--by",
        "marker=no such text",
    ];
    assert_eq!(status(&marker).0, Some(1));
    for wrong in ["messages=SEND", "pair"] {
        let wrong = ["merge", case.path(), "-o", &new, "--by", wrong];
        assert_eq!(status(&wrong).0, Some(2));
    }
    let texts = [
        [(10, "OUT 1"), (90, "IN 2")],
        [(1_020, "IN 1"), (1_060, "OUT 2")],
    ];
    let talks =
        texts.map(|texts| log_with_messages(&texts.map(|(at, text)| (at, text.to_owned()))));
    for (path, log) in [&a, &b].into_iter().zip(&talks) {
        fs::write(path, log).expect("a file");
    }
    let (code, said) = status(&["merge", &a, &b, "-o", &new, "--by", "messages=OUT,IN"]);
    let bounds = "b.eventlog: shifted by 20 ns relative to alignment by start, from 2 messages with a.eventlog; bounds 0 ns and 40 ns";
    assert!(code == Some(0) && said.contains(bounds), "{code:?} {said}");
    assert_eq!(
        status(&["merge", &a, &b, "-o", &new, "--by", "pairs"]).0,
        Some(1)
    );
    fs::copy(case.path(), &new).expect("a copy");
    assert_eq!(
        status(&["merge", other.path(), &new, "-o", &new]).0,
        Some(2)
    );
}

/// A newer GHC may append fields to the types of events that `merge` generates.
#[test]
fn made_events_have_the_size_that_the_logs_declare() {
    for size in [4, 8] {
        let log = |capset_bytes| {
            let mut types = TYPES.to_vec();
            types.extend([
                (25, Some(capset_bytes), "Create capability set"),
                (27, Some(capset_bytes), "Add capability to capability set"),
            ]);
            let mut log = LogBuilder::with_types(&types);
            log.block(Some(0), (10, 3000), |b| {
                b.event(0, 10, &[0, 0, 0, 1]).run(20, 1).stop(2000, 1, 5)
            });
            log.end().bytes.clone()
        };
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
        fs::write(path("a"), log(size)).expect("a file");
        fs::write(path("b"), log(6)).expect("a file");
        let merged = eventscope(&[
            "merge",
            &path("a"),
            &path("b"),
            "--by",
            "start",
            "-o",
            &path("new"),
        ]);
        assert_eq!(merged.status.code(), Some(0), "{merged:?}");
        let bytes = fs::read(path("new")).expect("a log");
        let (events, reader) = events(&bytes);
        assert_eq!(reader.damage().count(), 0, "{:?}", reader.damage());
        let sets = events.iter().filter(|event| event.id == 25).count();
        assert_eq!(sets, 2, "one for each process");
    }
}

/// The merged log does not show the damage of its parts: the message names each damaged log.
#[test]
fn damage_that_is_not_shown_names_its_log() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (10, 10_000), |log| log.runs(10, 4));
    let sound = log.bytes.clone();
    log.raw(&[0xAB; 64]);
    log.block(Some(0), (20_000, 30_000), |log| log.runs(20_000, 4));
    let damaged = log.end().bytes.clone();
    let sound = [sound.as_slice(), &[0xFF, 0xFF]].concat();
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let logs = ["a.eventlog", "b.eventlog", "c.eventlog"].map(path);
    for (log, bytes) in logs.iter().zip([&damaged, &sound, &damaged]) {
        fs::write(log, bytes).expect("a file");
    }
    let [a, b, c] = &logs;
    let merged = eventscope(&["merge", a, b, c, "--by", "start", "-o", &path("new")]);
    let said = String::from_utf8_lossy(&merged.stderr);
    let message =
        "the new log contains what can be read, and does not show that the damaged part is missing";
    let told: Vec<&str> = said
        .lines()
        .filter(|line| line.ends_with(message))
        .collect();
    let expected = [a, c].map(|log| format!("eventscope: {log}: {message}"));
    assert_eq!(told, expected, "{said}");
}
