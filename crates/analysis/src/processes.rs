//! Processes of a log that several processes wrote, such as a merged log. Each is a capability set of the type *OS
//! process*, described by the events of that set.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::info::{ghc_version_of, program_name};
use crate::process::{Capset, HeapSettings, MAX_CAPSETS, Process, ways};
use eventlog::cursor::CapsetType;
use eventlog::ids::{CapId, CapsetId};
use eventlog::quantity::Utc;
use eventlog::{Event, Record};
use model::sorting::CompactSort;

/// One process of a log that several processes wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OsProcess {
    /// Unique name: the program name, with process ID or number if several processes share it.
    pub name: String,
    /// Capabilities of the process, sorted.
    pub caps: Vec<CapId>,
    /// Description of this process; its capability set is the only one.
    pub process: Process,
}

/// Facts about each capability set.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    sets: BTreeMap<CapsetId, CapsetFacts>,
}

/// Facts about one capability set.
#[derive(Clone, Debug, Default)]
struct CapsetFacts {
    kind: u16,
    caps: BTreeSet<CapId>,
    rts: Option<String>,
    args: Vec<String>,
    environment: Vec<String>,
    pid: Option<u32>,
    parent_pid: Option<u32>,
    clock_origin_ns: Option<i128>,
    heap: Option<HeapSettings>,
}

impl Processes {
    /// Processes an event that describes a process; ignores others.
    pub fn event(&mut self, event: &Event<'_>, record: &Record<'_>) {
        let (Event::CapsetCreate { capset, .. }
        | Event::CapsetAssignCap { capset, .. }
        | Event::RtsIdentifier { capset, .. }
        | Event::ProgramArgs { capset, .. }
        | Event::ProgramEnv { capset, .. }
        | Event::OsProcessPid { capset, .. }
        | Event::OsProcessParentPid { capset, .. }
        | Event::WallClockTime { capset, .. }
        | Event::HeapInfoGHC {
            heap_capset: capset,
            ..
        }) = *event
        else {
            return;
        };
        if self.sets.len() < MAX_CAPSETS || self.sets.contains_key(&capset) {
            self.sets
                .entry(capset)
                .or_default()
                .process_event(event, record);
        }
    }

    /// Returns the capability sets that are processes; empty unless there are several.
    fn process_sets(&self) -> Vec<(CapsetId, &CapsetFacts)> {
        let sets = self.sets.iter().map(|(id, facts)| (*id, facts));
        let all: Vec<_> = sets
            .filter(|(_, facts)| facts.kind == CapsetType::OS_PROCESS.0)
            .collect();
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// Returns the processes by capability set ID; empty if a single process wrote the log.
    pub fn all(&self) -> Vec<OsProcess> {
        let sets = self.process_sets();
        let programs: Vec<String> = (1..)
            .zip(&sets)
            .map(|(number, (_, facts))| {
                let program = program_name(&facts.args).filter(|name| !name.is_empty());
                program.map_or_else(|| format!("process {number}"), str::to_owned)
            })
            .collect();
        let alone = |name: &String| programs.iter().filter(|other| *other == name).count() == 1;
        let mut names = BTreeSet::new();
        let mut all = Vec::new();
        for ((number, (id, facts)), program) in (1..).zip(sets).zip(&programs) {
            let mut name = match facts.pid {
                Some(pid) if !alone(program) => format!("{program} {pid}"),
                _ => program.clone(),
            };
            if !names.insert(name.clone()) {
                name = format!("{name} ({number})");
                names.insert(name.clone());
            }
            all.push(OsProcess {
                name,
                caps: facts.caps.iter().copied().collect(),
                process: self.process(id, facts),
            });
        }
        all
    }

    /// Returns the environment variables of all processes with their values, sorted. The name of the process is
    /// appended to each variable name in parentheses. `None` if a single process wrote the log.
    pub fn environment(&self) -> Option<Vec<(String, String)>> {
        let sets = self.process_sets();
        let mut all = Vec::new();
        for (own, (_, facts)) in self.all().iter().zip(&sets) {
            let of = |(name, value)| (format!("{name} ({})", own.name), value);
            all.extend(variables(&facts.environment).into_iter().map(of));
        }
        all.sort_small_by(Ord::cmp);
        (!sets.is_empty()).then_some(all)
    }

    fn process(&self, id: CapsetId, facts: &CapsetFacts) -> Process {
        let rts = facts.rts.as_deref();
        // The clock has a capability set of its own with the same capabilities.
        let shares = |other: &&CapsetFacts| {
            other.kind == CapsetType::CLOCK_DOMAIN.0 && !other.caps.is_disjoint(&facts.caps)
        };
        let clock = facts.clock_origin_ns.or_else(|| {
            let mut clocks = self.sets.values().filter(shares);
            clocks.find_map(|clock| clock.clock_origin_ns)
        });
        Process {
            program: facts.args.first().cloned(),
            arguments: facts.args.iter().skip(1).cloned().collect(),
            environment_count: facts.environment.len() as u64,
            rts: facts.rts.clone(),
            ghc: rts.and_then(ghc_version_of).map(str::to_owned),
            ways: rts.map_or_else(Vec::new, ways),
            pid: facts.pid,
            parent_pid: facts.parent_pid,
            started: clock.and_then(Utc::from_nanoseconds),
            heap: facts.heap,
            capsets: vec![Capset {
                id,
                kind: facts.kind,
                caps: facts.caps.iter().copied().collect(),
            }],
            ..Process::default()
        }
    }

    /// Returns whether several processes wrote the log.
    pub fn are_several(&self) -> bool {
        !self.process_sets().is_empty()
    }

    /// Returns the capabilities of each process, in the order of [`all`](Self::all).
    pub fn caps(&self) -> Vec<Vec<CapId>> {
        let caps = |(_, facts): (CapsetId, &CapsetFacts)| facts.caps.iter().copied().collect();
        self.process_sets().into_iter().map(caps).collect()
    }
}

impl CapsetFacts {
    fn process_event(&mut self, event: &Event<'_>, record: &Record<'_>) {
        match *event {
            Event::CapsetCreate { capset_type, .. } => self.kind = capset_type.0,
            Event::CapsetAssignCap { cap, .. } => drop(self.caps.insert(cap)),
            Event::RtsIdentifier { rtsident, .. } => {
                let text = rtsident.to_str();
                self.rts = Some(text.trim_end_matches('\0').to_owned());
            }
            Event::ProgramArgs { args, .. } => {
                self.args = args.iter().map(|arg| arg.to_str().into_owned()).collect();
            }
            Event::ProgramEnv { env, .. } => {
                self.environment = env.iter().map(|text| text.to_str().into_owned()).collect();
            }
            Event::OsProcessPid { pid, .. } => self.pid = Some(pid),
            Event::OsProcessParentPid { ppid, .. } => self.parent_pid = Some(ppid),
            Event::WallClockTime { sec, nsec, .. } => {
                let now = i128::from(sec) * 1_000_000_000 + i128::from(nsec);
                self.clock_origin_ns = Some(now - i128::from(record.time.0));
            }
            _ => self.heap = HeapSettings::from_event(event).or(self.heap),
        }
    }
}

/// Splits texts such as `NAME=value` into pairs, sorted by name.
pub(crate) fn variables(texts: &[String]) -> Vec<(String, String)> {
    let split = |variable: &String| match variable.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (variable.clone(), String::new()),
    };
    let mut variables: Vec<_> = texts.iter().map(split).collect();
    variables.sort_small_by(Ord::cmp);
    variables
}
