//! What is known of an item: in a tip beside the pointer, and in a card beside the
//! panel that stays open for what was clicked.

use std::rc::Rc;

use yew::prelude::*;

use super::copy::CopyButton;
use super::dialog::swatch;
use super::viewer::{Description, Goto, Place, ViewerNumber};
use session::tracks::details::{Fact, FlameTarget, Lead, Target};

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
            { fact_list(facts.iter().filter(says_more).take(TIP_FACTS), None) }
        </div>
    }
}

/// Whether a fact is one where it leads nowhere: a tip cannot be clicked.
fn says_more(fact: &&Fact) -> bool {
    !matches!(fact.target, Some(Target::Flame(_) | Target::Event(..)))
}

/// What happens where a fact is clicked that leads somewhere.
#[derive(Clone, Copy)]
struct Ways<'a> {
    on_goto: &'a Callback<Goto>,
    on_flame: &'a Callback<FlameTarget>,
    on_event: &'a Callback<Place>,
}

fn fact_list<'a>(facts: impl Iterator<Item = &'a Fact>, ways: Option<Ways<'_>>) -> Html {
    let fact = |fact: &Fact| {
        let onclick = ways.and_then(|ways| match fact.target? {
            Target::Item(_, row, span) => Some(
                ways.on_goto
                    .reform(move |_: MouseEvent| Goto::item(row, span)),
            ),
            Target::Flame(target) => Some(ways.on_flame.reform(move |_: MouseEvent| target)),
            Target::Event(time, cap) => Some(
                ways.on_event
                    .reform(move |_: MouseEvent| Place { time, cap }),
            ),
        });
        let text = match onclick {
            Some(onclick) => html! { <button class="link" {onclick}>{ &fact.text }</button> },
            None => html! { { &fact.text } },
        };
        let keys = match fact.item().filter(|_| ways.is_some()) {
            Some((Lead::Waker, ..)) => html! { <>{ " " }<kbd>{ "U" }</kbd></> },
            Some((Lead::Next, ..)) => html! { <>{ " " }<kbd>{ "N" }</kbd></> },
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
    /// The timeline that it is on: keys are for that one while the focus is here.
    pub(super) viewer: ViewerNumber,
    pub(super) on_goto: Callback<Goto>,
    /// A place in the flame graph is to be shown.
    pub(super) on_flame: Callback<FlameTarget>,
    /// An event is to be shown in the list of all.
    pub(super) on_event: Callback<Place>,
    /// All wakeups of the thread are to be shown, or no longer.
    pub(super) on_wakeups: Callback<()>,
    pub(super) on_close: Callback<()>,
}

/// The details of the item that was clicked.
#[component]
pub(super) fn Card(props: &CardProps) -> Html {
    let description = &props.description;
    let copied = Rc::clone(description);
    let ways = Ways {
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
            { fact_list(description.facts.iter(), Some(ways)) }
            if let Some(shown) = description.all_wakeups {
                <button class="small" aria-pressed={shown.to_string()} onclick={wakeups}
                    title="As arrows, all in view (J)">{ "All wakeups of this thread" }</button>
            }
        </aside>
    }
}
