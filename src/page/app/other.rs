//! The second log: it is shown beside the one that the panels are about, on a timeline of
//! its own with the same zoom.

use std::rc::Rc;

use yew::prelude::*;

use super::{App, TimelineState};
use crate::client::LogClient;
use crate::files::LogFile;
use crate::open_log::{Heard, OpenLog};
use crate::viewer::{Control, Goto, Place, TimelineEvent, ViewerRef};
use eventlog::ids::Nanos;
use model::time::Interval;
use protocol::News;
use session::alignment::{Alignment, Role, Shift, common, shift};
use session::questions::AnchorsQuery;
use session::tracks::details::FlameTarget;
use views::notes::Notes;
use views::panels::COMPARE;
use views::trouble::{Code, Trouble};
use views::view::compare::CompareView;
use views::view::{Change, PanelLayout, View};

/// The log beside the one that the panels are about.
pub(super) struct Other {
    pub(super) role: Role,
    pub(super) client: LogClient,
    pub(super) viewer: ViewerRef,
    pub(super) log: OpenLog,
    pub(super) timeline: TimelineState,
    /// What is added to a time of the log of the panels to have that of this one.
    pub(super) shift: Shift,
    /// The notes on it, while those of the log of the panels are shown.
    notes: Rc<Notes>,
    /// Whether the panel that compares was opened.
    is_offered: bool,
}

impl App {
    /// Opens a log beside the one that is open; without a role, the one that was changed
    /// earlier is the one before.
    pub(super) fn open_beside(&mut self, ctx: &Context<Self>, file: &LogFile, role: Option<Role>) {
        // Of two logs none is followed: what they have in common would change all the time.
        self.stop_following(ctx);
        self.close_other(ctx, ());
        let client = self.client.open(file.live());
        self.begin_beside(ctx, client, file, role);
    }

    /// Shows a log that is being opened beside the one that is open.
    pub(super) fn begin_beside(
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
            is_offered: false,
        });
        self.will_settle(ctx);
    }

    /// What the log of the panels is, if there are two.
    pub(super) fn role(&self) -> Option<Role> {
        self.other.as_ref().map(|other| other.role.other())
    }

    /// What the open log is called, or both, the one before first.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = vec![self.log.name.as_str()];
        if let Some(other) = &self.other {
            let place = usize::from(other.role == Role::After);
            names.insert(place, &other.log.name);
        }
        names
    }

    /// Closes the log that the panels are not about.
    pub(super) fn close_other(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let Some(other) = self.other.take() else {
            return false;
        };
        self.viewer.part();
        other.client.close();
        other.viewer.reset(self.client.no_log());
        self.will_settle(ctx);
        true
    }

    /// Closes the log with that role.
    pub(super) fn close_one(&mut self, ctx: &Context<Self>, role: Role) -> bool {
        if self.role() == Some(role) {
            self.exchange(ctx);
        }
        self.close_other(ctx, ())
    }

    /// What was before counts as after, and the other way round.
    pub(super) fn swap_roles(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let Some(other) = &mut self.other else {
            return false;
        };
        other.role = other.role.other();
        self.will_settle(ctx);
        true
    }

    /// Has the panels be about the other log. What is in view and selected stays.
    pub(super) fn exchange(&mut self, ctx: &Context<Self>) -> bool {
        self.look();
        let Some(other) = &mut self.other else {
            return false;
        };
        std::mem::swap(&mut self.log, &mut other.log);
        std::mem::swap(&mut self.log_client, &mut other.client);
        std::mem::swap(&mut self.viewer, &mut other.viewer);
        std::mem::swap(&mut self.timeline, &mut other.timeline);
        let notes = std::mem::take(&mut other.notes);
        other.notes = Rc::clone(&self.views.view().notes);
        other.viewer.set_notes(&Rc::default());
        other.role = other.role.other();
        other.shift = other.shift.back();
        self.viewer.set_notes(&notes);
        self.panel_follows();
        self.panel.wish = None;
        // Times of the log before mean nothing in this one.
        self.views.set(View {
            selected: None,
            notes,
            ..View::clone(self.views.view())
        });
        self.views.restart();
        self.look();
        self.show_tracks();
        self.will_settle(ctx);
        true
    }

    /// The worker says something about the other log.
    pub(super) fn hear_other(&mut self, ctx: &Context<Self>, news: News) -> bool {
        let Some(other) = &mut self.other else {
            return false;
        };
        match other.log.hear(news) {
            // Of two logs none is followed; it may have been a moment before.
            Heard::Nothing | Heard::NotGrown { .. } => return false,
            Heard::Progress { is_more } => {
                if let Some(overview) = other.log.next_overview.take().filter(|_| is_more) {
                    other.log.show(*overview);
                    self.show_other();
                }
            }
            Heard::Loaded => {
                other.client.settle();
                self.other_loaded(ctx);
            }
            Heard::Short => {
                self.other_loaded(ctx);
                self.fail(Trouble::new(Code::ShortOfMemory));
            }
            Heard::Again | Heard::Grown | Heard::Contents => {
                self.panel.names += 1;
                self.show_other();
            }
            Heard::Failed(code, message) => {
                self.close_other(ctx, ());
                self.dialogs.trouble = Some(Trouble::saying(code, message));
            }
        }
        true
    }

    fn other_loaded(&mut self, ctx: &Context<Self>) {
        let Some(other) = &self.other else { return };
        if other.log.overview.span.is_none() {
            let name = other.log.name.clone();
            self.close_other(ctx, ());
            let why = format!("“{name}” has a header but no events.");
            self.dialogs.trouble = Some(Trouble::saying(Code::NoEvents, why));
            return;
        }
        self.show_other();
        self.ask_about_both(ctx);
        self.follow_pair_link(ctx);
        self.offer_comparison();
        self.will_settle(ctx);
    }

    /// Opens the panel that compares as soon as both logs are read, unless a link says
    /// which panel is open.
    pub(super) fn offer_comparison(&mut self) {
        let both = self.log.is_open() && self.other.as_ref().is_some_and(|it| it.log.is_open());
        let Some(other) = self.other.as_mut().filter(|it| both && !it.is_offered) else {
            return;
        };
        other.is_offered = true;
        let view = self.views.edit();
        view.panel = COMPARE;
        view.room = view.room.beside(PanelLayout::Timeline);
    }

    /// Shows the panel that a link says, not the one that compares.
    pub(super) fn keep_panel(&mut self) {
        if let Some(other) = &mut self.other {
            other.is_offered = true;
        }
    }

    /// Asks for what the timelines of both logs show beside their marks.
    fn ask_about_both(&self, ctx: &Context<Self>) {
        self.ask_threads(ctx);
        self.ask_usage(ctx);
        let clients = [
            Some(&self.log_client),
            self.other.as_ref().map(|it| &it.client),
        ];
        for client in clients.into_iter().flatten() {
            self.ask_of(client, ctx, AnchorsQuery, |app, _, (client, anchors)| {
                if let Some((log, _)) = app.side(&client) {
                    log.anchors = anchors;
                    app.align();
                }
                true
            });
        }
    }

    /// The log that somebody was asked about, if it is open still, and its timeline.
    pub(super) fn side(
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

    /// Gives the timeline of the other log what is known of it.
    pub(super) fn show_other(&mut self) {
        let Some(other) = &self.other else { return };
        other.log.give(&other.viewer);
        self.align();
        self.show_tracks();
    }

    /// Has both timelines show the same, aligned as the view says.
    pub(super) fn align(&mut self) {
        let at = self.views.view().settings.get::<CompareView>().align;
        let Some(other) = &mut self.other else { return };
        let spans = (self.log.overview.span, other.log.overview.span);
        let (Some(own), Some(beside)) = spans else {
            return;
        };
        other.shift = shift(&at, (own, &self.log.anchors), (beside, &other.log.anchors));
        self.viewer.pair(own, (&other.viewer, beside), other.shift);
    }

    /// Where both logs can be aligned, but for their starts.
    pub(super) fn common_anchors(&self) -> Vec<Alignment> {
        let other = self.other.as_ref();
        other.map_or_else(Vec::new, |other| {
            common(&self.log.anchors, &other.log.anchors)
        })
    }

    /// Aligns both logs otherwise.
    pub(super) fn align_at(&mut self, ctx: &Context<Self>, align: Alignment) -> bool {
        let view = self.views.view().settings.get::<CompareView>();
        self.change(ctx, Change::settings(CompareView { align, ..view }))
    }

    /// The timeline of the other log says something.
    pub(super) fn told_by_other(&mut self, ctx: &Context<Self>, told: TimelineEvent) -> bool {
        let Some(other) = &mut self.other else {
            return false;
        };
        let timeline = &mut other.timeline;
        match told {
            TimelineEvent::Described(description) => {
                let changed = timeline.description != description;
                timeline.description = description;
                changed
            }
            TimelineEvent::Pinned(pinned) => {
                let changed = timeline.pinned != pinned;
                timeline.pinned = pinned;
                changed
            }
            TimelineEvent::Band(key) => self.pin_band(ctx, &key),
            TimelineEvent::Seen(seen) => {
                timeline.seen = seen;
                true
            }
            TimelineEvent::Current(track) => {
                timeline.track = track;
                true
            }
            // The timeline of the panels shows the same, and says so itself, but for the
            // end of a drag here.
            TimelineEvent::Changed => !self.is_dragging() && self.panel_follows(),
            _ => false,
        }
    }

    /// Whether something is dragged on a timeline.
    pub(super) fn is_dragging(&self) -> bool {
        self.any_timeline(Control::is_dragging)
    }

    /// Whether something that was gone to is still to be selected.
    pub(super) fn awaits_item(&self) -> bool {
        self.any_timeline(Control::awaits_item)
    }

    fn any_timeline(&self, is: fn(&Control) -> bool) -> bool {
        let other = self.other.as_ref().map(|other| &other.viewer);
        let mut viewers = std::iter::once(&self.viewer).chain(other);
        viewers.any(|viewer| viewer.read(is))
    }

    /// The timeline that the keyboard is on, and what is added to its times to have those of
    /// the log of the panels.
    pub(super) fn focused(&self) -> (&ViewerRef, Shift) {
        let own = (&self.viewer, Shift::default());
        let Some(other) = &self.other else { return own };
        let active = gloo_utils::document().active_element();
        let timeline = active.and_then(|at| at.closest("[data-viewer]").ok().flatten());
        let number = timeline.and_then(|timeline| timeline.get_attribute("data-viewer"));
        if number == Some(other.viewer.number().0.to_string()) {
            (&other.viewer, other.shift.back())
        } else {
            own
        }
    }

    /// Shows something on the timeline of the other log.
    pub(super) fn goto_other(&mut self, _: &Context<Self>, goto: Goto) -> bool {
        if let Some(other) = &self.other {
            other.viewer.act(|control| control.goto(goto));
        }
        true
    }

    /// Has the panels be about the log with a role, and changes the view.
    pub(super) fn lead(&mut self, ctx: &Context<Self>, (role, change): (Role, Change)) -> bool {
        let is_there = self.role() == Some(role);
        let exchanged = !is_there && self.exchange(ctx);
        self.change(ctx, change) || exchanged
    }

    /// Opens the flame graph of the other log with the track of a call or a sample.
    pub(super) fn show_other_in_flame(&mut self, ctx: &Context<Self>, target: FlameTarget) -> bool {
        self.exchange(ctx);
        self.show_in_flame(ctx, target)
    }

    /// Shows an event of the other log in the list of all.
    pub(super) fn show_event_of_other(&mut self, ctx: &Context<Self>, place: Place) -> bool {
        self.exchange(ctx);
        self.show_event(ctx, place)
    }

    /// The details of what was clicked in the other log do not stay open.
    pub(super) fn unpin_other(&mut self, _: &Context<Self>, (): ()) -> bool {
        if let Some(other) = &self.other {
            other.viewer.act(Control::pin_details);
        }
        false
    }

    /// All wakeups of the thread that was clicked in the other log are shown, or no longer.
    pub(super) fn show_all_wakeups_of_other(&mut self, _: &Context<Self>, (): ()) -> bool {
        if let Some(other) = &self.other {
            other.viewer.act(Control::show_all_wakeups);
        }
        false
    }

    /// The times that there are to see, on the axis of the log of the panels.
    pub(super) fn reach(&self) -> Option<Interval> {
        let own = self.log.overview.span?;
        let other = self.other.as_ref();
        let beside = other.and_then(|other| Some((other.shift.back(), other.log.overview.span?)));
        let beside = beside.and_then(|(shift, span)| {
            let start = shift.time(span.start()).unwrap_or(Nanos(0));
            Some(Interval::new(start, shift.time(span.end())?))
        });
        Some(beside.map_or(own, |beside| own.hull(beside)))
    }
}
