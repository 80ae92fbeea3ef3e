//! Adding, stepping through and saving notes.

use std::rc::Rc;

use js_sys::Array;
use yew::prelude::*;

use super::App;
use crate::panel::PanelRequest;
use crate::save;
use crate::viewer::{Control, NavigationTarget};
use model::time::Interval;
use scene::format::pluralize;
use views::notes::{MAX_NOTES, Note, file};
use views::panels::NOTES;
use views::view::Change;

impl App {
    /// Returns the number of notes that would be lost with the page: neither saved nor loaded from a link.
    pub(super) fn unsaved_notes(&self) -> usize {
        let own = (
            Rc::clone(&self.views.view().notes),
            Rc::clone(&self.saved_notes),
        );
        let all = std::iter::once(own).chain(self.other_notes());
        let unsaved = all.filter(|(notes, saved)| notes != saved);
        unsaved.map(|(notes, _)| notes.len()).sum()
    }

    /// Records that the current notes are stored elsewhere too.
    pub(super) fn mark_notes_saved(&mut self) {
        self.saved_notes = self.views.view().notes.clone();
    }

    /// Saves the notes as a file.
    pub(super) fn save_notes(&mut self) {
        let notes = &self.views.view().notes;
        let name = format!("{}.notes.json", self.log.name);
        let text = file::write(notes, self.log.fingerprint);
        let said = match save::save(&name, "application/json", &Array::of1(&text.into())) {
            Ok(()) => {
                let said = format!(
                    "Saved {} as “{name}”.",
                    pluralize(notes.len() as u64, "note")
                );
                self.mark_notes_saved();
                said
            }
            Err(_) => "The browser could not save the file.".to_owned(),
        };
        self.dialogs.notice = Some(said);
    }

    /// Adds a note at the selected range, or else at the pointer or the cursor, and starts editing its name.
    pub(super) fn add_note(&mut self, ctx: &Context<Self>) -> bool {
        let time = self.viewer.read(Control::moment);
        let view = self.views.view();
        let span = view.selection.unwrap_or(Interval::empty_at(time));
        let mut notes = (*view.notes).clone();
        let Some(number) = notes.insert(Note::new(span, "")) else {
            self.dialogs.notice = Some(format!(
                "At most {MAX_NOTES} notes are possible; delete some first."
            ));
            return true;
        };
        let change = Change::new(|view, _| view.with_notes(notes).with_panel(NOTES));
        self.change(ctx, change);
        self.request_panel(PanelRequest::NameNote(number));
        true
    }

    /// Goes to the next or the previous note.
    pub(super) fn step_note(&mut self, ctx: &Context<Self>, forward: bool) -> bool {
        let cursor = self.viewer.read(Control::cursor);
        let notes = &self.views.view().notes;
        let note = if forward {
            notes.next_after(cursor)
        } else {
            notes.last_before(cursor)
        };
        if let Some(note) = note {
            return self.goto(ctx, NavigationTarget::note(note));
        }
        false
    }
}
