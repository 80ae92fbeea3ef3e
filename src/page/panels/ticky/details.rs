//! Details of one ticky counter.

use yew::prelude::*;

use super::ratio;
use crate::copy::CopyButton;
use crate::panel::{Source, edited, use_answer};
use analysis::ticky::{Definition, Info, SizeError, TickyQuery, TickyRow, TickyTable};
use model::time::Interval;
use scene::format;
use views::view::ticky::TickyView;
use views::words::ticky::{
    count_errs, kind_explained, kind_name, letter_meaning, size_error, size_sign,
};

#[derive(Properties, PartialEq)]
pub(super) struct DetailsProps {
    /// Id of the counter in the log.
    pub(super) id: u64,
    pub(super) source: Source,
    pub(super) range: Option<Interval>,
    /// Selects another counter; `None` closes the details.
    pub(super) on_choose: Callback<Option<u64>>,
    pub(super) view: TickyView,
    pub(super) on_view: Callback<TickyView>,
}

#[component]
pub(super) fn Details(props: &DetailsProps) -> Html {
    let query = TickyQuery {
        range: props.range,
        only: Some(props.id),
        rows: 0..1,
        ..TickyQuery::default()
    };
    let answer = use_answer(&props.source, query);
    let Some((table, row)) = answer
        .as_deref()
        .and_then(|table| Some((table, table.rows.first()?)))
    else {
        return Html::default();
    };
    let definition = row.definition.as_ref();
    let close = props.on_choose.reform(|_: MouseEvent| None);
    let copied = definition.map(|it| it.name.clone());
    html! {
        <aside class="ticky-details" aria-label="Details of the counter">
            <header>
                <h2>{ row.short_name() }</h2>
                if let Some(name) = copied {
                    <CopyButton what="the full name" text={move |()| Some(name.clone())} />
                }
                <button class="quiet" onclick={close} aria-label="Close the details">{ "✕" }</button>
            </header>
            if definition.is_none() {
                <p>{ "The log has no definition of this counter: definitions are at its end, which is missing." }</p>
            }
            if let Some(kind) = definition.and_then(Definition::kind) {
                <p><strong>{ kind_name(kind) }</strong>{ ". " }{ kind_explained(kind) }</p>
            }
            <dl>
                { for sums(table, row).into_iter().map(|(label, text)| fact(label, text.into())) }
                { for definition.map(|definition| known(props, row, definition)) }
                { fact("Number", html! { <code>{ format!("{:#x}", row.id) }</code> }) }
            </dl>
        </aside>
    }
}

fn fact(label: &'static str, text: Html) -> Html {
    html! { <><dt>{ label }</dt><dd>{ text }</dd></> }
}

/// Formats the counts: entries, allocations, closures.
fn sums(table: &TickyTable, row: &TickyRow) -> Vec<(&'static str, String)> {
    let counts = &row.counts;
    let bytes = |bytes: u64| format!("{} ({} bytes)", format::bytes(bytes), format::count(bytes));
    let mut allocated = bytes(counts.allocs_bytes);
    if let Some(all) = table.whole_bytes() {
        allocated.push_str(&format!(
            ", {} of all",
            format::percent(counts.allocs_bytes, all)
        ));
    }
    if let Some(each) = row.allocs_per_entry() {
        allocated.push_str(&format!(", {} in each entry", ratio(each, " B")));
    }
    let mut facts = vec![
        ("Entries", format::count(counts.entries)),
        ("Allocated", allocated),
    ];
    if table.has_allocd && counts.allocd_bytes == 0 {
        facts.push(("Closures", "none".to_owned()));
    } else if table.has_allocd {
        let mut closures = bytes(counts.allocd_bytes);
        if let Some(count) = row.allocd_count() {
            let errs = count_errs(row);
            let many = format::pluralize(count, "closure");
            closures.push_str(&format!(": {}{many}", size_sign(errs)));
            if let Some(each) = row.entries_per_allocd() {
                closures.push_str(&entered(each));
            }
            if let Some(errs) = errs {
                closures.push_str(&format!(" – {}", size_error(errs)));
            }
        }
        facts.push(("Closures", closures));
    }
    facts
}

/// Formats the mean number of entries per closure.
fn entered(each: f64) -> String {
    if each == 0.0 {
        ", never entered".to_owned()
    } else if each == 1.0 {
        ", each entered once".to_owned()
    } else {
        format!(", each entered {} times", ratio(each, ""))
    }
}

/// Renders the definition of the counter, and its info table.
fn known(props: &DetailsProps, row: &TickyRow, definition: &Definition) -> Html {
    let in_module = row.module().map(|module| {
        let word = format!("module={module}");
        let onclick = edited(&props.view, &props.on_view, move |view, _: MouseEvent| {
            view.filter.clone_from(&word);
        });
        html! { <>{ module.to_owned() }{ " " }<button class="link" {onclick}>{ "Only this module" }</button></> }
    });
    let parent = row.parent.as_ref().map(|parent| {
        let id = parent.id;
        let onclick = props.on_choose.reform(move |_: MouseEvent| Some(id));
        html! { <button class="link" {onclick}>{ parent.name.clone() }</button> }
    });
    let size = definition.closure_bytes().map(|bytes| {
        let errs = match definition.size_error() {
            Some(SizeError::FieldsUnknown) => " or more: its fields are not in the log",
            Some(SizeError::OneWordTooLarge) => ", or a word less",
            None => "",
        };
        format!("{bytes} bytes{errs}")
    });
    let info = definition.info_table.map(|address| {
        let at = html! { <code>{ format!("{address:#x}") }</code> };
        match &row.info {
            Some(info) => html! { <>{ info.name.clone() }{ " " }{ at }</> },
            None => {
                html! { <>{ at }{ " – not described in the log (ghc -finfo-table-map)" }</> }
            }
        }
    });
    let told = |of: fn(&Info) -> &str| {
        let told = row.info.as_ref().map(of).filter(|told| !told.is_empty());
        told.map(|told| Html::from(told.to_owned()))
    };
    html! {
        <>
            { for in_module.map(|module| fact("Module", module)) }
            { for parent.map(|parent| fact("Enclosing function", parent)) }
            { for definition.constructor().map(|name| fact("Constructor", name.to_owned().into())) }
            { fact("Arguments", letters(Some(&definition.arguments))) }
            { fact("Free variables", letters(definition.free_variables())) }
            { for size.map(|size| fact("One closure", size.into())) }
            { for told(|info| &info.place).map(|place| fact("Place", place)) }
            { for told(|info| &info.type_).map(|type_| fact("Type", type_)) }
            { for info.map(|info| fact("Info table", info)) }
            { fact("Full name", html! { <code>{ definition.name.clone() }</code> }) }
        </>
    }
}

/// Renders GHC's type letters of arguments or free variables, each with its meaning.
fn letters(letters: Option<&str>) -> Html {
    let Some(letters) = letters else {
        return "not logged by this version of GHC".into();
    };
    if letters.is_empty() {
        return "none".into();
    }
    let one = |letter: char| {
        let word = letter_meaning(letter).unwrap_or("unknown");
        html! { <li><code>{ letter }</code>{ " " }{ word }</li> }
    };
    html! { <ul class="letters">{ for letters.chars().map(one) }</ul> }
}
