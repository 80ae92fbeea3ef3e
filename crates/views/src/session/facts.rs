//! A log in a few words.

use super::Overview;
use crate::scene::format;
use analysis::diagnostics::{Diagnostic, Fact};
use eventlog::DamageKind;

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
        if let Some(ghc) = &self.ghc {
            facts.push(format!("GHC {ghc}"));
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
