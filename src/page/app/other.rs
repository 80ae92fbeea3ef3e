//! The second log of a comparison, on its own timeline with the same zoom. The panels show the primary log.

use std::rc::Rc;

use yew::prelude::*;

use super::notes::Closing;
use super::{App, TimelineState};
use crate::client::LogClient;
use crate::files::LogFile;
use crate::open_log::{OpenLog, UpdateEffect};
use crate::ptr_eq::PtrEq;
use crate::viewer::{Control, TimelineEvent, ViewerRef};
use eventlog::ids::Nanos;
use model::time::Interval;
use protocol::LogUpdate;
use session::alignment::{Alignment, Role, Shift, common_alignments, shift};
use session::queries::AnchorsQuery;
use views::notes::Notes;
use views::page_error::{Code, PageError};
use views::panels::COMPARE;
use views::view::compare::CompareView;
use views::view::{Change, PanelLayout, View};

/// The second log of a comparison.
pub(super) struct Other {
    pub(super) role: Role,
    pub(super) client: LogClient,
    pub(super) viewer: ViewerRef,
    pub(super) log: OpenLog,
    pub(super) timeline: TimelineState,
    /// Shift from times of the primary log to times of this one.
    pub(super) shift: Shift,
    /// Notes on this log, while those of the primary log are shown.
    notes: Rc<Notes>,
    /// Notes on this log that are saved, as [`App::saved_notes`].
    saved_notes: Rc<Notes>,
    /// Whether the comparison panel was opened once.
    has_opened_panel: bool,
}

impl App {
    /// Opens a log for comparison with the open one; without a role, the one with the older file is `Before`.
    pub(super) fn open_other(&mut self, ctx: &Context<Self>, file: &LogFile, role: Option<Role>) {
        // Compared logs are not followed: their common range would change all the time.
        self.stop_following(ctx);
        self.close_other(ctx);
        let client = self.client.open(file.live());
        self.install_other_log(ctx, client, file, role);
    }

    /// Installs a loading log as the second log.
    pub(super) fn install_other_log(
        &mut self,
        ctx: &Context<Self>,
        client: LogClient,
        file: &LogFile,
        role: Option<Role>,
    ) {
        let log = OpenLog::default().next(file);
        let earlier = log.modified_ms() < self.log.modified_ms();
        let role = role.unwrap_or(if earlier { Role::Before } else { Role::After });
        let viewer = self.new_viewer(ctx, client.clone());
        self.other = Some(Other {
            role,
            client,
            viewer,
            log,
            timeline: TimelineState::default(),
            shift: Shift::default(),
            notes: Rc::default(),
            saved_notes: Rc::default(),
            has_opened_panel: false,
        });
        self.schedule_address_update(ctx);
    }

    /// Returns the role of the primary log, if two are compared.
    pub(super) fn role(&self) -> Option<Role> {
        self.other.as_ref().map(|other| other.role.other())
    }

    /// Returns the names of the open logs, the earlier one first.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = vec![self.log.name.as_str()];
        if let Some(other) = &self.other {
            let place = usize::from(other.role == Role::After);
            names.insert(place, &other.log.name);
        }
        names
    }

    /// Closes the second log; returns false if there is none.
    pub(super) fn close_other(&mut self, ctx: &Context<Self>) -> bool {
        let Some(other) = self.other.take() else {
            return false;
        };
        if matches!(
            self.dialogs.closing,
            Some(Closing::Compare(_) | Closing::Close(_))
        ) {
            self.dialogs.closing = None;
        }
        self.viewer.unpair();
        other.client.close();
        other.viewer.reset(self.client.no_log());
        self.schedule_address_update(ctx);
        true
    }

    /// Closes the compared log with this role.
    pub(super) fn close_one(&mut self, ctx: &Context<Self>, role: Role) -> bool {
        if self.role() == Some(role) {
            self.exchange(ctx);
        }
        self.close_other(ctx)
    }

    /// Swaps the roles of the two logs.
    pub(super) fn swap_roles(&mut self, ctx: &Context<Self>) -> bool {
        let Some(other) = &mut self.other else {
            return false;
        };
        other.role = other.role.other();
        self.schedule_address_update(ctx);
        true
    }

    /// Exchanges the primary and the second log; visible range and selected range stay.
    pub(super) fn exchange(&mut self, ctx: &Context<Self>) -> bool {
        self.sync_view();
        let Some(other) = &mut self.other else {
            return false;
        };
        std::mem::swap(&mut self.log, &mut other.log);
        std::mem::swap(&mut self.log_client, &mut other.client);
        std::mem::swap(&mut self.viewer, &mut other.viewer);
        std::mem::swap(&mut self.timeline, &mut other.timeline);
        let notes = std::mem::take(&mut other.notes);
        other.notes = Rc::clone(&self.views.view().notes);
        std::mem::swap(&mut self.saved_notes, &mut other.saved_notes);
        other.viewer.set_notes(&Rc::default());
        other.role = other.role.other();
        other.shift = other.shift.inverse();
        self.viewer.set_notes(&notes);
        self.unfreeze_panel();
        self.panel.request = None;
        // Times of the old primary log mean nothing in the new one.
        self.views.set(View {
            selected: None,
            notes,
            ..View::clone(self.views.view())
        });
        self.views.restart();
        self.sync_view();
        self.show_tracks();
        // The panel of items in view has those of the other log.
        self.panel.items = PtrEq::default();
        self.schedule_items_update(ctx);
        self.schedule_address_update(ctx);
        true
    }

    /// Makes the second log the primary one on request of the user, and returns whether it did: a log that is still
    /// being read has nothing to show yet.
    pub(super) fn exchange_if_read(&mut self, ctx: &Context<Self>) -> bool {
        let other = self.other.as_ref();
        let is_read = other.is_some_and(|other| other.log.is_open());
        if !is_read {
            self.dialogs.notice = Some("Wait until both logs are read.".to_owned());
        }
        is_read && self.exchange(ctx)
    }

    /// Returns the notes on the second log, and those that are saved.
    pub(super) fn other_notes(&self) -> Option<(Rc<Notes>, Rc<Notes>)> {
        let other = self.other.as_ref()?;
        Some((Rc::clone(&other.notes), Rc::clone(&other.saved_notes)))
    }

    /// Restores the notes on the second log after it was read again.
    pub(super) fn restore_other_notes(&mut self, (notes, saved): (Rc<Notes>, Rc<Notes>)) {
        if let Some(other) = &mut self.other {
            (other.notes, other.saved_notes) = (notes, saved);
        }
    }

    /// Handles a message of the worker about the second log.
    pub(super) fn on_other_update(&mut self, ctx: &Context<Self>, update: LogUpdate) -> bool {
        let Some(other) = &mut self.other else {
            return false;
        };
        match other.log.apply_update(update) {
            // Compared logs are not followed; an answer from just before may still arrive.
            UpdateEffect::Nothing | UpdateEffect::NotGrown { .. } => return false,
            UpdateEffect::Progress { is_more } => {
                if let Some(overview) = other.log.pending_overview.take().filter(|_| is_more) {
                    other.log.show_overview(*overview);
                    self.show_other();
                }
            }
            UpdateEffect::Loaded => {
                other.client.stop_following();
                self.on_other_loaded(ctx);
            }
            UpdateEffect::MemoryLimit => {
                self.on_other_loaded(ctx);
                self.show_error(PageError::new(Code::ShortOfMemory));
            }
            UpdateEffect::Reloaded | UpdateEffect::Grown | UpdateEffect::Contents => {
                self.panel.names += 1;
                self.show_other();
                self.ask_anchors(ctx);
            }
            UpdateEffect::Failed(code, message) => {
                self.close_other_after_failure(ctx, PageError::with_message(code, message));
            }
        }
        true
    }

    /// Closes the second log after a failure.
    fn close_other_after_failure(&mut self, ctx: &Context<Self>, mut why: PageError) {
        why.file = self.other.as_ref().map(|other| other.log.name.clone());
        self.close_other(ctx);
        self.dialogs.error = Some(why);
    }

    fn on_other_loaded(&mut self, ctx: &Context<Self>) {
        let Some(other) = &self.other else { return };
        if other.log.overview.span.is_none() {
            let why = format!("“{}” has a header but no events.", other.log.name);
            let error = PageError::with_message(Code::NoEvents, why);
            return self.close_other_after_failure(ctx, error);
        }
        self.show_other();
        self.ask_about_logs(ctx);
        self.apply_pending_comparison(ctx);
        self.offer_comparison();
        self.schedule_address_update(ctx);
    }

    /// Opens the comparison panel as soon as both logs are read, unless a link chose the panel.
    pub(super) fn offer_comparison(&mut self) {
        let both = self.log.is_open() && self.other.as_ref().is_some_and(|it| it.log.is_open());
        let Some(other) = self
            .other
            .as_mut()
            .filter(|it| both && !it.has_opened_panel)
        else {
            return;
        };
        other.has_opened_panel = true;
        let view = self.views.edit();
        view.panel = COMPARE;
        view.room = view.room.shown_with(PanelLayout::Timeline);
    }

    /// Keeps the panel of a link instead of opening the comparison.
    pub(super) fn keep_panel(&mut self) {
        if let Some(other) = &mut self.other {
            other.has_opened_panel = true;
        }
    }

    /// Queries threads, usage and alignment anchors of the open logs.
    pub(super) fn ask_about_logs(&self, ctx: &Context<Self>) {
        self.ask_threads(ctx);
        self.ask_usage(ctx);
        self.ask_anchors(ctx);
    }

    /// Queries the alignment anchors of each of two logs that is read.
    pub(super) fn ask_anchors(&self, ctx: &Context<Self>) {
        let Some(other) = &self.other else { return };
        let logs = [(&self.log_client, &self.log), (&other.client, &other.log)];
        for (client, _) in logs.into_iter().filter(|(_, log)| log.is_open()) {
            self.ask_of(client, ctx, AnchorsQuery, |app, _, (client, anchors)| {
                if let Some((log, _)) = app.log_of_client(&client) {
                    log.anchors = anchors;
                    app.align();
                }
                true
            });
        }
    }

    /// Returns the log and timeline of a client, if its log is still open.
    pub(super) fn log_of_client(
        &mut self,
        client: &LogClient,
    ) -> Option<(&mut OpenLog, &mut TimelineState)> {
        if self.log_client == *client {
            return Some((&mut self.log, &mut self.timeline));
        }
        let other = self
            .other
            .as_mut()
            .filter(|other| other.client == *client)?;
        Some((&mut other.log, &mut other.timeline))
    }

    /// Passes the current overview of the second log to its timeline.
    pub(super) fn show_other(&mut self) {
        let Some(other) = &self.other else { return };
        other.log.show_in(&other.viewer);
        self.align();
        self.show_tracks();
    }

    /// Aligns both timelines as the view says, so that they move together.
    pub(super) fn align(&mut self) {
        let at = self.views.view().settings.get::<CompareView>().align;
        let Some(other) = &mut self.other else { return };
        let spans = (self.log.overview.span, other.log.overview.span);
        let (Some(own), Some(other_span)) = spans else {
            return;
        };
        other.shift = shift(
            &at,
            (own, &self.log.anchors),
            (other_span, &other.log.anchors),
        );
        self.viewer
            .pair(own, (&other.viewer, other_span), other.shift);
    }

    /// Returns the anchors that both logs have in common, besides their starts.
    pub(super) fn common_anchors(&self) -> Vec<Alignment> {
        let other = self.other.as_ref();
        other.map_or_else(Vec::new, |other| {
            common_alignments(&self.log.anchors, &other.log.anchors)
        })
    }

    /// Changes the alignment of the two logs.
    pub(super) fn align_at(&mut self, ctx: &Context<Self>, align: Alignment) -> bool {
        let view = self.views.view().settings.get::<CompareView>();
        self.change(ctx, Change::settings(CompareView { align, ..view }))
    }

    /// Handles an event of the second log's timeline.
    pub(super) fn on_other_timeline_event(
        &mut self,
        ctx: &Context<Self>,
        event: TimelineEvent,
    ) -> bool {
        let Some(other) = &mut self.other else {
            return false;
        };
        match other.timeline.receive(event) {
            Ok(is_changed) => is_changed,
            Err(TimelineEvent::BandClicked(key)) => self.pin_band(ctx, &key),
            // The primary timeline moves along and reports the change itself, except for the end of a drag here.
            Err(TimelineEvent::ViewChanged) => !self.is_dragging() && self.unfreeze_panel(),
            Err(_) => false,
        }
    }

    /// Returns whether a drag is in progress on a timeline.
    pub(super) fn is_dragging(&self) -> bool {
        self.viewers()
            .any(|viewer| viewer.read(Control::is_dragging))
    }

    /// Returns whether the target item of a navigation is still to be selected.
    pub(super) fn awaits_item(&self) -> bool {
        self.viewers()
            .any(|viewer| viewer.read(Control::awaits_item))
    }

    /// Returns the timeline with the keyboard focus, and the shift from its times to those of the primary log.
    pub(super) fn focused(&self) -> (&ViewerRef, Shift) {
        let own = (&self.viewer, Shift::default());
        let Some(other) = &self.other else { return own };
        let active = gloo_utils::document().active_element();
        let timeline = active.and_then(|at| at.closest("[data-viewer]").ok().flatten());
        let number = timeline.and_then(|timeline| timeline.get_attribute("data-viewer"));
        if number == Some(other.viewer.number().0.to_string()) {
            (&other.viewer, other.shift.inverse())
        } else {
            own
        }
    }

    /// Makes the log with this role the primary one, then changes the view.
    pub(super) fn switch_log(
        &mut self,
        ctx: &Context<Self>,
        (role, change): (Role, Change),
    ) -> bool {
        let is_there = self.role() == Some(role);
        if !is_there && !self.exchange_if_read(ctx) {
            return true;
        }
        self.change(ctx, change) || !is_there
    }

    /// Returns the hull of the spans of all open logs, on the time axis of the primary log.
    pub(super) fn combined_span(&self) -> Option<Interval> {
        let own = self.log.overview.span?;
        let other = self.other.as_ref();
        let other_span =
            other.and_then(|other| Some((other.shift.inverse(), other.log.overview.span?)));
        let other_span = other_span.and_then(|(shift, span)| {
            let start = shift.time(span.start()).unwrap_or(Nanos(0));
            Some(Interval::new(start, shift.time(span.end())?))
        });
        Some(other_span.map_or(own, |other_span| own.hull(other_span)))
    }
}
