//! Description of the pinned band, with module and source location.

use yew::prelude::*;

use crate::panel::{Source, use_answer};
use session::heap::band_info::{BandInfo, BandInfoQuery};

#[derive(Properties, PartialEq)]
pub(super) struct AboutProps {
    pub(super) source: Source,
    /// Index of the profile in the log.
    pub(super) profile: u32,
    /// Key of the band.
    pub(super) band: String,
}

/// Maximum number of members shown of a retainer set or cost-centre stack.
const MEMBERS: usize = 40;

/// Renders the metadata of a band; nothing for groups.
#[component]
pub(super) fn AboutBand(props: &AboutProps) -> Html {
    let query = BandInfoQuery {
        profile: props.profile,
        key: props.band.clone(),
    };
    let about = use_answer(&props.source, query);
    let Some(about) = about.as_deref().and_then(Option::as_ref) else {
        return html! {};
    };
    let fact = |(what, text): &(&str, &str)| html! { <><dt>{ *what }</dt><dd>{ *text }</dd></> };
    html! {
        <section class="heap-about" aria-label="Highlighted band" aria-live="polite">
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

fn members(about: &BandInfo) -> Html {
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
