//! The page: Yew components around canvases. It parses nothing and never loops over events: it asks
//! the worker, and paints the answers.

mod ahead;
mod app;
mod beside;
mod canvas;
mod chart;
mod client;
mod copy;
mod details;
mod dialog;
mod dom;
mod field;
mod file_name;
mod files;
mod finding_marks;
mod follow_bar;
mod grid;
mod guide;
mod header;
mod heads;
mod kept;
mod landing;
mod legend;
mod link;
mod menu;
mod merge;
mod more;
mod open_log;
mod palette;
mod panel;
mod panels;
mod place;
mod ptr_eq;
mod recent;
mod rows_out;
mod save;
mod share;
mod shares;
mod table_out;
mod tabs;
mod term;
mod theme;
mod timeline;
mod tour;
mod track_menu;
mod trouble;
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
