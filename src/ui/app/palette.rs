//! What the palette offers, and notes, as far as the app has to do with them.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::{App, Msg};
use crate::ui::notes::{NotesPanel, goto};
use crate::ui::palette::{Entry, Palette, Pick};
use crate::ui::viewer::{Control, Goto};
use views::tracks::Row;
use model::time::Span;
use views::actions::{Action, bindings};
use views::notes::{MAX_NOTES, Note, Notes};
use views::scene::arrange::{Reach, TrackChange, all_tracks};
use views::scene::format;
use views::scene::track::Group;
use views::share::{Panel, TrackName};

impl App {
    /// Opens the palette with all that there is now.
    pub(super) fn open_palette(&mut self) {
        self.help = false;
        let mut entries = self.action_entries();
        entries.extend(self.notes.iter().map(|note| {
            let time = format::time(note.span().start);
            Entry {
                name: match note.name() {
                    "" => format!("Go to the note at {time}"),
                    name => format!("Go to note {name}"),
                },
                kind: "Note",
                key: None,
                pick: Pick::Goto(goto(note)),
            }
        }));
        entries.extend(self.track_entries());
        self.palette = Some(Rc::new(entries));
    }

    fn action_entries(&self) -> Vec<Entry> {
        bindings()
            .filter(|binding| binding.action != Action::Palette && self.can(binding.action))
            .map(|binding| Entry {
                name: match binding.action {
                    Action::Panel(panel) => format!("Show panel {}", panel.title()),
                    _ => binding.title.to_owned(),
                },
                kind: binding.section.name(),
                key: binding.shown_keys().into_iter().next(),
                pick: Pick::Action(binding.action),
            })
            .collect()
    }

    /// All tracks of the log by name, and its groups, to show or to hide.
    fn track_entries(&self) -> Vec<Entry> {
        let overview = &self.log.overview;
        if overview.span.is_none() {
            return Vec::new();
        }
        let caps = overview.caps.iter();
        let caps: Vec<_> = caps.map(|life| (life.cap, String::new())).collect();
        let known = self.known(&caps);
        let tracks = all_tracks(&known, &self.tracks);
        let mut groups: Vec<Group> = tracks.iter().map(|track| Group::of(track.row)).collect();
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
        let (what, change) = if self.tracks.hidden.contains(&name) {
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

    /// Goes to a track: it is shown, in view, and what the keyboard is on. Of
    /// a thread the time in which it lives is shown too.
    fn goto_track(&mut self, ctx: &Context<Self>, track: Reach) {
        let before = self.tracks.clone();
        self.tracks.reveal(&track);
        if self.tracks != before {
            self.show_tracks();
            self.changed(ctx);
        }
        if self.tracks.filter != before.filter {
            self.ask_threads(ctx);
        }
        let span = match (track.row, self.log.overview.span) {
            (Row::Thread(id), Some(whole)) => {
                let row = self.log.threads.iter().find(|row| row.id == id);
                let from = row.and_then(|row| row.created).unwrap_or(whole.start);
                Some(Span::new(from, whole.end.max(from)))
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
                    })
                }),
                None => viewer.act(|control| control.scroll_to(track.row)),
            }
            viewer.set_track(&track.id);
        })
        .forget();
    }

    /// Does what was picked.
    pub(super) fn picked(&mut self, ctx: &Context<Self>, pick: Pick) {
        self.palette = None;
        match pick {
            Pick::Action(action) => {
                self.perform(ctx, action);
            }
            Pick::Goto(goto) => self.goto(ctx, goto),
            Pick::Track(track) => self.goto_track(ctx, *track),
            Pick::Tracks(change) => self.change_tracks(ctx, change),
            Pick::Filter(text) => ctx.link().send_message(Msg::Filter(text)),
        }
    }

    pub(super) fn view_palette(&self, ctx: &Context<Self>) -> Html {
        let Some(entries) = &self.palette else {
            return Html::default();
        };
        let link = ctx.link();
        html! {
            <Palette entries={Rc::clone(entries)} filters={self.can(Action::FilterTracks)}
                on_pick={link.callback(Msg::Picked)} on_close={link.callback(|()| Msg::PaletteClosed)} />
        }
    }

    /// Other notes: the timeline shows them, the address says them.
    pub(super) fn set_notes(&mut self, ctx: &Context<Self>, notes: Notes) {
        self.notes = Rc::new(notes);
        self.viewer.set_notes(&self.notes);
        self.changed(ctx);
    }

    /// Adds a note at the selected range, or else at the pointer or the
    /// cursor, and has its name written.
    pub(super) fn add_note(&mut self, ctx: &Context<Self>) {
        let time = self.viewer.read(Control::moment);
        let span = self.range.unwrap_or(Span::new(time, time));
        let mut notes = (*self.notes).clone();
        let Some(number) = notes.insert(Note::new(span, "")) else {
            self.notice = Some(format!(
                "There can be {MAX_NOTES} notes; delete some first."
            ));
            return;
        };
        self.set_notes(ctx, notes);
        self.panel = Panel::Notes;
        self.panel_hidden = false;
        let times = self.note_focus.map_or(0, |(_, times)| times);
        self.note_focus = Some((number, times + 1));
    }

    /// Goes to the next note, or the one before.
    pub(super) fn step_note(&self, forward: bool) {
        let cursor = self.viewer.read(Control::cursor);
        let note = if forward {
            self.notes.after(cursor)
        } else {
            self.notes.before(cursor)
        };
        if let Some(note) = note {
            self.viewer.act(|control| control.goto(goto(note)));
        }
    }

    pub(super) fn view_notes(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        html! {
            <NotesPanel client={self.log_client.clone()} complete={self.log.overview.complete}
                notes={Rc::clone(&self.notes)} log={self.log.name.clone()}
                fingerprint={self.log.fingerprint} range={self.range} focus={self.note_focus}
                on_notes={link.callback(Msg::Notes)} on_add={link.callback(|()| Msg::AddNote)}
                on_goto={link.callback(Msg::Goto)} />
        }
    }
}

/// How a track is called in a sentence.
fn spoken(track: &Reach) -> String {
    match track.row {
        Row::Cap(cap) => format!("capability {cap}"),
        Row::Thread(thread) => {
            let number = format!("thread {thread}");
            if track.name == number {
                number
            } else {
                format!("{number}: {}", track.name)
            }
        }
        Row::UserSpan(_) => format!("span {}", track.name),
        _ => track.name.clone(),
    }
}
