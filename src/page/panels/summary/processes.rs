//! Numbers by process, for logs of several processes.

use yew::prelude::*;

use super::facts::card;
use crate::term::plain_table;
use analysis::numbers::process_numbers::ProcessNumbers;
use views::words::processes::{COLUMNS, row};

/// Renders a row per process; nothing for a log of one process.
pub(super) fn processes(all: &[ProcessNumbers]) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    let line = |own: &ProcessNumbers| {
        let [name, numbers @ ..] = row(own);
        html! {
            <tr key={own.name.clone()}>
                <th scope="row">{ name }</th>
                { for numbers.into_iter().map(|text| html! { <td class="number">{ text }</td> }) }
            </tr>
        }
    };
    card(
        "Processes",
        plain_table(&COLUMNS, all.iter().map(line).collect()),
    )
}
