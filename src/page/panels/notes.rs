//! The panel of notes: a table of them, and ways to get more.

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
use scene::format::many;
use views::actions::Action;
use views::fingerprint::Fingerprint;
use views::notes::{MAX_NOTES, Merged, Note, Notes, file};
use views::view::Change;

/// The largest file of notes that is read, in bytes: more than any needs.
const MAX_FILE: f64 = 4_194_304.0;

/// What was done last.
#[derive(Clone, PartialEq)]
struct Done {
    text: String,
    /// The notes before and after it, if it can be undone.
    notes: Option<(Rc<Notes>, Rc<Notes>)>,
}

/// Changes the notes and says what was done.
#[derive(Clone)]
struct Changer {
    /// The notes as they are now, also for what ends later.
    notes: Rc<RefCell<Rc<Notes>>>,
    on_notes: Callback<Notes>,
    done: UseStateSetter<Option<Done>>,
}

impl Changer {
    fn change(&self, text: impl FnOnce(&mut Notes) -> String) {
        let before = Rc::clone(&self.notes.borrow());
        let mut notes = (*before).clone();
        let text = text(&mut notes);
        let changed = notes != *before;
        self.done.set(Some(Done {
            text,
            notes: changed.then(|| (before, Rc::new(notes.clone()))),
        }));
        if changed {
            self.on_notes.emit(notes);
        }
    }

    fn say(&self, text: impl Into<String>) {
        let text = text.into();
        self.done.set(Some(Done { text, notes: None }));
    }
}

/// What has come of notes from elsewhere, in sentences.
fn merged_text(merged: Merged, from: &str) -> String {
    let mut text = format!("{} {from}.", many(merged.added as u64, "new note"));
    if merged.known > 0 {
        let were = if merged.known == 1 { "was" } else { "were" };
        text += &format!(" {} {were} there already.", merged.known);
    }
    if merged.left_out > 0 {
        text += &format!(
            " {} had no room: there can be {MAX_NOTES}.",
            merged.left_out
        );
    }
    text
}

/// Takes over the notes of a file.
async fn load(chosen: File, changer: Changer, fingerprint: Option<Fingerprint>) {
    let name = chosen.name();
    if chosen.size() > MAX_FILE {
        return changer.say(format!("“{name}” is too large for a file of notes."));
    }
    let text = JsFuture::from(chosen.text()).await;
    let Some(text) = text.ok().and_then(|text| text.as_string()) else {
        return changer.say(format!("“{name}” could not be read."));
    };
    match file::read(&text) {
        Err(why) => changer.say(format!("“{name}”: {why}")),
        Ok(read) => changer.change(|notes| {
            let merged = notes.merge(read.notes.iter().cloned());
            let mut text = merged_text(merged, &format!("from “{name}”"));
            if read.log.is_some() && fingerprint.is_some() && read.log != fingerprint {
                text += " They were made for another log.";
            }
            for problem in &read.problems {
                text += " ";
                text += problem;
            }
            text
        }),
    }
}

/// The panel.
#[component]
pub(super) fn NotesPanel(props: &PanelProps) -> Html {
    let notes = &props.view.notes;
    let on_notes = props.on_change.reform(Change::notes);
    let node = use_node_ref();
    let done = use_state_eq(|| None::<Done>);
    let latest = use_mut_ref(|| Rc::clone(notes));
    *latest.borrow_mut() = Rc::clone(notes);
    let changer = Changer {
        notes: latest,
        on_notes: on_notes.clone(),
        done: done.setter(),
    };
    let (looking, on_markers) = use_markers(&props.source.client, changer.clone());
    html! {
        <div class="notes" ref={node.clone()} tabindex="-1">
            <div class="controls">
                <Buttons notes={Rc::clone(notes)}
                    ranged={props.range.is_some()} looking={looking || !props.source.complete} {on_markers}
                    on_add={props.on_action.reform(|()| Action::AddNote)}
                    on_clear={let changer = changer.clone(); Callback::from(move |()| changer.change(|notes| {
                        let text = format!("Deleted {}.", many(notes.len() as u64, "note"));
                        *notes = Notes::default();
                        text
                    }))}
                    on_save={props.on_action.reform(|()| Action::SaveNotes)}
                    on_file={let (changer, fingerprint) = (changer.clone(), props.fingerprint); Callback::from(move |file|
                        spawn_local(load(file, changer.clone(), fingerprint)))} />
                <DoneText done={(*done).clone()} notes={Rc::clone(notes)} on_undo={on_notes} />
            </div>
            { view_table(props, &changer, &node) }
        </div>
    }
}

fn view_table(props: &PanelProps, changer: &Changer, node: &NodeRef) -> Html {
    let notes = &props.view.notes;
    if notes.is_empty() {
        return html! {
            <div class="empty">
                <p>{ "A note is a name for a moment or a range of the log, such as “slow request”. Press B on the timeline to add one at the selected range, or else at the pointer." }</p>
                <p>{ "Notes are part of the link, so that whoever opens the same log with it sees them, and can be saved as a file. The log itself is never changed." }</p>
            </div>
        };
    }
    let row = |(number, note): (usize, &Note)| {
        let (renamer, deleter, node) = (changer.clone(), changer.clone(), node.clone());
        let on_name = Callback::from(move |name: String| {
            renamer.change(|notes| {
                notes.rename(number, &name);
                String::new()
            });
        });
        let on_delete = Callback::from(move |()| {
            // Otherwise the focus would be lost with the row.
            if let Some(panel) = node.cast::<HtmlElement>() {
                let _ = panel.focus();
            }
            deleter.change(|notes| match notes.remove(number) {
                Some(note) if !note.name().is_empty() => format!("Deleted “{}”.", note.name()),
                _ => "Deleted a note.".to_owned(),
            });
        });
        let focus = match props.wish {
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
                        <th scope="col"><span class="visually-hidden">{ "What to do with it" }</span></th></tr>
                </thead>
                <tbody>{ for notes.iter().enumerate().map(row) }</tbody>
            </table>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct ButtonsProps {
    notes: Rc<Notes>,
    /// Whether a range is selected.
    ranged: bool,
    /// Whether markers are being looked for, or cannot be yet.
    looking: bool,
    on_add: Callback<()>,
    on_markers: Callback<()>,
    on_clear: Callback<()>,
    on_save: Callback<()>,
    on_file: Callback<File>,
}

/// Ways to get notes, and to keep them.
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
        // So that the same file can be chosen again.
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
                title="The program's own markers (traceMarker) become notes">{ "From markers" }</button>
            <input ref={input} type="file" accept=".json,application/json" class="visually-hidden" tabindex="-1" aria-hidden="true" onchange={chosen} />
            <button onclick={choose}>{ "Load a file…" }</button>
            <button onclick={click(&props.on_save)} disabled={none}>{ "Save as a file" }</button>
            <button onclick={click(&props.on_clear)} disabled={none}>{ "Delete all" }</button>
        </>
    }
}

#[derive(Properties, PartialEq)]
struct DoneTextProps {
    done: Option<Done>,
    /// As they are now.
    notes: Rc<Notes>,
    on_undo: Callback<Notes>,
}

/// What was done last, with the way back as long as nothing else was done.
#[component]
fn DoneText(props: &DoneTextProps) -> Html {
    let done = props.done.as_ref().filter(|done| {
        let changed = done.notes.as_ref();
        !done.text.is_empty() && changed.is_none_or(|(_, after)| *after == props.notes)
    });
    let undo = done.and_then(|done| done.notes.clone()).map(|(before, _)| {
        let onclick = props.on_undo.reform(move |_: MouseEvent| (*before).clone());
        html! { <button class="small" {onclick}>{ "Undo" }</button> }
    });
    html! {
        <>
            <span class="done" role="status">{ done.map(|done| done.text.clone()) }</span>
            { undo }
        </>
    }
}
