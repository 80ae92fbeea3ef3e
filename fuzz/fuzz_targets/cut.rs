//! Cuts a log, optionally anonymized. For any bytes, the output is a log with the reported number of events, and
//! parts can be merged.
#![no_main]

use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log_by;
use eventlog::{EventType, LogReader, Record};
use eventlog_edit::anonymous::Anonymizer;
use eventlog_edit::cut::{Cut, Selection};
use eventlog_edit::merge::{Align, Feed, Plan, Survey, merge};
use libfuzzer_sys::fuzz_target;

/// Limit for the inflated size of compressed inputs; larger ones would only be slow.
const MAX_INFLATED: u64 = 1 << 20;

fn reader(log: &[u8]) -> LogReader {
    LogReader::new(log.len() as u64).with_inflate_limit(MAX_INFLATED)
}

fn cut(mut log: &[u8], selection: Selection, anonymise: bool) -> Option<Vec<u8>> {
    let anonymizer = anonymise.then(Anonymizer::default);
    let mut cut = Cut::new(selection, anonymizer, Vec::new());
    let reader = read_log_by(reader(log), &mut log, &mut cut).ok()?;
    let (new, counts) = cut.finish(&reader).ok()?;
    assert!(counts.written + counts.unknown <= counts.read);
    assert_eq!(counts.bytes, new.len() as u64);
    let again = self::reader(&new);
    read_log_by(again, &mut new.as_slice(), &mut |_: &Record<'_>| {}).expect("a log");
    Some(new)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[how, a, b, c], log)) = bytes.split_first_chunk() else {
        return;
    };
    let on = |bit: u8| how & 1 << bit != 0;
    let moment = |byte: u8| Nanos(u64::from(byte) << 20);
    let selection = Selection {
        from: on(0).then(|| moment(a)),
        to: on(1).then(|| moment(b)),
        caps: on(2).then(|| [CapId(u16::from(c))].into_iter().collect()),
        threads: on(3).then(|| [ThreadId(u32::from(c))].into_iter().collect()),
        types: on(4).then(|| [EventType(u16::from(a))].into_iter().collect()),
        excluded: on(5)
            .then_some(EventType(u16::from(b)))
            .into_iter()
            .collect(),
    };
    let Some(new) = cut(log, selection, on(6)) else {
        return;
    };
    let mut logs = [log, &new];
    logs.rotate_left(usize::from(on(7)));
    let facts = |log: &&[u8]| {
        let mut survey = Survey::new("log", &Align::Start);
        let read = read_log_by(reader(log), &mut &**log, &mut survey).expect("a log");
        survey.finish(read.header().map(|header| &**header))
    };
    let facts: Vec<_> = logs.iter().map(facts).collect();
    let Ok(plan) = Plan::new(&facts, &Align::Start, &[]) else {
        return;
    };
    let feeds = logs
        .iter()
        .map(|log| Feed::new(reader(log), *log))
        .collect();
    let (merged, _) = merge(&plan, feeds, Vec::new()).expect("memory takes all");
    read_log_by(
        reader(&merged),
        &mut merged.as_slice(),
        &mut |_: &Record<'_>| {},
    )
    .expect("a log");
});
