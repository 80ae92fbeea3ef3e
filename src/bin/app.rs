//! The entry point of the page.

fn main() {
    #[cfg(target_arch = "wasm32")]
    eventscope::ui::run();
}
