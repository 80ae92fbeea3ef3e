//! Do small pinned objects hold blocks?
//!
//! A pinned byte array cannot be moved, so the block of 4 KiB in which it lies is kept as
//! long as anything in it is alive. Censuses count the whole block, so they cannot tell
//! large buffers from small pieces: the finding is a hint.

use super::census::{Peak, WITHOUT};
use super::{Look, Rule};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope};
use model::format;

/// Of the largest census.
const LEAST_SHARE: f64 = 0.40;
/// Less is not worth a look.
const LEAST_BYTES: u64 = 10_000_000;

const NAME: &str = "pinned-blocks";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do small pinned objects hold blocks?",
    inputs: &[Input::Censuses],
    look: Look::AtOnce(look),
};

fn look(scope: &Scope<'_>, _: &mut Ledger) -> Outcome {
    let Some(peak) = Peak::in_scope(scope) else {
        return Outcome::CannotTell(WITHOUT.into());
    };
    let arrays: u64 = peak
        .types(|name| name == "ARR_WORDS")
        .iter()
        .map(|(_, bytes)| bytes)
        .sum();
    let share = arrays as f64 / peak.bytes.max(1) as f64;
    if share < LEAST_SHARE || arrays < LEAST_BYTES {
        return Outcome::Clear(format!(
            "byte arrays were {} of the largest census, {}; the limits are 40 % and 10 MB",
            format::fraction(share),
            format::bytes(arrays)
        ));
    }
    let title = format!(
        "{} of live data, {}, is byte arrays",
        format::fraction(share),
        format::bytes(arrays)
    );
    let mut finding = Finding::of_memory(NAME, title, (arrays, share));
    // How much of it small pieces hold the log does not say.
    finding.confidence = Confidence::Hint;
    finding.meaning =
        "If they are small and pinned, as ByteStrings are, each keeps a block of 4 KiB, or all of a larger buffer of which it is a part.".into();
    finding.tries = vec![
        Try::code("Keep short pieces as ShortByteString or Text, which can be moved."),
        Try::code("Copy what is kept of a large buffer (Data.ByteString.copy)."),
        Try::measure(
            "-hi -l",
            "With -finfo-table-map it says what else the program keeps beside them (GHC 9.2 and later).",
        ),
    ];
    finding.distrust =
        "Large buffers, unboxed arrays and texts are byte arrays too, and take what they hold."
            .into();
    finding.numbers = vec![
        ("byte arrays".into(), Value::Bytes(arrays)),
        ("all of the census".into(), Value::Bytes(peak.bytes)),
    ];
    let evidence = Evidence {
        range: peak.moment(),
        subjects: Vec::new(),
        amount: Value::Bytes(arrays),
    };
    Outcome::Found(vec![finding.seen_in([evidence])])
}
