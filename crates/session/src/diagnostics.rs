//! What is wrong or odd about a log, gathered from all that looked at it.

use super::Session;
use analysis::diagnostics::{Diagnostic, Diagnostics, Fact, Severity};
use analysis::process::Process;

/// How many warnings an overview has.
const WARNINGS_SHOWN: usize = 100;

impl Session {
    /// The process that wrote the log, and what is wrong or odd about the log.
    #[must_use]
    pub fn process(&self) -> Process {
        Process {
            diagnostics: self.diagnostics(),
            ..self.recording.info.process()
        }
    }

    /// The environment variables of the process, by name. They may hold secrets.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let info = &self.recording.info;
        let of_several = info.processes.environment();
        of_several.unwrap_or_else(|| info.facts.environment())
    }

    /// What is wrong or odd about the log, or worth to know about it, by time.
    #[must_use]
    pub fn diagnostics(&self) -> Diagnostics {
        let mut all = self.of_the_file();
        for found in self.recording.diagnostics() {
            all.append(found);
        }
        all.append(&self.recording.usual_diagnostics());
        for diagnostic in self.recording.about_the_whole() {
            all.push(diagnostic);
        }
        all.sort();
        all
    }

    /// The first that are more than usual, beginning with the file, and how
    /// many there are.
    pub(super) fn warnings(&self) -> (Vec<Diagnostic>, u64) {
        let file = self.of_the_file();
        let is_warning =
            |diagnostic: &Diagnostic| diagnostic.rule().severity() >= Severity::Warning;
        let of_whole: Vec<Diagnostic> = self
            .recording
            .about_the_whole()
            .filter(is_warning)
            .collect();
        let lists = || std::iter::once(&file).chain(self.recording.diagnostics());
        let count: u64 = lists().map(|list| list.count(Severity::Warning)).sum();
        let first = lists()
            .flat_map(Diagnostics::kept)
            .filter(|diagnostic| is_warning(diagnostic))
            .chain(&of_whole)
            .take(WARNINGS_SHOWN);
        (first.cloned().collect(), count + of_whole.len() as u64)
    }

    /// What could not be read, in the order in which it was found, or not be kept as it should.
    fn of_the_file(&self) -> Diagnostics {
        let mut found = Diagnostics::of_damage(&self.reader.damage());
        if let Some(error) = self.reader.inflate_error() {
            found.push(Diagnostic::new(Fact::Compressed(error.to_string())));
        }
        for diagnostic in self.about_memory() {
            found.push(diagnostic);
        }
        found
    }
}
