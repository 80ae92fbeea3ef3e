//! Movable splitter between two parts of the page, one above the other.

use yew::prelude::*;

use super::dom::{capture_pointer, consume};

#[derive(Properties, PartialEq)]
pub(super) struct SplitterProps {
    pub(super) class: &'static str,
    /// Accessible name of the size that the splitter sets.
    pub(super) label: &'static str,
    /// Current size, and its minimum and maximum.
    pub(super) now: f64,
    pub(super) min: &'static str,
    pub(super) max: &'static str,
    /// Receives the vertical position of the pointer in the window, in pixels.
    pub(super) on_drag: Callback<f64>,
    /// Receives steps of the arrow keys: −1 for up, 1 for down.
    pub(super) on_step: Callback<f64>,
}

#[component]
pub(super) fn Splitter(props: &SplitterProps) -> Html {
    let onpointerdown = |event: PointerEvent| capture_pointer(&event);
    let on_drag = props.on_drag.clone();
    let onpointermove = move |event: PointerEvent| {
        if event.buttons() & 1 == 1 {
            on_drag.emit(f64::from(event.client_y()));
        }
    };
    let on_step = props.on_step.clone();
    let onkeydown = move |event: KeyboardEvent| {
        let step = match event.key().as_str() {
            "ArrowUp" => -1.0,
            "ArrowDown" => 1.0,
            _ => return,
        };
        consume(&event);
        on_step.emit(step);
    };
    html! {
        <div class={props.class} role="separator" aria-orientation="horizontal" aria-label={props.label} tabindex="0"
            aria-valuenow={format!("{:.0}", props.now)} aria-valuemin={props.min} aria-valuemax={props.max}
            {onpointerdown} {onpointermove} {onkeydown} />
    }
}
