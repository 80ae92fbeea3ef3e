//! What is wrong or odd about a log, gathered from all that looked at it.

use super::Session;
use crate::scene::format;
use analysis::process::{Diagnostic, DiagnosticKind, KEPT, Process};
use analysis::timeline::messages::TEXT_BUDGET_BYTES;
use eventlog::DamageList;
use eventlog::ids::Nanos;

/// A diagnostic without a place.
fn about(kind: DiagnosticKind, text: String, at: Option<Nanos>) -> Diagnostic {
    Diagnostic {
        kind,
        text,
        at,
        offset: None,
        cap: None,
    }
}

/// What is said of messages whose text is not kept.
fn textless((messages, first): (usize, Nanos)) -> Diagnostic {
    let what = match messages {
        1 => "1 message has".to_owned(),
        many => format!("{} messages have", format::count(many as u64)),
    };
    let text = format!(
        "{what} no text here: only the first {} of all texts are kept. Spans of the program \
         that these messages begin or end are not shown, or shown as open",
        format::bytes(TEXT_BUDGET_BYTES as u64)
    );
    about(DiagnosticKind::Oddity, text, Some(first))
}

impl Session {
    /// The process that wrote the log, and what is wrong or odd about the log.
    #[must_use]
    pub fn process(&self) -> Process {
        let info = &self.recording.info;
        let damage = self.reader.damage();
        let end = info.first_and_last().map(|(_, last)| last);
        let (open, open_count) = self.recording.open.diagnostics(end);
        let rest: Vec<Diagnostic> = self
            .clock()
            .into_iter()
            .chain(self.unknown_types())
            .collect();
        let wrong = self.damage_diagnostics(&damage);
        let odd = self.oddity_diagnostics();
        Process {
            diagnostic_count: self.warning_count(&damage) + rest.len() as u64 + open_count,
            diagnostics: wrong
                .take(KEPT)
                .chain(odd.take(KEPT))
                .chain(rest)
                .chain(open)
                .collect(),
            ..info.process()
        }
    }

    /// The environment variables of the process, by name. They may hold secrets.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        self.recording.info.facts.environment()
    }

    /// How much damage and how many oddities there are.
    pub(super) fn warning_count(&self, damage: &DamageList) -> u64 {
        damage.count
            + u64::from(self.reader.inflate_error().is_some())
            + self.recording.store.oddity_count
            + self.recording.profiles.oddities().count() as u64
            + u64::from(self.recording.messages.without_text().is_some())
    }

    /// What could not be read, in the order in which it was found.
    pub(super) fn damage_diagnostics<'a>(
        &'a self,
        damage: &'a DamageList,
    ) -> impl Iterator<Item = Diagnostic> + 'a {
        let inflating = self
            .reader
            .inflate_error()
            .map(|error| about(DiagnosticKind::Damage, error.to_string(), None));
        let damage = damage.kept.iter().map(|damage| Diagnostic {
            offset: Some(damage.at),
            cap: damage.cap,
            ..about(DiagnosticKind::Damage, damage.to_string(), damage.after)
        });
        inflating.into_iter().chain(damage)
    }

    /// What a sound log does not have.
    pub(super) fn oddity_diagnostics(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        let odd = self
            .recording
            .store
            .oddities
            .iter()
            .map(|found| Diagnostic {
                cap: found.cap,
                ..about(
                    DiagnosticKind::Oddity,
                    found.oddity.to_string(),
                    Some(found.at),
                )
            });
        let sources = self.recording.profiles.oddities();
        let sources =
            sources.map(|found| about(DiagnosticKind::Oddity, found.text.clone(), found.at));
        let textless = self.recording.messages.without_text().map(textless);
        odd.chain(sources).chain(textless)
    }

    /// By how much times go back: the runtime dates ends of collections back.
    fn clock(&self) -> Option<Diagnostic> {
        let back = &self.recording.info.back_dating;
        let (events, are) = match back.count() {
            0 => return None,
            1 => ("1 event".to_owned(), "is"),
            many => (format!("{} events", format::count(many)), "are"),
        };
        // Measured: the runtime back-dates ends of collections by 45 µs at most.
        let why = if back.most() <= Nanos(1_000_000) {
            "the runtime does so with ends of collections"
        } else {
            "that is more than the runtime does: the log is damaged, holds several runs, or the machine's clocks differ"
        };
        let most = format::duration(back.most());
        let text =
            format!("{events} {are} dated before one that precedes it, by {most} at most; {why}");
        Some(about(DiagnosticKind::Clock, text, Some(back.most_at())))
    }

    fn unknown_types(&self) -> impl Iterator<Item = Diagnostic> {
        let types = self.recording.info.types().into_iter();
        types.filter(|kind| !kind.known).map(|kind| {
            let what = if kind.count == 1 { "event" } else { "events" };
            let text = format!(
                "{} {what} of type {} (“{}”), which is not known to this program",
                format::count(kind.count),
                kind.id,
                kind.description
            );
            about(DiagnosticKind::UnknownType, text, None)
        })
    }
}
