//! A log in a few words.

use super::Overview;
use analysis::diagnostics::{Diagnostic, Fact};
use eventlog::DamageKind;
use scene::format;

/// Whether it says no more than that the file breaks off, or that a capability has not
/// written its buffer.
fn is_about_the_end(warning: &Diagnostic) -> bool {
    match warning.fact {
        Fact::Damage { kind, .. } => {
            matches!(kind, DamageKind::NoEndMarker | DamageKind::Truncated)
        }
        Fact::BufferMissing(_) => true,
        _ => false,
    }
}

impl Overview {
    /// Whether no more is wrong with it than that it breaks off: that is how a log looks that
    /// is still being written.
    #[must_use]
    pub fn only_breaks_off(&self) -> bool {
        let listed = self.warnings.len() as u64;
        listed == self.warning_count && self.warnings.iter().all(is_about_the_end)
    }

    /// What is known of it, in a few words.
    #[must_use]
    pub fn facts(&self) -> String {
        let mut facts = Vec::new();
        let processes = &self.contents.processes.all;
        // Which GHC wrote a log of several programs is said of each.
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
            facts.push(format::many(self.caps.len() as u64, "capability"));
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
