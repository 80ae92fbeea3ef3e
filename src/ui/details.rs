//! What is known of an item: in a tip beside the pointer, and in a card that
//! stays open for what was clicked.

use std::rc::Rc;

use yew::prelude::*;

use super::copy::CopyButton;
use super::dialog::swatch;
use super::viewer::{Description, Goto};
use crate::timeline::details::{Fact, Lead};

/// How many facts a tip has room for.
const TIP_FACTS: usize = 6;

/// The tip beside the pointer. The strip below the timeline says the same to
/// who cannot see it.
pub(super) fn tip(description: &Description) -> Html {
    let Description {
        class,
        name,
        text,
        facts,
        ..
    } = description;
    html! {
        <div class="tip" aria-hidden="true">
            <p>
                if let Some(class) = class {
                    <span class={swatch(*class)} />{ " " }
                }
                <strong>{ name }</strong>{ " " }{ text }
            </p>
            { fact_list(facts.iter().take(TIP_FACTS), None) }
        </div>
    }
}

fn fact_list<'a>(facts: impl Iterator<Item = &'a Fact>, on_goto: Option<&Callback<Goto>>) -> Html {
    let fact = |fact: &Fact| {
        let text = match (fact.lead, on_goto) {
            (Some((_, row, span)), Some(on_goto)) => {
                let onclick = on_goto.reform(move |_: MouseEvent| Goto::item(row, span));
                html! { <button class="link" {onclick}>{ &fact.text }</button> }
            }
            _ => html! { { &fact.text } },
        };
        let keys = match fact.lead {
            Some((Lead::Waker, ..)) if on_goto.is_some() => {
                html! { <>{ " " }<kbd>{ "U" }</kbd></> }
            }
            Some((Lead::Next, ..)) if on_goto.is_some() => html! { <>{ " " }<kbd>{ "N" }</kbd></> },
            _ => Html::default(),
        };
        html! { <><dt>{ &fact.label }</dt><dd>{ text }{ keys }</dd></> }
    };
    let facts: Html = facts.map(fact).collect();
    html! { <dl>{ facts }</dl> }
}

#[derive(Properties, PartialEq)]
pub(super) struct CardProps {
    pub(super) description: Rc<Description>,
    pub(super) on_goto: Callback<Goto>,
    pub(super) on_close: Callback<()>,
}

/// The details of the item that was clicked.
#[component]
pub(super) fn Card(props: &CardProps) -> Html {
    let description = &props.description;
    let copied = Rc::clone(description);
    let close = props.on_close.reform(|_: MouseEvent| ());
    html! {
        <aside class="details-card" aria-label="Details of the selected item">
            <header>
                <h2>
                    if let Some(class) = description.class {
                        <span class={swatch(class)} aria-hidden="true" />{ " " }
                    }
                    { &description.name }
                </h2>
                <CopyButton what="the details" text={move |()| Some(copied.to_text())} />
                <button class="quiet" onclick={close} aria-label="Close the details">{ "✕" }</button>
            </header>
            <p>{ &description.text }</p>
            { fact_list(description.facts.iter(), Some(&props.on_goto)) }
        </aside>
    }
}
