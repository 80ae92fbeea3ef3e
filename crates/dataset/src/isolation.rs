//! Adding each log in a process of its own: one that ends, for lack of memory or by a fault, takes no other log along.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::Error;
use crate::add::{Job, Outcome};
use crate::claim::Patience;

/// Program that adds one log in a process of its own.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// Path of an executable file.
    pub program: PathBuf,
    /// Its arguments; the path of the log follows. It calls [`crate::add_log`] and prints the result as JSON.
    pub arguments: Vec<OsString>,
}

/// How a process ended that was to add a log.
#[derive(Debug)]
enum End {
    /// It said what became of the log; nothing if another process is adding it.
    Answer(Option<Outcome>),
    /// It ended without an answer, as by a signal; how.
    Crash(String),
    /// It could not write the data set, or was told to end; why.
    Error(String),
}

impl Isolation {
    /// Adds a log as [`Job::add`] does.
    pub(crate) fn add(
        &self,
        job: &Job<'_>,
        path: &Path,
        patience: Patience,
    ) -> Result<Option<Outcome>, Error> {
        if job.is_present(path)? {
            return Ok(Some(Outcome::Present));
        }
        match self.run(path)? {
            End::Answer(None) if patience == Patience::Endless => {
                job.wait(path)?;
                self.add(job, path, patience)
            }
            End::Answer(outcome) => Ok(outcome),
            End::Error(why) => Err(Error::Refused(why)),
            End::Crash(how) => {
                let why = format!(
                    "The program ended while it was reading this log ({how}). If memory was short, add the log alone, \
                     with --jobs 1; if it happens again, please report it."
                );
                job.record_crash(path, why).map(Some)
            }
        }
    }

    fn run(&self, path: &Path) -> Result<End, Error> {
        let mut command = Command::new(&self.program);
        // After `--`, no path is taken for an option.
        command.args(&self.arguments).arg("--").arg(path);
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(Error::about(&self.program))?;
        if let Ok(outcome) = serde_json::from_slice(&output.stdout) {
            return Ok(End::Answer(outcome));
        }
        Ok(match crash(output.status) {
            Some(how) => End::Crash(how),
            None => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.trim().trim_start_matches("eventscope: ");
                End::Error(match said.is_empty() {
                    true => format!("interrupted ({})", output.status),
                    false => said.to_owned(),
                })
            }
        })
    }
}

/// Exit status of a Rust program after a panic, if it does not abort.
const PANIC: i32 = 101;
/// Greatest exit status by which the program says something. Windows has greater ones for faults.
const MAX_OWN_STATUS: i32 = 130;

/// Describes the status of a process that did not end by itself, nor because somebody asked it to.
fn crash(status: ExitStatus) -> Option<String> {
    if is_asked_to_end(status) {
        return None;
    }
    match status.code() {
        Some(code) if code != PANIC && (0..=MAX_OWN_STATUS).contains(&code) => None,
        Some(code) => Some(format!("exit status {code}")),
        None => Some(status.to_string()),
    }
}

/// Whether a process ended because its terminal or a supervisor told it to.
#[cfg(unix)]
fn is_asked_to_end(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const HANGUP: i32 = 1;
    const INTERRUPT: i32 = 2;
    const TERMINATE: i32 = 15;
    matches!(status.signal(), Some(HANGUP | INTERRUPT | TERMINATE))
}

#[cfg(not(unix))]
fn is_asked_to_end(_: ExitStatus) -> bool {
    false
}
