//! The entry point of the worker. Nothing begins by itself: a worker of the page calls `serve`, a script uses what
//! is in `script`.

#[cfg(target_arch = "wasm32")]
mod script;

fn main() {}

/// Begins to listen to the page.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn serve() {
    eventscope::worker::run();
}
