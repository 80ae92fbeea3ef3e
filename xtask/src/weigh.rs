//! What the site weighs, compressed as servers do it: so much has to come before anybody can
//! use it. `cargo xtask build` says it, `cargo xtask test` sees that it does not grow unnoticed.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::process::{During, Failure, Result};
use crate::seal::files_below;

/// The most that may come until a log can be chosen, in bytes.
const MOST_FIRST_BYTES: u64 = 1_180_000;
/// The most that the page and the worker may come to, in bytes.
const MOST_BYTES: u64 = 2_760_000;

/// Compressed sizes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Weight {
    /// The page with its program and its style: then a log can be chosen.
    first_bytes: u64,
    /// The worker's program, which the page fetches when it is there.
    worker_bytes: u64,
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kb = |bytes: u64| bytes.div_ceil(1000);
        write!(
            f,
            "compressed {} kB until it can be used, then {} kB for the worker",
            kb(self.first_bytes),
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
        let all = self.first_bytes + self.worker_bytes;
        for (bytes, most, what) in [
            (self.first_bytes, MOST_FIRST_BYTES, "until it can be used"),
            (all, MOST_BYTES, "in all"),
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
    Worker,
}

/// When that file is loaded; `None` if only some visits need it, or none does.
fn part(name: &str) -> Option<Part> {
    let is_program = [".js", ".wasm"].iter().any(|end| name.ends_with(end));
    match name.split_once('/') {
        Some((folder, _)) if folder.starts_with("worker-") => Some(Part::Worker),
        Some(("snippets", _)) => Some(Part::First),
        Some(("www", "app.css" | "offline.js" | "icon.svg")) => Some(Part::First),
        None if name == "index.html" || (is_program && name != "sw.js") => Some(Part::First),
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
    fn what_the_page_needs_is_told_from_the_rest() {
        for name in [
            "index.html",
            "app-1_bg.wasm",
            "app-1.js",
            "www/app.css",
            "snippets/a/b.js",
        ] {
            assert_eq!(part(name), Some(Part::First), "{name}");
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
            worker_bytes: MOST_BYTES - MOST_FIRST_BYTES,
        };
        assert!(most.check().is_ok());
        for (first, worker) in [(1, 0), (0, 1)] {
            let more = Weight {
                first_bytes: most.first_bytes + first,
                worker_bytes: most.worker_bytes + worker,
            };
            assert!(more.check().is_err());
        }
    }
}
