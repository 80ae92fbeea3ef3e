//! What the whole page listens to: files that are dragged over it, keys, the
//! address, the system's colours.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::App;
use super::perform::{focus_filter, keep_chord};
use crate::files;
use crate::landing;
use crate::update::{Update, callback};

fn dragging(dragging: bool) -> Update<App> {
    Box::new(move |app, ctx| app.dragging(ctx, dragging))
}

/// Listeners of the whole page.
pub(super) fn listen(ctx: &Context<App>, filter: NodeRef) -> Vec<EventListener> {
    let window = gloo_utils::window();
    let document = gloo_utils::document();
    let options = EventListenerOptions::enable_prevent_default();
    let drag = |name: &'static str, news: fn(&DragEvent) -> Option<Update<App>>| {
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
    let dropped = |event: &DragEvent| -> Option<Update<App>> {
        let dropped = files::dropped(&event.data_transfer()?);
        Some(Box::new(move |app, ctx| app.dropped(ctx, dropped)))
    };
    let key = {
        let key = callback(ctx, App::key);
        EventListener::new_with_options(&document, "keydown", options, move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>()
                && !focus_filter(event, &filter)
            {
                keep_chord(event);
                key.emit(event.clone());
            }
        })
    };
    let hash = {
        let changed = callback(ctx, App::follow_address);
        EventListener::new(&window, "hashchange", move |_| changed.emit(()))
    };
    let focused = {
        let focused = callback(ctx, App::look_for_change);
        EventListener::new(&window, "focus", move |_| focused.emit(()))
    };
    let asked = callback(ctx, App::asked);
    let mut listeners = vec![
        landing::listen(move |what| asked.emit(what)),
        focused,
        drag("dragenter", over),
        drag("dragover", over),
        drag("dragleave", left),
        drag("drop", dropped),
        key,
        hash,
    ];
    for query in ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"] {
        if let Ok(Some(list)) = window.match_media(query) {
            let changed = callback(ctx, App::recolour);
            listeners.push(EventListener::new(&list, "change", move |_| {
                changed.emit(());
            }));
        }
    }
    listeners.extend(give_keys_back());
    listeners
}

/// Hears when a CSS pixel has another number of pixels of the screen: the page was zoomed, or its window
/// moved to another screen. A query can ask for one number alone, so that the next one is listened for anew.
pub(super) fn other_resolution(ctx: &Context<App>) -> Option<EventListener> {
    let window = gloo_utils::window();
    let query = format!("(resolution: {}dppx)", window.device_pixel_ratio());
    let list = window.match_media(&query).ok()??;
    let changed = callback(ctx, App::rescale);
    Some(EventListener::new(&list, "change", move |_| {
        changed.emit(());
    }))
}

/// A list that the pointer changed gives the keyboard back: a letter would choose in it. One
/// that the keyboard is on keeps it.
fn give_keys_back() -> [EventListener; 3] {
    let document = gloo_utils::document();
    let is_by_keys = Rc::new(Cell::new(false));
    let hears = |name: &'static str, by_keys: bool| {
        let is_by_keys = Rc::clone(&is_by_keys);
        let first = EventListenerOptions::run_in_capture_phase();
        EventListener::new_with_options(&document, name, first, move |_| is_by_keys.set(by_keys))
    };
    let listeners = [hears("keydown", true), hears("pointerdown", false)];
    let changed = EventListener::new(&document, "change", move |event| {
        let list = event
            .target()
            .and_then(|it| it.dyn_into::<HtmlElement>().ok());
        let list = list.filter(|it| it.tag_name() == "SELECT" && !is_by_keys.get());
        if let Some(list) = list {
            // What cannot lose the focus keeps it.
            let _ = list.blur();
        }
    });
    let [keys, pointer] = listeners;
    [keys, pointer, changed]
}
