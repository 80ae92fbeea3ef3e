//! What keys and the palette make the app do.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, KeyboardEvent};
use yew::prelude::*;

use super::{App, Msg, Screen};
use crate::ui::heads::focus_current;
use crate::ui::save;
use crate::ui::viewer::Control;
use views::tracks::details::Lead;
use analysis::timeline::threads::ThreadOrder;
use views::actions::{Action, KeyPress, When, action};
use views::scene::arrange::{Direction, TrackChange};
use views::share::TrackName;

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
        let on_timeline = tag == "BODY" || target.as_ref().is_some_and(is_head);
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
                if !focus_current() {
                    let _ = target.blur();
                }
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
            Action::ZoomIn => self.viewer.act(|control| control.zoom(ZOOM)),
            Action::ZoomOut => self.viewer.act(|control| control.zoom(1.0 / ZOOM)),
            Action::PanLeft => self.viewer.act(|control| control.pan(-PAN)),
            Action::PanRight => self.viewer.act(|control| control.pan(PAN)),
            Action::Fit => self.viewer.act(|control| control.fit()),
            Action::ShowSelection => self.viewer.act(|control| control.show_selection()),
            Action::SelectItemRange => self.viewer.act(|control| match control.selected() {
                Some((_, span)) => control.select_range(Some(span)),
                None => Vec::new(),
            }),
            Action::Escape => {
                let mut undone = false;
                self.viewer.act(|control| {
                    let told = control.escape();
                    undone = told.is_some();
                    told.unwrap_or_default()
                });
                if undone {
                    return false;
                }
                if self.clear_marks(ctx) {
                    return true;
                }
                if self.screen == Screen::Loading {
                    return send(Msg::Cancel);
                }
            }
            Action::NextItem => self.viewer.act(|control| control.step(true)),
            Action::PreviousItem => self.viewer.act(|control| control.step(false)),
            Action::TrackDown => self.viewer.act(|control| control.step_track(true)),
            Action::TrackUp => self.viewer.act(|control| control.step_track(false)),
            Action::FilterTracks => focus(&self.filter_input),
            Action::Panel(panel) => return send(Msg::Panel(panel)),
            Action::TogglePanel => {
                self.panel_hidden = !self.panel_hidden;
                return true;
            }
            Action::Open => return send(Msg::Browse),
            Action::Share => return send(Msg::Share),
            Action::Theme => return send(Msg::Theme),
            Action::Contrast => return send(Msg::Contrast),
            Action::Help => return send(Msg::Help(true)),
            Action::CentreOnCursor => self.viewer.act(|control| control.centre()),
            Action::JumpToStart => self.viewer.act(|control| control.jump(false)),
            Action::JumpToEnd => self.viewer.act(|control| control.jump(true)),
            Action::Back => self.travel(true),
            Action::Forward => self.travel(false),
            Action::Measure => self.viewer.act(|control| {
                control.measure();
                None
            }),
            Action::GotoWaker => self.viewer.act(|control| control.follow(Lead::Waker)),
            Action::NextOnCapability => self.viewer.act(|control| control.follow(Lead::Next)),
            Action::PinDetails => self.viewer.act(|control| control.pin_details()),
            Action::CopyDetails => self.copy_details(),
            Action::ExportPng => self.export_png(),
            Action::ExportSvg => self.export_svg(),
            Action::ToggleTrackSelected => return self.change_track(ctx, TrackChange::Select),
            Action::FoldGroup => return self.change_track(ctx, TrackChange::Fold),
            Action::PinTrack => return self.change_track(ctx, TrackChange::Pin),
            Action::HideTrack => return self.change_track(ctx, TrackChange::Hide),
            Action::MoveTrackUp => {
                let up = |name| TrackChange::Shift(name, Direction::Up);
                return self.change_track(ctx, up);
            }
            Action::MoveTrackDown => {
                let down = |name| TrackChange::Shift(name, Direction::Down);
                return self.change_track(ctx, down);
            }
            Action::ShowAllTracks => return send(Msg::Tracks(TrackChange::ShowAll)),
            Action::ResetTracks => return send(Msg::Tracks(TrackChange::Reset)),
            Action::GroupThreads => return send(Msg::Tracks(TrackChange::GroupThreads)),
            Action::ThreadsByActivity => return send(order(ThreadOrder::Activity)),
            Action::ThreadsByFirstRun => return send(order(ThreadOrder::FirstRun)),
            Action::ThreadsById => return send(order(ThreadOrder::Id)),
            Action::ThreadsByLabel => return send(order(ThreadOrder::Label)),
            Action::Legend => return send(Msg::Legend),
            Action::Palette => {
                self.open_palette();
                return true;
            }
            Action::AddNote => return send(Msg::AddNote),
            Action::NextNote => self.step_note(true),
            Action::PreviousNote => self.step_note(false),
        }
        false
    }
}

impl App {
    /// Goes back to what was in view before, or forward again.
    fn travel(&mut self, back: bool) {
        let view = if back {
            self.history.back()
        } else {
            self.history.forward()
        };
        if let Some(view) = view {
            self.viewer
                .act(|control| control.gesture(|viewport| viewport.show_exactly(view)));
        }
    }

    /// Changes the track that the keyboard is on.
    fn change_track(
        &mut self,
        ctx: &Context<Self>,
        change: impl FnOnce(TrackName) -> TrackChange,
    ) -> bool {
        if let Some(name) = self.viewer.read(|control| control.track().cloned()) {
            ctx.link().send_message(Msg::Tracks(change(name)));
        }
        false
    }

    /// The name of a file with the picture: that of the log.
    fn export_name(&self, extension: &str) -> String {
        let name = self
            .log
            .name
            .trim_end_matches(".gz")
            .trim_end_matches(".zst");
        let name = name.trim_end_matches(".eventlog");
        format!("{name}.{extension}")
    }

    fn export_png(&self) {
        let name = self.export_name("png");
        self.viewer.png(move |blob| {
            // Fails only without memory; there is no better place for it then.
            let _ = save::save_blob(&name, &blob);
        });
    }

    fn export_svg(&self) {
        let texts = js_sys::Array::of1(&self.viewer.svg().into());
        // As above.
        let _ = save::save(&self.export_name("svg"), "image/svg+xml", &texts);
    }

    fn copy_details(&self) {
        if let Some(description) = self.viewer.read(Control::description) {
            let clipboard = gloo_utils::window().navigator().clipboard();
            // Where the browser does not allow it, nothing is copied.
            let _ = clipboard.write_text(&description.to_text());
        }
    }
}

fn order(order: ThreadOrder) -> Msg {
    Msg::Tracks(TrackChange::Order(order))
}

/// Whether the focus is on the head of a track: then the keys are the
/// timeline's.
fn is_head(element: &HtmlElement) -> bool {
    element.class_name().split(' ').any(|class| class == "head")
}

fn focus(input: &NodeRef) {
    if let Some(input) = input.cast::<HtmlInputElement>() {
        // Focus is all that is asked for.
        let _ = input.focus();
    }
}
