//! What the palette offers, and notes, as far as the app has to do with them.

use std::rc::Rc;

use yew::prelude::*;

use super::{App, Msg};
use crate::actions::{Action, bindings};
use crate::automata::Span;
use crate::notes::{MAX_NOTES, Note, Notes};
use crate::scene::format;
use crate::share::Panel;
use crate::timeline::row::Row;
use crate::ui::notes::{NotesPanel, goto};
use crate::ui::palette::{Entry, Palette, Pick};
use crate::ui::viewer::Goto;

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

    /// Capabilities and threads by name.
    fn track_entries(&self) -> Vec<Entry> {
        let Some(whole) = self.log.overview.span else {
            return Vec::new();
        };
        let entry = |name: String, row: Row, span: Span| Entry {
            name: format!("Go to {name}"),
            kind: "Track",
            key: None,
            pick: Pick::Goto(Goto {
                span,
                row: Some(row),
                zoom: false,
            }),
        };
        let caps = self.log.overview.caps.iter();
        let caps = caps.map(|life| {
            entry(
                format!("capability {}", life.cap),
                Row::Cap(life.cap),
                whole,
            )
        });
        let threads = self.log.threads.iter().map(|thread| {
            let name = match &thread.label {
                Some(label) => format!("thread {}: {label}", thread.id),
                None => format!("thread {}", thread.id),
            };
            let from = thread.created.unwrap_or(whole.start);
            entry(
                name,
                Row::Thread(thread.id),
                Span::new(from, whole.end.max(from)),
            )
        });
        caps.chain(threads).collect()
    }

    /// Does what was picked.
    pub(super) fn picked(&mut self, ctx: &Context<Self>, pick: Pick) {
        self.palette = None;
        match pick {
            Pick::Action(action) => {
                self.perform(ctx, action);
            }
            Pick::Goto(goto) => self.goto(ctx, goto),
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
        self.viewer.set_notes(Rc::clone(&self.notes));
        self.changed(ctx);
    }

    /// Adds a note at the selected range, or else at the pointer or the
    /// cursor, and has its name written.
    pub(super) fn add_note(&mut self, ctx: &Context<Self>) {
        let time = self.viewer.moment();
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
        let cursor = self.viewer.cursor();
        let note = if forward {
            self.notes.after(cursor)
        } else {
            self.notes.before(cursor)
        };
        if let Some(note) = note {
            self.viewer.goto(goto(note));
        }
    }

    pub(super) fn view_notes(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        html! {
            <NotesPanel client={self.client.clone()} complete={self.log.overview.complete}
                counted={self.log.counted.clone()} notes={Rc::clone(&self.notes)} log={self.log.name.clone()}
                fingerprint={self.log.fingerprint} range={self.range} focus={self.note_focus}
                on_notes={link.callback(Msg::Notes)} on_add={link.callback(|()| Msg::AddNote)}
                on_goto={link.callback(Msg::Goto)} />
        }
    }
}
