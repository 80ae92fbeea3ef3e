//! The view: it changes through functions from view to view, and can be gone back from.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::App;
use crate::link;
use crate::panel::PanelRequest;
use crate::ptr_eq::PtrEq;
use crate::theme;
use crate::update::after;
use crate::viewer::{Control, Goto, Place};
use model::time::Interval;
use scene::viewport;
use session::tracks::Row;
use session::tracks::details::FlameTarget;
use session::tracks::name::TrackName;
use views::heap::settings::HeapView;
use views::panels::{EVENTS, FLAME_GRAPH, IN_VIEW, PROCESS};
use views::view::compare::CompareView;
use views::view::flame::{FlameOrder, FlameView};
use views::view::{Change, PanelLayout, View};

/// How long after the last change the table of what is in view follows.
const FOLLOW_MS: u32 = 120;
/// How often the panel follows a range that is dragged: its numbers can be read,
/// and the timeline follows the pointer with each frame.
const RANGE_MS: u32 = 150;

impl App {
    /// Takes over from the timeline what it alone knows while it moves.
    pub(super) fn look(&mut self) {
        let contents = &self.log.overview.contents;
        let view = View {
            visible: self.viewer.read(Control::visible),
            selection: self.viewer.read(Control::range),
            selected: link::selected(self.viewer.read(Control::selected), contents),
            ..View::clone(self.views.view())
        };
        self.views.set(view);
    }

    /// Another range is selected. While it is dragged, the panel follows now
    /// and then.
    pub(super) fn range_changed(&mut self, ctx: &Context<Self>, range: Option<Interval>) {
        if self.is_dragging() {
            let seen = self.views.view();
            self.panel.held.get_or_insert_with(|| Rc::clone(seen));
            self.pauses
                .range
                .get_or_insert_with(|| after(ctx, RANGE_MS, |app, _, ()| app.panel_follows()));
        } else {
            self.panel_follows();
        }
        self.views.edit().selection = range;
    }

    /// The panel has the view of now; false if it had it before.
    pub(super) fn panel_follows(&mut self) -> bool {
        self.pauses.range = None;
        self.panel.held.take().is_some()
    }

    /// Changes the view; false if it stays as it is.
    pub(super) fn change(&mut self, ctx: &Context<Self>, change: Change) -> bool {
        self.look();
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

    /// Shows a view; false if it is shown already.
    pub(super) fn show(&mut self, ctx: &Context<Self>, view: View) -> bool {
        let before = self.views.view().clone();
        if *before == view {
            return false;
        }
        self.views.set(view);
        self.panel_follows();
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
            let other = self.other.as_ref().map(|other| &other.viewer);
            for viewer in std::iter::once(&self.viewer).chain(other) {
                viewer.act(|control| {
                    control.set_heap(&choice(&view));
                    None
                });
            }
        }
        let align = |view: &View| view.settings.get::<CompareView>().align;
        if align(&view) != align(&before) {
            self.align();
        }
        if view.notes != before.notes {
            self.viewer.set_notes(&view.notes);
            self.panel.wish = None;
        }
        if (view.visible, view.selection) != (before.visible, before.selection)
            || view.selected != before.selected
        {
            let item = link::item(&view, &self.log.overview.contents);
            self.viewer
                .act(|control| control.show_view(view.visible, view.selection, item));
        }
        if (view.panel, view.room) != (before.panel, before.room) {
            self.panel.wish = None;
            self.uncover_panel();
            self.will_follow(ctx);
        }
        self.will_settle(ctx);
        true
    }

    /// Follows a band of a heap profile that was clicked, or no longer.
    pub(super) fn pin_band(&mut self, ctx: &Context<Self>, key: &str) -> bool {
        let mut heap = self.views.view().settings.get::<HeapView>();
        heap.pin(key);
        self.change(ctx, Change::settings(heap))
    }

    /// In a narrow window the details stand in place of the panel: they give way to it.
    pub(super) fn uncover_panel(&mut self) {
        if theme::holds("(max-width: 760px)") && self.timeline.pinned.take().is_some() {
            self.viewer.act(Control::pin_details);
        }
    }

    /// The timeline shows what a panel with its axis shows.
    pub(super) fn show_place(&mut self, _: &Context<Self>, place: viewport::Place) -> bool {
        self.viewer.act(|control| control.show_place(place));
        false
    }

    /// Goes to the view before this one, or to the one that was left.
    pub(super) fn travel(&mut self, ctx: &Context<Self>, back: bool) -> bool {
        self.look();
        let view = if back {
            self.views.back()
        } else {
            self.views.forward()
        };
        view.is_some_and(|view| self.show(ctx, view))
    }

    /// The table of what is in view follows when it can be seen.
    pub(super) fn will_follow(&mut self, ctx: &Context<Self>) {
        if self.views.view().panel == IN_VIEW {
            self.pauses.follow = Some(after(ctx, FOLLOW_MS, Self::follow_timeline));
        }
    }

    fn follow_timeline(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.pauses.follow = None;
        self.panel.items = PtrEq::new(self.viewer.read(Control::visible_items));
        true
    }

    /// Shows on the timeline what was clicked in a panel. A thread that is
    /// not among its tracks is filtered for, a track that is hidden or folded away shown.
    pub(super) fn goto(&mut self, ctx: &Context<Self>, goto: Goto) -> bool {
        self.views.edit().room = self.views.view().room.beside(PanelLayout::Panel);
        if let Some(thread) = goto.row.and_then(Row::thread)
            && self.log.threads.iter().all(|row| row.id != thread)
        {
            self.timeline.goto_when_listed = Some(goto);
            return self.filter_tracks(ctx, format!("#{thread}"));
        }
        let layout = &self.timeline.layout;
        let hidden = goto.row.filter(|row| layout.find(*row).is_none());
        let reached = hidden.and_then(|row| {
            let mut tracks = self.all_tracks().into_iter();
            tracks.find(|track| track.row == row)
        });
        if let Some(track) = reached {
            self.reveal(ctx, &track);
            // When the page has been rendered with the track in it.
            let viewer = self.viewer.clone();
            Timeout::new(0, move || viewer.act(|control| control.goto(goto))).forget();
        } else {
            self.viewer.act(|control| control.goto(goto));
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

    /// Selects no range and no tracks any more.
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

    /// Opens the flame graph with the track of a call or a sample, in the
    /// order of time, and selects its box there. A selected range without it
    /// is dropped.
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
        self.wish(PanelRequest::Flame(track, at));
        true
    }

    /// Shows an event in the list of all.
    pub(super) fn show_event(&mut self, ctx: &Context<Self>, place: Place) -> bool {
        self.timeline.place = Some(place);
        self.change(ctx, Change::panel(EVENTS));
        true
    }

    /// Shows all that is wrong or odd about the log.
    pub(super) fn show_diagnostics(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.change(ctx, Change::panel(PROCESS));
        self.wish(PanelRequest::Diagnostics);
        true
    }
}
