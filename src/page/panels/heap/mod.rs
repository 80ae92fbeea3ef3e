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

use yew::prelude::*;

use self::bar::Bar;
use self::census_diff::CensusDiff;
use self::chart::ChartTab;
use self::growth::GrowthList;
use self::memory::MemoryTab;
use self::table::Table;
use self::tree::Tree;
use crate::guide::how_to_record;
use crate::panel::{Answered, Extent, PanelProps, edited, use_answered};
use crate::tab_list;
use analysis::heap::Breakdown;
use session::heap::profiles::{ProfileInfo, ProfilesQuery, is_too_old, profiling_hints};
use views::heap::settings::{HeapView, Tab};

#[component]
pub(super) fn Heap(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let Some(Answered {
        extent: Extent { complete, .. },
        answer: profiles,
        ..
    }) = use_answered(&props.source, Some(ProfilesQuery))
    else {
        return html! { <p class="empty">{ "Loading the heap profiles…" }</p> };
    };
    let Some(profile) = profiles
        .get(view.choice.profile as usize)
        .or(profiles.first())
    else {
        return empty(props, complete);
    };
    let tabs = tabs_of(profile);
    let tab = if tabs.contains(&view.tab) {
        view.tab
    } else {
        Tab::Chart
    };
    let on_tab = edited(&view, &on_view, |view, tab| view.tab = tab);
    html! {
        <div class="heap">
            <Bar profiles={Rc::clone(&profiles)} view={view.clone()} range={props.range}
                {complete} source={props.source.clone()} on_view={on_view.clone()} />
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
    format!("heap-{}", tab.name())
}

fn view_tabs(tabs: &[Tab], open: Tab, on_tab: &Callback<Tab>) -> Html {
    let button = |tab: &Tab| tab_list::Tab {
        id: tab_id(*tab),
        title: tab.title(),
        help: tab.help(),
    };
    let buttons: Vec<tab_list::Tab> = tabs.iter().map(button).collect();
    let at = tabs.iter().position(|tab| *tab == open);
    let tabs = tabs.to_vec();
    let on_index = on_tab.reform(move |index: usize| tabs[index]);
    let names = ("tabs inner", "Views of the heap", "heap-tab");
    tab_list::tab_list(names, &buttons, at, &on_index)
}

/// Renders instructions for recording a heap profile; the memory tab works without censuses.
fn empty(props: &PanelProps, complete: bool) -> Html {
    html! {
        <>
            { how_to(props, complete) }
            <MemoryTab ..props.clone() />
        </>
    }
}

fn how_to(props: &PanelProps, complete: bool) -> Html {
    let ghc = props.overview.ghc.as_deref();
    let what = if complete {
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
                    <thead><tr><th scope="col">{ "+RTS" }</th><th scope="col">{ "Breakdown" }</th><th scope="col">{ "Compile with" }</th></tr></thead>
                    <tbody>{ for profiling_hints(ghc).iter().map(way) }</tbody>
                </table>
            }
            { how_to_record("record-heap") }
        </div>
    }
}
