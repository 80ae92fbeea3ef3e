//! A log in a few words.

use super::Overview;
use crate::scene::format;

impl Overview {
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
