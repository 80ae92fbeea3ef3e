//! The page: Yew components around two canvases. No parsing and no loop over
//! events happens here; the worker is asked, and its answers are painted.

mod app;
mod canvas;
mod chart;
mod client;
mod collections;
mod copy;
mod details;
mod dialog;
mod event_filter;
mod event_row;
mod events;
mod files;
mod flame;
mod grid;
mod header;
mod heads;
mod in_view;
mod landing;
mod legend;
mod link;
mod menu;
mod notes;
mod palette;
mod panel;
mod process;
mod same;
mod save;
mod sparks;
mod summary;
mod term;
mod theme;
mod threads;
mod timeline;
mod track_menu;
mod viewer;

/// Puts the app into the page.
pub fn run() {
    console_error_panic_hook::set_once();
    theme::restore();
    let document = gloo_utils::document();
    if let Some(root) = document.get_element_by_id("app") {
        yew::Renderer::<app::App>::with_root(root).render();
    }
}
