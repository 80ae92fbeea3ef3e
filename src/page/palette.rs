//! Command palette: finds actions, tracks and notes by letters of their names.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, ScrollIntoViewOptions, ScrollLogicalPosition};
use yew::prelude::*;

use super::dialog::{close_modal, open_modal};
use super::dom::value_of;
use super::viewer::NavigationTarget;
use scene::format;
use views::actions::{Action, matching};
use views::timeline::arrange::TrackChange;
use views::timeline::reveal::RevealTarget;

/// Maximum number of shown entries.
const MAX_SHOWN: usize = 100;
/// Number of entries that Page Up and Page Down move by.
const PAGE: usize = 8;

/// Effect of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PaletteCommand {
    Action(Action),
    NavigationTarget(NavigationTarget),
    /// Goes to a track.
    Track(Box<RevealTarget>),
    /// Changes how tracks are shown.
    Tracks(TrackChange),
    /// Filters the tracks.
    Filter(String),
}

/// Entry of the palette.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Category: a section of actions, `Track` or `Note`.
    pub(super) kind: &'static str,
    /// First key binding.
    pub(super) key: Option<String>,
    pub(super) command: PaletteCommand,
}

#[derive(Clone, Properties, PartialEq)]
pub(super) struct PaletteProps {
    pub(super) entries: Rc<Vec<Entry>>,
    /// Whether to offer the typed text as a track filter.
    pub(super) filters: bool,
    pub(super) on_pick: Callback<PaletteCommand>,
    pub(super) on_close: Callback<()>,
}

/// Typed text with its matching entries.
#[derive(PartialEq)]
struct Matches {
    typed: String,
    entries: Vec<Entry>,
}

/// Returns the entries that match the typed text, best first.
fn matches(entries: &[Entry], typed: &str, filters: bool) -> Vec<Entry> {
    let names = entries.iter().map(|entry| entry.name.as_str());
    let mut matches: Vec<Entry> = matching::rank(typed, names, MAX_SHOWN)
        .into_iter()
        .map(|number| entries[number].clone())
        .collect();
    let typed = typed.trim();
    if filters && !typed.is_empty() {
        matches.push(Entry {
            name: format!("Filter the tracks: {typed}"),
            kind: "Tracks",
            key: None,
            command: PaletteCommand::Filter(typed.to_owned()),
        });
    }
    matches
}

fn option_id(number: usize) -> String {
    format!("palette-{number}")
}

/// Modal dialog with a search field and the matching entries.
#[component]
pub(super) fn Palette(props: &PaletteProps) -> Html {
    let (dialog, list) = (use_node_ref(), use_node_ref());
    let typed = use_state_eq(String::new);
    let at = use_state_eq(|| 0_usize);
    let shown = use_memo(
        ((*typed).clone(), Rc::clone(&props.entries), props.filters),
        |(typed, entries, filters)| Matches {
            typed: typed.clone(),
            entries: matches(entries, typed, *filters),
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
                on_pick.emit(entry.command.clone());
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
            // While the palette is open, keys must not reach the page behind it.
            event.stop_propagation();
            if let Some(to) = moved_index(*at, shown.entries.len(), &event.key()) {
                at.set(to);
            } else if event.key() == "Enter" && !event.is_composing() {
                // On a busy machine, the list may not reflect the typed text yet. (A state handle returns the
                // newest value, not the rendered one.)
                let now = value_of(event.clone());
                if now == shown.typed {
                    pick(shown.entries.get(*at));
                } else {
                    pick(matches(&props.entries, &now, props.filters).first());
                }
            } else if closes_palette(&event) {
                // Immediately: the browser reports the closed dialog a little later, and the next key may come
                // before.
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
    // A click must not take the focus from the field.
    let keep_focus = |event: MouseEvent| event.prevent_default();
    // The field is uncontrolled: writing back a text from an earlier render would lose the letters typed since.
    html! {
        <dialog ref={dialog} class="palette" aria-label="Find an action, a track or a note" onclose={props.on_close.reform(|_: Event| ())} onclick={on_backdrop}>
            <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
                aria-activedescendant={active} aria-label="Search" placeholder="Find an action, a track or a note"
                autofocus=true autocomplete="off" spellcheck="false" {oninput} {onkeydown} />
            <ul ref={list} id="palette-list" role="listbox" aria-label="Matches" onmousedown={keep_focus}>{ for options }</ul>
            if shown.entries.is_empty() {
                <p class="nothing">{ "No matches." }</p>
            }
            <span class="visually-hidden" role="status">{ format!("{} found", format::count(shown.entries.len() as u64)) }</span>
        </dialog>
    }
}

/// Returns whether a key closes the palette: Escape, or the key that opened it.
fn closes_palette(event: &KeyboardEvent) -> bool {
    event.key() == "Escape" || ((event.ctrl_key() || event.meta_key()) && event.code() == "KeyK")
}

/// Returns the entry that a key moves to.
fn moved_index(at: usize, count: usize, key: &str) -> Option<usize> {
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
