//! General information about a log: the program, its runtime, the time span, and event counts by type.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::capability::CapLifetimes;
use super::process::{Process, ProcessFacts, rts_flags, ways};
use super::processes::Processes;
use eventlog::display::BackDating;
use eventlog::header::Header;
use eventlog::ids::Nanos;
use eventlog::quantity::Utc;
use eventlog::{Event, EventSet, EventType, Record, Sink, Subject};
use model::sorting::CompactSort;
use model::time::Interval;

/// Statistics of one event type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeCount {
    /// Number of the event type.
    pub id: u16,
    /// Constructor name in `ghc-events`; `UnknownEvent` for unknown types.
    pub name: String,
    /// Description in the log's header; empty if the type is not declared.
    pub description: String,
    /// Payload size that the header declares, in bytes; `None` for variable-size events and undeclared types.
    pub declared_bytes: Option<u16>,
    /// Whether events of this type are decoded.
    pub known: bool,
    /// Number of events.
    pub count: u64,
    /// Total size in bytes, including the type, time and length fields.
    pub bytes: u64,
}

/// Size of the type (2) and time (8) fields of an event, in bytes.
pub(crate) const PREFIX_BYTES: u64 = 10;

/// Returns the GHC version from the runtime identifier `rts`.
pub(crate) fn ghc_version_of(rts: &str) -> Option<&str> {
    rts.split(' ').next()?.strip_prefix("GHC-")
}

/// Returns the file name of the program from its command line `args`.
pub(crate) fn program_name(args: &[String]) -> Option<&str> {
    args.first()?.rsplit(['/', '\\']).next()
}

/// General information about a log, or about one slice of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Info {
    counts: Vec<(u64, u64)>,
    #[serde(skip)]
    header: Option<Arc<Header>>,
    /// Total number of events.
    pub events: u64,
    /// Lifetimes of the capabilities, and the time span of the log.
    pub lives: CapLifetimes,
    /// How far event times go backwards.
    pub back_dating: BackDating,
    /// Runtime identifier, such as `GHC-9.6.6 rts_thr`.
    #[serde(skip)]
    pub rts: Option<String>,
    /// Program and arguments.
    #[serde(skip)]
    pub args: Vec<String>,
    /// Process ID of the program, if it is logged.
    #[serde(skip)]
    pub pid: Option<u32>,
    /// Nanoseconds from 1970-01-01 UTC to time 0 of the log.
    #[serde(skip)]
    pub clock_origin_ns: Option<i128>,
    /// Further facts about the process.
    #[serde(skip)]
    pub facts: ProcessFacts,
    /// Processes of a log that several processes wrote; empty otherwise.
    #[serde(skip)]
    pub processes: Processes,
    /// Range that the log was cut to, if it was: events outside of it only define the state at its start.
    #[serde(skip)]
    pub cut_range: Option<Interval>,
}

impl Sink for Info {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.count(record);
        self.describe(record);
    }
}

impl Info {
    /// Events that describe the process.
    pub(crate) const PROCESS_EVENTS: EventSet = EventSet::for_subject(Subject::Process)
        .union(EventSet::for_subject(Subject::Capability))
        .with(EventType::HEAP_INFO_GHC);

    /// Time of the first event from which on a log counts as begun in a running program.
    ///
    /// A program that logs from its start logs its first event within milliseconds, and later only on a busy machine
    /// or with a huge allocation area.
    const LATE_BEGIN: Nanos = Nanos(100_000_000);

    /// Counts one event.
    #[inline]
    fn count(&mut self, record: &Record<'_>) {
        self.header.get_or_insert_with(|| Arc::clone(record.header));
        self.count_of(record.id, (1, record.payload.len() as u64 + PREFIX_BYTES));
        self.record_event(record);
    }

    /// Records the capability and time of an event.
    #[inline]
    pub(crate) fn record_event(&mut self, record: &Record<'_>) {
        self.lives.record_event(record.cap, record.time);
        self.back_dating.observe(record.time);
    }

    /// Adds `events` events with a total size of `bytes` to the counts of a type.
    #[inline]
    pub(crate) fn count_of(&mut self, id: EventType, (events, bytes): (u64, u64)) {
        let id = usize::from(id.0);
        if id >= self.counts.len() {
            self.counts.resize(id + 1, (0, 0));
        }
        let all = &mut self.counts[id];
        all.0 += events;
        all.1 += bytes;
        self.events += events;
    }

    /// Processes an event that describes the process; ignores others.
    pub(crate) fn describe(&mut self, record: &Record<'_>) {
        if Self::PROCESS_EVENTS.contains(record.id) {
            self.lives.describe(record);
            self.description_event(record);
        }
    }

    /// Appends the results of the following slice.
    pub(crate) fn append(&mut self, slice: &Self, header: &Arc<Header>) {
        if slice.events > 0 {
            self.header.get_or_insert_with(|| Arc::clone(header));
        }
        let len = self.counts.len().max(slice.counts.len());
        self.counts.resize(len, (0, 0));
        for (all, slice) in self.counts.iter_mut().zip(&slice.counts) {
            all.0 += slice.0;
            all.1 += slice.1;
        }
        self.events += slice.events;
        self.lives.append(&slice.lives);
        self.back_dating.append(slice.back_dating);
    }

    fn description_event(&mut self, record: &Record<'_>) {
        let event = record.event();
        self.facts.event(&event, record);
        self.processes.event(&event, record);
        match event {
            Event::RtsIdentifier { rtsident, .. } => {
                let text = rtsident.to_str();
                self.rts = Some(text.trim_end_matches('\0').to_owned());
            }
            Event::ProgramArgs { args, .. } => {
                self.args = args.iter().map(|arg| arg.to_str().into_owned()).collect();
            }
            Event::ProgramInvocation { commandline } if self.args.is_empty() => {
                let text = commandline.to_str();
                self.args = text.split_whitespace().map(str::to_owned).collect();
            }
            Event::OsProcessPid { pid, .. } => self.pid = Some(pid),
            Event::CutRange {
                from,
                to,
                first,
                last,
            } => {
                let range = Interval::new(Nanos(from), Nanos(to));
                self.cut_range = Some(self.cut_range.map_or(range, |own| own.hull(range)));
                let events = Interval::new(Nanos(first), Nanos(last));
                self.lives.extend(record.cap, events);
            }
            Event::WallClockTime { sec, nsec, .. } => {
                let now = i128::from(sec) * 1_000_000_000 + i128::from(nsec);
                self.clock_origin_ns = Some(now - i128::from(record.time.0));
            }
            _ => {}
        }
    }

    /// Returns whether the log has an event of one of these types, as far as it has been read.
    pub fn has(&self, types: EventSet) -> bool {
        let known = |id| self.header.as_ref().is_none_or(|header| header.knows(id));
        let mut counts = (0..=u16::MAX).map(EventType).zip(&self.counts);
        counts.any(|(id, count)| count.0 > 0 && types.contains(id) && known(id))
    }

    /// Returns the times of the first and last event; `None` if there are none.
    pub fn first_and_last(&self) -> Option<(Nanos, Nanos)> {
        self.lives.log().map(|span| (span.start(), span.end()))
    }

    /// Returns the range that the log covers: from its first to its last event, within the range that it was cut to;
    /// `None` if there are no events.
    pub fn covered(&self) -> Option<Interval> {
        let log = self.lives.log()?;
        Some(self.cut_range.map_or(log, |cut| log.clip(cut)))
    }

    /// Returns where the time that the log covers begins: at the start of the program, which is time 0, or at the first
    /// event of a log that was begun in a running program, as by a service that rotates its logs (`startEventLogging`).
    pub fn begin(&self) -> Nanos {
        let first = self.first_and_last().map(|(first, _)| first);
        first
            .filter(|first| *first >= Self::LATE_BEGIN)
            .unwrap_or_default()
    }

    /// Returns the version of the GHC that wrote the log, such as `9.6.6`.
    pub fn ghc_version(&self) -> Option<&str> {
        ghc_version_of(self.rts.as_deref()?)
    }

    /// Returns whether the log is from GHC 10 or later, which identifies info tables by IDs instead of addresses.
    pub fn has_table_ids(&self) -> bool {
        const FIRST: u32 = 10;
        let major = self
            .ghc_version()
            .and_then(|version| version.split('.').next());
        major
            .and_then(|major| major.parse().ok())
            .is_some_and(|major: u32| major >= FIRST)
    }

    /// Returns the file name of the program.
    pub fn program(&self) -> Option<&str> {
        program_name(&self.args)
    }

    /// Returns the RTS options of the run: those of `GHCRTS`, then those of the command line, which take
    /// precedence.
    pub fn runtime_options(&self) -> Vec<String> {
        let variables = self.facts.environment();
        let of_runtime = variables.iter().filter(|(name, _)| name == "GHCRTS");
        let in_environment = of_runtime.flat_map(|(_, value)| value.split_whitespace());
        let all = in_environment.chain(rts_flags(&self.args));
        all.map(str::to_owned).collect()
    }

    /// Returns the wall-clock time of time 0 of the log.
    pub fn started(&self) -> Option<Utc> {
        Utc::from_nanoseconds(self.clock_origin_ns?)
    }

    /// Returns the description of the process, without diagnostics.
    pub fn process(&self) -> Process {
        let rts = self.rts.as_deref();
        Process {
            program: self.args.first().cloned(),
            arguments: self.args.iter().skip(1).cloned().collect(),
            rts: self.rts.clone(),
            ghc: self.ghc_version().map(str::to_owned),
            ways: rts.map_or_else(Vec::new, ways),
            pid: self.pid,
            started: self.started(),
            types: self.types(),
            processes: self.processes.all(),
            ..self.facts.process()
        }
    }

    /// Returns events and bytes by type, most frequent type first.
    pub fn types(&self) -> Vec<TypeCount> {
        let used = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| count.0 > 0);
        let mut types: Vec<TypeCount> = used
            .map(|(id, &(count, bytes))| {
                let id = EventType(u16::try_from(id).unwrap_or(u16::MAX));
                let known = self.header.as_ref().is_none_or(|header| header.knows(id));
                let name = id.name().filter(|_| known).unwrap_or("UnknownEvent");
                let decl = self.header.as_ref().and_then(|header| header.decl(id));
                // Each event of variable size has a length field of two bytes.
                let lengths = match decl {
                    Some(decl) if decl.size.is_none() => 2 * count,
                    _ => 0,
                };
                TypeCount {
                    id: id.0,
                    name: name.to_owned(),
                    known: known && id.name().is_some(),
                    declared_bytes: decl.and_then(|decl| decl.size),
                    description: decl.map_or(String::new(), |decl| decl.description.clone()),
                    count,
                    bytes: bytes + lengths,
                }
            })
            .collect();
        types.sort_small_by(|a, b| b.count.cmp(&a.count).then(a.id.cmp(&b.id)));
        types
    }
}
