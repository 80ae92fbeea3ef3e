//! The process that wrote the log: its command line, runtime and heap settings, changes of its capabilities, and
//! problems of the log itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::info::{TypeCount, program_name};
use super::processes::{OsProcess, variables};
use super::spans::OpenSpan;
use crate::automata::thread_state::Activity;
use crate::diagnostics::{Diagnostic, Diagnostics, Fact};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, CapsetId, Nanos};
use eventlog::quantity::Utc;
use eventlog::{Event, Record};
use model::time::Interval;

/// Maximum number of capability changes that are stored.
pub const MAX_CAP_CHANGES: usize = 1000;

/// Way of GHC that a program was linked with, which determines the features of its runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Linked without `-threaded`.
    NotThreaded,
    /// Linked with `-threaded`.
    Threaded,
    /// Linked with `-prof`.
    Profiling,
    /// Linked with `-eventlog`.
    EventLog,
    /// Linked with `-debug`.
    Debugging,
    /// Linked with `-dynamic`.
    Dynamic,
    /// The vanilla way, without other options.
    Vanilla,
    /// Unknown way, by its tag in the runtime identifier.
    Other(String),
}

/// Description of a process, without its environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Program path as it was called.
    pub program: Option<String>,
    /// Arguments, including RTS options.
    pub arguments: Vec<String>,
    /// Number of environment variables in the log. Their values may be secrets, so they are available only through
    /// a separate query.
    pub environment_count: u64,
    /// Runtime identifier, such as `GHC-9.6.6 rts_thr`.
    pub rts: Option<String>,
    /// GHC version, such as `9.6.6`.
    pub ghc: Option<String>,
    /// Ways that the program was linked with.
    pub ways: Vec<Way>,
    /// Process ID of the program, if it is logged.
    pub pid: Option<u32>,
    /// Process ID of the parent.
    pub parent_pid: Option<u32>,
    /// Wall-clock time of time 0 of the log.
    pub started: Option<Utc>,
    /// The first [`MAX_CAP_CHANGES`] changes of capabilities.
    pub capability_changes: Vec<CapChange>,
    /// Total number of capability changes.
    pub capability_change_count: u64,
    /// Heap settings, if the log has them.
    pub heap: Option<HeapSettings>,
    /// Capability sets by ID.
    pub capsets: Vec<Capset>,
    /// Event types, most frequent first.
    pub types: Vec<TypeCount>,
    /// Problems of the log, by time.
    pub diagnostics: Diagnostics,
    /// Processes of a log that several processes wrote; empty otherwise.
    pub processes: Vec<OsProcess>,
}

impl Process {
    /// Returns the file name of the program.
    pub fn program_name(&self) -> Option<&str> {
        program_name(self.program.as_slice())
    }

    /// Returns the words of the command line: program and arguments.
    pub fn command_words(&self) -> impl Iterator<Item = &str> {
        let words = self.program.iter().chain(&self.arguments);
        words.map(String::as_str)
    }

    /// Returns program and arguments quoted for a shell; empty if the log has no program name.
    pub fn command_line(&self) -> String {
        let quoted: Vec<Cow<'_, str>> = self.command_words().map(shell_word).collect();
        quoted.join(" ")
    }
}

/// Quotes a word for a POSIX shell if necessary.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"%+,-./:=@_".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Returns the RTS options among `arguments`: those from `+RTS` to `-RTS`. Nothing after `--RTS` or `--` counts.
pub(crate) fn rts_flags(arguments: &[String]) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let words = arguments.iter().map(String::as_str);
    let words = words.take_while(|word| !matches!(*word, "--RTS" | "--"));
    words.filter(move |word| {
        match *word {
            "+RTS" => inside = true,
            "-RTS" => inside = false,
            _ => return inside,
        }
        false
    })
}

/// Kind of a capability change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// `CapCreate`: the capability was created.
    Created,
    /// `CapDelete`: the capability was deleted.
    Deleted,
    /// `CapEnable`: the capability may run threads again.
    Enabled,
    /// `CapDisable`: the capability may not run threads for now (`setNumCapabilities`).
    Disabled,
}

/// Change of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapChange {
    /// Time of the event.
    pub at: Nanos,
    /// Capability that changed.
    pub cap: CapId,
    /// Kind of the change.
    pub change: Change,
}

/// Heap settings (`HEAP_INFO_GHC`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapSettings {
    /// Number of generations.
    pub generations: u16,
    /// Maximum heap size (`-M`); `None` if unlimited.
    pub max_heap_bytes: Option<u64>,
    /// Allocation area (nursery) size per capability (`-A`).
    pub allocation_area_bytes: u64,
    /// Megablock size: the unit in which the runtime requests memory from the operating system.
    pub megablock_bytes: u64,
    /// Block size: the unit into which megablocks are divided.
    pub block_bytes: u64,
}

impl HeapSettings {
    /// Returns the settings from a `HeapInfoGHC` event; `None` for other events.
    pub(crate) fn from_event(event: &Event<'_>) -> Option<Self> {
        let Event::HeapInfoGHC {
            gens,
            max_heap_size,
            alloc_area_size,
            mblock_size,
            block_size,
            ..
        } = *event
        else {
            return None;
        };
        Some(Self {
            generations: gens,
            max_heap_bytes: Some(max_heap_size).filter(|&limit| limit > 0),
            allocation_area_bytes: alloc_area_size,
            megablock_bytes: mblock_size,
            block_bytes: block_size,
        })
    }
}

/// A capability set: a group of capabilities of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capset {
    /// ID of the set in the log.
    pub id: CapsetId,
    /// Type: 1 is a custom group, 2 an OS process, 3 a clock domain.
    pub kind: u16,
    /// All capabilities that ever belonged to the set.
    pub caps: Vec<CapId>,
}

/// Facts about the process that no other analysis collects.
#[derive(Clone, Debug, Default)]
pub struct ProcessFacts {
    /// Environment variables as `NAME=value`, in log order.
    environment: Vec<String>,
    parent_pid: Option<u32>,
    changes: Vec<CapChange>,
    change_count: u64,
    heap: Option<HeapSettings>,
    capsets: BTreeMap<CapsetId, Capset>,
    /// Members of the sets, to recognize repeated assignments.
    assigned: SeededSet<(CapsetId, CapId)>,
}

/// Maximum number of capability sets; more are a sign of damage.
pub(crate) const MAX_CAPSETS: usize = 1000;

impl ProcessFacts {
    /// Processes one of the few events about the process.
    pub fn event(&mut self, event: &Event<'_>, record: &Record<'_>) {
        match *event {
            Event::ProgramEnv { env, .. } => {
                self.environment = env.iter().map(|text| text.to_str().into_owned()).collect();
            }
            Event::OsProcessParentPid { ppid, .. } => self.parent_pid = Some(ppid),
            Event::CapCreate { cap } => self.change(record, cap, Change::Created),
            Event::CapDelete { cap } => self.change(record, cap, Change::Deleted),
            Event::CapEnable { cap } => self.change(record, cap, Change::Enabled),
            Event::CapDisable { cap } => self.change(record, cap, Change::Disabled),
            Event::CapsetCreate {
                capset,
                capset_type,
            } => {
                if let Some(capset) = self.capset(capset) {
                    capset.kind = capset_type.0;
                }
            }
            Event::CapsetAssignCap { capset, cap } => {
                if self.capset(capset).is_some()
                    && self.assigned.insert((capset, cap))
                    && let Some(capset) = self.capset(capset)
                {
                    capset.caps.push(cap);
                }
            }
            Event::HeapInfoGHC { .. } => self.heap = HeapSettings::from_event(event),
            _ => {}
        }
    }

    fn change(&mut self, record: &Record<'_>, cap: CapId, change: Change) {
        self.change_count += 1;
        if self.changes.len() < MAX_CAP_CHANGES {
            let at = record.time;
            self.changes.push(CapChange { at, cap, change });
        }
    }

    fn capset(&mut self, id: CapsetId) -> Option<&mut Capset> {
        if self.capsets.len() >= MAX_CAPSETS && !self.capsets.contains_key(&id) {
            return None;
        }
        let new = || Capset {
            id,
            kind: 0,
            caps: Vec::new(),
        };
        Some(self.capsets.entry(id).or_insert_with(new))
    }

    /// Returns the heap settings, if the log has them.
    pub const fn heap(&self) -> Option<HeapSettings> {
        self.heap
    }

    /// Returns the environment variables and their values, sorted by name.
    pub fn environment(&self) -> Vec<(String, String)> {
        variables(&self.environment)
    }

    /// Returns the fields of the process that are collected here; all others are empty.
    pub fn process(&self) -> Process {
        Process {
            environment_count: self.environment.len() as u64,
            parent_pid: self.parent_pid,
            capability_changes: self.changes.clone(),
            capability_change_count: self.change_count,
            heap: self.heap,
            capsets: self.capsets.values().cloned().collect(),
            ..Process::default()
        }
    }
}

/// Returns the ways from a runtime identifier such as `GHC-9.6.6 rts_thr_l`.
pub fn ways(rts: &str) -> Vec<Way> {
    let Some((_, tags)) = rts.split_once(" rts") else {
        return Vec::new();
    };
    let tags: Vec<&str> = tags.split('_').filter(|tag| !tag.is_empty()).collect();
    let not_threaded = (!tags.contains(&"thr")).then_some(Way::NotThreaded);
    let ways = tags.into_iter().map(|tag| match tag {
        "thr" => Way::Threaded,
        "p" => Way::Profiling,
        "l" => Way::EventLog,
        "debug" => Way::Debugging,
        "dyn" => Way::Dynamic,
        "v" => Way::Vanilla,
        other => Way::Other(other.to_owned()),
    });
    not_threaded.into_iter().chain(ways).collect()
}

/// Spans that were open at the end of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenSpanDiagnostics {
    /// Diagnostics of open collections and runs.
    diagnostics: Diagnostics,
    /// Number of unfinished threads that were not running.
    waiting: u64,
}

impl OpenSpanDiagnostics {
    /// Adds an open span.
    pub fn add(&mut self, open: OpenSpan) {
        let (fact, span, cap) = match open {
            OpenSpan::Gc(cap, span) => (Fact::OpenCollection, span, Some(cap)),
            OpenSpan::Thread(thread, open, _) => match open.activity {
                Activity::Running(cap) => (Fact::OpenRun(thread), open.span, cap),
                Activity::Blocked(_) => {
                    self.waiting += 1;
                    return;
                }
            },
        };
        let range = Some(span);
        self.diagnostics.push(Diagnostic {
            range,
            ..Diagnostic::new(fact).with_cap(cap)
        });
    }

    /// Returns the diagnostics for a log whose last event is at `end`.
    pub fn diagnostics(&self, end: Option<Nanos>) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        if self.waiting > 0 {
            diagnostics.push(Diagnostic {
                range: end.map(Interval::empty_at),
                ..Diagnostic::new(Fact::UnfinishedThreads(self.waiting))
            });
        }
        diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automata::thread_state::{Reason, ThreadSpan};
    use eventlog::ids::ThreadId;
    use model::time::Interval;

    #[test]
    fn ways_of_a_runtime() {
        assert_eq!(ways("GHC-9.6.6 rts_thr_l"), [Way::Threaded, Way::EventLog]);
        assert_eq!(
            ways("GHC-9.10.3 rts_thr_debug_p"),
            [Way::Threaded, Way::Debugging, Way::Profiling]
        );
        assert_eq!(ways("GHC-9.6.6 rts"), [Way::NotThreaded]);
        assert_eq!(ways("GHC-9.6.6 rts_v"), [Way::NotThreaded, Way::Vanilla]);
        assert_eq!(ways("mmc-DEV"), []);
    }

    #[test]
    fn a_command_line_for_a_shell() {
        let process = Process {
            program: Some("/opt/my app/run".to_owned()),
            arguments: ["+RTS", "-N2", "", "it's", "$HOME", "a=b", "ü"]
                .map(str::to_owned)
                .into(),
            ..Process::default()
        };
        assert_eq!(
            process.command_line(),
            r"'/opt/my app/run' +RTS -N2 '' 'it'\''s' '$HOME' a=b 'ü'"
        );
        assert_eq!(Process::default().command_line(), "");
    }

    #[test]
    fn the_environment_by_name() {
        let facts = ProcessFacts {
            environment: vec!["B=1=2".to_owned(), "A=".to_owned(), "odd".to_owned()],
            ..ProcessFacts::default()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            facts.environment(),
            [pair("A", ""), pair("B", "1=2"), pair("odd", "")]
        );
        assert_eq!(facts.process().environment_count, 3);
    }

    #[test]
    fn what_is_open_at_the_end() {
        let span = Interval::new(Nanos(3), Nanos(9));
        let thread = |activity| {
            let open = ThreadSpan {
                activity,
                span,
                stop: None,
            };
            OpenSpan::Thread(ThreadId(7), open, None)
        };
        let mut open = OpenSpanDiagnostics::default();
        open.add(OpenSpan::Gc(CapId(1), span));
        open.add(thread(Activity::Running(Some(CapId(2)))));
        open.add(thread(Activity::Blocked(Reason::Created)));
        open.add(thread(Activity::Blocked(Reason::Created)));
        let found = |start, end, fact, cap| Diagnostic {
            range: Some(Interval::new(Nanos(start), Nanos(end))),
            ..Diagnostic::new(fact).with_cap(cap)
        };
        assert_eq!(
            open.diagnostics(Some(Nanos(9))).kept(),
            [
                found(3, 9, Fact::OpenCollection, Some(CapId(1))),
                found(3, 9, Fact::OpenRun(ThreadId(7)), Some(CapId(2))),
                found(9, 9, Fact::UnfinishedThreads(2), None),
            ]
        );
    }
}
