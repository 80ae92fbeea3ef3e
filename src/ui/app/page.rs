//! What the page looks like.

use std::rc::Rc;

use yew::prelude::*;

use super::App;
use crate::ui::act::on;
use crate::ui::dialog::{Help, swatch};
use crate::ui::header::{Header, Loading, Warnings};
use crate::ui::landing::{FileInput, Landing};
use crate::ui::panel::{PanelProps, Source, span_text};
use crate::ui::panels::HEAP;
use crate::ui::tabs::Tabs;
use crate::ui::timeline::Timeline;
use crate::ui::viewer::{Control, Description};
use crate::ui::{link, panels, theme};
use views::actions::Action;

impl App {
    /// All of the page.
    pub(super) fn page(&self, ctx: &Context<Self>) -> Html {
        let dialogs = &self.dialogs;
        let on_help_closed = on(ctx, |app, _, ()| app.dialogs.help.take().is_some());
        let shown =
            self.log.is_open() || (self.log.is_loading() && self.log.overview.span.is_some());
        html! {
            <>
                <FileInput node={self.file_input.clone()} on_files={on(ctx, Self::chosen)} />
                if shown {
                    { self.log_page(ctx) }
                } else if self.log.is_loading() {
                    <main class="landing">{ self.loading() }</main>
                } else {
                    <Landing link={self.wanted.as_ref().map(|wanted| AttrValue::from(link::promise(wanted)))}
                        error={dialogs.error.clone().map(AttrValue::from)}
                        notice={dialogs.notice.clone().map(AttrValue::from)}
                        on_browse={on(ctx, |app, ctx, ()| app.perform(ctx, Action::Open))}
                        on_sample={on(ctx, Self::open_sample)} />
                }
                { self.view_palette(ctx) }
                if dialogs.dragging {
                    <div class="overlay" aria-hidden="true"><p>{ "Drop it anywhere" }</p></div>
                }
                if let Some(legend) = dialogs.help {
                    <Help {legend} colours={self.panel.colours} on_close={on_help_closed} />
                }
            </>
        }
    }

    fn loading(&self) -> Html {
        html! {
            <Loading name={self.log.name.clone()} progress={self.log.progress} events={self.log.events}
                on_cancel={self.callbacks.cancel.clone()} />
        }
    }

    /// The page with a log.
    fn log_page(&self, ctx: &Context<Self>) -> Html {
        let view = self.views.view();
        let dismiss = on(ctx, |app, _, _: MouseEvent| {
            app.dialogs.notice.take().is_some()
        });
        html! {
            <div class="app" data-elapsed-ms={self.log.elapsed_ms.map(|ms| format!("{ms:.1}"))}>
                { self.header() }
                if self.log.is_loading() {
                    { self.loading() }
                }
                if let Some(notice) = &self.dialogs.notice {
                    <div class="notice" role="status">
                        <span>{ notice }</span>
                        <button class="quiet" onclick={dismiss} aria-label="Dismiss">{ "✕" }</button>
                    </div>
                }
                if self.log.overview.complete {
                    <Warnings overview={self.log.overview.clone()} on_all={self.callbacks.diagnostics.clone()} />
                }
                <main class="stage">
                    { self.tracks() }
                    { self.strip() }
                    if !view.panel_hidden {
                        <Tabs panel={view.panel} generation={self.log.generation}
                            on_panel={self.callbacks.panel.clone()}>
                            { self.open_panel() }
                        </Tabs>
                    }
                </main>
            </div>
        }
    }

    fn header(&self) -> Html {
        let calls = &self.callbacks;
        html! {
            <Header name={self.log.name.clone()} overview={self.log.overview.clone()}
                elapsed_ms={self.log.elapsed_ms} filter={self.views.view().tracks.filter.clone()}
                filter_node={self.filter_input.clone()} theme={theme::choice()} copied={self.dialogs.copied}
                on_filter={calls.filter.clone()} on_open={calls.open.clone()} on_share={calls.share.clone()}
                on_theme={calls.theme.clone()} on_commands={calls.commands.clone()} on_help={calls.help.clone()} />
        }
    }

    fn tracks(&self) -> Html {
        let (state, calls) = (&self.timeline, &self.callbacks);
        html! {
            <Timeline viewer={self.viewer.clone()} layout={state.layout.clone()} seen={state.seen.clone()}
                current={state.track.clone()} view={self.views.view().tracks.clone()} hidden={state.hidden.clone()}
                messages={self.log.overview.messages > 0} description={state.description.clone()} pinned={state.pinned.clone()}
                on_change={calls.tracks.clone()} on_goto={calls.goto.clone()}
                on_flame={calls.flame.clone()} on_unpin={calls.unpin.clone()} />
        }
    }

    /// The panel that is open.
    fn open_panel(&self) -> Html {
        let (log, panel, calls) = (&self.log, &self.panel, &self.callbacks);
        let view = panel.held.as_ref().unwrap_or(self.views.view());
        let props = PanelProps {
            source: Source {
                client: self.log_client.clone(),
                events: log.overview.events,
                complete: log.overview.complete,
                names: panel.names,
            },
            overview: log.overview.clone(),
            memory: log.memory,
            name: log.name.clone().into(),
            fingerprint: log.fingerprint,
            flame_sources: Rc::clone(&log.flame_sources),
            view: Rc::clone(view),
            range: view.selection,
            marked: Rc::clone(&panel.marked),
            place: self.timeline.place,
            visible: (view.panel == HEAP)
                .then(|| self.viewer.read(Control::visible))
                .flatten(),
            items: panel.items.clone(),
            wish: panel.wish,
            colours: panel.colours,
            on_change: calls.change.clone(),
            on_goto: calls.goto.clone(),
            on_action: calls.action.clone(),
        };
        panels::view(view.panel, props)
    }

    /// The selected range and tracks, with a button that drops them.
    fn selection(&self) -> Html {
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
                <button class="quiet" onclick={self.callbacks.drop_selection.clone()} aria-label={label}>{ "✕" }</button>
            </span>
        }
    }

    /// The sentence about what is pointed at, and what is selected.
    fn strip(&self) -> Html {
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
                { self.selection() }
            </div>
        }
    }
}
