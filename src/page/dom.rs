//! Helpers for common DOM operations.

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement, WheelEvent};
use yew::prelude::*;

/// Returns the value of the input field or select box that an event comes from.
pub(super) fn value_of<E: TargetCast>(event: E) -> String {
    // Select elements have their value under the same property name as input elements.
    event.target_unchecked_into::<HtmlInputElement>().value()
}

/// Returns the content of the page's `meta` element that the build or the server writes under a name.
pub(super) fn meta(name: &str) -> Option<String> {
    let selector = format!("meta[name=eventscope-{name}]");
    let element = gloo_utils::document().query_selector(&selector).ok()??;
    element.get_attribute("content")
}

/// Returns the descendants that match a selector, which is known to be valid.
pub(super) fn elements(inside: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = inside.query_selector_all(selector) else {
        return Vec::new();
    };
    let nodes = (0..found.length()).filter_map(|at| found.get(at));
    nodes.filter_map(|node| node.dyn_into().ok()).collect()
}

/// Sets a style property of an element to a value that is known to be valid.
pub(super) fn set_style(element: &HtmlElement, property: &str, value: &str) {
    let _ = element.style().set_property(property, value);
}

/// Sets an attribute of the root element, or removes it.
pub(super) fn set_root_attribute(name: &str, value: Option<&str>) {
    let root = gloo_utils::document_element();
    let _ = match value {
        Some(value) => root.set_attribute(name, value),
        None => root.remove_attribute(name),
    };
}

/// Returns the inner width of an element's parent, without its borders, in CSS pixels.
pub(super) fn parent_width(element: &Element) -> f64 {
    let parent = element.parent_element();
    parent.map_or(0.0, |parent| f64::from(parent.client_width()))
}

/// Returns whether an element has a class. (`className` of SVG elements is not a string.)
pub(super) fn has_class(element: &Element, class: &str) -> bool {
    let classes = element.get_attribute("class").unwrap_or_default();
    classes.split(' ').any(|one| one == class)
}

/// Focuses an element; no-op if it cannot be focused.
pub(super) fn focus(element: &HtmlElement) {
    let _ = element.focus();
}

/// Focuses the element with an id, if it exists.
pub(super) fn focus_id(id: &str) {
    let element = gloo_utils::document().get_element_by_id(id);
    if let Some(element) = element.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        focus(&element);
    }
}

/// Marks an event as handled: the browser and outer elements do not react to it.
pub(super) fn consume(event: &Event) {
    event.prevent_default();
    event.stop_propagation();
}

/// Returns whether a key is pressed together with Ctrl, Alt or Meta, and so may be a command of the browser.
pub(super) fn has_modifier(event: &KeyboardEvent) -> bool {
    event.ctrl_key() || event.alt_key() || event.meta_key()
}

/// Sends the events of a pressed pointer to the element below it until it is released: without capture, a drag would
/// end at the edge of the element. Best effort.
pub(super) fn capture_pointer(event: &PointerEvent) {
    let element: Element = event.target_unchecked_into();
    let _ = element.set_pointer_capture(event.pointer_id());
}

/// Scrolls a heading to the top of the panel. (`scrollIntoView` would also scroll the ancestors of the panel.)
pub(super) fn scroll_panel_to(heading: &HtmlElement) {
    /// Gap between the panel's upper edge and the heading.
    const ABOVE_PX: f64 = 12.0;
    if let Ok(Some(body)) = heading.closest(".panel-body") {
        let top = |element: &Element| element.get_bounding_client_rect().top();
        let by = top(heading) - top(&body) - ABOVE_PX;
        body.set_scroll_top(body.scroll_top() + by as i32);
    }
}

/// Returns the position of a pointer within the element that an event comes from.
pub(super) fn position(event: &MouseEvent) -> (f64, f64) {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}

/// Returns the inner width and height of an element, without its borders and scroll bars, in CSS pixels.
pub(super) fn inner_size(element: &Element) -> (f64, f64) {
    let (width, height) = (element.client_width(), element.client_height());
    (f64::from(width), f64::from(height))
}

/// Listens to the wheel; the listener may prevent the default.
pub(super) fn wheel_listener(
    element: &Element,
    listener: impl Fn(&WheelEvent) + 'static,
) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(element, "wheel", options, move |event| {
        if let Some(event) = event.dyn_ref() {
            listener(event);
        }
    })
}

/// Returns a callback that stores its argument in a state.
pub(super) fn state_callback<T: 'static>(state: &UseStateHandle<T>) -> Callback<T> {
    let setter = state.setter();
    Callback::from(move |value| setter.set(value))
}

/// Debounces a callback: it is called with the latest value once `ms` milliseconds have passed without another
/// one.
#[hook]
pub(super) fn use_debounced<T: 'static>(ms: u32, then: Callback<T>) -> Callback<T> {
    let timer = use_mut_ref(|| None::<Timeout>);
    Callback::from(move |value| {
        let then = then.clone();
        *timer.borrow_mut() = Some(Timeout::new(ms, move || then.emit(value)));
    })
}
