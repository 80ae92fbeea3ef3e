//! What the palette offers, and doing what was picked.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::App;
use crate::palette::{Entry, Palette, Pick};
use crate::update::callback;
use crate::viewer::Goto;
use model::time::Interval;
use scene::format;
use session::tracks::group::Group;
use session::tracks::name::TrackName;
use views::actions::{Action, bindings};
use views::panels::PANELS;
use views::timeline::arrange::TrackChange;
use views::timeline::reveal::{Reach, all_tracks};
use views::view::{Change, View};

impl App {
    /// Opens the palette with all that there is now.
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
                pick: Pick::Goto(Goto::note(note)),
            }
        }));
        entries.extend(self.track_entries());
        self.dialogs.palette = Some(Rc::new(entries));
    }

    fn action_entries(&self) -> Vec<Entry> {
        bindings(PANELS)
            .filter(|binding| binding.action != Action::Palette && self.can(binding.action))
            .map(|binding| Entry {
                name: match binding.action {
                    Action::Panel(_) => format!("Show panel {}", binding.title),
                    _ => binding.title.to_owned(),
                },
                kind: binding.section.name(),
                key: binding.shown_keys().into_iter().next(),
                pick: Pick::Action(binding.action),
            })
            .collect()
    }

    /// All tracks of the log, whatever of them is shown.
    pub(super) fn all_tracks(&self) -> Vec<Reach> {
        let overview = &self.log.overview;
        if overview.span.is_none() {
            return Vec::new();
        }
        let caps = overview.caps.iter();
        let caps: Vec<_> = caps.map(|life| (life.cap, String::new())).collect();
        all_tracks(&self.log.known(&caps), &self.views.view().tracks)
    }

    /// All tracks of the log by name, and its groups, to show or to hide.
    fn track_entries(&self) -> Vec<Entry> {
        let tracks = self.all_tracks();
        let mut groups: Vec<Group> = tracks.iter().map(|track| track.group).collect();
        groups.dedup();
        let groups = groups
            .into_iter()
            .filter_map(|group| self.group_entry(group));
        let tracks = tracks.into_iter().map(|track| Entry {
            name: format!("Go to {}", spoken(&track)),
            kind: "Track",
            key: None,
            pick: Pick::Track(Box::new(track)),
        });
        groups
            .collect::<Vec<_>>()
            .into_iter()
            .chain(tracks)
            .collect()
    }

    /// Shows a hidden group, or hides one.
    fn group_entry(&self, group: Group) -> Option<Entry> {
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
            pick: Pick::Tracks(change),
        })
    }

    /// Has a track shown, whatever hides it.
    pub(super) fn reveal(&mut self, ctx: &Context<Self>, track: &Reach) -> bool {
        let track = track.clone();
        let reveal = Change::new(move |mut view: View, _| {
            view.tracks.reveal(&track);
            view
        });
        self.change(ctx, reveal)
    }

    /// Goes to a track: it is shown, in view, and what the keyboard is on. Of
    /// a thread the time in which it lives is shown too.
    fn goto_track(&mut self, ctx: &Context<Self>, track: Reach) {
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
        // When the page has been rendered with the track in it.
        Timeout::new(0, move || {
            // The keys are the timeline's from now on.
            let active = gloo_utils::document().active_element();
            if let Some(active) = active.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
                // What cannot lose the focus keeps it.
                let _ = active.blur();
            }
            let row = Some(track.row);
            match span {
                Some(span) => viewer.act(|control| {
                    control.goto(Goto {
                        span,
                        row,
                        zoom: false,
                        details: false,
                    })
                }),
                None => viewer.act(|control| control.scroll_to(track.row)),
            }
            viewer.set_track(&track.id);
        })
        .forget();
    }

    /// Does what was picked.
    fn picked(&mut self, ctx: &Context<Self>, pick: Pick) -> bool {
        self.dialogs.palette = None;
        match pick {
            Pick::Action(action) => {
                self.perform(ctx, action);
            }
            Pick::Goto(goto) => {
                self.goto(ctx, goto);
            }
            Pick::Track(track) => self.goto_track(ctx, *track),
            Pick::Tracks(change) => {
                self.change(ctx, Change::tracks(change));
            }
            Pick::Filter(text) => {
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
            <Palette entries={Rc::clone(entries)} filters={self.can(Action::FilterTracks)}
                on_pick={callback(ctx, Self::picked)} {on_close} />
        }
    }
}

/// How a track is called in a sentence.
fn spoken(track: &Reach) -> String {
    track.row.spoken(&track.name)
}
