//! Shared state of a command.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::process::Result;
use crate::spark;
use crate::steps::Steps;
use crate::tools;
use crate::wasm;

/// Project folder, steps of the command, and tools prepared so far.
///
/// Several threads may request the same tool: the first one prepares it, the others wait.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) steps: Steps,
    wasm_target: OnceLock<Result<()>>,
    npm_packages: OnceLock<Result<()>>,
    chromium: OnceLock<Result<PathBuf>>,
    bindgen: OnceLock<Result<()>>,
    spark_python: OnceLock<Result<PathBuf>>,
}

impl Project {
    /// Locates the project folder: the parent of `xtask/`, wherever the clone is.
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
            spark_python: OnceLock::new(),
        }
    }

    /// Installs the standard library for WebAssembly if it is missing.
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

    /// Installs the npm packages if `node_modules/` is out of date.
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

    /// Returns the Chromium for the browser tests, installing it with apt if it is missing.
    pub(crate) fn chromium(&self) -> Result<PathBuf> {
        let install = || self.steps.run("Chromium", tools::install_chromium);
        self.chromium
            .get_or_init(|| match tools::find_chromium()? {
                Some(found) if tools::wants_headless_shell(&found) => install().or(Ok(found)),
                Some(found) => Ok(found),
                None => install(),
            })
            .clone()
    }

    /// Returns a Python with PySpark, for the tests in Spark, installing it if it is missing.
    pub(crate) fn spark_python(&self) -> Result<PathBuf> {
        let install = || self.steps.run("PySpark", || spark::python(&self.root));
        self.spark_python.get_or_init(install).clone()
    }
}
