//! Gathers the diagnostics of all analyses.

use super::fact::damage_rule;
use super::{Diagnostic, Diagnostics, Fact};
use crate::account::facts::LogCompleteness;
use crate::capability::CapLifetimes;
use crate::recording::Recording;
use eventlog::DamageList;
use model::time::Interval;

impl Diagnostics {
    /// Converts file damage to diagnostics, in file order.
    pub fn from_damage(damage: &DamageList) -> Self {
        let mut found = Self::default();
        for damage in &damage.kept {
            found.push(damage.into());
        }
        for (kind, count) in damage.kinds() {
            let rule = damage_rule(kind);
            let counted = found.counts.get(&rule).copied().unwrap_or_default();
            found.count_more(rule, count.saturating_sub(counted));
        }
        found
    }
}

impl CapLifetimes {
    /// Returns the capabilities that lack more than half of their life, with the range after their last event.
    ///
    /// Only for logs without a proper end: the last buffers of a killed program never reach the file.
    pub fn missing_buffers(
        &self,
        completeness: LogCompleteness,
    ) -> impl Iterator<Item = Diagnostic> + '_ {
        let killed = (!completeness.ends).then(|| self.caps_with_events());
        killed
            .into_iter()
            .flatten()
            .filter_map(|(cap, life, events)| {
                let known = events.map_or(life.start(), |events| life.nearest(events.end()));
                let missing = Interval::new(known, life.end());
                let most = missing.duration().0 > life.duration().0 / 2;
                most.then(|| Diagnostic {
                    range: Some(missing),
                    ..Diagnostic::new(Fact::BufferMissing(cap))
                })
            })
    }
}

impl Recording {
    /// Returns the diagnostics of the analyses, except those [about the whole log](Self::whole_log_diagnostics).
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostics> {
        let automata = [&self.store.anomalies, &self.store.gc_anomalies];
        automata.into_iter().chain(self.profiles.anomalies())
    }

    /// Returns the diagnostics about the log as a whole.
    pub fn whole_log_diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let missing = self.completeness.into_iter();
        let missing =
            missing.flat_map(|completeness| self.info.lives.missing_buffers(completeness));
        let messages = self.messages.diagnostic().into_iter();
        let names = Some(self.names.dropped()).filter(|&count| count > 0);
        let names = names.map(|count| Diagnostic::new(Fact::NamesLeftOut(count)));
        let too_large = self.is_too_large().then(|| Diagnostic::new(Fact::TooLarge));
        let left_out = self.names.info_tables().dropped();
        let tables = Diagnostic::new(Fact::InfoTablesLeftOut(left_out));
        let tables = (left_out > 0).then_some(tables);
        let heap = self.heap().diagnostics();
        missing
            .chain(messages)
            .chain(names)
            .chain(too_large)
            .chain(tables)
            .chain(heap)
            .chain(self.back_dating_diagnostic())
    }

    /// Reports events dated before a preceding one.
    fn back_dating_diagnostic(&self) -> Option<Diagnostic> {
        let back = &self.info.back_dating;
        let (events, most) = (back.count(), back.max());
        let fact = Fact::TimesGoBack { events, most };
        (events > 0).then(|| Diagnostic::at_time(back.max_at(), fact))
    }

    /// Returns diagnostics that sound logs have as well: unknown event types, and spans still open at the end.
    pub fn usual_diagnostics(&self) -> Diagnostics {
        let end = self.info.first_and_last().map(|(_, last)| last);
        let mut diagnostics = self.open.diagnostics(end);
        for kind in self.info.types().into_iter().filter(|kind| !kind.known) {
            diagnostics.push(Diagnostic::new(Fact::UnknownType {
                id: kind.id,
                description: kind.description,
                events: kind.count,
            }));
        }
        diagnostics
    }
}
