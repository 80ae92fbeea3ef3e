//! Java and PySpark, for the tests of data sets in Spark. They are large, and of no use to the rest: without them,
//! those tests are skipped, and say why.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{self, Failure, Result};
use crate::tools;

/// Packages of Debian and Ubuntu that PySpark needs.
const SYSTEM_PACKAGES: [&str; 2] = ["default-jre-headless", "python3-venv"];
const PYSPARK: &str = "pyspark==4.3.0";
/// Environment variable that names a Python with PySpark.
pub(crate) const PYTHON: &str = "EVENTSCOPE_PYTHON";

/// Returns a Python that has PySpark: the chosen one, or that of an environment in `target/spark/`, which is made if
/// it is missing.
///
/// # Errors
/// If Java or PySpark is missing and cannot be installed.
pub(crate) fn python(root: &Path) -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(PYTHON) {
        return Ok(chosen.into());
    }
    let folder = root.join("target/spark");
    let python = folder.join("bin/python");
    let has_pyspark = || process::output(Command::new(&python).args(["-c", "import pyspark"]));
    if has_java() && has_pyspark().is_some() {
        return Ok(python);
    }
    if !has_java() || !has_venv() {
        tools::apt_install(&SYSTEM_PACKAGES, "Java 17 and python3-venv are missing")?;
    }
    let venv = |command: &mut Command| process::run(command.stdout(Stdio::null()));
    venv(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    venv(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-compile", PYSPARK]))?;
    match has_pyspark() {
        Some(_) => Ok(python),
        None => Err(Failure::new("PySpark was installed, but cannot be loaded")),
    }
}

fn has_java() -> bool {
    // It prints its version to standard error.
    let java = Command::new("java")
        .arg("-version")
        .stderr(Stdio::null())
        .status();
    java.is_ok_and(|status| status.success())
}

fn has_venv() -> bool {
    process::output(Command::new("python3").args(["-c", "import ensurepip"])).is_some()
}
