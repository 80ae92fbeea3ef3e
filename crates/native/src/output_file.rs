//! Output files that replace their target only when complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use same_file::Handle;
use tempfile::{Builder, NamedTempFile};

/// Paths of all temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An output file. Bytes go to a temporary file in the target's folder; [`finish`](Self::finish) renames it to the
/// target. If it is dropped before, the target is unchanged and the temporary file is removed. Targets that are
/// not regular files, such as pipes and devices, are written directly.
#[derive(Debug)]
pub struct OutputFile {
    destination: Destination,
}

#[derive(Debug)]
enum Destination {
    Direct(File),
    Renamed {
        /// `None` once it was renamed or removed.
        temporary: Option<NamedTempFile>,
        target: PathBuf,
    },
}

/// Reason why an output file cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The target is one of the inputs.
    #[error("this file is an input: name another output")]
    IsInput,
    /// Error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl OutputFile {
    /// Creates a file that will replace `path`; `-` and `/dev/stdout` are the standard output.
    ///
    /// # Errors
    ///
    /// If `path` is the same file as one of `inputs` (by any name: `-` is standard input), or cannot be written.
    pub fn create<P: AsRef<Path>>(
        path: &Path,
        inputs: impl IntoIterator<Item = P>,
    ) -> Result<Self, CreateError> {
        let is_stdout = is_standard_output(path) || path == Path::new(STDOUT);
        let path = if is_stdout { Path::new(STDOUT) } else { path };
        if inputs
            .into_iter()
            .any(|input| is_same_file(path, input.as_ref()))
        {
            return Err(CreateError::IsInput);
        }
        if is_stdout {
            // Opening it by its path would truncate a file that another program writes, too.
            let destination = Destination::Direct(Handle::stdout()?.as_file().try_clone()?);
            return Ok(Self { destination });
        }
        let existing = fs::metadata(path).ok();
        let is_system_file = ["/dev", "/proc"]
            .iter()
            .any(|folder| path.starts_with(folder));
        if is_system_file || existing.as_ref().is_some_and(|file| !file.is_file()) {
            let destination = Destination::Direct(File::create(path)?);
            return Ok(Self { destination });
        }
        let target = resolve_links(path);
        if existing.is_some() {
            // A write-protected file must not be replaced either.
            OpenOptions::new().write(true).open(&target)?;
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = Builder::new();
        builder.prefix(".eventscope-").suffix(".unfinished");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // Locked during creation, so that every temporary file is listed while signals are handled.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let temporary = builder.tempfile_in(folder)?;
        unfinished.push(temporary.path().to_owned());
        drop(unfinished);
        let destination = Destination::Renamed {
            temporary: Some(temporary),
            target,
        };
        let output = Self { destination };
        if let Some(existing) = existing {
            output.file()?.set_permissions(existing.permissions())?;
        }
        Ok(output)
    }

    fn file(&self) -> io::Result<&File> {
        match &self.destination {
            Destination::Direct(file) => Ok(file),
            Destination::Renamed { temporary, .. } => temporary
                .as_ref()
                .map(NamedTempFile::as_file)
                .ok_or_else(|| io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns another handle to the file being written, for writers that own their handle.
    ///
    /// # Errors
    ///
    /// If the system has no more handles.
    pub fn handle(&self) -> io::Result<File> {
        self.file()?.try_clone()
    }

    /// Replaces the target.
    ///
    /// # Errors
    ///
    /// If the system refuses; then the target is unchanged.
    pub fn finish(mut self) -> io::Result<()> {
        if let Destination::Renamed { temporary, target } = &mut self.destination
            && let Some(file) = temporary.take()
        {
            let path = file.path().to_owned();
            let renamed = file.persist(target);
            forget_unfinished(&path);
            renamed?;
        }
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Destination::Renamed { temporary, .. } = &mut self.destination
            && let Some(file) = temporary.take()
        {
            let path = file.path().to_owned();
            drop(file);
            forget_unfinished(&path);
        }
    }
}

fn forget_unfinished(path: &Path) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.retain(|other| other != path);
}

/// Registers another temporary file for [`remove_unfinished_outputs`].
pub fn add_unfinished(path: &Path) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.push(path.to_owned());
}

/// Removes the temporary files of all unfinished outputs, when a signal ends the process.
pub fn remove_unfinished_outputs() {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.drain(..) {
        // A file that cannot be removed is left behind.
        let _ = fs::remove_file(path);
    }
}

/// Path of the standard output on systems that have one.
const STDOUT: &str = "/dev/stdout";

/// Whether the path of an output is `-`, the standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether two paths refer to the same regular file. `-` is standard input, `/dev/stdout` standard output.
pub fn is_same_file(path: &Path, other: &Path) -> bool {
    let open = |path: &Path| {
        let handle = match path.to_str() {
            Some("-") => Handle::stdin(),
            Some(STDOUT) => Handle::stdout(),
            // Opening a pipe would wait for its other end.
            _ if fs::metadata(path).is_ok_and(|file| file.is_file()) => Handle::from_path(path),
            _ => return None,
        };
        let handle = handle.ok()?;
        let is_file = handle.as_file().metadata().is_ok_and(|file| file.is_file());
        is_file.then_some(handle)
    };
    open(path).is_some_and(|handle| open(other).is_some_and(|other| handle == other))
}

/// Follows a chain of symbolic links to its end, which need not exist.
fn resolve_links(path: &Path) -> PathBuf {
    const MAX_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_INPUTS: [&Path; 0] = [];

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|e| name(e).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_target_changes_only_when_the_file_is_finished() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("target");
        fs::write(&target, "old").expect("a file");

        let mut output = OutputFile::create(&target, NO_INPUTS).expect("an output");
        output.write_all(b"half of the new").expect("written");
        drop(output);
        assert_eq!(fs::read(&target).expect("a file"), b"old");
        assert_eq!(names(folder.path()), ["target"]);

        let mut output = OutputFile::create(&target, NO_INPUTS).expect("an output");
        output.write_all(b"new").expect("written");
        assert_eq!(fs::read(&target).expect("a file"), b"old");
        output.finish().expect("renamed");
        assert_eq!(fs::read(&target).expect("a file"), b"new");
        assert_eq!(names(folder.path()), ["target"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "old").expect("a file");
        fs::set_permissions(path("file"), PermissionsExt::from_mode(0o640)).expect("permissions");
        symlink("file", path("link")).expect("a link");
        symlink("later", path("dangling")).expect("a link");
        for (name, target) in [("link", "file"), ("dangling", "later")] {
            let mut output = OutputFile::create(&path(name), NO_INPUTS).expect("an output");
            output.write_all(b"new").expect("written");
            output.finish().expect("renamed");
            assert!(path(name).is_symlink(), "{name}");
            assert_eq!(fs::read(path(target)).expect("a file"), b"new", "{name}");
        }
        let mode = fs::metadata(path("file"))
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn inputs_are_recognised_by_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("input"), "log").expect("a file");
        fs::write(path("other"), "log").expect("a file");
        fs::hard_link(path("input"), path("hard")).expect("a link");
        std::os::unix::fs::symlink("input", path("soft")).expect("a link");
        for name in ["input", "hard", "soft"] {
            let created = OutputFile::create(&path(name), [path("other"), path("input")]);
            assert!(matches!(created, Err(CreateError::IsInput)), "{name}");
        }
        assert!(OutputFile::create(&path("new"), [path("input")]).is_ok());
    }
}
