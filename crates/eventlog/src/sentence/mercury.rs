//! Events of Mercury's runtime. A parallel conjunction has conjuncts, which run as sparks; a conjunct can wait for
//! a value through a future.

use std::fmt::{self, Write};

use super::Quoted;
use crate::event::Event;
use crate::names::{Key, Names};

pub(super) fn write(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    use Event as E;
    let text = |id| names.with_name(id, Key::Interned(id));
    match *event {
        E::InternString { str, id } => write!(out, "text {id} is {}", Quoted(str.0)),
        E::MerStartParConjunction { dyn_id, static_id } => write!(
            out,
            "parallel conjunction {dyn_id:#x} begins, in the source {}",
            text(static_id)
        ),
        E::MerEndParConjunction { dyn_id } => {
            write!(out, "parallel conjunction {dyn_id:#x} ends")
        }
        E::MerEndParConjunct { dyn_id } => {
            write!(out, "a conjunct of parallel conjunction {dyn_id:#x} ends")
        }
        E::MerCreateSpark { dyn_id, spark_id } => write!(
            out,
            "creates spark {spark_id:#x} for parallel conjunction {dyn_id:#x}"
        ),
        E::MerFutureCreate { future_id, name_id } => {
            write!(out, "creates future {future_id:#x}, name {}", text(name_id))
        }
        E::MerFutureWaitNosuspend { future_id } => {
            write!(out, "reads future {future_id:#x} without waiting")
        }
        E::MerFutureWaitSuspended { future_id } => write!(out, "waits for future {future_id:#x}"),
        E::MerFutureSignal { future_id } => write!(out, "future {future_id:#x} has its value"),
        E::MerLookingForGlobalThread {} => out.write_str("looks for a thread to resume"),
        E::MerWorkStealing {} => out.write_str("tries to steal a spark"),
        E::MerReleaseThread { thread_id } => {
            write!(out, "gives thread {thread_id} back to the pool")
        }
        E::MerCapSleeping {} => out.write_str("goes to sleep"),
        E::MerLookingForLocalSpark {} => out.write_str("looks for a spark of its own"),
        E::MerCallingMain {} => out.write_str("calls main"),
        _ => Ok(()),
    }
}
