//! The palette: any action, track or note by some letters of its name.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, ScrollIntoViewOptions, ScrollLogicalPosition};
use yew::prelude::*;

use super::dialog::{close_modal, open_modal};
use super::dom::value_of;
use super::viewer::Goto;
use scene::format;
use views::actions::{Action, matching};
use views::timeline::arrange::TrackChange;
use views::timeline::reveal::Reach;

/// How many entries are shown at most.
const SHOWN: usize = 100;
/// How far Page Down goes.
const PAGE: usize = 8;

/// What an entry does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pick {
    Action(Action),
    Goto(Goto),
    /// Goes to a track.
    Track(Box<Reach>),
    /// Shows the tracks otherwise.
    Tracks(TrackChange),
    /// Filters the tracks.
    Filter(String),
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// What it is: a section of actions, `Track`, `Note`.
    pub(super) kind: &'static str,
    /// Its first key.
    pub(super) key: Option<String>,
    pub(super) pick: Pick,
}

#[derive(Clone, Properties, PartialEq)]
pub(super) struct PaletteProps {
    pub(super) entries: Rc<Vec<Entry>>,
    /// Whether there are tracks that can be filtered.
    pub(super) filters: bool,
    pub(super) on_pick: Callback<Pick>,
    pub(super) on_close: Callback<()>,
}

/// What was typed, and the entries for it.
#[derive(PartialEq)]
struct Found {
    typed: String,
    entries: Vec<Entry>,
}

/// The entries for what was typed, best first.
fn found(entries: &[Entry], typed: &str, filters: bool) -> Vec<Entry> {
    let names = entries.iter().map(|entry| entry.name.as_str());
    let mut found: Vec<Entry> = matching::rank(typed, names, SHOWN)
        .into_iter()
        .map(|number| entries[number].clone())
        .collect();
    let typed = typed.trim();
    if filters && !typed.is_empty() {
        found.push(Entry {
            name: format!("Filter the tracks: {typed}"),
            kind: "Tracks",
            key: None,
            pick: Pick::Filter(typed.to_owned()),
        });
    }
    found
}

fn option_id(number: usize) -> String {
    format!("palette-{number}")
}

/// The palette as a dialog.
#[component]
pub(super) fn Palette(props: &PaletteProps) -> Html {
    let (dialog, list) = (use_node_ref(), use_node_ref());
    let typed = use_state_eq(String::new);
    let at = use_state_eq(|| 0_usize);
    let shown = use_memo(
        ((*typed).clone(), Rc::clone(&props.entries), props.filters),
        |(typed, entries, filters)| Found {
            typed: typed.clone(),
            entries: found(entries, typed, *filters),
        },
    );
    {
        let dialog = dialog.clone();
        use_effect_with((), move |()| open_modal(&dialog));
    }
    {
        let list = list.clone();
        use_effect_with((*at, Rc::clone(&shown)), move |(at, _)| show(&list, *at));
    }
    let pick = {
        let (dialog, on_pick) = (dialog.clone(), props.on_pick.clone());
        Rc::new(move |entry: Option<&Entry>| {
            if let Some(entry) = entry {
                close_modal(&dialog);
                on_pick.emit(entry.pick.clone());
            }
        })
    };
    let oninput = {
        let (typed, at) = (typed.setter(), at.setter());
        move |event: InputEvent| {
            typed.set(value_of(event));
            at.set(0);
        }
    };
    let onkeydown = {
        let (dialog, at, pick) = (dialog.clone(), at.clone(), Rc::clone(&pick));
        let (shown, props) = (Rc::clone(&shown), props.clone());
        move |event: KeyboardEvent| {
            // While the palette is open, no key is for what is behind it.
            event.stop_propagation();
            if let Some(to) = moved(*at, shown.entries.len(), &event.key()) {
                at.set(to);
            } else if event.key() == "Enter" && !event.is_composing() {
                // On a busy machine the list of what was typed is not rendered yet. (A state
                // handle tells the newest value, not that of the list.)
                let now = value_of(event.clone());
                if now == shown.typed {
                    pick(shown.entries.get(*at));
                } else {
                    pick(found(&props.entries, &now, props.filters).first());
                }
            } else if leaves(&event) {
                // At once: the browser tells of a closed dialog a little later,
                // and the next key may come before.
                close_modal(&dialog);
                props.on_close.emit(());
            } else {
                return;
            }
            event.prevent_default();
        }
    };
    let on_backdrop = {
        let dialog = dialog.clone();
        move |event: MouseEvent| {
            if event.target().is_some_and(|target| {
                target.dyn_ref::<Element>() == dialog.cast::<Element>().as_ref()
            }) {
                close_modal(&dialog);
            }
        }
    };
    let options = shown.entries.iter().enumerate().map(|(number, entry)| {
        let (pick, shown, at_setter) = (Rc::clone(&pick), Rc::clone(&shown), at.setter());
        html! {
            <li id={option_id(number)} role="option" aria-selected={(number == *at).to_string()}
                onmousemove={move |_: MouseEvent| at_setter.set(number)} onclick={move |_: MouseEvent| pick(shown.entries.get(number))}>
                <span class="name">{ &entry.name }</span>
                <span class="kind">{ entry.kind }</span>
                if let Some(key) = &entry.key { <kbd>{ key }</kbd> }
            </li>
        }
    });
    let active = (!shown.entries.is_empty()).then(|| option_id(*at));
    // The pointer shall not take the focus from the field.
    let keep_focus = |event: MouseEvent| event.prevent_default();
    // The field keeps its own text: given back what was typed a render ago, it would lose what
    // was typed since.
    html! {
        <dialog ref={dialog} class="palette" aria-label="Find an action, a track or a note" onclose={props.on_close.reform(|_: Event| ())} onclick={on_backdrop}>
            <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
                aria-activedescendant={active} aria-label="What to find" placeholder="Find an action, a track or a note"
                autofocus=true autocomplete="off" spellcheck="false" {oninput} {onkeydown} />
            <ul ref={list} id="palette-list" role="listbox" aria-label="What was found" onmousedown={keep_focus}>{ for options }</ul>
            if shown.entries.is_empty() {
                <p class="nothing">{ "Nothing has that name." }</p>
            }
            <span class="visually-hidden" role="status">{ format!("{} found", format::count(shown.entries.len() as u64)) }</span>
        </dialog>
    }
}

/// Whether a key closes the palette: Escape, or what opened it.
fn leaves(event: &KeyboardEvent) -> bool {
    event.key() == "Escape" || ((event.ctrl_key() || event.meta_key()) && event.code() == "KeyK")
}

/// Where a key moves to among the entries.
fn moved(at: usize, count: usize, key: &str) -> Option<usize> {
    let last = count.saturating_sub(1);
    Some(match key {
        "ArrowDown" if at >= last => 0,
        "ArrowDown" => at + 1,
        "ArrowUp" => at.checked_sub(1).unwrap_or(last),
        "PageDown" => (at + PAGE).min(last),
        "PageUp" => at.saturating_sub(PAGE),
        _ => return None,
    })
}

/// Scrolls an entry into view.
fn show(list: &NodeRef, at: usize) {
    let entry = list
        .cast::<Element>()
        .and_then(|list| list.children().item(at as u32));
    if let Some(entry) = entry {
        let options = ScrollIntoViewOptions::new();
        options.set_block(ScrollLogicalPosition::Nearest);
        entry.scroll_into_view_with_scroll_into_view_options(&options);
    }
}
