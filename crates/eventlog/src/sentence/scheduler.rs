//! Events of threads, sparks and tasks.

use std::fmt::{self, Write};

use super::{Quoted, Thread, push_number, push_with_thread, write_stop};
use crate::event::Event;
use crate::names::Names;

pub(super) fn write(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    use Event as E;
    match *event {
        E::CreateThread { thread } => push_with_thread(out, ["creates ", ""], thread, names),
        E::RunThread { thread } => push_with_thread(out, ["runs ", ""], thread, names),
        E::StopThread { thread, status } => {
            push_with_thread(out, ["stops ", ": "], thread, names)?;
            write_stop(out, status, names)
        }
        E::ThreadRunnable { thread } => push_with_thread(out, ["", " can run"], thread, names),
        E::MigrateThread { thread, new_cap } => {
            push_with_thread(out, ["moves ", " to capability "], thread, names)?;
            push_number(out, new_cap.0);
            Ok(())
        }
        E::WakeupThread { thread, other_cap } => {
            push_with_thread(out, ["wakes ", " on capability "], thread, names)?;
            push_number(out, other_cap.0);
            Ok(())
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
