//! Any text is an assertion, or it is said what is wrong with it; what an assertion asks for
//! is part of it, and can be asked of two sides of runs, even if these have nothing.
#![no_main]

use insight::Comparison;
use insight::assertion::Assertion;
use insight::compare::Options;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Assertion::parse(text) {
        Err(wrong) => assert!(wrong.at <= text.chars().count() && !wrong.to_string().is_empty()),
        Ok(assertion) => {
            for asked in assertion.asked() {
                assert!(text.contains(&asked.text) && !asked.text.is_empty());
                // What is read once is read again.
                assert!(Assertion::parse(&format!("{} == 0", asked.text)).is_ok());
            }
            let nothing = Comparison::of(&[], &[], &Options::default());
            let _ = assertion.check(&nothing);
        }
    }
});
