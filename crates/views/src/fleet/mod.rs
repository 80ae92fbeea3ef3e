//! Page about a fleet: thousands of runs in one self-contained HTML file.
//!
//! Charts are drawn here, so that the file shows them without scripts too, in a mail or where scripts are forbidden.
//! [`SCRIPT`] adds an explorer for all numbers, labels and runs over the data in the file. The file loads nothing; its
//! content security policy allows this one script, by its hash.

mod axis;
mod charts;
mod claims;
mod data;
mod document;
mod findings;
mod groups;
mod html;
mod links;
mod method;
mod number;
mod overview;
#[cfg(test)]
mod tests;
mod text;

pub use document::{document, fragment, style};
pub use links::LinkPattern;
pub use text::summary;

use insight::fleet::{Analysis, Fleet};

/// Script that explores the data of the page; `www/fleet.html` loads the same file.
pub const SCRIPT: &str = include_str!("../../../../www/fleet-view.js");

/// Contents of a page about a fleet.
#[derive(Clone, Copy, Debug)]
pub struct FleetPage<'a> {
    /// Runs and their numbers.
    pub fleet: &'a Fleet,
    /// Facts about them.
    pub analysis: &'a Analysis,
    /// Title; without one, the number of runs and the programs.
    pub title: Option<&'a str>,
    /// Addresses of logs.
    pub link: Option<&'a LinkPattern>,
    /// Files that were passed over, with the reason.
    pub skipped: &'a [SkippedFile],
    /// Remarks on the input.
    pub notes: &'a [String],
}

/// File that is no digest.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SkippedFile {
    /// Path of the file.
    pub path: String,
    /// Reason why it was passed over.
    pub why: String,
}
