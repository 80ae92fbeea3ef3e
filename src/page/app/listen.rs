//! Event listeners of the whole page: file drags, keys, the address, the colors of the system.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::App;
use super::perform::{focus_filter, reserve_key};
use crate::files;
use crate::landing;
use crate::update::{ComponentUpdate, callback};

fn dragging(dragging: bool) -> ComponentUpdate<App> {
    Box::new(move |app, ctx| app.on_dragging(ctx, dragging))
}

/// Registers the listeners of the whole page.
pub(super) fn listen(ctx: &Context<App>, filter: NodeRef) -> Vec<EventListener> {
    let window = gloo_utils::window();
    let document = gloo_utils::document();
    let options = EventListenerOptions::enable_prevent_default();
    let drag = |name: &'static str, update: fn(&DragEvent) -> Option<ComponentUpdate<App>>| {
        let link = ctx.link().clone();
        EventListener::new_with_options(&document, name, options, move |event| {
            if let Some(event) = event
                .dyn_ref::<DragEvent>()
                .filter(|event| files::has_files(event))
            {
                event.prevent_default();
                if let Some(update) = update(event) {
                    link.send_message(update);
                }
            }
        })
    };
    let over = |_: &DragEvent| Some(dragging(true));
    let left = |event: &DragEvent| event.related_target().is_none().then(|| dragging(false));
    let dropped = |event: &DragEvent| -> Option<ComponentUpdate<App>> {
        let dropped = files::files_of_drop(&event.data_transfer()?);
        Some(Box::new(move |app, ctx| app.on_drop(ctx, dropped)))
    };
    let key = {
        let key = callback(ctx, App::on_key);
        EventListener::new_with_options(&document, "keydown", options, move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>()
                && !focus_filter(event, &filter)
            {
                reserve_key(event);
                key.emit(event.clone());
            }
        })
    };
    let hash = {
        let changed = callback(ctx, App::on_address_change);
        EventListener::new(&window, "hashchange", move |_| changed.emit(()))
    };
    let focused = {
        let focused = callback(ctx, App::check_for_change);
        EventListener::new(&window, "focus", move |_| focused.emit(()))
    };
    let on_request = callback(ctx, App::on_landing_request);
    let mut listeners = vec![
        landing::listen(move |request| on_request.emit(request)),
        focused,
        drag("dragenter", over),
        drag("dragover", over),
        drag("dragleave", left),
        drag("drop", dropped),
        key,
        hash,
    ];
    for query in [
        "(prefers-color-scheme: dark)",
        "(prefers-contrast: more)",
        "(forced-colors: active)",
    ] {
        if let Ok(Some(list)) = window.match_media(query) {
            let changed = callback(ctx, App::recolor);
            listeners.push(EventListener::new(&list, "change", move |_| {
                changed.emit(());
            }));
        }
    }
    listeners.extend(blur_changed_lists());
    listeners
}

/// Listens for a change of the device pixel ratio: the page was zoomed, or its window moved to another screen. A
/// media query matches a single ratio only, so this is registered again after each change.
pub(super) fn listen_to_resolution(ctx: &Context<App>) -> Option<EventListener> {
    let window = gloo_utils::window();
    let query = format!("(resolution: {}dppx)", window.device_pixel_ratio());
    let list = window.match_media(&query).ok()??;
    let changed = callback(ctx, App::rescale);
    Some(EventListener::new(&list, "change", move |_| {
        changed.emit(());
    }))
}

/// Removes the focus from a `<select>` after the pointer changed it: otherwise letter keys would pick options in it.
/// A list operated by keyboard keeps the focus.
fn blur_changed_lists() -> [EventListener; 3] {
    let document = gloo_utils::document();
    let is_by_keys = Rc::new(Cell::new(false));
    let record = |name: &'static str, by_keys: bool| {
        let is_by_keys = Rc::clone(&is_by_keys);
        let first = EventListenerOptions::run_in_capture_phase();
        EventListener::new_with_options(&document, name, first, move |_| is_by_keys.set(by_keys))
    };
    let listeners = [record("keydown", true), record("pointerdown", false)];
    let changed = EventListener::new(&document, "change", move |event| {
        let list = event
            .target()
            .and_then(|it| it.dyn_into::<HtmlElement>().ok());
        let list = list.filter(|it| it.tag_name() == "SELECT" && !is_by_keys.get());
        if let Some(list) = list {
            // Best effort: an element that cannot lose the focus keeps it.
            let _ = list.blur();
        }
    });
    let [keys, pointer] = listeners;
    [keys, pointer, changed]
}
