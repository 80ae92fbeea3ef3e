//! The heap panel: choice of profile and bands, with a chart and tables of them in tabs.

mod about;
mod bar;
mod canvas;
mod census_diff;
mod chart;
mod counted;
mod growth;
mod legend;
mod memory;
mod table;
mod tree;

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use self::bar::Bar;
use self::census_diff::CensusDiff;
use self::chart::ChartTab;
use self::growth::GrowthList;
use self::memory::MemoryTab;
use self::table::Table;
use self::tree::Tree;
use crate::dom::focus;
use crate::guide::how_to_record;
use crate::panel::{PanelProps, use_answer};
use analysis::heap::Breakdown;
use session::heap::profiles::{ProfileInfo, ProfilesQuery, is_too_old, profiling_hints};
use views::heap::settings::{HeapView, Tab};

#[component]
pub(super) fn Heap(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let Some(profiles) = use_answer(&props.source, ProfilesQuery) else {
        return html! { <p class="empty">{ "Loading the heap profiles…" }</p> };
    };
    let Some(profile) = profiles
        .get(view.choice.profile as usize)
        .or(profiles.first())
    else {
        return empty(props);
    };
    let tabs = tabs_of(profile);
    let tab = if tabs.contains(&view.tab) {
        view.tab
    } else {
        Tab::Chart
    };
    let on_tab = {
        let (view, on_view) = (view.clone(), on_view.clone());
        Callback::from(move |tab| {
            on_view.emit(HeapView {
                tab,
                ..view.clone()
            })
        })
    };
    html! {
        <div class="heap">
            <Bar profiles={Rc::clone(&profiles)} view={view.clone()} range={props.range}
                complete={props.source.complete} source={props.source.clone()} on_view={on_view.clone()} />
            { view_tabs(&tabs, tab, &on_tab) }
            <div id="heap-tab" class="heap-body" role="tabpanel" aria-labelledby={tab_id(tab)}>
                { open_tab(tab, props) }
            </div>
        </div>
    }
}

/// Returns the tabs of a profile; only profiles by cost-centre stack have a tree.
fn tabs_of(profile: &ProfileInfo) -> Vec<Tab> {
    let is_there = |tab: &Tab| match tab {
        Tab::Tree => profile.breakdown == Breakdown::CostCentreStack,
        _ => BUILT.contains(tab),
    };
    Tab::ALL.iter().copied().filter(is_there).collect()
}

/// Tabs shown for every profile.
const BUILT: &[Tab] = &[Tab::Chart, Tab::Table, Tab::Moments, Tab::Growth, Tab::Held];

fn open_tab(tab: Tab, props: &PanelProps) -> Html {
    match tab {
        Tab::Table => html! { <Table ..props.clone() /> },
        Tab::Moments => html! { <CensusDiff ..props.clone() /> },
        Tab::Growth => html! { <GrowthList ..props.clone() /> },
        Tab::Tree => html! { <Tree ..props.clone() /> },
        Tab::Held => html! { <MemoryTab ..props.clone() /> },
        _ => html! { <ChartTab ..props.clone() /> },
    }
}

fn tab_id(tab: Tab) -> String {
    format!("heap-{}", tab.word())
}

fn view_tabs(tabs: &[Tab], open: Tab, on_tab: &Callback<Tab>) -> Html {
    let one = |&tab: &Tab| {
        let selected = tab == open;
        let onclick = on_tab.reform(move |_: MouseEvent| tab);
        html! {
            <button role="tab" id={tab_id(tab)} aria-selected={selected.to_string()} aria-controls="heap-tab" title={tab.help()}
                tabindex={if selected { "0" } else { "-1" }} {onclick}>{ tab.title() }</button>
        }
    };
    let onkeydown = {
        let (tabs, on_tab) = (tabs.to_vec(), on_tab.clone());
        Callback::from(move |event: KeyboardEvent| {
            let Some(other) = neighbor(&tabs, open, &event.key()) else {
                return;
            };
            event.stop_propagation();
            event.prevent_default();
            let tab = gloo_utils::document().get_element_by_id(&tab_id(other));
            if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<HtmlElement>().ok()) {
                // The focus follows the selected tab.
                focus(&tab);
            }
            on_tab.emit(other);
        })
    };
    html! {
        <div class="tabs inner" role="tablist" aria-label="Views of the heap" {onkeydown}>{ for tabs.iter().map(one) }</div>
    }
}

/// Returns the tab that a navigation key leads to; arrow keys wrap around.
fn neighbor(tabs: &[Tab], open: Tab, key: &str) -> Option<Tab> {
    let at = tabs.iter().position(|tab| *tab == open)?;
    let to = match key {
        "ArrowLeft" => (at + tabs.len() - 1) % tabs.len(),
        "ArrowRight" => (at + 1) % tabs.len(),
        "Home" => 0,
        "End" => tabs.len() - 1,
        _ => return None,
    };
    tabs.get(to).copied()
}

/// Renders instructions for recording a heap profile; the memory tab works without censuses.
fn empty(props: &PanelProps) -> Html {
    html! {
        <>
            { how_to(props) }
            <MemoryTab ..props.clone() />
        </>
    }
}

fn how_to(props: &PanelProps) -> Html {
    let ghc = props.overview.ghc.as_deref();
    let what = if props.source.complete {
        "This log has no heap profile."
    } else {
        "No heap censuses so far."
    };
    let by = match ghc {
        Some(version) => format!("The program was compiled by GHC {version}. "),
        None => String::new(),
    };
    let way = |(flags, shows, needs): &(&str, &str, &str)| {
        html! { <tr><th scope="row"><code>{ *flags }</code></th><td>{ *shows }</td><td>{ *needs }</td></tr> }
    };
    html! {
        <div class="empty">
            <p>{ what }</p>
            if is_too_old(ghc) {
                <p>{ by }{ "Logs contain heap profiles since GHC 8.2; before, programs write them to a separate file (.hp)." }</p>
            } else {
                <p>{ by }{ "Run it with one of these flags of +RTS; -i0.1 takes a census every 0.1 s." }</p>
                <table class="plain-table ways">
                    <thead><tr><th scope="col">{ "+RTS" }</th><th scope="col">{ "What holds the heap" }</th><th scope="col">{ "Compiled with" }</th></tr></thead>
                    <tbody>{ for profiling_hints(ghc).iter().map(way) }</tbody>
                </table>
            }
            { how_to_record("record-heap") }
        </div>
    }
}
