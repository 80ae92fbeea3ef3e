//! The entry point of the worker.

fn main() {
    #[cfg(target_arch = "wasm32")]
    eventscope::worker::run();
}
