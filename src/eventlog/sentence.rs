//! Every event as a sentence in plain English.

use super::cursor::Value;
use super::event::Event;
use super::header::Header;

/// What happened, in words. `header` names the types that are not known.
#[must_use]
pub fn sentence(event: &Event<'_>, header: &Header) -> String {
    use Event as E;
    match event {
        E::CreateThread { thread } => format!("creates thread {thread}"),
        E::RunThread { thread } => format!("runs thread {thread}"),
        E::StopThread { thread, status } => {
            format!("stops thread {thread}: {}", status.explanation())
        }
        E::ThreadRunnable { thread } => format!("thread {thread} can run"),
        E::MigrateThread { thread, new_cap } => {
            format!("moves thread {thread} to capability {new_cap}")
        }
        E::WakeupThread { thread, other_cap } => {
            format!("wakes thread {thread} on capability {other_cap}")
        }
        E::ThreadLabel { thread, label } => {
            format!("thread {thread} is called “{}”", label.to_str())
        }
        E::RunSpark { thread } => format!("runs a spark in thread {thread}"),
        E::StealSpark { thread, victim_cap } => {
            format!("thread {thread} steals a spark from capability {victim_cap}")
        }
        E::CreateSparkThread { spark_thread } => {
            format!("creates thread {spark_thread} to run sparks")
        }
        E::SparkCounters {
            created,
            dud,
            overflowed,
            converted,
            gcd,
            fizzled,
            remaining,
        } => format!(
            "sparks so far: {created} created, {converted} converted, {remaining} in the pool ({overflowed} overflowed, {dud} duds, {gcd} garbage collected, {fizzled} fizzled)"
        ),
        E::SparkCreate {} => "creates a spark".into(),
        E::SparkDud {} => "a spark was already evaluated (dud)".into(),
        E::SparkOverflow {} => "a spark is dropped: the pool is full".into(),
        E::SparkRun {} => "runs a spark of its own".into(),
        E::SparkSteal { victim_cap } => format!("steals a spark from capability {victim_cap}"),
        E::SparkFizzle {} => "a spark fizzled: it was evaluated meanwhile".into(),
        E::SparkGC {} => "a spark was garbage collected".into(),
        E::Shutdown {} => "shuts down".into(),
        E::Startup { n_caps } => format!("starts up with {n_caps} capabilities"),
        E::StartGC {} => "starts a garbage collection".into(),
        E::EndGC {} => "ends its garbage collection".into(),
        E::RequestSeqGC {} => "asks for a sequential collection".into(),
        E::RequestParGC {} => "asks for a parallel collection".into(),
        E::GCIdle {} => "has no more to collect for now".into(),
        E::GCWork {} => "collects garbage".into(),
        E::GCDone {} => "is done collecting".into(),
        E::GlobalSyncGC {} => "all capabilities have stopped for the collection".into(),
        E::GCStatsGHC {
            gen_no,
            copied,
            slop,
            frag,
            par_n_threads,
            par_max_copied,
            par_balanced_copied,
            ..
        } => {
            let balanced =
                par_balanced_copied.map_or_else(String::new, |b| format!(", {b} balanced"));
            format!(
                "collected generation {gen_no}: {copied} bytes copied by {par_n_threads} threads (at most {par_max_copied} by one{balanced}), {slop} bytes slop, {frag} bytes fragmentation"
            )
        }
        E::HeapAllocated { alloc_bytes, .. } => format!("has allocated {alloc_bytes} bytes so far"),
        E::HeapSize { size_bytes, .. } => format!("the heap has {size_bytes} bytes"),
        E::HeapLive { live_bytes, .. } => format!("{live_bytes} bytes of the heap are live"),
        E::BlocksSize { blocks_size, .. } => {
            format!("{blocks_size} bytes of the heap are in blocks")
        }
        E::MemReturn {
            current,
            needed,
            returned,
            ..
        } => format!(
            "holds {current} megablocks, needs {needed}, returned {returned} to the operating system"
        ),
        E::HeapInfoGHC {
            gens,
            max_heap_size,
            alloc_area_size,
            mblock_size,
            block_size,
            ..
        } => {
            let limit = if *max_heap_size == 0 {
                "no limit".to_owned()
            } else {
                format!("at most {max_heap_size} bytes")
            };
            format!(
                "heap: {gens} generations, {limit}, allocation area {alloc_area_size} bytes, megablocks of {mblock_size} and blocks of {block_size} bytes"
            )
        }
        E::CapCreate { cap } => format!("capability {cap} is created"),
        E::CapDelete { cap } => format!("capability {cap} is deleted"),
        E::CapDisable { cap } => format!("capability {cap} is disabled"),
        E::CapEnable { cap } => format!("capability {cap} is enabled"),
        E::CapsetCreate {
            capset,
            capset_type,
        } => {
            let kind = match capset_type.0 {
                1 => "a custom group".to_owned(),
                2 => "an OS process".to_owned(),
                3 => "a clock domain".to_owned(),
                other => format!("type {other}"),
            };
            format!("capability set {capset} is created: {kind}")
        }
        E::CapsetDelete { capset } => format!("capability set {capset} is deleted"),
        E::CapsetAssignCap { capset, cap } => {
            format!("capability {cap} joins capability set {capset}")
        }
        E::CapsetRemoveCap { capset, cap } => {
            format!("capability {cap} leaves capability set {capset}")
        }
        E::RtsIdentifier { rtsident, .. } => format!("runtime: {}", rtsident.to_str()),
        E::ProgramArgs { args, .. } => format!("command line: {}", joined(args.iter())),
        E::ProgramEnv { env, .. } => format!("environment: {} variables", env.iter().count()),
        E::OsProcessPid { pid, .. } => format!("process id {pid}"),
        E::OsProcessParentPid { ppid, .. } => format!("parent process id {ppid}"),
        E::WallClockTime { sec, nsec, .. } => {
            format!("wall clock: {sec}.{nsec:09} s since 1970-01-01 UTC")
        }
        E::TaskCreate { task, cap, tid } => {
            format!(
                "task {:#x} (OS thread {tid}) is created on capability {cap}",
                task.0
            )
        }
        E::TaskMigrate { task, cap, new_cap } => {
            format!(
                "task {:#x} moves from capability {cap} to {new_cap}",
                task.0
            )
        }
        E::TaskDelete { task } => format!("task {:#x} ends", task.0),
        E::Message { msg } => format!("runtime: {}", msg.to_str()),
        E::UserMessage { msg } => msg.to_str().into_owned(),
        E::UserMarker { markername } => format!("marker: {}", markername.to_str()),
        E::UserBinaryMessage { payload } => format!("binary message of {} bytes", payload.0.len()),
        E::Version { version } => format!("version {}", version.to_str()),
        E::ProgramInvocation { commandline } => format!("command line: {}", commandline.to_str()),
        E::HeapProfCostCentre {
            id,
            label,
            module,
            src_loc,
            ..
        } => format!(
            "cost centre {id} is {}.{} at {}",
            module.0.to_str(),
            label.0.to_str(),
            src_loc.0.to_str()
        ),
        E::ProfBegin { tick_interval } => {
            format!("time profiling begins, a tick every {tick_interval} ns")
        }
        E::ProfSampleCostCentre { cap, stack, .. } => format!(
            "profile sample on capability {cap}: {}",
            joined_ids(stack.iter().map(|id| u64::from(id.0)))
        ),
        E::ConcMarkBegin {} => "the nonmoving collector begins to mark".into(),
        E::ConcMarkEnd {
            marked_object_count,
        } => {
            format!("the nonmoving collector has marked {marked_object_count} objects")
        }
        E::ConcSyncBegin {} => "the nonmoving collector stops the program to finish marking".into(),
        E::ConcSyncEnd {} => "the nonmoving collector lets the program go on".into(),
        E::ConcSweepBegin {} => "the nonmoving collector begins to sweep".into(),
        E::ConcSweepEnd {} => "the nonmoving collector has swept".into(),
        E::UnknownEvent { id, payload } => {
            let description = header
                .decl(super::EventType(*id))
                .map_or("undeclared", |decl| decl.description.as_str());
            format!("unknown event {id} ({description}): {}", hex(payload))
        }
        other => listed(other),
    }
}

/// The rarer events: their fields by name.
fn listed(event: &Event<'_>) -> String {
    let mut words = split_words(event.name());
    let mut separator = ": ";
    for (name, value) in event.fields() {
        let text = match value {
            Value::Absent => continue,
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("“{}”", text.to_str()),
            Value::Name(name) => name,
            Value::Numbers(numbers) => joined_ids(numbers.into_iter()),
            Value::Texts(texts) => joined(texts.into_iter()),
            Value::Bytes(bytes) => hex(bytes),
        };
        words.push_str(&format!("{separator}{name} {text}"));
        separator = ", ";
    }
    words
}

/// `HeapProfSampleEnd` as `heap prof sample end`.
fn split_words(name: &str) -> String {
    let mut words = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

fn joined<'a>(texts: impl Iterator<Item = super::cursor::Text<'a>>) -> String {
    texts
        .map(|text| text.to_str().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

fn joined_ids(ids: impl Iterator<Item = u64>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(" ")
}

/// Bytes in hexadecimal, the first 64 of them.
fn hex(bytes: &[u8]) -> String {
    const SHOWN: usize = 64;
    let mut text: String = bytes
        .iter()
        .take(SHOWN)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if bytes.len() > SHOWN {
        text.push('…');
    }
    text
}
