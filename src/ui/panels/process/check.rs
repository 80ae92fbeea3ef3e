//! Whether the events of the log are in order, as `eventscope check` says it.

use yew::prelude::*;

use super::time_button;
use crate::ui::more::use_more;
use crate::ui::panel::{Source, use_answer};
use crate::ui::viewer::Goto;
use views::scene::format;
use views::session::check::{CheckQuery, Checked, OutOfOrder};

/// How many findings are shown at first.
const SHOWN: usize = 10;

#[derive(Properties, PartialEq)]
pub(super) struct CheckProps {
    pub(super) source: Source,
    pub(super) on_goto: Callback<Goto>,
}

/// The section. All of the log is read again for it, so that it is asked for.
#[component]
pub(super) fn Check(props: &CheckProps) -> Html {
    let asked = use_state_eq(|| false);
    let ask = {
        let asked = asked.setter();
        Callback::from(move |_: MouseEvent| asked.set(true))
    };
    html! {
        <section aria-labelledby="process-check">
            <h2 id="process-check">{ "Order of events" }</h2>
            <p>{ "Whether every event fits the state of its thread, capability and task: no thread runs twice at once, or after its end." }</p>
            if *asked {
                <Findings source={props.source.clone()} on_goto={props.on_goto.clone()} />
            } else {
                <button class="small" onclick={ask} disabled={!props.source.complete}>{ "Check all events" }</button>
            }
        </section>
    }
}

#[component]
fn Findings(props: &CheckProps) -> Html {
    let answer = use_answer(&props.source, CheckQuery);
    let more = use_more(SHOWN);
    let checked = match answer.as_deref() {
        None => return html! { <p role="status">{ "Reading all events once more …" }</p> },
        Some(Err(why)) => return html! { <p role="status">{ why.to_string() }</p> },
        Some(Ok(checked)) => checked,
    };
    let items = checked.findings.iter().take(more.shown);
    html! {
        <>
            <p role="status">{ verdict(checked) }</p>
            <ul class="diagnostics">{ for items.map(|one| item(one, &props.on_goto)) }</ul>
            { more.button(checked.findings.len(), "findings") }
            if !checked.tolerated.is_empty() {
                <p>{ tolerated(checked) }</p>
            }
        </>
    }
}

fn verdict(checked: &Checked) -> String {
    let kept = checked.findings.len() as u64;
    match checked.count {
        0 => "Nothing is out of order.".to_owned(),
        1 => "1 event is out of order.".to_owned(),
        many if many > kept => format!(
            "{} events are out of order; the first {} are listed.",
            format::count(many),
            format::count(kept)
        ),
        many => format!("{} events are out of order.", format::count(many)),
    }
}

/// What is unusual, but no sign of a defect.
fn tolerated(checked: &Checked) -> String {
    let parts = checked.tolerated.iter();
    let parts: Vec<String> = parts
        .map(|(what, count)| format!("{} {what}", format::count(*count)))
        .collect();
    format!("Unusual, but harmless: {}.", parts.join(", "))
}

fn item(one: &OutOfOrder, on_goto: &Callback<Goto>) -> Html {
    let place = one.cap.map(|cap| format!("capability {cap}"));
    html! {
        <li>
            <span class="when">{ time_button(on_goto, one.time, one.cap) }</span>
            <span>
                { &one.subject }{ ": " }{ &one.problem }
                if let Some(place) = place {
                    <span class="explanation">{ place }</span>
                }
            </span>
        </li>
    }
}
