//! What rules have found while the others still look.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::finding::severity;
use crate::panel::{Source, use_answer_if};
use model::time::Interval;
use session::questions::FindingsProgressQuery;

/// What is answered sooner needs no list on the way.
const FIRST_AFTER_MS: u32 = 100;

#[derive(PartialEq, Properties)]
pub(super) struct ProgressProps {
    pub source: Source,
    /// What they look at.
    pub range: Option<Interval>,
}

/// The titles that are known, as they come.
#[component]
pub(super) fn SoFar(props: &ProgressProps) -> Html {
    // `None` until the rules have been asked for a moment: most logs are answered by then.
    let answered = use_state_eq(|| None);
    {
        let answered = answered.setter();
        use_effect_with((), move |()| {
            let timer = Timeout::new(FIRST_AFTER_MS, move || answered.set(Some(0)));
            move || drop(timer)
        });
    }
    let question = answered.map(|answered| FindingsProgressQuery {
        range: props.range,
        answered,
    });
    let answer = use_answer_if(&props.source, question);
    let progress = answer.as_deref().and_then(Option::as_ref);
    {
        let now = progress.map(|progress| progress.answered);
        use_effect_with(now, move |now| {
            if now.is_some() {
                answered.set(*now);
            }
        });
    }
    let Some(progress) = progress else {
        return html! {};
    };
    html! {
        <div class="findings">
            <p class="faint">{ format!("{} of {} rules have answered.", progress.answered, progress.rules) }</p>
            if !progress.found.is_empty() {
                <section aria-labelledby="findings-so-far">
                    <h3 id="findings-so-far">{ "Found so far" }</h3>
                    <ul>{ for progress.found.iter().map(|(grave, title)| html! {
                        <li class="so-far">{ severity(*grave) }{ " " }{ title }</li>
                    }) }</ul>
                </section>
            }
        </div>
    }
}
