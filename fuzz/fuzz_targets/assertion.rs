//! Any text is an assertion, or it is said what is wrong with it.
#![no_main]

use insight::assertion::Assertion;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(wrong) = Assertion::parse(text) {
        assert!(wrong.at <= text.chars().count() && !wrong.to_string().is_empty());
    }
});
