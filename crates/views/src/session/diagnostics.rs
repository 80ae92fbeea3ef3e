//! What is wrong or odd about a log, gathered from all that looked at it.

use super::Session;
use analysis::findings::{Fact, Finding, Findings, Severity};
use analysis::process::Process;
use eventlog::DamageList;

/// How many warnings an overview has.
const WARNINGS_SHOWN: usize = 100;

impl Session {
    /// The process that wrote the log, and what is wrong or odd about the log.
    #[must_use]
    pub fn process(&self) -> Process {
        Process {
            findings: self.findings(),
            ..self.recording.info.process()
        }
    }

    /// The environment variables of the process, by name. They may hold secrets.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        self.recording.info.facts.environment()
    }

    /// What is wrong or odd about the log, or worth to know about it, by time.
    #[must_use]
    pub fn findings(&self) -> Findings {
        let info = &self.recording.info;
        let end = info.first_and_last().map(|(_, last)| last);
        let mut all = self.of_the_file();
        all.append(&self.recording.store.oddities);
        all.append(&self.recording.profile_oddities);
        all.append(&self.recording.open.findings(end));
        self.single().for_each(|finding| all.push(finding));
        for finding in self.unknown_types() {
            all.push(finding);
        }
        all.sort();
        all
    }

    /// The first that are more than usual, beginning with the file, and how
    /// many there are.
    pub(super) fn warnings(&self) -> (Vec<Finding>, u64) {
        let file = self.of_the_file();
        let single: Vec<Finding> = self.single().collect();
        let events = &self.recording.store.oddities;
        let profiles = &self.recording.profile_oddities;
        let is_warning = |finding: &&Finding| finding.rule().severity() >= Severity::Warning;
        let lists = [&file, events, profiles];
        let count: u64 = lists.iter().map(|list| list.count(Severity::Warning)).sum();
        let kept = lists.iter().flat_map(|list| list.kept());
        let first = kept.chain(&single).filter(is_warning).take(WARNINGS_SHOWN);
        let single_count = single.iter().filter(is_warning).count() as u64;
        (first.cloned().collect(), count + single_count)
    }

    /// What could not be read, in the order in which it was found.
    fn of_the_file(&self) -> Findings {
        let broken = self.reader.inflate_error();
        let mut found = of_damage(&self.reader.damage());
        if let Some(error) = broken {
            found.push(Finding::new(Fact::Compressed(error.to_string())));
        }
        found
    }

    /// What is said once, of the whole log.
    fn single(&self) -> impl Iterator<Item = Finding> {
        let left_out = Some(self.recording.spans_left_out).filter(|count| *count > 0);
        let left_out = left_out.map(|count| Finding::new(Fact::SpansLeftOut(count)));
        let messages = self.recording.messages.finding();
        left_out.into_iter().chain(messages).chain(self.clock())
    }

    /// By how much times go back.
    fn clock(&self) -> Option<Finding> {
        let back = &self.recording.info.back_dating;
        let (events, most) = (back.count(), back.most());
        let fact = Fact::TimesGoBack { events, most };
        (events > 0).then(|| Finding::at(back.most_at(), fact))
    }

    fn unknown_types(&self) -> impl Iterator<Item = Finding> {
        let types = self.recording.info.types().into_iter();
        types.filter(|kind| !kind.known).map(|kind| {
            Finding::new(Fact::UnknownType {
                id: kind.id,
                description: kind.description,
                events: kind.count,
            })
        })
    }
}

/// What is wrong with the bytes of a file, as findings.
#[must_use]
pub fn of_damage(damage: &DamageList) -> Findings {
    let mut found = Findings::default();
    for damage in &damage.kept {
        found.push(damage.into());
    }
    found
}
