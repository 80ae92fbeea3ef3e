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
                    on_commands={link.callback(|()| Msg::Commands)} on_help={link.callback(|()| Msg::Help(true))} />
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
                    <Timeline viewer={self.viewer.clone()} layout={self.layout.clone()} seen={self.seen.clone()}
                        current={self.track.clone()} view={self.tracks.clone()} hidden={self.hidden.clone()} messages={self.log.overview.messages > 0} description={self.description.clone()} pinned={self.pinned.clone()}
                        on_change={link.callback(Msg::Tracks)} on_goto={link.callback(Msg::Goto)}
                        on_flame={link.callback(Msg::ShowInFlame)} on_unpin={link.callback(|()| Msg::Unpin)} />
                    { self.view_strip(ctx) }
                    if !self.panel_hidden {
                        { self.view_panel(ctx) }
                    }
                </main>
            </div>
        }
    }

    /// The selected range and tracks, with a button that drops them.
    fn view_selection(&self, ctx: &Context<Self>) -> Html {
        let clear = ctx.link().callback(|_: MouseEvent| Msg::ClearRange);
        let tracks = (self.marked.count > 0).then(|| self.marked.words());
        let label = match (self.range, &tracks) {
            (_, None) => "Drop the selected range: show the whole log",
            (Some(_), _) => "Drop the selected range and tracks: show the whole log",
            (None, _) => "Drop the selected tracks: panels show all of them",
        };
        let parts = self.range.map(span_text).into_iter().chain(tracks);
        let text = parts.collect::<Vec<_>>().join(", ");
        if text.is_empty() {
            return Html::default();
        }
        html! {
            <span class="chip">
                { text }
                <button class="quiet" onclick={clear} aria-label={label}>{ "✕" }</button>
            </span>
        }
    }

    /// The sentence about what is pointed at, and what is selected.
    fn view_strip(&self, ctx: &Context<Self>) -> Html {
        html! {
            <div class="strip">
                <p aria-live="polite">
                    if let Some(Description { class, name, text, .. }) = self.description.as_deref() {
                        if let Some(class) = class {
                            <span class={swatch(*class)} aria-hidden="true" />{ " " }
                        }
                        <strong>{ name }</strong>{ " " }{ text }
                    } else {
                        <span class="faint" aria-hidden="true">{ "Point at something to read it · wheel zooms · drag selects a range · ? for help" }</span>
                    }
                </p>
                { self.view_selection(ctx) }
            </div>
        }
    }
}
