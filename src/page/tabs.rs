//! Frame of the open panel: the splitter and the tabs.

use web_sys::{HtmlElement, ScrollIntoViewOptions, ScrollLogicalPosition};
use yew::prelude::*;

use super::dom::set_style;
use super::preferences::{load_preference, store_preference};
use super::splitter::Splitter;
use super::tab_list::{Tab, tab_list};
use views::actions::Action;
use views::panels::PANELS;
use views::view::panel::{Panel, PanelName};

/// Storage name of the panel height.
const HEIGHT_KEY: &str = "panel-px";
/// Panel heights in pixels: minimum of the initial height, minimum and maximum.
const INITIAL_MIN_PX: f64 = 300.0;
const MIN_PX: f64 = 80.0;
const MAX_PX: f64 = 2000.0;
/// Height reserved for the timeline, in pixels.
const TIMELINE_PX: f64 = 220.0;
/// Distance that an arrow key moves the splitter, in pixels.
const STEP_PX: f64 = 24.0;

fn stored_px() -> Option<f64> {
    let px = load_preference(HEIGHT_KEY).and_then(|text| text.parse::<f64>().ok());
    let px = px.filter(|px| px.is_finite());
    px.map(|px| px.clamp(MIN_PX, MAX_PX))
}

/// Returns the initial height: more than six table rows in a window of common height. All panels share one height,
/// so that the tabs keep their place.
fn initial_px() -> f64 {
    (window_px().unwrap_or(0.0) * 0.45).clamp(INITIAL_MIN_PX, 520.0)
}

fn window_px() -> Option<f64> {
    gloo_utils::window().inner_height().ok()?.as_f64()
}

fn clamp_height(px: f64) -> f64 {
    let most = window_px().unwrap_or(800.0) - TIMELINE_PX;
    px.clamp(MIN_PX, most.max(MIN_PX))
}

fn tab_id(panel: PanelName) -> String {
    format!("tab-{}", panel.0)
}

#[derive(Properties, PartialEq)]
pub(super) struct TabsProps {
    pub(super) panel: PanelName,
    /// Number of the timeline and generation of its log; a change recreates the panel.
    pub(super) generation: (u32, u32),
    /// Whether the panel is maximized, filling the window below the header.
    pub(super) alone: bool,
    pub(super) on_panel: Callback<PanelName>,
    pub(super) on_action: Callback<Action>,
    /// Content of the open panel.
    pub(super) children: Html,
}

/// Splitter, tabs, and the open panel.
#[component]
pub(super) fn Tabs(props: &TabsProps) -> Html {
    let node = use_node_ref();
    let chosen = use_state_eq(stored_px);
    let px = chosen.unwrap_or_else(initial_px);
    {
        let node = node.clone();
        use_effect_with((px, props.alone), move |(px, alone)| {
            let height = if *alone {
                "100%".to_owned()
            } else {
                format!("{px}px")
            };
            if let Some(panel) = node.cast::<HtmlElement>() {
                set_style(&panel, "height", &height);
            }
        });
    }
    use_effect_with(props.panel, |panel| {
        // On narrow screens, not all tabs are in view.
        if let Some(tab) = gloo_utils::document().get_element_by_id(&tab_id(*panel)) {
            let options = ScrollIntoViewOptions::new();
            options.set_block(ScrollLogicalPosition::Nearest);
            options.set_inline(ScrollLogicalPosition::Nearest);
            tab.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
    let on_px = {
        let chosen = chosen.setter();
        Callback::from(move |to: f64| {
            chosen.set(Some(to));
            store_preference(HEIGHT_KEY, Some(&to.to_string()));
        })
    };
    let on_step = on_px.reform(move |step: f64| clamp_height(px - step * STEP_PX));
    let on_drag = Callback::from(move |y: f64| {
        if let Some(height) = window_px() {
            on_px.emit(clamp_height(height - y));
        }
    });
    let panel = props.panel;
    html! {
        <section class="panel" ref={node}>
            if !props.alone {
                <Splitter class="splitter" label="Height of the panel" now={px} min="80" max="2000" {on_drag} {on_step} />
            }
            <div class="tab-bar">
                { tabs(panel, &props.on_panel) }
                { maximize_button(props) }
            </div>
            <div id="panel" class="panel-body" role="tabpanel" aria-labelledby={tab_id(panel)}
                key={format!("{}-{:?}", panel.0, props.generation)}>
                { props.children.clone() }
            </div>
        </section>
    }
}

fn tabs(open: PanelName, on_panel: &Callback<PanelName>) -> Html {
    let tab = |panel: &Panel| Tab {
        id: tab_id(panel.name),
        title: panel.title,
        help: panel.help,
    };
    let tabs: Vec<Tab> = PANELS.iter().map(tab).collect();
    let open = PANELS.iter().position(|panel| panel.name == open);
    let on_tab = on_panel.reform(|index: usize| PANELS[index].name);
    tab_list(("tabs", "Panels", "panel"), &tabs, open, &on_tab)
}

/// Renders the button that maximizes the panel or restores it.
fn maximize_button(props: &TabsProps) -> Html {
    let onclick = props
        .on_action
        .reform(|_: MouseEvent| Action::MaximisePanel);
    let (icon, name) = if props.alone {
        ("M2 11h8M3 2l3 3 3-3M3 6l3 3 3-3", "Show the timeline again")
    } else {
        ("M2 1h8M3 7l3-3 3 3M3 11l3-3 3 3", "Maximize the panel")
    };
    html! {
        <button class="quiet maximise" aria-pressed={props.alone.to_string()} title={format!("{name} (Shift+\\)")}
            aria-label="Maximize the panel" {onclick}>
            <svg viewBox="0 0 12 12" aria-hidden="true"><path d={icon} /></svg>
        </button>
    }
}
