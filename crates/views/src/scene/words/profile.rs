//! Foreign calls, and samples of a profile.

use super::{duration, function_name, when};
use crate::scene::format;
use crate::scene::item::{Item, Names};
use analysis::timeline::profile_rows::OPEN;
use analysis::timeline::row::CallsOf;
use eventlog::ids::CapId;
use model::class::Class;
use model::marks::MarkKind;

pub(super) fn call(of: CallsOf, item: &Item, names: &impl Names) -> (String, String) {
    let on = match of {
        CallsOf::OsThread(thread) => format!("OS thread {thread}"),
        CallsOf::Unknown { .. } => "unknown OS thread".to_owned(),
    };
    let (duration, when) = (duration(item), when(item));
    if item.kind == MarkKind::Many {
        let share: f32 = item.shares.iter().sum();
        let share = format::fraction(f64::from(share));
        let count = format::count(item.count.into());
        let text = format!("{count} foreign calls in {duration}: {share} of it · {when}");
        return (format!("Calls on {on}"), text);
    }
    let function = item
        .detail
        .and_then(|number| names.foreign_function(number));
    let name = function.map_or_else(|| "Foreign call".to_owned(), function_name);
    let open = if item.code == OPEN {
        ", not over when the log ended"
    } else {
        ""
    };
    (
        name,
        format!("foreign call on {on} for {duration}{open} · {when}"),
    )
}

pub(super) fn sample(cap: CapId, item: &Item, names: &impl Names) -> (String, String) {
    let function = item
        .detail
        .and_then(|number| names.sampled_function(number));
    let function = function.map(function_name);
    if item.kind == MarkKind::Many {
        let share = |class: Class| item.shares.get(class as usize).copied().unwrap_or(0.0);
        let busy = format::fraction(f64::from(share(Class::Running) + share(Class::Gc)));
        let count = format::count(item.count.into());
        let (duration, when) = (duration(item), when(item));
        let of = function.map_or_else(String::new, |name| format!(", many in {name}"));
        let text = format!("{count} samples in {duration}: {busy} of it busy{of} · {when}");
        return (format!("Capability {cap}"), text);
    }
    let at = format::time(item.span.end);
    let name = function.unwrap_or_else(|| "A function".to_owned());
    (name, format!("sample of capability {cap} · at {at}"))
}
