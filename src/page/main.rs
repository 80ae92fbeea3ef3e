//! The page: Yew components around canvases. It neither parses logs nor iterates over events: it sends queries
//! to the worker and renders the answers.

mod app;
mod canvas;
mod chart;
mod client;
mod copy;
mod data_table;
mod details;
mod dialog;
mod dom;
mod error_alert;
mod export_rows;
mod field;
mod file_name;
mod files;
mod finding_marks;
mod follow_bar;
mod goto_link;
mod grid;
mod guide;
mod header;
mod heads;
mod landing;
mod legend;
mod link;
mod menu;
mod merge;
mod open_log;
mod pagination;
mod palette;
mod panel;
mod panels;
mod pending_values;
mod preferences;
mod ptr_eq;
mod recent;
mod save;
mod share;
mod share_bar;
mod splitter;
mod tab_list;
mod tabs;
mod term;
mod theme;
mod timeline;
mod tour;
mod track_menu;
mod two_logs;
mod update;
mod viewer;

fn main() {
    console_error_panic_hook::set_once();
    let random = || js_sys::Math::random().to_bits();
    eventlog::hash::set_seeds(random(), random());
    let document = gloo_utils::document();
    if let Some(root) = document.get_element_by_id("app") {
        yew::Renderer::<app::App>::with_root(root).render();
    }
}
