//! Any text either parses as an assertion or yields an error with a position. The metrics of an assertion are
//! parts of its text, and it can be checked against a comparison without any runs.
#![no_main]

use insight::Comparison;
use insight::assertion::Assertion;
use insight::compare::Options;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Assertion::parse(text) {
        Err(wrong) => {
            assert!(wrong.position <= text.chars().count() && !wrong.to_string().is_empty())
        }
        Ok(assertion) => {
            for asked in assertion.requests() {
                assert!(text.contains(&asked.text) && !asked.text.is_empty());
                // A parsed metric parses again.
                assert!(Assertion::parse(&format!("{} == 0", asked.text)).is_ok());
            }
            let nothing = Comparison::compare(&[], &[], &Options::default());
            let _ = assertion.check(&nothing);
        }
    }
});
