//! Builds the site: places both programs next to the page and seals the result.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{During, Failure, Result};
use crate::project::Project;
use crate::seal;
use crate::wasm;
use crate::weigh::DownloadSizes;

/// Kind of build of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// For users: small and fast programs.
    Shipped,
    /// For development: built within seconds, with large and slower programs.
    Quick,
}

impl Kind {
    /// Returns the folder of the site, relative to the project.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Shipped => "dist",
            Self::Quick => "target/quick-site",
        }
    }
}

/// Builds the site into its folder.
pub(crate) fn build(project: &Project, kind: Kind) -> Result<()> {
    let folder = project.root.join(kind.folder());
    build_into(project, kind, &folder)?;
    if kind == Kind::Shipped {
        println!("{}", DownloadSizes::of(&folder)?);
    }
    Ok(())
}

/// Rebuilds the quick site with the programs of its last build, after changes of `www/` and `index.html` only.
pub(crate) fn build_static(project: &Project) -> Result<()> {
    let folder = project.root.join(Kind::Quick.folder());
    assemble(project, &folder, |site| {
        wasm::copy_quick(&project.root, site)
    })
}

/// Builds the site into the folder that Trunk passes in the environment.
pub(crate) fn build_for_trunk(project: &Project) -> Result<()> {
    let staging = env::var_os("TRUNK_STAGING_DIR").ok_or_else(|| {
        Failure::new("TRUNK_STAGING_DIR is not set: Trunk calls this command (trunk serve)")
    })?;
    let is_release = env::var("TRUNK_PROFILE").is_ok_and(|profile| profile == "release");
    let kind = if is_release {
        Kind::Shipped
    } else {
        Kind::Quick
    };
    build_into(project, kind, Path::new(&staging))
}

fn build_into(project: &Project, kind: Kind, folder: &Path) -> Result<()> {
    std::thread::scope(|scope| {
        if kind == Kind::Shipped {
            // wasm-opt needs the npm packages, and reports a failure to install them.
            scope.spawn(|| project.npm_packages());
        }
        project.wasm_target()?;
        assemble(project, folder, |site| wasm::build(project, kind, site))
    })
}

/// Adds the page to the programs, seals the site, and replaces the one in `folder`, which remains unchanged until
/// then.
fn assemble(
    project: &Project,
    folder: &Path,
    programs: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let staged = staged(&project.root, folder);
    remove_folder(&staged)?;
    programs(&staged)?;
    project.steps.run("site", || {
        let page = staged.join("index.html");
        fs::copy(project.root.join("index.html"), &page)
            .during(|| format!("write {}", page.display()))?;
        copy_folder(&project.root.join("www"), &staged.join("www"))?;
        let sealed = seal::seal(&staged)?;
        remove_folder(folder)?;
        fs::rename(&staged, folder).during(|| format!("move {}", staged.display()))?;
        if project.steps.prints() {
            let folder = folder.strip_prefix(&project.root).unwrap_or(folder);
            println!("{}: {sealed}", folder.display());
        }
        Ok(())
    })
}

/// Returns the staging folder of a site. Each kind has its own, since two kinds may be built at once.
fn staged(root: &Path, folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default();
    root.join("target/staged").join(name)
}

pub(crate) fn remove_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).during(|| format!("remove {}", folder.display()))?;
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
