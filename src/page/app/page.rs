//! Rendering of the page.

use std::rc::Rc;

use yew::prelude::*;

use super::notes::Closing;
use super::{App, TimelineState};
use crate::client::LogClient;
use crate::details::card;
use crate::dialog::{Help, swatch};
use crate::error_alert::error_alert;
use crate::finding_marks::MarksProps;
use crate::header::{Header, loading, warnings};
use crate::landing::{self, Landing};
use crate::open_log::OpenLog;
use crate::panel::{Axis, ComparisonTarget, PanelProps, Source, span_text};
use crate::panels::FindingNavigator;
use crate::share::Share;
use crate::tabs::Tabs;
use crate::timeline::Timeline;
use crate::two_logs::{SecondLogPrompt, SplitTimelines, alignment_controls, caption};
use crate::update::callback;
use crate::viewer::{Control, Description, ViewerRef};
use crate::{link, panels, theme};
use eventlog::ids::Duration;
use model::time::Interval;
use scene::format;
use session::alignment::Role;
use views::panels::{FLAME_GRAPH, HEAP};
use views::view::PanelLayout;
use views::view::compare::CompareView;

impl App {
    pub(super) fn page(&self, ctx: &Context<Self>) -> Html {
        let dialogs = &self.dialogs;
        let on_help_closed = callback(ctx, |app, _, ()| app.dialogs.help.take().is_some());
        let promised = self
            .pending_link
            .as_ref()
            .filter(|_| !self.has_pending_fetch());
        let promise = promised.map(|link| AttrValue::from(link::promise(link)));
        let on_share_closed = callback(ctx, |app, _, ()| app.dialogs.share.take().is_some());
        html! {
            <>
                if self.shows_log() {
                    { self.log_page(ctx) }
                } else if self.log.is_loading() {
                    <main class="landing">{ loading(&self.log, &self.callbacks.cancel) }</main>
                } else {
                    <Landing link={promise} status={html! { <>{ self.view_error(ctx) }{ self.view_remote(ctx) }</> }}
                        notice={dialogs.notice.clone().map(AttrValue::from)}
                        open={self.is_home.then(|| AttrValue::from(self.names().join(" → ")))}
                        on_back={callback(ctx, Self::leave_home)} on_recent={callback(ctx, Self::open_recent)} />
                }
                { self.view_palette(ctx) }
                if dialogs.dragging {
                    <div class="overlay" aria-hidden="true"><p>{ "Drop it anywhere" }</p></div>
                }
                if let Some((link, copied)) = &dialogs.share {
                    <Share link={Rc::clone(link)} copied={*copied} on_close={on_share_closed} />
                }
                { self.view_merge(ctx) }
                if let Some(legend) = dialogs.help {
                    <Help {legend} color_generation={self.panel.color_generation} on_close={on_help_closed} />
                }
            </>
        }
    }

    /// Returns whether a log is shown, completely or as far as it is read.
    fn shows_log(&self) -> bool {
        !self.is_home && self.log.is_open()
            || (self.log.is_loading() && self.log.overview.span.is_some())
    }

    /// Shows the landing page if there is no log.
    pub(super) fn update_landing(&self) {
        landing::show(!self.shows_log() && !self.log.is_loading());
    }

    fn log_page(&self, ctx: &Context<Self>) -> Html {
        let (view, dialogs, calls) = (self.views.view(), &self.dialogs, &self.callbacks);
        let dismiss = callback(ctx, |app, _, _: MouseEvent| {
            app.dialogs.notice.take().is_some()
        });
        let on_save_notes = callback(ctx, |app, _, ()| {
            app.save_unsaved_notes();
            true
        });
        html! {
            <div class="app" data-elapsed-ms={self.log.elapsed_ms.map(|ms| format!("{ms:.1}"))}>
                { self.header() }
                if self.log.is_loading() {
                    { loading(&self.log, &calls.cancel) }
                }
                { self.view_error(ctx) }
                { self.view_remote(ctx) }
                if let Some(notice) = &dialogs.notice {
                    <div class="notice" role="status">
                        <span>{ notice }</span>
                        <button class="quiet" onclick={dismiss} aria-label="Dismiss">{ "✕" }</button>
                    </div>
                }
                if let Some(offered_log) = &dialogs.offered_log {
                    <SecondLogPrompt name={offered_log.file.name()} open={self.log.name.clone()} notes={self.unsaved_notes()}
                        on_save={on_save_notes} on_answer={callback(ctx, Self::on_second_log_answer)} />
                }
                { self.view_closing(ctx) }
                { self.view_follow_bar() }
                // A log that is still being written always ends abruptly: no warning then.
                if self.log.overview.complete && !(self.follow.is_some() && self.log.overview.only_breaks_off()) {
                    { warnings(&self.log.overview, &calls.diagnostics) }
                }
                { self.view_tour(ctx) }
                <main class={classes!("stage", (view.room == PanelLayout::Panel).then_some("panel-alone"))}>
                    { self.timelines(ctx) }
                    { self.strip() }
                    <div class="lower">
                        if view.room != PanelLayout::Timeline {
                            <Tabs panel={view.panel} generation={(self.viewer.number().0, self.log.generation)}
                                alone={view.room == PanelLayout::Panel} on_panel={self.callbacks.panel.clone()}
                                on_action={self.callbacks.action.clone()}>
                                { self.open_panel() }
                            </Tabs>
                        }
                        { self.details() }
                    </div>
                </main>
            </div>
        }
    }

    fn view_error(&self, ctx: &Context<Self>) -> Html {
        let Some(error) = &self.dialogs.error else {
            return Html::default();
        };
        let dismiss = callback(ctx, |app, _, _: MouseEvent| {
            app.dialogs.error.take().is_some()
        });
        let on_dismiss = self.log.has_log().then_some(dismiss);
        error_alert(error, self.error_figures(), on_dismiss)
    }

    fn header(&self) -> Html {
        let calls = &self.callbacks;
        let name = self.names().join(" → ");
        // When comparing, each log has its facts above its own timeline.
        let facts = self.other.is_none().then(|| facts(&self.log));
        html! {
            <Header {name} facts={facts.unwrap_or_default()} filter={self.views.view().tracks.filter.clone()}
                filter_node={self.filter_input.clone()} theme={theme::choice()} copied={self.dialogs.copied} can_follow={self.can_follow()}
                on_filter={calls.filter.clone()} on_action={calls.action.clone()} />
        }
    }

    /// Renders the timeline, or both when comparing: the earlier log above, each with its caption.
    fn timelines(&self, ctx: &Context<Self>) -> Html {
        let own = |caption: Html, is_upper: bool, log_suffix: String| {
            let timeline = self.timeline_of(
                (&self.log, &self.timeline, &self.viewer),
                is_upper,
                log_suffix,
            );
            section(&self.viewer, caption, timeline)
        };
        let Some(other) = &self.other else {
            let sections = vec![own(Html::default(), true, String::new())];
            return html! { <SplitTimelines {sections} /> };
        };
        let upper = |role: Role| role == Role::Before;
        let log_suffix = |role: Role| format!(" of the log {}", role.name());
        let (role, its) = (other.role.other(), other.role);
        let first = own(
            self.caption(ctx, role, &self.log, true),
            upper(role),
            log_suffix(role),
        );
        let state = (&other.log, &other.timeline, &other.viewer);
        let timeline = self.timeline_of(state, upper(its), log_suffix(its));
        let second = section(
            &other.viewer,
            self.caption(ctx, its, &other.log, false),
            timeline,
        );
        let sections = if upper(role) {
            vec![first, second]
        } else {
            vec![second, first]
        };
        html! { <SplitTimelines {sections} /> }
    }

    fn caption(&self, ctx: &Context<Self>, role: Role, log: &OpenLog, is_shown: bool) -> Html {
        let facts = if log.is_loading() {
            format!("reading, {} %", log.percent())
        } else {
            facts(log)
        };
        let both = (role == Role::Before).then(|| {
            let at = self.views.view().settings.get::<CompareView>().align;
            let on_align = callback(ctx, Self::align_at);
            let on_swap = callback(ctx, |app, ctx, _: MouseEvent| app.swap_roles(ctx));
            let on_merge = callback(ctx, |app, ctx, _: MouseEvent| {
                app.merge(ctx);
                true
            });
            alignment_controls(&at, &self.common_anchors(), &on_align, on_swap, on_merge)
        });
        let on_show = callback(ctx, |app, ctx, _: MouseEvent| {
            app.exchange_if_read(ctx);
            true
        });
        let on_show = (!is_shown).then_some(on_show);
        let on_close = callback(ctx, |app, ctx, role: Role| {
            app.close_or_ask(ctx, Closing::Close(role))
        });
        let both = both.unwrap_or_default();
        caption((role, &log.name, facts), on_show, &on_close, both)
    }

    fn timeline_of(
        &self,
        (log, state, viewer): (&OpenLog, &TimelineState, &ViewerRef),
        has_menu: bool,
        log_suffix: String,
    ) -> Html {
        let calls = &self.callbacks;
        let is_own = *viewer == self.viewer;
        let other = self.other.as_ref();
        let mut hidden = self.timeline.hidden.clone();
        let others = other.map_or(&[][..], |other| &other.timeline.hidden);
        hidden.extend(
            others
                .iter()
                .filter(|name| !self.timeline.hidden.contains(name))
                .cloned(),
        );
        html! {
            <Timeline key="timeline" {log_suffix} beyond={viewer.read(Control::outside_log_text)} {has_menu} viewer={viewer.clone()} layout={state.layout.clone()}
                tracks_in_view={state.tracks_in_view.clone()} current={state.track.clone()} view={self.views.view().tracks.clone()} {hidden}
                messages={log.overview.messages > 0} description={state.description.clone()}
                on_change={calls.tracks.clone()} on_filter={calls.filter.clone()}
                finding_marks={is_own.then(|| self.finding_marks()).flatten()} />
        }
    }

    /// Renders the details of clicked items, next to the panel or, in narrow windows, in its place.
    fn details(&self) -> Html {
        let other = self.other.as_ref();
        let other = other.map(|other| (other.viewer.number(), &other.timeline));
        let timelines = [Some((self.viewer.number(), &self.timeline)), other];
        let timelines = timelines.into_iter().flatten();
        let cards = timelines.filter_map(|(viewer, timeline)| {
            let description = timeline.pinned.as_ref()?;
            Some(card(description, viewer, &self.callbacks.card))
        });
        let cards: Vec<Html> = cards.collect();
        if cards.is_empty() {
            return Html::default();
        }
        html! { <div class="dock"><div class="dock-cards">{ for cards }</div></div> }
    }

    /// Returns the time axis of the timeline if the open panel shares it.
    pub(super) fn axis(&self) -> Option<Axis> {
        let view = self.views.view();
        [FLAME_GRAPH, HEAP].contains(&view.panel).then(|| {
            self.viewer.read(|control| Axis {
                view: control.viewport(),
                left_px: control.labels_px(),
            })
        })
    }

    /// Builds the props of the finding marks on the timeline.
    fn finding_marks(&self) -> Option<MarksProps> {
        let view = self.views.view();
        Some(MarksProps {
            source: self.source(&self.log_client, &self.log),
            viewer: self.viewer.clone(),
            minimap_ns: self.viewer.read(Control::viewport).all_ns(),
            view: view.settings.get(),
            selection: view.selection,
            navigator: FindingNavigator {
                within: None,
                heap_profile: self.log.overview.contents.heap_profile,
                on_change: self.callbacks.change.clone(),
                on_goto: self.callbacks.goto.clone(),
            },
        })
    }

    fn open_panel(&self) -> Html {
        let (log, panel, calls) = (&self.log, &self.panel, &self.callbacks);
        let view = panel.frozen_view.as_ref().unwrap_or(self.views.view());
        let props = PanelProps {
            source: self.source(&self.log_client, log),
            compared_to: self.compared_to(view.selection),
            overview: log.overview.clone(),
            memory: log.memory,
            name: log.name.clone().into(),
            fingerprint: log.fingerprint,
            flame_sources: Rc::clone(&log.flame_sources),
            view: Rc::clone(view),
            range: view.selection,
            track_selection: Rc::clone(&panel.track_selection),
            clicked: self.timeline.clicked,
            axis: self.axis(),
            items: panel.items.clone(),
            request: panel.request,
            color_generation: panel.color_generation,
            on_change: calls.change.clone(),
            on_goto: calls.goto.clone(),
            on_axis_change: calls.axis_change.clone(),
            on_action: calls.action.clone(),
        };
        panels::view(view.panel, props)
    }

    fn source(&self, client: &LogClient, log: &OpenLog) -> Source {
        Source {
            client: client.clone(),
            events: log.overview.events,
            complete: log.overview.complete,
            names: self.panel.names,
        }
    }

    /// Returns the second log, for panels that compare.
    fn compared_to(&self, selection: Option<Interval>) -> Option<ComparisonTarget> {
        let other = self.other.as_ref()?;
        let log = other.log.overview.span.unwrap_or_default();
        let range = selection.and_then(|range| other.shift.range(range, log));
        Some(ComparisonTarget {
            role: other.role,
            source: self.source(&other.client, &other.log),
            flame_sources: Rc::clone(&other.log.flame_sources),
            range,
            is_outside: selection.is_some() && range.is_none(),
            on_switch_log: self.callbacks.switch_log.clone(),
        })
    }

    /// Renders the selected range and tracks, with a button that clears them.
    fn selection(&self) -> Html {
        let track_selection = &self.panel.track_selection;
        let range = self.views.view().selection;
        let tracks = (track_selection.count > 0).then(|| track_selection.words());
        let label = match (range, &tracks) {
            (_, None) => "Clear the selected range: show the whole log",
            (Some(_), _) => "Clear the selected range and tracks: show the whole log",
            (None, _) => "Clear the track selection: show all tracks in panels",
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

    /// Renders the status line: the description of the hovered or selected item, and the selection.
    fn strip(&self) -> Html {
        /// Shown while nothing is hovered.
        const HINT: &str = "Hover for details · wheel zooms · drag selects a range · ? for help";
        /// Counterpart of `HINT` for touch screens.
        const TOUCH_HINT: &str = "Tap for details · pinch to zoom · help is in the menu";
        let title = self.described().map_or_else(
            || HINT.to_owned(),
            |Description { name, text, .. }| format!("{name} {text}"),
        );
        html! {
            <div class="strip">
                <p aria-live="polite" {title}>
                    if let Some(Description { class, name, text, .. }) = self.described() {
                        if let Some(class) = class {
                            <span class={swatch(*class)} aria-hidden="true" />{ " " }
                        }
                        <strong>{ name }</strong>{ " " }{ text }
                    } else {
                        <span class="faint by-mouse" aria-hidden="true">{ HINT }</span>
                        <span class="faint by-touch" aria-hidden="true">{ TOUCH_HINT }</span>
                    }
                </p>
                { self.selection() }
            </div>
        }
    }

    /// Returns the description of the hovered item, or else of the selected one; the primary timeline takes
    /// precedence.
    fn described(&self) -> Option<&Description> {
        let other = self.other.as_ref();
        let own = self.timeline.description.as_deref();
        let its = other.and_then(|other| other.timeline.description.as_deref());
        own.filter(|own| own.tip || its.is_none_or(|its| !its.tip))
            .or(its)
    }
}

/// Renders a timeline below its caption.
fn section(viewer: &ViewerRef, caption: Html, timeline: Html) -> Html {
    let children = if caption == Html::default() {
        vec![timeline]
    } else {
        vec![caption, timeline]
    };
    html! { <section key={viewer.number().0.to_string()} class="log">{ for children }</section> }
}

/// Formats the facts about a log and its reading time for the header.
fn facts(log: &OpenLog) -> String {
    let facts = log.overview.facts();
    let elapsed = log
        .elapsed_ms
        .map(|ms| Duration((ms.max(0.0) * 1e6) as u64));
    elapsed.map_or_else(
        || facts.clone(),
        |elapsed| format!("{facts} · read in {}", format::duration(elapsed)),
    )
}
