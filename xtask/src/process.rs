//! Child processes, and the error type of this tool.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};

/// Error that stops a command: one line for the user.
#[derive(Clone, Debug)]
pub(crate) struct Failure(String);

/// Result with a [`Failure`] as the error.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::new(format!("{error}; see cargo xtask help"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds context to I/O errors.
pub(crate) trait During<T> {
    /// Converts the error; `what` completes the sentence "could not …".
    fn during(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> During<T> for std::io::Result<T> {
    fn during(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure(format!("could not {}: {error}", what())))
    }
}

/// Runs a program to its end, with standard output and standard error inherited.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command
        .stdin(Stdio::null())
        .status()
        .during(|| format!("start {}", name(command)))
}

/// Like [`status`], but a nonzero exit status is a failure.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    check(command, status)
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Failure(format!(
        "{} failed ({status})",
        line(command).join(" ")
    )))
}

/// Returns the trimmed output of a program; `None` if it cannot be started or fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Like [`run`], but also returns the combined output of both streams, in order.
pub(crate) fn run_captured(command: &mut Command) -> Result<(String, Result<()>)> {
    let reading = |command: &Command| format!("read the output of {}", name(command));
    let (mut reader, writer) = std::io::pipe().during(|| reading(command))?;
    let second = writer.try_clone().during(|| reading(command))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(second)
        .spawn()
        .during(|| format!("start {}", name(command)))?;
    // The command keeps its ends of the pipe open until they are replaced.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut output = Vec::new();
    reader
        .read_to_end(&mut output)
        .during(|| reading(command))?;
    let status = child.wait().during(|| reading(command))?;
    Ok((
        String::from_utf8_lossy(&output).into_owned(),
        check(command, status),
    ))
}

/// Returns the `cargo` that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn name(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    program
        .file_stem()
        .unwrap_or(OsStr::new("a program"))
        .to_string_lossy()
        .into_owned()
}

fn line(command: &Command) -> Vec<String> {
    let arguments = command.get_args().map(|word| word.to_string_lossy().into());
    std::iter::once(name(command)).chain(arguments).collect()
}
