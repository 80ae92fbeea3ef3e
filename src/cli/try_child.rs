//! A single run of a program: its wall time, processor time, peak memory and output.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Serialize;

/// How to run the program.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    /// Path or name of the program.
    pub(super) program: OsString,
    /// File for the standard input of each run; `None` for empty input.
    pub(super) stdin: Option<PathBuf>,
    /// `GHCRTS` without options about the log; `None` if it is not set.
    pub(super) ghcrts: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    /// With this exit status; `None` if ended by a signal.
    Exited(Option<i32>),
    /// Killed after exceeding its time limit.
    TimedOut,
}

/// Length and hash of the standard output. Equal outputs have equal values, and different ones almost always
/// different values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct OutputDigest {
    /// Length in bytes.
    pub(super) bytes: u64,
    hash: u64,
}

impl OutputDigest {
    /// Returns the value for given bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        hash(bytes).unwrap_or_default()
    }
}

/// Measurements of one run.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Wall time from start to end.
    pub(super) wall: Duration,
    /// Processor time, in user and system mode.
    pub(super) cpu: Duration,
    /// Peak resident memory, in bytes.
    pub(super) memory_bytes: u64,
    /// How the run ended.
    pub(super) end: RunEnd,
    /// Standard output; `None` if a process that the program left behind keeps it open.
    pub(super) printed: Option<OutputDigest>,
    /// Last part of the standard error.
    pub(super) stderr_tail: String,
}

#[cfg(test)]
impl Sample {
    /// Returns a successful run of this duration.
    pub(super) fn lasting(wall: Duration) -> Self {
        Self {
            wall,
            cpu: wall * 2,
            memory_bytes: 50 << 20,
            end: RunEnd::Exited(Some(0)),
            printed: Some(OutputDigest::default()),
            stderr_tail: String::new(),
        }
    }
}

/// Maximum wait for the end of the output: a process that the program left behind may keep it open.
const OUTPUT_WAIT: Duration = Duration::from_secs(2);
/// Number of bytes kept of the standard error, from its end.
const STDERR_TAIL_BYTES: u64 = 4096;

impl Launcher {
    /// Runs the program once and kills it after `limit`.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, its input cannot be opened, or the system does not report the resources
    /// that a process used.
    pub(super) fn run(&self, arguments: &[OsString], limit: Duration) -> io::Result<Sample> {
        let mut errors = tempfile::tempfile()?;
        let mut command = Command::new(&self.program);
        command.args(arguments).stdout(Stdio::piped());
        command.stderr(errors.try_clone()?);
        command.stdin(match &self.stdin {
            Some(path) => Stdio::from(File::open(path)?),
            None => Stdio::null(),
        });
        match self.ghcrts.as_deref() {
            Some("") | None => command.env_remove("GHCRTS"),
            Some(options) => command.env("GHCRTS", options),
        };
        let finished = platform::run(command, limit)?;
        let printed = finished.printed.recv_timeout(OUTPUT_WAIT).ok().flatten();
        let end = if finished.is_late {
            RunEnd::TimedOut
        } else {
            RunEnd::Exited(finished.status.code())
        };
        Ok(Sample {
            wall: finished.wall,
            cpu: finished.cpu,
            memory_bytes: finished.memory_bytes,
            end,
            printed,
            stderr_tail: read_tail(&mut errors)?,
        })
    }
}

/// Explains why a program could not be started, and how to fix it.
pub(super) fn explain_start(program: &OsStr, stdin: Option<&Path>, error: &io::Error) -> String {
    let name = Path::new(program).display();
    let words = eventlog::system_words(error);
    if let Some(path) = stdin.filter(|path| !path.is_file()) {
        return format!("--stdin {}: {words}", path.display());
    }
    match error.kind() {
        // A path is not searched for.
        io::ErrorKind::NotFound if program.as_encoded_bytes().contains(&b'/') => {
            format!("program {name} not found")
        }
        io::ErrorKind::NotFound => format!(
            "program {name} not found: name one on the search path, or give its path, such as ./{name}"
        ),
        io::ErrorKind::Unsupported => {
            "this system does not report the resources of a process (wait4): `eventscope try` works on Linux, macOS, and the BSDs except OpenBSD".to_owned()
        }
        _ => format!("{name} could not be started: {words}"),
    }
}

struct Finished {
    wall: Duration,
    cpu: Duration,
    memory_bytes: u64,
    status: ExitStatus,
    is_late: bool,
    printed: mpsc::Receiver<Option<OutputDigest>>,
}

#[cfg(all(unix, not(any(target_os = "openbsd", target_os = "redox"))))]
mod platform {
    use std::time::Instant;

    use rustix::io::Errno;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use wait4::Wait4;

    use super::*;

    pub(super) fn run(mut command: Command, limit: Duration) -> io::Result<Finished> {
        let started = Instant::now();
        let mut child = command.spawn()?;
        // Closes the parent's copies of the error file and the input.
        drop(command);
        let printed = read_output(child.stdout.take());
        let ended = watch(&child);
        let (at, is_late) = match ended.recv_timeout(limit) {
            Ok(at) => (at, false),
            Err(_) => {
                // The child has not been reaped, so its process id cannot have been reused.
                child.kill()?;
                (ended.recv().unwrap_or_else(|_| Instant::now()), true)
            }
        };
        let used = child.wait4()?;
        Ok(Finished {
            wall: at.duration_since(started),
            cpu: used.rusage.utime + used.rusage.stime,
            memory_bytes: used.rusage.maxrss,
            status: used.status,
            is_late,
            printed,
        })
    }

    /// Sends the time at which a process ended, without reaping it.
    fn watch(child: &std::process::Child) -> mpsc::Receiver<Instant> {
        let (sender, receiver) = mpsc::channel();
        let id = Pid::from_child(child);
        thread::spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(id), options), Err(Errno::INTR)) {}
            // If the receiver is gone, the run is over.
            let _ = sender.send(Instant::now());
        });
        receiver
    }
}

#[cfg(not(all(unix, not(any(target_os = "openbsd", target_os = "redox")))))]
mod platform {
    use super::*;

    pub(super) fn run(_: Command, _: Duration) -> io::Result<Finished> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Reads the output on a separate thread, so that the program never blocks on a full pipe.
fn read_output(output: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Option<OutputDigest>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let printed = output.and_then(|output| hash(output).ok());
        // If the receiver is gone, the run is over.
        let _ = sender.send(printed);
    });
    receiver
}

/// Hashes the output in chunks of a fixed size, because a hasher may give different results for differently split
/// input.
fn hash(mut output: impl Read) -> io::Result<OutputDigest> {
    const PIECE: u64 = 1 << 16;
    let mut hasher = DefaultHasher::new();
    let mut bytes = 0;
    let mut piece = Vec::new();
    loop {
        piece.clear();
        let read = output.by_ref().take(PIECE).read_to_end(&mut piece)?;
        hasher.write(&piece);
        bytes += read as u64;
        if (read as u64) < PIECE {
            let hash = hasher.finish();
            return Ok(OutputDigest { bytes, hash });
        }
    }
}

fn read_tail(file: &mut File) -> io::Result<String> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(STDERR_TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns a limited number of bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(into.len());
            (&mut self.0).take(count as u64).read(into)
        }
    }

    #[test]
    fn equal_output_has_equal_hashes_however_it_comes() {
        let text: Vec<u8> = (0..200_000_u32).map(|byte| byte as u8).collect();
        let at_once = hash(text.as_slice()).expect("bytes");
        assert_eq!(at_once, hash(Trickle(&text, 777)).expect("bytes"));
        assert_eq!(at_once.bytes, 200_000);
        let mut other = text.clone();
        other[199_999] ^= 1;
        assert_ne!(at_once, hash(other.as_slice()).expect("bytes"));
    }
}
