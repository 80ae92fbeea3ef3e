//! Event listeners registered directly on the element: the wheel, whose default may be prevented, scrolling, and
//! resizing.

use gloo_events::EventListener;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::{FlameCanvas, Msg};
use crate::dom::wheel_listener;
use crate::timeline::Observer;

impl FlameCanvas {
    pub(super) fn listen(&mut self, ctx: &Context<Self>) {
        let Some(scroller) = self.scroller.cast::<HtmlElement>() else {
            return;
        };
        let link = ctx.link().clone();
        let wheel = wheel_listener(&scroller, move |event| {
            // Without a modifier the wheel scrolls through the levels.
            let sideways = event.delta_x().abs() > event.delta_y().abs();
            if event.ctrl_key() || event.alt_key() || event.shift_key() || sideways {
                event.prevent_default();
                link.send_message(Msg::Wheel {
                    x: f64::from(event.offset_x()),
                    dx: event.delta_x(),
                    dy: event.delta_y(),
                    shift: event.shift_key(),
                });
            }
        });
        let link = ctx.link().clone();
        let scroll = EventListener::new(&scroller, "scroll", move |_| {
            link.send_message(Msg::Scrolled)
        });
        self.listeners = vec![wheel, scroll];
        let link = ctx.link().clone();
        self.observer = Observer::new(&scroller, move || link.send_message(Msg::Resized));
    }
}
