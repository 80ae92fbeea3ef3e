//! Generates the JavaScript of a WebAssembly program: `bindgen PROGRAM.wasm FOLDER`.
//!
//! It is a separate program so that `cargo xtask` starts quickly and compiles it in parallel with the site.

use std::path::PathBuf;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [wasm, folder] = arguments.as_slice() else {
        eprintln!("usage: bindgen PROGRAM.wasm FOLDER");
        return ExitCode::from(2);
    };
    let generated = Bindgen::new()
        // Load the WebAssembly file from the folder of the script.
        .omit_default_module_path(false)
        .input_path(wasm)
        .web(true)
        .and_then(|bindgen| bindgen.typescript(false).generate(folder));
    match generated {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-bindgen failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}
