//! A small table with buttons that copy or save it as it stands.

use js_sys::Array;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;
use yew::prelude::*;

use super::copy::copy;
use super::dom::elements;
use super::save::save;
use views::cells::{Separated, shown_table_text};

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
    let (node, name) = (use_node_ref(), props.name);
    let text = {
        let node = node.clone();
        move |how| {
            let rows = node.cast::<Element>().map(|node| rows(&node));
            shown_table_text(how, &rows.unwrap_or_default())
        }
    };
    let saves = |how: Separated, ending: &'static str, kind: &'static str| {
        let text = text.clone();
        Callback::from(move |_: MouseEvent| {
            let parts = Array::of1(&text(how).into());
            // If the browser has no room for so little, it says so itself.
            let _ = save(&format!("{name}.{ending}"), kind, &parts);
        })
    };
    let on_copy = {
        let text = text.clone();
        Callback::from(move |_: MouseEvent| {
            let text = text(Separated::ByTabs);
            spawn_local(async move {
                copy(&text).await;
            });
        })
    };
    html! {
        <div ref={node} class="table-out">
            { props.children.clone() }
            <p>
                <button class="small" onclick={on_copy} title="Copy this table as it stands, with tabs between the cells">{ "Copy" }</button>
                <button class="small" onclick={saves(Separated::ByCommas, "csv", "text/csv")} title="Save this table as it stands, as a file for a spreadsheet">{ "Save CSV" }</button>
                <button class="small" onclick={saves(Separated::ByNames, "json", "application/json")} title="Save this table as it stands, as a list for programs">{ "Save JSON" }</button>
            </p>
        </div>
    }
}

/// The texts of the table's cells, row by row. A cell that is wider than one column is followed by
/// empty ones.
fn rows(node: &Element) -> Vec<Vec<String>> {
    let cells = |row: Element| {
        let mut texts = Vec::new();
        for cell in elements(&row, "th, td") {
            let width = cell
                .get_attribute("colspan")
                .and_then(|width| width.parse().ok());
            let text = cell.text_content().unwrap_or_default();
            texts.push(text.trim().to_owned());
            texts.resize(
                texts.len() + width.unwrap_or(1_usize).clamp(1, 100) - 1,
                String::new(),
            );
        }
        texts
    };
    elements(node, "tr").into_iter().map(cells).collect()
}
