//! One run of a program: how long it took, how much of the processors and of memory, and what it printed.

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

/// How programs are run.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    /// The program.
    pub(super) program: OsString,
    /// What each run reads; nothing if there is none.
    pub(super) stdin: Option<PathBuf>,
    /// `GHCRTS` without options about the log; `None` if it is not set.
    pub(super) ghcrts: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With this status; `None` if a signal ended it.
    Exited(Option<i32>),
    /// It took longer than it was given, and was ended.
    TimedOut,
}

/// What a run printed to standard output. Equal bytes have equal values; others hardly ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Printed {
    /// How many bytes.
    pub(super) bytes: u64,
    hash: u64,
}

impl Printed {
    /// That of these bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        hash(bytes).unwrap_or_default()
    }
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// From its start to its end.
    pub(super) wall: Duration,
    /// Time of processors, in the program and in the system for it.
    pub(super) cpu: Duration,
    /// The most memory that was resident at a time, in bytes.
    pub(super) memory_bytes: u64,
    /// How it ended.
    pub(super) end: End,
    /// What it printed; `None` if a process that it left behind still prints.
    pub(super) printed: Option<Printed>,
    /// The end of what it printed to standard error.
    pub(super) complaint: String,
}

/// A process that the program left behind may hold its output open: it is waited for no longer.
const OUTPUT_WAIT: Duration = Duration::from_secs(2);
/// Of standard error so much is kept, from its end.
const COMPLAINT_BYTES: u64 = 4096;

impl Launcher {
    /// Runs the program once, and ends it after `limit`.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, its input cannot be opened, or the system does not tell what a process used.
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
            End::TimedOut
        } else {
            End::Exited(finished.status.code())
        };
        Ok(Sample {
            wall: finished.wall,
            cpu: finished.cpu,
            memory_bytes: finished.memory_bytes,
            end,
            printed,
            complaint: last_part(&mut errors)?,
        })
    }
}

/// Why a program could not be started, with what to do.
pub(super) fn explain_start(program: &OsStr, stdin: Option<&Path>, error: &io::Error) -> String {
    let name = Path::new(program).display();
    let words = eventlog::system_words(error);
    if let Some(path) = stdin.filter(|path| !path.is_file()) {
        return format!("--stdin {}: {words}", path.display());
    }
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "there is no program {name}: name one of the search path, or write where it is, such as ./{name}"
        ),
        io::ErrorKind::Unsupported => {
            "this system does not tell what a process used (wait4): `eventscope try` works on Linux, macOS and the BSDs".to_owned()
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
    printed: mpsc::Receiver<Option<Printed>>,
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
        // The parent's end of the error file and of the input is closed with the command.
        drop(command);
        let printed = read_output(child.stdout.take());
        let ended = watch(&child);
        let (at, is_late) = match ended.recv_timeout(limit) {
            Ok(at) => (at, false),
            Err(_) => {
                // It is not reaped yet, so its number is no other process's.
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

    /// Tells when a process has ended, without reaping it.
    fn watch(child: &std::process::Child) -> mpsc::Receiver<Instant> {
        let (sender, receiver) = mpsc::channel();
        let id = Pid::from_child(child);
        thread::spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(id), options), Err(Errno::INTR)) {}
            // If nobody waits any more, the run is over.
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

/// Reads the output on a thread of its own, so that the program never waits for a reader.
fn read_output(output: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Option<Printed>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let printed = output.and_then(|output| hash(output).ok());
        // If nobody waits any more, the run is over.
        let _ = sender.send(printed);
    });
    receiver
}

/// Hashes pieces of one size, as a hasher may take two pieces for other bytes than one.
fn hash(mut output: impl Read) -> io::Result<Printed> {
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
            return Ok(Printed { bytes, hash });
        }
    }
}

fn last_part(file: &mut File) -> io::Result<String> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(COMPLAINT_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that hands out so many bytes at a time.
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
