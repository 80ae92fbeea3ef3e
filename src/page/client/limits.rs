//! Limits on the number of workers and the memory of a log.

use web_sys::{File, UrlSearchParams};

use eventlog::slices::SLICE_BYTES;
use session::MemoryBudget;

/// Minimum log size, in bytes, for which helper workers pay off: a log of 50 MB loads faster with a single worker.
const MIN_HELPED_BYTES: f64 = 8.0 * SLICE_BYTES as f64;

/// Memory that each helper worker takes while a log is read: program, file chunks, two slices and their results.
pub(super) const HELPER_BYTES: u64 = 136 << 20;

/// Estimates the uncompressed size of a log, which for compressed files is several times the file size.
fn estimated_bytes(file: &File) -> f64 {
    /// Assumed compression ratio: gzip reduces GHC eventlogs to about a quarter, zstd to less.
    const COMPRESSED_TO: f64 = 0.25;
    let name = file.name();
    let is_compressed = [".gz", ".zst"].iter().any(|end| name.ends_with(end));
    if is_compressed {
        file.size() / COMPRESSED_TO
    } else {
        file.size()
    }
}

/// Memory beyond which a worker is replaced once its log is closed.
pub(super) const REPLACE_WORKER_BYTES: u64 = 48 << 20;

/// Maximum number of workers: more of them would only wait for the one that merges the slices.
const MAX_WORKERS: usize = 8;

/// Returns a numeric parameter from the query string of the page's address.
fn query_parameter(name: &str) -> Option<u64> {
    let search = gloo_utils::window().location().search().unwrap_or_default();
    let parameters = UrlSearchParams::new_with_str(&search).ok()?;
    parameters.get(name)?.parse().ok()
}

/// Up to this number of cores, a second worker mostly competes with the page, the browser and the first one: on two
/// cores, a log of 300 MB took 3.3 to 3.8 s with two workers and 3.7 to 4.0 s with one, but a sixth more CPU time and
/// 60 MiB more.
const FEW_CORES: usize = 2;

/// Returns the number of workers for a large log: one per core, or one in total on few cores; `?workers=` in the
/// page's address overrides it.
fn worker_count() -> usize {
    let cores = gloo_utils::window().navigator().hardware_concurrency() as usize;
    let usual = if cores <= FEW_CORES { 1 } else { cores };
    let requested = query_parameter("workers").and_then(|workers| usize::try_from(workers).ok());
    requested.unwrap_or(usual).clamp(1, MAX_WORKERS)
}

/// Returns the number of helper workers for a log.
pub(super) fn helper_count(file: &File) -> usize {
    if estimated_bytes(file) < MIN_HELPED_BYTES {
        0
    } else {
        worker_count() - 1
    }
}

/// Returns the memory, in bytes, at which the worker stops reading a log, so that the next chunk does not kill it:
/// less than the 4 GiB limit of WebAssembly, and at most three quarters of the device memory; `?most=` in the
/// page's address overrides it, in MiB.
pub(super) fn max_worker_bytes() -> u64 {
    const MAX_MIB: u64 = 3584;
    let max_mib = query_parameter("most").unwrap_or_else(|| {
        let device_mib = device_gib().map(|gib| (gib * 768.0) as u64);
        device_mib.unwrap_or(MAX_MIB).min(MAX_MIB)
    });
    max_mib.saturating_mul(1 << 20)
}

/// Returns the device memory in GiB, if the browser reports it.
fn device_gib() -> Option<f64> {
    let navigator = gloo_utils::window().navigator();
    let device = js_sys::Reflect::get(&navigator, &"deviceMemory".into());
    device.ok().and_then(|gib| gib.as_f64())
}

/// Returns the memory budget of the tab: 1 GiB, or a quarter of the device memory if that is less; `?memory=` in
/// the page's address overrides it, in MiB. Not every browser reports the device memory.
pub(super) fn memory_budget() -> MemoryBudget {
    if let Some(mib) = query_parameter("memory") {
        return MemoryBudget::from_mib(mib);
    }
    let usual = MemoryBudget::default();
    device_gib().map_or(usual, |gib| {
        let quarter = MemoryBudget::from_mib((gib * 256.0) as u64);
        MemoryBudget {
            bytes: quarter.bytes.min(usual.bytes),
        }
    })
}
