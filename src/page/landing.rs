//! Landing page. Its static part is in `index.html`, so that it shows before the program has loaded;
//! `www/first.js` handles its events and queues them until then. This module renders the dynamic parts into
//! placeholders of that page.

use gloo_events::EventListener;
use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{CustomEvent, File, FileSystemFileHandle, HtmlElement};
use yew::prelude::*;

use super::files::{InputFile, Origin};
use super::recent;

#[derive(Properties, PartialEq)]
pub(super) struct LandingProps {
    /// Description of the link that was followed.
    pub(super) link: Option<AttrValue>,
    /// Errors and downloads in progress.
    pub(super) status: Html,
    /// Notice that is not about a link, an error or a download.
    pub(super) notice: Option<AttrValue>,
    /// Name of the log that is still open behind the page.
    pub(super) open: Option<AttrValue>,
    pub(super) on_back: Callback<()>,
    pub(super) on_recent: Callback<FileSystemFileHandle>,
}

/// Dynamic parts of the landing page.
#[component]
pub(super) fn Landing(props: &LandingProps) -> Html {
    let said = html! {
        <>
            { props.status.clone() }
            if let Some(open) = &props.open {
                <p class="hint">
                    { format!("“{open}” is still open. ") }
                    <button onclick={props.on_back.reform(|_: MouseEvent| ())}>{ "Back to the log" }</button>
                </p>
            }
            if let Some(notice) = &props.notice {
                <div class="hint" role="status">{ notice }</div>
            }
            if let Some(link) = &props.link {
                <div class="hint" role="status">{ link }</div>
            }
        </>
    };
    let recent_logs = html! { <RecentLogs on_open={props.on_recent.clone()} /> };
    let places = [("first-said", said), ("first-kept", recent_logs)];
    let places = places
        .into_iter()
        .filter_map(|(id, what)| Some(create_portal(what, element(id)?.into())));
    html! { <>{ for places }</> }
}

#[derive(Properties, PartialEq)]
struct RecentLogsProps {
    on_open: Callback<FileSystemFileHandle>,
}

/// List of recently opened logs, where the browser can reopen them.
#[component]
fn RecentLogs(props: &RecentLogsProps) -> Html {
    let handles = use_state_eq(Vec::<FileSystemFileHandle>::new);
    let refresh = {
        let handles = handles.setter();
        move |forgotten: Option<Option<FileSystemFileHandle>>| {
            let handles = handles.clone();
            spawn_local(async move {
                if let Some(handle) = forgotten {
                    recent::forget_handles(handle).await;
                }
                handles.set(recent::recent_handles().await);
            });
        }
    };
    {
        let refresh = refresh.clone();
        use_effect_with((), move |()| refresh(None));
    }
    if handles.is_empty() {
        return Html::default();
    }
    let forget_all = {
        let refresh = refresh.clone();
        Callback::from(move |_: MouseEvent| refresh(Some(None)))
    };
    let row = |handle: &FileSystemFileHandle| {
        let name = handle.name();
        let open = {
            let (on_open, handle) = (props.on_open.clone(), handle.clone());
            Callback::from(move |_: MouseEvent| on_open.emit(handle.clone()))
        };
        let forget = {
            let (refresh, handle) = (refresh.clone(), handle.clone());
            Callback::from(move |_: MouseEvent| refresh(Some(Some(handle.clone()))))
        };
        html! {
            <li>
                <button onclick={open}>{ &name }</button>
                <button class="quiet" onclick={forget} aria-label={format!("Forget {name}")} title="Forget">{ "✕" }</button>
            </li>
        }
    };
    html! {
        <section class="kept" aria-labelledby="kept">
            <h2 id="kept">{ "Opened before" }</h2>
            <ul>{ for handles.iter().map(row) }</ul>
            <p>
                { "The browser remembers the locations of these files, not their contents. " }
                <button class="small" onclick={forget_all}>{ "Forget all" }</button>
            </p>
        </section>
    }
}

fn element(id: &str) -> Option<HtmlElement> {
    let element = gloo_utils::document().get_element_by_id(id)?;
    element.dyn_into().ok()
}

/// Shows or hides the landing page.
pub(super) fn show(is_first: bool) {
    if let Some(page) = element("first") {
        page.set_hidden(!is_first);
    }
}

/// Opens the file dialog.
pub(super) fn browse() {
    if let Some(input) = element("files") {
        input.click();
    }
}

/// Request from the landing page or the script `www/first.js`.
pub(super) enum LandingRequest {
    /// Open these files.
    Files(Vec<InputFile>),
    /// Report that no files can be opened, with the reason.
    Failed(String),
    /// Open a sample: its address and its view.
    Sample(String, String),
    Browse,
    Tour,
}

/// Passes the requests of `www/first.js` to `then`.
pub(super) fn listen(then: impl Fn(LandingRequest) + 'static) -> EventListener {
    EventListener::new(&gloo_utils::window(), "eventscope-asked", move |event| {
        let detail = event.unchecked_ref::<CustomEvent>().detail();
        let part = |name: &str| Reflect::get(&detail, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let text = |name: &str| part(name).as_string();
        then(
            if let (Some(sample), Some(view)) = (text("sample"), text("view")) {
                LandingRequest::Sample(sample, view)
            } else if let Some(why) = text("failed") {
                LandingRequest::Failed(why)
            } else if part("tour").is_truthy() {
                LandingRequest::Tour
            } else if part("browse").is_truthy() {
                LandingRequest::Browse
            } else {
                // Both are arrays; the handles may be missing.
                let handles = Array::from(&part("handles"));
                let files = Array::from(&part("files"));
                let input_file = |(file, at)| InputFile {
                    file: File::from(file),
                    origin: (handles.get(at).dyn_into()).map_or(Origin::Snapshot, Origin::Handle),
                };
                LandingRequest::Files(files.iter().zip(0..).map(input_file).collect())
            },
        );
    })
}

/// Notifies `www/first.js` that the program has started, so that it delivers its queued requests.
pub(super) fn started() {
    if let Ok(event) = web_sys::Event::new("eventscope-started") {
        // The event is not cancelable.
        let _ = gloo_utils::window().dispatch_event(&event);
    }
}
