//! Well-formed logs with extreme and colliding ids, counts and times: the size of all output is proportional to
//! the log.
#![no_main]

#[path = "../../tests/common/adversary.rs"]
mod adversary;
#[path = "../../tests/common/asking.rs"]
mod asking;
#[path = "../../tests/common/build.rs"]
mod build;

use adversary::{OutputSizes, adversarial_log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|seed: &[u8]| {
    let log = adversarial_log(&seed[..seed.len().min(4096)]);
    OutputSizes::measure(&log, false).assert_proportional(log.len());
});
