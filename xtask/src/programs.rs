//! Names from the workspace's manifests: packages, binaries and profiles.

/// WebAssembly program of the site.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) package: &'static str,
    pub(crate) binary: &'static str,
    /// Folder in the site.
    pub(crate) folder: &'static str,
}

/// WebAssembly programs of the site.
pub(crate) const PROGRAMS: [Program; 3] = [
    Program {
        package: "page",
        binary: "app",
        folder: "page",
    },
    Program {
        package: "worker",
        binary: "worker",
        folder: "worker",
    },
    Program {
        package: "fleet",
        binary: "fleet",
        folder: "fleet",
    },
];

/// Cargo profile of the programs in the shipped site.
pub(crate) const SHIPPED_PROFILE: &str = "shipped";

/// Cargo profile of the programs in the quick site.
pub(crate) const QUICK_PROFILE: &str = "quick";

/// Package and binary that generates the JavaScript of a WebAssembly program.
pub(crate) const BINDGEN: &str = "bindgen";

/// Cargo profile of [`BINDGEN`].
pub(crate) const TOOL_PROFILE: &str = "tool";

/// Package and binary of the command line.
pub(crate) const COMMAND_LINE: &str = "eventscope";

/// Cargo arguments that select the end-to-end tests in the package [`COMMAND_LINE`].
pub(crate) const WHOLE_TESTS: [&str; 2] = ["--test", "main"];
