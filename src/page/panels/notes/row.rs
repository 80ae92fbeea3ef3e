//! A row of the table of notes.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::dom::focus;
use crate::field::Field;
use crate::heads::focus_current;
use crate::viewer::NavigationTarget;
use scene::format;
use views::notes::Note;

#[derive(Properties, PartialEq)]
pub(super) struct NoteRowProps {
    pub(super) note: Note,
    /// Incremented to request editing of this note's name; `None` if the request is for another note.
    pub(super) focus: Option<u32>,
    pub(super) on_name: Callback<String>,
    pub(super) on_delete: Callback<()>,
    pub(super) on_goto: Callback<NavigationTarget>,
}

#[component]
pub(super) fn NoteRow(props: &NoteRowProps) -> Html {
    let input = use_node_ref();
    {
        let input = input.clone();
        use_effect_with(props.focus, move |asked| {
            if let (Some(_), Some(input)) = (asked, input.cast::<HtmlInputElement>()) {
                // Focusing also scrolls the row into view.
                focus(&input);
                input.select();
            }
        });
    }
    let onkeydown = |event: KeyboardEvent| {
        if event.key() == "Enter" {
            let input: HtmlInputElement = event.target_unchecked_into();
            // Leaving the field renames the note.
            if !focus_current() {
                let _ = input.blur();
            }
        }
    };
    let note = props.note.clone();
    let onclick = props
        .on_goto
        .reform(move |_: MouseEvent| NavigationTarget::note(&note));
    let ondelete = props.on_delete.reform(|_: MouseEvent| ());
    let span = props.note.span();
    let (time, length) = (
        format::time(span.start()),
        format::duration(span.duration()),
    );
    let of = match props.note.name() {
        "" => format!("the note at {time}"),
        name => format!("“{name}”"),
    };
    html! {
        <tr>
            <td><button class="time number" {onclick} aria-label={format!("Go to {of}, {time}")}>{ &time }</button></td>
            <td class="number">{ if props.note.is_moment() { format::NO_VALUE.to_owned() } else { length } }</td>
            <td class="name"><Field node={input} kind="text" value={props.note.name().to_owned()} on_change={props.on_name.clone()} {onkeydown} placeholder="Name" label={format!("Name of the note at {time}")} /></td>
            <td><button class="quiet" onclick={ondelete} aria-label={format!("Delete {of}")} title="Delete">{ "✕" }</button></td>
        </tr>
    }
}
