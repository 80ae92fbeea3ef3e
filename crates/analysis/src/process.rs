//! What a log says of the process that wrote it: how it was started, under
//! which runtime and heap settings, how its capabilities came and went, and
//! what is wrong or odd about the log itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::info::TypeCount;
use super::processes::{OsProcess, variables};
use super::spans::Open;
use crate::automata::thread_state::Activity;
use crate::diagnostics::{Diagnostic, Diagnostics, Fact};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, CapsetId, Nanos};
use eventlog::quantity::Utc;
use eventlog::{Event, Record};
use model::time::Interval;

/// How many changes of capabilities are kept.
pub const KEPT: usize = 1000;

/// How a program was linked: what its runtime can do (a *way* of GHC).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Without `-threaded`.
    NotThreaded,
    /// `-threaded`.
    Threaded,
    /// `-prof`.
    Profiling,
    /// `-eventlog`.
    EventLog,
    /// `-debug`.
    Debugging,
    /// `-dynamic`.
    Dynamic,
    /// With nothing special.
    Vanilla,
    /// By a tag that is not known here.
    Other(String),
}

/// All that is known of a process, but for its environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// The program, with its folder.
    pub program: Option<String>,
    /// Its arguments, those for the runtime included.
    pub arguments: Vec<String>,
    /// How many environment variables the log has. Their values may be
    /// secrets: they are to be asked for on purpose.
    pub environment_count: u64,
    /// The runtime's name for itself, such as `GHC-9.6.6 rts_thr`.
    pub rts: Option<String>,
    /// The GHC, such as `9.6.6`.
    pub ghc: Option<String>,
    /// What kind of runtime it is.
    pub ways: Vec<Way>,
    /// The process.
    pub pid: Option<u32>,
    /// The process that started it.
    pub parent_pid: Option<u32>,
    /// The time at which the log's clock was 0.
    pub started: Option<Utc>,
    /// How capabilities came and went, the first [`KEPT`] changes.
    pub capability_changes: Vec<CapChange>,
    /// How many changes there are.
    pub capability_change_count: u64,
    /// The settings of the heap.
    pub heap: Option<HeapSettings>,
    /// The capability sets, by number.
    pub capsets: Vec<Capset>,
    /// The types of the events, the most frequent first.
    pub types: Vec<TypeCount>,
    /// What is wrong or odd about the log, by time.
    pub diagnostics: Diagnostics,
    /// The processes of a log that several have written; none if it is of one.
    pub processes: Vec<OsProcess>,
}

impl Process {
    /// Program and arguments as a shell would take them; empty if the log does
    /// not name them.
    #[must_use]
    pub fn command_line(&self) -> String {
        let words = self.program.iter().chain(&self.arguments);
        let quoted: Vec<Cow<'_, str>> = words.map(|word| shell_word(word)).collect();
        quoted.join(" ")
    }
}

/// A word of a command line of a POSIX shell, quoted if it has to be.
#[must_use]
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"%+,-./:=@_".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// The arguments of a program that are flags for the runtime: from `+RTS` to
/// `-RTS`, and nothing behind `--RTS` or `--`.
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

/// What happened to a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It was created.
    Created,
    /// It was deleted.
    Deleted,
    /// It may run threads again.
    Enabled,
    /// It may run none for now (`setNumCapabilities`).
    Disabled,
}

/// A capability came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapChange {
    /// The time of the event.
    pub at: Nanos,
    /// The capability that came or went.
    pub cap: CapId,
    /// What happened to it.
    pub change: Change,
}

/// The settings of the heap (`HEAP_INFO_GHC`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapSettings {
    /// How many generations.
    pub generations: u16,
    /// The largest size that it may have (`-M`); `None` for no limit.
    pub max_heap_bytes: Option<u64>,
    /// How much a capability allocates before a collection (`-A`).
    pub allocation_area_bytes: u64,
    /// How much memory the runtime gets from the operating system at a time.
    pub megablock_bytes: u64,
    /// What it divides that into.
    pub block_bytes: u64,
}

impl HeapSettings {
    /// Those that an event tells.
    pub(crate) fn told_by(event: &Event<'_>) -> Option<Self> {
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

/// A set of capabilities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capset {
    /// Its number.
    pub id: CapsetId,
    /// Its type: 1 is a custom group, 2 an OS process, 3 a clock domain.
    pub kind: u16,
    /// Every capability that ever belonged to it.
    pub caps: Vec<CapId>,
}

/// Collects what no other analysis needs.
#[derive(Clone, Debug, Default)]
pub struct ProcessFacts {
    /// `NAME=value`, in the order of the log.
    environment: Vec<String>,
    parent_pid: Option<u32>,
    changes: Vec<CapChange>,
    change_count: u64,
    heap: Option<HeapSettings>,
    capsets: BTreeMap<CapsetId, Capset>,
    /// Which capabilities belong to which sets.
    assigned: SeededSet<(CapsetId, CapId)>,
}

/// More capability sets than this come from damage.
const MOST_CAPSETS: usize = 1000;

impl ProcessFacts {
    /// Takes an event of the process: few are.
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
            Event::HeapInfoGHC { .. } => self.heap = HeapSettings::told_by(event),
            _ => {}
        }
    }

    fn change(&mut self, record: &Record<'_>, cap: CapId, change: Change) {
        self.change_count += 1;
        if self.changes.len() < KEPT {
            let at = record.time;
            self.changes.push(CapChange { at, cap, change });
        }
    }

    fn capset(&mut self, id: CapsetId) -> Option<&mut Capset> {
        if self.capsets.len() >= MOST_CAPSETS && !self.capsets.contains_key(&id) {
            return None;
        }
        let new = || Capset {
            id,
            kind: 0,
            caps: Vec::new(),
        };
        Some(self.capsets.entry(id).or_insert_with(new))
    }

    /// The settings of the heap.
    #[must_use]
    pub const fn heap(&self) -> Option<HeapSettings> {
        self.heap
    }

    /// The environment variables with their values, by name.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        variables(&self.environment)
    }

    /// What it knows of the process; the rest is left empty.
    #[must_use]
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

/// The ways of a runtime that calls itself `rts`, such as `GHC-9.6.6 rts_thr_l`.
#[must_use]
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

/// What still went on when a log ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenAtEnd {
    /// Collections and runs of threads.
    going_on: Diagnostics,
    /// Threads that had not finished and did not run.
    waiting: u64,
}

impl OpenAtEnd {
    /// Takes something that still goes on.
    pub fn open(&mut self, open: Open) {
        let (fact, span, cap) = match open {
            Open::Gc(cap, span) => (Fact::OpenCollection, span, Some(cap)),
            Open::Thread(thread, open, _) => match open.activity {
                Activity::Running(cap) => (Fact::OpenRun(thread), open.span, cap),
                Activity::Blocked(_) => {
                    self.waiting += 1;
                    return;
                }
            },
        };
        let range = Some(span);
        self.going_on.push(Diagnostic {
            range,
            ..Diagnostic::new(fact).on(cap)
        });
    }

    /// As diagnostics about a log whose last event is at `end`.
    #[must_use]
    pub fn diagnostics(&self, end: Option<Nanos>) -> Diagnostics {
        let mut diagnostics = self.going_on.clone();
        if self.waiting > 0 {
            diagnostics.push(Diagnostic {
                range: end.map(Interval::at),
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
            Open::Thread(ThreadId(7), open, None)
        };
        let mut open = OpenAtEnd::default();
        open.open(Open::Gc(CapId(1), span));
        open.open(thread(Activity::Running(Some(CapId(2)))));
        open.open(thread(Activity::Blocked(Reason::Created)));
        open.open(thread(Activity::Blocked(Reason::Created)));
        let found = |start, end, fact, cap| Diagnostic {
            range: Some(Interval::new(Nanos(start), Nanos(end))),
            ..Diagnostic::new(fact).on(cap)
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
