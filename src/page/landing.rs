//! The first page: what this is, and three ways to begin. It stands in `index.html`, to be there
//! before the program is; `www/first.js` hears of what is done on it, and holds that until then.
//! What changes of it is drawn here, into places of that page.

use gloo_events::EventListener;
use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{CustomEvent, File, FileSystemFileHandle, HtmlElement};
use yew::prelude::*;

use super::files::{Chosen, Origin};
use super::recent;

#[derive(Properties, PartialEq)]
pub(super) struct LandingProps {
    /// What a link that was followed is about.
    pub(super) link: Option<AttrValue>,
    /// What did not work, and what comes over the network.
    pub(super) news: Html,
    /// What became of something else.
    pub(super) notice: Option<AttrValue>,
    /// What the log is called that is open behind the page.
    pub(super) open: Option<AttrValue>,
    pub(super) on_back: Callback<()>,
    pub(super) on_kept: Callback<FileSystemFileHandle>,
}

/// What changes of the first page.
#[component]
pub(super) fn Landing(props: &LandingProps) -> Html {
    let said = html! {
        <>
            { props.news.clone() }
            if let Some(open) = &props.open {
                <p class="hint">
                    { format!("“{open}” is still open. ") }
                    <button onclick={props.on_back.reform(|_: MouseEvent| ())}>{ "Back to it" }</button>
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
    let kept = html! { <Kept on_open={props.on_kept.clone()} /> };
    let places = [("first-said", said), ("first-kept", kept)];
    let places = places
        .into_iter()
        .filter_map(|(id, what)| Some(create_portal(what, element(id)?.into())));
    html! { <>{ for places }</> }
}

#[derive(Properties, PartialEq)]
struct KeptProps {
    on_open: Callback<FileSystemFileHandle>,
}

/// The logs that were opened last, where the browser can open them again.
#[component]
fn Kept(props: &KeptProps) -> Html {
    let kept = use_state_eq(Vec::<FileSystemFileHandle>::new);
    let refresh = {
        let kept = kept.setter();
        move |forgotten: Option<Option<FileSystemFileHandle>>| {
            let kept = kept.clone();
            spawn_local(async move {
                if let Some(handle) = forgotten {
                    recent::drop_kept(handle).await;
                }
                kept.set(recent::last().await);
            });
        }
    };
    {
        let refresh = refresh.clone();
        use_effect_with((), move |()| refresh(None));
    }
    if kept.is_empty() {
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
            <ul>{ for kept.iter().map(row) }</ul>
            <p>
                { "The browser remembers where these files are, nothing of what is in them. " }
                <button class="small" onclick={forget_all}>{ "Forget all" }</button>
            </p>
        </section>
    }
}

fn element(id: &str) -> Option<HtmlElement> {
    let element = gloo_utils::document().get_element_by_id(id)?;
    element.dyn_into().ok()
}

/// Shows or hides the first page.
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

/// What is done on the first page, or comes from outside.
pub(super) enum Asked {
    /// Files are to be opened.
    Files(Vec<Chosen>),
    /// There are none, for this reason.
    Failed(String),
    /// A sample is to be opened: where it is, and with which view.
    Sample(String, String),
    Browse,
    Tour,
}

/// Hears of it.
pub(super) fn listen(then: impl Fn(Asked) + 'static) -> EventListener {
    EventListener::new(&gloo_utils::window(), "eventscope-asked", move |event| {
        let asked = event.unchecked_ref::<CustomEvent>().detail();
        let part = |name: &str| Reflect::get(&asked, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let text = |name: &str| part(name).as_string();
        then(
            if let (Some(sample), Some(view)) = (text("sample"), text("view")) {
                Asked::Sample(sample, view)
            } else if let Some(why) = text("failed") {
                Asked::Failed(why)
            } else if part("tour").is_truthy() {
                Asked::Tour
            } else if part("browse").is_truthy() {
                Asked::Browse
            } else {
                // Both are lists; there may be no handles.
                let handles = Array::from(&part("handles"));
                let files = Array::from(&part("files"));
                let chosen = |(file, at)| Chosen {
                    file: File::from(file),
                    origin: (handles.get(at).dyn_into()).map_or(Origin::Gone, Origin::Handle),
                };
                Asked::Files(files.iter().zip(0..).map(chosen).collect())
            },
        );
    })
}

/// Tells the page that the program is there: it hands over what it has held.
pub(super) fn started() {
    if let Ok(event) = web_sys::Event::new("eventscope-started") {
        // Nobody can cancel it.
        let _ = gloo_utils::window().dispatch_event(&event);
    }
}
