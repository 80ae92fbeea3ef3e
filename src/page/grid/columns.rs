//! The menu that arranges the columns of a table, and where their arrangement is kept.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::dom::{focus_id, set_style};
use crate::kept::{keep, kept};
use crate::menu::Menu;
use crate::theme::holds;
use views::columns::{Arrangement, Change, Column};

/// The id of the open menu: there is one table at a time.
const MENU: &str = "columns-menu";
/// What is left free between the menu, its button and the edges of the window, in pixels.
const APART_PX: f64 = 6.0;

/// Whether the window is a narrow one, such as that of a phone.
pub(super) fn is_narrow() -> bool {
    holds("(max-width: 640px)")
}

/// How the columns of a list are arranged.
pub(super) fn kept_as(list: &str, columns: &'static [Column]) -> Rc<Arrangement> {
    let kept = kept(&format!("columns-{list}")).unwrap_or_default();
    Rc::new(Arrangement::read(&kept, columns, is_narrow()))
}

/// Keeps how they are arranged.
pub(super) fn keep_as(list: &str, arrangement: &Arrangement) {
    let text = arrangement.kept();
    keep(&format!("columns-{list}"), text.as_deref());
}

/// Tells the style sheet how wide the columns of a table are.
pub(super) fn lay_out(grid: &HtmlElement, arrangement: &Arrangement) {
    set_style(grid, "--columns", &arrangement.template());
    set_style(grid, "--row", &format!("{}px", arrangement.row_px()));
    set_style(grid, "--first", &format!("{}px", arrangement.px(0)));
}

#[derive(Properties, PartialEq, Clone)]
pub(super) struct ColumnsMenuProps {
    pub(super) arrangement: Rc<Arrangement>,
    pub(super) on_change: Callback<Change>,
}

/// The button at the head of the table and, while it is open, the menu.
#[component]
pub(super) fn ColumnsMenu(props: &ColumnsMenuProps) -> Html {
    let title = format!("Columns: {}. Show, hide and move them", count(props));
    html! {
        <Menu id={MENU} label="Columns" icon="M1.5 2.5h9v7h-9zM4.5 2.5v7M7.5 2.5v7" {title} class={classes!("columns-menu")}>
            <Choices ..props.clone() />
        </Menu>
    }
}

/// `14 of 18 shown`.
fn count(props: &ColumnsMenuProps) -> String {
    let all = props.arrangement.columns().len();
    format!("{} of {all} shown", props.arrangement.count_shown())
}

/// A column that was moved, and whether to the right.
type Moved = (usize, bool);

/// What the menu offers.
#[component]
fn Choices(props: &ColumnsMenuProps) -> Html {
    let moved = use_state_eq(|| None::<Moved>);
    use_effect_with((), |()| {
        // Without a button there is no menu that has to be placed.
        let _ = place_menu();
    });
    use_effect_with(
        (Rc::clone(&props.arrangement), *moved),
        |(arrangement, moved)| {
            if let Some(moved) = *moved {
                keep_focus(arrangement, moved);
            }
        },
    );
    let button = |change: Change, text: &'static str| {
        let (on_change, moved) = (props.on_change.clone(), moved.setter());
        let onclick = Callback::from(move |_: MouseEvent| {
            moved.set(None);
            on_change.emit(change);
        });
        html! { <button class="small" {onclick}>{ text }</button> }
    };
    let places = props.arrangement.places().iter();
    html! {
        <>
            <p class="faint">{ count(props) }{ ". What is copied and saved has all of them, in an order of its own." }</p>
            <ul>{ for places.map(|place| choice(props, place.column, place.is_shown, &moved)) }</ul>
            <p class="tools">{ button(Change::ShowAll, "Show all") }{ button(Change::Reset, "As at first") }</p>
            <span class="visually-hidden" role="status">{ moved.map(|(column, _)| where_it_is(&props.arrangement, column)) }</span>
        </>
    }
}

/// A column: whether it is shown, and where.
fn choice(
    props: &ColumnsMenuProps,
    column: usize,
    is_shown: bool,
    moved: &UseStateHandle<Option<Moved>>,
) -> Html {
    let arrangement = &props.arrangement;
    let about = &arrangement.columns()[column];
    let onchange = {
        let (on_change, moved) = (props.on_change.clone(), moved.setter());
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            moved.set(None);
            on_change.emit(Change::Show(column, input.checked()));
        })
    };
    let mover = |right: bool, sign: &'static str| {
        let side = if right { "right" } else { "left" };
        let name = format!("Move {} to the {side}", about.title);
        let (on_change, moved) = (props.on_change.clone(), moved.setter());
        let onclick = Callback::from(move |_: MouseEvent| {
            moved.set(Some((column, right)));
            on_change.emit(match right {
                true => Change::Right(column),
                false => Change::Left(column),
            });
        });
        html! {
            <button class="quiet" id={mover_id(column, right)} title={name.clone()} aria-label={name}
                disabled={!arrangement.may_move(column, right)} {onclick}>{ sign }</button>
        }
    };
    let stays = column < arrangement.staying();
    let title = match stays {
        true => "It always stands first: it says which row it is",
        false => about.help,
    };
    html! {
        <li>
            <label {title}><input type="checkbox" checked={is_shown} disabled={stays} {onchange} />{ about.title }</label>
            if !stays { { mover(false, "←") }{ mover(true, "→") } }
        </li>
    }
}

fn mover_id(column: usize, right: bool) -> String {
    format!("{MENU}-{column}-{right}")
}

/// The button that moved a column stands elsewhere now: it has the focus still, or the other
/// one, if the column cannot be moved further.
fn keep_focus(arrangement: &Arrangement, (column, right): Moved) {
    let can_go_on = arrangement.may_move(column, right);
    focus_id(&mover_id(column, if can_go_on { right } else { !right }));
}

/// `Ran is column 4 of 18`.
fn where_it_is(arrangement: &Arrangement, column: usize) -> String {
    let places = arrangement.places();
    let at = places.iter().position(|place| place.column == column);
    let title = arrangement.columns()[column].title;
    let at = at.map_or(0, |at| at + 1);
    format!("{title} is column {at} of {}", places.len())
}

/// The menu opens to where the window has more room: a table may be lower than the menu is.
fn place_menu() -> Option<()> {
    let document = gloo_utils::document();
    let menu = document.get_element_by_id(MENU)?;
    let button = menu.previous_element_sibling()?.get_bounding_client_rect();
    let menu: HtmlElement = menu.dyn_into().ok()?;
    let root = document.document_element()?;
    let (width, height) = (
        f64::from(root.client_width()),
        f64::from(root.client_height()),
    );
    let (above, below) = (button.top(), height - button.bottom());
    let (side, room) = match above > below {
        true => ("bottom", above),
        false => ("top", below),
    };
    let styles = [
        (side, height - room + APART_PX),
        ("max-height", room - 2.0 * APART_PX),
        ("right", (width - button.right()).max(APART_PX)),
    ];
    for (property, px) in styles {
        set_style(&menu, property, &format!("{px}px"));
    }
    Some(())
}
