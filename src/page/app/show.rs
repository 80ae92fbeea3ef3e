//! Changes of the view, its history, and navigation.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::App;
use crate::link;
use crate::panel::PanelRequest;
use crate::ptr_eq::PtrEq;
use crate::theme;
use crate::update::update_after;
use crate::viewer::{ClickPosition, Control, NavigationTarget};
use model::time::Interval;
use scene::viewport;
use session::tracks::TrackId;
use session::tracks::details::FlameTarget;
use session::tracks::name::TrackName;
use views::heap::settings::HeapView;
use views::panels::{EVENTS, FLAME_GRAPH, IN_VIEW, PROCESS};
use views::view::compare::CompareView;
use views::view::flame::{FlameOrder, FlameView};
use views::view::{Change, PanelLayout, View};

/// Delay after the last change before the table of items in view is updated.
const ITEMS_DELAY_MS: u32 = 120;
/// Update interval of the panel while a range is dragged: slow enough to read its numbers. The timeline itself
/// follows the pointer in each frame.
const RANGE_MS: u32 = 150;

impl App {
    /// Updates the view with the state that only the timeline has while it moves: visible time, selected range and
    /// item.
    pub(super) fn sync_view(&mut self) {
        let contents = &self.log.overview.contents;
        let view = View {
            visible: self.viewer.read(Control::visible),
            selection: self.viewer.read(Control::range),
            selected: link::selected(self.viewer.read(Control::selected_or_pending), contents),
            ..View::clone(self.views.view())
        };
        self.views.set(view);
    }

    /// Handles a changed range selection. During a drag the panel is updated at intervals of [`RANGE_MS`].
    pub(super) fn range_changed(&mut self, ctx: &Context<Self>, range: Option<Interval>) {
        if self.is_dragging() {
            let seen = self.views.view();
            self.panel
                .frozen_view
                .get_or_insert_with(|| Rc::clone(seen));
            self.timers.range.get_or_insert_with(|| {
                update_after(ctx, RANGE_MS, |app, _, ()| app.unfreeze_panel())
            });
        } else {
            self.unfreeze_panel();
        }
        self.views.edit().selection = range;
    }

    /// Gives the panel the current view; returns false if it had it already.
    pub(super) fn unfreeze_panel(&mut self) -> bool {
        self.timers.range = None;
        self.panel.frozen_view.take().is_some()
    }

    /// Applies a change to the view; returns false if the view stays the same.
    pub(super) fn change(&mut self, ctx: &Context<Self>, change: Change) -> bool {
        self.sync_view();
        let layout = self.timeline.layout.clone();
        let (viewer, shift) = self.focused();
        let track = viewer.read(|control| control.track().cloned());
        let item = viewer.read(Control::selected).map(|(_, span)| span);
        let item = item.and_then(|span| {
            let start = shift.time(span.start())?;
            Some(Interval::new(start, shift.time(span.end())?))
        });
        let context = views::view::Context {
            layout: &layout,
            track: track.as_ref(),
            item,
        };
        let view = change.apply(self.views.view(), &context);
        self.show(ctx, view)
    }

    /// Shows a view; returns false if it is shown already.
    pub(super) fn show(&mut self, ctx: &Context<Self>, view: View) -> bool {
        let before = self.views.view().clone();
        if *before == view {
            return false;
        }
        self.views.set(view);
        self.unfreeze_panel();
        let view = self.views.view().clone();
        if view.tracks != before.tracks {
            self.client.set_span_prefixes(&view.tracks.prefixes);
            self.show_tracks();
            let (now, then) = (&view.tracks, &before.tracks);
            if (&now.filter, now.threads) != (&then.filter, then.threads) {
                self.ask_threads(ctx);
            } else if now.pinned != then.pinned {
                self.ask_pinned_threads(ctx);
            }
        }
        let choice = |view: &View| view.settings.get::<HeapView>().choice;
        if choice(&view) != choice(&before) {
            for viewer in self.viewers() {
                viewer.edit(|control| control.set_heap(&choice(&view)));
            }
        }
        let align = |view: &View| view.settings.get::<CompareView>().align;
        if align(&view) != align(&before) {
            self.align();
        }
        if view.notes != before.notes {
            self.viewer.set_notes(&view.notes);
            self.panel.request = None;
        }
        if (view.visible, view.selection) != (before.visible, before.selection)
            || view.selected != before.selected
        {
            let item = link::item(&view, &self.log.overview.contents);
            self.viewer
                .act(|control| control.show_view(view.visible, view.selection, item));
        }
        if (view.panel, view.room) != (before.panel, before.room) {
            self.panel.request = None;
            self.close_covering_details();
            self.schedule_items_update(ctx);
        }
        self.schedule_address_update(ctx);
        true
    }

    /// Toggles whether the clicked band of the heap profile is pinned.
    pub(super) fn pin_band(&mut self, ctx: &Context<Self>, key: &str) -> bool {
        let mut heap = self.views.view().settings.get::<HeapView>();
        heap.pin(key);
        self.change(ctx, Change::settings(heap))
    }

    /// Closes the pinned details in a narrow window, where they cover the panel; returns whether there were any.
    pub(super) fn close_covering_details(&mut self) -> bool {
        if !theme::media_matches("(max-width: 760px)") {
            return false;
        }
        let mut is_closed = false;
        let own = (&self.viewer, &mut self.timeline);
        let other = self.other.as_mut();
        let other = other.map(|other| (&other.viewer, &mut other.timeline));
        for (viewer, timeline) in std::iter::once(own).chain(other) {
            if timeline.pinned.take().is_some() {
                viewer.act(Control::pin_details);
                is_closed = true;
            }
        }
        is_closed
    }

    /// Moves the timeline to the time range of a panel that shares its axis.
    pub(super) fn move_axis(&mut self, _: &Context<Self>, place: viewport::ViewPosition) -> bool {
        self.viewer.act(|control| control.show_position(place));
        false
    }

    /// Goes back or forward in the view history.
    pub(super) fn step_history(&mut self, ctx: &Context<Self>, back: bool) -> bool {
        self.sync_view();
        let view = if back {
            self.views.back()
        } else {
            self.views.forward()
        };
        view.is_some_and(|view| self.show(ctx, view))
    }

    /// Schedules an update of the table of items in view, if it is open.
    pub(super) fn schedule_items_update(&mut self, ctx: &Context<Self>) {
        if self.views.view().panel == IN_VIEW {
            self.timers.items = Some(update_after(ctx, ITEMS_DELAY_MS, Self::update_items));
        }
    }

    fn update_items(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.timers.items = None;
        self.panel.items = PtrEq::new(self.viewer.read(Control::visible_items));
        true
    }

    /// Navigates on the timeline to what was clicked in a panel. Filters for a thread that has no track; reveals a
    /// hidden or folded track.
    pub(super) fn goto(&mut self, ctx: &Context<Self>, goto: NavigationTarget) -> bool {
        self.views.edit().room = self.views.view().room.shown_with(PanelLayout::Panel);
        if let Some(thread) = goto.track.and_then(TrackId::thread)
            && self.log.threads.iter().all(|row| row.id != thread)
        {
            self.timeline.goto_when_listed = Some(goto);
            return self.filter_tracks(ctx, format!("#{thread}"));
        }
        let layout = &self.timeline.layout;
        let hidden = goto.track.filter(|track| layout.find(*track).is_none());
        let reached = hidden.and_then(|row| {
            let mut tracks = self.all_tracks().into_iter();
            tracks.find(|track| track.row == row)
        });
        if let Some(track) = reached {
            self.reveal(ctx, &track);
            // Deferred until the page has rendered the track.
            let viewer = self.viewer.clone();
            Timeout::new(0, move || viewer.act(|control| control.navigate(goto))).forget();
        } else {
            self.viewer.act(|control| control.navigate(goto));
        }
        true
    }

    pub(super) fn filter_tracks(&mut self, ctx: &Context<Self>, filter: String) -> bool {
        self.change(
            ctx,
            Change::new(|mut view, _| {
                view.tracks.filter = filter;
                view
            }),
        )
    }

    /// Clears the selected range and tracks.
    pub(super) fn drop_selection(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.change(
            ctx,
            Change::new(|mut view, _| {
                view.selection = None;
                view.tracks.selected.clear();
                view
            }),
        )
    }

    /// Opens the flame graph in time order with the track of a call or sample, and selects its box. Clears a selected
    /// range that does not contain it.
    pub(super) fn show_in_flame(&mut self, ctx: &Context<Self>, target: FlameTarget) -> bool {
        let FlameTarget { source, track, at } = target;
        self.change(
            ctx,
            Change::new(move |view, _| {
                let flame = view.settings.get::<FlameView>();
                let flame = FlameView {
                    order: FlameOrder::Time,
                    source: Some(source),
                    before: None,
                    tracks: TrackName::new(track.name()).unwrap_or(flame.tracks),
                    ..flame
                };
                let inside = |range: &Interval| range.start() <= at && at <= range.end();
                View {
                    selection: view.selection.filter(inside),
                    ..view.with_settings(flame).with_panel(FLAME_GRAPH)
                }
            }),
        );
        self.request_panel(PanelRequest::Flame(track, at));
        true
    }

    /// Opens the event list at an event.
    pub(super) fn show_event(&mut self, ctx: &Context<Self>, place: ClickPosition) -> bool {
        self.timeline.clicked = Some(place);
        self.change(ctx, Change::panel(EVENTS));
        true
    }

    /// Opens the list of diagnostics in the process panel.
    pub(super) fn show_diagnostics(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.change(ctx, Change::panel(PROCESS));
        self.request_panel(PanelRequest::Diagnostics);
        true
    }
}
