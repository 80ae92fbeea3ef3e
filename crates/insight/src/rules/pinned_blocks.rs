//! Do small pinned objects hold blocks?
//!
//! A pinned byte array cannot be moved, so the block of 4 KiB in which it lies is kept as
//! long as anything in it is alive. Censuses of GHC 9.0.2 count the whole block, so they cannot
//! tell large buffers from small pieces: the finding is a hint. Those of 9.6.6 and 9.10.3 count
//! the pieces alone, while the runtime counts blocks as alive: the difference is what they waste.

use super::census::{Peak, WITHOUT};
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Finding, Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::process::Way;
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

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let Some(peak) = Peak::in_scope(context) else {
        return Outcome::CannotTell(WITHOUT.into());
    };
    let arrays: u64 = peak
        .types(|name| name == "ARR_WORDS")
        .iter()
        .map(|(_, bytes)| bytes)
        .sum();
    let alive = blocks_alive(context, &peak);
    let blocks = alive.map_or(0, |alive| alive.saturating_sub(peak.bytes));
    if is_much(blocks, alive.unwrap_or(0)) && arrays > 0 {
        return Outcome::Found(vec![of_blocks(&peak, blocks, arrays)]);
    }
    if !is_much(arrays, peak.bytes) {
        return Outcome::Clear(format!(
            "byte arrays were {} of the largest census, {}{}; the limits are 40 % and 10 MB",
            format::fraction(share_of(arrays, peak.bytes)),
            format::bytes(arrays),
            alive.map_or(String::new(), |_| format!(
                ", and {} more was alive than the census counts",
                format::bytes(blocks)
            ))
        ));
    }
    Outcome::Found(vec![of_arrays(&peak, arrays)])
}

/// The part of all.
fn share_of(bytes: u64, all: u64) -> f64 {
    bytes as f64 / all.max(1) as f64
}

/// Whether bytes are enough of all to be worth a look.
fn is_much(bytes: u64, all: u64) -> bool {
    bytes >= LEAST_BYTES && share_of(bytes, all) >= LEAST_SHARE
}

/// What is alive then by the count of the runtime, where nothing but blocks makes it more than the
/// census: with `-prof` censuses leave out headers, and the nonmoving collector estimates.
fn blocks_alive(context: &RuleContext<'_>, peak: &Peak<'_>) -> Option<u64> {
    let is_profiled = context.log.info.process().ways.contains(&Way::Profiling);
    let live = peak.live_bytes(context)?;
    (!is_profiled && !context.is_nonmoving()).then_some(live)
}

/// What is alive and not counted.
fn of_blocks(peak: &Peak<'_>, blocks: u64, arrays: u64) -> Finding {
    let share = share_of(blocks, blocks + peak.bytes);
    let title = format!(
        "Small pinned objects keep {} of blocks alive, {} of live data",
        format::bytes(blocks),
        format::fraction(share)
    );
    let mut finding = Finding::of_memory(NAME, title, (blocks, share));
    finding.meaning = "A pinned object, as a ByteString is, cannot be moved: its block of 4 KiB is kept as long as anything in it is alive. The heap census counts objects, the runtime the blocks.".into();
    finding.tries = vec![
        Try::code("Keep short pieces as ShortByteString or Text, which can be moved."),
        Try::code("Read and keep larger pieces, of which each fills its block."),
    ];
    finding.distrust =
        "Blocks that are being filled and objects of 3 KiB and more, which have blocks of their own, count too; they waste less.".into();
    finding.numbers = vec![
        ("alive, but not counted".into(), Value::Bytes(blocks)),
        ("byte arrays".into(), Value::Bytes(arrays)),
        ("all of the census".into(), Value::Bytes(peak.bytes)),
    ];
    finding.seen_in([peak.evidence(blocks)])
}

/// Byte arrays, with or without the blocks in which they lie.
fn of_arrays(peak: &Peak<'_>, arrays: u64) -> Finding {
    let share = share_of(arrays, peak.bytes);
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
    finding.seen_in([peak.evidence(arrays)])
}
