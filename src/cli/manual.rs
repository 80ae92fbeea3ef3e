//! `eventscope completions SHELL` and `eventscope man`: shell completions and manual pages, generated from the
//! argument definitions.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::output_file::check_folder;
use super::{Arguments, Condition, Failure, Out};

#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// Shell for which to print the script
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct Manual {
    /// Write the pages of all commands into this folder, one file each
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints the completion script for a shell.
pub(super) fn completions(arguments: &Completions, out: &mut Out) -> Result<Condition, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    generate(arguments.shell, &mut command, "eventscope", &mut script);
    out.text(String::from_utf8_lossy(&script))?;
    Ok(Condition::Sound)
}

/// Prints the manual page of the whole command line, or writes those of all commands.
pub(super) fn manual(arguments: &Manual, out: &mut Out) -> Result<Condition, Failure> {
    let command = Arguments::command();
    if let Some(folder) = &arguments.folder {
        check_folder(folder)?;
        let failed = |error| Failure::File(folder.clone(), error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(command, folder).map_err(failed)?;
        return Ok(Condition::Sound);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    out.text(String::from_utf8_lossy(&page))?;
    Ok(Condition::Sound)
}
