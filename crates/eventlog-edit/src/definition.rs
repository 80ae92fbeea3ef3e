//! Definitions: events before a cut that are kept because later events refer to them.
//!
//! | subject | types | reason |
//! |---|---|---|
//! | the process | 23–33, 43: version, command line, environment, process ids, capability sets, the wall clock | identifies program and time |
//! | capabilities | 17, 45–48: start, creation, end, disabled and enabled | determines which exist |
//! | threads | 44: labels | names them |
//! | tasks | 55: creation | identifies the OS thread of a task |
//! | the heap | 52: generations and sizes of areas | is logged once |
//! | Eden | 62, 64, 65: processes and machines, and their threads | determines what runs where |
//! | Mercury | 42: texts | others name them by number |
//! | `perf` | 140: counters | names them |
//! | profiles | 160, 161, 168, 169: begin, cost centres, info tables | names what samples refer to |
//! | ticky counters | 210: definitions | names what samples refer to |
//! | messages of a library | 19, 181: texts, source locations and instruments of ghc-stack-profiler and opentelemetry | other messages name them by number |
//!
//! All other events only matter at their time and are kept if they are inside the cut, including those of unknown
//! types.

use eventlog::EventSet;
use eventlog::Record;
use eventlog::conventions::Convention;
use eventlog::conventions::opentelemetry::Telemetry;
use eventlog::conventions::stack_profiler::StackMessage;
use eventlog::event::{EventType, Subject};

/// The types whose events are definitions, whatever their contents.
pub const DEFINITIONS: EventSet =
    EventSet::for_subject(Subject::Process).union(EventSet::from_types(&[
        EventType::STARTUP,
        EventType::CAP_CREATE,
        EventType::CAP_DELETE,
        EventType::CAP_DISABLE,
        EventType::CAP_ENABLE,
        EventType::THREAD_LABEL,
        EventType::TASK_CREATE,
        EventType::HEAP_INFO_GHC,
        EventType::CREATE_PROCESS,
        EventType::ASSIGN_THREAD_TO_PROCESS,
        EventType::CREATE_MACHINE,
        EventType::INTERN_STRING,
        EventType::PERF_NAME,
        EventType::HEAP_PROF_BEGIN,
        EventType::HEAP_PROF_COST_CENTRE,
        EventType::PROF_BEGIN,
        EventType::IPE,
        EventType::TICKY_COUNTER_DEF,
    ]));

/// Whether later events may refer to this one.
pub fn is_definition(record: &Record<'_>) -> bool {
    if !record.header.knows(record.id) {
        return false;
    }
    let said = match record.id {
        EventType::USER_BINARY_MSG => Convention::parse_bytes(record.payload),
        EventType::USER_MSG => Convention::parse_text(record.payload),
        id => return DEFINITIONS.contains(id),
    };
    match said {
        Some(Convention::Stack(message)) => !matches!(message, StackMessage::Stack { .. }),
        Some(Convention::Telemetry(said)) => matches!(said, Telemetry::DeclareInstrument { .. }),
        None => false,
    }
}
