//! Diagnostics of a log, collected from the file reader and all analyses.

use super::Session;
use analysis::diagnostics::{Diagnostic, Diagnostics, Fact, Severity};
use analysis::process::Process;

/// Maximum number of warnings in an overview.
const WARNINGS_SHOWN: usize = 100;

impl Session {
    /// Returns the metadata of the process that wrote the log, with all diagnostics.
    pub fn process(&self) -> Process {
        Process {
            diagnostics: self.diagnostics(),
            ..self.recording.info.process()
        }
    }

    /// Returns the environment variables of the process, by name. They may hold secrets.
    pub fn environment(&self) -> Vec<(String, String)> {
        let info = &self.recording.info;
        let of_several = info.processes.environment();
        of_several.unwrap_or_else(|| info.facts.environment())
    }

    /// Returns all diagnostics of the log, ordered by time.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut all = self.file_diagnostics();
        for found in self.recording.diagnostics() {
            all.append(found);
        }
        all.append(&self.recording.usual_diagnostics());
        for diagnostic in self.recording.whole_log_diagnostics() {
            all.push(diagnostic);
        }
        all.sort();
        all
    }

    /// Returns the first warnings (those of the file first) and the number of all.
    pub(super) fn warnings(&self) -> (Vec<Diagnostic>, u64) {
        let file = self.file_diagnostics();
        let is_warning =
            |diagnostic: &Diagnostic| diagnostic.rule().severity() >= Severity::Warning;
        let of_whole: Vec<Diagnostic> = self
            .recording
            .whole_log_diagnostics()
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

    /// Returns what could not be read, in the order of discovery, followed by memory problems.
    fn file_diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::from_damage(&self.reader.damage());
        if let Some(error) = self.reader.inflate_error() {
            found.push(Diagnostic::new(Fact::Compressed(error.to_string())));
        }
        for diagnostic in self.memory_diagnostics() {
            found.push(diagnostic);
        }
        found
    }
}
