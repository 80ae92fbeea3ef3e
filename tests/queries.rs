//! Every kind of query, asked of every kind of log, undamaged or damaged, with random parameters. No answer
//! panics, and none depends on yielding or on the pieces in which the file is read.

use crate::common;
use crate::common::asking;

use std::sync::LazyLock;

use asking::{Choices, open_and_ask};
use common::fixture_cases;
use proptest::prelude::*;
use proptest::sample::Index;

/// Maximum size of logs, as each is read many times.
const LARGEST: usize = 120_000;

static LOGS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let cases = fixture_cases().into_iter();
    let logs = cases.map(|case| (case.name.clone(), case.bytes()));
    let logs: Vec<_> = logs.filter(|(_, bytes)| bytes.len() <= LARGEST).collect();
    assert!(logs.len() >= 15, "{} fixtures", logs.len());
    logs
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_question_has_an_answer(
        log in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<Index>()),
        choices in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let (_, whole) = log.get(&LOGS);
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        // Not every damaged log can be read.
        drop(open_and_ask(&bytes, &mut Choices::new(&choices)));
    }
}

#[test]
fn whole_logs_answer_everything() {
    // Arbitrary varying bytes, the same for all logs.
    let choices: Vec<u8> = (0..4000_u32).map(|i| (i * i / 7 + i * 31) as u8).collect();
    let mut read = 0;
    for (name, bytes) in LOGS.iter() {
        match open_and_ask(bytes, &mut Choices::new(&choices)) {
            Ok(session) => {
                assert!(session.is_complete(), "{name}");
                read += 1;
            }
            Err(error) => assert!(name.contains("cut-"), "{name}: {error}"),
        }
    }
    assert!(read >= 15, "only {read} logs were read");
}
