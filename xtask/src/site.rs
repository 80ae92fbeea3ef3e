//! Building the site: both programs are compiled and laid out beside the page, then the result
//! is sealed.

use std::env;
use std::fs;
use std::path::Path;

use crate::process::{During, Failure, Result};
use crate::programs;
use crate::seal;
use crate::tools;
use crate::weigh::Weight;

/// What a site is built for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// To be used: small and fast.
    Shipped,
    /// To try a change: built sooner, ten times as large and slower.
    Dev,
}

/// Leaves the finished site in `dist/`.
pub(crate) fn build(root: &Path, kind: Kind) -> Result<()> {
    build_into(root, kind, &root.join("dist"))
}

/// Leaves the finished site where Trunk takes it from; Trunk says in its environment where that is.
pub(crate) fn build_for_trunk(root: &Path) -> Result<()> {
    let staging = env::var_os("TRUNK_STAGING_DIR").ok_or_else(|| {
        Failure::new("there is no TRUNK_STAGING_DIR: this is called by Trunk (trunk serve)")
    })?;
    let is_release = env::var("TRUNK_PROFILE").is_ok_and(|profile| profile == "release");
    let kind = if is_release { Kind::Shipped } else { Kind::Dev };
    build_into(root, kind, Path::new(&staging))
}

fn build_into(root: &Path, kind: Kind, dist: &Path) -> Result<()> {
    tools::for_site(root)?;
    eprintln!("building the site (some minutes the first time)");
    // Finished beside what is there, so that what is there stays if it fails.
    let staged = root.join("target").join("site");
    if staged.exists() {
        fs::remove_dir_all(&staged).during(|| format!("remove {}", staged.display()))?;
    }
    programs::build(root, kind, &staged)?;
    let page = staged.join("index.html");
    fs::copy(root.join("index.html"), &page).during(|| format!("write {}", page.display()))?;
    copy_folder(&root.join("www"), &staged.join("www"))?;
    let sealed = seal::seal(&staged)?;

    if dist.exists() {
        fs::remove_dir_all(dist).during(|| format!("remove {}", dist.display()))?;
    }
    fs::rename(&staged, dist).during(|| format!("move {}", staged.display()))?;
    match kind {
        Kind::Shipped => println!("built dist/ ({sealed}; {})", Weight::of(dist)?),
        Kind::Dev => println!("built dist/ ({sealed}), not to be shipped"),
    }
    Ok(())
}

pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for file in seal::files_below(from)? {
        let target = to.join(&file);
        let folder = target.parent().unwrap_or(to);
        fs::create_dir_all(folder).during(|| format!("create {}", folder.display()))?;
        fs::copy(from.join(&file), &target).during(|| format!("write {}", target.display()))?;
    }
    Ok(())
}
