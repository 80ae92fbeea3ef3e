//! Output files of commands.

use std::io::{self, BufWriter, IntoInnerError, IsTerminal};
use std::path::Path;
use std::process;
use std::sync::Once;
use std::thread;

use tokio::runtime;

use super::{Failure, Out};
use native::{CreateError, OutputFile, is_standard_output, remove_unfinished_outputs};

/// Creates a file that replaces `path` once it is finished; `-` is standard output. Fails if `path` is one of `inputs`,
/// or a terminal.
pub(super) fn create_output<P: AsRef<Path>>(
    path: &Path,
    inputs: impl IntoIterator<Item = P>,
) -> Result<OutputFile, Failure> {
    if is_standard_output(path) && io::stdout().is_terminal() {
        let what = "this output is not for terminals: redirect it, or name a file instead of -";
        return Err(Failure::Usage(what.to_owned()));
    }
    remove_unfinished_on_signals(INTERRUPTED);
    OutputFile::create(path, inputs).map_err(|error| match error {
        CreateError::IsInput => is_input(path),
        CreateError::Io(error) => Failure::File(path.to_owned(), error),
    })
}

/// Fails if the path of an output folder is `-`.
pub(super) fn check_folder(path: &Path) -> Result<(), Failure> {
    if is_standard_output(path) {
        let what = "the output is a folder, not one file: name a folder instead of -";
        return Err(Failure::Usage(what.to_owned()));
    }
    Ok(())
}

/// Returns the error for an output that is also an input.
pub(super) fn is_input(path: &Path) -> Failure {
    let what = format!("{} cannot be read and written at once", path.display());
    Failure::Usage(what)
}

/// Finishes a file that was written through a buffer.
pub(super) fn finish_output(output: BufWriter<OutputFile>) -> io::Result<()> {
    let output = output.into_inner().map_err(IntoInnerError::into_error)?;
    output.finish()
}

/// Writes a file through an [`Out`], escaped as on standard output. Fails if `path` is one of `inputs`.
pub(super) fn print_to_file<P: AsRef<Path>>(
    path: &Path,
    inputs: impl IntoIterator<Item = P>,
    print: impl FnOnce(&mut Out) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error| Failure::File(path.to_owned(), error);
    let output = create_output(path, inputs)?;
    let mut file = Out::new(Box::new(output.handle().map_err(failed)?));
    let printed = print(&mut file);
    printed
        .and_then(|()| Ok(file.flush()?))
        .and_then(|()| Ok(output.finish()?))
        .map_err(|failure| match failure {
            Failure::Output(error) => failed(error),
            other => other,
        })
}

/// Exit status of a process ended by Ctrl+C, as shells report it: 128 + SIGINT.
pub(super) const INTERRUPTED: i32 = 130;
/// Exit status of a process ended by SIGTERM, as shells report it: 128 + SIGTERM.
#[cfg(unix)]
const TERMINATED: i32 = 143;

/// Installs a signal handler that removes the temporary files of unfinished outputs and exits; the exit status
/// after Ctrl+C is `interrupted`.
pub(super) fn remove_unfinished_on_signals(interrupted: i32) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        // Without a handler, the outputs are still written.
        let Ok(runtime) = runtime else { return };
        let Ok(status) = runtime.block_on(async { ending_signal(interrupted) }) else {
            return;
        };
        thread::spawn(move || {
            let status = runtime.block_on(status);
            remove_unfinished_outputs();
            process::exit(status)
        });
    });
}

/// Waits for SIGINT or SIGTERM and returns the exit status.
#[cfg(unix)]
fn ending_signal(interrupted: i32) -> io::Result<impl Future<Output = i32>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => interrupted,
            _ = terminate.recv() => TERMINATED,
        }
    })
}

#[cfg(not(unix))]
fn ending_signal(interrupted: i32) -> io::Result<impl Future<Output = i32>> {
    Ok(async move {
        match tokio::signal::ctrl_c().await {
            Ok(()) => interrupted,
            Err(_) => std::future::pending().await,
        }
    })
}
