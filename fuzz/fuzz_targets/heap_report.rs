//! Reads a heap profile in text, at once and in pieces: the result is an undamaged eventlog in order of time, the
//! same in both cases.
#![no_main]

use eventlog::{DamageKind, DamageList, LogReader, Need, Record, Step};
use libfuzzer_sys::fuzz_target;

/// Returns offset, type and time of every event, and the damage.
fn read(file: &[u8], piece: usize) -> (Vec<(u64, u16, u64)>, DamageList) {
    let mut reader = LogReader::new(file.len() as u64);
    let mut events = Vec::new();
    let mut sink = |record: &Record<'_>| {
        events.push((record.offset.0, record.id.0, record.time.0));
    };
    loop {
        match reader.advance(&mut sink, 1000) {
            Ok(Step::Need(needs)) => {
                for Need(range) in needs {
                    let start = range.start as usize;
                    let end = (range.end as usize).min(start.saturating_add(piece));
                    reader.supply(range.start, &file[start..end]);
                }
            }
            Ok(Step::Done) => break,
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let accounting = reader.accounting().expect("the log is read");
    assert_eq!(accounting.lost, 0);
    assert_eq!(accounting.total(), reader.len().0);
    assert_eq!(
        reader.heap_report().map(|report| report.bytes),
        Some(file.len() as u64)
    );
    (events, reader.damage())
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&piece, text)) = bytes.split_first() else {
        return;
    };
    let file = [b"JOB ", text].concat();
    let (events, damage) = read(&file, usize::MAX);
    assert!(events.is_sorted_by_key(|&(_, _, time)| time));
    assert!(damage.lost_bytes <= file.len() as u64);
    let of_text = |kind: DamageKind| {
        matches!(
            kind,
            DamageKind::ReportLine(_)
                | DamageKind::ReportTime(_)
                | DamageKind::ReportUnit
                | DamageKind::ReportCut
                | DamageKind::NoEndMarker
        )
    };
    assert!(damage.kinds().all(|(kind, _)| of_text(kind)), "{damage:?}");
    assert_eq!(read(&file, 1 + usize::from(piece)), (events, damage));
});
