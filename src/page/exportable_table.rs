//! Small table with buttons that copy or save it as displayed.

use web_sys::Element;
use yew::prelude::*;

use super::dom::elements;
use super::export_rows::{ExportButtons, RowSource};
use session::cells::shown_table_text;

#[derive(Properties, PartialEq)]
pub(super) struct ExportableTableProps {
    /// Base name of saved files.
    pub(super) name: &'static str,
    /// Table whose cells are exported.
    pub(super) children: Html,
}

/// Table with export buttons below it.
#[component]
pub(super) fn ExportableTable(props: &ExportableTableProps) -> Html {
    let node = use_node_ref();
    let rows = use_memo(node.clone(), |node| {
        let node = node.clone();
        RowSource::local(move |_, how| {
            let shown = node.cast::<Element>().map(|node| texts(&node));
            shown_table_text(how, &shown.unwrap_or_default())
        })
    });
    html! {
        <div ref={node} class="table-out">
            { props.children.clone() }
            <p><ExportButtons name={props.name} rows={(*rows).clone()} /></p>
        </div>
    }
}

/// Returns the cell texts of the table, row by row. A cell's exact value (`data-value`: nanoseconds, bytes or a
/// number without separators) takes precedence over its text. A cell that spans several columns is followed by
/// empty ones.
fn texts(node: &Element) -> Vec<Vec<String>> {
    let row = |row: Element| {
        let mut texts = Vec::new();
        for cell in elements(&row, "th, td") {
            let width = cell.get_attribute("colspan");
            let width = width
                .and_then(|width| width.parse().ok())
                .unwrap_or(1_usize);
            let exact = cell.get_attribute("data-value");
            let text = exact.or_else(|| cell.text_content()).unwrap_or_default();
            texts.push(text.trim().to_owned());
            texts.resize(texts.len() + width.clamp(1, 100) - 1, String::new());
        }
        texts
    };
    elements(node, "tr").into_iter().map(row).collect()
}
