//! Link to the view in the fragment of the page's address. It holds settings only, never log data.

use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use session::tracks::LogContents;
use session::tracks::TrackId;
use session::tracks::name::TrackName;
use views::panels::PANELS;
use views::share::{Link, decode, encode};
use views::view::store::Entry;
use views::view::{Selected, View};

/// Converts the selected item to its form in a view.
pub(super) fn selected(item: Option<(TrackId, Nanos)>, contents: &LogContents) -> Option<Selected> {
    let (row, time) = item?;
    let track = TrackName::new(row.link(contents))?;
    Some(Selected { time, track })
}

/// Converts the selected item of a view to a row and a time.
pub(super) fn item(view: &View, contents: &LogContents) -> Option<(TrackId, Nanos)> {
    let Selected { time, track } = view.selected.as_ref()?;
    Some((TrackId::parse(track.as_str(), contents)?, *time))
}

/// Returns the current fragment, with its `#`.
pub(super) fn fragment() -> String {
    gloo_utils::window().location().hash().unwrap_or_default()
}

/// Decodes the current fragment; `None` if it is empty.
pub(super) fn read() -> Option<Link> {
    let hash = fragment();
    let fragment = hash.strip_prefix('#')?;
    (!fragment.is_empty()).then(|| decode(fragment, PANELS))
}

/// Returns the address, without its origin, for a link.
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

/// Writes a link into the address.
pub(super) fn write(link: &Link, entry: Entry) {
    let (Some(address), Ok(history)) = (address(link), gloo_utils::window().history()) else {
        return;
    };
    let now = gloo_utils::window().location().href().unwrap_or_default();
    let data = wasm_bindgen::JsValue::NULL;
    // Browsers throttle history updates; the next change writes again.
    let _ = if entry == Entry::New && !now.ends_with(&address) {
        history.push_state_with_url(&data, "", Some(&address))
    } else {
        history.replace_state_with_url(&data, "", Some(&address))
    };
}

/// Returns the full URL of a link.
pub(super) fn href(link: &Link) -> Option<String> {
    let origin = gloo_utils::window().location().origin().ok()?;
    Some(format!("{origin}{}", address(link)?))
}

/// Describes a link to a user who has yet to open its log.
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
            "This link compares two logs: {name}{size}, the log “{}”, and a log of {}, the log “{}”{view}. Drop both here to see it.",
            role.other().name(),
            format::bytes(other.len()),
            role.name()
        );
    }
    format!("This link shows a view of {name}{size}{view}. Drop that log here to see it.")
}
