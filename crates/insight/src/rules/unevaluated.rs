//! Does laziness hold memory?
//!
//! Thunks are computations whose result was not needed yet. A long chain of them fills the heap, and the stack
//! when it is finally forced.

use super::census::{NO_PROFILE_MESSAGE, Peak};
use super::prelude::*;

/// Minimum share of the largest census; less is normal in a lazy language.
const MIN_SHARE: f64 = 0.30;
/// Minimum size; less is not worth a change.
const MIN_BYTES: u64 = 10_000_000;
/// Minimum share of it that is not stacks: stacks alone come from many threads, or from recursion.
const MIN_THUNKS: f64 = 0.25;
/// Share of it up to which stacks are not worth a word.
const SMALL: f64 = 0.02;

pub(super) const RULE: Rule = Rule {
    name: "unevaluated",
    question: "Does laziness hold memory?",
    inputs: &[Input::Censuses],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Returns whether closures of this type are unfinished computations: thunks, suspended ones, or those under
/// evaluation.
fn is_thunk(name: &str) -> bool {
    name.starts_with("THUNK") || matches!(name, "AP" | "AP_STACK" | "BLACKHOLE")
}

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let Some(peak) = Peak::find(context) else {
        return Outcome::CannotTell(NO_PROFILE_MESSAGE.into());
    };
    let types = peak.types(|name| is_thunk(name) || name == "STACK");
    let thunks = peak.bytes_of(is_thunk);
    let all = thunks.saturating_add(peak.bytes_of(|name| name == "STACK"));
    let share = peak.share(all);
    let is_stack = (thunks as f64) < MIN_THUNKS * all as f64;
    if share < MIN_SHARE || all < MIN_BYTES || is_stack {
        return Outcome::Clear(format!(
            "thunks and stacks were {} of the largest census, {}; the limits are 30 % and 10 MB, a quarter of it in thunks",
            format::fraction(share),
            format::bytes(all)
        ));
    }
    let who = match (all - thunks) as f64 > SMALL * all as f64 {
        true => "thunks and the stack that evaluates them",
        false => "thunks",
    };
    let title = format!(
        "At the peak {who} take {}, {} of the heap",
        format::bytes(all),
        format::fraction(share)
    );
    let mut finding = Finding::of_memory(RULE.name, title, (all, share));
    finding.meaning =
        "The heap is full of thunks (unevaluated expressions) and the stack on which they are forced.".into();
    finding.tries = vec![
        Advice::code(
            "Fold with foldl'; update references with modifyIORef' and atomicModifyIORef'.",
        ),
        Advice::code(
            "Make fields of records strict, and use the strict variants of maps and state monads.",
        ),
        Advice::measure(
            "-hi -l",
            "With -finfo-table-map the profile names the source lines of the thunks (GHC 9.2 and later).",
        ),
    ];
    finding.distrust =
        "A program may be lazy on purpose: a stream that is produced as it is read needs little time and memory."
            .into();
    let named = types.iter().take(4);
    finding.numbers = named
        .map(|(name, bytes)| (name.clone().into(), Value::Bytes(*bytes)))
        .collect();
    finding
        .numbers
        .push(("all of the census".into(), Value::Bytes(peak.bytes)));
    Outcome::Found(vec![finding.with_evidence([peak.evidence(all)])])
}
