//! Do small pinned objects hold blocks?
//!
//! A pinned byte array cannot be moved, so its 4 KiB block is kept as long as anything in it is alive. Censuses of
//! GHC 9.0.2 count the whole block, so they cannot distinguish large buffers from small pieces, and the finding is
//! a hint. Those of 9.6.6 and 9.10.3 count only the pieces, while the runtime's live data counts blocks: the
//! difference is wasted.

use super::census::{NO_PROFILE_MESSAGE, Peak};
use super::prelude::*;
use analysis::process::Way;

/// Minimum share of the largest census.
const MIN_SHARE: f64 = 0.40;
/// Minimum size; less is not worth a look.
const MIN_BYTES: u64 = 10_000_000;

/// Minimum number of `ByteString`s; a few hold large buffers on purpose.
const MIN_STRINGS: u64 = 1000;
/// Mean size from which strings rather hold more than their own bytes.
const LARGE_BYTES: u64 = 1024;

pub(super) const RULE: Rule = Rule {
    name: "pinned-blocks",
    question: "Do small pinned objects hold blocks?",
    inputs: &[Input::Censuses],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let Some(peak) = Peak::find(context) else {
        return Outcome::CannotTell(NO_PROFILE_MESSAGE.into());
    };
    let arrays = peak.bytes_of(|name| name == "ARR_WORDS");
    let alive = blocks_alive(context, &peak);
    let blocks = alive.map_or(0, |alive| alive.saturating_sub(peak.bytes));
    if is_much(blocks, alive.unwrap_or(0)) && arrays > 0 {
        return Outcome::Found(vec![blocks_finding(&peak, blocks, arrays)]);
    }
    if !is_much(arrays, peak.bytes) {
        return Outcome::Clear(format!(
            "byte arrays were {} of the largest census, {}{}; the limits are 40 % and 10 MB",
            format::fraction(share_of(arrays, peak.bytes)),
            format::bytes(arrays),
            alive.map_or(String::new(), |_| format!(
                ", and {} more was live than the census counts",
                format::bytes(blocks)
            ))
        ));
    }
    // Arrays that do not grow with the strings, such as the file that they come from, are not theirs.
    let own = arrays_of_strings(&peak, arrays);
    if !is_much(own, peak.bytes) {
        return Outcome::Clear(format!(
            "byte arrays were {} of the largest census, {}, but grew with the strings by {} only",
            format::fraction(share_of(arrays, peak.bytes)),
            format::bytes(arrays),
            format::bytes(own),
        ));
    }
    let strings = byte_strings(&peak);
    let texts = texts(&peak);
    if strings < MIN_STRINGS && texts >= MIN_STRINGS && arrays / texts >= LARGE_BYTES {
        return Outcome::Found(vec![texts_finding(&peak, arrays, texts)]);
    }
    if strings < MIN_STRINGS {
        return Outcome::Clear(format!(
            "byte arrays were {} of the largest census, {}, but only {} in it; the limit is 1,000",
            format::fraction(share_of(arrays, peak.bytes)),
            format::bytes(arrays),
            format::pluralize(strings, "ByteString"),
        ));
    }
    Outcome::Found(vec![byte_strings_finding(&peak, arrays, strings)])
}

/// Returns whether a closure type is a string: its last component is one of the names.
fn is_string(name: &str) -> bool {
    matches!(name.rsplit('.').next(), Some("PS" | "BS" | "Text"))
}

/// Estimates the bytes of arrays that belong to strings, from the growth of both since the census with the fewest
/// strings. Returns all of them if the number of strings hardly changes.
fn arrays_of_strings(peak: &Peak<'_>, all: u64) -> u64 {
    /// Minimum growth of the strings, as a share of all.
    const GROWN: f64 = 0.05;
    let arrays = peak.series(|name| name == "ARR_WORDS");
    let strings = peak.series(is_string);
    let most = strings.last().copied().unwrap_or(0);
    let Some((before, fewest)) = arrays.iter().zip(&strings).min_by_key(|(_, few)| **few) else {
        return all;
    };
    let grown = most.saturating_sub(*fewest);
    if (grown as f64) < GROWN * most as f64 {
        return all;
    }
    let each = all.saturating_sub(*before) as f64 / grown as f64;
    ((each * most as f64) as u64).min(all)
}

/// Returns the number of `ByteString`s in a census, from the bytes of their constructors: `PS` up to bytestring 0.10
/// has five words, `BS` since 0.11 has four.
fn byte_strings(peak: &Peak<'_>) -> u64 {
    constructors(peak, "PS", 5) + constructors(peak, "BS", 4)
}

/// Returns the number of `Text`s in a census: their constructor has four words.
fn texts(peak: &Peak<'_>) -> u64 {
    constructors(peak, "Text", 4)
}

/// Returns the number of objects with this constructor, which take so many words each.
fn constructors(peak: &Peak<'_>, constructor: &str, words: u64) -> u64 {
    let bytes = peak.bytes_of(|name| name.rsplit('.').next() == Some(constructor));
    bytes / (words * size_of::<u64>() as u64)
}

/// Returns bytes as a share of all.
fn share_of(bytes: u64, all: u64) -> f64 {
    bytes as f64 / all.max(1) as f64
}

/// Returns whether bytes exceed both limits.
fn is_much(bytes: u64, all: u64) -> bool {
    bytes >= MIN_BYTES && share_of(bytes, all) >= MIN_SHARE
}

/// Returns the runtime's live data at the census, if it can exceed the census only because of blocks: with `-prof`
/// censuses omit headers, and the nonmoving collector estimates.
fn blocks_alive(context: &RuleContext<'_>, peak: &Peak<'_>) -> Option<u64> {
    let is_profiled = context.log.info.process().ways.contains(&Way::Profiling);
    let live = peak.live_bytes(context)?;
    (!is_profiled && !context.is_nonmoving()).then_some(live)
}

/// Creates the finding on blocks that are alive but not counted in the census.
fn blocks_finding(peak: &Peak<'_>, blocks: u64, arrays: u64) -> Finding {
    let share = share_of(blocks, blocks + peak.bytes);
    let title = format!(
        "Small pinned objects keep {} of blocks alive, {} of live data",
        format::bytes(blocks),
        format::fraction(share)
    );
    let mut finding = Finding::of_memory(RULE.name, title, (blocks, share));
    finding.meaning = "Pinned objects, such as ByteStrings, cannot be moved: each 4 KiB block is retained while anything in it is live. The heap census counts objects, the runtime counts blocks.".into();
    finding.tries = Advice::code_changes([
        "Keep short pieces as ShortByteString or Text, which can be moved.",
        "Read and keep larger pieces that fill their blocks.",
    ]);
    finding.distrust =
        "Partly filled blocks and objects of 3 KiB and more, which have their own blocks, count too; they waste less.".into();
    finding.set_numbers([
        ("alive, but not counted", Value::Bytes(blocks)),
        ("byte arrays", Value::Bytes(arrays)),
        ("all of the census", Value::Bytes(peak.bytes)),
    ]);
    finding.with_evidence([peak.evidence(blocks)])
}

/// Creates a finding on the byte arrays of strings, of which there are `count`.
fn strings_finding(peak: &Peak<'_>, arrays: u64, (count, name): (u64, &str)) -> Finding {
    let share = share_of(arrays, peak.bytes);
    let title = format!(
        "{} hold {} of byte arrays, {} of live data: {} for each",
        format::pluralize(count, name),
        format::bytes(arrays),
        format::fraction(share),
        format::bytes(arrays / count.max(1))
    );
    let mut finding = Finding::of_memory(RULE.name, title, (arrays, share));
    finding.numbers = vec![
        ("byte arrays".into(), Value::Bytes(arrays)),
        (format!("{name}s").into(), Value::Count(count)),
        ("all of the census".into(), Value::Bytes(peak.bytes)),
    ];
    finding.with_evidence([peak.evidence(arrays)])
}

/// Creates the finding on `ByteString`s, whose byte arrays may include the rest of their blocks.
fn byte_strings_finding(peak: &Peak<'_>, arrays: u64, strings: u64) -> Finding {
    let mut finding = strings_finding(peak, arrays, (strings, "ByteString"));
    // The census does not tell the bytes of a string from the rest of its block or buffer.
    finding.confidence = if arrays / strings.max(1) >= LARGE_BYTES {
        Confidence::Probable
    } else {
        Confidence::Hint
    };
    finding.meaning =
        "If they should be shorter: a ByteString is pinned, and retains a whole 4 KiB block, or all of the larger buffer that it is a slice of.".into();
    finding.tries = vec![
        Advice::code("Keep short pieces as ShortByteString or Text, which can be moved."),
        Advice::code(
            "Copy the slices that you keep of a buffer larger than a block (Data.ByteString.copy). A short copy is pinned, too, and may hold a block alone.",
        ),
        Advice::measure(
            "-hi -l",
            "With -finfo-table-map the profile shows what the program keeps with them (GHC 9.2 and later).",
        ),
    ];
    finding.distrust = "ByteStrings that really are this long waste nothing. Unboxed arrays and Text are byte arrays too.".into();
    finding
}

/// Creates the finding on `Text`s with large arrays, which may be slices of larger texts.
fn texts_finding(peak: &Peak<'_>, arrays: u64, texts: u64) -> Finding {
    let mut finding = strings_finding(peak, arrays, (texts, "Text"));
    finding.meaning = "If they should be shorter: a Text that was taken out of a larger one (take, drop, strip, splitOn, lines) is a slice, and retains all of the larger one.".into();
    finding.tries = vec![Advice::code(
        "Copy the slices that you keep: Data.Text.copy, or Data.ByteString.copy.",
    )];
    finding.distrust = "Texts that really are this long waste nothing. The array of a short Text may also be shared by many: then fewer arrays are larger. Unboxed arrays are byte arrays too.".into();
    finding
}
