//! The log that is open or being opened: opening it, hearing of it from the
//! worker, and asking about it.

use std::rc::Rc;

use yew::prelude::*;

use super::{App, TimelineState};
use crate::client::{ClientEvent, LogClient};
use crate::open_log::{Heard, OpenLog, Stage};
use crate::panel::Marked;
use crate::ptr_eq::PtrEq;
use crate::update::{after, callback};
use crate::viewer::ViewerRef;
use analysis::account::report::ProgramTimes;
use analysis::timeline::thread_lane::{ThreadFilter, ThreadRow};
use eventlog::ids::ThreadId;
use protocol::News;
use session::query::Query;
use session::questions::TimeQuery;
use session::tracks::name::TrackName;
use session::tracks::scope_of;
use views::panels::{FLAME_GRAPH, HEAP};
use views::timeline::arrange::{TrackView, arrange};
use views::timeline::layout::Layout;
use views::timeline::reveal::hidden_names;
use views::trouble::{Code, Trouble};
use views::view::panel::PanelName;
use views::words::diagnostics::whole_sentence;
use views::words::heap_report;

/// How often a log that is being read is shown as far as it is known. The page
/// is not to be busy with that for more than a small part of the time.
const OVERVIEW_MS: u32 = 1_000;
/// How many threads are listed.
const THREADS_LISTED: usize = 10_000;

/// What becomes of an answer, with whom was asked.
type Then<Q> = fn(&mut App, &Context<App>, (LogClient, <Q as Query>::Answer)) -> bool;

impl TimelineState {
    /// Arranges the tracks of a log anew.
    fn arrange(&mut self, log: &OpenLog, view: &TrackView, viewer: &ViewerRef) {
        let caps = log.caps();
        let known = log.known(&caps);
        self.hidden = hidden_names(&known, view);
        self.layout = PtrEq::new(Layout::new(arrange(&known, view)));
        viewer.set_layout(&self.layout);
    }
}

impl App {
    fn threads_came(
        &mut self,
        ctx: &Context<Self>,
        (client, (rows, total)): (LogClient, (Vec<ThreadRow>, usize)),
    ) -> bool {
        let is_own = client == self.log_client;
        let Some((log, _)) = self.side(&client) else {
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
            self.viewer.act(|control| control.goto(goto));
        }
        true
    }

    fn times_came(
        &mut self,
        _: &Context<Self>,
        (client, times): (LogClient, ProgramTimes),
    ) -> bool {
        let Some((log, _)) = self.side(&client) else {
            return false;
        };
        let changed = log.times != times.caps;
        if changed {
            log.times = times.caps;
            self.show_tracks();
        }
        changed
    }

    /// Stops the reading of a log.
    pub(super) fn cancel(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        gloo_utils::document().set_title("Eventscope");
        self.close_other(ctx, ());
        self.close();
        self.log = self.log.none();
        self.open_before(ctx);
        true
    }

    /// Asks about a log, and does something with whom was asked and the answer.
    pub(super) fn ask_of<Q: Query>(
        &self,
        client: &LogClient,
        ctx: &Context<Self>,
        query: Q,
        then: Then<Q>,
    ) {
        let (then, about) = (callback(ctx, then), client.clone());
        client.ask(query, move |answer| {
            if let Ok(answer) = answer {
                then.emit((about, answer));
            }
        });
    }

    /// Asks the same about each log.
    fn ask<Q: Query + Clone>(&self, ctx: &Context<Self>, query: Q, then: Then<Q>) {
        if let Some(other) = &self.other {
            self.ask_of(&other.client, ctx, query.clone(), then);
        }
        self.ask_of(&self.log_client, ctx, query, then);
    }

    fn close(&mut self) {
        self.following = None;
        self.log_client.close();
        self.log_client = self.client.no_log();
        self.viewer.reset(self.log_client.clone());
    }

    pub(super) fn hear(&mut self, ctx: &Context<Self>, event: ClientEvent) -> bool {
        match event {
            ClientEvent::News(log, news) if self.log_client.is_about(log) => {
                self.hear_news(ctx, news)
            }
            ClientEvent::News(log, news) => {
                let other = self.other.as_ref();
                let is_other = other.is_some_and(|other| other.client.is_about(log));
                is_other && self.hear_other(ctx, news)
            }
            ClientEvent::Symbols(text) => {
                self.panel.names += 1;
                self.dialogs.notice = Some(text);
                true
            }
            ClientEvent::Died(message) => {
                self.died(ctx, message.as_deref());
                true
            }
        }
    }

    fn hear_news(&mut self, ctx: &Context<Self>, news: News) -> bool {
        match self.log.hear(news) {
            Heard::Nothing => return false,
            Heard::Progress { is_more } => {
                if is_more && self.pauses.overview.is_none() {
                    self.overview_due(ctx, ());
                }
            }
            Heard::Loaded => {
                self.log_client.settle();
                self.pauses.overview = None;
                self.loaded(ctx);
            }
            Heard::Short => {
                self.pauses.overview = None;
                self.loaded(ctx);
                self.fail(Trouble::new(Code::ShortOfMemory));
            }
            Heard::Grown => self.grown(ctx),
            Heard::NotGrown { is_short } => self.not_grown(ctx, is_short),
            Heard::Again => {
                self.look_again(ctx);
                self.panel.names += 1;
                self.show_log();
            }
            Heard::Contents => self.show_log(),
            Heard::Failed(code, message) => self.give_up(ctx, Trouble::saying(code, message)),
        }
        true
    }

    /// The log cannot be shown: the other one is, if there is one.
    fn give_up(&mut self, ctx: &Context<Self>, mut why: Trouble) {
        why.file = Some(self.log.name.clone());
        if self.other.is_some() {
            self.exchange(ctx);
            self.close_other(ctx, ());
            self.dialogs.trouble = Some(why);
            return;
        }
        self.log.stage = Stage::Nothing;
        self.log.name.clear();
        self.close();
        self.open_before(ctx);
        self.dialogs.trouble = Some(why);
    }

    /// Shows what is known of a log that is being read, if there is more than
    /// before: with each time the tracks are painted and the panel asks anew.
    fn overview_due(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.pauses.overview = None;
        let overview = self.log.next_overview.take();
        let Some(overview) = overview.filter(|_| self.log.is_loading()) else {
            return false;
        };
        self.log.show(*overview);
        self.show_log();
        self.open_heap();
        self.pauses.overview = Some(after(ctx, OVERVIEW_MS, Self::overview_due));
        true
    }

    /// The worker is dead, and a new one knows nothing of what is open. What the page shows of a
    /// log stays as it is; nothing more can be asked about it.
    fn died(&mut self, ctx: &Context<Self>, message: Option<&str>) {
        let mut trouble = message.map_or_else(
            || Trouble::new(Code::NotStarted),
            |message| Trouble::stopped(message, &self.log.name),
        );
        self.close_other(ctx, ());
        self.following = None;
        self.log_client.close();
        self.log_client = self.client.no_log();
        let is_shown = self.log.overview.span.is_some();
        trouble.said.push_str(if is_shown {
            " What was shown is still here, but nothing more can be asked: open the log again."
        } else {
            " Drop the log again."
        });
        if !is_shown {
            self.viewer.reset(self.log_client.clone());
            self.log.stage = Stage::Nothing;
        } else if self.log.is_loading() {
            self.log.stage = Stage::Open;
        }
        self.dialogs.trouble = Some(trouble);
    }

    /// What a report says of the open log, in numbers.
    pub(super) fn numbers(&self) -> Vec<(&'static str, Option<u64>)> {
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
                Some(u64::from(log.is_there()) + u64::from(self.other.is_some())),
            ),
            (
                "bytes of memory of the reader",
                Some(log.memory.here_bytes).filter(|bytes| *bytes > 0),
            ),
            ("bytes put away", Some(log.memory.away_bytes)),
            (
                "bytes of memory of the page",
                Some(protocol::memory_bytes()),
            ),
        ]
    }

    fn loaded(&mut self, ctx: &Context<Self>) {
        if self.log.overview.span.is_none() {
            let warnings = &self.log.overview.warnings;
            let what = warnings.first().map(whole_sentence).unwrap_or_default();
            let name = &self.log.name;
            let why = format!("“{name}” has a header but no events. {what}");
            return self.give_up(ctx, Trouble::saying(Code::NoEvents, why));
        }
        if self.log.overview.report.is_some() {
            self.dialogs.notice = Some(heap_report::ABOUT.to_owned());
        }
        self.show_log();
        let wanted = self.wanted.take();
        let is_plain = wanted.is_none();
        if let Some(link) = wanted {
            // It says which panel is open, if only by saying nothing.
            self.log.heap_offered = true;
            self.follow_places(ctx, link);
        }
        self.open_heap();
        let only_profile = self.log.overview.caps.is_empty() && !self.log.flame_sources.is_empty();
        if only_profile && self.views.view().panel == PanelName::default() {
            self.views.edit().panel = FLAME_GRAPH;
        }
        self.ask_threads(ctx);
        self.ask_usage(ctx);
        self.offer_comparison();
        self.notes_are_kept();
        self.follow_if_served_so(ctx);
        if is_plain {
            // So that it can be gone back to, however soon something is done.
            self.settled(ctx, ());
        } else {
            self.will_settle(ctx);
        }
    }

    /// Opens the panel of the heap as soon as the log is known to have a profile
    /// of it, unless another panel was asked for.
    fn open_heap(&mut self) {
        let there = self.log.overview.contents.heap_profile;
        if !there || self.log.heap_offered {
            return;
        }
        self.log.heap_offered = true;
        if self.wanted.is_none() && self.views.view().panel == PanelName::default() {
            self.views.edit().panel = HEAP;
        }
    }

    /// Gives the timeline what is known of the log.
    pub(super) fn show_log(&mut self) {
        if self.log.overview.span.is_some() {
            self.log.give(&self.viewer);
            self.align();
            self.show_tracks();
        }
    }

    /// Arranges the tracks anew.
    pub(super) fn show_tracks(&mut self) {
        let view = &self.views.view().tracks;
        self.timeline.arrange(&self.log, view, &self.viewer);
        if let Some(other) = &mut self.other {
            other.timeline.arrange(&other.log, view, &other.viewer);
        }
        let names = view.selected.iter().map(TrackName::as_str);
        let marked = Marked {
            scope: scope_of(names, &self.log.overview.contents),
            count: view.selected.len(),
        };
        // Panels compare: what stays the same stays the same value.
        if *self.panel.marked != marked {
            self.panel.marked = Rc::new(marked);
        }
    }

    /// Asks for the threads that the filter lists, in their order.
    pub(super) fn ask_threads(&self, ctx: &Context<Self>) {
        let filter = ThreadFilter {
            text: self.views.view().tracks.filter.trim().to_owned(),
            order: self.views.view().tracks.threads,
            limit: THREADS_LISTED,
        };
        self.ask(ctx, filter, Self::threads_came);
    }

    /// Asks for the pinned threads that are not listed: they are shown
    /// whatever the filter is.
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
            let filter = ThreadFilter {
                text: format!("#{id}"),
                limit: 100,
                ..ThreadFilter::default()
            };
            let came = callback(ctx, |app, _, row| {
                app.log.pinned_threads.push(row);
                app.show_tracks();
                true
            });
            self.log_client.ask(filter, move |answer| {
                let rows = answer.map_or_else(|_| Vec::new(), |(rows, _)| rows);
                if let Some(row) = rows.into_iter().find(|row| row.id == id) {
                    came.emit(row);
                }
            });
        }
    }

    /// Asks how the whole log was spent, for the notes beside the capabilities.
    pub(super) fn ask_usage(&self, ctx: &Context<Self>) {
        self.ask(ctx, TimeQuery(None), Self::times_came);
    }
}
