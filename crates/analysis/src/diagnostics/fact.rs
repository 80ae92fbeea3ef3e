//! What was found: a value with all that can be said of it, but no words.

use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::automata::Oddity;
use crate::automata::validity::Problem;
use crate::flamegraph::foreign::{CallKey, CallProblem};
use crate::flamegraph::stack_samples::problem::StackProblem;
use eventlog::DamageKind;
use eventlog::ids::{Address, CapId, Duration, OsThreadId, TaskId, ThreadId};

/// What a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "id")]
pub enum Subject {
    /// A capability.
    Capability(CapId),
    /// A Haskell thread.
    Thread(ThreadId),
    /// A task: an OS thread as the runtime numbers it.
    Task(TaskId),
    /// An OS thread as the kernel numbers it.
    OsThread(OsThreadId),
    /// A type of events, by its number.
    EventType(u16),
    /// A foreign call.
    Call(CallKey),
    /// A C function.
    Function(Address),
    /// A cost centre, as it is printed.
    CostCentre(String),
    /// A text of `ghc-stack-profiler`.
    Text(u64),
    /// A place in the source, of `ghc-stack-profiler`.
    Location(u64),
}

/// In what a number is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes of the uncompressed file, or of memory.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Events.
    Events,
    /// Threads.
    Threads,
    /// Spans that the program announced.
    Spans,
    /// Messages of the program.
    Messages,
    /// Names.
    Names,
    /// Bands of heap profiles.
    Bands,
}

/// A number that belongs to a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Number {
    /// What it says, in snake case.
    pub what: &'static str,
    /// How much.
    pub value: u64,
    /// In what.
    pub unit: Unit,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// A stretch of the file that is not as it should be.
    Damage {
        /// What is wrong.
        kind: DamageKind,
        /// How many bytes were passed over; 0 if nothing was lost.
        lost_bytes: u64,
    },
    /// The compressed data is broken. With what the reader says of it.
    Compressed(String),
    /// Most of what a capability did never came to a file that is not whole.
    BufferMissing(CapId),
    /// More is in memory than allowed, as there is no other place for it.
    MemoryExceeded {
        /// How much is in memory.
        here_bytes: u64,
        /// How much of it is allowed.
        allowed_bytes: u64,
    },
    /// Something that was put away could not be read again.
    PutAwayLost,
    /// Messages are kept without their text.
    MessagesCut {
        /// How many.
        messages: u64,
        /// How long their texts are.
        bytes: u64,
    },
    /// So many names of threads, cost centres and counters are not kept.
    NamesLeftOut(u64),
    /// The log has more of something than numbers of 32 bits can count.
    TooLarge,
    /// So many descriptions of info tables are not kept.
    InfoTablesLeftOut(u64),
    /// So many small bands of heap profiles are put together.
    HeapBandsFolded(u64),
    /// Censuses of a heap profile have more bytes than any machine; what is
    /// beyond that is left out.
    HeapBytesCapped,
    /// An event that an automaton did not expect.
    Oddity(Oddity),
    /// An event that cannot follow those before it.
    Order {
        /// What it is about; `None` for a capability that the log does not name.
        subject: Option<Subject>,
        /// What is wrong.
        problem: Problem,
    },
    /// A message about a foreign call that is not as it should be.
    Call(CallProblem),
    /// A stack sample that is not as it should be.
    Stack(StackProblem),
    /// So many spans are not in the flame graph.
    SpansLeftOut(u64),
    /// Events dated before one that precedes them.
    TimesGoBack {
        /// How many.
        events: u64,
        /// By how much at most.
        most: Duration,
    },
    /// Events of a type that is not known.
    UnknownType {
        /// Its number.
        id: u16,
        /// What the header says of it.
        description: String,
        /// How many events.
        events: u64,
    },
    /// A collection goes on when the log ends.
    OpenCollection,
    /// A thread runs when the log ends.
    OpenRun(ThreadId),
    /// So many threads have not finished when the log ends, and do not run.
    UnfinishedThreads(u64),
}

/// Measured: the runtime dates ends of collections back by 45 µs at most.
const BACK_DATED_AT_MOST: Duration = Duration(1_000_000);

impl Fact {
    /// The rule that it comes under.
    #[must_use]
    pub fn rule(&self) -> Rule {
        match self {
            Self::Damage { kind, .. } => of_damage(*kind),
            Self::Compressed(_) => Rule::Compressed,
            Self::BufferMissing(_) => Rule::BufferMissing,
            Self::MemoryExceeded { .. } => Rule::MemoryExceeded,
            Self::PutAwayLost => Rule::PutAwayLost,
            Self::MessagesCut { .. } => Rule::MessagesCut,
            Self::NamesLeftOut(_) => Rule::NamesLeftOut,
            Self::TooLarge => Rule::TooLarge,
            Self::InfoTablesLeftOut(_) => Rule::InfoTablesLeftOut,
            Self::HeapBandsFolded(_) => Rule::HeapBandsFolded,
            Self::HeapBytesCapped => Rule::HeapBytesCapped,
            Self::Oddity(oddity) => of_oddity(*oddity),
            Self::Order { problem, .. } => of_order(*problem),
            Self::Call(problem) => of_call(problem),
            Self::Stack(problem) => of_stack(*problem),
            Self::SpansLeftOut(_) => Rule::SpansLeftOut,
            Self::TimesGoBack { most, .. } if *most > BACK_DATED_AT_MOST => Rule::TimesGoFarBack,
            Self::TimesGoBack { .. } => Rule::TimesGoBack,
            Self::UnknownType { .. } => Rule::UnknownType,
            Self::OpenCollection => Rule::OpenCollection,
            Self::OpenRun(_) => Rule::OpenRun,
            Self::UnfinishedThreads(_) => Rule::UnfinishedThreads,
        }
    }

    /// What it is about, the most important first.
    #[must_use]
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
            Self::Oddity(oddity) => {
                let threads = oddity.threads().into_iter().flatten();
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
            | Self::PutAwayLost
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

    /// Its numbers.
    #[must_use]
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
                here_bytes,
                allowed_bytes,
            } => vec![
                number("in_memory", *here_bytes, Unit::Bytes),
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

/// The rule of a part of the file.
pub(super) const fn of_damage(kind: DamageKind) -> Rule {
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

const fn of_oddity(oddity: Oddity) -> Rule {
    match oddity {
        Oddity::GcEndWithoutStart => Rule::GcEndWithoutStart,
        Oddity::GcStartRepeated => Rule::GcStartRepeated,
        Oddity::StopBeforeRun { .. } => Rule::StopBeforeRun,
        Oddity::OtherThread { .. } => Rule::OtherThread,
    }
}

const fn of_order(problem: Problem) -> Rule {
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

const fn of_call(problem: &CallProblem) -> Rule {
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

const fn of_stack(problem: StackProblem) -> Rule {
    match problem {
        StackProblem::LastPartMissing(_) => Rule::StackIncomplete,
        StackProblem::NoSuchCapability(_) => Rule::StackNoSuchCapability,
        StackProblem::UnknownText(_) => Rule::StackUnknownText,
        StackProblem::UnknownLocation(_) => Rule::StackUnknownLocation,
    }
}

fn stack_subject(problem: StackProblem) -> Option<Subject> {
    match problem {
        // The message has more bits for it than a thread's number has.
        StackProblem::LastPartMissing(thread) => {
            let thread = u32::try_from(thread).ok()?;
            Some(Subject::Thread(ThreadId(thread)))
        }
        StackProblem::NoSuchCapability(_) => None,
        StackProblem::UnknownText(id) => Some(Subject::Text(id)),
        StackProblem::UnknownLocation(id) => Some(Subject::Location(id)),
    }
}

impl From<Oddity> for Fact {
    fn from(oddity: Oddity) -> Self {
        Self::Oddity(oddity)
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
