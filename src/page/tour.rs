//! Card of the guided tour, placed above the timeline so that it covers nothing.

use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::focus;
use super::guide::guide;
use views::tour::STEPS;

#[derive(Properties, PartialEq)]
pub(super) struct TourProps {
    /// Index of the current step.
    pub(super) at: usize,
    /// Goes to another step; an index beyond the last one ends the tour.
    pub(super) on_step: Callback<usize>,
    pub(super) on_end: Callback<()>,
}

/// Card with the current step of the tour.
#[component]
pub(super) fn Tour(props: &TourProps) -> Html {
    let next = use_node_ref();
    {
        let next = next.clone();
        use_effect_with((), move |()| {
            if let Some(next) = next.cast::<HtmlElement>() {
                focus(&next);
            }
        });
    }
    let Some(step) = STEPS.get(props.at) else {
        return Html::default();
    };
    let (at, is_last) = (props.at, props.at + 1 == STEPS.len());
    let back = props
        .on_step
        .reform(move |_: MouseEvent| at.saturating_sub(1));
    let forward = props.on_step.reform(move |_: MouseEvent| at + 1);
    let end = props.on_end.reform(|_: MouseEvent| ());
    html! {
        <aside class="tour" aria-label="Tour">
            <p class="at">{ format!("{} of {}", at + 1, STEPS.len()) }</p>
            <div class="says" role="status">
                <h2>{ step.title }</h2>
                <p>{ step.see }</p>
                <p class="why">{ step.why }</p>
                if is_last {
                    <p>{ guide("recording", "How to record a log for your question") }</p>
                }
            </div>
            <div class="tools">
                <button onclick={back} aria-disabled={(at == 0).to_string()}>{ "Back" }</button>
                <button ref={next} class="primary" onclick={forward}>{ if is_last { "Done" } else { "Next" } }</button>
                <button class="quiet" onclick={end} title="End the tour (Esc)" aria-label="End the tour">{ "✕" }</button>
            </div>
        </aside>
    }
}
