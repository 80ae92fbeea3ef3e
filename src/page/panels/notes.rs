//! The panel of notes: the table, and import and export.

mod markers;
mod row;

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{File, HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::panel::{PanelProps, PanelRequest};
use markers::use_markers;
use row::NoteRow;
use scene::format::pluralize;
use views::actions::Action;
use views::fingerprint::Fingerprint;
use views::notes::{MAX_NOTES, MergeCounts, Note, Notes, file};
use views::view::Change;

/// Maximum size of a notes file, in bytes: more than the maximum number of notes needs.
const MAX_FILE: f64 = 4_194_304.0;

/// The last operation, for the status text and Undo.
#[derive(Clone, PartialEq)]
struct LastOperation {
    text: String,
    /// The notes before and after it; `None` if it changed nothing.
    notes: Option<(Rc<Notes>, Rc<Notes>)>,
}

/// Applies changes to the notes and records them for Undo.
#[derive(Clone)]
struct NotesEditor {
    /// The current notes, shared with asynchronous operations.
    notes: Rc<RefCell<Rc<Notes>>>,
    on_notes: Callback<Notes>,
    last_operation: UseStateSetter<Option<LastOperation>>,
}

impl NotesEditor {
    fn change(&self, text: impl FnOnce(&mut Notes) -> String) {
        let before = Rc::clone(&self.notes.borrow());
        let mut notes = (*before).clone();
        let text = text(&mut notes);
        let changed = notes != *before;
        self.last_operation.set(Some(LastOperation {
            text,
            notes: changed.then(|| (before, Rc::new(notes.clone()))),
        }));
        if changed {
            self.on_notes.emit(notes);
        }
    }

    fn show_status(&self, text: impl Into<String>) {
        let text = text.into();
        self.last_operation
            .set(Some(LastOperation { text, notes: None }));
    }
}

/// Describes the result of merging imported notes.
fn merged_text(merged: MergeCounts, from: &str) -> String {
    let mut text = format!("{} {from}.", pluralize(merged.added as u64, "new note"));
    if merged.known > 0 {
        text += &format!(" {} already existed.", merged.known);
    }
    if merged.dropped > 0 {
        text += &format!(
            " {} left out: at most {MAX_NOTES} notes are possible.",
            merged.dropped
        );
    }
    text
}

/// Imports the notes of a file.
async fn load(chosen: File, editor: NotesEditor, fingerprint: Option<Fingerprint>) {
    let name = chosen.name();
    if chosen.size() > MAX_FILE {
        return editor.show_status(format!("“{name}” is too large for a notes file."));
    }
    let text = JsFuture::from(chosen.text()).await;
    let Some(text) = text.ok().and_then(|text| text.as_string()) else {
        return editor.show_status(format!("“{name}” could not be read."));
    };
    match file::read(&text) {
        Err(why) => editor.show_status(format!("“{name}”: {why}")),
        Ok(read) => editor.change(|notes| {
            let merged = notes.merge(read.notes.iter().cloned());
            let mut text = merged_text(merged, &format!("from “{name}”"));
            if read.log.is_some() && fingerprint.is_some() && read.log != fingerprint {
                text += " They belong to another log.";
            }
            for problem in &read.problems {
                text += " ";
                text += problem;
            }
            text
        }),
    }
}

#[component]
pub(super) fn NotesPanel(props: &PanelProps) -> Html {
    let notes = &props.view.notes;
    let on_notes = props.on_change.reform(Change::notes);
    let node = use_node_ref();
    let last_operation = use_state_eq(|| None::<LastOperation>);
    let latest = use_mut_ref(|| Rc::clone(notes));
    *latest.borrow_mut() = Rc::clone(notes);
    let editor = NotesEditor {
        notes: latest,
        on_notes: on_notes.clone(),
        last_operation: last_operation.setter(),
    };
    let (looking, on_markers) = use_markers(&props.source.client, editor.clone());
    html! {
        <div class="notes" ref={node.clone()} tabindex="-1">
            <div class="controls">
                <Buttons notes={Rc::clone(notes)}
                    ranged={props.range.is_some()} looking={looking || !props.source.complete} {on_markers}
                    on_add={props.on_action.reform(|()| Action::AddNote)}
                    on_clear={let editor = editor.clone(); Callback::from(move |()| editor.change(|notes| {
                        let text = format!("Deleted {}.", pluralize(notes.len() as u64, "note"));
                        *notes = Notes::default();
                        text
                    }))}
                    on_save={props.on_action.reform(|()| Action::SaveNotes)}
                    on_file={let (editor, fingerprint) = (editor.clone(), props.fingerprint); Callback::from(move |file|
                        spawn_local(load(file, editor.clone(), fingerprint)))} />
                { last_operation_text(last_operation.as_ref(), notes, &on_notes) }
            </div>
            { view_table(props, &editor, &node) }
        </div>
    }
}

fn view_table(props: &PanelProps, editor: &NotesEditor, node: &NodeRef) -> Html {
    let notes = &props.view.notes;
    if notes.is_empty() {
        return html! {
            <div class="empty">
                <p>{ "A note names an instant or a range of the log, such as “slow request”. Press B on the timeline to add one at the selected range, or else at the pointer." }</p>
                <p>{ "Notes are part of links to the view, and can be saved as a file. The log itself is never changed." }</p>
            </div>
        };
    }
    let row = |(number, note): (usize, &Note)| {
        let (renamer, deleter, node) = (editor.clone(), editor.clone(), node.clone());
        let on_name = Callback::from(move |name: String| {
            renamer.change(|notes| {
                notes.rename(number, &name);
                String::new()
            });
        });
        let on_delete = Callback::from(move |()| {
            // Otherwise the focus would be lost when the row disappears.
            if let Some(panel) = node.cast::<HtmlElement>() {
                let _ = panel.focus();
            }
            deleter.change(|notes| match notes.remove(number) {
                Some(note) if !note.name().is_empty() => format!("Deleted “{}”.", note.name()),
                _ => "Deleted a note.".to_owned(),
            });
        });
        let focus = match props.request {
            Some((times, PanelRequest::NameNote(wanted))) if wanted == number => Some(times),
            _ => None,
        };
        html! {
            <NoteRow key={number} note={note.clone()} {on_name} {on_delete}
                {focus} on_goto={props.on_goto.clone()} />
        }
    };
    html! {
        <div class="notes-list">
            <table class="plain-table">
                <thead>
                    <tr><th scope="col">{ "Time" }</th><th scope="col">{ "Length" }</th><th scope="col">{ "Name" }</th>
                        <th scope="col"><span class="visually-hidden">{ "Actions" }</span></th></tr>
                </thead>
                <tbody>{ for notes.iter().enumerate().map(row) }</tbody>
            </table>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct ButtonsProps {
    notes: Rc<Notes>,
    /// Whether a range is selected, which the new note then covers.
    ranged: bool,
    /// Whether markers are being imported, or cannot be yet.
    looking: bool,
    on_add: Callback<()>,
    on_markers: Callback<()>,
    on_clear: Callback<()>,
    on_save: Callback<()>,
    on_file: Callback<File>,
}

/// Renders the buttons that add, import, save and delete notes.
#[component]
fn Buttons(props: &ButtonsProps) -> Html {
    let input = use_node_ref();
    let click = |callback: &Callback<()>| callback.reform(|_: MouseEvent| ());
    let choose = {
        let input = input.clone();
        move |_: MouseEvent| {
            if let Some(input) = input.cast::<HtmlElement>() {
                input.click();
            }
        }
    };
    let on_file = props.on_file.clone();
    let chosen = move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            on_file.emit(file);
        }
        // Lets the same file be chosen again.
        input.set_value("");
    };
    let none = props.notes.is_empty();
    let full = props.notes.len() >= MAX_NOTES;
    html! {
        <>
            <button onclick={click(&props.on_add)} disabled={full} title="B">
                { if props.ranged { "Add for the range" } else { "Add at the cursor" } }
            </button>
            <button onclick={click(&props.on_markers)} disabled={props.looking || full}
                title="Add a note for each marker of the program (traceMarker)">{ "From markers" }</button>
            <input ref={input} type="file" accept=".json,application/json" class="visually-hidden" tabindex="-1" aria-hidden="true" onchange={chosen} />
            <button onclick={choose}>{ "Load a file…" }</button>
            <button onclick={click(&props.on_save)} disabled={none}>{ "Save as a file" }</button>
            <button onclick={click(&props.on_clear)} disabled={none}>{ "Delete all" }</button>
        </>
    }
}

/// Renders the last operation, with Undo as long as the current notes are its result.
fn last_operation_text(
    last_operation: Option<&LastOperation>,
    notes: &Rc<Notes>,
    on_undo: &Callback<Notes>,
) -> Html {
    let last_operation = last_operation.filter(|last_operation| {
        let changed = last_operation.notes.as_ref();
        !last_operation.text.is_empty() && changed.is_none_or(|(_, after)| after == notes)
    });
    let undo = last_operation
        .and_then(|last_operation| last_operation.notes.clone())
        .map(|(before, _)| {
            let onclick = on_undo.reform(move |_: MouseEvent| (*before).clone());
            html! { <button class="small" {onclick}>{ "Undo" }</button> }
        });
    html! {
        <>
            <span class="done" role="status">{ last_operation.map(|last_operation| last_operation.text.clone()) }</span>
            { undo }
        </>
    }
}
