//! Details of an item: a tip next to the pointer, and a card that stays open for the clicked item.

use std::rc::Rc;

use yew::prelude::*;

use super::copy::CopyButton;
use super::dialog::swatch;
use super::viewer::{ClickPosition, Description, NavigationTarget, ViewerNumber};
use session::tracks::details::{DetailField, FlameTarget, LinkRelation, Target};

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
fn is_useful_in_tip(fact: &&DetailField) -> bool {
    !matches!(fact.target, Some(Target::Flame(_) | Target::Event(..)))
}

/// Click on a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CardAction {
    /// Goes to another item.
    Goto(NavigationTarget),
    /// Shows a target in the flame graph.
    Flame(FlameTarget),
    /// Shows an event in the event list.
    Event(ClickPosition),
    /// Shows or hides arrows for all wakeups of the thread.
    Wakeups,
    Close,
}

fn fact_list<'a>(
    facts: impl Iterator<Item = &'a DetailField>,
    on_action: Option<&Callback<CardAction>>,
) -> Html {
    let fact = |fact: &DetailField| {
        let action = fact.target.map(|target| match target {
            Target::Item(_, row, span) => CardAction::Goto(NavigationTarget::item(row, span)),
            Target::Flame(target) => CardAction::Flame(target),
            Target::Event(time, cap) => CardAction::Event(ClickPosition { time, cap }),
        });
        let onclick = on_action.zip(action);
        let onclick =
            onclick.map(|(on_action, action)| on_action.reform(move |_: MouseEvent| action));
        let text = match onclick {
            Some(onclick) => html! { <button class="link" {onclick}>{ &fact.text }</button> },
            None => html! { { &fact.text } },
        };
        let keys = match fact.item().filter(|_| on_action.is_some()) {
            Some((LinkRelation::Waker, ..)) => html! { <>{ " " }<kbd>{ "U" }</kbd></> },
            Some((LinkRelation::Next, ..)) => html! { <>{ " " }<kbd>{ "N" }</kbd></> },
            _ => Html::default(),
        };
        html! { <><dt>{ &fact.label }</dt><dd>{ text }{ keys }</dd></> }
    };
    let facts: Html = facts.map(fact).collect();
    html! { <dl>{ facts }</dl> }
}

/// Renders a card with the details of the clicked item. The timeline of the item handles keys while the focus is in
/// the card; `on_action` receives clicks with its number.
pub(super) fn card(
    description: &Rc<Description>,
    viewer: ViewerNumber,
    on_action: &Callback<(ViewerNumber, CardAction)>,
) -> Html {
    let copied = Rc::clone(description);
    let on_action = on_action.reform(move |action| (viewer, action));
    let close = on_action.reform(|_: MouseEvent| CardAction::Close);
    let wakeups = on_action.reform(|_: MouseEvent| CardAction::Wakeups);
    html! {
        <aside class="details-card" data-viewer={viewer.0.to_string()} aria-label="Details of the selected item">
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
            { fact_list(description.facts.iter(), Some(&on_action)) }
            if let Some(shown) = description.all_wakeups {
                <button class="small" aria-pressed={shown.to_string()} onclick={wakeups}
                    title="Arrows for all wakeups of this thread in view (J)">{ "Show all wakeups" }</button>
            }
        </aside>
    }
}
