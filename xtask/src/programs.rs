//! Names from the workspace's manifests: packages, binaries and profiles.

/// A WebAssembly program of the site.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) package: &'static str,
    pub(crate) binary: &'static str,
    /// Cargo profile of the shipped program.
    pub(crate) shipped_profile: &'static str,
    /// Folder in the site.
    pub(crate) folder: &'static str,
}

/// The programs of the site.
pub(crate) const PROGRAMS: [Program; 2] = [
    Program {
        package: "eventscope",
        binary: "app",
        shipped_profile: "page",
        folder: "page",
    },
    Program {
        package: "eventscope",
        binary: "worker",
        shipped_profile: "worker",
        folder: "worker",
    },
];

/// Cargo profile of both programs of a quick site.
pub(crate) const QUICK_PROFILE: &str = "quick";

/// Package and binary of the command line.
pub(crate) const COMMAND_LINE: &str = "eventscope";

/// Cargo arguments that select the tests of the whole program in the package [`COMMAND_LINE`].
pub(crate) const WHOLE_TESTS: [&str; 1] = ["--tests"];

/// Packages of the programs, each once.
pub(crate) fn wasm_packages() -> Vec<&'static str> {
    let mut packages = PROGRAMS.map(|program| program.package).to_vec();
    packages.dedup();
    packages
}

/// Cargo arguments that leave out the packages that compile for WebAssembly only.
pub(crate) fn without_wasm_packages() -> Vec<&'static str> {
    wasm_packages()
        .into_iter()
        .filter(|package| *package != COMMAND_LINE)
        .flat_map(|package| ["--exclude", package])
        .collect()
}
