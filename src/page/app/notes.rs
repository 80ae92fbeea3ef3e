//! Adding, stepping through and saving notes, and the question before unsaved ones are lost.

use std::rc::Rc;

use js_sys::Array;
use yew::prelude::*;

use super::App;
use super::merge::MergeInputs;
use crate::files::LogFile;
use crate::open_log::OpenLog;
use crate::panel::PanelRequest;
use crate::save;
use crate::update::callback;
use crate::viewer::{Control, NavigationTarget};
use model::time::Interval;
use protocol::MergeReport;
use scene::format::pluralize;
use session::alignment::Role;
use views::notes::{MAX_NOTES, Note, Notes, file};
use views::panels::NOTES;
use views::view::Change;

/// Operation that closes logs.
pub(super) enum Closing {
    /// Opens two logs in place of the open ones.
    OpenTwo(LogFile, LogFile),
    /// Opens the sample of the tour in place of the open logs.
    Tour(LogFile),
    /// Opens a merged log in place of the open logs.
    Merged(LogFile, MergeInputs, MergeReport),
    /// Opens a log in place of the second one.
    Compare(LogFile),
    /// Closes the log with this role.
    Close(Role),
}

/// Saves the notes on a log as a file, and returns what to say; `None` if the browser could not.
fn save_as_file(log: &OpenLog, notes: &Notes) -> Option<String> {
    let name = format!("{}.notes.json", log.name);
    let text = file::write(notes, log.fingerprint);
    save::save(&name, "application/json", &Array::of1(&text.into())).ok()?;
    let count = pluralize(notes.len() as u64, "note");
    Some(format!("Saved {count} as “{name}”."))
}

impl App {
    /// Returns the number of notes that would be lost with the page: neither saved nor loaded from a link.
    pub(super) fn unsaved_notes(&self) -> usize {
        self.unsaved_by_log().into_iter().sum()
    }

    /// Returns the numbers of unsaved notes on the primary and on the second log.
    fn unsaved_by_log(&self) -> [usize; 2] {
        let own = (
            Rc::clone(&self.views.view().notes),
            Rc::clone(&self.saved_notes),
        );
        [Some(own), self.other_notes()].map(|notes| {
            let unsaved = notes.filter(|(notes, saved)| notes != saved);
            unsaved.map_or(0, |(notes, _)| notes.len())
        })
    }

    /// Returns the names of the logs that an operation closes, and the number of unsaved notes on them.
    fn losses(&self, closing: &Closing) -> (Vec<&str>, usize) {
        let [own, other] = self.unsaved_by_log();
        let is_own = matches!(closing, Closing::Close(role) if self.role() == Some(*role));
        match closing {
            // The notes on the result of an earlier merge are kept.
            Closing::Merged(..) if self.merge_inputs().is_some() => (self.names(), other),
            Closing::OpenTwo(..) | Closing::Tour(_) | Closing::Merged(..) => {
                (self.names(), own + other)
            }
            Closing::Close(_) if is_own => (vec![self.log.name.as_str()], own),
            Closing::Close(_) | Closing::Compare(_) => {
                let other_log = self.other.as_ref().map(|other| &other.log);
                (
                    other_log.map(|log| log.name.as_str()).into_iter().collect(),
                    other,
                )
            }
        }
    }

    /// Performs an operation that closes logs; asks first if there are unsaved notes on them.
    pub(super) fn close_or_ask(&mut self, ctx: &Context<Self>, closing: Closing) -> bool {
        let (_, lost) = self.losses(&closing);
        if lost == 0 {
            return self.close_for(ctx, closing);
        }
        // The start page would hide the question.
        self.leave_home(ctx, ());
        self.dialogs.closing = Some(closing);
        true
    }

    /// Performs an operation that closes logs, without asking.
    fn close_for(&mut self, ctx: &Context<Self>, closing: Closing) -> bool {
        match closing {
            Closing::OpenTwo(one, two) => self.open_two(ctx, one, two),
            Closing::Tour(file) => self.open_tour(ctx, &file),
            Closing::Merged(log, inputs, report) => self.open_merged(ctx, &log, inputs, &report),
            Closing::Compare(file) => self.open_other(ctx, &file, self.pending_role(&file)),
            Closing::Close(role) => return self.close_one(ctx, role),
        }
        true
    }

    /// Cancels the question whether logs may be closed; returns whether there was one.
    pub(super) fn cancel_closing(&mut self) -> bool {
        let is_cancelled = self.dialogs.closing.take().is_some();
        if is_cancelled && !self.has_pending_fetch() {
            // A link that named these logs is not for the next one that is opened.
            self.pending_link = None;
        }
        is_cancelled
    }

    /// Renders the question whether logs with unsaved notes may be closed.
    pub(super) fn view_closing(&self, ctx: &Context<Self>) -> Html {
        let Some(closing) = &self.dialogs.closing else {
            return Html::default();
        };
        let (names, lost) = self.losses(closing);
        let names: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
        let answer = match closing {
            Closing::OpenTwo(..) | Closing::Tour(_) | Closing::Merged(..) => "Open instead",
            Closing::Compare(_) | Closing::Close(_) => "Close the log",
        };
        let on_save = callback(ctx, |app, _, _: MouseEvent| {
            app.save_unsaved_notes();
            true
        });
        let on_close = callback(ctx, |app, ctx, _: MouseEvent| {
            let closing = app.dialogs.closing.take();
            closing.is_some_and(|closing| app.close_for(ctx, closing))
        });
        let on_cancel = callback(ctx, |app, _, _: MouseEvent| app.cancel_closing());
        html! {
            <div class="notice offer" role="status">
                <span>
                    { format!("This closes {}.", names.join(" and ")) }
                    if lost > 0 {
                        { format!(" You have not saved {}.", pluralize(lost as u64, "note")) }
                    }
                </span>
                <span class="tools">
                    if lost > 0 {
                        <button onclick={on_save}>{ "Save the notes" }</button>
                    }
                    <button onclick={on_close}>{ answer }</button>
                    <button class="quiet" onclick={on_cancel} aria-label="Cancel">{ "✕" }</button>
                </span>
            </div>
        }
    }

    /// Records that the current notes are stored elsewhere too.
    pub(super) fn mark_notes_saved(&mut self) {
        self.saved_notes = self.views.view().notes.clone();
    }

    /// Saves the notes as a file.
    pub(super) fn save_notes(&mut self) {
        let said = save_as_file(&self.log, &self.views.view().notes);
        if said.is_some() {
            self.mark_notes_saved();
        }
        self.say_saved(said);
    }

    /// Saves the unsaved notes on each open log as a file.
    pub(super) fn save_unsaved_notes(&mut self) {
        let [own, other] = self.unsaved_by_log();
        if own > 0 {
            self.save_notes();
        }
        if other > 0
            && let Some((notes, _)) = self.other_notes()
        {
            let log = self.other.as_ref().map(|other| &other.log);
            let said = log.and_then(|log| save_as_file(log, &notes));
            if said.is_some() {
                self.restore_other_notes((Rc::clone(&notes), notes));
            }
            self.say_saved(said);
        }
    }

    /// Says what was saved, or that the browser could not.
    fn say_saved(&mut self, said: Option<String>) {
        let failed = || "The browser could not save the file.".to_owned();
        self.dialogs.notice = Some(said.unwrap_or_else(failed));
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
