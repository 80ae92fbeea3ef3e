//! How many workers a log gets, and how much memory.

use web_sys::{File, UrlSearchParams};

use eventlog::slices::SLICE_BYTES;
use session::MemoryBudget;

/// From this size on a log is worth the start of other workers: one of 50 MB is read
/// sooner by one.
const LARGE_BYTES: f64 = 8.0 * SLICE_BYTES as f64;

/// What each worker that helps takes as long as a log is read: its program, pieces of the
/// file, two slices and what becomes of them.
pub(super) const HELPER_BYTES: u64 = 120 << 20;

/// How many bytes a log probably has: compressed ones have several times those of the file.
fn likely_bytes(file: &File) -> f64 {
    /// Logs of the runtime become about a quarter in gzip, less in zstd.
    const COMPRESSED_TO: f64 = 0.25;
    let name = file.name();
    let is_compressed = [".gz", ".zst"].iter().any(|end| name.ends_with(end));
    if is_compressed {
        file.size() / COMPRESSED_TO
    } else {
        file.size()
    }
}

/// A worker that takes more memory than this is replaced when its log is closed.
pub(super) const SWOLLEN_BYTES: u64 = 48 << 20;

/// More workers than this only wait for the one that puts slices together.
const MOST_WORKERS: usize = 8;

/// A number that the page's address has behind its `?`.
fn wanted(name: &str) -> Option<u64> {
    let search = gloo_utils::window().location().search().unwrap_or_default();
    let wanted = UrlSearchParams::new_with_str(&search).ok()?;
    wanted.get(name)?.parse().ok()
}

/// On so many cores a second worker only competes with the page and the first one: on two cores, 300 MB took
/// 7.9 and 8.1 s with two workers and 6.8 and 8.0 s with one, and two took 60 MiB more.
const FEW_CORES: usize = 2;

/// How many workers analyse a large log: as many as the machine has cores, or one if these are few, unless
/// the page's address says `?workers=` so many.
fn worker_count() -> usize {
    let cores = gloo_utils::window().navigator().hardware_concurrency() as usize;
    let usual = if cores <= FEW_CORES { 1 } else { cores };
    let wanted = wanted("workers").and_then(|workers| usize::try_from(workers).ok());
    wanted.unwrap_or(usual).clamp(1, MOST_WORKERS)
}

/// How many workers help with a log.
pub(super) fn helper_count(file: &File) -> usize {
    if likely_bytes(file) < LARGE_BYTES {
        0
    } else {
        worker_count() - 1
    }
}

/// How much memory the worker may take before it stops reading a log, so that it does not die of the
/// next piece: less than the 4 GiB that a program may have in a browser, and three quarters of what
/// the device has, unless the page's address says `?most=` so many MiB.
pub(super) fn most_bytes() -> u64 {
    const MOST_MIB: u64 = 3584;
    let most_mib = wanted("most").unwrap_or_else(|| {
        let device_mib = device_gib().map(|gib| (gib * 768.0) as u64);
        device_mib.unwrap_or(MOST_MIB).min(MOST_MIB)
    });
    most_mib.saturating_mul(1 << 20)
}

/// How much memory the device has, where the browser tells it.
fn device_gib() -> Option<f64> {
    let navigator = gloo_utils::window().navigator();
    let device = js_sys::Reflect::get(&navigator, &"deviceMemory".into());
    device.ok().and_then(|gib| gib.as_f64())
}

/// How much memory the tab may take: 1 GiB, or a quarter of what a small device has, unless the
/// page's address says `?memory=` so many MiB. Not every browser tells what the device has.
pub(super) fn memory_budget() -> MemoryBudget {
    if let Some(mib) = wanted("memory") {
        return MemoryBudget::of_mib(mib);
    }
    let usual = MemoryBudget::default();
    device_gib().map_or(usual, |gib| {
        let quarter = MemoryBudget::of_mib((gib * 256.0) as u64);
        MemoryBudget {
            bytes: quarter.bytes.min(usual.bytes),
        }
    })
}
