//! What the site weighs, compressed as servers do it: what has to come before a log can be chosen,
//! and the two programs that come then. `cargo xtask build` says it, `cargo xtask test` sees that
//! it does not grow unnoticed.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::process::{During, Failure, Result};
use crate::seal::files_below;

/// The most that may come until a log can be chosen, in bytes.
const MOST_FIRST_BYTES: u64 = 26_000;
/// The most that the page's program may come to, in bytes. 20,000 of it are following and merging, 7,000 that
/// what it shares with the worker is compiled once for both, 10,000 the phases of `+RTS -s`, sleep as a class of its
/// own, and exact values in saved tables, 3,000 the lost time by cause, 5,000 the test of all compared numbers at once,
/// and where most of a change is, 4,000 fields that keep their own text, 2,000 the command that measures flags, 4,000
/// questions that are asked once at a time, and links that are shown from the begin, 3,000 findings that come one by one.
const MOST_PAGE_BYTES: u64 = 1_170_000;
/// The most that the worker's program may come to, in bytes. 70,000 of it are merging, logs of several
/// processes, the copy that a log which grows goes on from, and what scripts have of it. 85,000 are tables with
/// seeds and lanes by name, against logs that are made to collide, all layouts of ghc-stack-profiler with states of
/// samples, passes of GHC, the phases of `+RTS -s`, and the ranges of cut logs. 50,000 are lost time by cause and
/// rules for hand-overs, costly options, busy machines and what holds the heap, 7,000 rules for pools and messages, and
/// threads by what they were blocked for, 19,000 rules for requests one at a time, threads blocked together and queues,
/// and a part that stands for a large log, 8,000 the rule for capabilities that wait for cores, 3,000 the command
/// that measures what findings advise, 6,000 the rule for threads that wait for each other's thunks, and bound threads,
/// 18,000 what rules tell of blocks, arrays, limits, sleepers, single slow spans and idle helpers, and findings one by one.
const MOST_WORKER_BYTES: u64 = 1_540_000;

/// Compressed sizes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Weight {
    /// The first page with its script and its style: then a log can be chosen.
    first_bytes: u64,
    /// The page's program, which comes then.
    page_bytes: u64,
    /// The worker's program, which comes when that of the page is there.
    worker_bytes: u64,
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kb = |bytes: u64| bytes.div_ceil(1000);
        write!(
            f,
            "compressed {} kB until it can be used, then {} kB for the page and {} kB for the worker",
            kb(self.first_bytes),
            kb(self.page_bytes),
            kb(self.worker_bytes)
        )
    }
}

impl Weight {
    /// Weighs the finished site in `dist`.
    pub(crate) fn of(dist: &Path) -> Result<Self> {
        let mut weight = Self::default();
        for name in files_below(dist)? {
            let to = match part(&name) {
                Some(Part::First) => &mut weight.first_bytes,
                Some(Part::Page) => &mut weight.page_bytes,
                Some(Part::Worker) => &mut weight.worker_bytes,
                None => continue,
            };
            let path = dist.join(&name);
            let read = || format!("read {}", path.display());
            let bytes = fs::read(&path).during(read)?;
            *to += compressed_len(&bytes).during(read)?;
        }
        Ok(weight)
    }

    /// Whether it is no more than it may be.
    pub(crate) fn check(self) -> Result<()> {
        for (bytes, most, what) in [
            (self.first_bytes, MOST_FIRST_BYTES, "until it can be used"),
            (self.page_bytes, MOST_PAGE_BYTES, "of the page's program"),
            (self.worker_bytes, MOST_WORKER_BYTES, "of the worker's"),
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

/// When a file is loaded.
#[derive(Debug, PartialEq)]
enum Part {
    First,
    Page,
    Worker,
}

/// When that file is loaded; `None` if only some visits need it, or none does.
fn part(name: &str) -> Option<Part> {
    match name.split_once('/') {
        Some((folder, _)) if folder.starts_with("page-") => Some(Part::Page),
        Some((folder, _)) if folder.starts_with("worker-") => Some(Part::Worker),
        Some(("www", "app.css" | "first.js" | "offline.js" | "icon.svg")) => Some(Part::First),
        None if name == "index.html" => Some(Part::First),
        _ => None,
    }
}

/// As `gzip -9` has it.
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
            assert_eq!(part(name), Some(Part::First), "{name}");
        }
        for name in ["page-1/app_bg.wasm", "page-1/snippets/a/b.js"] {
            assert_eq!(part(name), Some(Part::Page), "{name}");
        }
        assert_eq!(part("worker-1/worker_bg.wasm"), Some(Part::Worker));
        for name in ["sw.js", "www/demo/index.json", "www/manifest.webmanifest"] {
            assert_eq!(part(name), None, "{name}");
        }
    }

    #[test]
    fn too_much_is_refused() {
        let most = Weight {
            first_bytes: MOST_FIRST_BYTES,
            page_bytes: MOST_PAGE_BYTES,
            worker_bytes: MOST_WORKER_BYTES,
        };
        assert!(most.check().is_ok());
        for (first, page, worker) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
            let more = Weight {
                first_bytes: most.first_bytes + first,
                page_bytes: most.page_bytes + page,
                worker_bytes: most.worker_bytes + worker,
            };
            assert!(more.check().is_err());
        }
    }
}
