//! Download sizes of the site, compressed as servers do: the files needed before a log can be chosen, and the two
//! programs loaded afterward. `cargo xtask build` prints them, `cargo xtask test` limits them, so that they do
//! not grow unnoticed.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::process::{During, Failure, Result};
use crate::seal::files_below;

/// Maximum bytes until a log can be chosen.
const MAX_FIRST_BYTES: u64 = 26_000;
/// Maximum bytes of the page's program. They include:
///
/// - 20,000 for following and merging,
/// - 7,000 because code shared with the worker is compiled once for both,
/// - 10,000 for the phases of `+RTS -s`, sleep as a class of its own, and exact values in saved tables,
/// - 3,000 for lost time by cause,
/// - 5,000 for the test of all compared numbers at once, and for locating the largest part of a change,
/// - 4,000 for fields that keep their own text,
/// - 2,000 for the command that measures flags,
/// - 4,000 for deduplicated questions, and links that are shown from the start,
/// - 3,000 for findings that arrive one by one,
/// - 6,000 for titles that name what the shown answer is about, while the next one is computed,
/// - 3,000 for exact values of small tables,
/// - 2,000 for views that are restored exactly, and notes and links of two logs that stay,
/// - 7,000 for the question before notes are lost, rows that stay current in a growing log, and pointers that drag.
const MAX_PAGE_BYTES: u64 = 1_169_000;
/// Maximum bytes of the worker's program. They include:
///
/// - 70,000 for merging, logs of several processes, the checkpoint from which a growing log continues, and the
///   interface for scripts,
/// - 85,000 for tables with seeds and lanes by name, against logs with colliding ids, all formats of
///   ghc-stack-profiler with states of samples, passes of GHC, the phases of `+RTS -s`, and the ranges of cut
///   logs,
/// - 50,000 for lost time by cause, and rules for hand-overs, costly options, busy machines and heap retention,
/// - 7,000 for rules for pools and messages, and threads by the reason of their blocking,
/// - 19,000 for rules for sequential requests, threads blocked together and queues, and for sampling large logs,
/// - 8,000 for the rule for capabilities that wait for cores,
/// - 3,000 for the command that measures the advice of findings,
/// - 6,000 for the rule for threads that wait for each other's thunks, and bound threads,
/// - 18,000 for rules about blocks, arrays, limits, sleepers, single slow spans and idle helpers, and findings one
///   by one,
/// - 10,000 for rules about timers, large objects, uneven shares, several stragglers and long sleeps,
/// - 28,000 for rules about finalizers, calls that stop all threads, waits that only a collection ends and threads
///   bound to a capability, and for answers that are prepared and continued,
/// - 16,000 for rules about pipelines, answers awaited in turn, lost slots and slices of texts,
/// - 14,000 for logs begun late, late stops of one length, threads that live on, groups, and loops specialized for
///   the steps of threads, and for rules about weak pointers and the lifetime of copied data,
/// - 5,000 for many threads that poll, short idle times, threads that work on others' results, and capabilities that
///   are idle after short calls,
/// - 6,000 for what larger areas cost, collections caused by large objects, calls from foreign code, time slices, and
///   weak pointers that die in most collections,
/// - 16,000 for groups, batches, results that are polled, servers, commands, files, unread messages and threads that are
///   waited for one after the other,
/// - 3,000 for blocks of columns and turns of threads that are unpacked once, not again by each rule,
/// - 2,000 for old objects told from young ones that live, major collections that are shared, and locks in STM,
/// - 12,000 for losers of races, arrays that collections walk through, compaction, copies that stop late, locks held
///   in sleep, answers that wait for a timer, and calls of the kernel,
/// - 9,000 for heartbeats, threads with OS threads of their own, finalizers that share a table with others, and threads
///   that collections move while they are waited for one after the other,
/// - 5,000 for stages that set the pace, slots counted in STM, threads that are kept waiting, and sparks that leave their
///   work,
/// - 2,000 for figures of each process, rows without a frame, and many stacks in collections,
/// - 9,000 for spans and collections of each process, concurrent calls, and cuts of logs without an end,
/// - 24,000 for long tables as text, and for turns and wakeups in few bytes.
const MAX_WORKER_BYTES: u64 = 1_636_000;

/// Maximum bytes of the program for fleets, which only its page loads: statistics, charts and texts, and the descriptions
/// of metrics.
const MAX_FLEET_BYTES: u64 = 173_000;

/// Compressed sizes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DownloadSizes {
    /// First page with its script and style; afterward a log can be chosen.
    first_bytes: u64,
    /// Page's program, loaded next.
    page_bytes: u64,
    /// Worker's program, loaded after that of the page.
    worker_bytes: u64,
    /// Program for fleets, loaded by its page alone.
    fleet_bytes: u64,
}

impl fmt::Display for DownloadSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kb = |bytes: u64| bytes.div_ceil(1000);
        write!(
            f,
            "compressed {} kB until it can be used, then {} kB for the page and {} kB for the worker; {} kB for fleets",
            kb(self.first_bytes),
            kb(self.page_bytes),
            kb(self.worker_bytes),
            kb(self.fleet_bytes)
        )
    }
}

impl DownloadSizes {
    /// Measures the finished site in `dist`.
    pub(crate) fn of(dist: &Path) -> Result<Self> {
        let mut sizes = Self::default();
        for name in files_below(dist)? {
            let to = match load_stage(&name) {
                Some(LoadStage::First) => &mut sizes.first_bytes,
                Some(LoadStage::Page) => &mut sizes.page_bytes,
                Some(LoadStage::Worker) => &mut sizes.worker_bytes,
                Some(LoadStage::Fleet) => &mut sizes.fleet_bytes,
                None => continue,
            };
            let path = dist.join(&name);
            let read = || format!("read {}", path.display());
            let bytes = fs::read(&path).during(read)?;
            *to += compressed_len(&bytes).during(read)?;
        }
        Ok(sizes)
    }

    /// Fails if a size exceeds its maximum.
    pub(crate) fn check(self) -> Result<()> {
        for (bytes, most, what) in [
            (self.first_bytes, MAX_FIRST_BYTES, "until it can be used"),
            (self.page_bytes, MAX_PAGE_BYTES, "of the page's program"),
            (self.worker_bytes, MAX_WORKER_BYTES, "of the worker's"),
            (self.fleet_bytes, MAX_FLEET_BYTES, "of that for fleets"),
        ] {
            if bytes > most {
                return Err(Failure::new(format!(
                    "the site has {bytes} compressed bytes {what}, more than {most}: see \
                     xtask/src/weigh.rs"
                )));
            }
        }
        Ok(())
    }
}

/// Stage of loading to which a file belongs.
#[derive(Debug, PartialEq)]
enum LoadStage {
    First,
    Page,
    Worker,
    Fleet,
}

/// Returns the stage in which a file is loaded; `None` if not every visit needs it.
fn load_stage(name: &str) -> Option<LoadStage> {
    match name.split_once('/') {
        Some((folder, _)) if folder.starts_with("page-") => Some(LoadStage::Page),
        Some((folder, _)) if folder.starts_with("worker-") => Some(LoadStage::Worker),
        Some((folder, _)) if folder.starts_with("fleet-") => Some(LoadStage::Fleet),
        Some(("www", "app.css" | "first.js" | "offline.js" | "icon.svg")) => Some(LoadStage::First),
        None if name == "index.html" => Some(LoadStage::First),
        _ => None,
    }
}

/// Returns the size after compression as with `gzip -9`.
fn compressed_len(bytes: &[u8]) -> io::Result<u64> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    io::Write::write_all(&mut packed, bytes)?;
    Ok(packed.finish()?.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_is_told_from_the_rest() {
        for name in ["index.html", "www/app.css", "www/first.js"] {
            assert_eq!(load_stage(name), Some(LoadStage::First), "{name}");
        }
        for name in ["page-1/app_bg.wasm", "page-1/snippets/a/b.js"] {
            assert_eq!(load_stage(name), Some(LoadStage::Page), "{name}");
        }
        assert_eq!(
            load_stage("worker-1/worker_bg.wasm"),
            Some(LoadStage::Worker)
        );
        for name in ["sw.js", "www/demo/index.json", "www/manifest.webmanifest"] {
            assert_eq!(load_stage(name), None, "{name}");
        }
    }

    #[test]
    fn too_much_is_refused() {
        let most = DownloadSizes {
            first_bytes: MAX_FIRST_BYTES,
            page_bytes: MAX_PAGE_BYTES,
            worker_bytes: MAX_WORKER_BYTES,
            fleet_bytes: MAX_FLEET_BYTES,
        };
        assert!(most.check().is_ok());
        for [first, page, worker, fleet] in [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        {
            let more = DownloadSizes {
                first_bytes: most.first_bytes + first,
                page_bytes: most.page_bytes + page,
                worker_bytes: most.worker_bytes + worker,
                fleet_bytes: most.fleet_bytes + fleet,
            };
            assert!(more.check().is_err());
        }
    }
}
