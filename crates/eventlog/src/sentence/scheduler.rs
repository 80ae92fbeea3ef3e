//! Events of threads, sparks and tasks.

use std::fmt::{self, Write};

use super::{Quoted, Thread, write_stop};
use crate::event::Event;
use crate::names::Names;

pub(super) fn write(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    use Event as E;
    let name = |thread| Thread(thread, names);
    match *event {
        E::CreateThread { thread } => write!(out, "creates {}", name(thread)),
        E::RunThread { thread } => write!(out, "runs {}", name(thread)),
        E::StopThread { thread, status } => {
            write!(out, "stops {}: ", name(thread))?;
            write_stop(out, status, names)
        }
        E::ThreadRunnable { thread } => write!(out, "{} can run", name(thread)),
        E::MigrateThread { thread, new_cap } => {
            write!(out, "moves {} to capability {new_cap}", name(thread))
        }
        E::WakeupThread { thread, other_cap } => {
            write!(out, "wakes {} on capability {other_cap}", name(thread))
        }
        E::ThreadLabel { thread, label } => {
            write!(out, "thread {thread} is called {}", Quoted(label))
        }
        E::TaskCreate { task, cap, tid } => write!(
            out,
            "task {:#x} (OS thread {tid}) is created on capability {cap}",
            task.0
        ),
        E::TaskMigrate { task, cap, new_cap } => write!(
            out,
            "task {:#x} moves from capability {cap} to {new_cap}",
            task.0
        ),
        E::TaskDelete { task } => write!(out, "task {:#x} ends", task.0),
        _ => write_spark(out, event, names),
    }
}

fn write_spark(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    use Event as E;
    match *event {
        E::RunSpark { thread } => write!(out, "runs a spark in {}", Thread(thread, names)),
        E::StealSpark { thread, victim_cap } => write!(
            out,
            "{} steals a spark from capability {victim_cap}",
            Thread(thread, names)
        ),
        E::CreateSparkThread { spark_thread } => {
            write!(out, "creates {} to run sparks", Thread(spark_thread, names))
        }
        E::SparkCounters {
            created,
            dud,
            overflowed,
            converted,
            gcd,
            fizzled,
            remaining,
        } => write!(
            out,
            "sparks so far: {created} created, {converted} converted, {remaining} in the pool ({overflowed} overflowed, {dud} duds, {gcd} garbage collected, {fizzled} fizzled)"
        ),
        E::SparkCreate {} => out.write_str("creates a spark"),
        E::SparkDud {} => out.write_str("a spark was already evaluated (dud)"),
        E::SparkOverflow {} => out.write_str("a spark is dropped: the pool is full"),
        E::SparkRun {} => out.write_str("runs a spark of its own"),
        E::SparkSteal { victim_cap } => {
            write!(out, "steals a spark from capability {victim_cap}")
        }
        E::SparkFizzle {} => out.write_str("a spark fizzled: it was evaluated meanwhile"),
        E::SparkGC {} => out.write_str("a spark was garbage collected"),
        _ => Ok(()),
    }
}
