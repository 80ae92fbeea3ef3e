//! Files of the page, embedded in this program or read from a folder.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Failure;

/// Message if the program has no embedded page.
const ABSENT: &str = "this eventscope was built without the page. Use a release, run `cargo xtask install` in a \
    checkout, or name the folder of a built site with --site";

/// Marker that every built `index.html` contains.
const MARK: &str = "<meta name=\"eventscope-build\"";

/// Embedded files of the page; `cargo xtask install` builds the page and the program.
#[cfg(feature = "site")]
#[derive(rust_embed::Embed)]
#[folder = "dist/"]
struct EmbeddedFiles;

/// Files of the page by their address relative to the page. Nothing else is served, whatever the request.
#[derive(Debug)]
pub(super) struct Site {
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

impl Site {
    /// Loads the site from a folder or, without one, from this program.
    ///
    /// # Errors
    /// If there is no site.
    pub(super) fn find(folder: Option<&Path>) -> Result<Self, Failure> {
        let site = match folder {
            Some(folder) => Self::from_folder(folder)?,
            None => Self::embedded(),
        };
        match (folder, site.index()) {
            (_, Some(index)) if index.contains(MARK) => Ok(site),
            (None, _) => Err(Failure::Absent(ABSENT.to_owned())),
            (Some(folder), _) => Err(Failure::Absent(format!(
                "{} has no built site: `cargo xtask build` makes one in dist/",
                folder.display()
            ))),
        }
    }

    #[cfg(feature = "site")]
    fn embedded() -> Self {
        let files = EmbeddedFiles::iter();
        Self {
            files: files
                .filter_map(|name| {
                    Some((name.clone().into_owned(), EmbeddedFiles::get(&name)?.data))
                })
                .collect(),
        }
    }

    #[cfg(not(feature = "site"))]
    fn embedded() -> Self {
        Self {
            files: BTreeMap::new(),
        }
    }

    /// Reads the folder only if it contains a built site.
    fn from_folder(folder: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        let is_site = |page: String| page.contains(MARK);
        if fs::read_to_string(folder.join("index.html")).is_ok_and(is_site) {
            collect(folder, "", &mut files)?;
        }
        Ok(Self { files })
    }

    /// Returns the `index.html`.
    pub(super) fn index(&self) -> Option<&str> {
        std::str::from_utf8(self.file("index.html")?).ok()
    }

    /// Returns a file of the site.
    pub(super) fn file(&self, address: &str) -> Option<&[u8]> {
        self.files.get(address).map(|bytes| &**bytes)
    }

    /// Replaces a file of the site.
    pub(super) fn replace(&mut self, address: &str, text: String) {
        let bytes = Cow::Owned(text.into_bytes());
        self.files.insert(address.to_owned(), bytes);
    }
}

/// Collects the files below a folder, without following symbolic links.
fn collect(
    folder: &Path,
    prefix: &str,
    into: &mut BTreeMap<String, Cow<'static, [u8]>>,
) -> Result<(), Failure> {
    let failed = |error| Failure::File(folder.to_owned(), error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let address = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            collect(&path, &format!("{address}/"), into)?;
        } else if kind.is_file() {
            let bytes = fs::read(&path).map_err(|error| Failure::File(path, error))?;
            into.insert(address, bytes.into());
        }
    }
    Ok(())
}
