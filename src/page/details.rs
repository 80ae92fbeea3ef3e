//! Details of an item: a tip next to the pointer, and a card that stays open for the clicked item.

use std::rc::Rc;

use yew::prelude::*;

use super::copy::CopyButton;
use super::dialog::swatch;
use super::viewer::{ClickPosition, Description, NavigationTarget, ViewerNumber};
use session::tracks::details::{Fact, FlameTarget, LinkRelation, Target};

/// Maximum number of facts in a tip.
const TIP_FACTS: usize = 6;

/// Renders the tip next to the pointer. Screen readers get the same from the strip below the timeline.
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
            { fact_list(facts.iter().filter(is_useful_in_tip).take(TIP_FACTS), None) }
        </div>
    }
}

/// Returns whether a fact is useful without its link: a tip cannot be clicked.
fn is_useful_in_tip(fact: &&Fact) -> bool {
    !matches!(fact.target, Some(Target::Flame(_) | Target::Event(..)))
}

/// Callbacks for clicks on facts that link elsewhere.
#[derive(Clone, Copy)]
struct FactCallbacks<'a> {
    on_goto: &'a Callback<NavigationTarget>,
    on_flame: &'a Callback<FlameTarget>,
    on_event: &'a Callback<ClickPosition>,
}

fn fact_list<'a>(
    facts: impl Iterator<Item = &'a Fact>,
    callbacks: Option<FactCallbacks<'_>>,
) -> Html {
    let fact = |fact: &Fact| {
        let onclick = callbacks.and_then(|callbacks| match fact.target? {
            Target::Item(_, row, span) => Some(
                callbacks
                    .on_goto
                    .reform(move |_: MouseEvent| NavigationTarget::item(row, span)),
            ),
            Target::Flame(target) => Some(callbacks.on_flame.reform(move |_: MouseEvent| target)),
            Target::Event(time, cap) => Some(
                callbacks
                    .on_event
                    .reform(move |_: MouseEvent| ClickPosition { time, cap }),
            ),
        });
        let text = match onclick {
            Some(onclick) => html! { <button class="link" {onclick}>{ &fact.text }</button> },
            None => html! { { &fact.text } },
        };
        let keys = match fact.item().filter(|_| callbacks.is_some()) {
            Some((LinkRelation::Waker, ..)) => html! { <>{ " " }<kbd>{ "U" }</kbd></> },
            Some((LinkRelation::Next, ..)) => html! { <>{ " " }<kbd>{ "N" }</kbd></> },
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
    /// Timeline of the item, which handles keys while the focus is in the card.
    pub(super) viewer: ViewerNumber,
    pub(super) on_goto: Callback<NavigationTarget>,
    /// Shows a target in the flame graph.
    pub(super) on_flame: Callback<FlameTarget>,
    /// Shows an event in the event list.
    pub(super) on_event: Callback<ClickPosition>,
    /// Shows or hides arrows for all wakeups of the thread.
    pub(super) on_wakeups: Callback<()>,
    pub(super) on_close: Callback<()>,
}

/// Card with the details of the clicked item.
#[component]
pub(super) fn Card(props: &CardProps) -> Html {
    let description = &props.description;
    let copied = Rc::clone(description);
    let callbacks = FactCallbacks {
        on_goto: &props.on_goto,
        on_flame: &props.on_flame,
        on_event: &props.on_event,
    };
    let close = props.on_close.reform(|_: MouseEvent| ());
    let wakeups = props.on_wakeups.reform(|_: MouseEvent| ());
    html! {
        <aside class="details-card" data-viewer={props.viewer.0.to_string()} aria-label="Details of the selected item">
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
            { fact_list(description.facts.iter(), Some(callbacks)) }
            if let Some(shown) = description.all_wakeups {
                <button class="small" aria-pressed={shown.to_string()} onclick={wakeups}
                    title="Arrows for all wakeups of this thread in view (J)">{ "Show all wakeups" }</button>
            }
        </aside>
    }
}
