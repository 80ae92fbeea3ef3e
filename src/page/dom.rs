//! What components ask of the browser again and again.

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement};
use yew::prelude::*;

/// What is written in the field, or chosen in the list, that an event comes
/// from.
pub(super) fn value_of<E: TargetCast>(event: E) -> String {
    // A list has its value under the name that a field has it.
    event.target_unchecked_into::<HtmlInputElement>().value()
}

/// What is inside of an element and fits a selector, which is known to be valid.
pub(super) fn elements(inside: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = inside.query_selector_all(selector) else {
        return Vec::new();
    };
    let nodes = (0..found.length()).filter_map(|at| found.get(at));
    nodes.filter_map(|node| node.dyn_into().ok()).collect()
}

/// Sets a property of an element's style to a value that is known to be valid.
pub(super) fn set_style(element: &HtmlElement, property: &str, value: &str) {
    let _ = element.style().set_property(property, value);
}

/// The width of what an element stands in, without its borders, in CSS pixels.
pub(super) fn width_around(element: &Element) -> f64 {
    let parent = element.parent_element();
    parent.map_or(0.0, |parent| f64::from(parent.client_width()))
}

/// Whether an element has a class. (`className` of what is drawn as SVG is no text.)
pub(super) fn has_class(element: &Element, class: &str) -> bool {
    let classes = element.get_attribute("class").unwrap_or_default();
    classes.split(' ').any(|one| one == class)
}

/// Gives an element the focus; an element that cannot have it does not get it.
pub(super) fn focus(element: &HtmlElement) {
    let _ = element.focus();
}

/// Gives the focus to the element with an id, if there is one.
pub(super) fn focus_id(id: &str) {
    let element = gloo_utils::document().get_element_by_id(id);
    if let Some(element) = element.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        focus(&element);
    }
}

/// Brings a heading to the upper edge of the panel. (`scrollIntoView` would
/// also move what is around the panel.)
pub(super) fn scroll_panel_to(heading: &HtmlElement) {
    /// How far below the panel's edge it stands then.
    const ABOVE_PX: f64 = 12.0;
    if let Ok(Some(body)) = heading.closest(".panel-body") {
        let top = |element: &Element| element.get_bounding_client_rect().top();
        let by = top(heading) - top(&body) - ABOVE_PX;
        body.set_scroll_top(body.scroll_top() + by as i32);
    }
}

/// A callback that sets a state to what it is called with.
pub(super) fn setter_of<T: 'static>(state: &UseStateHandle<T>) -> Callback<T> {
    let setter = state.setter();
    Callback::from(move |value| setter.set(value))
}

/// A callback that waits until it was not called for so long, then hands on
/// what it was called with last.
#[hook]
pub(super) fn use_pause<T: 'static>(ms: u32, then: Callback<T>) -> Callback<T> {
    let waiting = use_mut_ref(|| None::<Timeout>);
    Callback::from(move |value| {
        let then = then.clone();
        *waiting.borrow_mut() = Some(Timeout::new(ms, move || then.emit(value)));
    })
}
