//! Shared callbacks of child components, created once: Yew skips rendering a component whose props, callbacks
//! included, are unchanged.

use yew::prelude::*;

use super::App;
use crate::details::CardAction;
use crate::update::callback;
use crate::viewer::{NavigationTarget, ViewerNumber};
use scene::viewport;
use session::alignment::Role;
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
    pub(super) switch_log: Callback<(Role, Change)>,
    pub(super) card: Callback<(ViewerNumber, CardAction)>,
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
            switch_log: callback(ctx, App::switch_log),
            card: callback(ctx, App::on_card_action),
            axis_change: callback(ctx, App::move_axis),
            action: callback(ctx, App::perform),
            diagnostics: callback(ctx, App::show_diagnostics),
            cancel: callback(ctx, App::cancel),
            drop_selection: callback(ctx, App::drop_selection).reform(|_: MouseEvent| ()),
        }
    }
}
