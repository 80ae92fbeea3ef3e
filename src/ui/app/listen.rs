//! What the whole page listens to: files that are dragged over it, keys, the
//! address, the system's colours.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::App;
use crate::ui::act::{Act, on};
use crate::ui::files;

fn dragging(dragging: bool) -> Act<App> {
    Box::new(move |app, ctx| app.dragging(ctx, dragging))
}

/// Listeners of the whole page.
pub(super) fn listen(ctx: &Context<App>) -> Vec<EventListener> {
    let window = gloo_utils::window();
    let document = gloo_utils::document();
    let options = EventListenerOptions::enable_prevent_default();
    let drag = |name: &'static str, news: fn(&DragEvent) -> Option<Act<App>>| {
        let link = ctx.link().clone();
        EventListener::new_with_options(&document, name, options, move |event| {
            if let Some(event) = event
                .dyn_ref::<DragEvent>()
                .filter(|event| files::has_files(event))
            {
                event.prevent_default();
                if let Some(news) = news(event) {
                    link.send_message(news);
                }
            }
        })
    };
    let over = |_: &DragEvent| Some(dragging(true));
    let left = |event: &DragEvent| event.related_target().is_none().then(|| dragging(false));
    let dropped = |event: &DragEvent| -> Option<Act<App>> {
        let dropped = files::dropped(&event.data_transfer()?);
        Some(Box::new(move |app, ctx| app.dropped(ctx, dropped)))
    };
    let key = {
        let key = on(ctx, App::key);
        EventListener::new_with_options(&document, "keydown", options, move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                key.emit(event.clone());
            }
        })
    };
    let hash = {
        let changed = on(ctx, App::follow_address);
        EventListener::new(&window, "hashchange", move |_| changed.emit(()))
    };
    // A list that the pointer changed gives the keyboard back: a letter would choose in it.
    let chosen = EventListener::new(&document, "change", |event| {
        let list = event
            .target()
            .and_then(|it| it.dyn_into::<HtmlElement>().ok());
        let list = list.filter(|it| it.tag_name() == "SELECT");
        if let Some(list) = list.filter(|it| !it.matches(":focus-visible").unwrap_or(true)) {
            // What cannot lose the focus keeps it.
            let _ = list.blur();
        }
    });
    let mut listeners = vec![
        chosen,
        drag("dragenter", over),
        drag("dragover", over),
        drag("dragleave", left),
        drag("drop", dropped),
        key,
        hash,
    ];
    for query in ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"] {
        if let Ok(Some(list)) = window.match_media(query) {
            let changed = on(ctx, App::recolour);
            listeners.push(EventListener::new(&list, "change", move |_| {
                changed.emit(());
            }));
        }
    }
    listeners
}
