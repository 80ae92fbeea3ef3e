//! A small table with buttons that copy or save it as it stands.

use web_sys::Element;
use yew::prelude::*;

use super::dom::elements;
use super::rows_out::{RowsOf, RowsOut};
use session::cells::shown_table_text;

#[derive(Properties, PartialEq)]
pub(super) struct TableOutProps {
    /// The name of the files, without their ending.
    pub(super) name: &'static str,
    /// The table.
    pub(super) children: Html,
}

/// The table, and the buttons below it.
#[component]
pub(super) fn TableOut(props: &TableOutProps) -> Html {
    let node = use_node_ref();
    let rows = use_memo(node.clone(), |node| {
        let node = node.clone();
        RowsOf::at_hand(move |_, how| {
            let shown = node.cast::<Element>().map(|node| texts(&node));
            shown_table_text(how, &shown.unwrap_or_default())
        })
    });
    html! {
        <div ref={node} class="table-out">
            { props.children.clone() }
            <p><RowsOut name={props.name} rows={(*rows).clone()} /></p>
        </div>
    }
}

/// The texts of the table's cells, row by row: where a cell has an exact value (`data-value`: nanoseconds, bytes or a
/// number without separators), that. A cell that is wider than one column is followed by empty ones.
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
