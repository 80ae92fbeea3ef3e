//! What the band is that is followed: in sentences, with module and place.

use yew::prelude::*;

use crate::panel::{Source, use_answer};
use session::heap::about::{About, AboutQuery};

#[derive(Properties, PartialEq)]
pub(super) struct AboutProps {
    pub(super) source: Source,
    /// Which profile of the log, from 0.
    pub(super) profile: u32,
    /// What the band is known by.
    pub(super) band: String,
}

/// So many members of a retainer set, or cost centres of a stack, are shown.
const MEMBERS: usize = 40;

/// What is known of a band; nothing of groups.
#[component]
pub(super) fn AboutBand(props: &AboutProps) -> Html {
    let query = AboutQuery {
        profile: props.profile,
        key: props.band.clone(),
    };
    let about = use_answer(&props.source, query);
    let Some(about) = about.as_deref().and_then(Option::as_ref) else {
        return html! {};
    };
    let fact = |(what, text): &(&str, &str)| html! { <><dt>{ *what }</dt><dd>{ *text }</dd></> };
    html! {
        <section class="heap-about" aria-label="The band that is followed" aria-live="polite">
            <p class="title">{ &about.band.name }</p>
            if !about.what.is_empty() {
                <p>{ &about.what }</p>
            }
            if !about.advice.is_empty() {
                <p class="faint">{ &about.advice }</p>
            }
            <dl>{ for about.facts().iter().map(fact) }</dl>
            { members(about) }
        </section>
    }
}

fn members(about: &About) -> Html {
    let all = &about.band.members;
    if all.len() < 2 {
        return html! {};
    }
    let rest = all.len().saturating_sub(MEMBERS);
    html! {
        <ol>
            { for all.iter().take(MEMBERS).map(|member| html! { <li>{ member }</li> }) }
            if rest > 0 {
                <li class="faint">{ format!("{rest} more") }</li>
            }
        </ol>
    }
}
