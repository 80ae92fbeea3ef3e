//! Actions of keys and of the command palette.

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::App;
use super::notes::Closing;
use crate::copy::copy;
use crate::dialog::is_dialog_closing;
use crate::dom::{focus, has_class};
use crate::guide::GUIDE;
use crate::heads::focus_current;
use crate::open_log::OpenLog;
use crate::two_logs::SecondLogAnswer;
use crate::viewer::Control;
use crate::viewer::picture::{self, Side};
use crate::{save, theme};
use session::alignment::Role;
use views::actions::effect::{Command, Effect};
use views::actions::{Action, Availability, action};
use views::key::KeyPress;
use views::panels::PANELS;
use views::timeline::picture::Caption;
use views::view::Change;

/// Returns the action bound to a key press, if any.
fn bound_action(event: &KeyboardEvent, on_timeline: bool) -> Option<Action> {
    // AltGr types characters such as `[`; some systems report it as Ctrl+Alt.
    let alt_graph = event.get_modifier_state("AltGraph");
    let (code, key) = (event.code(), event.key());
    let press = KeyPress {
        code: &code,
        key: &key,
        ctrl: (event.ctrl_key() || event.meta_key()) && !alt_graph,
        alt: event.alt_key() && !alt_graph,
        shift: event.shift_key(),
    };
    let action = action(&press, on_timeline, PANELS)?;
    (action.repeats() || !event.repeat()).then_some(action)
}

/// Returns whether an element is the head of a track; the timeline owns the keys while one has the focus.
fn is_head(element: &HtmlElement) -> bool {
    has_class(element, "head")
}

/// Returns the element that has the focus.
fn target_of(event: &KeyboardEvent) -> Option<HtmlElement> {
    event.target()?.dyn_into().ok()
}

/// Returns whether an element handles a key itself, for example as text input.
fn consumes_key(element: &HtmlElement, key: &str) -> bool {
    let is_sign = key.chars().count() == 1 && key != " ";
    match element.tag_name().as_str() {
        "SELECT" | "TEXTAREA" => true,
        "INPUT" => match element.get_attribute("type").as_deref() {
            Some("checkbox" | "radio") => !is_sign,
            Some("number") => {
                !is_sign || key.contains(|it: char| it.is_ascii_digit() || "+-.,e".contains(it))
            }
            _ => true,
        },
        _ => false,
    }
}

/// Opens the guide in a new tab.
fn open_guide() {
    // If the browser blocks it, the link on the landing page remains.
    let _ = gloo_utils::window().open_with_url_and_target_and_features(GUIDE, "_blank", "noopener");
}

/// Returns the name of a log without `.eventlog`, `.gz` and `.zst`.
pub(super) fn stem(name: &str) -> &str {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    name.trim_end_matches(".eventlog")
}

/// Focuses the track filter if the key is bound to that. Synchronously, because messages of a busy page are delayed
/// and the following keys are meant for the filter.
pub(super) fn focus_filter(event: &KeyboardEvent, filter: &NodeRef) -> bool {
    let is_text_input = target_of(event).is_some_and(|target| consumes_key(&target, &event.key()));
    if is_text_input || bound_action(event, false) != Some(Action::FilterTracks) {
        return false;
    }
    let dialog = gloo_utils::document().query_selector("dialog[open]");
    let Some(filter) = filter.cast::<HtmlElement>().filter(|_| dialog == Ok(None)) else {
        return false;
    };
    event.prevent_default();
    focus(&filter);
    true
}

/// Prevents the browser's default for a key that the page handles in its place: a Ctrl chord that is an action of the
/// page, and Escape in a search field, which Chromium would empty while its filter stays. Synchronously: messages of a
/// busy page arrive after the browser has acted, for example focused its address bar.
pub(super) fn reserve_key(event: &KeyboardEvent) {
    let target = target_of(event);
    let is_text_input = target
        .as_ref()
        .is_some_and(|target| consumes_key(target, &event.key()));
    let action = bound_action(event, false);
    let is_for_page = action == Some(Action::Palette) || (action.is_some() && !is_text_input);
    let is_chord = (event.ctrl_key() || event.meta_key()) && is_for_page;
    // In a dialog Escape closes the dialog, which a prevented default would not.
    let leaves_search = event.key() == "Escape"
        && target.is_some_and(|it| it.matches("[type=search]:not(dialog *)") == Ok(true));
    if is_chord || leaves_search {
        event.prevent_default();
    }
}

impl App {
    pub(super) fn on_key(&mut self, ctx: &Context<Self>, event: KeyboardEvent) -> bool {
        let target = target_of(&event);
        let tag = target
            .as_ref()
            .map(|target| target.tag_name())
            .unwrap_or_default();
        // Without a focused element the timeline owns the keys.
        let on_timeline = tag == "BODY" || target.as_ref().is_some_and(is_head);
        let action = bound_action(&event, on_timeline);
        let is_open = self.dialogs.help.is_some()
            || self.dialogs.share.is_some()
            || self.dialogs.merging.is_some();
        let in_dialog = target
            .as_ref()
            .is_some_and(|it| it.matches("dialog *, dialog") == Ok(true));
        let is_closed = !in_dialog && is_dialog_closing();
        let dialog = is_open && !is_closed && action != Some(Action::Palette);
        if self.dialogs.palette.is_some() && event.key() == "Escape" {
            // The palette is not rendered yet; once it is, it handles Escape itself.
            self.dialogs.palette = None;
            return true;
        }
        if self.dialogs.palette.is_some() || dialog {
            return false;
        }
        let writing = target
            .as_ref()
            .is_some_and(|it| consumes_key(it, &event.key()));
        if writing && action != Some(Action::Palette) {
            if event.key() == "Escape"
                && let Some(target) = target
            {
                // Best effort: leaving a field is only a convenience.
                if !focus_current() {
                    let _ = target.blur();
                }
            }
            return false;
        }
        let Some(action) = action.filter(|action| self.is_available(*action)) else {
            return false;
        };
        event.prevent_default();
        self.perform(ctx, action)
    }

    /// Returns whether an action is available now.
    pub(super) fn is_available(&self, action: Action) -> bool {
        let binding = action.binding(PANELS);
        match binding.map(|binding| binding.availability) {
            Some(Availability::Always) => true,
            Some(Availability::Two) => !self.is_home && self.other.is_some(),
            // The start page hides the open log.
            _ => !self.is_home && self.log.has_log(),
        }
    }

    /// Performs an action; returns whether the page must be rendered.
    pub(super) fn perform(&mut self, ctx: &Context<Self>, action: Action) -> bool {
        let Some(binding) = action.binding(PANELS) else {
            return false;
        };
        match binding.effect {
            Effect::View(step) => self.change(ctx, Change::new(step)),
            Effect::Panel(panel) => {
                let is_changed = self.change(ctx, Change::panel(panel));
                // The panel may be open already, below the details.
                self.close_covering_details() || is_changed
            }
            Effect::Timeline(step) => {
                self.focused().0.act(step);
                false
            }
            Effect::Page(command) => self.command(ctx, command),
        }
    }

    /// Performs a command that concerns the whole page.
    fn command(&mut self, ctx: &Context<Self>, command: Command) -> bool {
        match command {
            Command::Back => return self.step_history(ctx, true),
            Command::Forward => return self.step_history(ctx, false),
            Command::Escape => return self.escape(ctx),
            Command::Home => return self.go_home(ctx, ()),
            Command::ReadAgain => return self.read_again(ctx),
            Command::Follow => return self.toggle_follow(ctx),
            Command::StickToEnd => return self.stick_to_end(),
            Command::StopFollowing => return self.stop_following(ctx),
            Command::SaveNotes => self.save_notes(),
            Command::AddNote => return self.add_note(ctx),
            Command::NextNote => return self.step_note(ctx, true),
            Command::PreviousNote => return self.step_note(ctx, false),
            Command::FilterTracks => {
                if let Some(input) = self.filter_input.cast::<HtmlElement>() {
                    focus(&input);
                }
            }
            Command::CopyDetails => self.copy_details(),
            Command::Open | Command::Compare => {
                self.dialogs.compare_next = command == Command::Compare;
                self.dialogs.merge_next = false;
                self.choose(ctx);
            }
            Command::Merge => self.merge(ctx),
            Command::SaveLog => self.save_log(),
            Command::SwapRoles => return self.swap_roles(ctx),
            Command::OtherLog => {
                self.exchange_if_read(ctx);
            }
            Command::CloseOther => {
                let role = self.other.as_ref().map(|other| other.role);
                return role.is_some_and(|role| self.close_or_ask(ctx, Closing::Close(role)));
            }
            Command::Share => self.share(ctx),
            Command::ExportPng => self.export_png(),
            Command::ExportSvg => self.export_svg(),
            Command::SaveReport => self.save_report(ctx),
            Command::Theme => {
                theme::apply(theme::next_choice(theme::choice()), theme::contrast());
                return self.recolor(ctx, ());
            }
            Command::Contrast => {
                theme::apply(theme::choice(), theme::other_contrast(theme::contrast()));
                return self.recolor(ctx, ());
            }
            Command::Palette => self.open_palette(),
            Command::Help => self.dialogs.help = Some(false),
            Command::Legend => self.dialogs.help = Some(true),
            Command::Tour => return self.start_tour(ctx),
            Command::Guide => open_guide(),
        }
        true
    }

    /// Cancels one thing, in this order: the tour, what a timeline holds, a question about logs, the selected
    /// tracks, the loading of a log.
    fn escape(&mut self, ctx: &Context<Self>) -> bool {
        if self.end_tour(ctx, ()) {
            return true;
        }
        for viewer in self.viewers() {
            let mut undone = false;
            viewer.act(|control| {
                let events = control.escape();
                undone = events.is_some();
                events.unwrap_or_default()
            });
            if undone {
                return false;
            }
        }
        if self.cancel_closing() || self.on_second_log_answer(ctx, SecondLogAnswer::Discard) {
            return true;
        }
        if !self.views.view().tracks.selected.is_empty() {
            return self.drop_selection(ctx, ());
        }
        if self.log.is_loading() {
            return self.cancel(ctx, ());
        }
        false
    }

    /// Returns the timelines to export as a picture, the earlier log first, each with a caption that identifies its
    /// log.
    fn sides(&self) -> Vec<Side<'_>> {
        let Some(other) = &self.other else {
            let caption = Caption {
                title: self.log.name.clone(),
                facts: self.log.overview.facts(),
            };
            return vec![(caption, &self.viewer)];
        };
        let caption = |role: Role, log: &OpenLog| Caption {
            title: format!("{}: {}", role.title(), log.name),
            facts: log.overview.facts(),
        };
        let own = caption(other.role.other(), &self.log);
        let mut sides = vec![
            (own, &self.viewer),
            (caption(other.role, &other.log), &other.viewer),
        ];
        if other.role == Role::Before {
            sides.reverse();
        }
        sides
    }

    /// Returns the file name for a picture: the stem of the log, or of both.
    fn export_name(&self, extension: &str) -> String {
        let stems = self.names().into_iter().map(stem);
        format!("{}.{extension}", stems.collect::<Vec<_>>().join(" and "))
    }

    fn export_png(&self) {
        let name = self.export_name("png");
        picture::png(&self.sides(), move |blob| {
            // Fails only when out of memory; there is nowhere to report that.
            let _ = save::save_blob(&name, &blob);
        });
    }

    fn export_svg(&self) {
        let texts = js_sys::Array::of1(&picture::svg(&self.sides()).into());
        // Ignored for the same reason as in `export_png`.
        let _ = save::save(&self.export_name("svg"), "image/svg+xml", &texts);
    }

    fn copy_details(&self) {
        if let Some(description) = self.focused().0.read(Control::description) {
            // If the browser denies clipboard access, nothing is copied.
            spawn_local(async move { _ = copy(&description.to_text()).await });
        }
    }
}
