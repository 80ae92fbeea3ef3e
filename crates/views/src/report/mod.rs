//! The report of a log: one HTML file that needs nothing else, for reading, printing and sending.
//!
//! Page and command line write the same, as both ask the same questions. It has no script and
//! loads nothing. Each section is a file here.

mod collections;
mod document;
mod findings;
mod heap;
mod html;
mod summary;
mod threads;
mod timeline;

use std::rc::Rc;

use html::Html;
use model::time::Interval;
use session::Overview;
use session::query::Answers;

/// What a report is to be about.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The name of the log's file.
    pub name: String,
    /// Which part of it; all of it without.
    pub range: Option<Interval>,
}

/// A part of a report.
struct Section {
    /// By what links find it.
    id: &'static str,
    title: &'static str,
    body: Html,
}

impl Section {
    fn new(id: &'static str, title: &'static str) -> Self {
        Self {
            id,
            title,
            body: Html::default(),
        }
    }
}

/// The report; `None` if the log is closed meanwhile.
pub async fn report(log: &impl Answers, overview: Rc<Overview>, wanted: &Wanted) -> Option<String> {
    let sections = [
        summary::section(log, wanted).await?,
        findings::section(log, &overview, wanted).await?,
        timeline::section(log, &overview, wanted).await?,
        collections::section(log, &overview, wanted).await?,
        heap::section(log, &overview, wanted).await?,
        threads::section(log, &overview, wanted).await?,
    ];
    Some(document::write(&overview, wanted, &sections))
}
