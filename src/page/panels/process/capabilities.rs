//! Creation, changes and sets of capabilities.

use std::collections::BTreeMap;
use std::rc::Rc;

use yew::prelude::*;

use super::time_button;
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::dom::state_callback;
use crate::pagination::use_pagination;
use crate::viewer::NavigationTarget;
use analysis::process::{CapChange, Process};
use eventlog::ids::CapId;
use scene::format;
use views::words::process as words;

/// Numbers of capabilities, and of changes per capability, shown at first.
const CAPS_SHOWN: usize = 12;
const CHANGES_SHOWN: usize = 8;
/// Number of capability sets shown at first.
const SETS_SHOWN: usize = 50;

#[derive(Properties, PartialEq)]
pub(super) struct CapabilitiesProps {
    pub(super) process: Rc<Process>,
    /// Number of capabilities in the log.
    pub(super) in_all: usize,
    pub(super) on_goto: Callback<NavigationTarget>,
}

/// Renders the changes of each capability.
#[component]
pub(super) fn Capabilities(props: &CapabilitiesProps) -> Html {
    let pagination = use_pagination(CAPS_SHOWN);
    let all = use_state_eq(|| false);
    let show_all = state_callback(&all).reform(|_: MouseEvent| true);
    let process = &props.process;
    let mut by_cap: BTreeMap<CapId, Vec<&CapChange>> = BTreeMap::new();
    for change in &process.capability_changes {
        by_cap.entry(change.cap).or_default().push(change);
    }
    let changes_limit = if *all { usize::MAX } else { CHANGES_SHOWN };
    let crowded = by_cap.values().any(|list| list.len() > changes_limit);
    let in_all = match props.in_all.max(by_cap.len()) {
        0 => "None in the log.".to_owned(),
        n => format::pluralize(n as u64, "capability"),
    };
    let silent = if by_cap.is_empty() && props.in_all > 0 {
        "; their creation and deletion are not logged"
    } else {
        ""
    };
    let kept = process.capability_changes.len();
    let not_kept = process.capability_change_count.saturating_sub(kept as u64);
    html! {
        <section aria-labelledby="process-capabilities">
            <h2 id="process-capabilities">{ "Capabilities" }</h2>
            <p>{ in_all }{ silent }</p>
            if !by_cap.is_empty() {
                <table class="capability-changes">
                    <thead class="visually-hidden"><tr><th scope="col">{ "Capability" }</th><th scope="col">{ "Changes, with their times" }</th></tr></thead>
                    <tbody>
                        { for by_cap.iter().take(pagination.shown).map(|(cap, list)| html! {
                            <tr key={cap.0}>
                                <th scope="row">{ format!("Capability {cap}") }</th>
                                <td>{ changes(list, changes_limit, &props.on_goto) }</td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            }
            { pagination.button(by_cap.len(), "capabilities") }
            if crowded {
                <button class="small" onclick={show_all}>
                    { format!("Show all {} changes", format::count(kept as u64)) }
                </button>
            }
            if not_kept > 0 {
                <p>{ format!("{} more changes are omitted.", format::count(not_kept)) }</p>
            }
        </section>
    }
}

/// Renders the first changes of a capability: `created 190 µs  disabled 537 µs`.
fn changes(list: &[&CapChange], limit: usize, on_goto: &Callback<NavigationTarget>) -> Html {
    let shown = list.iter().take(limit).map(|change| {
        html! {
            <span class="change">{ words::change(change.change) }{ " " }{ time_button(on_goto, change.at, Some(change.cap)) }</span>
        }
    });
    html! {
        <>
            { for shown }
            if list.len() > limit {
                <span class="faint">{ format!("and {} more", list.len() - limit) }</span>
            }
        </>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct CapabilitySetsProps {
    pub(super) process: Rc<Process>,
}

/// Renders the capability sets, unless they are just those that every log has: process and clock domain, each with
/// all capabilities.
#[component]
pub(super) fn CapabilitySets(props: &CapabilitySetsProps) -> Html {
    let pagination = use_pagination(SETS_SHOWN);
    let sets = props.process.capsets.as_slice();
    let usual = match sets {
        [] => true,
        [one, rest @ ..] => {
            let same = rest.iter().all(|set| set.caps == one.caps);
            let kinds: Vec<u16> = sets.iter().map(|set| set.kind).collect();
            same && matches!(kinds.as_slice(), [2] | [2, 3] | [3, 2])
        }
    };
    if usual {
        return Html::default();
    }
    let columns = vec![
        TableColumn::plain("Set", "set"),
        TableColumn::plain("Type", "type"),
        TableColumn::plain("Capabilities, ever", "capabilities"),
    ];
    let rows = sets.iter().take(pagination.shown).map(|set| {
        TableRow::new(
            TableCell::heading(set.id.0),
            [
                TableCell::text(words::set_kind(set.kind)),
                TableCell::text(ranges(&set.caps)),
            ],
        )
    });
    let rows: Vec<TableRow> = rows.collect();
    html! {
        <section aria-labelledby="process-sets">
            <h2 id="process-sets">{ "Capability sets" }</h2>
            <DataTable name="capability-sets" class="" {columns} {rows} />
            { pagination.button(sets.len(), "sets") }
        </section>
    }
}

/// Formats capabilities as ranges: `0–3, 7`.
fn ranges(caps: &[CapId]) -> String {
    let mut caps: Vec<u16> = caps.iter().map(|cap| cap.0).collect();
    caps.sort_unstable();
    let runs: Vec<String> = caps
        .chunk_by(|one, next| one.checked_add(1) == Some(*next))
        .filter_map(|run| match (run.first()?, run.last()?) {
            (first, last) if first == last => Some(first.to_string()),
            (first, last) => Some(format!("{first}–{last}")),
        })
        .collect();
    if runs.is_empty() {
        return "none".to_owned();
    }
    runs.join(", ")
}
