//! One-line summary of a log.

use super::Overview;
use analysis::diagnostics::{Diagnostic, Fact};
use eventlog::DamageKind;
use scene::format;

/// Returns whether a kind of damage is a truncated file.
pub(crate) const fn breaks_off(kind: DamageKind) -> bool {
    matches!(kind, DamageKind::NoEndMarker | DamageKind::Truncated)
}

/// Returns whether a warning only reports a truncated file or a buffer that a capability has not flushed.
fn is_about_the_end(warning: &Diagnostic) -> bool {
    match warning.fact {
        Fact::Damage { kind, .. } => breaks_off(kind),
        Fact::BufferMissing(_) => true,
        _ => false,
    }
}

impl Overview {
    /// Returns whether all warnings are about a truncated end, as in a log that is still being written.
    pub fn only_breaks_off(&self) -> bool {
        let listed = self.warnings.len() as u64;
        listed == self.warning_count && self.warnings.iter().all(is_about_the_end)
    }

    /// Returns the key figures of the log, separated by middle dots.
    pub fn facts(&self) -> String {
        let mut facts = Vec::new();
        let processes = &self.contents.processes.all;
        // Processes with different GHCs list theirs individually.
        let is_same = processes.windows(2).all(|two| two[0].ghc == two[1].ghc);
        if let Some(ghc) = self.ghc.as_ref().filter(|_| is_same) {
            facts.push(format!("GHC {ghc}"));
        }
        if !processes.is_empty() {
            facts.push(format!(
                "{} processes",
                format::count(processes.len() as u64)
            ));
        }
        if !self.caps.is_empty() {
            facts.push(format::pluralize(self.caps.len() as u64, "capability"));
        }
        if let Some(span) = self.span {
            facts.push(format::duration(span.duration()));
        }
        match self.report {
            Some(_) => facts.push("heap profile in text".to_owned()),
            None if self.events == 0 && !self.complete => {}
            None => facts.push(format!("{} events", format::count(self.events))),
        }
        facts.push(format::bytes(self.bytes));
        facts.join(" · ")
    }
}
