//! What the whole page listens to: files that are dragged over it, keys, the
//! address, the system's colours.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, KeyboardEvent};
use yew::prelude::*;

use super::{App, FileNews, Msg};
use crate::ui::files;

/// Listeners of the whole page.
pub(super) fn listen(ctx: &Context<App>) -> Vec<EventListener> {
    let window = gloo_utils::window();
    let document = gloo_utils::document();
    let options = EventListenerOptions::enable_prevent_default();
    let drag = |name: &'static str, news: fn(&DragEvent) -> Option<FileNews>| {
        let link = ctx.link().clone();
        EventListener::new_with_options(&document, name, options, move |event| {
            if let Some(event) = event
                .dyn_ref::<DragEvent>()
                .filter(|event| files::has_files(event))
            {
                event.prevent_default();
                if let Some(news) = news(event) {
                    link.send_message(Msg::Files(news));
                }
            }
        })
    };
    let left = |event: &DragEvent| {
        let outside = event.related_target().is_none();
        outside.then_some(FileNews::Dragging(false))
    };
    let dropped = |event: &DragEvent| {
        let data = event.data_transfer();
        data.map(|data| FileNews::Dropped(files::dropped(&data)))
    };
    let key = {
        let link = ctx.link().clone();
        EventListener::new_with_options(&document, "keydown", options, move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                link.send_message(Msg::Key(event.clone()));
            }
        })
    };
    let hash = {
        let link = ctx.link().clone();
        EventListener::new(&window, "hashchange", move |_| {
            link.send_message(Msg::AddressChanged)
        })
    };
    let mut listeners = vec![
        drag("dragenter", |_| Some(FileNews::Dragging(true))),
        drag("dragover", |_| Some(FileNews::Dragging(true))),
        drag("dragleave", left),
        drag("drop", dropped),
        key,
        hash,
    ];
    for query in ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"] {
        if let Ok(Some(list)) = window.match_media(query) {
            let link = ctx.link().clone();
            listeners.push(EventListener::new(&list, "change", move |_| {
                link.send_message(Msg::ColoursChanged)
            }));
        }
    }
    listeners
}
