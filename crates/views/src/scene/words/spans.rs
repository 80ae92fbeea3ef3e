//! Collections of the program, phases of the concurrent collector, tasks,
//! blocks, spans that the program announced.

use super::{duration, when};
use crate::scene::format;
use crate::scene::item::{Item, Names};
use analysis::timeline::collections::CollectionCode;
use analysis::timeline::nonmoving::Phase;
use analysis::timeline::row::Row;
use analysis::timeline::user_spans;
use model::class::Class;
use model::marks::MarkKind;

pub(super) fn describe(item: &Item, names: &impl Names) -> (String, String) {
    let name = match item.row {
        Row::UserSpan(number) => names.span(number).map(str::to_owned),
        _ => None,
    };
    let name = name.unwrap_or_else(|| self::name(item));
    let text = match item.kind {
        MarkKind::Many => several(item),
        _ => one(item),
    };
    (name, text)
}

fn name(item: &Item) -> String {
    match (item.row, item.detail) {
        (Row::Collections, Some(number)) if item.kind == MarkKind::One => {
            format!("Collection {number}")
        }
        (Row::Collections, _) => "Garbage collector".to_owned(),
        (Row::Nonmoving, _) => "Nonmoving collector".to_owned(),
        (Row::Task(_), _) => "Task".to_owned(),
        (Row::Blocks(Some(cap)), _) => format!("Block of capability {cap}"),
        (Row::Blocks(None), _) => "Block of no capability".to_owned(),
        _ => "Span".to_owned(),
    }
}

fn several(item: &Item) -> String {
    let (count, when) = (format::count(item.count.into()), when(item));
    let what = match item.row {
        Row::Collections => "collections and waits for them",
        Row::Nonmoving => Phase::read(item.code).several(),
        Row::Task(_) => "stays on capabilities",
        Row::Blocks(_) => "blocks",
        _ => "spans",
    };
    let share: f32 = item.shares.iter().sum();
    let share = format::fraction(f64::from(share));
    format!(
        "{count} {what} in {}: {share} of it · {when}",
        duration(item)
    )
}

fn one(item: &Item) -> String {
    let (duration, when) = (duration(item), when(item));
    match (item.row, item.detail) {
        (Row::Collections, _) if item.class == Class::GcSync => {
            format!("waited {duration} until all capabilities had stopped · {when}")
        }
        (Row::Collections, _) => {
            let code = CollectionCode::read(item.code);
            if !code.known {
                return format!("collected garbage for {duration} · {when}");
            }
            let kind = if code.parallel {
                "parallel"
            } else {
                "sequential"
            };
            let oldest = if code.oldest { ", the oldest" } else { "" };
            let generation = code.generation;
            format!("of generation {generation}{oldest}, {kind}, for {duration} · {when}")
        }
        (Row::Nonmoving, detail) => nonmoving(item, detail, &duration, &when),
        (Row::Task(_), Some(cap)) => {
            let open = if item.code == analysis::timeline::tasks::OPEN {
                ", until the log ended"
            } else {
                ""
            };
            format!("was on capability {cap} for {duration}{open} · {when}")
        }
        (Row::Blocks(_), Some(bytes)) => {
            let size = format::bytes(bytes.into());
            format!("{size}, written {duration} after it was begun · {when}")
        }
        (Row::UserSpan(_), starts) => {
            let open = if item.code == user_spans::OPEN {
                ", not over when the log ended"
            } else {
                ""
            };
            let starts = match starts {
                Some(starts @ 2..) => format!(", started {starts} times"),
                _ => String::new(),
            };
            format!("went on for {duration}{starts}{open} · {when}")
        }
        _ => format!("{duration} · {when}"),
    }
}

fn nonmoving(item: &Item, marked: Option<u32>, duration: &str, when: &str) -> String {
    if item.kind == MarkKind::Instant {
        let at = format::time(item.span.start);
        return match item.count {
            1 => format!("told something of itself · {at}"),
            count => format!("told {count} things of itself · {when}"),
        };
    }
    let open = if Phase::is_open(item.code) {
        ", not over when the log ended"
    } else {
        ""
    };
    match (Phase::read(item.code), marked) {
        (Phase::Sync, _) => format!("the program stood still for {duration}{open} · {when}"),
        (Phase::Mark, Some(marked)) => {
            let marked = format::count(marked.into());
            format!("marked {marked} objects in {duration}{open} · {when}")
        }
        (phase, _) => format!("{} for {duration}{open} · {when}", phase.doing()),
    }
}
