//! Builds a profile of messages, one per line, some of which announce foreign calls and C functions.
#![no_main]

use analysis::flamegraph::centres::CostCentres;
use analysis::flamegraph::collect::ProfileCollector;
use eventlog::ids::Nanos;
use eventlog::status::StopCodes;
use eventlog::{Event, EventType};
use libfuzzer_sys::fuzz_target;
use model::time::Interval;

fuzz_target!(|bytes: &[u8]| {
    let mut collector = ProfileCollector::default();
    let mut at = 0;
    for line in bytes.split(|&byte| byte == b'\n') {
        // Some lines have equal times, some go back in time.
        at = match line.len() % 5 {
            0 => at,
            1 => u64::saturating_sub(at, 3),
            _ => at + 10,
        };
        let event = Event::decode(EventType(19), line, StopCodes::default());
        collector.profile_event(event, Nanos(at));
    }
    let (profile, _) =
        collector.finish(Interval::new(Nanos(0), Nanos(at)), &CostCentres::default());
    for track in &profile.tracks {
        let samples = &track.samples;
        for pair in (0..samples.len()).collect::<Vec<_>>().windows(2) {
            let (Some((first, _)), Some((next, _))) = (samples.get(pair[0]), samples.get(pair[1]))
            else {
                unreachable!("a sample");
            };
            assert!(first.end() <= next.start());
        }
    }
});
