//! The panels below the timeline: their tabs, and the edge above them.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::{App, Msg};
use crate::ui::collections::Collections;
use crate::ui::events::Events;
use crate::ui::flame::Flame;
use crate::ui::in_view::InView;
use crate::ui::panel::Source;
use crate::ui::process::Process;
use crate::ui::sparks::Sparks;
use crate::ui::summary::Summary;
use crate::ui::threads::Threads;
use eventlog::ids::Nanos;
use model::time::Span;
use views::share::Panel;

fn tab_id(panel: Panel) -> String {
    format!("tab-{}", panel.name())
}

/// The panel that an arrow key on the tabs goes to.
fn beside(panel: Panel, key: &str) -> Option<Panel> {
    let all = Panel::ALL;
    let at = all.iter().position(|other| *other == panel)?;
    let to = match key {
        "ArrowLeft" => (at + all.len() - 1) % all.len(),
        "ArrowRight" => (at + 1) % all.len(),
        "Home" => 0,
        "End" => all.len() - 1,
        _ => return None,
    };
    Some(all[to])
}

impl App {
    pub(super) fn view_panel(&self, ctx: &Context<Self>) -> Html {
        html! {
            <section class="panel" ref={self.panel_node.clone()}>
                { self.view_splitter(ctx) }
                { self.view_tabs(ctx) }
                <div id="panel" class="panel-body" role="tabpanel" aria-labelledby={tab_id(self.panel)}
                    key={format!("{}-{}", self.panel.name(), self.generation)}>
                    { self.view_panel_body(ctx) }
                </div>
            </section>
        }
    }

    fn view_tabs(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let tab = |panel: Panel| {
            let selected = self.panel == panel;
            let onclick = link.callback(move |_: MouseEvent| Msg::Panel(panel));
            html! {
                <button role="tab" id={tab_id(panel)} aria-selected={selected.to_string()} aria-controls="panel"
                    tabindex={if selected { "0" } else { "-1" }} {onclick}>{ panel.title() }</button>
            }
        };
        let panel = self.panel;
        let keys = link.batch_callback(move |event: KeyboardEvent| {
            let other = beside(panel, &event.key())?;
            event.stop_propagation();
            event.prevent_default();
            let tab = gloo_utils::document().get_element_by_id(&tab_id(other));
            if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<HtmlElement>().ok()) {
                // Focus follows the selected tab.
                let _ = tab.focus();
            }
            Some(Msg::Panel(other))
        });
        html! {
            <div class="tabs" role="tablist" aria-label="Panels" onkeydown={keys}>
                { for Panel::ALL.into_iter().map(tab) }
            </div>
        }
    }

    /// Where the panels' answers come from.
    fn source(&self) -> Source {
        Source {
            client: self.log_client.clone(),
            events: self.log.overview.events,
            complete: self.log.overview.complete,
        }
    }

    fn view_panel_body(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let (source, range, marked) = (self.source(), self.range, Rc::clone(&self.marked));
        let on_goto = link.callback(Msg::Goto);
        match self.panel {
            Panel::Summary => {
                html! { <Summary {source} {range} {marked} {on_goto} /> }
            }
            Panel::FlameGraph if !self.log.overview.complete => {
                html! { <p class="empty">{ "The flame graph is drawn when the log is read." }</p> }
            }
            Panel::FlameGraph => html! {
                <Flame client={self.log_client.clone()} sources={Rc::clone(&self.log.flame_sources)}
                    log={self.log.overview.span.unwrap_or(Span::new(Nanos(0), Nanos(0)))} range={self.range} {marked} view={self.flame.clone()}
                    colours={self.colours} names={self.names} shown={self.flame_shown} on_view={link.callback(Msg::Flame)} {on_goto} />
            },
            Panel::Events => html! {
                <Events client={self.log_client.clone()} overview={Rc::clone(&self.log.overview)} {range} {marked}
                    place={self.place} list={self.events.clone()}
                    on_list={link.callback(Msg::Events)} {on_goto} />
            },
            Panel::Process => {
                let on_list =
                    link.batch_callback(|list| vec![Msg::Events(list), Msg::Panel(Panel::Events)]);
                html! {
                    <Process {source} {range} {marked} {on_goto} overview={Rc::clone(&self.log.overview)}
                        to_diagnostics={self.diagnostics_asked} {on_list} />
                }
            }
            Panel::InView => html! { <InView items={self.visible.clone()} {on_goto} /> },
            Panel::Collections => html! { <Collections {source} {range} {marked} {on_goto} /> },
            Panel::Sparks => html! { <Sparks {source} {range} {marked} {on_goto} /> },
            Panel::Notes => self.view_notes(ctx),
            Panel::Threads => html! {
                <Threads {source} {range} {marked} {on_goto} view={self.thread_table.clone()}
                    on_view={link.callback(Msg::ThreadTable)} />
            },
        }
    }

    /// The edge between timeline and panel, which can be moved.
    fn view_splitter(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let limit = |px: f64| {
            let height = gloo_utils::window()
                .inner_height()
                .ok()
                .and_then(|height| height.as_f64());
            px.clamp(80.0, (height.unwrap_or(800.0) - 220.0).max(80.0))
        };
        let down = Callback::from(|event: PointerEvent| {
            let edge: HtmlElement = event.target_unchecked_into();
            // Without capture a drag ends at the edge.
            let _ = edge.set_pointer_capture(event.pointer_id());
        });
        let moved = link.batch_callback(move |event: PointerEvent| {
            let height = gloo_utils::window()
                .inner_height()
                .ok()
                .and_then(|height| height.as_f64())?;
            (event.buttons() & 1 == 1)
                .then(|| Msg::ResizePanel(limit(height - f64::from(event.client_y()))))
        });
        let px = self.panel_px;
        let key = link.batch_callback(move |event: KeyboardEvent| {
            let by = match event.key().as_str() {
                "ArrowUp" => 24.0,
                "ArrowDown" => -24.0,
                _ => return None,
            };
            event.prevent_default();
            event.stop_propagation();
            Some(Msg::ResizePanel(limit(px + by)))
        });
        html! {
            <div class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the panel" tabindex="0"
                aria-valuenow={format!("{px:.0}")} aria-valuemin="80" aria-valuemax="2000"
                onpointerdown={down} onpointermove={moved} onkeydown={key} />
        }
    }
}
