//! Shared parts of the heap tables: the census count, and sparklines of bands.

use yew::prelude::*;

use crate::goto_link::GotoLink;
use crate::panel::{Extent, PanelProps, span_text};
use crate::viewer::NavigationTarget;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use session::heap::census_range::{CensusInfo, CensusRange};
use session::heap::table::BandLabel;
use session::tracks::bands::Bands;
use views::heap::words;
use views::view::Change;

/// Describes the censuses that the numbers are based on.
pub(super) fn censuses_text(extent: Extent, counted: &CensusRange) -> String {
    let of = match (extent.range, counted.timed) {
        (Some(range), true) => format!("in the selected range, {}", span_text(range)),
        (Some(_), false) => "of the whole profile: the log has no times of censuses".to_owned(),
        (None, _) if extent.complete => "in the whole log".to_owned(),
        (None, _) => "so far: the log is still being read".to_owned(),
    };
    let one = match counted.censuses {
        1 => " A single census shows no growth.",
        _ => "",
    };
    let censuses = match counted.censuses {
        1 => "1 census".to_owned(),
        many => format!("{} censuses", format::count(many.into())),
    };
    format!("{censuses} {of}.{one}")
}

/// Renders the placeholder of a table without censuses in the range.
pub(super) fn no_census(props: &PanelProps, counted: &CensusRange) -> Html {
    let Some((nearest, time)) = counted.nearest.and_then(|it| Some((it, it.time?))) else {
        return html! { <p class="empty">{ "No censuses so far." }</p> };
    };
    let select = {
        let range = props.range;
        props
            .on_change
            .reform(move |_: MouseEvent| select_up_to(range, nearest))
    };
    html! {
        <div class="empty">
            <p>{ format!("No census in this range: the nearest is at {}.", format::time(time)) }</p>
            <p><button onclick={select}>{ format!("Extend the range to {}", words::census(&nearest)) }</button></p>
        </div>
    }
}

/// Returns the change that extends the range to a census outside of it.
fn select_up_to(range: Option<Interval>, census: CensusInfo) -> Change {
    let span = census.time.map(|time| {
        let moment = Interval::new(time, Nanos(time.0.saturating_add(1)));
        range.map_or(moment, |range| range.hull(moment))
    });
    select(span)
}

/// Returns the change that selects a range; `None` keeps the current one.
pub(super) fn select(span: Option<Interval>) -> Change {
    Change::new(move |mut view, _| {
        view.selection = span.or(view.selection);
        view
    })
}

/// Renders the sparkline of a band from heights of 0 to 255. It is hidden from screen readers, as the numbers next to
/// it say the same.
pub(super) fn spark(heights: &[u8]) -> Html {
    use std::fmt::Write as _;
    let mut path = String::from("M0 255");
    for (x, height) in heights.iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = write!(path, "V{}H{}", 255 - height, x + 1);
    }
    path.push_str("V255Z");
    html! {
        <svg class="spark" viewBox={format!("0 0 {} 255", heights.len().max(1))} preserveAspectRatio="none" aria-hidden="true">
            <path d={path} />
        </svg>
    }
}

/// Renders the maximum of the band `name` as a link to its time, if known.
pub(super) fn maximum_link(
    name: &str,
    (bytes, at): (u64, Option<Nanos>),
    on_goto: &Callback<NavigationTarget>,
    in_grid: bool,
) -> Html {
    let place = |time| NavigationTarget::details(Bands.into(), Interval::empty_at(time));
    html! {
        <GotoLink text={format::bytes(bytes)} what={format!("the most of {name}")}
            target={at.map(place)} on_goto={on_goto.clone()} {in_grid} />
    }
}

/// Renders the name of a band, with a mark if it is pinned.
pub(super) fn band_name(called: &BandLabel, pinned: bool) -> Html {
    let BandLabel { name, subtitle, .. } = called;
    let title = if subtitle.is_empty() {
        name.clone()
    } else {
        format!("{name}: {subtitle}")
    };
    html! {
        <span {title}>
            if pinned {
                <span class="pin" aria-hidden="true">{ "◆ " }</span><span class="visually-hidden">{ "highlighted: " }</span>
            }
            { name.clone() }
        </span>
    }
}
