//! Output size is proportional to the size of the log, for any ids, counts and times in the log.
//! `proportion.rs` measures the work.

use crate::common::adversary::{OutputSizes, adversarial_log};
use crate::common::build::LogBuilder;

use proptest::prelude::*;

/// Builds a log with a few early events and one late run on each of `caps` capabilities.
fn late_event(caps: u16, late_ns: u64) -> Vec<u8> {
    let mut log = LogBuilder::new();
    for cap in 0..caps {
        let thread = u32::from(cap) + 1;
        log.block(Some(cap), (10, late_ns + 100), |log| {
            log.run(1000, thread).stop(2000, thread, 1);
            log.run(late_ns, thread).stop(late_ns + 50, thread, 5)
        });
    }
    log.end();
    log.bytes
}

#[test]
fn a_long_time_without_events_is_no_output() {
    const DAY_NS: u64 = 86_400_000_000_000;
    for caps in [1, 30] {
        let log = late_event(caps, DAY_NS);
        OutputSizes::measure(&log, true).assert_proportional(log.len());
    }
}

#[test]
fn a_run_of_a_day_is_no_output() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 90_000_000_000_000), |log| {
        log.run(1000, 1).stop(86_400_000_000_000, 1, 5)
    });
    log.end();
    OutputSizes::measure(&log.bytes, true).assert_proportional(log.bytes.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_numbers(seed in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let log = adversarial_log(&seed);
        OutputSizes::measure(&log, true).assert_proportional(log.len());
    }
}
