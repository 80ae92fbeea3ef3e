//! Numbers by process, for logs of several processes.

use yew::prelude::*;

use super::facts::card;
use crate::term::Term;
use analysis::numbers::process_numbers::ProcessNumbers;
use views::words::processes::{COLUMNS, row};

/// Renders a row per process; nothing for a log of one process.
pub(super) fn processes(all: &[ProcessNumbers]) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    let heading = |(name, help): (&'static str, &'static str)| {
        html! { <th scope="col"><Term {name} {help} /></th> }
    };
    let line = |own: &ProcessNumbers| {
        let [name, numbers @ ..] = row(own);
        html! {
            <tr key={own.name.clone()}>
                <th scope="row">{ name }</th>
                { for numbers.into_iter().map(|text| html! { <td class="number">{ text }</td> }) }
            </tr>
        }
    };
    let table = html! {
        <table class="plain-table">
            <thead><tr>{ for COLUMNS.into_iter().map(heading) }</tr></thead>
            <tbody>{ for all.iter().map(line) }</tbody>
        </table>
    };
    card("Processes", table)
}
