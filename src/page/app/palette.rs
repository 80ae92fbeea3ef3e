//! Entries of the command palette, and the effects of picking one.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::App;
use crate::palette::{Entry, Palette, PaletteCommand};
use crate::update::callback;
use crate::viewer::NavigationTarget;
use model::time::Interval;
use scene::format;
use session::tracks::group::TrackGroup;
use session::tracks::name::TrackName;
use views::actions::{Action, bindings};
use views::panels::PANELS;
use views::timeline::arrange::TrackChange;
use views::timeline::reveal::{RevealTarget, all_tracks};
use views::view::{Change, View};

impl App {
    /// Opens the palette with the actions, notes and tracks that exist now.
    pub(super) fn open_palette(&mut self) {
        self.dialogs.help = None;
        let mut entries = self.action_entries();
        entries.extend(self.views.view().notes.iter().map(|note| {
            let time = format::time(note.span().start());
            Entry {
                name: match note.name() {
                    "" => format!("Go to the note at {time}"),
                    name => format!("Go to note {name}"),
                },
                kind: "Note",
                key: None,
                command: PaletteCommand::NavigationTarget(NavigationTarget::note(note)),
            }
        }));
        entries.extend(self.track_entries());
        self.dialogs.palette = Some(Rc::new(entries));
    }

    fn action_entries(&self) -> Vec<Entry> {
        bindings(PANELS)
            .filter(|binding| {
                binding.action != Action::Palette && self.is_available(binding.action)
            })
            .map(|binding| Entry {
                name: match binding.action {
                    Action::Panel(_) => format!("Show panel {}", binding.title),
                    _ => binding.title.to_owned(),
                },
                kind: binding.section.name(),
                key: binding.shown_keys().into_iter().next(),
                command: PaletteCommand::Action(binding.action),
            })
            .collect()
    }

    /// Returns all tracks of the log, including hidden ones.
    pub(super) fn all_tracks(&self) -> Vec<RevealTarget> {
        let overview = &self.log.overview;
        if overview.span.is_none() {
            return Vec::new();
        }
        let caps = overview.caps.iter();
        let caps: Vec<_> = caps.map(|life| (life.cap, String::new())).collect();
        all_tracks(&self.log.track_inputs(&caps), &self.views.view().tracks)
    }

    /// Returns entries that show or hide track groups and that go to tracks.
    fn track_entries(&self) -> Vec<Entry> {
        let tracks = self.all_tracks();
        let mut groups: Vec<TrackGroup> = tracks.iter().map(|track| track.group).collect();
        groups.dedup();
        let groups = groups
            .into_iter()
            .filter_map(|group| self.group_entry(group));
        let tracks = tracks.into_iter().map(|track| Entry {
            name: format!("Go to {}", track_name(&track)),
            kind: "Track",
            key: None,
            command: PaletteCommand::Track(Box::new(track)),
        });
        groups
            .collect::<Vec<_>>()
            .into_iter()
            .chain(tracks)
            .collect()
    }

    /// Returns the entry that toggles the visibility of a group.
    fn group_entry(&self, group: TrackGroup) -> Option<Entry> {
        let name = TrackName::new(group.name())?;
        let (what, change) = if self.views.view().tracks.hidden.contains(&name) {
            ("Show", TrackChange::Show(name))
        } else {
            ("Hide", TrackChange::Hide(name))
        };
        Some(Entry {
            name: format!("{what} group {}", group.title()),
            kind: "Tracks",
            key: None,
            command: PaletteCommand::Tracks(change),
        })
    }

    /// Makes a hidden, folded or filtered track visible.
    pub(super) fn reveal(&mut self, ctx: &Context<Self>, track: &RevealTarget) -> bool {
        let track = track.clone();
        let reveal = Change::new(move |mut view: View, _| {
            view.tracks.reveal(&track);
            view
        });
        self.change(ctx, reveal)
    }

    /// Reveals a track, scrolls to it and gives it the keyboard focus. For a thread, also shows the time from its
    /// creation to the end of the log.
    fn goto_track(&mut self, ctx: &Context<Self>, track: RevealTarget) {
        self.reveal(ctx, &track);
        let span = match (track.row.thread(), self.log.overview.span) {
            (Some(id), Some(whole)) => {
                let row = self.log.threads.iter().find(|row| row.id == id);
                let from = row.and_then(|row| row.created).unwrap_or(whole.start());
                Some(Interval::new(from, whole.end().max(from)))
            }
            _ => None,
        };
        let viewer = self.viewer.clone();
        // Deferred until the page has rendered the track.
        Timeout::new(0, move || {
            // From here on keys belong to the timeline.
            let active = gloo_utils::document().active_element();
            if let Some(active) = active.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
                // Best effort: an element that cannot lose the focus keeps it.
                let _ = active.blur();
            }
            match span {
                Some(span) => {
                    let target = NavigationTarget::item(track.row, span);
                    viewer.act(|control| control.navigate(target));
                }
                None => viewer.act(|control| control.scroll_to(track.row)),
            }
            viewer.set_track(&track.name);
        })
        .forget();
    }

    fn on_picked(&mut self, ctx: &Context<Self>, command: PaletteCommand) -> bool {
        self.dialogs.palette = None;
        match command {
            PaletteCommand::Action(action) => {
                self.perform(ctx, action);
            }
            PaletteCommand::NavigationTarget(goto) => {
                self.goto(ctx, goto);
            }
            PaletteCommand::Track(track) => self.goto_track(ctx, *track),
            PaletteCommand::Tracks(change) => {
                self.change(ctx, Change::tracks(change));
            }
            PaletteCommand::Filter(text) => {
                self.filter_tracks(ctx, text);
            }
        }
        true
    }

    pub(super) fn view_palette(&self, ctx: &Context<Self>) -> Html {
        let Some(entries) = &self.dialogs.palette else {
            return Html::default();
        };
        let on_close = callback(ctx, |app, _, ()| app.dialogs.palette.take().is_some());
        html! {
            <Palette entries={Rc::clone(entries)} filters={self.is_available(Action::FilterTracks)}
                on_pick={callback(ctx, Self::on_picked)} {on_close} />
        }
    }
}

/// Returns the name of a track for use in a sentence.
fn track_name(track: &RevealTarget) -> String {
    track.row.name_in_sentence(&track.title)
}
