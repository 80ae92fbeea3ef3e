//! The native command `eventscope`: what the browser shows, for scripts.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    eventscope::cli::run()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
