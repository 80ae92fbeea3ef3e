//! Column menu of a table, and storage of the column arrangement.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::dom::{focus_id, inner_size, set_style};
use crate::menu::Menu;
use crate::preferences::{load_preference, store_preference};
use crate::theme::media_matches;
use views::columns::{Arrangement, Change, Column};

/// Id of the open menu; only one table is shown at a time.
const MENU: &str = "columns-menu";
/// Margin between the menu, its button and the window edges, in pixels.
const MARGIN_PX: f64 = 6.0;

/// Returns whether the window is narrow, as on a phone.
pub(super) fn is_narrow() -> bool {
    media_matches("(max-width: 640px)")
}

/// Loads the stored column arrangement of a table.
pub(super) fn load_arrangement(list: &str, columns: &'static [Column]) -> Rc<Arrangement> {
    let text = load_preference(&format!("columns-{list}")).unwrap_or_default();
    Rc::new(Arrangement::parse(&text, columns, is_narrow()))
}

/// Stores the column arrangement of a table.
pub(super) fn store_arrangement(list: &str, arrangement: &Arrangement) {
    let text = arrangement.to_text();
    store_preference(&format!("columns-{list}"), text.as_deref());
}

/// Passes the column widths to the style sheet.
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

/// Button at the head of the table and, while open, the column menu.
#[component]
pub(super) fn ColumnsMenu(props: &ColumnsMenuProps) -> Html {
    let title = format!("Columns: {}. Show, hide and move them", count(props));
    html! {
        <Menu id={MENU} label="Columns" icon="M1.5 2.5h9v7h-9zM4.5 2.5v7M7.5 2.5v7" {title} class={classes!("columns-menu")}>
            <Choices ..props.clone() />
        </Menu>
    }
}

/// Returns the number of shown columns as text: `14 of 18 shown`.
fn count(props: &ColumnsMenuProps) -> String {
    let all = props.arrangement.columns().len();
    format!("{} of {all} shown", props.arrangement.count_shown())
}

/// Moved column, and whether it moved to the right.
type MovedColumn = (usize, bool);

/// Contents of the column menu.
#[component]
fn Choices(props: &ColumnsMenuProps) -> Html {
    let moved = use_state_eq(|| None::<MovedColumn>);
    use_effect_with((), |()| {
        // `None` only if the button is gone; then there is no menu to place.
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
    let places = props.arrangement.states().iter();
    html! {
        <>
            <p class="faint">{ count(props) }{ ". Copied and saved tables contain all columns, in a fixed order." }</p>
            <ul>{ for places.map(|place| choice(props, place.column, place.is_shown, &moved)) }</ul>
            <p class="tools">{ button(Change::ShowAll, "Show all") }{ button(Change::Reset, "Reset") }</p>
            <span class="visually-hidden" role="status">{ moved.map(|(column, _)| where_it_is(&props.arrangement, column)) }</span>
        </>
    }
}

/// Renders the controls of one column: check box and move buttons.
fn choice(
    props: &ColumnsMenuProps,
    column: usize,
    is_shown: bool,
    moved: &UseStateHandle<Option<MovedColumn>>,
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
    let move_button = |right: bool, sign: &'static str| {
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
            <button class="quiet" id={move_button_id(column, right)} title={name.clone()} aria-label={name}
                disabled={!arrangement.may_move(column, right)} {onclick}>{ sign }</button>
        }
    };
    let stays = column < arrangement.fixed_count();
    let title = match stays {
        true => "Always first, because it identifies the row",
        false => about.help,
    };
    html! {
        <li>
            <label {title}><input type="checkbox" checked={is_shown} disabled={stays} {onchange} />{ about.title }</label>
            if !stays { { move_button(false, "←") }{ move_button(true, "→") } }
        </li>
    }
}

fn move_button_id(column: usize, right: bool) -> String {
    format!("{MENU}-{column}-{right}")
}

/// Restores the focus to the move button, which is rendered elsewhere after the move, or to the opposite one if
/// the column cannot move further.
fn keep_focus(arrangement: &Arrangement, (column, right): MovedColumn) {
    let can_go_on = arrangement.may_move(column, right);
    focus_id(&move_button_id(
        column,
        if can_go_on { right } else { !right },
    ));
}

/// Describes the position of a column: `Ran is column 4 of 18`.
fn where_it_is(arrangement: &Arrangement, column: usize) -> String {
    let places = arrangement.states();
    let at = places.iter().position(|place| place.column == column);
    let title = arrangement.columns()[column].title;
    let at = at.map_or(0, |at| at + 1);
    format!("{title} is column {at} of {}", places.len())
}

/// Opens the menu toward the side of the window with more room: a table may be lower than the menu.
fn place_menu() -> Option<()> {
    let document = gloo_utils::document();
    let menu = document.get_element_by_id(MENU)?;
    let button = menu.previous_element_sibling()?.get_bounding_client_rect();
    let menu: HtmlElement = menu.dyn_into().ok()?;
    let root = document.document_element()?;
    let (width, height) = inner_size(&root);
    let (above, below) = (button.top(), height - button.bottom());
    let (side, room) = match above > below {
        true => ("bottom", above),
        false => ("top", below),
    };
    let styles = [
        (side, height - room + MARGIN_PX),
        ("max-height", room - 2.0 * MARGIN_PX),
        ("right", (width - button.right()).max(MARGIN_PX)),
    ];
    for (property, px) in styles {
        set_style(&menu, property, &format!("{px}px"));
    }
    Some(())
}
