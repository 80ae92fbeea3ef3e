//! What the app looks like while a log is open or being opened.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::{App, Msg, Screen};
use crate::share::Panel;
use crate::ui::dialog::swatch;
use crate::ui::flame::Flame;
use crate::ui::header::{Header, Loading, Warnings};
use crate::ui::summary::{Summary, span_text};
use crate::ui::theme;
use crate::ui::timeline::Timeline;
use crate::ui::viewer::Description;

impl App {
    pub(super) fn view_loading(&self, ctx: &Context<Self>) -> Html {
        html! {
            <Loading name={self.log.name.clone()} progress={self.log.progress} events={self.log.events}
                on_cancel={ctx.link().callback(|()| Msg::Cancel)} />
        }
    }

    pub(super) fn view_log(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let label = match &self.description {
            Some(Description { name, text, .. }) => format!("Timeline. {name} {text}"),
            None => "Timeline of capabilities and threads. Arrow keys walk its items; W, S zoom; A, D move; question mark for help.".to_owned(),
        };
        html! {
            <div class="app" data-elapsed-ms={self.log.elapsed_ms.map(|ms| format!("{ms:.1}"))}>
                <Header name={self.log.name.clone()} overview={Rc::clone(&self.log.overview)}
                    elapsed_ms={self.log.elapsed_ms} filter={self.filter.clone()}
                    filter_node={self.filter_input.clone()} theme={theme::choice()} copied={self.copied}
                    on_filter={link.callback(Msg::Filter)} on_open={link.callback(|()| Msg::Browse)}
                    on_share={link.callback(|()| Msg::Share)} on_theme={link.callback(|()| Msg::Theme)}
                    on_help={link.callback(|()| Msg::Help(true))} />
                if self.screen == Screen::Loading {
                    { self.view_loading(ctx) }
                }
                if let Some(notice) = &self.notice {
                    <div class="notice" role="status">
                        <span>{ notice }</span>
                        <button class="quiet" onclick={link.callback(|_: MouseEvent| Msg::DismissNotice)} aria-label="Dismiss">{ "✕" }</button>
                    </div>
                }
                if self.log.overview.complete {
                    <Warnings overview={Rc::clone(&self.log.overview)} />
                }
                <main class="stage">
                    <Timeline viewer={self.viewer.clone()} height={self.height} {label} node={self.canvas.clone()} />
                    { self.view_strip(ctx) }
                    { self.view_panel(ctx) }
                </main>
            </div>
        }
    }

    /// The sentence about what is pointed at, and the range.
    fn view_strip(&self, ctx: &Context<Self>) -> Html {
        let clear = ctx.link().callback(|_: MouseEvent| Msg::ClearRange);
        html! {
            <div class="strip">
                <p aria-live="polite">
                    if let Some(Description { class, name, text }) = &self.description {
                        if let Some(class) = class {
                            <span class={swatch(*class)} aria-hidden="true" />{ " " }
                        }
                        <strong>{ name }</strong>{ " " }{ text }
                    } else {
                        <span class="faint">{ "Point at something to read it · wheel zooms · drag selects a range · ? for help" }</span>
                    }
                </p>
                if let Some(range) = self.range {
                    <span class="chip">
                        { span_text(range) }
                        <button class="quiet" onclick={clear} aria-label="Drop the selected range: show the whole log">{ "✕" }</button>
                    </span>
                }
            </div>
        }
    }

    fn view_panel(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let tab = |panel: Panel, text: &str| {
            let selected = self.panel == panel;
            let onclick = link.callback(move |_: MouseEvent| Msg::Panel(panel));
            html! {
                <button role="tab" id={format!("tab-{}", panel.name())} aria-selected={selected.to_string()}
                    aria-controls="panel" tabindex={if selected { "0" } else { "-1" }} {onclick}>{ text }</button>
            }
        };
        let arrows = {
            let (link, panel) = (link.clone(), self.panel);
            Callback::from(move |event: KeyboardEvent| {
                if matches!(event.key().as_str(), "ArrowLeft" | "ArrowRight") {
                    event.stop_propagation();
                    let other = if panel == Panel::Summary {
                        Panel::FlameGraph
                    } else {
                        Panel::Summary
                    };
                    link.send_message(Msg::Panel(other));
                    let tab =
                        gloo_utils::document().get_element_by_id(&format!("tab-{}", other.name()));
                    if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<HtmlElement>().ok()) {
                        // Focus follows the selected tab.
                        let _ = tab.focus();
                    }
                }
            })
        };
        html! {
            <section class="panel" ref={self.panel_node.clone()}>
                { self.view_splitter(ctx) }
                <div class="tabs" role="tablist" aria-label="Panels" onkeydown={arrows}>
                    { tab(Panel::Summary, "Summary") }
                    { tab(Panel::FlameGraph, "Flame graph") }
                </div>
                <div id="panel" class="panel-body" role="tabpanel" aria-labelledby={format!("tab-{}", self.panel.name())}>
                    if self.panel == Panel::Summary {
                        <Summary rows={Rc::clone(&self.log.usage)} range={self.range} />
                    } else if !self.log.overview.complete {
                        <p class="empty">{ "The flame graph is drawn when the log is read." }</p>
                    } else {
                        <Flame client={self.client.clone()} tracks={Rc::new(self.log.overview.profile.clone())}
                            range={self.range} view={self.flame.clone()} colours={self.colours}
                            on_view={link.callback(Msg::Flame)} />
                    }
                </div>
            </section>
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
