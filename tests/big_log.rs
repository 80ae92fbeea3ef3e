//! The synthetic log of `examples/make_big_log.rs`, which the benchmarks read, has no damage and no anomalies.

use analysis::check::Check;
use eventlog::Record;
use eventlog::source::read_log;

use crate::program;

/// Writes and reads a synthetic log. Returns the text printed by the writer, the number of events, and all problems.
fn read(bytes: u64, caps: u16, is_plain: bool) -> (String, u64, Vec<String>) {
    let mut log = Vec::new();
    let told = program::write(&mut log, bytes, caps, is_plain, u64::from(caps)).expect("memory");
    let (mut check, mut events, mut odd) = (Check::default(), 0, Vec::new());
    let mut look = |record: &Record<'_>| {
        events += 1;
        check.event(record, &mut |diagnostic| {
            odd.push(format!("{diagnostic:?}"))
        });
    };
    let reader = read_log(&mut log.as_slice(), &mut look).expect("a log");
    check.finish();
    odd.extend(check.tolerated.keys().map(|what| format!("{what:?}")));
    odd.extend(reader.damage().kept.iter().map(|at| format!("{at:?}")));
    (told, events, odd)
}

#[test]
fn nothing_is_odd_about_it() {
    for (caps, is_plain) in [(1, false), (4, false), (4, true), (33, false)] {
        let (told, events, odd) = read(6_000_000, caps, is_plain);
        assert_eq!(odd, Vec::<String>::new(), "{caps} capabilities");
        assert!(told.starts_with(&format!("{events} events")), "{told}");
        assert!(events > 300_000, "{told}");
    }
}
