//! The primary log: loading, events from the worker, and queries.

use std::rc::Rc;

use yew::prelude::*;

use super::{App, TimelineState};
use crate::client::{ClientEvent, LogClient};
use crate::open_log::{OpenLog, Stage, UpdateEffect};
use crate::panel::TrackSelection;
use crate::ptr_eq::PtrEq;
use crate::update::{callback, update_after};
use crate::viewer::ViewerRef;
use analysis::account::report::ProgramTimes;
use analysis::timeline::thread_lane::{ThreadListQuery, ThreadListRow};
use eventlog::ids::ThreadId;
use protocol::LogUpdate;
use session::queries::TimeQuery;
use session::query::Query;
use session::tracks::name::TrackName;
use session::tracks::scope_of;
use views::page_error::{Code, PageError};
use views::panels::{FLAME_GRAPH, HEAP};
use views::timeline::arrange::{TrackView, arrange};
use views::timeline::layout::Layout;
use views::timeline::reveal::hidden_names;
use views::view::panel::PanelName;
use views::words::diagnostics::whole_sentence;
use views::words::heap_report;

/// Interval of display updates for a loading log, long enough to keep the page responsive.
const OVERVIEW_MS: u32 = 1_000;
/// Maximum number of listed threads.
const THREADS_LISTED: usize = 10_000;

/// Handler of an answer, with the client that answered.
type AnswerHandler<Q> = fn(&mut App, &Context<App>, (LogClient, <Q as Query>::Answer)) -> bool;

impl TimelineState {
    /// Recomputes the layout of the tracks.
    fn arrange(&mut self, log: &OpenLog, view: &TrackView, viewer: &ViewerRef) {
        let caps = log.caps();
        let known = log.track_inputs(&caps);
        self.hidden = hidden_names(&known, view);
        self.layout = PtrEq::new(Layout::new(arrange(&known, view)));
        viewer.set_layout(&self.layout);
    }
}

impl App {
    fn on_threads(
        &mut self,
        ctx: &Context<Self>,
        (client, (rows, total)): (LogClient, (Vec<ThreadListRow>, usize)),
    ) -> bool {
        let is_own = client == self.log_client;
        let Some((log, _)) = self.log_of_client(&client) else {
            return false;
        };
        log.threads = rows;
        log.threads_in_all = total as u64;
        if !is_own {
            self.show_other();
            return true;
        }
        self.ask_pinned_threads(ctx);
        self.show_log();
        if self.dialogs.palette.is_some() {
            self.open_palette();
        }
        if let Some(goto) = self.timeline.goto_when_listed.take() {
            self.viewer.act(|control| control.navigate(goto));
        }
        true
    }

    fn on_times(&mut self, _: &Context<Self>, (client, times): (LogClient, ProgramTimes)) -> bool {
        let Some((log, _)) = self.log_of_client(&client) else {
            return false;
        };
        let changed = log.times != times.caps;
        if changed {
            log.times = times.caps;
            self.show_tracks();
        }
        changed
    }

    /// Cancels loading, and reopens the previous log if there is one.
    pub(super) fn cancel(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        gloo_utils::document().set_title("Eventscope");
        self.close_other(ctx);
        self.close();
        self.log = self.log.cleared();
        self.open_previous(ctx);
        true
    }

    /// Queries one log; `then` gets the client and the answer.
    pub(super) fn ask_of<Q: Query>(
        &self,
        client: &LogClient,
        ctx: &Context<Self>,
        query: Q,
        then: AnswerHandler<Q>,
    ) {
        let (then, about) = (callback(ctx, then), client.clone());
        client.ask(query, move |answer| {
            if let Ok(answer) = answer {
                then.emit((about, answer));
            }
        });
    }

    /// Sends the same query to each open log.
    fn ask<Q: Query + Clone>(&self, ctx: &Context<Self>, query: Q, then: AnswerHandler<Q>) {
        if let Some(other) = &self.other {
            self.ask_of(&other.client, ctx, query.clone(), then);
        }
        self.ask_of(&self.log_client, ctx, query, then);
    }

    fn close(&mut self) {
        self.follow = None;
        self.log_client.close();
        self.log_client = self.client.no_log();
        self.viewer.reset(self.log_client.clone());
    }

    pub(super) fn on_client_event(&mut self, ctx: &Context<Self>, event: ClientEvent) -> bool {
        match event {
            ClientEvent::LogUpdate(log, update) if self.log_client.is_about(log) => {
                self.on_update(ctx, update)
            }
            ClientEvent::LogUpdate(log, update) => {
                let other = self.other.as_ref();
                let is_other = other.is_some_and(|other| other.client.is_about(log));
                is_other && self.on_other_update(ctx, update)
            }
            ClientEvent::Symbols(text) => {
                self.panel.names += 1;
                self.dialogs.notice = Some(text);
                true
            }
            ClientEvent::Died(message) => {
                self.on_worker_died(ctx, message.as_deref());
                true
            }
        }
    }

    fn on_update(&mut self, ctx: &Context<Self>, update: LogUpdate) -> bool {
        match self.log.apply_update(update) {
            UpdateEffect::Nothing => return false,
            UpdateEffect::Progress { is_more } => {
                if is_more && self.timers.overview.is_none() {
                    self.show_pending_overview(ctx, ());
                }
            }
            UpdateEffect::Loaded => {
                self.log_client.stop_following();
                self.timers.overview = None;
                self.on_loaded(ctx);
            }
            UpdateEffect::MemoryLimit => {
                self.timers.overview = None;
                self.on_loaded(ctx);
                self.show_error(PageError::new(Code::ShortOfMemory));
            }
            UpdateEffect::Grown => self.on_grown(ctx),
            UpdateEffect::NotGrown { hit_memory_limit } => self.on_not_grown(ctx, hit_memory_limit),
            UpdateEffect::Reloaded => {
                self.schedule_next_check(ctx);
                self.panel.names += 1;
                self.show_log();
            }
            UpdateEffect::Contents => {
                self.show_log();
                self.ask_anchors(ctx);
            }
            UpdateEffect::Failed(code, message) => {
                self.close_after_failure(ctx, PageError::with_message(code, message))
            }
        }
        true
    }

    /// Closes the primary log after a failure; the second one takes its place, or else the previous log is reopened.
    fn close_after_failure(&mut self, ctx: &Context<Self>, mut why: PageError) {
        why.file = Some(self.log.name.clone());
        if self.other.is_some() {
            self.exchange(ctx);
            self.close_other(ctx);
            self.dialogs.error = Some(why);
            return;
        }
        self.log.stage = Stage::Nothing;
        self.log.name.clear();
        self.close();
        self.open_previous(ctx);
        self.dialogs.error = Some(why);
    }

    /// Shows the pending overview of a loading log, if there is one. Each update repaints the tracks and repeats the
    /// queries of the panel.
    fn show_pending_overview(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.timers.overview = None;
        let overview = self.log.pending_overview.take();
        let Some(overview) = overview.filter(|_| self.log.is_loading()) else {
            return false;
        };
        self.log.show_overview(*overview);
        self.show_log();
        self.open_heap();
        self.timers.overview = Some(update_after(ctx, OVERVIEW_MS, Self::show_pending_overview));
        true
    }

    /// Handles the death of the worker. Its replacement has no open logs: the page keeps what it shows, but nothing
    /// more can be queried.
    fn on_worker_died(&mut self, ctx: &Context<Self>, message: Option<&str>) {
        let mut error = message.map_or_else(
            || PageError::new(Code::NotStarted),
            |message| PageError::worker_stopped(message, &self.log.name),
        );
        self.close_other(ctx);
        self.follow = None;
        self.log_client.close();
        self.log_client = self.client.no_log();
        let is_shown = self.log.overview.span.is_some();
        error.message.push_str(if is_shown {
            " The view remains, but queries fail: open the log again."
        } else {
            " Drop the log again."
        });
        if !is_shown {
            self.viewer.reset(self.log_client.clone());
            self.log.stage = Stage::Nothing;
        } else if self.log.is_loading() {
            self.log.stage = Stage::Open;
        }
        self.dialogs.error = Some(error);
    }

    /// Returns the figures about the open log for an error report.
    pub(super) fn error_figures(&self) -> Vec<(&'static str, Option<u64>)> {
        let log = &self.log;
        let overview = &log.overview;
        let known = overview.span.is_some();
        let size = log.fingerprint.map(|print| print.len());
        vec![
            ("bytes of the file", size),
            ("bytes read", Some(log.progress.done)),
            ("events read", Some(log.events.max(overview.events))),
            ("capabilities", known.then_some(overview.caps.len() as u64)),
            ("threads", known.then_some(log.threads_in_all)),
            (
                "logs open",
                Some(u64::from(log.has_log()) + u64::from(self.other.is_some())),
            ),
            (
                "bytes of memory of the reader",
                Some(log.memory.resident_bytes).filter(|bytes| *bytes > 0),
            ),
            ("bytes put away", Some(log.memory.spilled_bytes)),
            (
                "bytes of memory of the page",
                Some(protocol::memory_bytes()),
            ),
        ]
    }

    fn on_loaded(&mut self, ctx: &Context<Self>) {
        if self.log.overview.span.is_none() {
            let warnings = &self.log.overview.warnings;
            let what = warnings.first().map(whole_sentence).unwrap_or_default();
            let name = &self.log.name;
            let why = format!("“{name}” has a header but no events. {what}");
            return self.close_after_failure(ctx, PageError::with_message(Code::NoEvents, why));
        }
        if self.log.overview.report.is_some() {
            self.dialogs.notice = Some(heap_report::ABOUT.to_owned());
        }
        self.show_log();
        let has_new_notes = !self.views.view().notes.is_empty();
        let link = self.pending_link.take();
        let is_plain = link.is_none();
        if let Some(link) = link {
            // The link determines the panel, at least by naming none.
            self.log.heap_panel_settled = true;
            self.apply_link_times(ctx, link);
        }
        self.open_heap();
        let only_profile = self.log.overview.caps.is_empty() && !self.log.flame_sources.is_empty();
        if only_profile && self.views.view().panel == PanelName::default() {
            self.views.edit().panel = FLAME_GRAPH;
        }
        self.ask_about_logs(ctx);
        self.offer_comparison();
        self.saved_notes = match self.log.saved_notes.take() {
            Some(saved) => saved,
            // Those added while the log was read are saved nowhere; others are in the link.
            None if has_new_notes => Rc::default(),
            None => Rc::clone(&self.views.view().notes),
        };
        self.follow_if_requested(ctx);
        if is_plain {
            // Enters the history at once, so that Back returns to it.
            self.update_address(ctx, ());
        } else {
            self.schedule_address_update(ctx);
        }
    }

    /// Opens the heap panel as soon as the log is known to have a heap profile, unless another panel was requested.
    fn open_heap(&mut self) {
        let there = self.log.overview.contents.heap_profile;
        if !there || self.log.heap_panel_settled {
            return;
        }
        self.log.heap_panel_settled = true;
        if self.pending_link.is_none() && self.views.view().panel == PanelName::default() {
            self.views.edit().panel = HEAP;
        }
    }

    /// Passes the current overview of the log to the timeline.
    pub(super) fn show_log(&mut self) {
        if self.log.overview.span.is_some() {
            self.log.show_in(&self.viewer);
            self.align();
            self.show_tracks();
        }
    }

    /// Recomputes the tracks of both timelines, and the scope of the selected ones.
    pub(super) fn show_tracks(&mut self) {
        let view = &self.views.view().tracks;
        self.timeline.arrange(&self.log, view, &self.viewer);
        if let Some(other) = &mut self.other {
            other.timeline.arrange(&other.log, view, &other.viewer);
        }
        let names = view.selected.iter().map(TrackName::as_str);
        let track_selection = TrackSelection {
            scope: scope_of(names, &self.log.overview.contents),
            count: view.selected.len(),
        };
        // Panels compare their props: an unchanged value keeps its `Rc`.
        if *self.panel.track_selection != track_selection {
            self.panel.track_selection = Rc::new(track_selection);
        }
    }

    /// Queries the threads that match the filter, in the chosen order.
    pub(super) fn ask_threads(&self, ctx: &Context<Self>) {
        let filter = ThreadListQuery {
            text: self.views.view().tracks.filter.trim().to_owned(),
            order: self.views.view().tracks.threads,
            limit: THREADS_LISTED,
        };
        self.ask(ctx, filter, Self::on_threads);
    }

    /// Queries pinned threads that are not listed; they are shown whatever the filter is.
    pub(super) fn ask_pinned_threads(&self, ctx: &Context<Self>) {
        let known = |id: ThreadId| {
            let rows = self.log.threads.iter().chain(&self.log.pinned_threads);
            rows.into_iter().any(|row| row.id == id)
        };
        let pinned = self.views.view().tracks.pinned.iter();
        for id in pinned
            .filter_map(TrackName::as_thread)
            .filter(|id| !known(*id))
        {
            let filter = ThreadListQuery {
                text: format!("#{id}"),
                limit: 100,
                ..ThreadListQuery::default()
            };
            let on_row = callback(ctx, |app, _, row| {
                app.log.pinned_threads.push(row);
                app.show_tracks();
                true
            });
            self.log_client.ask(filter, move |answer| {
                let rows = answer.map_or_else(|_| Vec::new(), |(rows, _)| rows);
                if let Some(row) = rows.into_iter().find(|row| row.id == id) {
                    on_row.emit(row);
                }
            });
        }
    }

    /// Queries the time accounts of the whole log, for the usage next to the capability names.
    pub(super) fn ask_usage(&self, ctx: &Context<Self>) {
        self.ask(ctx, TimeQuery(None), Self::on_times);
    }
}
