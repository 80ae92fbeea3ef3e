//! Notes: adding one, walking along them, saving them.

use js_sys::Array;
use yew::prelude::*;

use super::App;
use crate::panel::PanelRequest;
use crate::save;
use crate::viewer::{Control, Goto};
use model::time::Interval;
use scene::format::many;
use views::notes::{MAX_NOTES, Note, file};
use views::panels::NOTES;
use views::view::Change;

impl App {
    /// How many notes would be lost with the page: those that were neither saved nor came from a link
    /// that the reader has.
    pub(super) fn unsaved_notes(&self) -> usize {
        let notes = &self.views.view().notes;
        if *notes == self.kept_notes {
            0
        } else {
            notes.len()
        }
    }

    /// The notes of now are somewhere else, too.
    pub(super) fn notes_are_kept(&mut self) {
        self.kept_notes = self.views.view().notes.clone();
    }

    /// Saves the notes as a file.
    pub(super) fn save_notes(&mut self) {
        let notes = &self.views.view().notes;
        let name = format!("{}.notes.json", self.log.name);
        let text = file::write(notes, self.log.fingerprint);
        let said = match save::save(&name, "application/json", &Array::of1(&text.into())) {
            Ok(()) => {
                let said = format!("Saved {} as “{name}”.", many(notes.len() as u64, "note"));
                self.notes_are_kept();
                said
            }
            Err(_) => "The browser could not save the file.".to_owned(),
        };
        self.dialogs.notice = Some(said);
    }

    /// Adds a note at the selected range, or else at the pointer or the
    /// cursor, and has its name written.
    pub(super) fn add_note(&mut self, ctx: &Context<Self>) -> bool {
        let time = self.viewer.read(Control::moment);
        let view = self.views.view();
        let span = view.selection.unwrap_or(Interval::at(time));
        let mut notes = (*view.notes).clone();
        let Some(number) = notes.insert(Note::new(span, "")) else {
            self.dialogs.notice = Some(format!(
                "There can be {MAX_NOTES} notes; delete some first."
            ));
            return true;
        };
        let change = Change::new(|view, _| view.with_notes(notes).with_panel(NOTES));
        self.change(ctx, change);
        self.wish(PanelRequest::NameNote(number));
        true
    }

    /// Goes to the next note, or the one before.
    pub(super) fn step_note(&mut self, ctx: &Context<Self>, forward: bool) -> bool {
        let cursor = self.viewer.read(Control::cursor);
        let notes = &self.views.view().notes;
        let note = if forward {
            notes.after(cursor)
        } else {
            notes.before(cursor)
        };
        if let Some(note) = note {
            return self.goto(ctx, Goto::note(note));
        }
        false
    }
}
