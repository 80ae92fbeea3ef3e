//! Summary of a log as text, printed by the command line and copied by the page.

use std::fmt::{self, Display, Formatter};

use super::processes;
use analysis::numbers::summary::{Generation, SparkTotals, Summary};
use eventlog::quantity::count;

/// Placeholder for a number that the log does not have.
const ABSENT: &str = "-";

fn or_dash<T>(number: Option<T>, text: impl FnOnce(T) -> String) -> String {
    number.map_or_else(|| ABSENT.to_owned(), text)
}

/// Formats nanoseconds as seconds with this number of decimals.
fn seconds(time_ns: Option<u64>, decimals: usize) -> String {
    or_dash(time_ns, |ns| format!("{:.decimals$}s", ns as f64 / 1e9))
}

/// Formats bytes as whole mebibytes, rounded up like the megablocks of the runtime.
fn mebibytes(size: Option<u64>) -> String {
    or_dash(size, |bytes| count(bytes.div_ceil(1 << 20)))
}

/// Summary in the format and order of the runtime's `+RTS -s` report. CPU times and values derived from them are
/// omitted because logs do not contain them.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a>(pub &'a Summary);

impl Display for Report<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let summary = self.0;
        processes::print(&summary.processes, out)?;
        print_heap(summary, out)?;
        writeln!(out)?;
        print_generations(&summary.generations, out)?;
        writeln!(out)?;
        if let Some(balance) = summary.work_balance {
            let percent = 100.0 * balance;
            writeln!(
                out,
                "  Parallel GC work balance: {percent:.2}% (serial 0%, perfect 100%)\n"
            )?;
        }
        let threads = or_dash(summary.os_threads, count);
        let caps = summary.capabilities.len();
        let using = match caps {
            0 => String::new(),
            caps => format!(" (using -N{caps})"),
        };
        writeln!(out, "  OS threads that first ran here: {threads}{using}\n")?;
        match &summary.sparks {
            Some(sparks) => print_sparks(sparks, out)?,
            None => writeln!(out, "  SPARKS: {ABSENT}")?,
        }
        writeln!(out)?;
        print_times(summary, out)?;
        print_capabilities(summary, out)
    }
}

fn print_heap(summary: &Summary, out: &mut Formatter<'_>) -> fmt::Result {
    let mut line = |size: Option<u64>, unit: &str, what: &str| {
        let size = if unit == "MiB" {
            mebibytes(size)
        } else {
            or_dash(size, count)
        };
        writeln!(out, "{size:>16} {unit} {what}")
    };
    let samples = or_dash(summary.residency_samples, count);
    let lost = mebibytes(summary.max_fragmentation);
    line(summary.bytes_allocated, "bytes", "allocated in the heap")?;
    line(summary.bytes_copied, "bytes", "copied during GC")?;
    let residency = format!("maximum residency ({samples} sample(s))");
    line(summary.max_residency, "bytes", &residency)?;
    line(summary.max_slop, "bytes", "maximum slop")?;
    // The corresponding line of the runtime has the memory lost at the peak, which logs do not contain.
    let memory =
        format!("total memory in use, at least (up to {lost} MiB of it unused after a collection)");
    line(summary.max_heap_size, "MiB", &memory)
}

fn print_generations(generations: &[Generation], out: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        out,
        "                                        Elapsed  Avg pause  Max pause"
    )?;
    for row in generations {
        writeln!(
            out,
            "  Gen {:2} {:>9} colls, {:>5} par {:>12}  {:>9}  {:>9}",
            row.generation,
            row.collections,
            row.parallel,
            seconds(Some(row.elapsed_ns), 3),
            seconds(Some(row.avg_pause_ns), 4),
            seconds(Some(row.max_pause_ns), 4),
        )?;
    }
    Ok(())
}

fn print_sparks(sparks: &SparkTotals, out: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        out,
        "  SPARKS: {} ({} converted, {} overflowed, {} dud, {} GC'd, {} fizzled)",
        sparks.count, sparks.converted, sparks.overflowed, sparks.dud, sparks.gcd, sparks.fizzled
    )
}

fn print_times(summary: &Summary, out: &mut Formatter<'_>) -> fmt::Result {
    let times = [
        ("INIT", summary.init_ns),
        ("MUT", summary.mutator_ns),
        ("GC", summary.gc_ns),
        ("PROF", summary.prof_ns),
        ("EXIT", summary.exit_ns),
        ("Total", Some(summary.total_ns)),
    ];
    let times = times.into_iter();
    // Like the runtime, print PROF only for programs built for profiling.
    let times = times.filter(|&(name, time_ns)| name != "PROF" || time_ns.is_some());
    for (name, time_ns) in times {
        let time = seconds(time_ns, 3);
        writeln!(out, "  {name:<7} time  {time:>9} elapsed")?;
    }
    let rate = or_dash(summary.allocation_rate, count);
    writeln!(out, "\n  Alloc rate    {rate} bytes per elapsed MUT second")?;
    let share = or_dash(summary.productivity, |share| {
        format!("{:.1}%", 100.0 * share)
    });
    writeln!(out, "\n  Productivity  {share} of total elapsed")?;
    let running = or_dash(summary.cap_busy, |share| format!("{:.1}%", 100.0 * share));
    writeln!(
        out,
        "  Cap. busy     {running} of the capabilities' time, from the first event to the last ({})",
        seconds(Some(summary.account.life_ns), 3)
    )?;
    let (from, to) = (summary.range.start().0, summary.range.end().0);
    writeln!(out, "  Range         {from} to {to} ns\n")
}

/// Prints the times of each capability, which the runtime's report does not have.
fn print_capabilities(summary: &Summary, out: &mut Formatter<'_>) -> fmt::Result {
    for (row, (_, times)) in summary.capabilities.iter().zip(&summary.account.caps) {
        writeln!(
            out,
            "  Cap {:2}   MUT {}, GC {}, idle {}, {} bytes allocated",
            row.cap.0,
            seconds(Some(row.mutator_ns), 3),
            seconds(Some(row.gc_ns), 3),
            seconds(Some(row.idle_ns), 3),
            or_dash(row.bytes_allocated, count),
        )?;
        let others = [
            ("stopping for collections", times.stopping_ns),
            ("resuming after them", times.returning_ns),
            ("heap censuses, part of GC", times.census_ns),
            (
                "idle with work ready, part of idle",
                times.idle_work_available_ns,
            ),
            ("unknown", times.unknown_ns),
        ];
        let others = others.into_iter().filter(|&(_, time)| time > 0);
        let others: Vec<String> = others
            .map(|(name, time)| format!("{name} {}", seconds(Some(time), 3)))
            .collect();
        if !others.is_empty() {
            writeln!(out, "           {}", others.join(", "))?;
        }
    }
    Ok(())
}
