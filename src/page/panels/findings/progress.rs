//! Intermediate findings while rules are still running.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::finding::severity;
use crate::panel::{Source, use_answer_if};
use model::time::Interval;
use session::queries::FindingsProgressQuery;

/// Delay before intermediate findings are requested: faster answers need none.
const FIRST_AFTER_MS: u32 = 100;

#[derive(PartialEq, Properties)]
pub(super) struct ProgressProps {
    pub source: Source,
    /// The analyzed range; `None` means the whole log.
    pub range: Option<Interval>,
}

/// Renders the titles of findings as rules complete.
#[component]
pub(super) fn IntermediateFindings(props: &ProgressProps) -> Html {
    // `None` until `FIRST_AFTER_MS` have passed: most logs are answered by then.
    let answered = use_state_eq(|| None);
    {
        let answered = answered.setter();
        use_effect_with((), move |()| {
            let timer = Timeout::new(FIRST_AFTER_MS, move || answered.set(Some(0)));
            move || drop(timer)
        });
    }
    let query = answered.map(|answered| FindingsProgressQuery {
        range: props.range,
        answered,
    });
    let answer = use_answer_if(&props.source, query);
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
            <p class="faint">{ format!("{} of {} rules are finished.", progress.answered, progress.rules) }</p>
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
