//! Names that a log assigns to numbers in its events: threads, cost centres, counters.
//!
//! A name applies to the whole log, even before the event that assigns it: a first pass that collects the names
//! can name a thread at its creation. If something is named twice, the last name wins.

use std::fmt;

use super::conventions::Convention;
use super::conventions::opentelemetry::Telemetry;
use super::conventions::stack_profiler::StackMessage;
use super::event::{Event, EventType};
use super::event_set::EventSet;
use super::info_tables::InfoTables;
use super::order::Sink;
use super::record::Record;
use super::texts::{TextId, TextInterner};
use super::thread_map::ThreadMap;
use crate::hash::SeededMap;
use crate::ids::{CostCentreId, ThreadId};

/// An entity with a number that may have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A Haskell thread, by its label.
    Thread(ThreadId),
    /// A cost centre, by module and label.
    CostCentre(CostCentreId),
    /// Address of an info table that the log does not describe; its name comes from the symbols of the executable.
    InfoTable(u64),
    /// A ticky counter.
    TickyCounter(u64),
    /// A counter of `perf`.
    PerfCounter(u32),
    /// An interned text of Mercury's runtime.
    Interned(u32),
    /// A declared instrument of opentelemetry.
    Instrument(u64),
    /// A text of ghc-stack-profiler.
    StackText(u64),
    /// A source location of ghc-stack-profiler.
    StackLocation(u64),
}

/// All names of a log, up to [`Names::BUDGET_BYTES`], and its [info tables](InfoTables).
#[derive(Clone, Debug, Default)]
pub struct Names {
    labels: TextInterner,
    threads: ThreadMap<TextId>,
    texts: TextInterner,
    others: SeededMap<Key, TextId>,
    dropped: u64,
    info_tables: InfoTables,
}

impl Names {
    /// Limit for the text of thread labels, and also for that of all other names; names beyond it are dropped.
    pub const BUDGET_BYTES: usize = 32 << 20;
    /// Maximum length of a name in bytes; longer ones are truncated.
    const MAX_NAME_BYTES: usize = 200;

    fn add_from_event(&mut self, event: &Event<'_>) {
        match event {
            Event::ThreadLabel { thread, label } => {
                self.insert(Key::Thread(*thread), &label.to_str());
            }
            Event::HeapProfCostCentre {
                id, label, module, ..
            } => {
                let name = qualified(&module.0.to_str(), &label.0.to_str());
                self.insert(Key::CostCentre(*id), &name);
            }
            Event::InfoTableProv { .. } => self.info_tables.describe(event),
            Event::TickyCounterDef { id, name, .. } => {
                self.insert(Key::TickyCounter(*id), &name.0.to_str());
            }
            Event::PerfName { perf_num, name } => {
                self.insert(Key::PerfCounter(*perf_num), &name.to_str());
            }
            Event::InternString { str, id } => self.insert(Key::Interned(*id), &str.0.to_str()),
            Event::UserBinaryMessage { payload } => {
                self.add_from_convention(Convention::parse_bytes(payload.0))
            }
            Event::UserMessage { msg } => self.add_from_convention(Convention::parse_text(msg.0)),
            _ => {}
        }
    }

    fn add_from_convention(&mut self, found: Option<Convention<'_>>) {
        match found {
            Some(Convention::Telemetry(Telemetry::DeclareInstrument { id, name, .. })) => {
                self.insert(Key::Instrument(id), &name.to_str());
            }
            Some(Convention::Stack(StackMessage::Define { id, text })) => {
                self.insert(Key::StackText(id), &text.to_str());
            }
            Some(Convention::Stack(StackMessage::Location {
                id,
                line,
                column,
                function,
                file,
            })) => {
                let text = |id| match self.get(Key::StackText(id)) {
                    Some(text) => text.to_owned(),
                    None => format!("text {id}"),
                };
                let place = format!("{}:{line}:{column}", text(file));
                let name = match function {
                    Some(function) => format!("{} at {place}", text(function)),
                    None => place,
                };
                self.insert(Key::StackLocation(id), &name);
            }
            _ => {}
        }
    }

    /// Assigns a name; an empty name is ignored.
    pub fn insert(&mut self, key: Key, name: &str) {
        if let Key::Thread(thread) = key {
            let label = self.label(name);
            return self.label_thread(thread, label);
        }
        match Self::intern_within_budget(&mut self.texts, name) {
            None => self.dropped += 1,
            Some(TextId::NONE) => {}
            Some(text) => _ = self.others.insert(key, text),
        }
    }

    /// Interns a label, which many threads may share; `None` if the limit is reached.
    pub fn label(&mut self, name: &str) -> Option<TextId> {
        Self::intern_within_budget(&mut self.labels, name)
    }

    /// Assigns a [`label`](Self::label) to a thread; an empty label is ignored.
    pub fn label_thread(&mut self, thread: ThreadId, label: Option<TextId>) {
        match label {
            None => self.dropped += 1,
            Some(TextId::NONE) => {}
            Some(label) => *self.threads.get_mut(thread) = label,
        }
    }

    fn intern_within_budget(texts: &mut TextInterner, name: &str) -> Option<TextId> {
        let name = &name[..name.floor_char_boundary(Self::MAX_NAME_BYTES)];
        if name.is_empty() {
            return Some(TextId::NONE);
        }
        let has_room = texts.bytes() + name.len() <= Self::BUDGET_BYTES;
        if has_room {
            Some(texts.intern(name))
        } else {
            texts.find(name)
        }
    }

    /// Returns the name of an entity.
    pub fn get(&self, key: Key) -> Option<&str> {
        match key {
            Key::Thread(thread) => self.labels.get(*self.threads.get(thread)?),
            key => self.texts.get(*self.others.get(&key)?),
        }
    }

    /// Returns the number of names dropped because of the limit.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the info tables that the log describes.
    pub const fn info_tables(&self) -> &InfoTables {
        &self.info_tables
    }

    /// Adds descriptions of info tables from another log of the same build ([`InfoTables::merge_descriptions`]).
    pub fn complete_info_tables(&mut self, other: &InfoTables, have_ids: bool) -> Option<u64> {
        self.info_tables.merge_descriptions(other, have_ids)
    }

    /// Returns the name of an info table's closures: from the log, or else from the symbols of the executable.
    pub fn info_table(&self, address: u64) -> Option<String> {
        let described = self.info_tables.get(address);
        let described = described.map(|table| table.qualified());
        described
            .filter(|name| !name.is_empty())
            .or_else(|| self.get(Key::InfoTable(address)).map(str::to_owned))
    }

    /// Returns the label of a thread.
    pub fn thread(&self, thread: ThreadId) -> Option<&str> {
        self.get(Key::Thread(thread))
    }

    /// Displays a number with the name of `key` in parentheses: `12 (worker-3)`.
    pub(crate) fn with_name<N: fmt::Display>(&self, number: N, key: Key) -> Named<'_, N> {
        Named {
            number,
            name: self.get(key),
        }
    }
}

impl Sink for Names {
    const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::THREAD_LABEL,
        EventType::HEAP_PROF_COST_CENTRE,
        EventType::IPE,
        EventType::TICKY_COUNTER_DEF,
        EventType::PERF_NAME,
        EventType::INTERN_STRING,
        EventType::USER_BINARY_MSG,
        EventType::USER_MSG,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        self.add_from_event(&record.event());
    }
}

/// Returns `Main.fib`, or only the label for built-in cost centres, which are modules of their own.
fn qualified(module: &str, label: &str) -> String {
    if module.is_empty() || module == label {
        label.to_owned()
    } else {
        format!("{module}.{label}")
    }
}

/// Result of [`Names::with_name`].
pub(crate) struct Named<'a, N> {
    number: N,
    name: Option<&'a str>,
}

impl<N: fmt::Display> fmt::Display for Named<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)?;
        match self.name {
            Some(name) => write!(f, " ({name})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_stays() {
        let mut names = Names::default();
        let key = Key::Thread(ThreadId(7));
        assert_eq!(names.get(key), None);
        names.insert(key, "first");
        names.insert(Key::CostCentre(CostCentreId(7)), "Main.f");
        names.insert(key, "second");
        names.insert(key, "");
        assert_eq!(names.get(key), Some("second"));
        assert_eq!(names.with_name(7, key).to_string(), "7 (second)");
        assert_eq!(names.with_name(8, Key::PerfCounter(8)).to_string(), "8");
    }

    #[test]
    fn a_name_repeated_takes_no_more_memory() {
        let mut names = Names::default();
        for _ in 0..1000 {
            names.insert(Key::InfoTable(1), "Main.main");
        }
        assert_eq!(names.texts.bytes(), "Main.main".len());
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let mut names = Names::default();
        names.insert(Key::InfoTable(1), &"é".repeat(150));
        assert_eq!(names.get(Key::InfoTable(1)), Some("é".repeat(100).as_str()));
    }

    #[test]
    fn built_in_cost_centres_have_a_short_name() {
        assert_eq!(qualified("Main", "fib"), "Main.fib");
        assert_eq!(qualified("IDLE", "IDLE"), "IDLE");
        assert_eq!(qualified("", "x"), "x");
    }
}
