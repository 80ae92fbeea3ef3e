//! Logs that are sound in their form but name extreme and colliding ids, counts and times: what is written of one is
//! in proportion to its bytes.
#![no_main]

#[path = "../../tests/common/adversary.rs"]
mod adversary;
#[path = "../../tests/common/asking.rs"]
mod asking;
#[path = "../../tests/common/build.rs"]
mod build;

use adversary::{Written, log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|wishes: &[u8]| {
    let log = log(&wishes[..wishes.len().min(4096)]);
    Written::of(&log, false).must_fit(log.len());
});
