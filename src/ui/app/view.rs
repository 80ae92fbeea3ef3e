//! What the app looks like while a log is open or being opened.

use std::rc::Rc;

use yew::prelude::*;

use super::{App, Msg, Screen};
use crate::ui::dialog::swatch;
use crate::ui::header::{Header, Loading, Warnings};
use crate::ui::summary::span_text;
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
        html! {
            <div class="app" data-elapsed-ms={self.log.elapsed_ms.map(|ms| format!("{ms:.1}"))}>
                <Header name={self.log.name.clone()} overview={Rc::clone(&self.log.overview)}
                    elapsed_ms={self.log.elapsed_ms} filter={self.tracks.filter.clone()}
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
                    <Warnings overview={Rc::clone(&self.log.overview)}
                        on_all={link.callback(|()| Msg::Diagnostics)} />
                }
                <main class="stage">
                    <Timeline viewer={self.viewer.clone()} layout={Rc::clone(&self.layout)} seen={self.seen.clone()}
                        current={self.track.clone()} view={self.tracks.clone()} description={self.description.clone()} pinned={self.pinned.clone()}
                        on_change={link.callback(Msg::Tracks)} on_goto={link.callback(Msg::Goto)}
                        on_unpin={link.callback(|()| Msg::Unpin)} />
                    { self.view_strip(ctx) }
                    if !self.panel_hidden {
                        { self.view_panel(ctx) }
                    }
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
                    if let Some(Description { class, name, text, .. }) = self.description.as_deref() {
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
}
