//! Shared callbacks of child components, created once: Yew skips rendering a component whose props, callbacks
//! included, are unchanged.

use yew::prelude::*;

use super::App;
use crate::update::callback;
use crate::viewer::{ClickPosition, NavigationTarget};
use scene::viewport;
use session::alignment::Role;
use session::tracks::details::FlameTarget;
use views::actions::Action;
use views::timeline::arrange::TrackChange;
use views::view::Change;
use views::view::panel::PanelName;

/// Callbacks that child components get as props.
pub(super) struct Callbacks {
    pub(super) change: Callback<Change>,
    pub(super) panel: Callback<PanelName>,
    pub(super) tracks: Callback<TrackChange>,
    pub(super) filter: Callback<String>,
    pub(super) goto: Callback<NavigationTarget>,
    pub(super) goto_other: Callback<NavigationTarget>,
    pub(super) switch_log: Callback<(Role, Change)>,
    pub(super) flame_other: Callback<FlameTarget>,
    pub(super) event_other: Callback<ClickPosition>,
    pub(super) unpin_other: Callback<()>,
    pub(super) wakeups_other: Callback<()>,
    pub(super) flame: Callback<FlameTarget>,
    pub(super) event: Callback<ClickPosition>,
    pub(super) unpin: Callback<()>,
    pub(super) wakeups: Callback<()>,
    pub(super) axis_change: Callback<viewport::ViewPosition>,
    pub(super) action: Callback<Action>,
    pub(super) diagnostics: Callback<()>,
    pub(super) cancel: Callback<()>,
    pub(super) drop_selection: Callback<MouseEvent>,
}

impl Callbacks {
    pub(super) fn new(ctx: &Context<App>) -> Self {
        let change = callback(ctx, App::change);
        Self {
            panel: change.reform(Change::panel),
            tracks: change.reform(Change::tracks),
            change,
            filter: callback(ctx, App::filter_tracks),
            goto: callback(ctx, App::goto),
            goto_other: callback(ctx, App::goto_other),
            switch_log: callback(ctx, App::switch_log),
            flame_other: callback(ctx, App::show_other_in_flame),
            event_other: callback(ctx, App::show_event_of_other),
            unpin_other: callback(ctx, App::unpin_other),
            wakeups_other: callback(ctx, App::show_all_wakeups_of_other),
            flame: callback(ctx, App::show_in_flame),
            event: callback(ctx, App::show_event),
            unpin: callback(ctx, App::unpin),
            wakeups: callback(ctx, App::show_all_wakeups),
            axis_change: callback(ctx, App::move_axis),
            action: callback(ctx, App::perform),
            diagnostics: callback(ctx, App::show_diagnostics),
            cancel: callback(ctx, App::cancel),
            drop_selection: callback(ctx, App::drop_selection).reform(|_: MouseEvent| ()),
        }
    }
}
