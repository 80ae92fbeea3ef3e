//! From an item of the timeline to its box in the flame graph.

use yew::prelude::*;

use super::App;
use crate::share::{FlameOrder, Panel, TrackName};
use crate::timeline::details::FlameTarget;

impl App {
    /// Opens the flame graph with the track of a call or a sample, in the
    /// order of time. The track's name tells capabilities and OS threads
    /// apart; the source and the time of the target say which box is meant.
    pub(super) fn show_in_flame(&mut self, ctx: &Context<Self>, target: FlameTarget) {
        self.panel = Panel::FlameGraph;
        self.panel_hidden = false;
        self.flame.order = FlameOrder::Time;
        if let Some(name) = TrackName::new(target.track.name()) {
            self.flame.source = name;
        }
        self.follow_view(ctx);
        self.changed(ctx);
    }
}
