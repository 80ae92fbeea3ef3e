//! Table of the time of all capabilities by cause, including what no finding explains.

use yew::prelude::*;

use insight::{LostTime, Report};
use views::words::insight as words;

/// Renders the table; nothing if the report has no such account.
pub(super) fn lost_time(report: &Report) -> Html {
    if report.lost_time.is_empty() {
        return Html::default();
    }
    let [cause, numbers @ ..] = words::LOST_TIME_COLUMNS;
    html! {
        <section class="lost-time" aria-labelledby="findings-lost-time">
            <h3 id="findings-lost-time">{ words::LOST_TIME }</h3>
            <div class="table-box" tabindex="0" role="group" aria-label={words::LOST_TIME}>
                <table class="plain-table">
                    <thead><tr>
                        <th scope="col">{ cause }</th>
                        { for numbers.map(|head| html! { <th scope="col" class="number">{ head }</th> }) }
                    </tr></thead>
                    <tbody>{ for report.lost_time.iter().map(|time| row(time, report.caps)) }</tbody>
                </table>
            </div>
            <p class="faint">{ words::unexplained(report) }</p>
        </section>
    }
}

fn row(time: &LostTime, caps: u64) -> Html {
    let [cause, numbers @ ..] = words::lost_time(time, caps);
    html! {
        <tr>
            <th scope="row">{ cause }</th>
            { for numbers.map(|number| html! { <td class="number">{ number }</td> }) }
        </tr>
    }
}
