//! Reads a file of symbols, an executable or the output of `nm`, and names some addresses by it: one from the
//! first eight bytes, and some of its symbols.
#![no_main]

use std::io::Cursor;

use eventlog::ids::Address;
use libfuzzer_sys::fuzz_target;
use symbols::{NameRequest, Symbols, is_symbols};

fuzz_target!(|bytes: &[u8]| {
    let Some((address, file)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let _ = is_symbols(file);
    let Ok(mut symbols) = Symbols::read(Cursor::new(file)) else {
        return;
    };
    assert!(!symbols.is_empty());
    let address = Address(u64::from_le_bytes(*address));
    let known = [Address(0x40_012B), Address(0x40_010F)];
    for functions in [vec![address], known.to_vec(), Vec::new()] {
        let wanted = NameRequest {
            functions,
            info_tables: vec![address, Address(0x40_00D8)],
            known: vec![(Address(0x40_00D8), "map_info".to_owned())],
        };
        if let Ok(naming) = symbols.name(&wanted) {
            assert!(naming.names.len() <= 4 && naming.modules.len() <= 2);
        }
    }
});
