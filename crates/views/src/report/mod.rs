//! Report of a log: one self-contained HTML file to read, print and send.
//!
//! Page and command line produce the same file because both send the same queries. The file has no scripts and
//! loads nothing. Each section has its own module.

mod collections;
pub(crate) mod document;
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

/// Subject of a report.
#[derive(Clone, Debug)]
pub struct ReportSubject {
    /// Name of the log's file.
    pub name: String,
    /// Time range; the whole log if `None`.
    pub range: Option<Interval>,
}

/// Section of a report.
struct Section {
    /// Anchor of the section.
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

/// Writes the report; `None` if the log is closed meanwhile.
pub async fn report(
    log: &impl Answers,
    overview: Rc<Overview>,
    subject: &ReportSubject,
) -> Option<String> {
    let sections = [
        summary::section(log, subject).await?,
        findings::section(log, &overview, subject).await?,
        timeline::section(log, &overview, subject).await?,
        collections::section(log, &overview, subject).await?,
        heap::section(log, &overview, subject).await?,
        threads::section(log, &overview, subject).await?,
    ];
    Some(document::write(&overview, subject, &sections))
}
