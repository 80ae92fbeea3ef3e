//! The link: the address's fragment follows the view. Only settings, never data.

use views::tracks::Contents;
use views::tracks::Row;
use eventlog::ids::Nanos;
use model::time::Span;
use views::scene::format;
use views::share::{Selected, TrackName, ViewState, decode, encode};

/// The selected item for a link.
pub(super) fn selected(item: Option<(Row, Span)>, contents: &Contents) -> Option<Selected> {
    let (row, span) = item?;
    let track = TrackName::new(row.name(contents))?;
    Some(Selected {
        time: span.start,
        track,
    })
}

/// The selected item of a link.
pub(super) fn item(state: &ViewState, contents: &Contents) -> Option<(Row, Nanos)> {
    let Selected { time, track } = state.selected.as_ref()?;
    Some((Row::named(track.as_str(), contents)?, *time))
}

/// What the address says now.
pub(super) fn read() -> Option<ViewState> {
    let hash = gloo_utils::window().location().hash().ok()?;
    let fragment = hash.strip_prefix('#')?;
    (!fragment.is_empty()).then(|| decode(fragment))
}

/// The address with this view.
fn address(state: &ViewState) -> Option<String> {
    let location = gloo_utils::window().location();
    let page = format!("{}{}", location.pathname().ok()?, location.search().ok()?);
    let fragment = encode(state);
    Some(if fragment.is_empty() {
        page
    } else {
        format!("{page}#{fragment}")
    })
}

/// Writes the view into the address, without a new entry in the history.
pub(super) fn write(state: &ViewState) {
    if let (Some(address), Ok(history)) = (address(state), gloo_utils::window().history()) {
        // Browsers refuse when it happens too often: the next change writes again.
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&address));
    }
}

/// The whole link with this view.
pub(super) fn href(state: &ViewState) -> Option<String> {
    let origin = gloo_utils::window().location().origin().ok()?;
    Some(format!("{origin}{}", address(state)?))
}

/// What a link is about, for someone who has yet to open the log.
pub(super) fn promise(state: &ViewState) -> String {
    let name = state.log_name.as_deref().unwrap_or("a log");
    let size = state
        .fingerprint
        .map(|print| format!(" of {}", format::bytes(print.len())))
        .unwrap_or_default();
    let span = |what: &str, span: Span| {
        format!(
            "{what} {} to {}",
            format::time(span.start),
            format::time(span.end)
        )
    };
    let view = state
        .selection
        .map(|range| span("with the range", range))
        .or_else(|| state.visible.map(|range| span("from", range)));
    let view = view.map(|view| format!(", {view}")).unwrap_or_default();
    format!("This link shows a view of {name}{size}{view}. Drop that log here to see it.")
}
