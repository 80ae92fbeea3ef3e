//! What keys and the palette make the app do.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, KeyboardEvent};
use yew::prelude::*;

use super::{App, Msg, Screen};
use crate::actions::{Action, KeyPress, When, action};

/// How much one key press zooms.
const ZOOM: f64 = 1.5;
/// How far one key press moves, as a part of the view.
const PAN: f64 = 0.12;

/// The action of a key press, if it has one here.
fn pressed(event: &KeyboardEvent, on_timeline: bool) -> Option<Action> {
    // AltGr writes signs such as [; some systems tell it as Ctrl and Alt.
    let alt_graph = event.get_modifier_state("AltGraph");
    let (code, key) = (event.code(), event.key());
    let press = KeyPress {
        code: &code,
        key: &key,
        ctrl: (event.ctrl_key() || event.meta_key()) && !alt_graph,
        alt: event.alt_key() && !alt_graph,
        shift: event.shift_key(),
    };
    let action = action(&press, on_timeline)?;
    (action.repeats() || !event.repeat()).then_some(action)
}

impl App {
    pub(super) fn key(&mut self, ctx: &Context<Self>, event: &KeyboardEvent) -> bool {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlElement>().ok());
        let tag = target
            .as_ref()
            .map(|target| target.tag_name())
            .unwrap_or_default();
        // Where nothing has the focus the keys are the timeline's.
        let canvas = self.canvas.cast::<HtmlElement>();
        let on_timeline = tag == "BODY" || (target.is_some() && target == canvas);
        let action = pressed(event, on_timeline);
        if self.palette.is_some() || (self.help && action != Some(Action::Palette)) {
            return false;
        }
        let writing = matches!(tag.as_str(), "INPUT" | "SELECT" | "TEXTAREA");
        if writing && action != Some(Action::Palette) {
            if event.key() == "Escape"
                && let Some(target) = target
            {
                // Leaving a field is a convenience.
                let _ = target.blur();
            }
            return false;
        }
        let Some(action) = action.filter(|action| self.can(*action)) else {
            return false;
        };
        event.prevent_default();
        self.perform(ctx, action)
    }

    /// Whether an action can be asked for now.
    pub(super) fn can(&self, action: Action) -> bool {
        action.binding().when == When::Always || self.screen != Screen::Landing
    }

    /// Does it; the result is whether the page has to be rendered anew.
    pub(super) fn perform(&mut self, ctx: &Context<Self>, action: Action) -> bool {
        let send = |msg| {
            ctx.link().send_message(msg);
            false
        };
        match action {
            Action::ZoomIn => self.viewer.zoom(ZOOM),
            Action::ZoomOut => self.viewer.zoom(1.0 / ZOOM),
            Action::PanLeft => self.viewer.pan(-PAN),
            Action::PanRight => self.viewer.pan(PAN),
            Action::Fit => self.viewer.fit(),
            Action::ShowSelection => self.viewer.show_selection(),
            Action::SelectItemRange => self.viewer.select_item_range(),
            Action::Escape => {
                if !self.viewer.escape() && self.screen == Screen::Loading {
                    return send(Msg::Cancel);
                }
            }
            Action::NextItem => self.viewer.step(true),
            Action::PreviousItem => self.viewer.step(false),
            Action::TrackDown => self.viewer.step_track(true),
            Action::TrackUp => self.viewer.step_track(false),
            Action::FilterTracks => focus(&self.filter_input),
            Action::Panel(panel) => return send(Msg::Panel(panel)),
            Action::TogglePanel => {
                self.panel_hidden = !self.panel_hidden;
                return true;
            }
            Action::Open => return send(Msg::Browse),
            Action::Share => return send(Msg::Share),
            Action::Theme => return send(Msg::Theme),
            Action::Help => return send(Msg::Help(true)),
            Action::Legend => return send(Msg::Legend),
            Action::Palette => {
                self.open_palette();
                return true;
            }
            Action::AddNote => return send(Msg::AddNote),
            Action::NextNote => self.step_note(true),
            Action::PreviousNote => self.step_note(false),
            Action::CentreOnCursor
            | Action::JumpToStart
            | Action::JumpToEnd
            | Action::Back
            | Action::Forward
            | Action::ToggleTrackSelected
            | Action::Measure
            | Action::GotoWaker
            | Action::NextOnCapability
            | Action::CopyDetails
            | Action::PinDetails
            | Action::FoldGroup
            | Action::PinTrack
            | Action::HideTrack
            | Action::ShowAllTracks
            | Action::MoveTrackUp
            | Action::MoveTrackDown
            | Action::ThreadsByActivity
            | Action::ThreadsByFirstRun
            | Action::ThreadsById
            | Action::ThreadsByLabel
            | Action::GroupThreads
            | Action::ResetTracks
            | Action::ExportPng
            | Action::ExportSvg => return false,
        }
        false
    }
}

fn focus(input: &NodeRef) {
    if let Some(input) = input.cast::<HtmlInputElement>() {
        // Focus is all that is asked for.
        let _ = input.focus();
    }
}
