//! Every event as a sentence in plain English: what happened, with every
//! number of the event. Byte counts are written for people and to the byte.

mod eden;
mod gc;
mod mercury;
mod message;
mod process;
mod profile;
mod scheduler;

use std::fmt::{self, Write};

#[cfg(test)]
pub(super) use message::in_words as write_telemetry_or_stack;

use super::event::Event;
use super::header::Header;
use super::names::{Key, Names};
use super::status::StopStatus;
use crate::ids::ThreadId;

/// What happened, in words. `header` describes the types that are not known.
#[must_use]
pub fn sentence(event: &Event<'_>, header: &Header, names: &Names) -> String {
    let mut out = String::new();
    write_sentence(&mut out, event, header, names);
    out
}

/// Appends the sentence to `out`: without allocating, but for `out` itself and
/// a few rare events.
pub fn write_sentence(out: &mut String, event: &Event<'_>, header: &Header, names: &Names) {
    let written = match Subject::of(event) {
        Subject::Scheduler => scheduler::write(out, event, names),
        Subject::Gc => gc::write(out, event),
        Subject::Process => process::write(out, event),
        Subject::Profile => profile::write(out, event, names),
        Subject::Message => message::write(out, event, header, names),
        Subject::Eden => eden::write(out, event, names),
        Subject::Mercury => mercury::write(out, event, names),
    };
    debug_assert!(written.is_ok(), "a string can always be written to");
}

/// Which module has the sentence of an event.
enum Subject {
    Scheduler,
    Gc,
    Process,
    Profile,
    Message,
    Eden,
    Mercury,
}

impl Subject {
    /// There is no arm for all others, so that no new event is forgotten here.
    const fn of(event: &Event<'_>) -> Self {
        use Event as E;
        match event {
            E::CreateThread { .. }
            | E::RunThread { .. }
            | E::StopThread { .. }
            | E::ThreadRunnable { .. }
            | E::MigrateThread { .. }
            | E::RunSpark { .. }
            | E::StealSpark { .. }
            | E::WakeupThread { .. }
            | E::CreateSparkThread { .. }
            | E::ThreadLabel { .. }
            | E::SparkCounters { .. }
            | E::SparkCreate { .. }
            | E::SparkDud { .. }
            | E::SparkOverflow { .. }
            | E::SparkRun { .. }
            | E::SparkSteal { .. }
            | E::SparkFizzle { .. }
            | E::SparkGC { .. }
            | E::TaskCreate { .. }
            | E::TaskMigrate { .. }
            | E::TaskDelete { .. } => Self::Scheduler,
            E::StartGC { .. }
            | E::EndGC { .. }
            | E::RequestSeqGC { .. }
            | E::RequestParGC { .. }
            | E::GCIdle { .. }
            | E::GCWork { .. }
            | E::GCDone { .. }
            | E::GlobalSyncGC { .. }
            | E::GCStatsGHC { .. }
            | E::HeapAllocated { .. }
            | E::HeapSize { .. }
            | E::HeapLive { .. }
            | E::HeapInfoGHC { .. }
            | E::MemReturn { .. }
            | E::BlocksSize { .. }
            | E::ConcMarkBegin { .. }
            | E::ConcMarkEnd { .. }
            | E::ConcSyncBegin { .. }
            | E::ConcSyncEnd { .. }
            | E::ConcSweepBegin { .. }
            | E::ConcSweepEnd { .. }
            | E::ConcUpdRemSetFlush { .. }
            | E::NonmovingHeapCensus { .. }
            | E::NonmovingPrunedSegments { .. } => Self::Gc,
            E::Shutdown { .. }
            | E::Startup { .. }
            | E::Version { .. }
            | E::ProgramInvocation { .. }
            | E::CapsetCreate { .. }
            | E::CapsetDelete { .. }
            | E::CapsetAssignCap { .. }
            | E::CapsetRemoveCap { .. }
            | E::RtsIdentifier { .. }
            | E::ProgramArgs { .. }
            | E::ProgramEnv { .. }
            | E::OsProcessPid { .. }
            | E::OsProcessParentPid { .. }
            | E::WallClockTime { .. }
            | E::CapCreate { .. }
            | E::CapDelete { .. }
            | E::CapDisable { .. }
            | E::CapEnable { .. } => Self::Process,
            E::HeapProfBegin { .. }
            | E::HeapProfCostCentre { .. }
            | E::HeapProfSampleBegin { .. }
            | E::HeapProfSampleCostCentre { .. }
            | E::HeapProfSampleString { .. }
            | E::HeapProfSampleEnd { .. }
            | E::HeapBioProfSampleBegin { .. }
            | E::ProfSampleCostCentre { .. }
            | E::ProfBegin { .. }
            | E::InfoTableProv { .. }
            | E::TickyCounterDef { .. }
            | E::TickyCounterSample { .. }
            | E::TickyBeginSample { .. } => Self::Profile,
            E::Message { .. }
            | E::UserMessage { .. }
            | E::UserMarker { .. }
            | E::UserBinaryMessage { .. }
            | E::PerfName { .. }
            | E::PerfCounter { .. }
            | E::PerfTracepoint { .. }
            | E::UnknownEvent { .. } => Self::Message,
            E::EdenStartReceive { .. }
            | E::EdenEndReceive { .. }
            | E::CreateProcess { .. }
            | E::KillProcess { .. }
            | E::AssignThreadToProcess { .. }
            | E::CreateMachine { .. }
            | E::KillMachine { .. }
            | E::SendMessage { .. }
            | E::ReceiveMessage { .. }
            | E::SendReceiveLocalMessage { .. } => Self::Eden,
            E::InternString { .. }
            | E::MerStartParConjunction { .. }
            | E::MerEndParConjunction { .. }
            | E::MerEndParConjunct { .. }
            | E::MerCreateSpark { .. }
            | E::MerFutureCreate { .. }
            | E::MerFutureWaitNosuspend { .. }
            | E::MerFutureWaitSuspended { .. }
            | E::MerFutureSignal { .. }
            | E::MerLookingForGlobalThread { .. }
            | E::MerWorkStealing { .. }
            | E::MerReleaseThread { .. }
            | E::MerCapSleeping { .. }
            | E::MerLookingForLocalSpark { .. }
            | E::MerCallingMain { .. } => Self::Mercury,
        }
    }
}

/// `thread 12 (worker-3)`.
struct Thread<'a>(ThreadId, &'a Names);

impl fmt::Display for Thread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(thread, names) = self;
        write!(f, "thread {}", names.named(thread, Key::Thread(*thread)))
    }
}

/// A text of the log in quotation marks.
struct Quoted<'a>(super::cursor::Text<'a>);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "“{}”", self.0.to_str())
    }
}

/// Why a thread stopped, with the name of the thread that it waits for.
fn write_stop(out: &mut String, status: StopStatus, names: &Names) -> fmt::Result {
    match status {
        StopStatus::BlockedOnBlackHole(Some(owner)) => {
            write!(
                out,
                "blocked on a black hole owned by {}",
                Thread(owner, names)
            )
        }
        other => out.write_str(&other.explanation()),
    }
}

/// The items with `separator` between them.
fn join<T: fmt::Display>(
    out: &mut String,
    separator: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_str(separator)?;
        }
        write!(out, "{item}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
