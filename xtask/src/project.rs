//! The project that a command works on.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::process::Result;
use crate::steps::Steps;
use crate::tools;
use crate::wasm;

/// The project's folder, the steps of the command, and the tools that it has prepared.
///
/// Several threads may ask for the same tool: the first prepares it, the others wait for that.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) steps: Steps,
    wasm_target: OnceLock<Result<()>>,
    npm_packages: OnceLock<Result<()>>,
    chromium: OnceLock<Result<PathBuf>>,
    bindgen: OnceLock<Result<()>>,
}

impl Project {
    /// The folder above `xtask/`, wherever the clone is now.
    pub(crate) fn new(steps: Steps) -> Self {
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&package)
            .parent()
            .expect("xtask lies in the project's folder");
        Self {
            root: root.to_owned(),
            steps,
            wasm_target: OnceLock::new(),
            npm_packages: OnceLock::new(),
            chromium: OnceLock::new(),
            bindgen: OnceLock::new(),
        }
    }

    /// Installs the standard library for WebAssembly where it is missing.
    pub(crate) fn wasm_target(&self) -> Result<()> {
        self.wasm_target
            .get_or_init(|| {
                if tools::has_wasm_target(&self.root) {
                    return Ok(());
                }
                self.steps.run("rustup target", || {
                    tools::rustup_add(&self.root, "target", tools::TARGET)
                })
            })
            .clone()
    }

    /// Installs the npm packages where `node_modules/` is not up to date.
    pub(crate) fn npm_packages(&self) -> Result<()> {
        self.npm_packages
            .get_or_init(|| {
                tools::check_node()?;
                if tools::has_npm_packages(&self.root) {
                    return Ok(());
                }
                self.steps
                    .run("npm packages", || tools::install_npm_packages(&self.root))
            })
            .clone()
    }

    /// Compiles the program that generates JavaScript.
    pub(crate) fn bindgen(&self) -> Result<()> {
        self.bindgen
            .get_or_init(|| {
                self.steps
                    .run("compiling bindgen", || wasm::compile_bindgen(&self.root))
            })
            .clone()
    }

    /// The Chromium for the browser tests, installed with apt where it is missing.
    pub(crate) fn chromium(&self) -> Result<PathBuf> {
        self.chromium
            .get_or_init(|| match tools::find_chromium()? {
                Some(found) => Ok(found),
                None => self.steps.run("Chromium", tools::install_chromium),
            })
            .clone()
    }
}
