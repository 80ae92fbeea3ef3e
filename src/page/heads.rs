//! Track heads: elements over the track names that the canvas paints. They provide focus, accessible names and
//! controls: fold, pin, hide, move, and limit the selection to a track.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement};
use yew::prelude::*;

use super::dom::has_class;
use super::ptr_eq::PtrEq;
use super::viewer::{ViewerNumber, ViewerRef};
use session::tracks::name::TrackName;
use views::timeline::arrange::TrackChange;
use views::timeline::layout::{Kind, Layout, Track};

#[derive(Properties, PartialEq)]
pub(super) struct HeadsProps {
    pub(super) viewer: ViewerRef,
    /// Accessible name of the list of tracks.
    pub(super) label: AttrValue,
    pub(super) layout: PtrEq<Layout>,
    /// Indexes of the tracks that are scrolled into view.
    pub(super) tracks_in_view: std::ops::Range<usize>,
    /// Track with the keyboard focus.
    pub(super) current: Option<TrackName>,
    pub(super) on_change: Callback<TrackChange>,
}

/// Returns the accessible name of a track.
fn accessible_name(track: &Track) -> String {
    let note = &track.note;
    let pinned = if track.pinned { ", pinned" } else { "" };
    let selected = if track.selected { ", selected" } else { "" };
    format!("{} {note}{pinned}{selected}", track.title)
}

/// Returns the CSS class for the height of a track.
fn height_class(track: &Track) -> String {
    format!("h{:.0}", track.height())
}

fn head_id(viewer: ViewerNumber, name: &TrackName) -> String {
    viewer.id(&format!("head-{name}"))
}

/// Maximum movement of the pointer, in pixels, for a press to count as a click.
const CLICK_PX: i32 = 5;

/// Head being dragged: where the drag started, and the track it would be dropped on.
#[derive(Clone, PartialEq)]
struct Dragged {
    name: TrackName,
    from_y: i32,
    drop_target: Option<usize>,
}

/// Heads of all visible tracks.
#[component]
pub(super) fn Heads(props: &HeadsProps) -> Html {
    let dragged = use_state_eq(|| None::<Dragged>);
    // A drag ends with a click event, which must not fold.
    let was_drag = use_mut_ref(|| false);
    let place = use_mut_ref(|| 0_usize);
    {
        let deps = (
            props.current.clone(),
            props.tracks_in_view.clone(),
            props.layout.clone(),
        );
        let viewer = props.viewer.number();
        use_effect_with(deps, move |(current, _, layout)| {
            if let Some(name) = current {
                keep_focus(viewer, name, layout, &mut place.borrow_mut());
            }
        });
    }
    let tracks = props.layout.tracks();
    let pinned = props.layout.pinned();
    let first = props.tracks_in_view.start.min(tracks.len());
    let tracks_in_view = first..props.tracks_in_view.end.min(tracks.len());
    let current = props
        .current
        .as_ref()
        .filter(|name| tracks.iter().any(|track| track.name == **name))
        .or_else(|| tracks.get(first).map(|track| &track.name));
    let head = |index: usize| {
        let track = &tracks[index];
        let is_current = current == Some(&track.name);
        head(props, index, track, is_current, (&dragged, &was_drag))
    };
    html! {
        <div class="heads" role="treegrid" aria-label={props.label.clone()} aria-rowcount={tracks.len().to_string()}>
            <div class="heads-pinned" role="rowgroup" aria-label="Pinned tracks">
                { for (0..pinned).map(head) }
            </div>
            <div class="heads-rest" role="rowgroup" aria-label="Scrolling tracks">
                <div class="heads-moved" role="presentation">{ for tracks_in_view.map(head) }</div>
            </div>
        </div>
    }
}

/// Focuses the head of the current track after it was moved or, if the track is gone, the head now at its `place`.
fn keep_focus(viewer: ViewerNumber, name: &TrackName, layout: &Layout, place: &mut usize) {
    let tracks = layout.tracks();
    if let Some(at) = tracks.iter().position(|track| track.name == *name) {
        *place = at;
        focus(viewer, name);
    } else if let Some(track) = tracks.get(*place).or_else(|| tracks.last()) {
        focus(viewer, &track.name);
    }
}

/// Focuses the current head; returns false if there is none.
pub(super) fn focus_current() -> bool {
    focus_first(".head[tabindex='0']")
}

/// Focuses the current head of a timeline; returns false if there is none.
pub(super) fn focus_current_of(viewer: ViewerNumber) -> bool {
    focus_first(&format!(
        ".timeline[data-viewer='{}'] .head[tabindex='0']",
        viewer.0
    ))
}

/// Focuses the first element that matches a selector; returns false if there is none.
fn focus_first(selector: &str) -> bool {
    let element = gloo_utils::document().query_selector(selector);
    element
        .ok()
        .flatten()
        .is_some_and(|element| focus_in_place(&element))
}

/// Focuses an element without scrolling to it.
fn focus_in_place(element: &Element) -> bool {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    let element = element.dyn_ref::<HtmlElement>();
    element.is_some_and(|element| element.focus_with_options(&options).is_ok())
}

/// Focuses the head of a track, if the focus is on its timeline, on another head there or nowhere.
fn focus(viewer: ViewerNumber, name: &TrackName) {
    let document = gloo_utils::document();
    let Some(head) = document.get_element_by_id(&head_id(viewer, name)) else {
        return;
    };
    // Focus in the menu, in the details or on a head's buttons stays there.
    let here = document.active_element().is_none_or(|active| {
        let is = |class: &str| has_class(&active, class);
        let timeline = |element: &Element| element.closest(".timeline").ok().flatten();
        let same = timeline(&active) == timeline(&head);
        active.tag_name() == "BODY" || (same && (is("timeline") || is("head")))
    });
    if here {
        focus_in_place(&head);
    }
}

fn head(
    props: &HeadsProps,
    index: usize,
    track: &Track,
    current: bool,
    (dragged, was_drag): (&UseStateHandle<Option<Dragged>>, &Rc<RefCell<bool>>),
) -> Html {
    let heading = track.row().is_none();
    let dropped_on = dragged
        .as_ref()
        .is_some_and(|drag| drag.drop_target == Some(index));
    let class = classes!(
        "head",
        height_class(track),
        heading.then_some("heading"),
        current.then_some("current"),
        dropped_on.then_some("drop"),
    );
    let level = match track.kind {
        Kind::Process => "1",
        Kind::Group(_) if track.process.is_none() => "1",
        Kind::Group(_) => "2",
        _ if track.process.is_some() => "3",
        _ => "2",
    };
    let onfocus = {
        let (viewer, name) = (props.viewer.clone(), track.name.clone());
        Callback::from(move |_: FocusEvent| viewer.set_track(&name))
    };
    let onclick = {
        let (on_change, name) = (props.on_change.clone(), track.name.clone());
        let was_drag = Rc::clone(was_drag);
        heading.then(|| {
            Callback::from(move |_: MouseEvent| {
                if !was_drag.take() {
                    on_change.emit(TrackChange::Fold(name.clone()));
                }
            })
        })
    };
    let (down, moved, up) = dragging(props, track, dragged, was_drag);
    html! {
        <div {class} id={head_id(props.viewer.number(), &track.name)} key={format!("{level} {}", track.name)} role="row" aria-level={level}
            aria-rowindex={(index + 1).to_string()} aria-expanded={heading.then(|| (!track.folded).to_string())}
            aria-selected={(!heading).then(|| track.selected.to_string())}
            tabindex={if current { "0" } else { "-1" }} title={track.title.clone()}
            {onfocus} {onclick} onpointerdown={down} onpointermove={moved} onpointerup={up.clone()} onpointercancel={up}>
            <span role="rowheader" class="visually-hidden">{ accessible_name(track) }</span>
            <span role="gridcell" class="head-actions">{ actions(props, track, current) }</span>
        </div>
    }
}

/// Renders the buttons of a head.
fn actions(props: &HeadsProps, track: &Track, current: bool) -> Html {
    let button = |change: TrackChange, sign: &'static str, what: String, pressed: Option<bool>| {
        let on_change = props.on_change.clone();
        let onclick = Callback::from(move |event: MouseEvent| {
            event.stop_propagation();
            on_change.emit(change.clone());
        });
        let keep = Callback::from(|event: PointerEvent| event.stop_propagation());
        html! {
            <button class="quiet" title={what.clone()} aria-label={what} aria-pressed={pressed.map(|on| on.to_string())}
                tabindex={if current { "0" } else { "-1" }} {onclick} onpointerdown={keep}>{ sign }</button>
        }
    };
    let name = &track.title;
    let id = || track.name.clone();
    let hide = button(TrackChange::Hide(id()), "✕", format!("Hide {name}"), None);
    if track.row().is_none() {
        return hide;
    }
    let limit = format!("Limit the selected range to {name}");
    html! {
        <>
            { button(TrackChange::Select(id()), "◧", limit, Some(track.selected)) }
            { button(TrackChange::Pin(id()), "⇱", format!("Pin {name} at the top"), Some(track.pinned)) }
            { hide }
        </>
    }
}

type Pointer = Callback<PointerEvent>;

/// Creates the pointer handlers that move a track by its head.
fn dragging(
    props: &HeadsProps,
    track: &Track,
    dragged: &UseStateHandle<Option<Dragged>>,
    was_drag: &Rc<RefCell<bool>>,
) -> (Pointer, Pointer, Pointer) {
    let down = {
        let (dragged, name) = (dragged.clone(), track.name.clone());
        let was_drag = Rc::clone(was_drag);
        Callback::from(move |event: PointerEvent| {
            was_drag.replace(false);
            // On touch screens, a drag scrolls.
            if event.button() != 0 || event.pointer_type() == "touch" {
                return;
            }
            let element: Option<HtmlElement> = event.target_dyn_into();
            if let Some(head) = element.and_then(|it| it.closest(".head").ok().flatten()) {
                // Without capture, a drag would end when the pointer leaves the head.
                let _ = head.set_pointer_capture(event.pointer_id());
            }
            dragged.set(Some(Dragged {
                name: name.clone(),
                from_y: event.client_y(),
                drop_target: None,
            }));
        })
    };
    let moved = {
        let (dragged, viewer, layout) =
            (dragged.clone(), props.viewer.clone(), props.layout.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(drag) = (*dragged).clone() else {
                return;
            };
            let drop_target = target(&viewer, &layout, &drag, event.client_y());
            dragged.set(Some(Dragged {
                drop_target,
                ..drag
            }));
        })
    };
    let up = {
        let (dragged, viewer, layout) =
            (dragged.clone(), props.viewer.clone(), props.layout.clone());
        let (on_change, was_drag) = (props.on_change.clone(), Rc::clone(was_drag));
        Callback::from(move |event: PointerEvent| {
            let drag = (*dragged).clone();
            dragged.set(None);
            // The drop position counts, even if the last rendered target differs.
            let dropped = drag.and_then(|drag| {
                let drop_target = target(&viewer, &layout, &drag, event.client_y())?;
                Some(layout.drop_at(drag.name, drop_target))
            });
            if let Some(change) = dropped.filter(|_| event.type_() == "pointerup") {
                was_drag.replace(true);
                on_change.emit(change);
            }
        })
    };
    (down, moved, up)
}

/// Returns the track that a dragged head would be dropped on at a window coordinate; `None` if the press still
/// counts as a click or the track may not go there.
fn target(viewer: &ViewerRef, layout: &Layout, drag: &Dragged, y: i32) -> Option<usize> {
    if drag.drop_target.is_none() && (y - drag.from_y).abs() <= CLICK_PX {
        return None;
    }
    let drop_target = viewer.track_at_client(f64::from(y));
    drop_target.filter(|&index| layout.may_follow(&drag.name, index))
}
