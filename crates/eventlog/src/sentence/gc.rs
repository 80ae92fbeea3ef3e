//! Garbage collection and the heap. "Heap 0" is named after the capability set that owns the heap: the process.

use std::fmt::{self, Write};

use crate::event::Event;
use crate::quantity::ByteCount;

pub(super) fn write(out: &mut String, event: &Event<'_>) -> fmt::Result {
    use Event as E;
    match *event {
        E::StartGC {} => out.write_str("starts a garbage collection"),
        E::EndGC {} => out.write_str("ends its garbage collection"),
        E::RequestSeqGC {} => out.write_str("asks for a sequential collection"),
        E::RequestParGC {} => out.write_str("asks for a parallel collection"),
        E::GCIdle {} => out.write_str("has no more to collect for now"),
        E::GCWork {} => out.write_str("collects garbage"),
        E::GCDone {} => out.write_str("is done collecting"),
        E::GlobalSyncGC {} => out.write_str("all capabilities have stopped for the collection"),
        E::GCStatsGHC { .. } => write_statistics(out, event),
        E::HeapAllocated {
            heap_capset,
            alloc_bytes,
        } => write!(
            out,
            "has allocated {} so far in heap {heap_capset}",
            ByteCount(alloc_bytes)
        ),
        E::HeapSize {
            heap_capset,
            size_bytes,
        } => write!(
            out,
            "heap {heap_capset} has {} of memory",
            ByteCount(size_bytes)
        ),
        E::HeapLive {
            heap_capset,
            live_bytes,
        } => write!(
            out,
            "{} of heap {heap_capset} are live",
            ByteCount(live_bytes)
        ),
        E::BlocksSize {
            heap_capset,
            blocks_size,
        } => write!(
            out,
            "{} of heap {heap_capset} are in blocks",
            ByteCount(blocks_size)
        ),
        E::HeapInfoGHC { .. } => write_settings(out, event),
        E::MemReturn {
            heap_capset,
            current,
            needed,
            returned,
        } => write!(
            out,
            "heap {heap_capset} holds {current} megablocks, needs {needed}, returned {returned} to the operating system"
        ),
        _ => write_nonmoving(out, event),
    }
}

fn write_statistics(out: &mut String, event: &Event<'_>) -> fmt::Result {
    let Event::GCStatsGHC {
        heap_capset,
        gen_no,
        copied,
        slop,
        frag,
        par_n_threads,
        par_max_copied,
        par_tot_copied,
        par_balanced_copied,
    } = *event
    else {
        return Ok(());
    };
    write!(
        out,
        "collected generation {gen_no} of heap {heap_capset}: {} copied",
        ByteCount(copied)
    )?;
    if par_n_threads > 1 {
        write!(
            out,
            " by {par_n_threads} threads (in all {}, at most {} by one",
            ByteCount(par_tot_copied),
            ByteCount(par_max_copied)
        )?;
        if let Some(balanced) = par_balanced_copied {
            write!(out, ", {} in balance", ByteCount(balanced))?;
        }
        out.write_str(")")?;
    } else {
        write!(out, " by {par_n_threads} thread")?;
    }
    write!(
        out,
        ", {} of slop, {} of fragmentation",
        ByteCount(slop),
        ByteCount(frag)
    )
}

fn write_settings(out: &mut String, event: &Event<'_>) -> fmt::Result {
    let Event::HeapInfoGHC {
        heap_capset,
        gens,
        max_heap_size,
        alloc_area_size,
        mblock_size,
        block_size,
    } = *event
    else {
        return Ok(());
    };
    write!(out, "heap {heap_capset} has {gens} generations, ")?;
    match max_heap_size {
        0 => out.write_str("no limit")?,
        limit => write!(out, "at most {}", ByteCount(limit))?,
    }
    write!(
        out,
        ", an allocation area of {} for each capability, megablocks of {} and blocks of {}",
        ByteCount(alloc_area_size),
        ByteCount(mblock_size),
        ByteCount(block_size)
    )
}

fn write_nonmoving(out: &mut String, event: &Event<'_>) -> fmt::Result {
    use Event as E;
    match *event {
        E::ConcMarkBegin {} => out.write_str("the nonmoving collector begins to mark"),
        E::ConcMarkEnd {
            marked_object_count,
        } => write!(
            out,
            "the nonmoving collector has marked {marked_object_count} objects"
        ),
        E::ConcSyncBegin {} => {
            out.write_str("the nonmoving collector stops the program to finish marking")
        }
        E::ConcSyncEnd {} => out.write_str("the nonmoving collector lets the program go on"),
        E::ConcSweepBegin {} => out.write_str("the nonmoving collector begins to sweep"),
        E::ConcSweepEnd {} => out.write_str("the nonmoving collector has swept"),
        E::ConcUpdRemSetFlush { cap } => write!(
            out,
            "capability {cap} hands its changes to the nonmoving collector (update remembered set)"
        ),
        E::NonmovingHeapCensus {
            block_bytes,
            active_segments,
            filled_segments,
            live_blocks,
        } => write!(
            out,
            "nonmoving heap, blocks of {}: {active_segments} active segments, {filled_segments} filled segments, {live_blocks} live blocks",
            ByteCount(block_bytes.0)
        ),
        E::NonmovingPrunedSegments { pruned, free } => write!(
            out,
            "nonmoving heap: {pruned} free segments given up, {free} free segments kept"
        ),
        _ => Ok(()),
    }
}
