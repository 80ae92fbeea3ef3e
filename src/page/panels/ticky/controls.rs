//! Controls above the table of ticky counters: filter, status, export.

use std::rc::Rc;

use yew::prelude::*;

use crate::client::LogClient;
use crate::dom::use_debounced;
use crate::export_rows::{ExportButtons, use_table_rows};
use crate::field::Field;
use crate::panel::{Extent, edited, span_text};
use crate::term::Term;
use analysis::ticky::{TickyQuery, TickyTable};
use scene::format;
use views::view::ticky::TickyView;

/// Debounce delay for typing in the filter.
const TYPED_MS: u32 = 150;

const FILTER_HELP: &str = "Finds counters that contain all words in names, modules and source locations; \"quote\" words with spaces. Limit a word to a column: kind:thunk, module:Data.Map, args:L, fvs:>; with =, match the whole text: module=Main. Compare numbers: entries>1000, allocs>=2M, allocs-per-entry>100, entries-per-allocd<1, likewise allocd and allocd-count.";

#[derive(Properties, PartialEq)]
pub(super) struct ControlsProps {
    pub(super) view: TickyView,
    pub(super) on_view: Callback<TickyView>,
    pub(super) extent: Extent,
    pub(super) query: TickyQuery,
    pub(super) table: Option<Rc<TickyTable>>,
    pub(super) client: LogClient,
}

/// Renders the filter, the status and the export buttons.
#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let total = props.table.as_ref().map_or(0, |table| table.total);
    let rows = use_table_rows(&props.client, props.query.clone());
    let on_view = use_debounced(TYPED_MS, props.on_view.clone());
    let on_input = edited(&props.view, &on_view, |view, text| view.filter = text);
    let status = props.table.as_deref().map(|table| status(props, table));
    html! {
        <div class="controls">
            <label class="search">
                <Field kind="search" placeholder="Name, kind:thunk, entries>1000"
                    label="Filter the counters: words, or terms such as kind:thunk and entries>1000"
                    value={props.view.filter.clone()} {on_input} />
            </label>
            <Term name="Filter by column" help={FILTER_HELP} />
            <span class="for" role="status">{ status }</span>
            <ExportButtons name="ticky" {total} {rows} />
        </div>
    }
}

/// Describes the number of counters and samples, and their share of all allocations.
fn status(props: &ControlsProps, table: &TickyTable) -> String {
    let of = match props.extent.range {
        Some(range) => format!("in the selected range, {}", span_text(range)),
        None => format!("in {}", props.extent.words()),
    };
    let mut text = format!("{} {of}", format::pluralize(table.total, "counter"));
    if table.samples > 0 {
        text.push_str(&format!(", {}", format::pluralize(table.samples, "sample")));
    }
    if let Some(all) = table.whole_bytes() {
        let share = format::percent(table.all.allocs_bytes, all);
        text.push_str(&format!(" · {share} of {} allocated", format::bytes(all)));
    }
    text
}
