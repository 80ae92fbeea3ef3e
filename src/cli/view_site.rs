//! The files of the page: those inside of this program, or those of a folder.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Failure;

/// What is missing where the page is not there.
const ABSENT: &str = "this eventscope was built without the page. Take one of the releases, run \
    `cargo xtask install` in a checkout, or name a folder that has the site with --site";

/// What every built `index.html` says of itself.
const MARK: &str = "<meta name=\"eventscope-build\"";

/// The page as it goes into the program: `cargo xtask install` builds both.
#[cfg(feature = "site")]
#[derive(rust_embed::Embed)]
#[folder = "dist/"]
struct Inside;

/// The site, by the addresses of its files from the page's own on. What is not among them is
/// not served, whatever an address says.
#[derive(Debug)]
pub(super) struct Site {
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

impl Site {
    /// The site in that folder, or else the one inside of this program.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn find(folder: Option<&Path>) -> Result<Self, Failure> {
        let site = match folder {
            Some(folder) => Self::of_folder(folder)?,
            None => Self::inside(),
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
    fn inside() -> Self {
        let files = Inside::iter();
        Self {
            files: files
                .filter_map(|name| Some((name.clone().into_owned(), Inside::get(&name)?.data)))
                .collect(),
        }
    }

    #[cfg(not(feature = "site"))]
    fn inside() -> Self {
        Self {
            files: BTreeMap::new(),
        }
    }

    /// What is no site is not read.
    fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        let is_site = |page: String| page.contains(MARK);
        if fs::read_to_string(folder.join("index.html")).is_ok_and(is_site) {
            collect(folder, "", &mut files)?;
        }
        Ok(Self { files })
    }

    /// The page itself.
    pub(super) fn index(&self) -> Option<&str> {
        std::str::from_utf8(self.file("index.html")?).ok()
    }

    /// A file of it.
    pub(super) fn file(&self, address: &str) -> Option<&[u8]> {
        self.files.get(address).map(|bytes| &**bytes)
    }

    /// Puts another file in the place of one.
    pub(super) fn replace(&mut self, address: &str, text: String) {
        let bytes = Cow::Owned(text.into_bytes());
        self.files.insert(address.to_owned(), bytes);
    }
}

/// The files below a folder; links to other folders are not followed.
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
