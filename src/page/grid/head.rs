//! Table head. A click on a heading sorts, dragging it moves the column, and dragging its edge resizes the column.
//! Tab focuses one heading and its edge, and the arrow keys move to the others.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use super::columns::lay_out;
use crate::dom::{consume, elements, focus_id, has_class, has_modifier};
use views::columns::{Arrangement, Change, WIDTHS_PX};

/// Maximum movement of the pointer, in pixels, for a press to count as a click.
const CLICK_PX: i32 = 5;
/// Resize step of an arrow key, in pixels: without and with Shift.
const STEP_PX: (i32, i32) = (8, 40);
/// CSS class of the resize handle of a heading.
const EDGE: &str = "edge";

#[derive(Properties, PartialEq)]
pub(super) struct HeadProps {
    /// Name of the table.
    pub(super) name: &'static str,
    pub(super) arrangement: Rc<Arrangement>,
    /// Sort column, and whether the order is descending.
    pub(super) sort: Option<(usize, bool)>,
    pub(super) on_sort: Callback<usize>,
    pub(super) on_change: Callback<Change>,
}

/// Drag in progress.
#[derive(Clone, Copy, PartialEq)]
enum Drag {
    /// A heading: its start position, and the column whose place it would take.
    Heading {
        column: usize,
        from: (i32, i32),
        onto: Option<usize>,
    },
    /// A resize handle: its start position, and the column width there.
    Edge {
        column: usize,
        from_x: i32,
        width_px: i32,
    },
}

/// Row of column headings.
#[component]
pub(super) fn Head(props: &HeadProps) -> Html {
    // Column of the focused heading.
    let at = use_state_eq(|| None::<usize>);
    let drag = use_state_eq(|| None::<Drag>);
    // A drag ends with a click event, which must not sort.
    let was_drag = use_mut_ref(|| false);
    let onfocusin = {
        let at = at.setter();
        Callback::from(move |event: FocusEvent| at.set(heading_of(&event).map(|(_, it)| it)))
    };
    let onkeydown = {
        let (name, arrangement) = (props.name, Rc::clone(&props.arrangement));
        let on_change = props.on_change.clone();
        Callback::from(move |event: KeyboardEvent| {
            if has_modifier(&event) {
                return;
            }
            let Some((element, column)) = heading_of(&event) else {
                return;
            };
            let done = if has_class(&element, EDGE) {
                let width = width_for_key(&element, &arrangement, column, &event);
                width.map(|px| on_change.emit(Change::Widen(column, px)))
            } else {
                neighbor(&arrangement, column, &event.key())
                    .map(|column| focus_id(&heading_id(name, column)))
            };
            if done.is_some() {
                consume(&event);
            }
        })
    };
    let ondblclick = {
        let (arrangement, on_change) = (Rc::clone(&props.arrangement), props.on_change.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some((element, column)) = heading_of(&event)
                && has_class(&element, EDGE)
            {
                on_change.emit(Change::Widen(
                    column,
                    fitting_width(&element, &arrangement, column),
                ));
            }
        })
    };
    let (onpointerdown, onpointermove, onpointerup) = dragging(props, &drag, &was_drag);
    let on_sort = {
        let on_sort = props.on_sort.clone();
        Callback::from(move |column: usize| {
            if !was_drag.take() {
                on_sort.emit(column);
            }
        })
    };
    let is_shown = |column: &usize| {
        props
            .arrangement
            .visible_columns()
            .any(|(_, it)| it == *column)
    };
    let at = at.filter(is_shown).unwrap_or(0);
    let heading = |(place, column): (usize, usize)| Heading {
        props,
        place,
        column,
        is_at: column == at,
        drop: drop_class(*drag, column, props),
    };
    html! {
        <div class="grid-head grid-row" role="row" aria-rowindex="1" {onfocusin} {onkeydown} {ondblclick}
            {onpointerdown} {onpointermove} onpointerup={onpointerup.clone()} onpointercancel={onpointerup}>
            { for props.arrangement.visible_columns().map(heading).map(|heading| heading.view(&on_sort)) }
        </div>
    }
}

/// Heading of one column.
struct Heading<'a> {
    props: &'a HeadProps,
    /// Position among all columns, from 1.
    place: usize,
    column: usize,
    /// Whether Tab focuses this heading.
    is_at: bool,
    /// CSS class that marks the side at which a dragged heading would be dropped.
    drop: Option<&'static str>,
}

impl Heading<'_> {
    fn view(self, on_sort: &Callback<usize>) -> Html {
        let (arrangement, number) = (&self.props.arrangement, self.column);
        let column = &arrangement.columns()[number];
        let sorted = self.props.sort.filter(|(by, _)| *by == number);
        let (word, arrow) = match sorted {
            Some((_, true)) => (Some("descending"), " ↓"),
            Some((_, false)) => (Some("ascending"), " ↑"),
            None => (column.sortable.then_some("none"), ""),
        };
        let text = html! { <>{ column.title }<span aria-hidden="true">{ arrow }</span></> };
        let onclick = on_sort.reform(move |_: MouseEvent| number);
        let tabindex = if self.is_at { "0" } else { "-1" };
        let id = heading_id(self.props.name, number);
        let is_partial = arrangement.count_shown() < arrangement.columns().len();
        let place = is_partial.then(|| self.place.to_string());
        let (least, most) = WIDTHS_PX;
        html! {
            <div role="columnheader" key={column.id} data-column={number.to_string()} aria-colindex={place} aria-sort={word}
                aria-label={column.title} title={column.help} class={classes!(column.number.then_some("right"), self.drop)}>
                if column.sortable {
                    <button class="quiet" data-help={column.help} {id} {tabindex} {onclick}>{ text }</button>
                } else {
                    <span data-help={column.help} {id} {tabindex}>{ text }</span>
                }
                <div class={EDGE} role="separator" aria-orientation="vertical" {tabindex} aria-label={format!("Width of {}", column.title)}
                    title="Drag or press arrow keys to resize. Double click or Enter fits the content; again resets the width"
                    aria-valuenow={arrangement.px(number).to_string()} aria-valuemin={least.to_string()} aria-valuemax={most.to_string()}
                    onfocus={Callback::from(|event: FocusEvent| update_announced_width(&event.target_unchecked_into()))} />
            </div>
        }
    }
}

fn heading_id(name: &str, column: usize) -> String {
    format!("{name}-head-{column}")
}

/// Returns the event's target element and the column whose heading contains it.
fn heading_of<E: TargetCast>(event: &E) -> Option<(Element, usize)> {
    let element: Element = event.target_dyn_into()?;
    let column = column_of(&element)?;
    Some((element, column))
}

fn column_of(element: &Element) -> Option<usize> {
    let heading = element.closest("[data-column]").ok().flatten()?;
    heading.get_attribute("data-column")?.parse().ok()
}

/// Returns the column whose heading a key moves to.
fn neighbor(arrangement: &Arrangement, column: usize, key: &str) -> Option<usize> {
    let shown: Vec<usize> = arrangement
        .visible_columns()
        .map(|(_, column)| column)
        .collect();
    let at = shown.iter().position(|it| *it == column)?;
    let to = match key {
        "ArrowLeft" => at.saturating_sub(1),
        "ArrowRight" => (at + 1).min(shown.len() - 1),
        "Home" => 0,
        "End" => shown.len() - 1,
        _ => return None,
    };
    shown.get(to).copied()
}

/// Returns the rendered width of a handle's heading, in pixels.
fn width_px(edge: &Element) -> i32 {
    let heading = edge.parent_element();
    let heading = heading.and_then(|it| it.dyn_into::<HtmlElement>().ok());
    heading.map_or(0, |heading| heading.offset_width())
}

/// Updates the announced width from the layout: a flexible column grows with the available space.
fn update_announced_width(edge: &Element) {
    let _ = edge.set_attribute("aria-valuenow", &width_px(edge).to_string());
}

/// Clamps a width to the allowed range.
fn clamp_width(px: i32) -> u16 {
    let (least, most) = WIDTHS_PX;
    u16::try_from(px.max(0)).unwrap_or(most).clamp(least, most)
}

/// Returns the column width after a key on a resize handle; `Some(None)` restores the initial width.
fn width_for_key(
    edge: &Element,
    arrangement: &Arrangement,
    column: usize,
    event: &KeyboardEvent,
) -> Option<Option<u16>> {
    let step = if event.shift_key() {
        STEP_PX.1
    } else {
        STEP_PX.0
    };
    let by = match event.key().as_str() {
        "ArrowLeft" => -step,
        "ArrowRight" => step,
        "Home" => i32::from(i16::MIN),
        "Enter" => return Some(fitting_width(edge, arrangement, column)),
        _ => return None,
    };
    Some(Some(clamp_width(width_px(edge) + by)))
}

/// Returns the width that fits the visible cells of a column; `None` (the initial width) if the column has that
/// width already.
fn fitting_width(edge: &Element, arrangement: &Arrangement, column: usize) -> Option<u16> {
    let grid = edge.closest(".grid").ok().flatten()?;
    let grid: HtmlElement = grid.dyn_into().ok()?;
    let at = arrangement
        .visible_columns()
        .position(|(_, it)| it == column)?
        + 1;
    // With almost no width, the cells overflow, so that `scroll_width` is the width of their contents.
    let narrow = arrangement.changed(Change::Widen(column, Some(0)));
    lay_out(&grid, &narrow);
    let cell = format!(".grid-row > :nth-child({at})");
    let cells = elements(&grid, &format!("{cell}, {cell} > :first-child"));
    let widths = cells.iter().map(Element::scroll_width);
    let px = clamp_width(widths.max().unwrap_or(0) + 1);
    lay_out(&grid, arrangement);
    (arrangement.set_px(column) != Some(px)).then_some(px)
}

type Pointer = Callback<PointerEvent>;

/// Creates the pointer handlers that move and resize columns.
fn dragging(
    props: &HeadProps,
    drag: &UseStateHandle<Option<Drag>>,
    was_drag: &Rc<std::cell::RefCell<bool>>,
) -> (Pointer, Pointer, Pointer) {
    let down = {
        let (drag, was_drag) = (drag.setter(), Rc::clone(was_drag));
        Callback::from(move |event: PointerEvent| {
            was_drag.replace(false);
            let Some((element, column)) = heading_of(&event).filter(|_| event.button() == 0) else {
                return;
            };
            if has_class(&element, EDGE) {
                // Without capture, a drag would end when the pointer leaves the handle.
                let _ = element.set_pointer_capture(event.pointer_id());
                drag.set(Some(Drag::Edge {
                    column,
                    from_x: event.client_x(),
                    width_px: width_px(&element),
                }));
            } else if event.pointer_type() != "touch" {
                // On touch screens, a drag scrolls.
                drag.set(Some(Drag::Heading {
                    column,
                    from: (event.client_x(), event.client_y()),
                    onto: None,
                }));
            }
        })
    };
    let moved = {
        let (drag, arrangement) = (drag.clone(), Rc::clone(&props.arrangement));
        let on_change = props.on_change.clone();
        Callback::from(move |event: PointerEvent| match *drag {
            Some(_) if event.buttons() & 1 == 0 => drag.set(None),
            Some(Drag::Edge {
                column,
                from_x,
                width_px,
            }) => {
                let px = clamp_width(width_px + event.client_x() - from_x);
                on_change.emit(Change::Widen(column, Some(px)));
            }
            Some(Drag::Heading { column, from, onto }) => {
                let to = target(&arrangement, column, from, onto, event.client_x());
                if to.is_some()
                    && onto.is_none()
                    && let Some((element, _)) = heading_of(&event)
                {
                    let _ = element.set_pointer_capture(event.pointer_id());
                }
                drag.set(Some(Drag::Heading {
                    column,
                    from,
                    onto: to,
                }));
            }
            None => {}
        })
    };
    let up = {
        let (drag, was_drag) = (drag.clone(), Rc::clone(was_drag));
        let (arrangement, on_change) = (Rc::clone(&props.arrangement), props.on_change.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(dragged) = *drag else { return };
            drag.set(None);
            if let Drag::Heading { column, from, onto } = dragged
                && let Some(onto) = target(&arrangement, column, from, onto, event.client_x())
                && event.type_() == "pointerup"
            {
                was_drag.replace(true);
                on_change.emit(Change::Put(column, onto));
            }
        })
    };
    (down, moved, up)
}

/// Returns the column whose place a dragged heading would take; `None` if the press still counts as a click or the
/// column is fixed.
fn target(
    arrangement: &Arrangement,
    column: usize,
    (from_x, y): (i32, i32),
    onto: Option<usize>,
    x: i32,
) -> Option<usize> {
    if (onto.is_none() && (x - from_x).abs() <= CLICK_PX) || column < arrangement.fixed_count() {
        return None;
    }
    let at = gloo_utils::document().element_from_point(x as f32, y as f32)?;
    column_of(&at).filter(|at| *at >= arrangement.fixed_count())
}

/// Returns the CSS class for the side of a heading where the dragged column would be inserted.
fn drop_class(drag: Option<Drag>, here: usize, props: &HeadProps) -> Option<&'static str> {
    let Some(Drag::Heading { column, onto, .. }) = drag else {
        return None;
    };
    let places = props.arrangement.states().iter();
    let at = |column: usize| places.clone().position(|place| place.column == column);
    (onto == Some(here) && column != here).then(|| {
        if at(column) < at(here) {
            "drop-behind"
        } else {
            "drop-before"
        }
    })
}
