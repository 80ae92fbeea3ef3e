//! Does laziness hold memory?
//!
//! Thunks are computations that nobody has asked for yet; a long chain of them fills the
//! heap, and the stack when it is forced at last.

use super::census::{Peak, WITHOUT};
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Finding, Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use model::format;

/// Of the largest census: less is usual in a lazy language.
const LEAST_SHARE: f64 = 0.30;
/// Less is not worth a change.
const LEAST_BYTES: u64 = 10_000_000;
/// Of it, what is no stack: stacks alone are those of many threads, or of a recursion.
const LEAST_THUNKS: f64 = 0.25;

const NAME: &str = "unevaluated";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does laziness hold memory?",
    inputs: &[Input::Censuses],
    look: Look::AtOnce(look),
};

/// Whether closures of a type are computations that are not done: thunks, those that
/// were suspended, those that are being evaluated.
fn is_thunk(name: &str) -> bool {
    name.starts_with("THUNK") || matches!(name, "AP" | "AP_STACK" | "BLACKHOLE")
}

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let Some(peak) = Peak::in_scope(context) else {
        return Outcome::CannotTell(WITHOUT.into());
    };
    let types = peak.types(|name| is_thunk(name) || name == "STACK");
    let sum = |types: &[(String, u64)]| {
        types
            .iter()
            .fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes))
    };
    let all = sum(&types);
    let thunks = sum(&peak.types(is_thunk));
    let share = all as f64 / peak.bytes.max(1) as f64;
    let is_stack = (thunks as f64) < LEAST_THUNKS * all as f64;
    if share < LEAST_SHARE || all < LEAST_BYTES || is_stack {
        return Outcome::Clear(format!(
            "thunks and stacks were {} of the largest census, {}; the limits are 30 % and 10 MB, a quarter of it in thunks",
            format::fraction(share),
            format::bytes(all)
        ));
    }
    let title = format!(
        "At the peak {} of the heap, {}, is thunks",
        format::fraction(share),
        format::bytes(all)
    );
    let mut finding = Finding::of_memory(NAME, title, (all, share));
    finding.meaning =
        "Thunks, computations that nobody has asked for yet, and the stack on which they are forced fill the heap.".into();
    finding.tries = vec![
        Try::code("Fold with foldl', change references with modifyIORef' and atomicModifyIORef'."),
        Try::code(
            "Make fields of records strict, and use the strict variants of maps and state monads.",
        ),
        Try::measure(
            "-hi -l",
            "With -finfo-table-map it says which line of the program the thunks come from (GHC 9.2 and later).",
        ),
    ];
    finding.distrust =
        "A program may be lazy on purpose: a stream that is made as it is read needs little time and memory."
            .into();
    let named = types.iter().take(4);
    finding.numbers = named
        .map(|(name, bytes)| (name.clone().into(), Value::Bytes(*bytes)))
        .collect();
    finding
        .numbers
        .push(("all of the census".into(), Value::Bytes(peak.bytes)));
    Outcome::Found(vec![finding.seen_in([peak.evidence(all)])])
}
