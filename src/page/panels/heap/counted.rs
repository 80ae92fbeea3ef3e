//! What the tables of the heap have in common: which censuses they are about,
//! and small pictures of bands.

use yew::prelude::*;

use crate::panel::{PanelProps, span_text};
use crate::place::PlaceLink;
use crate::viewer::Goto;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use session::heap::counted::{Counted, Moment};
use session::heap::table::Called;
use session::tracks::bands::Bands;
use views::heap::words;
use views::view::Change;

/// Which censuses count, in words.
pub(super) fn censuses_text(props: &PanelProps, counted: &Counted) -> String {
    let of = match (props.range, counted.timed) {
        (Some(range), true) => format!("in the selected range, {}", span_text(range)),
        (Some(_), false) => "of the whole profile: when they were is not in the log".to_owned(),
        (None, _) if props.source.complete => "in the whole log".to_owned(),
        (None, _) => "so far: the log is still being read".to_owned(),
    };
    let one = match counted.censuses {
        1 => " One census says nothing about growth.",
        _ => "",
    };
    let censuses = match counted.censuses {
        1 => "1 census".to_owned(),
        many => format!("{} censuses", format::count(many.into())),
    };
    format!("{censuses} {of}.{one}")
}

/// What stands in place of a table if no census is in the range.
pub(super) fn no_census(props: &PanelProps, counted: &Counted) -> Html {
    let Some((nearest, time)) = counted.nearest.and_then(|it| Some((it, it.time?))) else {
        return html! { <p class="empty">{ "No census has been read so far." }</p> };
    };
    let select = {
        let range = props.range;
        props
            .on_change
            .reform(move |_: MouseEvent| select_to(range, nearest))
    };
    html! {
        <div class="empty">
            <p>{ format!("No census in this range: the nearest is at {}.", format::time(time)) }</p>
            <p><button onclick={select}>{ format!("Extend the range to {}", words::census(&nearest)) }</button></p>
        </div>
    }
}

/// The range with a census beside it.
fn select_to(range: Option<Interval>, census: Moment) -> Change {
    let span = census.time.map(|time| {
        let moment = Interval::new(time, Nanos(time.0.saturating_add(1)));
        range.map_or(moment, |range| range.hull(moment))
    });
    select(span)
}

/// Another selected range.
pub(super) fn select(span: Option<Interval>) -> Change {
    Change::new(move |mut view, _| {
        view.selection = span.or(view.selection);
        view
    })
}

/// A band over the censuses of the range: heights, 255 at most. The numbers beside
/// it say the same to who cannot see it.
pub(super) fn spark(heights: &[u8]) -> Html {
    use std::fmt::Write as _;
    let mut path = String::from("M0 255");
    for (x, height) in heights.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(path, "V{}H{}", 255 - height, x + 1);
    }
    path.push_str("V255Z");
    html! {
        <svg class="spark" viewBox={format!("0 0 {} 255", heights.len().max(1))} preserveAspectRatio="none" aria-hidden="true">
            <path d={path} />
        </svg>
    }
}

/// The most of a band, which leads to when it was.
#[derive(Properties, PartialEq)]
pub(super) struct MostProps {
    /// What the band is called.
    pub(super) name: AttrValue,
    pub(super) bytes: u64,
    /// When it was, if that is known.
    pub(super) at: Option<Nanos>,
    pub(super) on_goto: Callback<Goto>,
    /// Whether it stands in a grid.
    #[prop_or_default]
    pub(super) in_grid: bool,
}

/// That number.
#[component]
pub(super) fn Most(props: &MostProps) -> Html {
    let place = |time| Goto::details(Bands.into(), Interval::at(time));
    html! {
        <PlaceLink text={format::bytes(props.bytes)} what={format!("the most of {}", props.name)}
            place={props.at.map(place)} on_goto={props.on_goto.clone()} in_grid={props.in_grid} />
    }
}

/// The name of a band, with a sign if it is followed.
pub(super) fn band_name(called: &Called, pinned: bool) -> Html {
    let Called { name, subtitle, .. } = called;
    let title = if subtitle.is_empty() {
        name.clone()
    } else {
        format!("{name}: {subtitle}")
    };
    html! {
        <span {title}>
            if pinned {
                <span class="pin" aria-hidden="true">{ "◆ " }</span><span class="visually-hidden">{ "followed: " }</span>
            }
            { name.clone() }
        </span>
    }
}
