//! Parses the header of a log.
#![no_main]

use eventlog::header::{Header, Parsed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Header::parse(bytes, 0) {
        Ok(Parsed::Header(header, len)) => {
            assert!(len <= bytes.len());
            for decl in &header.types {
                assert!(header.decl(decl.id).is_some());
                assert!(!header.knows(decl.id) || decl.id.name().is_some());
            }
            // The result does not depend on the bytes after the header.
            let whole = Header::parse(&bytes[..len], 0);
            assert_eq!(whole, Ok(Parsed::Header(header, len)));
        }
        Ok(Parsed::NeedMore) => {}
        Err(error) => assert!(error.to_string().len() > 40),
    }
});
