use proptest::prelude::*;

use super::*;
use crate::diagnostics::Diagnostic;
use eventlog::EventType;
use eventlog::ids::Duration;
use eventlog::status::StopCodes;
use model::time::Interval;

impl StackSampleCollector {
    fn take(&mut self, at: u64, id: u16, payload: &[u8]) {
        let event = Event::decode(EventType(id), payload, StopCodes::default());
        self.stack_event(&event, Nanos(at));
    }

    fn stack(&mut self, at: u64, (cap, thread): (u32, u32), last: bool, frames: &[StackFrame]) {
        let tag = [0xFF, if last { 0xCA } else { 0xCB }];
        let mut bytes = tag.to_vec();
        bytes.extend(cap.to_be_bytes());
        bytes.extend(thread.to_be_bytes());
        bytes.extend((frames.len() as u16).to_be_bytes());
        for frame in frames {
            match frame {
                StackFrame::InfoTable(address) => {
                    bytes.push(1);
                    bytes.extend(address.to_be_bytes());
                }
                StackFrame::Annotation { text, location } => {
                    bytes.push(if location.is_some() { 3 } else { 2 });
                    bytes.extend(text.to_be_bytes());
                    bytes.extend(location.iter().flat_map(|id| id.to_be_bytes()));
                }
                StackFrame::Location(id) => {
                    bytes.push(3);
                    bytes.extend(id.to_be_bytes());
                }
            }
        }
        self.take(at, 181, &bytes);
    }

    fn define(&mut self, id: u64, text: &str) {
        let mut bytes = vec![0xFF, 0xCC];
        bytes.extend(id.to_be_bytes());
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text.as_bytes());
        self.take(0, 181, &bytes);
    }

    fn location(&mut self, id: u64, (line, column): (u32, u32), file: u64) {
        let mut bytes = vec![0xFF, 0xCD];
        bytes.extend(id.to_be_bytes());
        bytes.extend(line.to_be_bytes());
        bytes.extend(column.to_be_bytes());
        bytes.extend(file.to_be_bytes());
        self.take(0, 181, &bytes);
    }
}

fn describe(tables: &mut InfoTables, address: u64, label: &str, module: &str, place: &str) {
    let texts = format!("tbl_info\0desc\0ty\0{label}\0{module}\0{place}\0");
    let payload = [&address.to_be_bytes()[..], texts.as_bytes()].concat();
    tables.describe(&Event::decode(
        EventType::IPE,
        &payload,
        StopCodes::default(),
    ));
}

const fn table(address: u64) -> StackFrame {
    StackFrame::InfoTable(address)
}

const fn note(text: u64, location: Option<u64>) -> StackFrame {
    StackFrame::Annotation { text, location }
}

/// Formats every sample with its track, start, end and frames.
fn rows(profile: &Profile) -> Vec<String> {
    let mut rows = Vec::new();
    for track in &profile.tracks {
        for (span, stack) in (0..track.samples.len()).filter_map(|i| track.samples.get(i)) {
            let frames = profile.stacks.outermost_first(stack).into_iter();
            let names: Vec<String> = frames
                .filter_map(|id| profile.frames.get(id).map(Frame::name))
                .collect();
            let (source, start, end) = (track.source.name(), span.start().0, span.end().0);
            rows.push(format!("{source} {start}..{end} {}", names.join(" ")));
        }
    }
    rows
}

#[test]
fn parts_are_put_together_and_named_by_what_comes_later() {
    let mut collector = StackSampleCollector::default();
    let mut tables = InfoTables::default();
    collector.take(0, 181, b"\xFF\xC0\x01");
    // A stack of another thread separates the parts.
    collector.stack(10, (0, 7), false, &[table(0x10), table(0x20)]);
    collector.stack(11, (1, 8), true, &[table(0x10)]);
    collector.stack(12, (0, 7), true, &[note(1, Some(4)), table(0x30)]);
    collector.stack(22, (0, 7), true, &[table(0x10), table(0x20)]);
    collector.stack(31, (0, 7), true, &[]);
    describe(&mut tables, 0x10, "main", "Main", "M.hs:1:1-9");
    describe(&mut tables, 0x20, "", "Main", "");
    collector.location(4, (12, 3), 2);
    collector.define(1, "handling a request");
    collector.define(2, "app/M.hs");
    let (profile, anomalies) = collector.finish(Nanos(40), &tables);
    assert_eq!(anomalies, Diagnostics::default());
    // Gaps of thread 7: 10 and 9; the median is the lower one.
    assert_eq!(profile.tick_interval, Some(Duration(9)));
    assert_eq!(
        rows(&profile),
        [
            "cap0 3..12 Main.main Main.tbl handling a request 0x30",
            "cap0 13..22 Main.main Main.tbl",
            "cap0 22..31 no frames",
            "cap1 2..11 Main.main",
            "thread7 3..12 Main.main Main.tbl handling a request 0x30",
            "thread7 13..22 Main.main Main.tbl",
            "thread7 22..31 no frames",
            "thread8 2..11 Main.main",
        ]
    );
    let frame = |label| {
        let mut frames = profile.frames.iter();
        frames
            .find(|(_, frame)| frame.label == label)
            .map(|(_, frame)| frame.clone())
    };
    let note = frame("handling a request").expect("it is there");
    assert_eq!(note.location.as_deref(), Some("app/M.hs:12:3"));
    assert_eq!(frame("0x30").and_then(|frame| frame.address), Some(0x30));
    let main = frame("main").expect("it is there");
    assert_eq!(
        (main.address, main.location.as_deref()),
        (None, Some("M.hs:1:1-9"))
    );
    assert_eq!(profile.selected_tracks(&[]), [0, 1]);
    assert_eq!(profile.span, Interval::new(Nanos(2), Nanos(40)));
}

#[test]
fn threads_sampled_in_one_tick_share_it() {
    let mut collector = StackSampleCollector::default();
    let tables = InfoTables::default();
    for tick in 1..=3 {
        for thread in [5, 6] {
            let at = tick * 1000 + u64::from(thread);
            collector.stack(at, (0, thread), true, &[table(thread.into())]);
        }
    }
    let (profile, _) = collector.finish(Nanos(5000), &tables);
    assert_eq!(
        rows(&profile)[..4],
        [
            "cap0 6..506 0x5",
            "cap0 506..1006 0x6",
            "cap0 1006..1506 0x5",
            "cap0 1506..2006 0x6",
        ]
    );
}

#[test]
fn what_is_wrong_costs_only_itself() {
    let mut collector = StackSampleCollector::default();
    let tables = InfoTables::default();
    collector.stack(3, (0, 7), false, &[table(1)]);
    collector.stack(4, (0, 8), true, &[note(1, Some(2)), note(3, None)]);
    collector.stack(5, (0x1_0000, 8), true, &[table(1)]);
    collector.location(9, (1, 1), 77);
    collector.stack(6, (0, 8), true, &[note(3, Some(9)), note(1, Some(2))]);
    collector.define(3, "defined");
    let (profile, anomalies) = collector.finish(Nanos(9), &tables);
    assert_eq!(
        rows(&profile)[..2],
        ["cap0 2..4 text 1 defined", "cap0 4..6 defined text 1"]
    );
    let mut anomalies = anomalies;
    anomalies.sort();
    let expected = [
        (3, StackProblem::LastPartMissing(7)),
        (4, StackProblem::UnknownText(1)),
        (4, StackProblem::UnknownLocation(2)),
        (5, StackProblem::NoSuchCapability(0x1_0000)),
        (6, StackProblem::UnknownText(77)),
    ];
    let expected = expected.map(|(at, what)| Diagnostic::at_time(Nanos(at), what));
    assert_eq!(anomalies.kept(), expected);
}

#[test]
fn other_logs_have_none() {
    let mut collector = StackSampleCollector::default();
    let mut tables = InfoTables::default();
    describe(&mut tables, 0x10, "main", "Main", "M.hs:1:1-9");
    collector.take(3, 181, b"hello");
    let (profile, anomalies) = collector.finish(Nanos(9), &tables);
    assert!(profile.tracks.is_empty() && anomalies == Diagnostics::default());
}

/// Messages of any kind, mostly well-formed.
#[derive(Clone, Debug)]
enum Said {
    Stack(u64, (u32, u32), bool, Vec<u64>),
    Bytes(u64, Vec<u8>),
}

fn said() -> impl Strategy<Value = Said> {
    let frames = prop::collection::vec(0..4_u64, 0..5);
    let stack = (0..500_u64, (0..2_u32, 0..3_u32), any::<bool>(), frames);
    let bytes = prop::collection::vec(prop_oneof![Just(0xFF), Just(0xCA), 0..4_u8], 0..40);
    prop_oneof![
        3 => stack.prop_map(|(at, of, last, frames)| Said::Stack(at, of, last, frames)),
        1 => (0..500_u64, bytes).prop_map(|(at, bytes)| Said::Bytes(at, bytes)),
    ]
}

proptest! {
    /// For any messages: no panic; one sample per last part on both kinds of tracks; the weights of the parts of
    /// any division of the time add up to those of the whole.
    #[test]
    fn parts_sum_to_the_whole(
        said in prop::collection::vec(said(), 0..60),
        cuts in prop::collection::vec(0..600_u64, 0..6),
    ) {
        let mut collector = StackSampleCollector::default();
    let tables = InfoTables::default();
        let mut whole = 0;
        for said in said {
            match said {
                Said::Stack(at, of, last, frames) => {
                    let frames: Vec<StackFrame> = frames.into_iter().map(table).collect();
                    collector.stack(at, of, last, &frames);
                    whole += usize::from(last);
                }
                Said::Bytes(at, bytes) => collector.take(at, 181, &bytes),
            }
        }
        let (profile, _) = collector.finish(Nanos(600), &tables);
        let count = |of_thread: bool| -> usize {
            let tracks = profile.tracks.iter().filter(|track| {
                matches!(track.source, TrackSource::Thread(_)) == of_thread
            });
            tracks.map(|track| track.samples.len()).sum()
        };
        prop_assert_eq!(count(false), count(true));
        prop_assert!(count(true) >= whole);
        for tracks in [profile.selected_tracks(&[]), (0..profile.tracks.len()).collect()] {
            crate::flamegraph::test_support::parts_sum(&profile, &tracks, cuts.clone())?;
        }
    }
}
