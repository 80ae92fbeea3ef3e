//! From an item of the timeline to its box in the flame graph.

use yew::prelude::*;

use super::App;
use crate::ui::flame::Shown;
use views::tracks::details::FlameTarget;
use views::share::{FlameOrder, Panel, TrackName};

impl App {
    /// Opens the flame graph with the track of a call or a sample, in the
    /// order of time, and selects its box there. A selected range without it
    /// is dropped.
    pub(super) fn show_in_flame(&mut self, ctx: &Context<Self>, target: FlameTarget) {
        self.panel = Panel::FlameGraph;
        self.panel_hidden = false;
        self.flame.order = FlameOrder::Time;
        self.flame.source = Some(target.source);
        self.flame.before = None;
        if let Some(name) = TrackName::new(target.track.name()) {
            self.flame.tracks = name;
        }
        let is_inside =
            |range: model::time::Span| range.start <= target.at && target.at <= range.end;
        if !self.range.is_none_or(is_inside) {
            self.viewer.act(|control| control.select_range(None));
        }
        self.flame_shown = Some(Shown {
            serial: self.flame_shown.map_or(0, |shown| shown.serial) + 1,
            track: target.track,
            at: target.at,
        });
        self.follow_view(ctx);
        self.changed(ctx);
    }
}
