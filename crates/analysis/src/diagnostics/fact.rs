//! Findings as values, with subjects and numbers, but without texts for users.

use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::automata::Anomaly;
use crate::automata::validity::Problem;
use crate::flamegraph::foreign::{CallKey, CallProblem};
use crate::flamegraph::stack_samples::problem::StackProblem;
use eventlog::DamageKind;
use eventlog::ids::{Address, CapId, Duration, OsThreadId, TaskId, ThreadId};

/// Entity that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "id")]
pub enum Subject {
    /// A capability, by number.
    Capability(CapId),
    /// A Haskell thread, by number.
    Thread(ThreadId),
    /// A task: an OS thread, under the runtime's number.
    Task(TaskId),
    /// An OS thread, under the kernel's number.
    OsThread(OsThreadId),
    /// An event type, by number.
    EventType(u16),
    /// A foreign call of a Haskell program.
    Call(CallKey),
    /// A C function, by address.
    Function(Address),
    /// A cost centre, in printed form.
    CostCentre(String),
    /// A string of `ghc-stack-profiler`, by its number in the log.
    Text(u64),
    /// A source location of `ghc-stack-profiler`, by its number in the log.
    Location(u64),
}

/// Unit of a [`Number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes of the uncompressed file, or of memory.
    Bytes,
    /// Nanoseconds of the log's clock.
    Nanoseconds,
    /// Events of the log.
    Events,
    /// Haskell threads of the program.
    Threads,
    /// Spans announced by the program.
    Spans,
    /// User messages of the program.
    Messages,
    /// Names of threads, cost centres and counters.
    Names,
    /// Bands of heap profiles.
    Bands,
}

/// A number that is part of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Number {
    /// Meaning of the value, in snake case.
    pub what: &'static str,
    /// The value, in [`unit`](Self::unit)s.
    pub value: u64,
    /// Unit of the value.
    pub unit: Unit,
}

/// Content of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// A damaged part of the file.
    Damage {
        /// Kind of damage, which determines the rule.
        kind: DamageKind,
        /// Number of skipped bytes; 0 if nothing was lost.
        lost_bytes: u64,
    },
    /// The compressed data is corrupt. Holds the decompressor's message.
    Compressed(String),
    /// Most events of a capability are missing from an incomplete file.
    BufferMissing(CapId),
    /// Memory use exceeds the budget, because there is no room to spill to.
    MemoryExceeded {
        /// Bytes currently in memory.
        resident_bytes: u64,
        /// Memory budget in bytes.
        allowed_bytes: u64,
    },
    /// Spilled data could not be read back.
    SpillLost,
    /// User messages were stored without their text, to limit memory.
    MessagesCut {
        /// Number of messages without text.
        messages: u64,
        /// Total size of the dropped texts.
        bytes: u64,
    },
    /// Number of names of threads, cost centres and counters dropped for lack of memory.
    NamesLeftOut(u64),
    /// Something in the log overflows 32-bit counters.
    TooLarge,
    /// Number of info table descriptions dropped for lack of memory.
    InfoTablesLeftOut(u64),
    /// Number of small heap profile bands merged into one.
    HeapBandsFolded(u64),
    /// Censuses claim more bytes than any machine has; values are capped.
    HeapBytesCapped,
    /// An event that an automaton did not expect.
    Anomaly(Anomaly),
    /// An event that cannot follow the events before it.
    Order {
        /// Subject of the event; `None` for a capability that the log does not name.
        subject: Option<Subject>,
        /// The violation of event order.
        problem: Problem,
    },
    /// A malformed or misplaced message about a foreign call.
    Call(CallProblem),
    /// A malformed or incomplete stack sample.
    Stack(StackProblem),
    /// Number of spans missing from the flame graph.
    SpansLeftOut(u64),
    /// Events dated before a preceding event.
    TimesGoBack {
        /// Number of these events.
        events: u64,
        /// Largest step back in time.
        most: Duration,
    },
    /// Events of a type unknown to this program.
    UnknownType {
        /// Number of the type.
        id: u16,
        /// Description of the type in the header.
        description: String,
        /// Number of events of the type.
        events: u64,
    },
    /// A collection still running at the end of the log.
    OpenCollection,
    /// A thread still running at the end of the log.
    OpenRun(ThreadId),
    /// Number of threads that neither have finished nor run at the end of the log.
    UnfinishedThreads(u64),
}

/// Threshold between [`Rule::TimesGoBack`] and [`Rule::TimesGoFarBack`].
///
/// The runtime back-dates ends of collections by at most 45 µs (measured).
const BACK_DATED_AT_MOST: Duration = Duration(1_000_000);

impl Fact {
    /// Returns the rule that the fact belongs to.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Damage { kind, .. } => damage_rule(*kind),
            Self::Compressed(_) => Rule::Compressed,
            Self::BufferMissing(_) => Rule::BufferMissing,
            Self::MemoryExceeded { .. } => Rule::MemoryExceeded,
            Self::SpillLost => Rule::SpillLost,
            Self::MessagesCut { .. } => Rule::MessagesCut,
            Self::NamesLeftOut(_) => Rule::NamesLeftOut,
            Self::TooLarge => Rule::TooLarge,
            Self::InfoTablesLeftOut(_) => Rule::InfoTablesLeftOut,
            Self::HeapBandsFolded(_) => Rule::HeapBandsFolded,
            Self::HeapBytesCapped => Rule::HeapBytesCapped,
            Self::Anomaly(anomaly) => anomaly_rule(*anomaly),
            Self::Order { problem, .. } => order_rule(*problem),
            Self::Call(problem) => call_rule(problem),
            Self::Stack(problem) => stack_rule(*problem),
            Self::SpansLeftOut(_) => Rule::SpansLeftOut,
            Self::TimesGoBack { most, .. } if *most > BACK_DATED_AT_MOST => Rule::TimesGoFarBack,
            Self::TimesGoBack { .. } => Rule::TimesGoBack,
            Self::UnknownType { .. } => Rule::UnknownType,
            Self::OpenCollection => Rule::OpenCollection,
            Self::OpenRun(_) => Rule::OpenRun,
            Self::UnfinishedThreads(_) => Rule::UnfinishedThreads,
        }
    }

    /// Returns the subjects, the most important first.
    pub fn subjects(&self) -> Vec<Subject> {
        match self {
            Self::Damage { kind, .. } => match *kind {
                DamageKind::UndeclaredType(id)
                | DamageKind::Overrun(id)
                | DamageKind::Misfit(id)
                | DamageKind::Length(id) => vec![Subject::EventType(id)],
                _ => Vec::new(),
            },
            Self::BufferMissing(cap) => vec![Subject::Capability(*cap)],
            Self::Anomaly(anomaly) => {
                let threads = anomaly.threads().into_iter().flatten();
                threads.map(Subject::Thread).collect()
            }
            Self::Order { subject, problem } => {
                let others = order_subjects(*problem).into_iter().flatten();
                subject.clone().into_iter().chain(others).collect()
            }
            Self::Call(problem) => call_subjects(problem),
            Self::Stack(problem) => stack_subject(*problem).into_iter().collect(),
            Self::UnknownType { id, .. } => vec![Subject::EventType(*id)],
            Self::OpenRun(thread) => vec![Subject::Thread(*thread)],
            Self::Compressed(_)
            | Self::MemoryExceeded { .. }
            | Self::SpillLost
            | Self::MessagesCut { .. }
            | Self::NamesLeftOut(_)
            | Self::TooLarge
            | Self::InfoTablesLeftOut(_)
            | Self::HeapBandsFolded(_)
            | Self::HeapBytesCapped
            | Self::SpansLeftOut(_)
            | Self::TimesGoBack { .. }
            | Self::OpenCollection
            | Self::UnfinishedThreads(_) => Vec::new(),
        }
    }

    /// Returns the numbers, each with its meaning and unit.
    pub fn numbers(&self) -> Vec<Number> {
        let number = |what, value, unit| Number { what, value, unit };
        match self {
            Self::Damage { kind, lost_bytes } => {
                let lost = number("lost", *lost_bytes, Unit::Bytes);
                let more = match *kind {
                    DamageKind::TimeOutsideBlock(at)
                    | DamageKind::BlockTimes(at)
                    | DamageKind::ReportTime(at) => Some(number("dated", at.0, Unit::Nanoseconds)),
                    DamageKind::BlockSize(size) => {
                        Some(number("claimed", size.into(), Unit::Bytes))
                    }
                    _ => None,
                };
                std::iter::once(lost).chain(more).collect()
            }
            Self::MemoryExceeded {
                resident_bytes,
                allowed_bytes,
            } => vec![
                number("in_memory", *resident_bytes, Unit::Bytes),
                number("allowed", *allowed_bytes, Unit::Bytes),
            ],
            Self::MessagesCut { messages, bytes } => vec![
                number("without_text", *messages, Unit::Messages),
                number("text_bytes", *bytes, Unit::Bytes),
            ],
            Self::NamesLeftOut(count) => vec![number("names_left_out", *count, Unit::Names)],
            Self::InfoTablesLeftOut(count) => {
                vec![number("left_out", *count, Unit::Events)]
            }
            Self::HeapBandsFolded(count) => vec![number("folded", *count, Unit::Bands)],
            Self::SpansLeftOut(count) => vec![number("left_out", *count, Unit::Spans)],
            Self::TimesGoBack { events, most } => vec![
                number("events", *events, Unit::Events),
                number("most", most.0, Unit::Nanoseconds),
            ],
            Self::UnknownType { events, .. } => vec![number("events", *events, Unit::Events)],
            Self::UnfinishedThreads(count) => vec![number("unfinished", *count, Unit::Threads)],
            _ => Vec::new(),
        }
    }
}

/// Returns the rule for a kind of file damage.
pub(super) const fn damage_rule(kind: DamageKind) -> Rule {
    match kind {
        DamageKind::UndeclaredType(_) => Rule::UndeclaredType,
        DamageKind::Overrun(_) => Rule::EventOverrun,
        DamageKind::TimeOutsideBlock(_) => Rule::EventTime,
        DamageKind::BlockTimes(_) => Rule::BlockTimes,
        DamageKind::Misfit(_) => Rule::EventMisfit,
        DamageKind::BlockSize(_) => Rule::BlockSize,
        DamageKind::BlockMarker => Rule::BlockMarker,
        DamageKind::Length(_) => Rule::EventLength,
        DamageKind::BetweenBlocks => Rule::BetweenBlocks,
        DamageKind::BeforeHeader => Rule::BeforeHeader,
        DamageKind::AfterEnd => Rule::AfterEnd,
        DamageKind::Truncated => Rule::CutOff,
        DamageKind::NoEndMarker => Rule::NoEndMarker,
        DamageKind::SectionHeader => Rule::SectionHeader,
        DamageKind::ReportLine(_) => Rule::ReportLine,
        DamageKind::ReportTime(_) => Rule::ReportTime,
        DamageKind::ReportUnit => Rule::ReportUnit,
        DamageKind::ReportCut => Rule::ReportCut,
    }
}

const fn anomaly_rule(anomaly: Anomaly) -> Rule {
    match anomaly {
        Anomaly::GcEndWithoutStart => Rule::GcEndWithoutStart,
        Anomaly::GcStartRepeated => Rule::GcStartRepeated,
        Anomaly::StopBeforeRun { .. } => Rule::StopBeforeRun,
        Anomaly::OtherThread { .. } => Rule::OtherThread,
    }
}

const fn order_rule(problem: Problem) -> Rule {
    match problem {
        Problem::Uncreated(_) => Rule::OrderUncreated,
        Problem::CreatedAgain => Rule::OrderCreatedAgain,
        Problem::AfterEnd(_) => Rule::OrderAfterEnd,
        Problem::RunsAlready { .. } => Rule::OrderRunsAlready,
        Problem::StopsUnrun => Rule::OrderStopsUnrun,
        Problem::StopsElsewhere { .. } => Rule::OrderStopsElsewhere,
        Problem::MovesRunning => Rule::OrderMovesRunning,
        Problem::OtherThread { .. } => Rule::OrderOtherThread,
        Problem::MovesFromElsewhere { .. } => Rule::OrderTaskElsewhere,
        Problem::SparkWithoutThread => Rule::OrderSparkWithoutThread,
        Problem::SparkInOtherThread { .. } => Rule::OrderSparkInOtherThread,
    }
}

fn order_subjects(problem: Problem) -> [Option<Subject>; 2] {
    let cap = |cap: CapId| Some(Subject::Capability(cap));
    match problem {
        Problem::RunsAlready { on: at } | Problem::StopsElsewhere { ran_on: at } => {
            [at.and_then(cap), None]
        }
        Problem::OtherThread {
            running, thread, ..
        } => [
            Some(Subject::Thread(thread)),
            Some(Subject::Thread(running)),
        ],
        Problem::MovesFromElsewhere { was_on, from } => [cap(was_on), cap(from)],
        Problem::SparkInOtherThread { thread } => [Some(Subject::Thread(thread)), None],
        Problem::Uncreated(_)
        | Problem::CreatedAgain
        | Problem::AfterEnd(_)
        | Problem::StopsUnrun
        | Problem::MovesRunning
        | Problem::SparkWithoutThread => [None, None],
    }
}

const fn call_rule(problem: &CallProblem) -> Rule {
    match problem {
        CallProblem::StartRepeated(_) => Rule::CallStartRepeated,
        CallProblem::StopWithoutStart(_) => Rule::CallStopWithoutStart,
        CallProblem::AnnotationBeforeStart(_) => Rule::CallAnnotationEarly,
        CallProblem::AnnotationRepeated(_) => Rule::CallAnnotationRepeated,
        CallProblem::NumberMissing => Rule::CallNumberMissing,
        CallProblem::ThreadMissing(_) => Rule::CallThreadMissing,
        CallProblem::StackUnreadable(_) => Rule::CallStackUnreadable,
        CallProblem::UnknownCostCentre(_) => Rule::CallUnknownCostCentre,
        CallProblem::Overlap(_) => Rule::CallOverlap,
        CallProblem::CutByReturn { .. } => Rule::CallCutByReturn,
        CallProblem::AddressMissing => Rule::CallAddressMissing,
        CallProblem::FunctionThreadMissing(_) => Rule::CallFunctionThreadMissing,
        CallProblem::ReturnWithoutCall { .. } => Rule::CallReturnUnmatched,
        CallProblem::TooManyAtOnce(_) => Rule::CallTooMany,
    }
}

fn call_subjects(problem: &CallProblem) -> Vec<Subject> {
    match problem {
        CallProblem::StartRepeated(key)
        | CallProblem::StopWithoutStart(key)
        | CallProblem::AnnotationBeforeStart(key)
        | CallProblem::AnnotationRepeated(key)
        | CallProblem::ThreadMissing(key)
        | CallProblem::StackUnreadable(key)
        | CallProblem::Overlap(key)
        | CallProblem::TooManyAtOnce(key) => vec![Subject::Call(key.clone())],
        CallProblem::UnknownCostCentre(name) => vec![Subject::CostCentre(name.clone())],
        CallProblem::CutByReturn { call, function } => {
            vec![Subject::Call(call.clone()), Subject::Function(*function)]
        }
        CallProblem::FunctionThreadMissing(function) => vec![Subject::Function(*function)],
        CallProblem::ReturnWithoutCall { function, thread } => {
            vec![Subject::Function(*function), Subject::OsThread(*thread)]
        }
        CallProblem::NumberMissing | CallProblem::AddressMissing => Vec::new(),
    }
}

const fn stack_rule(problem: StackProblem) -> Rule {
    match problem {
        StackProblem::LastPartMissing(_) => Rule::StackIncomplete,
        StackProblem::NoSuchCapability(_) => Rule::StackNoSuchCapability,
        StackProblem::UnknownText(_) => Rule::StackUnknownText,
        StackProblem::UnknownLocation(_) => Rule::StackUnknownLocation,
    }
}

fn stack_subject(problem: StackProblem) -> Option<Subject> {
    match problem {
        // The field of the message is wider than thread ids.
        StackProblem::LastPartMissing(thread) => {
            let thread = u32::try_from(thread).ok()?;
            Some(Subject::Thread(ThreadId(thread)))
        }
        StackProblem::NoSuchCapability(_) => None,
        StackProblem::UnknownText(id) => Some(Subject::Text(id)),
        StackProblem::UnknownLocation(id) => Some(Subject::Location(id)),
    }
}

impl From<Anomaly> for Fact {
    fn from(anomaly: Anomaly) -> Self {
        Self::Anomaly(anomaly)
    }
}

impl From<CallProblem> for Fact {
    fn from(problem: CallProblem) -> Self {
        Self::Call(problem)
    }
}

impl From<StackProblem> for Fact {
    fn from(problem: StackProblem) -> Self {
        Self::Stack(problem)
    }
}
