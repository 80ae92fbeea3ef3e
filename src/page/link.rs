//! The link: the address's fragment follows the view. Only settings, never data.

use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use session::tracks::Contents;
use session::tracks::Row;
use session::tracks::name::TrackName;
use views::panels::PANELS;
use views::share::{Link, decode, encode};
use views::view::store::Entry;
use views::view::{Selected, View};

/// The selected item for a view.
pub(super) fn selected(item: Option<(Row, Interval)>, contents: &Contents) -> Option<Selected> {
    let (row, span) = item?;
    let track = TrackName::new(row.link(contents))?;
    Some(Selected {
        time: span.start(),
        track,
    })
}

/// The selected item of a view.
pub(super) fn item(view: &View, contents: &Contents) -> Option<(Row, Nanos)> {
    let Selected { time, track } = view.selected.as_ref()?;
    Some((Row::parse(track.as_str(), contents)?, *time))
}

/// The fragment of the address.
pub(super) fn fragment() -> String {
    gloo_utils::window().location().hash().unwrap_or_default()
}

/// What the address says now.
pub(super) fn read() -> Option<Link> {
    let hash = fragment();
    let fragment = hash.strip_prefix('#')?;
    (!fragment.is_empty()).then(|| decode(fragment, PANELS))
}

/// The address with this view.
fn address(link: &Link) -> Option<String> {
    let location = gloo_utils::window().location();
    let page = format!("{}{}", location.pathname().ok()?, location.search().ok()?);
    let fragment = encode(link, PANELS);
    Some(if fragment.is_empty() {
        page
    } else {
        format!("{page}#{fragment}")
    })
}

/// Writes the view into the address.
pub(super) fn write(link: &Link, entry: Entry) {
    let (Some(address), Ok(history)) = (address(link), gloo_utils::window().history()) else {
        return;
    };
    let now = gloo_utils::window().location().href().unwrap_or_default();
    let data = wasm_bindgen::JsValue::NULL;
    // Browsers refuse when it happens too often: the next change writes again.
    let _ = if entry == Entry::New && !now.ends_with(&address) {
        history.push_state_with_url(&data, "", Some(&address))
    } else {
        history.replace_state_with_url(&data, "", Some(&address))
    };
}

/// The whole link with this view.
pub(super) fn href(link: &Link) -> Option<String> {
    let origin = gloo_utils::window().location().origin().ok()?;
    Some(format!("{origin}{}", address(link)?))
}

/// What a link is about, for someone who has yet to open the log.
pub(super) fn promise(link: &Link) -> String {
    let name = link.log_name.as_deref().unwrap_or("a log");
    let size = link
        .fingerprint
        .map(|print| format!(" of {}", format::bytes(print.len())))
        .unwrap_or_default();
    let span = |what: &str, span: Interval| {
        format!(
            "{what} {} to {}",
            format::time(span.start()),
            format::time(span.end())
        )
    };
    let view = &link.view;
    let view = view
        .selection
        .map(|range| span("with the range", range))
        .or_else(|| view.visible.map(|range| span("from", range)));
    let view = view.map(|view| format!(", {view}")).unwrap_or_default();
    if let Some((role, other)) = link.other {
        return format!(
            "This link compares two logs: {name}{size}, the one {}, and a log of {}, the one {}{view}. Drop both here to see it.",
            role.other().word(),
            format::bytes(other.len()),
            role.word()
        );
    }
    format!("This link shows a view of {name}{size}{view}. Drop that log here to see it.")
}
