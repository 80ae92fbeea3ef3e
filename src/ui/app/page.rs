//! What the page looks like.

use std::rc::Rc;

use yew::prelude::*;

use super::log::LogNews;
use super::{App, DialogNews, FileNews, Msg};
use crate::ui::dialog::{Help, swatch};
use crate::ui::header::{Header, Loading, Warnings};
use crate::ui::landing::{FileInput, Landing};
use crate::ui::panel::{Page, span_text};
use crate::ui::tabs::Tabs;
use crate::ui::timeline::Timeline;
use crate::ui::viewer::Description;
use crate::ui::{link, panels, theme};
use views::actions::Action;
use views::view::Change;

impl App {
    /// All of the page.
    pub(super) fn page(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let dialogs = &self.dialogs;
        let shown =
            self.log.is_open() || (self.log.is_loading() && self.log.overview.span.is_some());
        html! {
            <>
                <FileInput node={self.file_input.clone()} on_files={link.callback(|files| Msg::Files(FileNews::Chosen(files)))} />
                if shown {
                    { self.log_page(ctx) }
                } else if self.log.is_loading() {
                    <main class="landing">{ self.loading(ctx) }</main>
                } else {
                    <Landing link={self.wanted.as_ref().map(|wanted| AttrValue::from(link::promise(wanted)))}
                        error={dialogs.error.clone().map(AttrValue::from)}
                        notice={dialogs.notice.clone().map(AttrValue::from)}
                        on_browse={link.callback(|()| Msg::Do(Action::Open))}
                        on_sample={link.callback(|path| Msg::Files(FileNews::Sample(path)))} />
                }
                { self.view_palette(ctx) }
                if dialogs.dragging {
                    <div class="overlay" aria-hidden="true"><p>{ "Drop it anywhere" }</p></div>
                }
                if let Some(legend) = dialogs.help {
                    <Help {legend} colours={self.panel.colours} on_close={link.callback(|()| Msg::Dialog(DialogNews::HelpClosed))} />
                }
            </>
        }
    }

    fn loading(&self, ctx: &Context<Self>) -> Html {
        html! {
            <Loading name={self.log.name.clone()} progress={self.log.progress} events={self.log.events}
                on_cancel={ctx.link().callback(|()| Msg::Log(LogNews::Cancel))} />
        }
    }

    /// The page with a log.
    fn log_page(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let view = self.views.view();
        html! {
            <div class="app" data-elapsed-ms={self.log.elapsed_ms.map(|ms| format!("{ms:.1}"))}>
                { self.header(ctx) }
                if self.log.is_loading() {
                    { self.loading(ctx) }
                }
                if let Some(notice) = &self.dialogs.notice {
                    <div class="notice" role="status">
                        <span>{ notice }</span>
                        <button class="quiet" onclick={link.callback(|_: MouseEvent| Msg::Dialog(DialogNews::DismissNotice))} aria-label="Dismiss">{ "✕" }</button>
                    </div>
                }
                if self.log.overview.complete {
                    <Warnings overview={Rc::clone(&self.log.overview)}
                        on_all={link.callback(|()| Msg::Diagnostics)} />
                }
                <main class="stage">
                    { self.tracks(ctx) }
                    { self.strip(ctx) }
                    if !view.panel_hidden {
                        <Tabs panel={view.panel} generation={self.log.generation}
                            on_panel={link.callback(|panel| Msg::Change(Change::panel(panel)))}>
                            { self.open_panel(ctx) }
                        </Tabs>
                    }
                </main>
            </div>
        }
    }

    fn header(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let action = |action: Action| link.callback(move |()| Msg::Do(action));
        let on_filter = link.callback(|filter: String| {
            Msg::Change(Change::new(|mut view, _| {
                view.tracks.filter = filter;
                view
            }))
        });
        html! {
            <Header name={self.log.name.clone()} overview={Rc::clone(&self.log.overview)}
                elapsed_ms={self.log.elapsed_ms} filter={self.views.view().tracks.filter.clone()}
                filter_node={self.filter_input.clone()} theme={theme::choice()} copied={self.dialogs.copied} {on_filter}
                on_open={action(Action::Open)} on_share={action(Action::Share)} on_theme={action(Action::Theme)}
                on_commands={action(Action::Palette)} on_help={action(Action::Help)} />
        }
    }

    fn tracks(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = &self.timeline;
        html! {
            <Timeline viewer={self.viewer.clone()} layout={state.layout.clone()} seen={state.seen.clone()}
                current={state.track.clone()} view={self.views.view().tracks.clone()} hidden={state.hidden.clone()}
                messages={self.log.overview.messages > 0} description={state.description.clone()} pinned={state.pinned.clone()}
                on_change={link.callback(|change| Msg::Change(Change::tracks(change)))} on_goto={link.callback(Msg::Goto)}
                on_flame={link.callback(Msg::ShowInFlame)} on_unpin={link.callback(|()| Msg::Unpin)} />
        }
    }

    /// The panel that is open.
    fn open_panel(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let view = self.views.view();
        let page = Page {
            client: &self.log_client,
            log: &self.log,
            view,
            marked: &self.panel.marked,
            place: self.timeline.place,
            items: &self.panel.items,
            wish: self.panel.wish,
            colours: self.panel.colours,
            names: self.panel.names,
            on_change: link.callback(Msg::Change),
            on_goto: link.callback(Msg::Goto),
            on_action: link.callback(Msg::Do),
        };
        panels::view(view.panel, &page)
    }

    /// The selected range and tracks, with a button that drops them.
    fn selection(&self, ctx: &Context<Self>) -> Html {
        let drop = ctx.link().callback(|_: MouseEvent| Msg::DropSelection);
        let marked = &self.panel.marked;
        let range = self.views.view().selection;
        let tracks = (marked.count > 0).then(|| marked.words());
        let label = match (range, &tracks) {
            (_, None) => "Drop the selected range: show the whole log",
            (Some(_), _) => "Drop the selected range and tracks: show the whole log",
            (None, _) => "Drop the selected tracks: panels show all of them",
        };
        let parts = range.map(span_text).into_iter().chain(tracks);
        let text = parts.collect::<Vec<_>>().join(", ");
        if text.is_empty() {
            return Html::default();
        }
        html! {
            <span class="chip">
                { text }
                <button class="quiet" onclick={drop} aria-label={label}>{ "✕" }</button>
            </span>
        }
    }

    /// The sentence about what is pointed at, and what is selected.
    fn strip(&self, ctx: &Context<Self>) -> Html {
        html! {
            <div class="strip">
                <p aria-live="polite">
                    if let Some(Description { class, name, text, .. }) = self.timeline.description.as_deref() {
                        if let Some(class) = class {
                            <span class={swatch(*class)} aria-hidden="true" />{ " " }
                        }
                        <strong>{ name }</strong>{ " " }{ text }
                    } else {
                        <span class="faint" aria-hidden="true">{ "Point at something to read it · wheel zooms · drag selects a range · ? for help" }</span>
                    }
                </p>
                { self.selection(ctx) }
            </div>
        }
    }
}
